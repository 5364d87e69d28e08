#!/usr/bin/env python3
"""CSV and JSON lines of random tables: rql reads what DuckDB, Polars, pandas and pyarrow write, and they read what rql
saves, with the same values.

    tests/interop/text.py [--dump build/dump_file] [--seed N] [--rounds N]
"""
import argparse
import datetime
import os
import random
import subprocess
import sys
import tempfile

import duckdb
import pandas
import peers
import polars
import pyarrow as pa
import pyarrow.csv
import pyarrow.json

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402

PARTS = ["a", "B", "é", "日本", " ", ",", ";", '"', "\n", "|", "'", "1", "-", "NA", "\\", "#", "\t", "{"]


def random_values(rng, kind, rows):
    def value(row):
        if kind == "text":
            return "text" if row == 0 else "".join(rng.choices(PARTS, k=rng.randint(0, 6)))
        if kind == "i64":
            return rng.choice([rng.randint(-100, 100), rng.randint(-(2**63), 2**63 - 1), 0])
        if kind == "f64":
            return 0.5 if row == 0 else rng.choice([rng.uniform(-1e3, 1e3), rng.gauss(0, 1) * 10.0 ** rng.randint(-200, 200), 3.0])
        if kind == "bool":
            return rng.random() < 0.5
        if kind == "date":
            return datetime.date(1970, 1, 1) + datetime.timedelta(rng.randint(-100000, 100000))
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=rng.randint(-(10**15), 10**16))
        return moment.replace(tzinfo=datetime.timezone.utc) if kind == "utc" else moment

    missing = rng.choice([0, 0, 0.2])
    return [None if row > 0 and rng.random() < missing else value(row) for row in range(rows)]


TYPES = {
    "text": pa.string(),
    "i64": pa.int64(),
    "f64": pa.float64(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "time": pa.timestamp("us"),
    "utc": pa.timestamp("us", "UTC"),
}
DUMPED = {"text": " text", "i64": "i64", "f64": "f64", "bool": "bool", "date": "i32 date", "time": "i64 timestamp", "utc": "i64 timestamp utc"}


def random_table(rng, rows):
    kinds = {f"c{k}{kind}": kind for k, kind in enumerate(rng.choices(list(TYPES), k=rng.randint(2, 6)))}
    columns = {name: pa.array(random_values(rng, kind, rows), TYPES[kind]) for name, kind in kinds.items()}
    return pa.table(columns), kinds


def write_duckdb(table, path):
    connection = duckdb.connect()
    connection.sql("set timezone = 'UTC'")
    connection.register("t", table)
    connection.sql(f"copy (select * from t) to '{path}'")


def write_duckdb_semicolon(table, path):
    connection = duckdb.connect()
    connection.sql("set timezone = 'UTC'")
    connection.register("t", table)
    connection.sql(f"copy (select * from t) to '{path}' (delimiter ';', force_quote *)")


def write_pandas(table, path):
    frame = table.to_pandas(integer_object_nulls=True, date_as_object=True)
    if path.endswith(".jsonl"):
        frame.to_json(path, orient="records", lines=True, date_format="iso", date_unit="us", double_precision=15)
    else:
        frame.to_csv(path, index=False)


WRITERS = {
    "duckdb.csv": write_duckdb,
    "duckdb-semicolon.csv": write_duckdb_semicolon,
    "polars.csv": lambda table, path: polars.from_arrow(table).write_csv(path),
    "pandas.csv": write_pandas,
    "pyarrow.csv": lambda table, path: pyarrow.csv.write_csv(table, path),
    "duckdb.jsonl": lambda table, path: write_duckdb(table, path + ".json") or os.rename(path + ".json", path),
    "polars.jsonl": lambda table, path: polars.from_arrow(table).write_ndjson(path),
}


def compare(program, path, table, kinds, empty_is_missing):
    ours, status, told = peers.dump(program, path)
    if status != 0:
        return told
    if list(ours) != list(kinds):
        return f"columns {list(ours)}"
    for name, kind in kinds.items():
        expected = peers.canonical(table.column(name))
        if empty_is_missing:
            expected = [None if value == "" else value for value in expected]
        shown, values = ours[name]
        if not shown.replace(" missing", "").endswith(DUMPED[kind]):
            return f"{name} is {shown}: {told}"
        problem = peers.same(shown, values, expected)
        if problem:
            return f"{name} ({shown}): {problem}"
    return ""


def check_written(tally, arguments, rng, number, folder):
    table, kinds = random_table(rng, rng.choice([1, 2, 50, 3000]))
    for name, write in WRITERS.items():
        path = os.path.join(folder, name)
        if "jsonl" in name and "f64" in kinds.values() and "polars" in name:
            continue  # it writes some floats with less than all digits
        write(table, path)
        tally.check(f"{number}-{name}", compare(arguments.dump, path, table, kinds, name == "pandas.csv"))


def read_polars(path, kinds):
    types = {"text": polars.String, "i64": polars.Int64, "f64": polars.Float64, "bool": polars.Boolean, "date": polars.Date,
             "time": polars.Datetime("us"), "utc": polars.Datetime("us", "UTC")}
    return polars.read_csv(path, schema={name: types[kind] for name, kind in kinds.items()}, missing_utf8_is_empty_string=False).to_arrow()


def read_duckdb(path, kinds):
    types = {"text": "VARCHAR", "i64": "BIGINT", "f64": "DOUBLE", "bool": "BOOLEAN", "date": "DATE", "time": "TIMESTAMP",
             "utc": "TIMESTAMPTZ"}
    connection = duckdb.connect()
    connection.sql("set timezone = 'UTC'")
    columns = ", ".join(f"'{name}': '{types[kind]}'" for name, kind in kinds.items())
    if path.endswith(".jsonl"):
        query = f"select * from read_json('{path}', columns = {{{columns}}}, format = 'newline_delimited')"
    else:
        query = f"select * from read_csv('{path}', header = true, quote = '\"', escape = '\"', allow_quoted_nulls = false, columns = {{{columns}}})"
    result = connection.sql(query).arrow()
    return result.read_all() if hasattr(result, "read_all") else result


def read_pyarrow(path, kinds):
    options = pyarrow.csv.ConvertOptions(column_types={name: TYPES[kind] for name, kind in kinds.items()}, strings_can_be_null=True,
                                         quoted_strings_can_be_null=False, null_values=[""])
    return pyarrow.csv.read_csv(path, parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False), convert_options=options)


