#!/usr/bin/env python3
"""Random union, except and intersect of relations with repeated rows, missing values, no rows, against Python.

    set_rows.py [--count N] [--seed SEED] [--modes M,...]"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import ALL_MODES, random_cases, run  # noqa: E402

VALUES = {"int": ["", "0", "1", "2", "-3"], "text": ["", "a", "b", "cc"], "date": ["", "2024-01-01", "2024-02-29"]}


def random_rows(rng, kinds):
    return [tuple(rng.choice(VALUES[kind]) for kind in kinds) for _ in range(rng.choice([0, 1, 2, 7, 30, 3000]))]


def reference(word, left, right):
    rows = left + right if word == "union" else [row for row in left if (row in set(right)) == (word == "intersect")]
    return list(dict.fromkeys(rows))


def write(sandbox, name, kinds, rows):
    head = ",".join(f"c{k}" for k in range(len(kinds)))
    sandbox.write(name, ("\n".join([head] + [",".join(row) for row in rows]) + "\n").encode())
    return f"load {name} " + ", ".join(f"c{k} {kind}" for k, kind in enumerate(kinds))


def check(rng, sandbox, mode, _number):
    kinds = [rng.choice(list(VALUES)) for _ in range(rng.randint(2, 4))]
    left, right = random_rows(rng, kinds), random_rows(rng, kinds)
    word = rng.choice(["union", "except", "intersect"])
    query = f"{write(sandbox, 'a.csv', kinds, left)} | {word} ({write(sandbox, 'b.csv', kinds, right)})"
    result = run(ALL_MODES[mode] + ["--format", "csv", "-c", query], sandbox.here, sandbox.home)
    got = [tuple(line.split(",")) for line in result.out.decode().split("\n")[1:-1]]
    expected = reference(word, left, right)
    return "" if got == expected else f"{query}\nexpected {expected[:5]}\ngot {got[:5]}\n{result.err.decode()}"


if __name__ == "__main__":
    sys.exit(random_cases("set-rows", 100, check))
