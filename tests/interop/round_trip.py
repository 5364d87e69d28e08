#!/usr/bin/env python3
"""Files that rql saves, read by pyarrow, Polars, pandas and DuckDB: the values and types of the file they were made of.

    tests/interop/round_trip.py [--dump build/dump_file] [--rows N] [FILE...]

Without files: those of tests/parquet, and a large one made here. Needs all four.
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile

import duckdb
import numpy as np
import pandas as pd
import peers
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402

# The physical and logical types that columns as printed by dump_file are saved as.
ARROW_TYPES = {
    "bool": pa.bool_(), "i8": pa.int8(), "i16": pa.int16(), "i32": pa.int32(), "i64": pa.int64(), "u8": pa.uint8(),
    "u16": pa.uint16(), "u32": pa.uint32(), "f32": pa.float32(), "f64": pa.float64(), "i32 date": pa.date32(),
    "i64 timestamp": pa.timestamp("us"), "i64 timestamp utc": pa.timestamp("us", "UTC"),
}


def arrow_type(kind):
    kind = kind.removesuffix(" missing")
    if kind.endswith("text"):
        return pa.string()
    if kind.startswith("i64 timestamp in "):
        return pa.timestamp("us", kind.removeprefix("i64 timestamp in "))
    return ARROW_TYPES.get(kind)


def readers(path):
    """The file as each peer reads it."""
    yield "pyarrow", lambda: pq.ParquetFile(path).read()
    yield "polars", lambda: pl.read_parquet(path).to_arrow()
    yield "duckdb", lambda: duckdb.sql(f"from '{path}'").to_arrow_table()
    yield "pandas", lambda: pa.Table.from_pandas(pd.read_parquet(path, dtype_backend="pyarrow"), preserve_index=False)


def check_statistics(path):
    """Every chunk's statistics against the values."""
    file = pq.ParquetFile(path)
    row = 0
    for group in range(file.num_row_groups):
        metadata = file.metadata.row_group(group)
        for index in range(metadata.num_columns):
            column = metadata.column(index)
            values = file.read_row_group(group, [column.path_in_schema]).column(0)
            statistics = column.statistics
            if statistics is None or statistics.null_count != values.null_count:
                return f"{column.path_in_schema}: null count"
            if statistics.has_min_max and not pa.types.is_decimal(values.type):
                present = values.drop_null().to_pylist()
                if present and (min(present) != statistics.min or max(present) != statistics.max):
                    return f"{column.path_in_schema}: {statistics.min}..{statistics.max}"
        row += metadata.num_rows
    return "" if row == file.metadata.num_rows else "rows of groups"


def check(program, source, directory):
    saved = os.path.join(directory, "saved.parquet")
    done = subprocess.run([program, "--save", saved, source], capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr
    before, _, _ = peers.dump(program, source)
    after, status, told = peers.dump(program, saved)
    if status or before != after:
        different = [name for name in before if before[name] != after.get(name)]
        return f"rql reads other values: {different} {told}"
    problems = []
    for peer, read in readers(saved):
        table = read()
        for name, (kind, values) in before.items():
            column = table.column(name)
            problem = peers.same(kind, values, peers.canonical(column))
            if peer == "pyarrow" and not problem and arrow_type(kind) not in (None, column.type):
                problem = f"is {column.type}"
            if problem:
                problems.append(f"{peer}: {name} ({kind}): {problem}")
    problem = check_statistics(saved)
    if problem:
        problems.append(f"statistics: {problem}")
    return "\n".join(problems)


def large(path, rows):
    """Several row groups: text of few and of many values, runs, missing values here and there or in whole groups."""
    rng = np.random.RandomState(3)
    numbers = rng.randint(-(2**62), 2**62, rows)
    few = np.array([f"S{i:03d}" for i in range(300)])[rng.randint(0, 300, rows)]
    hidden = rng.randint(0, 10, rows) == 0
    table = pa.table({
        "i": numbers, "small": rng.randint(-5, 1000, rows).astype(np.int16), "sorted": np.sort(numbers),
        "run": np.repeat(np.arange(rows // 1000 + 1, dtype=np.int32), 1000)[:rows], "one": np.full(rows, 7),
        "f": rng.uniform(-1, 1, rows), "few": few, "many": np.char.add("id", numbers.astype(str)),
        "hole": pa.array(np.where(np.arange(rows) < rows // 2, 0, numbers), mask=np.arange(rows) < rows // 2),
        "gaps": pa.array(few, mask=hidden), "b": numbers % 3 == 0, "gap_f": pa.array(rng.uniform(0, 1, rows), mask=hidden),
    })
    pq.write_table(table, path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*")
    parser.add_argument("--dump", default="build/dump_file")
    parser.add_argument("--rows", type=int, default=1_100_000)
    arguments = parser.parse_args()
    tally = harness.Tally("round-trip")
    with tempfile.TemporaryDirectory() as directory:
        files = arguments.files
        if not files:
            big = os.path.join(directory, "large.parquet")
            large(big, arguments.rows)
            # Not wrong-*.parquet; nested.py saves files of lists, structs and zones within.
            samples = glob.glob(os.path.join(harness.TESTS, "parquet", "[!wlnz]*.parquet"))
            files = sorted(samples) + [big]
        for path in files:
            tally.check(os.path.basename(path), check(arguments.dump, path, directory))
    sys.exit(tally.finish())


if __name__ == "__main__":
    main()
