#!/usr/bin/env python3
"""Groups, distinct rows, first groups and sorts by several wide keys, of tables so long that rows are partitioned: even and
frequent keys, missing ones, NaN and both zeros, texts, integers at the ends of their range, keys that depend on others.
The reference is NumPy.

    wide_groups.py [--count N] [--seed SEED] [--modes M,...]"""

import argparse
import csv
import io
import math
import os
import random
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402

SIZES = [0, 1, 2, 1000, 70_000, 120_000, 300_000]
INTS = [-(2**63), 2**63 - 1, 0, -1]
TOP, TAKEN = 5, 7
NARROW, FOUND = 20, 15  # values of `n`, and those of them that a join finds
ENDS = ("count", "reduce +")


class Key:
    """A key as it is written, the codes of its rows in their order, and their values: None where missing."""

    def __init__(self, text, values, less):
        self.text = text
        self.values = values
        present = sorted({less(v) for v in values if v is not None})
        rank = {v: i for i, v in enumerate(present)}
        self.codes = np.array([len(rank) if v is None else rank[less(v)] for v in values], dtype=np.int64)
        self.present = np.array([v is not None for v in values], dtype=bool)


def float_less(value):
    return (1, 0.0) if value != value else (0, value + 0.0)


def make_columns(rng, count):
    """Columns of a table: two wide integers, floats, a narrow integer, and values."""
    groups = rng.choice([1, 3, 1000, max(1, count // 5), max(1, count)])
    frequent = rng.choice([0, 0, 0.9])
    numpy_rng = np.random.default_rng(rng.getrandbits(32))

    def wide():
        some = numpy_rng.integers(-(2**63), 2**63 - 1, groups)
        some[: len(INTS)] = INTS[:groups]
        picked = some[numpy_rng.integers(0, groups, count)]
        picked[numpy_rng.random(count) < frequent] = some[0]
        return picked

    floats = numpy_rng.standard_normal(groups)
    floats[:4] = [math.nan, 0.0, -0.0, math.inf][:groups]
    return {
        "a": wide(),
        "b": wide(),
        "f": floats[numpy_rng.integers(0, groups, count)],
        "n": numpy_rng.integers(0, NARROW, count).astype(np.int32),
        "v": numpy_rng.integers(-(2**31), 2**31, count).astype(np.int32),
        "w": numpy_rng.integers(-(2**40), 2**40, count),
    }


def make_found(rng):
    """A table with an integer and a float for some values of `n`, equal and different ones."""
    return {
        "n": np.arange(FOUND, dtype=np.int32),
        "m": np.array([rng.choice([*INTS, rng.getrandbits(40)]) for _ in range(FOUND)]),
        "g": np.array([rng.choice([math.nan, 0.0, -0.0, 2.5]) for _ in range(FOUND)]),
    }


def make_keys(rng, columns, found):
    a, b, f, n = (columns[name].tolist() for name in "abfn")

    def found_by(name, of):
        return [of(found[name].tolist()[v]) if v < FOUND else None for v in n]

    keys = [
        Key("a", a, int),
        Key("b", b, int),
        Key("f", f, float_less),
        Key("(b % 3 == 0 ? missing : b)", [None if v % 3 == 0 else v for v in b], int),
        Key("text(a % 100000)", [str(abs(v) % 100000 * (-1 if v < 0 else 1)) for v in a], str.encode),
        Key("n", n, int),
        Key("-7", [-7] * len(a), int),
        Key("n * 3 - 100", [v * 3 - 100 for v in n], int),
        Key("float(n) / 2.0", [v / 2 for v in n], float_less),
        Key("n % 2 == 0", [str(v % 2 == 0).lower() for v in n], str),
        Key("(b % 3 == 0 ? missing : b / 4)", [None if v % 3 == 0 else abs(v) // 4 * (-1 if v < 0 else 1) for v in b], int),
        Key("m", found_by("m", int), int),
        Key("g", found_by("g", float), float_less),
        Key("text(m)", found_by("m", str), str.encode),
    ]
    rng.shuffle(keys)
    return keys[: rng.randint(2, 5)]


class Groups:
    """The rows of a table by keys: the first row of each group, in the order of the keys, and the group of each row."""

    def __init__(self, keys, count):
        self.order = np.lexsort([key.codes for key in reversed(keys)]) if count else np.zeros(0, dtype=np.int64)
        codes = [key.codes[self.order] for key in keys]
        steps = np.zeros(count, dtype=bool)
        steps[:1] = True
        for code in codes:
            steps[1:] |= code[1:] != code[:-1]
        self.begins = np.flatnonzero(steps)
        self.firsts = self.order[self.begins]
        self.counts = np.diff(np.append(self.begins, count))

    def reduce(self, function, values):
        return function.reduceat(values[self.order], self.begins).tolist() if len(self.begins) else []


def rows_of(keys, rows):
    return [[key.values[row] for key in keys] for row in rows]


def with_columns(rows, *columns):
    return [row + list(more) for row, *more in zip(rows, *columns)]


def cases(keys, columns, count):
    """Pipelines, and the rows that they print."""
    names = [f"k{i}" for i in range(len(keys))]
    derived = "derive " + ", ".join(f"{name} = {key.text}" for key, name in zip(keys, names))
    by = ", ".join(names)
    groups = Groups(keys, count)
    found = rows_of(keys, groups.firsts.tolist())
    counts = groups.counts.tolist()
    most = sorted(range(len(counts)), key=lambda i: -counts[i])
    yield f"{derived} | group {by}: count() as c, sum(v) as s, min(v) as m, max(w) as x, sum(w + 3) as y", with_columns(
        found,
        counts,
        groups.reduce(np.add, columns["v"].astype(np.int64)),
        groups.reduce(np.minimum, columns["v"]),
        groups.reduce(np.maximum, columns["w"]),
        groups.reduce(np.add, columns["w"] + 3),
    )
    ranked = with_columns(found, counts)
    yield f"{derived} | group {by}: count() as c | top {TOP} by c", [ranked[i] for i in most[:TOP]]
    yield f"{derived} | group {by}: count() as c | sort c desc", [ranked[i] for i in most]
    yield f"{derived} | group {by}: count() as c | take {TAKEN}", ranked[:TAKEN]
    yield f"{derived} | group {by}: sum(v) as s, last(w) as l, max(w) as x | skip 2 | take {TAKEN}", with_columns(
        found,
        groups.reduce(np.add, columns["v"].astype(np.int64)),
        [columns["w"][row] for row in groups.order[np.cumsum(groups.counts) - 1].tolist()],
        groups.reduce(np.maximum, columns["w"]),
    )[2 : 2 + TAKEN]
    yield f"{derived} | group {by}: count() as c | select c > 1 | count", [[sum(c > 1 for c in counts)]]
    yield f"{derived} | group {by}: max(w) as x | pick x | reduce +", [[sum(groups.reduce(np.maximum, columns["w"]))]]
    yield f"{derived} | pick {by} | distinct", rows_of(keys, sorted(groups.firsts.tolist()))
    yield f"{derived} | pick {by} | distinct | distinct | count", [[len(counts)]]
    outer, inner = Groups(keys[:1], count), {}
    for row in groups.firsts.tolist() if len(keys) == 2 else Groups(keys[:2], count).firsts.tolist():
        code = int(keys[0].codes[row])
        inner[code] = inner.get(code, 0) + bool(keys[1].present[row])
    yield f"{derived} | group k0: distinct(k1) as d", with_columns(
        rows_of(keys[:1], outer.firsts.tolist()), [inner[int(keys[0].codes[row])] for row in outer.firsts.tolist()]
    )
    yield f"{derived}, r = row | sort {by} | pick r", [[row] for row in groups.order.tolist()]


def same(cell, value):
    if value is None:
        return cell == ""
    if isinstance(value, float):
        got = float(cell)
        return got == value or (got != got and value != value)
    return cell == str(value)


def problem_of(expected, got):
    if len(got) != len(expected):
        return f"{len(got)} rows, expected {len(expected)}"
    for at, (row, cells) in enumerate(zip(expected, got)):
        if len(cells) != len(row) or not all(same(cell, value) for cell, value in zip(cells, row)):
            return f"row {at}: got {cells}, expected {row}"
    return ""


def check_table(tally, rng, folder, modes):
    count = rng.choice(SIZES)
    columns = make_columns(rng, count)
    found = make_found(rng)
    keys = make_keys(rng, columns, found)
    np.savez(os.path.join(folder, "t.npz"), **columns)
    np.savez(os.path.join(folder, "s.npz"), **found)
    for pipeline, expected in cases(keys, columns, count):
        for mode in modes:
            text = f"load t.npz | left join (load s.npz) on n | {pipeline}"
            done = harness.run([*harness.ALL_MODES[mode], "--format", "csv", "-c", text], folder, folder)
            problem = done.text()
            if done.status == 0:
                rows = list(csv.reader(io.StringIO(done.out.decode())))
                problem = problem_of(expected, rows if pipeline.endswith(ENDS) else rows[1:])  # a value has no header
            tally.check(f"wide-{mode}", f"{count} rows: {text}\n{problem}" if problem else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=12, help="tables")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--modes", default="host,host-kept,device,unfused")
    options = parser.parse_args()
    seed = random.getrandbits(32) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    tally = harness.Tally("groups")
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.count):
            check_table(tally, rng, folder, options.modes.split(","))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
