#!/usr/bin/env python3
"""Random folds over elements of matrices, as products of matrices are, against plain Python, errors included.

Usage: products.py [--count N] [--seed S] [--modes host,host-unfused,...]. Elements are read side by side, one for many
rows, with a stride, mirrored or beyond an end; sums are exact, and floats correctly rounded.
"""

import argparse
import math
import os
import random
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import folds
import harness

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
TYPES = {"int8": "|i1", "int16": "<i2", "int32": "<i4", "int64": "<i8", "float64": "<f8"}
FORMATS = {"int8": "b", "int16": "h", "int32": "i", "int64": "q", "float64": "d"}
BITS = {"int8": 7, "int16": 15, "int32": 31, "int64": 40}


class Failed(Exception):
    """The row has no value; its text is part of rql's message."""


def npy(kind, values):
    header = f"{{'descr': '{TYPES[kind]}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return (
        b"\x93NUMPY\x01\x00"
        + struct.pack("<H", len(header))
        + header.encode()
        + struct.pack(f"<{len(values)}{FORMATS[kind]}", *values)
    )


def make_values(source, kind, count):
    if kind != "float64":
        bits = source.choice([3, 6, BITS[kind] // 2, BITS[kind]])
        return [source.randint(-(2**bits) + 1, 2**bits - 1) for _ in range(count)]
    values = [source.uniform(-10, 10) * source.choice([1, 1, 1e16, 1e-16, 0]) for _ in range(count)]
    if source.randrange(8) == 0:
        values[source.randrange(count)] = source.choice([math.inf, -math.inf, math.nan, 1e308])
    return values


class Matrix:
    def __init__(self, source, name, rows, columns, floats):
        kind = "float64" if floats else source.choice(["int8", "int16", "int32", "int32", "int64"])
        self.name, self.rows, self.columns = name, rows, columns
        self.values = make_values(source, kind, rows * columns)
        self.file = npy(kind, self.values)

    def at(self, row, column):
        if not 0 <= row < self.rows or not 0 <= column < self.columns:
            raise Failed("is outside")
        return self.values[row * self.columns + column]


def make_index(source, name, extent):
    """A position along an axis from the name of one of `extent` places: itself, mirrored, moved, or one for all."""
    choice = source.randrange(14)
    if choice == 0:
        return f"{extent - 1} - {name}", lambda v: extent - 1 - v
    if choice == 1:
        n = source.randrange(extent)
        return str(n), lambda v: n
    if choice == 2:
        return f"{name} / 2", lambda v: v // 2
    if choice == 3 and source.randrange(3) == 0:
        return f"{name} + 1", lambda v: v + 1
    return name, lambda v: v


def clean(number):
    return number + 0.0 if isinstance(number, float) else number


def total(values, floats):
    if not floats:
        result = sum(values)
        if not INT64_MIN <= result <= INT64_MAX:
            raise Failed("does not fit")
        return result
    return folds.float_sum(values)


def fit(integer):
    if isinstance(integer, int) and not INT64_MIN <= integer <= INT64_MAX:
        raise Failed("does not fit")
    return integer


BODIES = [
    ("{x} * {y}", lambda x, y: fit(x * y)),
    ("{x} * {y}", lambda x, y: fit(x * y)),
    ("{y} * {x}", lambda x, y: fit(x * y)),
    ("{x} * {x}", lambda x, y: fit(x * x)),
    ("{x}", lambda x, y: x),
    ("({x} - {y}) * ({x} - {y})", lambda x, y: fit(fit(x - y) * fit(x - y))),
    ("abs({x} - {y})", lambda x, y: abs(fit(x - y))),
    ("{x} + {y}", lambda x, y: fit(x + y)),
    ("{x} * k + {y}", None),
]


def fold(word, values, floats):
    if word == "sum":
        return total(values, floats)
    if not values:
        raise Failed("of an empty range")
    best = 0
    for i in range(1, len(values)):
        new, old = values[i], values[best]
        if floats and math.isnan(old):
            better = not math.isnan(new)
        else:
            better = new < old if word in ("min", "argmin") else new > old
        best = i if better else best
    return best if word.startswith("arg") else clean(values[best])


def as_reduction(source, word, body, sizes):
    """The same as a reduction along an axis of the rows of all indices."""
    n, m, p = sizes
    along_rows = source.randrange(2) == 0
    names = {"row": f"(row / {p})", "col": f"(row % {p})", "k": "col"}
    if not along_rows:
        names = {"row": f"(col / {p})", "col": f"(col % {p})", "k": "row"}
    body = re.sub(r"\b(row|col|k)\b", lambda name: names[name[0]], body)
    shape = f"{n * p} {m}" if along_rows else f"{m} {n * p}"
    return f"range 0..{n * p * m - 1} | shape {shape} | map {body} as v | {word} along {'rows' if along_rows else 'cols'}"


def make_case(source):
    """The files, the script and the lines, or the error and its row, -1 if that is not known."""
    floats = source.randrange(2) == 0
    size = source.choice([3, 20, 40, 70])
    n, m, p = (source.randint(1, size) for _ in range(3))
    turned_x, turned_y = source.randrange(4) == 0, source.randrange(4) == 0
    x = Matrix(source, "a", *((m, n) if turned_x else (n, m)), floats)
    y = Matrix(source, "b", *((p, m) if turned_y else (m, p)), floats)
    row_text, row_of = make_index(source, "row", n)
    col_text, col_of = make_index(source, "col", p)
    k_text, k_of = make_index(source, "k", m)
    last_text, last_of = source.choice(
        [(str(m - 1), lambda row, col: m - 1)] * 3
        + [(f"min({m - 1}, row)", lambda row, col: min(m - 1, row)), (f"{m - 1} - col % 2", lambda row, col: m - 1 - col % 2)]
    )
    text_x = f"a[{k_text}, {row_text}]" if turned_x else f"a[{row_text}, {k_text}]"
    text_y = f"b[{col_text}, k]" if turned_y else f"b[k, {col_text}]"
    word = source.choice(["sum", "sum", "sum", "min", "max", "argmin"])
    body, compute = source.choice(BODIES)

    def element(row, col, k):
        at_x = (k_of(k), row_of(row)) if turned_x else (row_of(row), k_of(k))
        at_y = (col_of(col), k) if turned_y else (k, col_of(col))
        left = x.at(*at_x)
        right = y.at(*at_y) if "{y}" in body else None
        if compute:
            return compute(left, right)
        return left * float(k) + right if floats else fit(fit(left * k) + right)

    text = f"{word}(k in 0..{last_text}: {body.format(x=text_x, y=text_y)})"
    query = f"range 0..{n * p - 1} | shape {n} {p} | map {text} as r"
    reduces = word in ("sum", "min", "max") and last_text == str(m - 1) and source.randrange(3) == 0
    if reduces:
        query = as_reduction(source, word, body.format(x=text_x, y=text_y), (n, m, p))
    lines = []
    failure = None
    try:
        for place in range(n * p):
            row, col = divmod(place, p)
            value = fold(word, [element(row, col, k) for k in range(last_of(row, col) + 1)], floats)
            if value is None:
                return None
            lines.append(value)
    except Failed as failed:
        failure = (str(failed), -1 if reduces else place)
    script = f"let a = load $A | shape {x.rows} {x.columns}\nlet b = load $B | shape {y.rows} {y.columns}\n{query}\n"
    return {"a.npy": x.file, "b.npy": y.file}, script, lines, failure


def same(expected, got):
    if isinstance(expected, float):
        value = float(got)
        return math.isnan(value) if math.isnan(expected) else value == expected
    return int(got) == expected


def compare(lines, failure, result):
    err, out = result.err.decode(), result.out.decode().split()
    if failure and failure[1] < 0:  # which of several comes first is another question
        return "" if "error: " in err else f"expected an error, got {out}"
    if failure:
        if "error: " not in err or failure[0] not in err:
            return f"expected the error {failure[0]!r} in row {failure[1]}, got {err!r}"
        return "" if f"row {failure[1]}" in err else f"expected row {failure[1]}, got {err!r}"
    if err:
        return f"unexpected {err!r}"
    if len(out) != len(lines):
        return f"expected {len(lines)} values, got {len(out)}"
    wrong = [i for i, (a, b) in enumerate(zip(lines, out)) if not same(a, b)]
    return f"row {wrong[0]}: expected {lines[wrong[0]]}, got {out[wrong[0]]}" if wrong else ""


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--modes", default="host")
    options = parser.parse_args(arguments)
    source = random.Random(options.seed)
    tally = harness.Tally("products")
    done = 0
    while done < options.count:
        case = make_case(source)
        if case is None:
            continue
        files, script, lines, failure = case
        with harness.Sandbox() as sandbox:
            for name, content in files.items():
                sandbox.write(name, content)
            sandbox.write("t.rql", script.replace("$A", "a.npy").replace("$B", "b.npy").encode())
            for mode in options.modes.split(","):
                result = harness.run(
                    ["--no-init", *harness.ALL_MODES[mode], "t.rql"], sandbox.here, sandbox.home, timeout=100
                )
                problem = compare(lines, failure, result)
                tally.check(f"{mode} {options.seed}/{done}", problem and f"{script}\n{problem}")
        done += 1
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
