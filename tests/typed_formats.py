#!/usr/bin/env python3
"""Text, dates, times, floats, bools and missing values in the text formats, as Python's csv and json modules and (if
installed) DuckDB read what rql writes.

    tests/typed_formats.py [--seed N] [--rounds N]
"""

import argparse
import csv
import datetime
import io
import json
import os
import random
import sys

import harness

try:
    import duckdb
except ImportError:
    duckdb = None

PARTS = ["a", "B", " ", ",", ";", "\t", "\n", '"', "\\", "|", "'", "é", "日本", "n", "1", "-", ".", "#", "{", "\x01", "🙂", "NA", "null"]
SQL = {"text": "VARCHAR", "date": "DATE", "timestamp": "TIMESTAMP", "float": "DOUBLE", "integer": "BIGINT", "bool": "BOOLEAN"}


def random_value(rng, kind):
    if kind == "text":
        return "".join(rng.choice(PARTS) for _ in range(rng.randrange(8)))
    if kind == "date":
        return datetime.date.fromordinal(rng.randint(1, datetime.date.max.toordinal()))
    if kind == "timestamp":
        start = datetime.datetime(1, 1, 1) + datetime.timedelta(days=rng.randrange(3_650_000))
        return start + datetime.timedelta(microseconds=rng.choice([0, 1000, 1]) * rng.randrange(86_400_000))
    if kind == "float":
        return rng.choice([0.5, -1e300, 1 / 3, 2.0**60, rng.uniform(-1e6, 1e6)])
    if kind == "bool":
        return rng.random() < 0.5
    return rng.choice([0, -1, 2**63 - 1, -(2**63) + 1, rng.randrange(1000)])


def quoted(text):
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(escapes.get(c) or (c if c >= " " else f"\\u{{{ord(c):x}}}") for c in text) + '"'


def literal(value):
    """The value in a list of a query."""
    if value is None:
        return "missing"
    if isinstance(value, str):
        return quoted(value)
    return value.isoformat() if isinstance(value, datetime.date) else repr(value).lower()


def stamp(value):
    """As rql writes it: with as many digits of a fraction as needed, of 3 or 6."""
    if not isinstance(value, datetime.datetime):
        return value.isoformat()
    return value.isoformat(timespec="microseconds" if value.microsecond % 1000 else "milliseconds" if value.microsecond else "seconds")


def text_of(value):
    """A value as text in CSV and TSV; floats are compared as numbers."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else stamp(value) if isinstance(value, datetime.date) else value


def read(value, cell):
    """A cell as a value to be compared with text_of(value)."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(value)(cell) if number else cell


def unescaped(cell):
    """What a cell of TSV holds."""
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        cell = cell[1:-1].replace('""', '"')
    out, at = "", 0
    while at < len(cell):
        if cell[at] == "\\":
            at += 1
            out += {"t": "\t", "n": "\n", "r": "\r"}.get(cell[at], cell[at])
        else:
            out += cell[at]
        at += 1
    return out


class Checks:
    def __init__(self, sandbox, tally, rng):
        self.sandbox, self.tally, self.rng = sandbox, tally, rng

    def table(self, rows):
        """Columns by name: their kind and values, of which the first is present."""
        columns = {}
        for number in range(self.rng.randint(1, 5)):
            kind = self.rng.choice(list(SQL))
            values = [random_value(self.rng, kind) if row == 0 or self.rng.random() < 0.8 else None for row in range(rows)]
            columns[f"c {number}"] = kind, values
        return columns

    def write(self, columns, path):
        lists = " | zip ".join("[" + ", ".join(map(literal, values)) + "]" for _, values in columns.values())
        names = ", ".join(f"${i + 1} as `{name}`" for i, name in enumerate(columns))
        self.sandbox.write("script.rql", f'{lists} | map {names} | save "{path}"\n'.encode())
        result = harness.run(["--device", "host", "script.rql"], self.sandbox.here, self.sandbox.home)
        if result.status == 0:
            with open(self.sandbox.path(path), encoding="utf-8", newline="") as file:
                return file.read()
        self.tally.check(path, result.text())
        return None

    def same(self, title, columns, header, rows):
        """Cells of text against the values."""
        problem = "" if header == list(columns) else f"columns {header}"
        expected = list(zip(*(values for _, values in columns.values())))
        if len(rows) != len(expected):
            problem = f"{len(rows)} rows, expected {len(expected)}"
        for row, cells in zip(expected, rows):
            wrong = [(v, c) for v, c in zip(row, cells) if read(v, c) != text_of(v)]
            problem = problem or (f"{wrong[0][1]!r} for {wrong[0][0]!r}" if wrong or len(cells) != len(row) else "")
        self.tally.check(title, problem)

    def round(self, number):
        columns = self.table(self.rng.choice([1, 2, 40, 300]))
        text = self.write(columns, "t.csv")
        if text is not None:
            lines = list(csv.reader(io.StringIO(text, newline="")))
            # A row of one missing value is a blank line.
            self.same(f"csv-{number}", columns, lines[0], [line or [""] for line in lines[1:]])
        text = self.write(columns, "t.tsv")
        if text is not None:
            lines = [[unescaped(cell) for cell in line.split("\t")] for line in text.split("\n")[:-1]]
            self.same(f"tsv-{number}", columns, lines[0], lines[1:])
        text = self.write(columns, "t.jsonl")
        if text is not None:
            expected = [
                {n: stamp(v) if isinstance(v, datetime.date) else v for n, v in zip(columns, row)}
                for row in zip(*(values for _, values in columns.values()))
            ]
            got = [json.loads(line) for line in text.split("\n")[:-1]]
            wrong = [pair for pair in zip(got, expected) if pair[0] != pair[1]]
            self.tally.check(f"jsonl-{number}", "" if len(got) == len(expected) and not wrong else f"{wrong[:1]} of {len(got)} rows")
        if duckdb is not None:
            self.duck(number, columns)

    def duck(self, number, columns):
        types = ", ".join(f"'{name}': '{SQL[kind]}'" for name, (kind, _) in columns.items())
        expected = list(zip(*(values for _, values in columns.values())))
        options = {
            "csv": "header = true, delim = ',', quote = '\"', escape = '\"', allow_quoted_nulls = false",
            "jsonl": "format = 'newline_delimited'",
        }
        for ending, option in options.items():
            if ending == "csv" and len(columns) == 1:
                continue  # DuckDB leaves blank lines out
            path = self.sandbox.path("t." + ending)
            reader = "read_csv" if ending == "csv" else "read_json"
            got = duckdb.sql(f"select * from {reader}('{path}', {option}, columns = {{{types}}})").fetchall()
            wrong = [pair for pair in zip(got, expected) if tuple(pair[0]) != pair[1]]
            self.tally.check(f"duckdb-{ending}-{number}", "" if len(got) == len(expected) and not wrong else f"{wrong[:1]} of {len(got)} rows")


def main(sandbox):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--rounds", type=int, default=30)
    arguments = parser.parse_args()
    print(f"typed-formats: seed {arguments.seed}")
    tally = harness.Tally("typed-formats")
    checks = Checks(sandbox, tally, random.Random(arguments.seed))
    for number in range(arguments.rounds):
        checks.round(number)
    return tally.finish()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    os.chdir(harness.TREE)
    harness.main_program(main)
