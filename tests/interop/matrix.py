#!/usr/bin/env python3
"""Random tables of all types, written by pyarrow, Polars and DuckDB with random options and read by rql.

    tests/interop/matrix.py [--dump build/dump_file] [--rounds N] [--seed N]
"""
import argparse
import os
import sys
import tempfile

import duckdb
import make_samples
import numpy as np
import peers
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402

LENGTHS = [0, 1, 7, 8, 9, 31, 33, 100, 1000, 1025, 4000]
# What Polars and DuckDB have no types for.
NO_POLARS = ["f16", "uuid"]
NO_DUCKDB = ["f16", "fixed", "empty", "dec38"]


def without(table, names):
    return table.drop_columns([name for name in table.column_names if name.removeprefix("opt_") in names])


def write_pyarrow(rng, table, path):
    options = {
        "compression": str(rng.choice(["none", "snappy", "gzip", "brotli", "zstd", "lz4"])),
        "data_page_version": str(rng.choice(["1.0", "2.0"])),
        "data_page_size": int(rng.choice([64, 1000, 1 << 20])),
        "write_batch_size": int(rng.choice([10, 1024])),
        "row_group_size": int(rng.choice([13, 500, 1 << 20])),
        "write_page_checksum": bool(rng.randint(2)),
        "version": str(rng.choice(["1.0", "2.4", "2.6"])),
        "write_statistics": bool(rng.randint(2)),
        "dictionary_pagesize_limit": int(rng.choice([100, 1 << 20])),
    }
    if rng.randint(3) == 0:
        options["use_dictionary"] = False
        options["column_encoding"] = {name: how for name, how in encodings(rng, table)}
    if options["version"] != "2.6":
        table = without(table, [name for name in table.column_names if "_ns" in name])
    if rng.randint(2):
        table = make_samples.required(table)
    pq.write_table(table, path, **options)
    return table, options


def encodings(rng, table):
    for field in table.schema:
        kind = field.type
        choices = ["PLAIN"]
        if pa.types.is_integer(kind) or pa.types.is_timestamp(kind) or pa.types.is_date32(kind) or pa.types.is_time(kind):
            choices += ["DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]
        if pa.types.is_float32(kind) or pa.types.is_float64(kind):
            choices += ["BYTE_STREAM_SPLIT"]
        if pa.types.is_string(kind):
            choices += ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]
        if pa.types.is_fixed_size_binary(kind):
            choices += ["BYTE_STREAM_SPLIT", "DELTA_BYTE_ARRAY"]
        if pa.types.is_boolean(kind):
            choices += ["RLE"]
        yield field.name, str(rng.choice(choices))


def write_polars(rng, table, path):
    table = without(table, NO_POLARS)
    options = {"compression": str(rng.choice(["uncompressed", "snappy", "gzip", "brotli", "zstd", "lz4"])),
               "data_page_size": int(rng.choice([100, 1 << 20])), "row_group_size": int(rng.choice([100, 1 << 20]))}
    pl.from_arrow(table).write_parquet(path, **options)
    return table, options


def write_duckdb(rng, table, path):
    table = without(table, NO_DUCKDB)
    options = f"compression {rng.choice(['uncompressed', 'snappy', 'gzip', 'zstd', 'brotli', 'lz4_raw'])}, "
    options += f"row_group_size {rng.choice([2048, 100000])}, parquet_version {rng.choice(['v1', 'v2'])}"
    duckdb.from_arrow(table).query("source", f"copy (select * from source) to '{path}' (format parquet, {options})")
    return table, options


def check(program, table, path):
    ours, status, told = peers.dump(program, path)
    if status:
        return told
    problems = []
    for name in table.column_names:
        column = table.column(name)
        theirs = peers.canonical(column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column]))
        if name not in ours:
            problems.append(f"{name}: not read: {told}")
            continue
        problem = peers.same(ours[name][0], ours[name][1], theirs)
        if problem:
            problems.append(f"{name} ({ours[name][0]}): {problem}")
    return "\n".join(problems)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump", default="build/dump_file")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    tally = harness.Tally("matrix")
    writers = [write_pyarrow, write_pyarrow, write_polars, write_duckdb]
    with tempfile.TemporaryDirectory() as directory:
        for i in range(arguments.rounds):
            rng = np.random.RandomState(arguments.seed + i)
            make_samples.ROWS = max(int(rng.choice(LENGTHS)), 7)
            rows = int(rng.choice(LENGTHS))
            table = make_samples.every_type(rng).slice(0, rows)
            path = os.path.join(directory, "table.parquet")
            write = writers[i % len(writers)]
            written, options = write(rng, table, path)
            problem = check(arguments.dump, written, path)
            tally.check(f"{arguments.seed + i} {write.__name__}", problem and f"{options}\n{problem}")
    sys.exit(tally.finish())


if __name__ == "__main__":
    main()
