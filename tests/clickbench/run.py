#!/usr/bin/env python3
"""Asks the 43 questions of hits_questions.py, and compares the answers with DuckDB's. Needs duckdb, NumPy and pyarrow.

    run.py DIR [NUMBER...]     DIR: as written by hits.py"""

import csv
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))

import duckdb  # noqa: E402
import harness  # noqa: E402
from hits_questions import questions  # noqa: E402


def as_text(value):
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def cell(value):
    try:
        return f"{float(value):.6g}" if "." in value or "e" in value else value
    except ValueError:
        return value


def difference(found, expected, keys):
    if len(found) != len(expected):
        return f"{len(found)} rows, not {len(expected)}"
    if keys is None:
        return ""
    for number, (ours, theirs) in enumerate(zip(found, expected)):
        for place in keys or range(len(theirs)):
            if cell(ours[place]) != cell(theirs[place]):
                return f"row {number}: {ours}, not {theirs}"
    return ""


def main():
    path = os.path.join(sys.argv[1], "hits.parquet")
    connection = duckdb.connect()
    connection.execute(f"create view hits as from '{path}'")
    (rows,) = connection.execute("select count(*) from hits").fetchone()
    numbers = [int(name) for name in sys.argv[2:]] or range(43)
    modes = {mode: harness.ALL_MODES[mode] for mode in (os.environ.get("RQL_MODES") or "host host-unfused").split()}
    tally = harness.Tally("clickbench")
    for number in numbers:
        query, sql, keys = questions(rows)[number]
        expected = [[as_text(value) for value in row] for row in connection.execute(sql).fetchall()]
        for mode, flags in modes.items():
            command = [harness.RQL, *flags, "--format", "tsv", "--arg", "path=" + path, "-c", f"load $path | {query}"]
            run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
            found = list(csv.reader(run.stdout.splitlines(), delimiter="\t"))
            tally.check(f"q{number:02} {mode}", run.stderr or difference(found, expected, keys))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
