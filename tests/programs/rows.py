#!/usr/bin/env python3
"""Random functions of two rows, in `reduce` and `scan`, against plain Python: values, and the first row that cannot be
combined. The functions are not associative: so few rows are combined from the first to the last. Usage as folds.py's.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import folds
import harness

NAMES = ["p.u", "q.u", "p.v", "q.v"]
MANY = 200_000  # rows that several threads combine


class Maker(folds.Maker):
    """Without folds, which such a function cannot have."""

    def fold(self, names, depth, kind):
        if kind == "bool":
            return self.condition(names, depth)
        return self.number(names, depth) if kind == "float" else self.integer(names, depth)


def make_query(maker, rows):
    """A query, its text, and what it prints: lines, or the text of an error and its row."""
    word = maker.pick("reduce", "scan", "scan")
    initial = [maker.random.randint(-3, 3) for _ in range(2)] if maker.random.randrange(3) == 0 else None
    exclusive = initial is not None and word == "scan" and maker.random.randrange(2) == 0
    real = maker.random.randrange(4) == 0
    body_u, next_u = maker.integer(NAMES[:2] if real else NAMES, 3)
    body_v, next_v = maker.number(NAMES[:2], 2) if real else maker.integer(NAMES, 2)
    start = "x * 0.5" if real else "x * x"
    query = f"range -2..{rows - 3} | map x as u, {start} as v | {word} |p, q| {body_u} as u, {body_v} as v"
    query += " exclusive" if exclusive else ""
    query += f" from {initial[0]}, {initial[1]}" if initial else ""
    so_far = initial and (initial[0], float(initial[1]) if real else initial[1])
    shown, row = [], 0
    try:
        for row in range(rows):
            own = (row - 2, (row - 2) * 0.5 if real else (row - 2) ** 2)
            if exclusive:
                shown.append(so_far)
                if row == rows - 1:
                    break  # nothing reads what is after the last row
            if so_far is None:
                so_far = own
            else:
                env = {"p.u": so_far[0], "p.v": so_far[1], "q.u": own[0], "q.v": own[1]}
                so_far = next_u(env), next_v(env)
            if not exclusive:
                shown.append(so_far)
    except folds.Failed as failure:
        return query, None, (str(failure), row, False, False)
    shown = shown[-1:] if word == "reduce" else shown
    return query, ["\t".join(folds.show(value) for value in values) for values in shown], None


def compare(expected, failure, out, err):
    if failure or err:
        return folds.compare(expected, failure, out, err)
    cells = [line.split("\t") for line in out], [line.split("\t") for line in expected]
    same = len(out) == len(expected) and all(folds.same(a, b) for x, y in zip(*cells) for a, b in zip(x, y))
    return "" if same else f"expected {expected}, got {out}"


def many_problem(mode, sandbox):
    """What is wrong where threads share the rows: matrices modulo a prime, whose product keeps the order of rows."""
    prime, total, sums = 10007, (1, 0, 0, 1), [0, 0, 0, 0]
    for x in range(1, MANY + 1):
        a, b, c, d = total
        own = (x % prime, 1, x * x % prime, 3)
        total = tuple(v % prime for v in (a * own[0] + b * own[2], a * own[1] + b * own[3],
                                          c * own[0] + d * own[2], c * own[1] + d * own[3]))
        sums = [s + v for s, v in zip(sums, total)]
    rows = f"range 1..{MANY} | map x % {prime} as a, 1 as b, x * x % {prime} as c, 3 as d | "
    function = (f"|p, q| (p.a * q.a + p.b * q.c) % {prime} as a, (p.a * q.b + p.b * q.d) % {prime} as b, "
                f"(p.c * q.a + p.d * q.c) % {prime} as c, (p.c * q.b + p.d * q.d) % {prime} as d")
    for query, expected in ((f"reduce {function}", total),
                            (f"reduce {function} from 1, 0, 0, 1", total),
                            (f"scan {function} | group: sum(a), sum(b), sum(c), sum(d)", sums)):
        result = harness.run([*mode, "-c", rows + query], sandbox.here, sandbox.home)
        if result.out.decode().split() != [str(v) for v in expected]:
            return f"{query}: expected {expected}, got {result.text()}"
    return ""


def main(arguments):
    return folds.run_queries(arguments, Maker, make_query, compare, ("many", many_problem))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
