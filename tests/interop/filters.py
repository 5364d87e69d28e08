#!/usr/bin/env python3
"""Filters of Parquet files that rql reads in part: files of many row groups by pyarrow, Polars, DuckDB and pandas, whose
statistics exclude some, and random conditions. The ids of the rows that pass are DuckDB's, and all their values are
those that rql finds after a sort, before which it has to read the file as a whole.

    tests/interop/filters.py [--rql build/rql] [--rounds N] [--seed N]
"""
import argparse
import datetime
import decimal
import os
import subprocess
import sys
import tempfile

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

QUERIES = 12
SPANS = {"i8": (-128, 127), "i16": (-3000, 3000), "i32": (-(10**6), 10**6), "i64": (-(10**15), 10**15), "u8": (0, 255),
         "u16": (0, 65535), "u32": (0, 2**32 - 1), "u64": (0, 2**40)}
INTS = {"i8": pa.int8(), "i16": pa.int16(), "i32": pa.int32(), "i64": pa.int64(), "u8": pa.uint8(), "u16": pa.uint16(),
        "u32": pa.uint32(), "u64": pa.uint64(), "coded": pa.int64()}
TEXTS = ["", "a", "A", "B", "AAPL", "AAPM", "MSFT", "zebra", "Ärger", "ß", "日本", "x" * 70, "x" * 70 + "y", "m m", "0"]
START = datetime.datetime(1969, 12, 1)


def values_of(rng, kind, rows):
    """Values as Python or NumPy has them, with few or many distinct ones, in an order that statistics may tell of."""
    order = np.sort if rng.randint(3) else (lambda values: values)
    if kind == "coded":  # a dictionary of values beyond 32 bits with a sign, then pages without one
        few, many = rng.randint(0, 2, 5000) * (3 * 10**9), rng.randint(0, 10**6, rows - 5000)
        return np.concatenate([few, many]).astype(np.int64)
    if kind in INTS:
        lo, hi = SPANS[kind]
        distinct = int(rng.choice([2, 300, 10**6]))
        return order(lo + (rng.randint(0, distinct, rows) * ((hi - lo) / distinct)).astype(np.int64))
    if kind in ("f32", "f64"):
        found = order(np.round(rng.normal(0, 100, rows), int(rng.choice([0, 2]))))
        if rng.randint(2):
            found[rng.randint(0, rows, 20)] = np.nan
        return found.astype(np.float32 if kind == "f32" else np.float64)
    if kind == "bool":
        return order(rng.randint(0, 2, rows)) != 0
    if kind == "date":
        return order(rng.randint(-60, 400, rows))
    if kind in ("ts_us", "ts_ms", "ts_ns"):
        return order(rng.randint(0, 10**8, rows))  # tenths of a second
    if kind == "dec":
        return order(rng.randint(-(10**6), 10**6, rows))
    many = [f"{rng.choice(TEXTS)}{k}" for k in range(3000)]
    texts = np.array(TEXTS if rng.randint(2) else many)
    return order(texts[rng.randint(0, len(texts), rows)])


def literal(kind, value):
    """For rql, and for DuckDB."""
    if kind in INTS:
        return str(int(value)), str(int(value))
    if kind in ("f32", "f64"):
        text = "0.5" if np.isnan(value) else repr(float(value))
        return text, f"{text}::double"
    if kind == "bool":
        return str(bool(value)).lower(), str(bool(value)).lower()
    if kind == "date":
        text = (START.date() + datetime.timedelta(days=int(value))).isoformat()
        return text, f"date '{text}'"
    if kind.startswith("ts"):
        text = (START + datetime.timedelta(milliseconds=100 * int(value))).isoformat()
        return text, f"timestamp '{text}'"
    if kind == "dec":
        text = str(decimal.Decimal(int(value)).scaleb(-3))
        return text, f"{text}::decimal(12, 3)"
    return '"' + str(value) + '"', "'" + str(value) + "'"


def arrow_of(kind, found, mask):
    if kind in INTS:
        return pa.array(found, INTS[kind], mask=mask)
    if kind == "date":
        return pa.array([START.date() + datetime.timedelta(days=int(d)) for d in found], pa.date32(), mask=mask)
    if kind.startswith("ts"):
        epoch = int((START - datetime.datetime(1970, 1, 1)).total_seconds() * 10)
        unit = {"us": 10**5, "ms": 100, "ns": 10**8}[kind[3:]]
        return pa.array((found + epoch) * unit, pa.timestamp(kind[3:]), mask=mask)
    if kind == "dec":
        return pa.array([decimal.Decimal(int(d)).scaleb(-3) for d in found], pa.decimal128(12, 3), mask=mask)
    return pa.array(found, mask=mask)


