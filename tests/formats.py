#!/usr/bin/env python3
"""File formats against other software: NumPy, csv, json, gzip and (if installed) DuckDB read what rql writes, and rql
reads what they write, without loss. Truncated and randomly damaged files are reported or read, and never crash rql.

    tests/formats.py [--seed N] [--rounds N]
"""

import argparse
import csv
import gzip
import io
import json
import math
import os
import random
import re
import sys
import zipfile

import harness
import numpy as np

try:
    import duckdb
except ImportError:
    duckdb = None

TYPES = {"bool": np.bool_, **harness.numpy_types(np)}
NAMES = ["id", "amount", "a,b", 'say "x"', "tab\there", "two\nlines", "größe", "名前", "back\\slash", "a|b", "'q'", "#no"]
LENGTHS = [0, 1, 2, 63, 1000, 70000]


def random_array(rng, kind, rows):
    """Random values of a type, including its extremes."""
    dtype = TYPES[kind]
    if kind == "bool":
        return rng.integers(0, 2, rows).astype(dtype)
    if kind in ("f32", "f64"):
        bits = rng.integers(0, 256, rows * np.dtype(dtype).itemsize, dtype=np.uint8).view(dtype).copy()
        # Text formats keep neither sign nor payload of NaN.
        bits[np.isnan(bits)] = np.nan
        special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.5, 1e-45, 3.0], dtype)
        places = rng.integers(0, 20, rows)
        return np.where(places < len(special), special[places % len(special)], bits).astype(dtype)
    info = np.iinfo(dtype)
    values = rng.integers(info.min, info.max, rows, dtype=dtype, endpoint=True)
    places = rng.integers(0, 10, rows)
    values[(places > 1) & (places < 6)] %= 100
    values[places == 0], values[places == 1] = info.min, info.max
    return values


def equal(a, b):
    """Whether the values are equal, whatever their types: NaN equals NaN, and -0.0 equals 0.0."""
    if len(a) != len(b):
        return False
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))


