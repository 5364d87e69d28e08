#!/usr/bin/env python3
"""What a first statement on a table costs beside the same query by curl and by clickhouse-client, for docs/scale.md: whole processes,
the least of some interleaved runs, elapsed time and processor time of the process. Not a test: run it on a quiet machine.

    first_statement.py [RUNS] [RQL...]"""

import os
import subprocess
import sys
import time

import engines
from engines import harness

ROWS = 3000000
LINE = "select id == 42 | count"


def run(arguments):
    """Milliseconds elapsed, and of the processor."""
    began = time.perf_counter()
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    complaints = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        sys.exit(complaints.decode())
    return (time.perf_counter() - began) * 1000, (usage.ru_utime + usage.ru_stime) * 1000


def compare(name, server, runs, programs):
    server.ask("CREATE TABLE t (pos Int64, id Int32, v Int64) ENGINE = MergeTree ORDER BY pos")
    server.ask(f"INSERT INTO t SELECT number, number % 1000, number * 7 FROM numbers({ROWS})")
    url = server.url("t", "pos")
    shown = subprocess.run([programs[0], "-c", f"explain load {url} | {LINE}"], capture_output=True, check=True).stdout.decode()
    query = shown.split("\n")[1].strip()
    rivals = {"curl": ["curl", "-s", f"http://127.0.0.1:{server.port}/", "--data-binary", query + " FORMAT Native"]}
    if getattr(server, "tcp", None):
        rivals["clickhouse-client"] = ["clickhouse-client", "--host", "127.0.0.1", "--port", str(server.tcp), "--query", query]
    for program in programs:
        rivals[program] = [program, "-c", f"load {url} | {LINE}"]
    best = {title: [float("inf")] * 2 for title in rivals}
    for _ in range(runs):
        for title, arguments in rivals.items():
            best[title] = [min(pair) for pair in zip(best[title], run(arguments))]
    for title, (elapsed, processor) in best.items():
        print(f"{name:14} {title:20} {elapsed:7.1f} ms elapsed, {processor:7.1f} ms of the processor", flush=True)


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    programs = sys.argv[2:] or [harness.RQL]
    for name, _, server in engines.each("first_statement", harness.Tally("first_statement")):
        compare(name, server, runs, programs)


if __name__ == "__main__":
    main()
