#!/usr/bin/env python3
"""Random pipelines with names of aggregates, `with m = mean(x)`, against plain Python: the names are of the rows at
their stage, whatever later stages do. Usage as folds.py's.
"""

import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import folds
import harness

AGGREGATES = {  # of the values that are there; None: missing
    "sum": sum,
    "count": len,
    "max": lambda values: max(values, default=None),
    "min": lambda values: min(values, default=None),
    "mean": lambda values: math.fsum(values) / len(values) if values else None,
}


def shown(value):
    return "" if value is None else str(value)


def add(a, b):
    return None if a is None or b is None else a + b


def make_query(rng, rows):
    """A query and the lines that it prints."""
    count = rng.randrange(rows)
    factor, modulus = rng.choice([1, 7, 31]), rng.choice([5, 11, 1000])
    gap = rng.choice([0, 3])  # every third value is missing
    table = [{"id": i, "v": i * factor % modulus} for i in range(1, count + 1)]
    for row in table:
        row["w"] = None if gap and row["id"] % gap == 0 else row["v"] - 3
    parts = [f"range 1..{count} | map x as id, x * {factor} % {modulus} as v"]
    parts.append(f"derive w = id % {gap} == 0 ? missing : v - 3" if gap else "derive w = v - 3")
    names, ended = {}, []
    for _ in range(rng.randrange(1, 5)):
        step = rng.choice(["with", "with", "select", "derive", "skip", "sort"])
        if step == "with":
            made = {}
            for _ in range(rng.randrange(1, 3)):
                name, word, column = f"n{len(names) + len(made)}", rng.choice(list(AGGREGATES)), rng.choice(["v", "w"])
                value = AGGREGATES[word]([row[column] for row in table if row[column] is not None])
                plus = rng.choice([0, 0, 5])
                made[name] = add(value, plus) if plus else value, f"{word}({column})" + (f" + {plus}" if plus else "")
            parts.append("with " + ", ".join(f"{name} = {text}" for name, (_, text) in made.items()))
            names.update({name: value for name, (value, _) in made.items()})
        elif step == "select" and names:
            name = rng.choice(list(names))
            parts.append(f"select v <= {name}")
            table = [row for row in table if names[name] is not None and row["v"] <= names[name]]
        elif step == "derive" and names:
            name = rng.choice(list(names))
            parts.append(f"derive w = w + {name}")
            table = [{**row, "w": add(row["w"], names[name])} for row in table]
        elif step == "skip":
            parts.append("skip 2")
            table = table[2:]
        elif step == "sort":
            parts.append("sort v desc, id")
            table.sort(key=lambda row: (-row["v"], row["id"]))
    ended = list(names) or ["id"]
    if names and rng.randrange(3) == 0:
        name = rng.choice(ended)
        total = sum(row["v"] + names[name] for row in table if names[name] is not None)
        if isinstance(names[name], float):
            total = math.fsum(row["v"] + names[name] for row in table)
        parts.append(f"sum (v + {name}) ?? 0" if names[name] is None else f"sum v + {name}")
        return " | ".join(parts), None if names[name] is None and table else [str(total)]
    parts.append("map id, w as w, " + ", ".join(f"{name} as c{name}" for name in ended))
    lines = ["\t".join(shown(v) for v in [row["id"], row["w"], *(names.get(n, row["id"]) for n in ended)]) for row in table]
    return " | ".join(parts), lines


def main(arguments):
    options = folds.options_of(arguments)
    tally = harness.Tally("programs")
    rng = random.Random(options.seed)
    queries = []
    while len(queries) < options.count:
        query, lines = make_query(rng, 4 * options.rows)
        if lines is not None:
            queries.append((query, lines, None))
    with harness.Sandbox() as sandbox:
        for mode in options.modes.split(","):
            outs, errs = folds.run_mode(harness.ALL_MODES[mode], sandbox, queries)
            for number, (query, expected, _) in enumerate(queries):
                got = [line.split("\t") for line in outs[number]]
                wanted = [line.split("\t") for line in expected]
                right = len(got) == len(wanted) and not errs[number] and all(
                    len(a) == len(b) and all(x == y or (x and y and float(x) == float(y)) for x, y in zip(a, b))
                    for a, b in zip(got, wanted))
                tally.check(f"{mode} {number}", "" if right else f"{query}\nexpected {expected[:9]}, got "
                                                                 f"{outs[number][:9]} {errs[number]}")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