class Formats:
    def __init__(self, sandbox, tally, seed):
        self.sandbox = sandbox
        self.tally = tally
        self.rng = np.random.default_rng(seed)
        self.random = random.Random(seed)

    def rql(self, query, *options):
        return harness.run(["--device", "host", *options, "-c", query], self.sandbox.here, self.sandbox.home)

    def check(self, title, problem):
        self.tally.check(title, problem)

    def answer(self, title, query, *options):
        """The stdout of a query that must succeed with an empty stderr; otherwise counts a failure and returns None."""
        result = self.rql(query, *options)
        if result.status == 0 and not result.err:
            return result.out
        self.check(title, f"{query}\n{result.text()}")
        return None

    def table(self, rows):
        """Random columns with random names."""
        count = self.random.randint(1, 5)
        names = self.random.sample(NAMES, count)
        return {name: random_array(self.rng, self.random.choice(list(TYPES)), rows) for name in names}

    def write(self, name, columns):
        """A structured .npy file of the columns."""
        array = np.zeros(len(next(iter(columns.values()))), [(key, value.dtype) for key, value in columns.items()])
        for key, value in columns.items():
            array[key] = value
        np.save(self.sandbox.path(name), array)

    def same(self, title, columns, got):
        problems = []
        if list(got) != list(columns):
            problems.append(f"columns {list(got)}, expected {list(columns)}")
        else:
            problems = [
                f"column {key!r} ({value.dtype}) differs: {value[:5]} {got[key][:5]}"
                for key, value in columns.items()
                if not equal(value, got[key])
            ]
        self.check(title, "\n".join(problems))

    # NumPy

    def arrays(self):
        for kind in TYPES:
            for rows in LENGTHS:
                title = f"npy-{kind}-{rows}"
                array = random_array(self.rng, kind, rows)
                np.save(self.sandbox.path("a.npy"), array)
                out = self.answer(title, "load a.npy", "--format", "npy")
                if out is not None:
                    got = np.load(io.BytesIO(out))
                    fine = got.dtype == array.dtype and equal(got, array)
                    self.check(title, "" if fine else f"{got.dtype} {got[:9]}, expected {array[:9]}")
        self.layouts()
        self.times()
        self.texts()
        self.archives()

    def through(self, title, array, expected):
        """An array, alone and as a field, comes back as expected."""
        for fields in (None, "t", "t,n"):
            given = array if fields is None else np.rec.fromarrays([array, np.arange(len(array))][: len(fields) // 2 + 1], names=fields)
            np.save(self.sandbox.path("a.npy"), given)
            out = self.answer(f"{title}-{fields}", "load a.npy", "--format", "npy", "--quiet")
            if out is None:
                continue
            got = np.load(io.BytesIO(out))
            got = got["t"] if got.dtype.names else got
            fine = got.dtype == expected.dtype and got.tolist() == expected.tolist()
            self.check(f"{title}-{fields}", "" if fine else f"{got.dtype} {got[:5]}, expected {expected.dtype} {expected[:5]}")

    def times(self):
        """All units of time, with and without NaT; nanoseconds are rounded down."""
        for unit in ("W", "D", "h", "m", "s", "ms", "us", "ns"):
            for kind in "Mm":
                for rows in LENGTHS[:3]:
                    numbers = self.rng.integers(-10**9, 10**9, rows) // (1 if "s" in unit else 10**5)
                    array = numbers.astype(f"{kind}8[{unit}]")
                    array[::3] = "NaT"
                    stored = f"{kind}8[D]" if unit in "WD" and kind == "M" else f"{kind}8[us]"
                    for given in (array, array[1:2]):
                        expected = given.astype(stored)
                        if unit == "ns":
                            floors = np.floor_divide(given.astype("i8"), 1000).astype(stored)
                            expected = np.where(np.isnat(given), expected, floors)
                        self.through(f"npy-{kind}8[{unit}]-{len(given)}", given, expected)

    def texts(self):
        words = np.array(["", "a", "é", "日本語", "𝄞x", "several words", "tab\t", "nul\0in"])
        for rows in LENGTHS:
            array = words[self.rng.integers(0, len(words), rows)]
            longest = max([len(word) for word in array.tolist()] + [1])
            self.through(f"npy-text-{rows}", array, array.astype(f"U{longest}"))
            encoded = np.array([word.encode() for word in array.tolist()], "S20")
            self.through(f"npy-bytes-{rows}", encoded, array.astype(f"U{longest}"))

    def layouts(self):
        array = self.rng.integers(-100, 100, (7, 5), dtype=np.int16)
        cases = {
            "two-dimensions": (array, array),
            "three-dimensions": (array.reshape(5, 1, 7), array.reshape(5, 1, 7)),
            "eight-dimensions": (np.arange(2**8).reshape((2,) * 8), np.arange(2**8).reshape((2,) * 8)),
            "one-row": (array[:1], array[:1]),
            "fortran-in-one-dimension": (np.asfortranarray(array[0]), array[0]),
            "fortran-of-two": (np.asfortranarray(array), array),
            "fortran-of-four": (np.asfortranarray(array[:6].reshape(3, 5, 1, 2)), array[:6].reshape(3, 5, 1, 2)),
            "fortran-in-parts": (np.asfortranarray(np.arange(600_000).reshape(300, 200, 10)),
                                 np.arange(600_000).reshape(300, 200, 10)),
            "fortran-without-rows": (np.asfortranarray(array[:0]), array[:0].reshape(-1)),
            "unsigned-64": (np.array([0, 2**63 - 1], np.uint64), np.array([0, 2**63 - 1])),
            "no-dimension": (np.array(2.5), np.array([2.5])),
            "python-2": (array[0], array[0]),
        }
        for title, (given, expected) in cases.items():
            np.save(self.sandbox.path("a.npy"), given)
            if title == "python-2":
                self.respell(b"(5,)", b"(5L,)")
            out = self.answer(f"npy-{title}", "load a.npy | map $1", "--format", "npy")
            if out is not None:
                got = np.load(io.BytesIO(out))
                self.check(f"npy-{title}", "" if np.array_equal(got, expected) else f"{got}, expected {expected}")
        for version in ((1, 0), (2, 0), (3, 0)):
            with open(self.sandbox.path("a.npy"), "wb") as file:
                np.lib.format.write_array(file, array, version=version)
            out = self.answer(f"npy-version-{version[0]}", "load a.npy | sum $1")
            if out is not None:
                self.check(f"npy-version-{version[0]}", "" if int(out) == array.sum() else out.decode())
        for query, expected in (("3", 3), ("2.5", 2.5), ("1 < 2", True)):
            out = self.answer(f"npy-scalar-{query}", query, "--format", "npy")
            if out is not None:
                got = np.load(io.BytesIO(out))
                self.check(f"npy-scalar-{query}", "" if got.shape == () and got == expected else repr(got))

    def archives(self):
        """Arrays of .npz files, stored and deflated; NumPy reads what rql saves."""
        for rows in LENGTHS:
            columns = {kind: random_array(self.rng, kind, rows) for kind in TYPES}
            for title, save in (("stored", np.savez), ("deflated", np.savez_compressed)):
                save(self.sandbox.path("a.npz"), **columns)
                out = self.answer(f"npz-{title}-{rows}", "load a.npz", "--format", "npy")
                if out is not None:
                    got = np.load(io.BytesIO(out))
                    self.same(f"npz-{title}-{rows}", columns, {name: got[name] for name in got.dtype.names})
            if self.answer(f"npz-saved-{rows}", "load a.npz | save b.npz") is not None:
                with np.load(self.sandbox.path("b.npz")) as got:
                    self.same(f"npz-saved-{rows}", columns, dict(got))
        more = {"m": np.zeros((2, 2)), "o": np.zeros((1, 1, 1)), "z": np.zeros(3, complex), "b": np.arange(4), "0": np.array(5)}
        np.savez(self.sandbox.path("a.npz"), a=np.arange(3), **more, c=np.arange(3))
        result = self.rql("load a.npz | map a + c", "--format", "csv")
        told = result.err.decode()
        fine = result.out.split() == [b"c1", b"0", b"2", b"4"] and all(f"`{name}`" in told for name in more)
        self.check("npz-left-out", "" if fine else result.text())
        with zipfile.ZipFile(self.sandbox.path("a.npz"), "a") as archive:
            for k in range(66000):  # more entries than a directory without ZIP64 can count
                archive.writestr(f"{k}.txt", "")
        out = self.answer("npz-zip64", "load a.npz | sum c", "--quiet")
        self.check("npz-zip64", "" if out in (None, b"3\n") else out.decode())
        self.refused_archives()

    def refused_archives(self):
        np.savez(self.sandbox.path("a.npz"), a=np.arange(100))
        data = open(self.sandbox.path("a.npz"), "rb").read()
        wrong = bytearray(data)
        wrong[500] ^= 1
        cases = {
            "nothing": (b"", "no ZIP archive"),
            "no-directory": (data[:-5], "no directory"),
            "checksum": (bytes(wrong), "checksum"),
            "overlap": (data.replace(b"PK\1\2", b"PK\1\3"), "entry 0"),
        }
        for title, (content, word) in cases.items():
            self.sandbox.write("a.npz", content)
            result = self.rql("load a.npz")
            fine = result.status == 1 and word in result.err.decode() and not result.out
            self.check(f"npz-{title}", "" if fine else result.text())

    def respell(self, old, new):
        """Edits the header of a.npy and keeps its length."""
        data = open(self.sandbox.path("a.npy"), "rb").read()
        data = data.replace(old, new).replace(b" " * (len(new) - len(old)) + b"\n", b"\n", 1)
        self.sandbox.write("a.npy", data)

    def refused(self):
        """Arrays that rql cannot load, each with a word of the error message."""
        array = np.arange(12)
        cases = {
            "big-endian": (array.astype(">i4"), "big-endian"),
            "objects": (np.array([1, "a"], object), "objects"),
            "bytes": (np.array([b"a", b"\xff"]), "row 1: the text is not valid Unicode"),
            "months": (np.array([1]).astype("M8[M]"), "<M8[M]"),
            "far-away": (np.array([0, 2**62]).astype("M8[s]"), "row 1: the time is too far"),
            "complex": (array.astype(complex), "<c16"),
            "nine-dimensions": (np.zeros((1,) * 9), "9 dimensions"),
            "above-i64": (np.array([1, 2**63], np.uint64), "row 1"),
            "nested": (np.zeros(2, [("a", [("b", "i4")])]), "nested fields"),
            "arrays-in-fields": (np.zeros(2, [("a", "i4", (2,))]), "fields that are arrays"),
        }
        for title, (array, word) in cases.items():
            np.save(self.sandbox.path("a.npy"), array, allow_pickle=True)
            result = self.rql("load a.npy")
            fine = result.status == 1 and word in result.err.decode() and not result.out
            self.check(f"npy-{title}", "" if fine else result.text())

    def tables(self, rounds):
        """Loads structured arrays, saves them in every format, and loads those again."""
        for number in range(rounds):
            columns = self.table(LENGTHS[number % len(LENGTHS)])
            self.write("t.npy", columns)
            out = self.answer(f"table-{number}-npy", "load t.npy", "--format", "npy")
            if out is not None:
                got = np.load(io.BytesIO(out))
                names = list(columns)
                fields = {name: got[name] if got.dtype.names else got for name in names}
                self.same(f"table-{number}-npy", columns, fields if got.dtype.names in (tuple(names), None) else {})
            packing = self.random.choice(["", ".gz", ".zst"])
            for ending in (".csv", ".tsv", ".npy", ".npz"):
                self.round_trip(f"table-{number}{ending}{packing}", columns, f"u{ending}{packing}")
            finite = all(np.isfinite(value).all() for value in columns.values())
            if finite and len(next(iter(columns.values()))) > 0:
                self.round_trip(f"table-{number}.jsonl{packing}", columns, f"u.jsonl{packing}")
            self.as_csv(f"table-{number}-by-csv", columns)
            self.as_json(f"table-{number}-by-json", columns)

    def round_trip(self, title, columns, name):
        if self.answer(title, f'load t.npy | save "{name}"') is None:
            return
        out = self.answer(title, f'load "{name}"', "--format", "npy")
        if out is None:
            return
        got = np.load(io.BytesIO(out))
        names = got.dtype.names or (next(iter(columns)),)
        self.same(title, columns, {name: got[name] if got.dtype.names else got for name in names})

    def as_csv(self, title, columns):
        """Python's csv module reads rql's output."""
        out = self.answer(title, "load t.npy", "--format", "csv")
        if out is None:
            return
        lines = list(csv.reader(io.StringIO(out.decode(), newline="")))
        values = list(zip(*lines[1:])) or [()] * len(columns)
        readers = {"f": (np.float64, float), "b": (np.bool_, {"true": True, "false": False}.__getitem__)}
        kinds = [readers.get(value.dtype.kind, (np.int64, int)) for value in columns.values()]
        texts = zip(lines[0], values, kinds)
        self.same(title, columns, {name: np.array([read(cell) for cell in text], kind) for name, text, (kind, read) in texts})

    def as_json(self, title, columns):
        """Python's json module reads rql's output, as an array or by lines; non-finite floats are null."""
        out = self.answer(title, "load t.npy", "--format", "json")
        lines = self.answer(title, "load t.npy", "--format", "jsonl")
        if out is None or lines is None:
            return
        rows = json.loads(out)
        if rows != [json.loads(line) for line in lines.decode().split("\n")[:-1]]:
            self.check(title, "json and jsonl differ")
            return
        expected = [
            {name: None if isinstance(v, float) and not math.isfinite(v) else v for name, v in zip(columns, row)}
            for row in zip(*(value.tolist() for value in columns.values()))
        ]
        wrong = [pair for pair in zip(rows, expected) if pair[0] != pair[1]]
        self.check(title, "" if len(rows) == len(expected) and not wrong else f"{wrong[:1]} of {len(rows)} rows")

    # Other writers

    def written_by_numpy(self):
        columns = {"x": random_array(self.rng, "f64", 500), "n": random_array(self.rng, "i32", 500)}
        for title, ascii_only in (("json-ascii", True), ("json-utf-8", False)):
            rows = [{"größe 𝄞\\\"": n, "text": "a\n,}", "x": n / 7, "more": {"a": [1, "]"]}} for n in columns["n"].tolist()]
            self.sandbox.write("s.jsonl", "".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in rows).encode())
            result = self.rql("load s.jsonl | map x, $1", "--format", "npy", "--quiet")
            got = np.load(io.BytesIO(result.out)) if result.status == 0 else None
            fine = got is not None and got["größe 𝄞\\\""].tolist() == columns["n"].tolist()
            fine = fine and got["x"].tolist() == [row["x"] for row in rows]
            self.check(title, "" if fine else result.text())
        table = np.column_stack([columns["x"], columns["n"].astype(float)])
        for name, separator in (("s.csv", ","), ("s.tsv", "\t")):
            np.savetxt(self.sandbox.path(name), table, fmt=["%.17g", "%d"], delimiter=separator, header="x" + separator + "n", comments="")
            out = self.answer(f"savetxt-{name}", f"load {name}", "--format", "npy")
            if out is not None:
                got = np.load(io.BytesIO(out))
                self.same(f"savetxt-{name}", columns, {key: got[key] for key in got.dtype.names})
        np.savetxt(self.sandbox.path("s.txt"), columns["n"], fmt="%d")
        out = self.answer("savetxt-txt", "load s.txt | sum")
        if out is not None:
            self.check("savetxt-txt", "" if int(out) == int(columns["n"].astype(object).sum()) else out.decode())
        with gzip.open(self.sandbox.path("s.txt.gz"), "wt") as file:
            file.write("1\n2\n")
        with gzip.open(self.sandbox.path("s.txt.gz"), "at") as file:
            file.write("3\n")
        out = self.answer("gzip-of-two", "load s.txt.gz | sum")
        if out is not None:
            self.check("gzip-of-two", "" if out == b"6\n" else out.decode())
        self.answer("gzip-written", "range 1..100000 | save r.txt.gz")
        with gzip.open(self.sandbox.path("r.txt.gz"), "rt") as file:
            self.check("gzip-written", "" if file.read() == "".join(f"{i}\n" for i in range(1, 100001)) else "differs")

    def duck(self, rounds):
        """DuckDB reads what rql saves, and rql reads what DuckDB saves."""
        if duckdb is None:
            print("formats: duckdb cannot be imported, so its part is skipped")
            return
        for number in range(rounds):
            columns = self.table(1000)
            self.write("t.npy", columns)
            for ending in (".csv", ".csv.gz", ".csv.zst", ".jsonl"):
                title = f"duckdb-{number}-reads{ending}"
                if self.answer(title, f'load t.npy | save "d{ending}"') is None:
                    continue
                reader = "read_json" if ending == ".jsonl" else "read_csv"
                options = "" if ending == ".jsonl" else ", header = true"
                path = self.sandbox.path("d" + ending)
                types = ", ".join(f"'{n.replace(chr(39), chr(39) * 2)}': '{'DOUBLE' if v.dtype.kind == 'f' else 'BIGINT'}'" for n, v in columns.items())
                got = duckdb.sql(f"select * from {reader}('{path}'{options}, columns = {{{types}}})").fetchnumpy()
                expected = columns
                if ending == ".jsonl":
                    got = {n: np.ma.filled(v.astype(float), np.nan) if columns[n].dtype.kind == "f" else v for n, v in got.items()}
                    expected = {n: np.where(np.isfinite(v), v, np.nan) if v.dtype.kind == "f" else v for n, v in columns.items()}
                self.same(title, expected, {n: np.asarray(v) for n, v in got.items()})
            title = f"duckdb-{number}-writes"
            # DuckDB reads NaN in an array as NULL.
            table = {f"c{i}": np.where(np.isnan(v), 0.5, v) if v.dtype.kind == "f" else v for i, v in enumerate(columns.values())}
            path = self.sandbox.path("w.csv")
            view = duckdb.connect()
            view.register("t", table)
            view.sql(f"copy (select * from t) to '{path}' (header)")
            out = self.answer(title, "load w.csv", "--format", "npy")
            if out is not None:
                got = np.load(io.BytesIO(out))
                # DuckDB writes a float32 with the digits that identify it among float32 values only.
                self.same(title, table, {n: (got[n] if got.dtype.names else got).astype(table[n].dtype) for n in table})

    # Damage

    def damaged(self, rounds):
        """Files with bytes changed, removed or added load, or fail with one message."""
        self.write("t.npy", {"a": random_array(self.rng, "i32", 50), "b": random_array(self.rng, "f64", 50)})
        names = ["t.npy"]
        for name in ("v.csv", "v.tsv", "v.jsonl", "v.csv.gz", "v.csv.zst", "v.npy.gz", "v.npz"):
            self.answer("damage", f"load t.npy | save {name}")
            names.append(name)
        for number in range(rounds):
            name = self.random.choice(names)
            data = bytearray(open(self.sandbox.path(name), "rb").read())
            for _ in range(self.random.randint(1, 4)):
                at = self.random.randrange(len(data) + 1)
                kind = self.random.randrange(4)
                if kind == 0:
                    del data[at:]
                elif kind == 1:
                    data[at : at + 1] = bytes([self.random.randrange(256)])
                elif kind == 2:
                    data[at:at] = self.random.choice([b'"', b"\n", b",", b"\t", b"\0", b"9" * 30, b"-", b"nan"])
                else:
                    del data[at : at + self.random.randint(1, 9)]
            broken = "broken" + name[name.index(".") :]
            self.sandbox.write(broken, bytes(data))
            result = self.rql(f"load {broken} | count")
            errors = len(re.findall(rb"(?:^|: )error: ", result.err, re.MULTILINE))
            fine = (result.status, errors) in ((0, 0), (1, 1)) and not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", result.err)
            self.check(f"damaged-{number}-{name}", "" if fine else f"{bytes(data)[:200]!r}\n{result.text()}")


def main(sandbox):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--rounds", type=int, default=12)
    arguments = parser.parse_args()
    print(f"formats: seed {arguments.seed}")
    tally = harness.Tally("formats")
    formats = Formats(sandbox, tally, arguments.seed)
    formats.arrays()
    formats.refused()
    formats.tables(arguments.rounds)
    formats.written_by_numpy()
    formats.duck(arguments.rounds // 3)
    formats.damaged(10 * arguments.rounds)
    return tally.finish()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    os.chdir(harness.TREE)
    harness.main_program(main)
