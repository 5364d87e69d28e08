#!/usr/bin/env python3
"""Runs the ten groupby and five join questions of db-benchmark, g01.rql to j05.rql, and compares each answer with
DuckDB's, in any order of rows. Needs duckdb, Polars and pyarrow.

    run.py DIR [NAME...]     DIR: as written by tables.py"""

import glob
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))

import duckdb  # noqa: E402
import harness  # noqa: E402
from queries import SQL  # noqa: E402


def connect(folder):
    connection = duckdb.connect()
    for path in glob.glob(os.path.join(folder, "*.parquet")):
        name = os.path.splitext(os.path.basename(path))[0]
        connection.execute(f"create view {name} as select * from read_parquet('{path}')")
    return connection


def compare(connection, sql, path):
    """Equal as multisets of rows, by their hashes; floats to five digits after the point. These are scaled before, for
    sums of few digits would lie just where rounding changes. A correlation of values that do not vary may be missing."""
    ours = f"read_parquet('{path}')"
    columns = connection.execute(f"describe {sql}").fetchall()
    names = [row[0] for row in connection.execute(f"describe select * from {ours}").fetchall()]
    if len(names) != len(columns):
        return f"columns {names}, not {[column[0] for column in columns]}"

    def rounded(names):
        parts = []
        for name, column in zip(names, columns):
            is_float = column[1] in ("DOUBLE", "FLOAT")
            number = f'round(nullif("{name}", \'nan\') * 0.7390851332, 5)'
            parts.append(number if is_float else f'"{name}"::varchar')
        return ", ".join(parts)

    def summary(names, source):
        hashes = f"select hash(row({rounded(names)})) as h from ({source})"
        return connection.execute(f"select count(*), sum(h::hugeint), bit_xor(h) from ({hashes})").fetchone()

    theirs = summary([column[0] for column in columns], sql)
    found = summary(names, f"select * from {ours}")
    return "" if found == theirs else f"rows and their hashes {found}, not {theirs}"


def main():
    folder = sys.argv[1]
    names = sys.argv[2:] or sorted(SQL)
    connection = connect(folder)
    tally = harness.Tally("db-benchmark")
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            path = os.path.join(scratch, name + ".parquet")
            with open(os.path.join(HERE, name + ".rql"), encoding="utf-8") as file:
                query = f"{file.read().rstrip()} | save $out"
            command = [harness.RQL, "--arg", "dir=" + folder, "--arg", "out=" + path, "-c", query]
            run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
            tally.check(name, run.stderr if run.returncode else compare(connection, SQL[name], path))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
