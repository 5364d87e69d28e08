#!/usr/bin/env python3
"""Random folds over sums of products, or of squares of differences, of a row's floats and of elements that are one for
many rows, as distances from points are, against plain Python: each operation rounds, in the order written. Ties,
numbers that differ in their last bit, infinities, NaN, overflow, and numbers that nearly vanish. Usage as products.py's.
"""

import argparse
import math
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness
import products

ROWS = [1, 2, 7, 8, 9, 15, 17, 511, 512, 513, 2047, 2049, 3000]
KINDS = {"<f8": "d", "<i4": "i"}


def table(columns):
    """A .npy file of columns: of each its name, type and values."""
    names = ", ".join(f"('{name}', '{kind}')" for name, kind, _ in columns)
    count = len(columns[0][2])
    header = f"{{'descr': [{names}], 'fortran_order': False, 'shape': ({count},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    record = struct.Struct("<" + "".join(KINDS[kind] for _, kind, _ in columns))
    rows = b"".join(record.pack(*row) for row in zip(*(values for _, _, values in columns)))
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + rows


def make_numbers(source, count):
    choice = source.randrange(6)
    if choice == 0:  # ties
        return [float(source.choice([-1, 0, 1])) for _ in range(count)]
    if choice == 1:  # sums that only their last bits tell apart
        return [source.choice([1.0, math.nextafter(1.0, 2), math.nextafter(1.0, 0)]) for _ in range(count)]
    scale = source.choice([1.0, 1.0, 1e160, 1e-160, 1e300])
    values = [source.uniform(-10, 10) * scale for _ in range(count)]
    for _ in range(source.choice([0, 0, 1, 3])):
        values[source.randrange(count)] = source.choice([math.inf, -math.inf, math.nan, -0.0, 5e-324])
    return values


def make_runs(source, count):
    """0 or 1, for some rows each."""
    values = []
    while len(values) < count:
        values += [source.randrange(2)] * source.choice([1, 3, 16, 40, 700, 3000])
    return values[:count]


def make_index(source, rounds):
    """The position of an element in round j, in its text and by j and the row's `b`."""
    return source.choice([
        ("j", lambda j, b: j), ("j", lambda j, b: j), ("j", lambda j, b: j), (f"{rounds - 1} - j", lambda j, b: rounds - 1 - j),
        ("2 * j", lambda j, b: 2 * j), ("0", lambda j, b: 0),
        ("j + b", lambda j, b: j + b), ("j + b", lambda j, b: j + b), ("j + b", lambda j, b: j + b),
    ])


def make_term(source, number, rounds, square):
    """Its text, and a function of the row's values, b, the elements and j."""
    index, place = make_index(source, rounds)
    x, y = f"p{number}", f"c.w{number}[{index}]"
    if source.randrange(5) == 0:
        x = f"(p{number} + 1.0)"
        row = lambda p: p[number] + 1.0
    else:
        row = lambda p: p[number]
    if source.randrange(2):
        x, y = y, x
    text = f"({x} - {y}) * ({x} - {y})" if square else f"{x} * {y}"

    def value(p, b, w, j):
        a, e = row(p), w[number][place(j, b)]
        return (a - e) * (a - e) if square else a * e

    return text, value


def make_case(source):
    rows, rounds, count = source.choice(ROWS), source.randint(1, 9), source.choice([1, 2, 3, 3, 7, 20])
    square = source.randrange(2) == 0
    mixed = source.randrange(6) == 0
    terms = [make_term(source, k, rounds, square != (mixed and source.randrange(2) == 0)) for k in range(count)]
    points = [make_numbers(source, rows) for _ in range(count)]
    places = [make_numbers(source, 2 * rounds) for _ in range(count)]
    kinds = ["<f8"] * count
    if source.randrange(6) == 0:  # an element that is no float where it is stored
        kinds[0], places[0] = "<i4", [source.randint(-3, 3) for _ in range(2 * rounds)]
    runs = make_runs(source, rows)
    word = source.choice(["argmin", "argmin", "argmax", "min", "max"])
    body = " + ".join(text for text, _ in terms)
    if source.randrange(5) == 0:  # the sum is read twice
        body = f"let s = {body}: s * s"
        outer = lambda s: s * s
    else:
        outer = lambda s: s
    lines = []
    for row in range(rows):
        p = [values[row] for values in points]
        sums = []
        for j in range(rounds):
            values = [value(p, runs[row], places, j) for _, value in terms]
            total = values[0]
            for value in values[1:]:
                total += value
            sums.append(outer(total))
        lines.append(products.fold(word, sums, True))
    files = {
        "p.npy": table([(f"p{k}", "<f8", values) for k, values in enumerate(points)] + [("b", "<i4", runs)]),
        "c.npy": table([(f"w{k}", kinds[k], values) for k, values in enumerate(places)]),
    }
    last = f"{rounds - 1}"
    if source.randrange(4) > 0:  # else rounds are written one after another, if they are few
        last = f"min({last}, b + 99)"
    script = f"let p = load p.npy\nlet c = load c.npy\np | map {word}(j in 0..{last}: {body}) as r\n"
    return files, script, lines


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--modes", default="host")
    options = parser.parse_args(arguments)
    source = random.Random(options.seed)
    tally = harness.Tally("chains")
    for number in range(options.count):
        files, script, lines = make_case(source)
        with harness.Sandbox() as sandbox:
            for name, content in files.items():
                sandbox.write(name, content)
            sandbox.write("t.rql", script.encode())
            for mode in options.modes.split(","):
                result = harness.run(
                    ["--no-init", *harness.ALL_MODES[mode], "t.rql"], sandbox.here, sandbox.home, timeout=100
                )
                problem = products.compare(lines, None, result)
                tally.check(f"{mode} {number}", problem and f"{script}{problem}")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
