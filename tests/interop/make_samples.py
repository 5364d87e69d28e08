#!/usr/bin/env python3
"""Writes the files of tests/parquet, by several writers, and their values as text: SET-*.parquet has values of SET.txt.

    tests/interop/make_samples.py [DIRECTORY]

Needs pyarrow, pandas, Polars and DuckDB. The values are the same in every run.
"""
import datetime
import decimal
import os
import sys
import uuid

import duckdb
import nested
import numpy as np
import pandas as pd
import peers
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 50
LIMITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}


def with_missing(values, rng):
    return [None if rng.randint(5) == 0 else value for value in values]


def integers(rng, bits, signed):
    lo, hi = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, min((1 << bits) - 1, (1 << 63) - 1))
    values = [lo, hi, 0, 1]
    while len(values) < ROWS:
        values.append(int(rng.randint(0, 50)) if rng.randint(2) else int(rng.randint(lo, hi, dtype=np.int64)))
    return values


def floats(rng):
    special = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 0.1, 1e-300]
    return special + [float(value) for value in np.round(rng.uniform(-100, 100, ROWS - len(special)), 2)]


def words(rng):
    pool = ["", "a", "größe", "名前", "x" * 40, "line\nbreak", "tab\t"] + [f"S{i:03d}" for i in range(20)]
    return [pool[rng.randint(len(pool))] for _ in range(ROWS)]


