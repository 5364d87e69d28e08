#!/usr/bin/env python3
"""Arrow files against pyarrow, pandas, Polars and DuckDB: every type with and without missing values, in files and streams,
packed and not, of no rows, one and many, written by others and by rql.

    tests/interop/arrow.py [--dump build/dump_file] [--corpus DIRECTORY] [--distinct N]

DIRECTORY is a copy of apache/arrow-testing: its files are read as pyarrow reads them, or refused with one error.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

import duckdb
import make_arrow
import numpy as np
import pandas
import peers
import polars
import pyarrow as pa
import pyarrow.ipc as ipc

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402

TEXTS = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
TOO_WIDE = ("does not fit 64 bits", "too far from 1970", "exceeds 9223372036854775807")


def is_read(kind):
    """Whether rql reads dictionaries of such values."""
    return not pa.types.is_dictionary(kind) or str(kind.value_type) in TEXTS


def canonical(columns):
    """The columns that rql reads, as (name, values), with repeated names."""
    values = [(field.name, peers.canonical(column)) for field, column in zip(columns.schema, columns.columns)
              if is_read(field.type)]
    return [(name, column) for name, column in values if column is not None]


def read_peer(path):
    try:
        return ipc.open_file(path).read_all()
    except pa.ArrowInvalid:
        return ipc.open_stream(path).read_all()


def compare(ours, columns):
    problems = []
    for name, values in canonical(columns):
        if name not in ours:
            problems.append(f"{name}: left out")
            continue
        problem = peers.same(*ours[name], values)
        if problem:
            problems.append(f"{name} ({ours[name][0]}): {problem}")
    return "\n".join(problems)


class Interop:
    def __init__(self, tally, program, folder):
        self.tally = tally
        self.program = program
        self.folder = folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def check_read(self, title, path, columns):
        ours, status, told = peers.dump(self.program, path)
        self.tally.check(title, told if status else compare(ours, columns))

    def check_written(self, title, path, columns):
        """Saves what rql reads, and lets the others read that."""
        ours, _, _ = peers.dump(self.program, path)
        for ending in ("arrow", "arrows"):
            saved = self.path(f"saved.{ending}")
            done = subprocess.run([self.program, "--save", saved, path], capture_output=True, text=True, check=False)
            if done.returncode:
                self.tally.check(f"{title}-{ending}", done.stderr)
                continue
            back = read_peer(saved)
            back.validate(full=True)
            self.tally.check(f"{title}-{ending}-pyarrow", compare(ours, back) or self.compare_types(ours, back))
            frame = polars.read_ipc(saved) if ending == "arrow" else polars.read_ipc_stream(saved)
            self.tally.check(f"{title}-{ending}-polars", compare(ours, frame.to_arrow()))
            if ending == "arrow":
                self.tally.check(f"{title}-pandas", self.compare_pandas(back, pandas.read_feather(saved)))
            self.tally.check(f"{title}-{ending}-duckdb", self.compare_duckdb(ours, back))

    @staticmethod
    def compare_types(ours, back):
        """pyarrow's types must be those that rql had."""
        wrong = [f"{field.name}: {field.type} for {ours[field.name][0]}" for field in back.schema
                 if make_arrow.type_of(field.type, []).split() != ours[field.name][0].replace(" missing", "").split()
                 and "text" not in ours[field.name][0]]
        return "\n".join(wrong)

    @staticmethod
    def compare_pandas(back, frame):
        """Values that pandas holds as they are: integers and floats, where none is missing, and text."""
        for name in frame.columns:
            column = back.column(name)
            if pa.types.is_dictionary(column.type):
                values = [None if value is pandas.NA or value != value else value for value in frame[name].astype(object)]
                if values != column.to_pylist():
                    return f"{name}: text differs"
            elif column.null_count == 0 and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
                if not np.array_equal(frame[name].to_numpy(), column.to_numpy(), equal_nan=pa.types.is_floating(column.type)):
                    return f"{name}: numbers differ"
        return ""

    @staticmethod
    def compare_duckdb(ours, back):
        got = duckdb.sql("SELECT * FROM back").to_arrow_table()
        texts = [name for name, (kind, _) in ours.items() if "text" in kind]
        for name in texts:  # DuckDB's enumerations
            k = got.column_names.index(name)
            got = got.set_column(k, name, got.column(name).cast(pa.string()))
        return compare(ours, got)


