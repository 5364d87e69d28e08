#!/usr/bin/env python3
"""Random sums of which rows have unequally many terms, against Python's math.fsum: rows without terms, with one, with
more than a block has; ranges behind one another and anywhere; terms of several columns; positions outside; floats that are
hard to add. Usage as folds.py's.
"""

import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import folds
import harness

ELEMENTS = 6000


def hard_values(source):
    """Floats by kind: sums halfway between two floats, values that cancel, ever smaller ones, subnormal ones."""
    return [
        lambda k: 2.0**53 if k % 7 == 0 else float(source.randint(-2, 2)),
        lambda k: [2.0**53, 2.0, 1.0, 2.0**-60][k % 4] * source.choice([1, 1, 1, -1]),
        lambda k: [1e10, -1e10, source.uniform(-1, 1) * 1e-6][k % 3],
        lambda k: source.choice([1, -1]) * (1 + source.random()) * 2.0 ** (-k % 200),
        lambda k: source.randint(-9, 9) * 5e-324,
        lambda k: source.choice([0.0, 0.0, 0.0, -0.0, 1e300, -1e300]),
    ]


def make_tables(source):
    """Elements, a fifth of them hard to add, and integers that are positions of them."""
    v = [source.uniform(-10, 10) * source.choice([1, 1, 1, 1e16, 1e-16, 0]) for _ in range(ELEMENTS)]
    for begin in range(0, ELEMENTS - 40, 200):
        value = source.choice(hard_values(source))
        v[begin : begin + 40] = [value(k) for k in range(40)]
    return {"v": v, "at": [source.randrange(ELEMENTS) for _ in range(ELEMENTS)], "n": [source.randint(1, 9) for _ in range(ELEMENTS)]}


def lengths_of(source, rows):
    kind = source.randrange(4)
    if kind == 0:  # many short ones, and one that is long
        lengths = [source.choice([0, 1, 2, 3]) for _ in range(rows)]
        lengths[source.randrange(rows)] = source.choice([40, 2047, 2048, 2049, 5000])
        return lengths
    if kind == 1:
        return [int(30 * source.random() ** 3) for _ in range(rows)]
    return [source.choice([0, 0, 1, 17, source.randrange(60)]) for _ in range(rows)] if kind == 2 else [source.randrange(9) for _ in range(rows)]


def make(seed, tables):
    source = random.Random(seed)
    rows = source.choice([1, 2, 15, 16, 17, 33, 300, 2500])
    lengths = lengths_of(source, rows)
    begins, at = [], 0
    for length in lengths:
        adjacent = at + length <= ELEMENTS and source.randrange(50)
        begins.append(at if adjacent else source.randrange(max(1, ELEMENTS - length)))
        at = begins[-1] + length
    if source.randrange(8) == 0:
        begins[source.randrange(rows)] = source.choice([ELEMENTS - 1, ELEMENTS, -1])
    v, positions, n = tables["v"], tables["at"], tables["n"]
    texts, values = zip(*source.sample([
        ("v[e]", lambda e, k: v[e]),
        ("v[at[e]] / n[at[e]]", lambda e, k: v[positions[e]] / n[positions[e]]),
        ("v[e] * k", lambda e, k: v[e] * k),
        ("(n[e] > 4 ? v[e] : 0.5)", lambda e, k: v[e] if n[e] > 4 else 0.5),
        ("float(e - b)", lambda e, k: None),
    ], source.randint(1, 2)))
    sums = ", ".join(f"s{i} = sum(e in b..c: {text})" for i, text in enumerate(texts))
    lines, failure = [], None
    for row, (begin, length) in enumerate(zip(begins, lengths)):
        if length and not (0 <= begin and begin + length <= ELEMENTS):
            if texts != ("float(e - b)",):
                failure = row
                break
        shown = []
        for text, value in zip(texts, values):
            terms = range(begin, begin + length)
            own = [float(e - begin) if text.startswith("float") else value(e, row * 0.5) for e in terms]
            shown.append(folds.show(math.fsum(own)))
        lines.append("\t".join(shown))
    table = "\n".join(["b,c", *(f"{b},{b + length - 1}" for b, length in zip(begins, lengths))])
    names = ", ".join(f"s{i}" for i in range(len(texts)))
    return table, f"load rows{seed}.csv | derive k = row * 0.5 | derive {sums} | pick {names}", lines, failure


def problem_of(lines, failure, out, err):
    if failure is not None:
        return "" if f"row {failure}" in err else f"expected an error in row {failure}, got {len(out)} rows, {err!r}"
    differing = [f"row {k}: {a}, not {b}" for k, (a, b) in enumerate(zip(out, lines)) if [float(x) for x in a.split()] != [float(x) for x in b.split()]]
    return "" if len(out) == len(lines) and not differing and not err else f"{len(out)} rows of {len(lines)}, {differing[:1]} {err!r}"


def main(arguments):
    options = folds.options_of(arguments)
    tally = harness.Tally("ragged")
    tables = make_tables(random.Random(options.seed))
    made = [make(options.seed * 1_000_003 + k, tables) for k in range(options.count)]
    loads = "".join(f"let {name} = load {name}.csv; " for name in tables)
    with harness.Sandbox() as sandbox:
        for name, values in tables.items():
            sandbox.write(f"{name}.csv", "\n".join([name, *map(repr, values)]).encode())
        for k, (table, _, _, _) in enumerate(made):
            sandbox.write(f"rows{options.seed * 1_000_003 + k}.csv", table.encode())
        for mode in options.modes.split(","):
            queries = [(query if k else loads + query, None, None) for k, (_, query, _, _) in enumerate(made)]
            outs, errs = folds.run_mode(harness.ALL_MODES[mode], sandbox, queries)
            for number, (_, query, lines, failure) in enumerate(made):
                problem = problem_of(lines, failure, outs[number], errs[number])
                tally.check(f"{mode} {number}", problem and f"{query}\n{problem}")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
