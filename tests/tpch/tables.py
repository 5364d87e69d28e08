#!/usr/bin/env python3
"""Writes the tables of TPC-H as DIR/NAME.parquet, and DuckDB's answers to its 22 questions as DIR/q01.answer to q22.answer.
Needs duckdb and its extension tpch, which are on PyPI as duckdb and duckdb-extension-tpch.

    tables.py DIR [SCALE]     SCALE: 1 by default, 6 million rows of lineitem"""

import glob
import os
import site
import sys

import duckdb


def connect():
    connection = duckdb.connect()
    for folder in site.getsitepackages():
        for path in glob.glob(os.path.join(folder, "duckdb_extension_tpch", "**", "*.duckdb_extension"), recursive=True):
            connection.execute(f"load '{path}'")
            return connection
    connection.execute("install tpch; load tpch")
    return connection


def main():
    folder = sys.argv[1]
    scale = sys.argv[2] if len(sys.argv) > 2 else "1"
    os.makedirs(folder, exist_ok=True)
    connection = connect()
    connection.execute(f"call dbgen(sf={float(scale)})")
    for (table,) in connection.execute("select table_name from information_schema.tables").fetchall():
        connection.execute(f"copy {table} to '{folder}/{table}.parquet' (format parquet)")
    for number, query in connection.execute("select query_nr, query from tpch_queries()").fetchall():
        with open(os.path.join(folder, f"q{number:02}.sql"), "w") as file:
            file.write(query)
        path = os.path.join(folder, f"q{number:02}.answer")
        connection.execute(f"copy ({query.strip().rstrip(';')}) to '{path}' (format csv, delimiter '|', quote '')")


if __name__ == "__main__":
    main()
