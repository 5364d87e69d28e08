#!/usr/bin/env python3
"""Writes the files of tests/arrow, by pyarrow, pandas and Polars, and what they hold as pyarrow reads it.

    tests/interop/make_arrow.py DIRECTORY

NAME.txt is what NAME.* and NAME-*.* hold: a line for each column, its name and type as build/dump_file prints them, then
a line for each value.
Needs pyarrow, pandas and polars.
"""
import decimal
import os
import sys

import numpy as np
import pandas
import nested
import peers
import polars
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc

WORDS = ["", "a", "é", "日本語", "a text that is longer than twelve bytes", 'tab\tand "quotes"', "nul\0byte", "Z"]
UNITS = ("s", "ms", "us", "ns")


def integers(rng, bits, rows, signed=True):
    lo, hi = (-2 ** (bits - 1), 2 ** (bits - 1) - 1) if signed else (0, 2 ** min(bits, 63) - 1)
    values = [rng.integers(lo, hi, endpoint=True, dtype=np.int64) for _ in range(rows)]
    values[:2] = [lo, hi][:rows]
    return [int(value) for value in values]


def decimals(rng, digits, scale, rows):
    bound = 10 ** min(digits, 18) - 1
    values = [int(rng.integers(-bound, bound)) for _ in range(rows)]
    values[:2] = [bound, -bound][:rows]
    with decimal.localcontext() as context:
        context.prec = 60
        return [decimal.Decimal(value).scaleb(-scale) for value in values]


def table(rows, missing, seed=1):
    """A column of each type that can be read."""
    rng = np.random.default_rng(seed)
    columns = {}

    def add(name, values, kind):
        if missing:
            values = [None if rng.random() < 0.3 else value for value in values]
        columns[name] = pa.array(values, kind)

    for bits in (8, 16, 32, 64):
        add(f"i{bits}", integers(rng, bits, rows), getattr(pa, f"int{bits}")())
        add(f"u{bits}", integers(rng, bits, rows, False), getattr(pa, f"uint{bits}")())
    add("f16", [np.float16(value) for value in rng.standard_normal(rows)], pa.float16())
    add("f32", [float(np.float32(value)) for value in rng.standard_normal(rows)], pa.float32())
    add("f64", [float("nan") if rng.random() < 0.1 else float(value) for value in rng.standard_normal(rows)], pa.float64())
    add("bool", [bool(value) for value in rng.random(rows) < 0.5], pa.bool_())
    texts = [WORDS[k % len(WORDS)] + str(k % 50) for k in rng.integers(0, 1000, rows)]
    for name in ("string", "large_string", "string_view"):
        add(name, texts, getattr(pa, name)())
    add("binary", [text.encode() for text in texts], pa.binary())
    for bits in (8, 16, 32, 64):
        for name in (f"int{bits}", f"uint{bits}"):
            add(f"in_{name}", [WORDS[k] for k in rng.integers(0, len(WORDS), rows)],
                pa.dictionary(getattr(pa, name)(), pa.string()))
    columns["null_in_dictionary"] = pa.DictionaryArray.from_arrays(
        pa.array(rng.integers(0, 3, rows), pa.int8()), pa.array(["y", None, "x"]))
    add("date32", [int(value) for value in rng.integers(-100000, 100000, rows)], pa.int32())
    columns["date32"] = columns["date32"].cast(pa.date32())
    add("date64", [int(value) * 86_400_000 for value in rng.integers(-100000, 100000, rows)], pa.int64())
    columns["date64"] = columns["date64"].view(pa.date64())
    for unit in UNITS:
        for name, kind in (("at", pa.timestamp(unit)), ("zoned", pa.timestamp(unit, "Europe/Berlin")), ("for", pa.duration(unit))):
            add(f"{name}_{unit}", [int(value) for value in rng.integers(-10**12, 10**12, rows)], pa.int64())
            columns[f"{name}_{unit}"] = columns[f"{name}_{unit}"].view(kind)
        add(f"time_{unit}", [int(value) for value in rng.integers(0, 86400, rows)], pa.int32() if unit in "ms" else pa.int64())
        kind = pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
        columns[f"time_{unit}"] = columns[f"time_{unit}"].cast(pa.int32() if unit in ("s", "ms") else pa.int64()).view(kind)
    for name, kind in (("decimal32", pa.decimal32(9, 2)), ("decimal64", pa.decimal64(18, 4)),
                       ("decimal128", pa.decimal128(30, 18)), ("decimal256", pa.decimal256(50, 3)),
                       ("tens", pa.decimal128(10, -2))):
        add(name, decimals(rng, kind.precision, kind.scale, rows), kind)
    columns["null"] = pa.nulls(rows)
    return pa.table(columns)


