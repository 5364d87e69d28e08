#!/usr/bin/env python3
"""Questions of a table of billions of rows on two ClickHouse servers of this machine, a view over `numbers` on each: the answers against computed
ones, what travelled, and the time of rql and of clickhouse-client with the plain question; for docs/performance.md. Not a test.

    large.py [ROWS] [--rql-only]"""

import re
import shutil
import subprocess
import sys
import time
from fractions import Fraction

import server_faults
import engines
from engines import harness

PERIOD = 1000  # of i and x along the rows of a shard


def moment(values):
    """The variance of a sample of values, each with a weight."""
    count = sum(weight for _, weight in values)
    total = sum(value * weight for value, weight in values)
    squares = sum(value * value * weight for value, weight in values)
    return (count * squares - total * total) / (count * (count - 1))


def moment_of_floats(values, cycles):
    """The variance as it is computed of floats: rounded once, and once where it is divided."""
    count, total, squares = (cycles * sum(term) for term in ([1] * len(values), values, [value * value for value in values]))
    return float(count * squares - total * total) / float(count * (count - 1))


def questions(rows):
    """Of each: the line, the plain question in SQL, and the answer."""
    cycles = rows // PERIOD
    x = [Fraction(i * 0.1) for i in range(PERIOD)]
    by_key = [[i for i in range(PERIOD) if i % 10 == key] for key in range(10)]

    def lines(make):
        return "".join("\t".join([str(key), *make(members)]) + "\n" for key, members in enumerate(by_key))

    def mean(values):
        return repr(float(sum(values) * cycles) / (len(values) * cycles))

    deviation = float(moment([(i, cycles) for i in range(PERIOD)])) ** 0.5
    return (
        ("select i == 42 | count", "SELECT count() FROM d WHERE i = 42", f"{cycles}\n"),
        ("sum i", "SELECT sum(i) FROM d", f"{cycles * sum(range(PERIOD))}\n"),
        ("top 3 by pos", "SELECT * FROM d ORDER BY pos DESC LIMIT 3", "".join(f"{pos}\t{pos // 2 % 10}\t{pos // 2 % PERIOD}\t{pos // 2 % PERIOD * 0.1!r}\n" for pos in range(rows - 1, rows - 4, -1))),
        ("group k: count(), sum(i), max(i)", "SELECT k, count(), sum(i), max(i) FROM d GROUP BY k ORDER BY k", lines(lambda of: (str(len(of) * cycles), str(sum(of) * cycles), str(max(of))))),
        ("mean x", "SELECT avg(x) FROM d", mean(x) + "\n"),
        ("stddev i", "SELECT stddevSamp(i) FROM d", f"{deviation!r}\n"),
        ("group k: stddev(i)", "SELECT k, stddevSamp(i) FROM d GROUP BY k ORDER BY k", lines(lambda of: (repr(float(moment([(i, cycles) for i in of])) ** 0.5),))),
        ("group k: mean(x)", "SELECT k, avg(x) FROM d GROUP BY k ORDER BY k", lines(lambda of: (mean([x[i] for i in of]),))),
        ("var x", "SELECT varSamp(x) FROM d", f"{moment_of_floats(x, cycles)!r}\n"),
    )  # fmt: skip


def main():
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 5 * 10**9
    client = shutil.which("clickhouse-client") if "--rql-only" not in sys.argv else None
    with harness.Sandbox() as sandbox:
        rig = engines.Rig(sandbox, harness.Tally("large"))
        shards = server_faults.start_shards(sandbox, (2,))
        try:
            for k, server in enumerate(shards):
                server.ask(f"CREATE VIEW part AS SELECT toInt64(number * 2 + {k}) AS pos, toUInt8(number % 10) AS k, toInt32(number % {PERIOD}) AS i, toInt32(number % {PERIOD}) * 0.1 AS x FROM numbers({rows // 2})")
            shards[0].ask("CREATE TABLE d (pos Int64, k UInt8, i Int32, x Float64) ENGINE = Distributed(c2, default, part)")
            for line, sql, answer in questions(rows):
                began = time.perf_counter()
                result = harness.run(["--device", "host", "--timing", "-c", f"load {shards[0].url('d', 'pos')} | {line}"], sandbox.here, sandbox.home, timeout=3000)
                seconds = time.perf_counter() - began
                came = re.search(r"(\d+) rows? and (\d+) bytes came over", result.err.decode() + result.out.decode())
                plain = None
                if client:
                    began = time.perf_counter()
                    subprocess.run([client, "--port", str(shards[0].tcp), "-q", sql], capture_output=True, check=False, timeout=3000)
                    plain = time.perf_counter() - began
                out = "".join(part + "\n" for part in result.out.decode().split("\n") if part and " ms" not in part)
                told = "right" if out == answer else f"expected {answer!r}, got {result.text()}"
                print(f"{line}: {seconds:.1f} s, client {plain and round(plain, 1)} s, {came and came.groups()}, {told}", flush=True)
        finally:
            for server in shards:
                server.stop()


if __name__ == "__main__":
    main()
