#!/usr/bin/env python3
"""Every file of apache/parquet-testing, read as pyarrow reads it or refused with one error.

    tests/interop/corpus.py DIRECTORY [--dump build/dump_file]

Columns that rql leaves out must be named by a note. Needs pyarrow.
"""
import argparse
import glob
import os
import sys

import nested
import peers
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402

# Damaged files that all readers read.
READABLE = {"ARROW-GH-43605.parquet"}
# Files that pyarrow refuses: a map whose keys may be missing.
ONLY_OURS = {"incorrect_map_schema.parquet"}
# What int96_from_spark.md says the file holds; pyarrow overflows at the last value.
SPARK = [1704141296123456, 1704070800000000, 253402225200000000, 1735599600000000, None, 9089380393200000000]


def read_peer(path, names):
    """The columns among `names` that pyarrow can read."""
    columns = {}
    for name in names:
        try:
            table = pq.ParquetFile(path).read(columns=[name])
            columns[name] = peers.canonical(table.column(name)) if name in table.column_names else None
        except Exception as error:  # pylint: disable=broad-except
            columns[name] = f"pyarrow: {error}"
    return columns


def check_nested(path, name, ours, told):
    """The columns of a struct, or lists."""
    try:
        columns = nested.typed_columns(pq.ParquetFile(path).read(columns=[name]))
    except (pa.ArrowException, OverflowError):
        return ""  # pyarrow does not read all
    for column, (kind, values) in columns.items():
        if column not in ours:
            if f"`{column}`" in told or "..." in told:
                continue
            return f"{column}: left out without a note"
        if nested.is_list(kind) or pa.types.is_map(kind):
            theirs = [nested.printed(kind, value) for value in values]
            mine = [nested.parse(value) for value in ours[column][1]]
            problem = "" if nested.same(mine, theirs) else f"{mine} instead of {theirs}"
        else:
            problem = peers.same(*ours[column], peers.canonical(pa.chunked_array([values], kind)))
        if problem:
            return f"{column}: {problem}"
    return ""


def check_good(program, path):
    ours, status, told = peers.dump(program, path)
    groups = []
    try:
        schema = pq.read_schema(path)
        groups = [field.name for field in schema if pa.types.is_nested(field.type)]
        flat = [field.name for field in schema if not pa.types.is_nested(field.type)]
    except Exception as error:  # pylint: disable=broad-except
        flat = []
        if status == 0 and os.path.basename(path) not in ONLY_OURS:
            return f"only rql reads it: {error}"
    if status != 0 and told.count("error: ") == 1 and "the decimal does not fit 64 bits" in told:
        return ""
    if status != 0 and "no columns" not in told:
        return f"status {status}: {told}"
    problems = [problem for problem in (check_nested(path, name, ours, told) for name in groups) if problem]
    theirs = {"a": SPARK} if path.endswith("int96_from_spark.parquet") else read_peer(path, flat)
    for name in flat:
        if name not in ours:
            if f"`{name}`" not in told and "..." not in told:
                problems.append(f"{name}: left out without a note")
        elif isinstance(theirs[name], list):
            problem = peers.same(ours[name][0], ours[name][1], theirs[name])
            if problem:
                problems.append(f"{name} ({ours[name][0]}): {problem}")
        else:
            problems.append(f"{name}: only rql reads it: {theirs[name]}")
    return "\n".join(problems)


def check_bad(program, path):
    _, status, told = peers.dump(program, path)
    errors = told.count("error: ")
    if os.path.basename(path) in READABLE:
        return told if status else ""
    return "" if status == 1 and errors == 1 else f"status {status}: {told}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("--dump", default="build/dump_file")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    tally = harness.Tally("corpus")
    for path in sorted(glob.glob(os.path.join(arguments.directory, "**", "*.parquet*"), recursive=True)):
        name = os.path.relpath(path, arguments.directory)
        if name.endswith(".json"):
            continue
        bad = name.startswith("bad_data") or "corrupt-checksum" in name or name.endswith(".encrypted")
        problem = check_bad(arguments.dump, path) if bad else check_good(arguments.dump, path)
        tally.check(name, problem)
        if arguments.verbose:
            print(name, peers.dump(arguments.dump, path)[2].strip())
    sys.exit(tally.finish())


if __name__ == "__main__":
    main()