def type_of(kind, values):
    """The type as dump_file prints it, for the file's type and its values."""
    types = pa.types
    suffix = " missing" if None in values else ""
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_null(kind) or types.is_binary(kind) or "string" in str(kind) or "binary" in str(kind):
        return "u8 text" + suffix
    if types.is_date(kind):
        return "i32 date" + suffix
    if types.is_timestamp(kind):
        return "i64 timestamp" + (" utc" if kind.tz == "UTC" else f" in {kind.tz}" if kind.tz else "") + suffix
    if types.is_duration(kind) or types.is_time(kind):
        return "i64 duration" + suffix
    if types.is_decimal(kind):
        return f"i64 decimal {max(kind.scale, 0)}" + suffix
    names = {"float": "f32", "halffloat": "f32", "double": "f64", "bool": "bool", "uint64": "i64"}
    return names.get(str(kind), str(kind).replace("uint", "u").replace("int", "i")) + suffix


def printed(value, kind):
    if value is None:
        return "-"
    return f"{value:.17g}" if kind.startswith("f") else str(value)


def nested_lines(name, column):
    """Those of the columns that a struct, or lists, become."""
    lines = []
    for path, (kind, values) in nested.typed_columns(pa.table({name: column})).items():
        if nested.is_list(kind) or pa.types.is_map(kind):
            shown = "i64 list" + (" missing" if None in values else "")
        else:
            shown = type_of(kind, peers.canonical(pa.chunked_array([pa.array(values, kind)])))
        lines.append(f"{path}: {shown}")
        lines += [nested.text(kind, value) for value in values]
    return lines


def expected(columns):
    lines = []
    for field, column in zip(columns.schema, columns.columns):
        if pa.types.is_nested(field.type):
            lines += nested_lines(field.name, column)
            continue
        values = peers.canonical(column)
        if values is None:
            continue
        kind = type_of(field.type, values)
        lines.append(f"{field.name}: {kind}")
        lines += [printed(value, kind) for value in values]
    return "\n".join(lines) + "\n"


def write(path, columns, stream=False, rows=None, **options):
    with open(path, "wb") as file:
        new = ipc.new_stream if stream else ipc.new_file
        with new(file, columns.schema, options=ipc.IpcWriteOptions(**options)) as writer:
            writer.write_table(columns, max_chunksize=rows)


def replaced():
    """Batches whose dictionaries grow, and then are others."""
    words = [["b", "a"], ["b", "a", "c"], ["b", "a", "c", "d"], ["z", "a"]]
    indices = [[0, 1, 0], [2, None, 1], [3, 0], [0, 1, 0]]
    return [pa.record_batch([pa.DictionaryArray.from_arrays(pa.array(index, pa.int8()), pa.array(word))], ["text"])
            for word, index in zip(words, indices)]


def main():
    folder = sys.argv[1]
    texts = {}

    def path(name, columns):
        stem = name.split(".")[0].split("-")[0]
        text = expected(columns)
        assert texts.setdefault(stem, text) == text
        return os.path.join(folder, name)

    some = table(19, False)
    write(path("present.arrow", some), some)
    some = table(19, True)
    write(path("missing.arrow", some), some)
    write(path("missing-batches.arrows", some), some, stream=True, rows=8)
    write(path("missing-lz4.arrow", some), some, rows=10, compression="lz4")
    feather.write_feather(some, path("missing-zstd.feather", some), compression="zstd")
    write(path("empty.arrow", table(0, False)), table(0, False))
    write(path("one.ipc", table(1, True, 7)), table(1, True, 7))
    batches = replaced()
    with ipc.new_stream(path("dictionaries.arrows", pa.Table.from_batches(batches).unify_dictionaries()),
                        batches[0].schema, options=ipc.IpcWriteOptions(emit_dictionary_deltas=True)) as writer:
        for batch in batches:
            writer.write_batch(batch)
    groups = pa.table({"list": pa.array([[1], None, [2, 3]]), "a": [1, 2, 3], "struct": [{"x": 1, "y": "z"}] * 3,
                       "bytes": pa.array([b"\xff", b"a", b"b"]), "b": ["x", None, "y"]})
    write(path("nested.arrow", groups.drop_columns(["bytes"])), groups)
    lists = nested.sample_table(arrow=True)
    write(path("lists.arrow", lists), lists)
    write(path("lists-zstd.arrows", lists), lists, stream=True, rows=7, compression="zstd")
    some = table(20, True, 3).select(["i8", "u32", "f64", "bool", "string", "in_int32", "date32", "at_us", "zoned_us", "for_us"])
    frame = polars.from_arrow(some)
    frame.write_ipc(path("polars.arrow", frame.to_arrow()))
    frame.write_ipc(path("polars-lz4.arrow", frame.to_arrow()), compression="lz4")
    frame.write_ipc_stream(path("polars.arrows", frame.to_arrow()))
    some.to_pandas().to_feather(path("pandas.feather", pa.Table.from_pandas(some.to_pandas())))
    instants = [0, 1711846799000000, None, 1729989000000000, 4118126400250000]
    zones = pa.table({name: pa.array(instants, pa.timestamp("us", zone)) for name, zone in
                      (("berlin", "Europe/Berlin"), ("utc", "UTC"), ("none", None), ("india", "Asia/Kolkata"))})
    write(path("zones.arrow", zones), zones)
    index = pa.Table.from_pandas(pandas.DataFrame({"a": [1, 2]}, index=pandas.RangeIndex(2, name="a b")))
    write(path("index.arrow", index), index)
    for name, text in texts.items():
        with open(os.path.join(folder, name + ".txt"), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
