#!/usr/bin/env python3
"""What a question costs on one, two and four ClickHouse servers of this machine: processor time a shard and elapsed time, for
docs/scale.md. The rows of a shard are the same in number (weak scaling). Not a test: run it on a quiet machine.

    scaling.py [ROWS A SHARD] [RUNS]"""

import os
import sys
import time

import server_faults
import engines
from engines import harness

LINES = (
    ("count", "select id == 42 | count"),
    ("filter and sum", "select id == 42 && amount < 0 | sum amount"),
    ("sum of products", "map id * amount | sum"),
    ("group, 1000 keys", "group id: count(), sum(amount)"),
    ("top 10", "sort amount desc, pos | take 10"),
)


def fill(shards, rows):
    """Tables t1, t2 and t4 of `rows` rows on each of their servers."""
    for count in (1, 2, 4):
        for k, server in enumerate(shards[:count]):
            server.ask(f"CREATE TABLE part_{count} (pos Int64, id Int32, amount Int32) ENGINE = MergeTree ORDER BY pos")
            server.ask(
                f"INSERT INTO part_{count} SELECT toInt64(number + {k * rows}), toInt32(intHash32(number) % 1000), toInt32(toInt64(intHash32(number + 7) % 20001) - 10000) FROM numbers({rows})"
            )
            server.ask(f"OPTIMIZE TABLE part_{count} FINAL")
        shards[0].ask(f"CREATE TABLE t{count} (pos Int64, id Int32, amount Int32) ENGINE = Distributed(c{count}, default, part_{count})")


def processor_ms(server):
    with open(f"/proc/{server.process.pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def measure(rig, shards, count, line, runs):
    """Milliseconds of processor time of each shard for one run, and the least elapsed ones."""
    query = f"load {shards[0].url(f't{count}', 'pos')} | {line}"
    rig.run(query)
    before = [processor_ms(server) for server in shards[:count]]
    least = float("inf")
    for _ in range(runs):
        began = time.perf_counter()
        result = rig.run(query)
        least = min(least, (time.perf_counter() - began) * 1000)
        if result.status != 0:
            sys.exit(result.text())
    return [(processor_ms(server) - start) / runs for server, start in zip(shards, before)], least


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10000000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    with harness.Sandbox() as sandbox:
        rig = engines.Rig(sandbox, harness.Tally("scaling"))
        shards = server_faults.start_shards(sandbox, (1, 2, 4))
        try:
            fill(shards, rows)
            for title, line in LINES:
                for count in (1, 2, 4):
                    shares, least = measure(rig, shards, count, line, runs)
                    print(f"{title:18} {count} shards: {sum(shares) / count:6.0f} ms of processor a shard, {least:6.0f} ms", flush=True)
        finally:
            for server in shards:
                server.stop()


if __name__ == "__main__":
    main()