READERS = {"saved-duckdb.csv": read_duckdb, "saved-pyarrow.csv": read_pyarrow, "saved-duckdb.jsonl": read_duckdb}


def check_saved(tally, arguments, rng, number, folder):
    """What rql saves, as the peers read it."""
    table, kinds = random_table(rng, rng.choice([1, 50, 3000]))
    kinds = {name: kind for name, kind in kinds.items() if kind != "bool"} or {"c": "i64"}
    if list(kinds) == ["c"]:
        return  # bool is written as 0 and 1
    source = os.path.join(folder, "source.csv")
    write_duckdb(table, source)
    for name, read in READERS.items():
        path = os.path.join(folder, name)
        done = subprocess.run([arguments.dump, "--save", path, source, *kinds], capture_output=True, text=True, check=False)
        problem = done.stderr if done.returncode else ""
        try:
            got = None if problem else read(path, kinds)
        except Exception as error:  # pylint: disable=broad-except
            problem = str(error)
        for column, kind in kinds.items() if not problem else ():
            theirs, expected = peers.canonical(got.column(column)), peers.canonical(table.column(column))
            if theirs != expected:
                row = next(r for r in range(len(expected)) if r >= len(theirs) or theirs[r] != expected[r])
                problem = f"{column} ({kind}), row {row}: {theirs[row : row + 1]}, expected {expected[row]}"
        tally.check(f"{number}-{name}", problem)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump", default="build/dump_file")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--rounds", type=int, default=30)
    arguments = parser.parse_args()
    print(f"interop/text: seed {arguments.seed}; pandas {pandas.__version__}, polars {polars.__version__}, "
          f"duckdb {duckdb.__version__}, pyarrow {pa.__version__}")
    tally = harness.Tally("interop/text")
    rng = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.rounds):
            check_written(tally, arguments, rng, number, folder)
            check_saved(tally, arguments, rng, number, folder)
    sys.exit(tally.finish())


if __name__ == "__main__":
    main()