def moments(rng, unit):
    scale = {"ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    return [int(rng.randint(-(10**9), 4 * 10**9)) * scale + int(rng.randint(scale)) for _ in range(ROWS)]


def every_type(rng):
    """A table with a column of every type that rql reads, with and without missing values."""
    columns = {}
    for name, bits in LIMITS.items():
        columns[name] = pa.array(integers(rng, bits, True), getattr(pa, name)())
        columns["u" + name] = pa.array(integers(rng, bits, False), getattr(pa, "u" + name)())
    columns["f16"] = pa.array(np.array(np.clip(floats(rng), -60000, 60000), np.float16))
    columns["f32"] = pa.array(floats(rng), pa.float32())
    columns["f64"] = pa.array(floats(rng))
    columns["bool"] = pa.array([bool(rng.randint(2)) for _ in range(ROWS)])
    columns["text"] = pa.array(words(rng))
    columns["unique"] = pa.array([f"id-{rng.randint(10**9)}-{i}" for i in range(ROWS)])
    columns["fixed"] = pa.array([f"{rng.randint(10**4):04d}".encode() for _ in range(ROWS)], pa.binary(4))
    columns["uuid"] = pa.array([uuid.UUID(bytes=rng.bytes(16)).bytes for _ in range(ROWS)], pa.uuid())
    columns["date"] = pa.array([int(rng.randint(-30000, 60000)) for _ in range(ROWS)], pa.int32()).cast(pa.date32())
    for unit in ("ms", "us", "ns"):
        columns["at_" + unit] = pa.array(moments(rng, unit), pa.timestamp(unit))
        columns["utc_" + unit] = pa.array(moments(rng, unit), pa.timestamp(unit, "UTC"))
    columns["time_ms"] = pa.array([int(rng.randint(86400 * 10**3)) for _ in range(ROWS)], pa.int32()).cast(pa.time32("ms"))
    columns["time_us"] = pa.array([int(rng.randint(86400)) * 10**6 for _ in range(ROWS)]).cast(pa.time64("us"))
    columns["dec9"] = pa.array([decimal.Decimal(int(rng.randint(-(10**9) + 1, 10**9))).scaleb(-2) for _ in range(ROWS)],
                               pa.decimal128(9, 2))
    columns["dec18"] = pa.array([decimal.Decimal(int(rng.randint(-(10**18) + 1, 10**18))).scaleb(-6)
                                 for _ in range(ROWS)], pa.decimal128(18, 6))
    columns["dec38"] = pa.array([decimal.Decimal(int(rng.randint(-(10**18), 10**18))).scaleb(-3) for _ in range(ROWS)],
                                pa.decimal128(38, 3))
    columns["empty"] = pa.array([None] * ROWS, pa.int32())
    table = pa.table(columns)
    for name in list(columns):
        mask = np.array([rng.randint(5) == 0 for _ in range(ROWS)])
        column = columns[name]
        taken = pa.array([None if hide else i for i, hide in enumerate(mask)], pa.int64())
        table = table.append_column("opt_" + name, column.take(taken))
    return table


def required(table):
    """The same columns, REQUIRED where nothing is missing."""
    fields = [field.with_nullable(table.column(field.name).null_count > 0) for field in table.schema]
    return table.cast(pa.schema(fields))


def encodings(rng):
    """A column for every encoding, and how pyarrow is told to use it."""
    columns = {
        "plain": pa.array(integers(rng, 64, True)),
        "delta32": pa.array(integers(rng, 32, True), pa.int32()),
        "delta64": pa.array(integers(rng, 64, True)),
        "delta_sorted": pa.array(sorted(integers(rng, 16, True)), pa.int64()),
        "delta_opt": pa.array(with_missing(integers(rng, 32, True), rng), pa.int64()),
        "length": pa.array(with_missing(words(rng), rng)),
        "prefix": pa.array(sorted(words(rng))),
        "prefix_fixed": pa.array(sorted(f"{rng.randint(10**4):04d}".encode() for _ in range(ROWS)), pa.binary(4)),
        "split32": pa.array(floats(rng), pa.float32()),
        "split64": pa.array(with_missing(floats(rng), rng)),
        "split_int": pa.array(integers(rng, 32, True), pa.int32()),
        "split_fixed": pa.array([f"{rng.randint(10**4):04d}".encode() for _ in range(ROWS)], pa.binary(4)),
        "rle": pa.array(with_missing([bool(rng.randint(2)) for _ in range(ROWS)], rng)),
    }
    names = {"delta": "DELTA_BINARY_PACKED", "length": "DELTA_LENGTH_BYTE_ARRAY", "prefix": "DELTA_BYTE_ARRAY",
             "split": "BYTE_STREAM_SPLIT", "rle": "RLE", "plain": "PLAIN"}
    return pa.table(columns), {name: next(how for begin, how in names.items() if name.startswith(begin))
                               for name in columns}


def ranges():
    """64-bit integers that fit 32 bits in most pages, and one that first needs more in its last row group."""
    small, most = [k * k for k in range(ROWS)], (1 << 31) - 1
    return pa.table({
        "narrow": [most, -most - 1, *small[2:]],
        "above": [*small[:-1], most + 1],
        "below": [-most - 2, *small[1:]],
        "optional": [None, *small[1:-2], None, 1 << 40],
        "coded": [*[k % 3 for k in range(ROWS - 20)], *small[:10], *[(1 << 32) + k for k in range(10)]],
        "unsigned": [*[k % 3 for k in range(ROWS - 20)], *[(1 << 31) + k % 2 for k in range(20)]],
    })


def write_all(directory):
    rng = np.random.RandomState(1)
    table = every_type(rng)

    def path(name):
        return os.path.join(directory, name + ".parquet")

    optional = table.select([name for name in table.column_names if name.startswith("opt_")])
    pq.write_table(required(table), path("types-pyarrow-v1"), compression="snappy", row_group_size=30,
                   data_page_size=100, write_batch_size=10, store_schema=False)
    pq.write_table(optional, path("types-pyarrow-v2"), compression="none", data_page_version="2.0",
                   use_dictionary=False, write_page_checksum=True, store_schema=False)
    for codec in ("gzip", "brotli", "lz4", "zstd", "snappy"):
        pq.write_table(table.select(["int32", "opt_text", "opt_f64"]), path("types-" + codec), compression=codec,
                       write_statistics=False, store_schema=False)
    pq.write_table(table.select(["opt_at_us", "at_ns"]), path("types-int96"), use_deprecated_int96_timestamps=True)
    pq.write_table(optional.slice(0, 0), path("types-no-rows"), store_schema=False)
    pq.write_table(optional.slice(0, 1), path("types-one-row"), use_dictionary=["opt_text"], store_schema=False)
    frame = pl.from_arrow(table.drop_columns(["f16", "opt_f16", "uuid", "opt_uuid"]))
    frame.write_parquet(path("types-polars"), compression="uncompressed", statistics=False)
    source = optional.drop_columns(["opt_f16", "opt_fixed", "opt_empty", "opt_dec38"])
    assert source.num_rows == ROWS
    duckdb.sql(f"copy (select * from source) to '{path('types-duckdb-v1')}' (format parquet, compression snappy)")
    duckdb.sql(f"copy (select * from source) to '{path('types-duckdb-v2')}' (format parquet, parquet_version v2, "
               "compression uncompressed)")
    expect(table, path("types"))

    coded, how = encodings(rng)
    pq.write_table(coded, path("encodings-v1"), use_dictionary=False, column_encoding=how, compression="none",
                   row_group_size=30, write_page_checksum=True, store_schema=False)
    pq.write_table(coded, path("encodings-v2"), use_dictionary=False, column_encoding=how, compression="zstd",
                   data_page_version="2.0", store_schema=False)
    expect(coded, path("encodings"))

    write_lists(directory)
    groups = pa.table({"id": pa.array([1, 2, 3]), "list": pa.array([[1, 2], [], None]),
                       "struct": pa.array([{"a": 1, "b": "x"}, None, {"a": 2, "b": None}]),
                       "bytes": pa.array([b"\xff\xfe", None, b"ok"]), "after": pa.array(["x", None, "z"])})
    pq.write_table(groups, path("nested-pyarrow"))
    expect_nested(groups.drop_columns(["bytes"]), path("nested"))
    mixed = pd.DataFrame({"i": [1, 2, 3], "f": [0.5, None, -1.0], "t": ["a", None, "c"],
                          "c": pd.Categorical(["x", "y", "x"]), "d": pd.to_datetime(["2024-01-31", None, "1969-12-31"])})
    mixed.to_parquet(path("mixed-pandas"))
    expect(pq.read_table(path("mixed-pandas")), path("mixed"))
    index = pd.DataFrame({"a": [1, 2, 3]}, index=pd.RangeIndex(1990, 2005, 5, name="year"))
    index.to_parquet(path("index-pandas"))
    expect(pq.read_table(path("index-pandas")).select(["a"]), path("index"))
    instants = [0, 1711846799000000, None, 1729989000000000, 4118126400250000]
    zones = pa.table({"list": [[1]] * 5, **{name: pa.array(instants, pa.timestamp("us", zone)) for name, zone in
                      (("berlin", "Europe/Berlin"), ("utc", "UTC"), ("none", None), ("india", "Asia/Kolkata"))}})
    pq.write_table(zones, path("zones-pyarrow"))
    expect(zones.drop_columns(["list"]), path("zones"), {"list": ["[1]"] * 5})
    spans = [0, 1500000, None, -86400000000]
    durations = pa.table({"us": pa.array(spans, pa.duration("us")), **{unit: pa.array([1, 2000, None, 3], pa.duration(unit))
                         for unit in ("s", "ms", "ns")}, "in": pa.array([[1], [], None, [90000]], pa.list_(pa.duration("ms")))})
    pq.write_table(durations, path("durations-pyarrow"))
    expect(durations.drop_columns(["in"]), path("durations"), {"in": ['["00:00:00.001"]', "[]", "-", '["00:01:30"]']})
    some = ranges()
    pq.write_table(some, path("ranges-pyarrow"), use_dictionary=["coded", "unsigned"], dictionary_pagesize_limit=60,
                   row_group_size=30, data_page_size=60, write_batch_size=10, store_schema=False)
    expect(some, path("ranges"))
    write_rows(os.path.join(directory, "rows", "dictionary-pyarrow.parquet"))
    write_texts(os.path.join(directory, "rows", "texts-pyarrow.parquet"))


def write_lists(directory):
    """Lists, maps and structs within each other, with values missing at every level and pages that end within a row."""
    table = nested.sample_table()
    for name, options in (("v1", {"compression": "snappy", "row_group_size": 7, "data_page_size": 20, "write_batch_size": 3}),
                          ("v2", {"compression": "none", "data_page_version": "2.0", "use_dictionary": False})):
        path = os.path.join(directory, f"lists-pyarrow-{name}.parquet")
        pq.write_table(table, path, store_schema=False, **options)
    expect_nested(table, os.path.join(directory, "lists"))


def expect_nested(table, path):
    with open(path + ".txt", "w", encoding="utf-8") as out:
        for name, (kind, values) in nested.typed_columns(table).items():
            print(f"{name}:", *(nested.text(kind, value) for value in values), file=out)


def write_rows(path):
    """A file of which filters read some rows: a dictionary fits 32 bits only without a sign, the pages behind it have none."""
    first = [3 * 10**9 if k % 2 == 0 else 7 for k in range(2048)]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    table = pa.table({"id": list(range(70000)), "value": first + [1] * (70000 - len(first))})
    pq.write_table(table, path, use_dictionary=["value"], column_encoding={"id": "DELTA_BINARY_PACKED"},
                   dictionary_pagesize_limit=16, write_batch_size=1024, store_schema=False)


def write_texts(path):
    """Texts behind a dictionary page and in pages without indices, some of them missing, and texts whose lengths are apart."""
    rows = range(70_000)
    table = pa.table({"mixed": pa.array([None if k % 11 == 0 else f"text {k // 3 % 9000}" for k in rows]),
                      "apart": pa.array([f"{k // 40}é" for k in rows])})
    pq.write_table(table, path, compression="zstd", compression_level=19, use_dictionary=["mixed"],
                   column_encoding={"apart": "DELTA_LENGTH_BYTE_ARRAY"}, dictionary_pagesize_limit=40_000,
                   row_group_size=30_000, data_page_size=20_000, store_schema=False)


def write_wrong(directory):
    """Files with values that columns cannot hold, and damaged ones."""
    def write(name, column, **options):
        path = os.path.join(directory, f"wrong-{name}.parquet")
        pq.write_table(pa.table({"good": list(range(len(column))), "bad": column}), path, store_schema=False, **options)
        return path

    def patch(path, change):
        with open(path, "rb") as file:
            data = bytearray(file.read())
        change(data)
        with open(path, "wb") as file:
            file.write(data)

    write("u64", pa.array([1, None, 2**63 - 1, 2**63, 5], pa.uint64()), use_dictionary=False)
    write("u64-dictionary", pa.array([1, None, 2**63 - 1, 2**63, 5], pa.uint64()))
    write("decimal", pa.array([decimal.Decimal(1), decimal.Decimal(10**19)], pa.decimal128(38, 2)))
    text = pa.StringArray.from_buffers(3, pa.py_buffer(np.array([0, 1, 3, 4], np.int32)), pa.py_buffer(b"a\xff\xfeb"))
    write("utf8", text, use_dictionary=False)
    write("utf8-dictionary", text)
    checked = write("checksum", pa.array([1.5, 2.5]), use_dictionary=False, compression="none", write_page_checksum=True)
    place = bytearray(np.array([1.5, 2.5]).tobytes())
    patch(checked, lambda data: data.__setitem__(data.index(place), 1))
    encrypted = write("encrypted", pa.array([1]))
    patch(encrypted, lambda data: data.__setitem__(slice(-4, None), b"PARE"))


def expect(table, path, others=()):
    """Writes a line with the name and values of each column, and of others."""
    with open(path.removesuffix(".parquet") + ".txt", "w", encoding="utf-8") as out:
        for name in table.column_names:
            column = table.column(name)
            values = peers.canonical(column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column]))
            words_of = ("-" if value is None else format(value, ".17g") if isinstance(value, float) else str(value)
                        for value in values)
            print(f"{name}:", *(word or "''" for word in words_of), file=out)
        for name in others:
            print(f"{name}:", *others[name], file=out)


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "parquet")
    write_all(directory)
    write_wrong(directory)


if __name__ == "__main__":
    main()