def check_matrix(interop, rows, missing):
    columns = make_arrow.table(rows, missing, seed=rows + 1)
    for codec in (None, "lz4", "zstd"):
        for stream in (False, True):
            for size in (None, 7 if rows < 1000 else 65537):
                title = f"{rows}-{'missing' if missing else 'present'}-{codec}-{'stream' if stream else 'file'}-{size}"
                path = interop.path("x.arrow")
                make_arrow.write(path, columns, stream, size, compression=codec, emit_dictionary_deltas=stream)
                interop.check_read(title, path, columns)
    interop.check_written(f"{rows}-{'missing' if missing else 'present'}", interop.path("x.arrow"), columns)
    frame = polars.from_arrow(columns.drop_columns(["tens", "decimal256", "null", "time_s", "time_ms", "time_us", "time_ns"]))
    for compression in ("uncompressed", "lz4", "zstd"):
        frame.write_ipc(interop.path("p.arrow"), compression=compression)
        interop.check_read(f"{rows}-polars-{compression}", interop.path("p.arrow"), frame.to_arrow())
    plain = columns.select(["i8", "u32", "f64", "bool", "string", "date32", "at_us", "at_ns", "for_ns", "in_int8"]).to_pandas()
    plain.to_feather(interop.path("p.feather"))
    interop.check_read(f"{rows}-pandas", interop.path("p.feather"), pa.Table.from_pandas(plain))


def check_distinct(interop, count):
    """As many distinct strings as rows."""
    texts = pa.array(np.char.add("text ", np.random.default_rng(5).permutation(count).astype(str)))
    for kind in (pa.string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
        column = texts.dictionary_encode() if pa.types.is_dictionary(kind) else texts.cast(kind)
        columns = pa.table({"t": column, "n": pa.array(range(count))})
        path, saved = interop.path("d.arrow"), interop.path("e.arrow")
        make_arrow.write(path, columns)
        begin = time.time()
        done = subprocess.run([interop.program, "--save", saved, path], capture_output=True, text=True, check=False)
        print(f"{count} distinct, {kind}: {time.time() - begin:.2f} s")
        equal = done.returncode == 0 and read_peer(saved).column("t").cast(pa.string()).equals(pa.chunked_array([texts]))
        interop.tally.check(f"distinct-{kind}", "" if equal else done.stderr or "texts differ")


def check_corpus(interop, folder):
    paths = glob.glob(os.path.join(folder, "data", "arrow-ipc-*", "**", "*"), recursive=True)
    for path in sorted(path for path in paths if os.path.isfile(path) and not path.endswith((".md", ".gz", ".json"))):
        title = os.path.relpath(path, os.path.join(folder, "data"))
        shutil.copy(path, interop.path("x.arrow"))
        path = interop.path("x.arrow")
        ours, status, told = peers.dump(interop.program, path)
        errors = told.count("error: ")
        if "integration" not in title or "bigendian" in title:
            interop.tally.check(title, "" if (status, errors) in ((0, 0), (1, 1)) else f"status {status}: {told}")
            continue
        columns = read_peer(path)
        readable = canonical(columns)
        if status:
            fine = errors == 1 and (not ours and not any(any(v is not None for v in column) for _, column in readable)
                                    or any(words in told for words in TOO_WIDE))
            interop.tally.check(title, "" if fine else told)
        elif len(set(columns.column_names)) == len(columns.column_names):
            missing = [name for name, _ in readable if name not in ours and f"`{name}`" not in told]
            shown = columns.select([name for name in columns.column_names if name in ours])
            interop.tally.check(title, compare(ours, shown) or (f"left out without a note: {missing}" if missing else ""))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump", default="build/dump_file")
    parser.add_argument("--corpus")
    parser.add_argument("--distinct", type=int, default=10_000_000)
    arguments = parser.parse_args()
    tally = harness.Tally("arrow-interop")
    with tempfile.TemporaryDirectory() as folder:
        interop = Interop(tally, os.path.abspath(arguments.dump), folder)
        for rows in (0, 1, 8, 9, 1000, 70_000):
            for missing in (False, True):
                check_matrix(interop, rows, missing)
        if arguments.corpus:
            check_corpus(interop, arguments.corpus)
        check_distinct(interop, arguments.distinct)
    sys.exit(tally.finish())


if __name__ == "__main__":
    main()
