#!/usr/bin/env python3
"""Random `?:` whose arms take long, against plain Python: arms that no row, one row, some rows, most or all rows take,
within each other, with errors in rows that take them and in others, in stages and in loops. Usage as folds.py's.
"""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import folds
import harness

ROWS = [1, 2, 63, 513, 2047, 2048, 2049, 5000]


class Maker:
    """Expressions of t, y and elements of a: their text, and a function of a row."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.rows = self.random.choice(ROWS)

    def condition(self):
        by = self.random.choice([1, 2, 3, 10, 100, 1000, 4000])
        at = self.random.randrange(by + 1)  # `by`: in no row
        if self.random.randrange(2):
            return f"t % {by} == {at}", lambda row: row["t"] % by == at
        return f"t % {by} < {at}", lambda row: row["t"] % by < at

    def arm(self, depth):
        choice = self.random.randrange(6 if depth > 0 else 4)
        if choice == 0:
            return "y", lambda row: row["y"]
        if choice >= 4:
            return self.select(depth - 1)
        low = self.random.choice([1, 1, 1, 1, 0])  # 0: the divisor is 0 in some rows
        places = self.random.choice([10, 10, 10, 10, 11])  # 11: some are outside
        add = self.random.randrange(5)

        def value(row):
            quotient = folds.quotient(row["y"] + add, row["t"] % 7 + low)
            return quotient + folds.remainder(folds.element(folds.ELEMENTS, abs(row["y"]) % places), row["t"] % 97 + low)

        return f"((y + {add}) // (t % 7 + {low}) + a[abs(y) % {places}] % (t % 97 + {low}))", value

    def select(self, depth):
        test, holds = self.condition()
        (yes, of_yes), (no, of_no) = self.arm(depth), self.arm(depth)
        return f"({test} ? {yes} : {no})", lambda row: of_yes(row) if holds(row) else of_no(row)


def make(seed):
    """A query, what it prints, and the first row that fails with the text of its error."""
    maker = Maker(seed)
    text, value = maker.select(2)
    most = maker.random.choice([None, None, 2, 50])
    rounds = maker.random.choice([0, 0, 1, 3])
    query = f"range 0..{maker.rows - 1} | map x as t, x * 7 % 1000 - 500 as y"
    query += f" | select t % {most} == 1" if most else ""
    # Beside it in a loop, z is y before the round in most rows, if not all.
    rare = maker.random.randrange(10007)
    arm, value_of_arm = maker.arm(0)
    states = [f"y = {text}", f"z = (t % 10007 == {rare} ? {arm} : y)"]
    maker.random.shuffle(states)
    query += f" | derive z = y | repeat while step < {rounds}: derive {', '.join(states)}" if rounds else f" | map t, {text} as y, y as z"
    lines = []
    for row, x in enumerate(x for x in range(maker.rows) if not most or x % most == 1):
        y = folds.remainder(x * 7, 1000) - 500
        values = {"t": x, "y": y, "z": y}
        for step in range(max(rounds, 1)):
            try:
                y = value(values)
                values["z"] = value_of_arm(values) if rounds and x == rare else values["y"]
            except folds.Failed as failed:
                # Of a loop the first round is told, and before a filter rows have other numbers.
                return query + " | pick t, y, z", None, (row, str(failed), rounds > 0 or most)
            values["y"] = y
        lines.append(f"{x}\t{values['y']}\t{values['z']}")
    return query + " | pick t, y, z", lines, None


def problem_of(lines, failure, out, err):
    if failure:
        row, text, elsewhere = failure
        good = err if elsewhere else text in err and f"row {row}" in err
        return "" if good else f"expected `{text}` in row {row}, got {len(out)} rows, {err!r}"
    differing = [f"row {k}: {a}, not {b}" for k, (a, b) in enumerate(zip(out, lines)) if a != b]
    return "" if len(out) == len(lines) and not differing and not err else f"{len(out)} rows of {len(lines)}, {differing[:1]} {err!r}"


def main(arguments):
    options = folds.options_of(arguments)
    tally = harness.Tally("arms")
    queries = [make(options.seed * 1_000_003 + k) for k in range(options.count)]
    with harness.Sandbox() as sandbox:
        for mode in options.modes.split(","):
            outs, errs = folds.run_mode(harness.ALL_MODES[mode], sandbox, [(query, None, None) for query, _, _ in queries])
            for number, (query, lines, failure) in enumerate(queries):
                problem = problem_of(lines, failure, outs[number], errs[number])
                tally.check(f"{mode} {number}", problem and f"{query}\n{problem}")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