def make_table(rng, rows):
    kinds = [*INTS, "f32", "f64", "bool", "date", "ts_us", "ts_ms", "ts_ns", "dec", "text", "text2"]
    kinds = [kinds[k] for k in rng.permutation(len(kinds))[:7]]
    columns, values = {"id": pa.array(np.arange(rows))}, {}
    for kind in kinds:
        found = values_of(rng, kind, rows)
        mask = None
        if rng.randint(2):
            mask = rng.random_sample(rows) < rng.choice([0.001, 0.3])
            if rng.randint(2):  # whole row groups without values
                mask[rows // 4: rows // 2] = True
        columns[kind] = arrow_of(kind, found, mask)
        values[kind] = found
    return pa.table(columns), values


def write(rng, rows, path):
    writer = str(rng.choice(["pyarrow", "pyarrow", "polars", "duckdb", "pandas"]))
    group = int(rng.choice([2048, 5000, 30000, 10**6]))
    codec = str(rng.choice(["snappy", "zstd", "uncompressed"]))
    if writer == "pyarrow":
        pq.write_table(rows, path, row_group_size=group, compression=codec.replace("uncompressed", "none"),
                       data_page_size=int(rng.choice([3000, 1 << 20])), data_page_version=str(rng.choice(["1.0", "2.0"])),
                       use_dictionary=bool(rng.randint(4)), dictionary_pagesize_limit=int(rng.choice([1000, 1 << 20])))
    elif writer == "pandas":
        frame = pd.DataFrame({name: rows[name].to_pandas(types_mapper=pd.ArrowDtype) for name in rows.column_names})
        frame.to_parquet(path, row_group_size=group, compression=codec.replace("uncompressed", "none"), index=False)
    elif writer == "polars":
        pl.from_arrow(rows).write_parquet(path, row_group_size=group, compression=codec,
                                           data_page_size=int(rng.choice([3000, 1 << 20])))
    else:
        duckdb.sql(f"copy (from rows) to '{path}' (format parquet, codec {codec}, row_group_size {max(group, 2048)})")
    return f"{writer} {group} {codec}"


def condition(rng, table, values, depth=0):
    """A condition for rql and for DuckDB, NULL being false; None for DuckDB where it orders NaN differently."""
    kind = str(rng.choice(list(values)))
    shape = rng.randint(8) if depth < 2 else 7
    if shape in (0, 1):
        a, b = condition(rng, table, values, depth + 1), condition(rng, table, values, depth + 1)
        word = [("&&", "and"), ("||", "or")][rng.randint(4) == 0]
        both = a[1] is not None and b[1] is not None
        return f"({a[0]} {word[0]} {b[0]})", f"({a[1]} {word[1]} {b[1]})" if both else None
    if shape == 2:
        inner = condition(rng, table, values, depth + 1)
        return f"!{inner[0]}", None if inner[1] is None else f"(not {inner[1]})"
    found = values[kind]
    op = str(rng.choice(["==", "!=", "<", "<=", ">", ">="]))
    if kind == "bool":
        op = str(rng.choice(["==", "!="]))
    mine, theirs = literal(kind, found[rng.randint(0, len(found))])
    if kind.startswith("text") and rng.randint(3) == 0:
        mine, theirs = '"zzz not there"', "'zzz not there'"
    if kind.startswith("text") and rng.randint(4) == 0:
        return f'({kind} like "A%")', f"({kind} like 'A%')"
    if kind in ("f32", "f64") and np.isnan(found).any():
        theirs = None
    return f"({kind} {op} {mine})", None if theirs is None else f"({kind} {'=' if op == '==' else op} {theirs})"


def lines_of(rql, queries, folder):
    """The lines that each query prints."""
    options = [item for query in queries for item in ("-c", query, "-c", '"----"')]
    done = subprocess.run([rql, "--quiet", "--no-init", "--format", "tsv", *options], capture_output=True, text=True,
                          cwd=folder, check=False, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{queries}: {done.stderr}")
    return [part.strip("\n").split("\n") for part in done.stdout.split("----\n")[:-1]]


def one_round(rng, rql, folder):
    rows = int(rng.choice([66000, 100000, 200001]))
    table, values = make_table(rng, rows)
    path = os.path.join(folder, "t.parquet")
    how = write(rng, table, path)
    conditions = [condition(rng, table, values) for _ in range(QUERIES)]
    queries = [(f"load t.parquet | select {c[0]} | pick {', '.join(names)}", f"load t.parquet | sort id | select {c[0]} | "
                f"pick {', '.join(names)}") for c in conditions
               for names in [["id", *rng.choice(list(values), 2, replace=False)]]]
    parts = lines_of(rql, [query for pair in queries for query in pair], folder)
    for i, (mine, theirs) in enumerate(conditions):
        if parts[2 * i] != parts[2 * i + 1]:
            return f"{how}, {rows} rows: {queries[i][0]}: {len(parts[2 * i])} and {len(parts[2 * i + 1])} rows, or other values"
        if theirs is None:
            continue
        expected = duckdb.sql(f"select id from read_parquet('{path}') where {theirs} order by id").fetchnumpy()["id"]
        got = [int(line.split("\t")[0]) for line in parts[2 * i] if line]
        if got != [int(k) for k in expected]:
            return f"{how}, {rows} rows: {mine}: {len(got)} rows, DuckDB {len(expected)}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rql", default="build/rql")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "little"))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="rql-filters-") as folder:
        for k in range(arguments.rounds):
            problem = one_round(np.random.RandomState(arguments.seed + k), os.path.abspath(arguments.rql), folder)
            if problem:
                failed += 1
                print(f"FAILED --seed {arguments.seed + k} --rounds 1: {problem}")
    print(f"filters: {arguments.rounds - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
