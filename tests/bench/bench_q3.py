#!/usr/bin/env python3
"""Question 3 on data/ (make data): rql's kernel, by its own --timing, against a hand-written C loop in two threads.

    bench_q3.py LOOP [BATCHES]

LOOP is the built bench_q3.c. Batches of rounds of one and the other take turns, so that both meet the same machine; the
first round of each batch is left out. Printed for each: minimum and median of the rounds, and their ratios.
"""

import os
import re
import statistics
import subprocess
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RQL = os.environ.get("RQL", os.path.join(TREE, "build", "rql"))
TARGET = 42
ROUNDS = 20
QUERY = f"load data/ids.bin | zip data/amounts.bin | select id == {TARGET} | sum amt"


def loop_batch(loop):
    arguments = [loop, "data/ids.bin", "data/amounts.bin", str(TARGET), str(ROUNDS)]
    lines = subprocess.run(arguments, cwd=TREE, capture_output=True, text=True, check=True).stdout.splitlines()
    return [float(line) for line in lines[1:-1]], int(lines[-1].removeprefix("sum "))


def rql_batch():
    arguments = [RQL, "--timing", *(["-c", QUERY] * ROUNDS)]
    done = subprocess.run(arguments, cwd=TREE, capture_output=True, text=True, check=True)
    times = []
    for report in re.split(r"^total .*$", done.stderr, flags=re.MULTILINE):
        kernels = [float(time) for time in re.findall(r"^kernel +([\d.]+) ms", report, re.MULTILINE)]
        if kernels:
            times.append(sum(kernels))
    if len(times) != ROUNDS:
        sys.exit(f"{len(times)} reports of kernels for {ROUNDS} rounds:\n{done.stderr[:2000]}")
    answers = set(done.stdout.split())
    return times[1:], int(answers.pop()) if len(answers) == 1 else None


def main():
    loop = os.path.abspath(sys.argv[1])
    batches = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    loop_times, rql_times = [], []
    for _ in range(batches):
        times, loop_sum = loop_batch(loop)
        loop_times += times
        times, rql_sum = rql_batch()
        rql_times += times
        if rql_sum != loop_sum:
            sys.exit(f"bench_q3: the loop says {loop_sum}, rql says {rql_sum}")
    size = os.path.getsize(os.path.join(TREE, "data", "ids.bin")) * 2
    print(f"question 3, {size // 8:,} rows, {len(rql_times)} rounds each, milliseconds")
    print(f"{'':24} {'minimum':>9} {'median':>9} {'GB/s (minimum)':>16}")
    for name, times in (("C loop, 2 threads", loop_times), ("rql, kernel", rql_times)):
        print(f"{name:24} {min(times):9.3f} {statistics.median(times):9.3f} {size / min(times) / 1e6:16.1f}")
    medians = statistics.median(rql_times) / statistics.median(loop_times)
    print(f"{'rql / C loop':24} {min(rql_times) / min(loop_times):9.2f} {medians:9.2f}")


if __name__ == "__main__":
    main()
