#!/usr/bin/env python3
"""Random loops against an interpreter in Python: values, and of errors the round and the row.

    tests/programs/programs.py [--count N] [--seed S]

RQL_MODES selects the modes, as for the other tests. A failing program is printed with its seed.
"""

import argparse
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness

INT_LOW, INT_HIGH = -(2**63), 2**63 - 1
DEVICE_SHARE = 5  # one program in so many runs on a device, too
FIRST_ROWS = [0, 1, 2, 3, 7, 100, 3000]


class Failed(Exception):
    """An operation without a result, in a row; None: of an aggregate of all rows."""

    def __init__(self, row=None):
        super().__init__()
        self.row = row


def checked(value):
    if not INT_LOW <= value <= INT_HIGH:
        raise Failed
    return value


def divided(a, b):
    if b == 0:
        raise Failed
    quotient = abs(a) // abs(b)
    return checked(quotient if (a < 0) == (b < 0) else -quotient)


def remainder(a, b):
    if b == 0:
        raise Failed
    return abs(a) % abs(b) * (-1 if a < 0 else 1)


# An expression is its text and a function of a row: a function from column names to values, which computes them when
# they are read.
class Maker:
    def __init__(self, random_, names, floats, step, sums):
        self.random, self.names, self.floats, self.step, self.sums = random_, names, floats, step, sums

    def leaf(self):
        names = [name for name in self.names if name not in self.floats]
        choice = self.random.random()
        if choice < 0.55 and names:
            name = self.random.choice(names)
            return name, lambda row: row[name]()
        if choice < 0.7 and self.step:
            return "step", lambda row: row["step"]()
        if choice < 0.78 and self.sums and names:
            name = self.random.choice(names)
            what = self.random.choice(["sum", "min", "max"])
            return f"{what}({name})", lambda row: row[what, name]()
        number = self.random.choice([0, 1, 2, 3, 5, 7, 10, 100, 13377, 2**31, 2**40])
        return str(number), lambda row: number

    def integer(self, depth):
        if depth == 0 or self.random.random() < 0.15:
            return self.leaf()
        choice = self.random.randrange(9)
        a, of_a = self.integer(depth - 1)
        b, of_b = self.integer(depth - 1)
        small = self.random.choice([2, 3, 7, 13377, 1000003])
        if choice in (0, 1):
            return f"({a} + {b})", lambda row: checked(of_a(row) + of_b(row))
        if choice == 2:
            return f"({a} - {b})", lambda row: checked(of_a(row) - of_b(row))
        if choice == 3:
            return f"({a} * {b})", lambda row: checked(of_a(row) * of_b(row))
        if choice in (4, 5):
            return f"({a} % {small})", lambda row: remainder(of_a(row), small)
        if choice == 6:
            return f"({a} // {small})", lambda row: divided(of_a(row), small)
        if choice == 7 and self.random.random() < 0.3:
            return f"({a} // {b})", lambda row: divided(of_a(row), of_b(row))
        c, of_c = self.condition(depth - 1)
        return f"({c} ? {a} : {b})", lambda row: of_a(row) if of_c(row) else of_b(row)

    def condition(self, depth):
        a, of_a = self.integer(depth)
        b, of_b = self.integer(depth)
        sign = self.random.choice(["<", "<=", "==", "!="])
        compare = {"<": int.__lt__, "<=": int.__le__, "==": int.__eq__, "!=": int.__ne__}[sign]
        return f"{a} {sign} {b}", lambda row: compare(of_a(row), of_b(row))

    def number(self, depth):
        if depth == 0 or self.random.random() < 0.2:
            if self.floats and self.random.random() < 0.7:
                name = self.random.choice(self.floats)
                return name, lambda row: row[name]()
            value = self.random.choice([0.5, 1.0, 2.5, -3.25, 0.1])
            return (f"{value}" if value >= 0 else f"({value})"), lambda row: value
        a, of_a = self.number(depth - 1)
        b, of_b = self.number(depth - 1)
        choice = self.random.randrange(6)
        if choice < 2:
            return f"({a} + {b})", lambda row: of_a(row) + of_b(row)
        if choice == 2:
            return f"({a} - {b})", lambda row: of_a(row) - of_b(row)
        if choice == 3:
            by = self.random.choice([2.0, 4.0, 3.0, -8.0, 0.25])
            return f"({a} / {by})" if by > 0 else f"({a} / ({by}))", lambda row: of_a(row) / by
        if choice == 4:
            by = self.random.choice([0.5, 0.9, 1.1])
            return f"({a} * {by})", lambda row: of_a(row) * by
        c, of_c = self.condition(depth - 1)
        return f"({c} ? {a} : {b})", lambda row: of_a(row) if of_c(row) else of_b(row)

    def expression(self, name):
        return self.number(2) if name in self.floats else self.integer(self.random.choice([1, 2, 2, 3]))


def once(compute):
    """Computes a value when it is first read."""
    known = []

    def read():
        if not known:
            try:
                known.append((True, compute()))
            except Failed as failed:
                known.append((False, failed))
        if not known[0][0]:
            raise known[0][1]
        return known[0][1]

    return read


class Rows:
    """Rows whose values are computed when they are read: a list of functions for each name."""

    def __init__(self, columns, count, step):
        self.columns, self.count, self.step = columns, count, step
        self.aggregates = {}

    def aggregate(self, what, name):
        def compute():
            try:
                values = [self.columns[name][i]() for i in range(self.count)]
            except Failed as failed:
                raise Failed from failed
            # Without rows no row reads it.
            return checked({"sum": sum, "min": min, "max": max}[what](values))

        return self.aggregates.setdefault((what, name), once(compute))

    def row(self, i):
        rows = self

        class Row(dict):
            def __missing__(self, key):
                if key == "step":
                    return lambda: rows.step
                if isinstance(key, tuple) and key[0] == "at":
                    return lambda: rows.columns[key[1]][i + key[2]]()
                if isinstance(key, tuple):
                    return rows.aggregate(*key)
                return rows.columns[key][i]

        return Row()


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        r = self.random
        self.count = r.choice(FIRST_ROWS)
        self.names = ["a", "b"][: r.choice([1, 2, 2])]
        self.floats = []
        if r.random() < 0.4:
            self.names.append("u")
            self.floats = ["u"]
        self.rounds = r.choice([0, 1, 2, 5, 9, 12])
        self.limit = r.random() < 0.8
        self.form = r.choice(["plain", "plain", "while", "until", "stencil"])
        self.stages = []
        maker = Maker(r, self.names, self.floats, True, self.form not in ("while",))
        self.test = None
        if self.form == "while":
            self.test = maker.condition(1)
        if self.form == "until":
            name = self.names[0]
            bound = r.choice([5, 100, 10**6])
            self.test = (f"max({name}) > {bound} || step >= 7",
                         lambda rows: rows.step >= 7 or (rows.count > 0 and rows.aggregate("max", name)() > bound))
        for _ in range(r.choice([1, 1, 2])):
            changed = sorted(r.sample(self.names, r.randrange(1, len(self.names) + 1)))
            self.stages.append([(name, *maker.expression(name)) for name in changed])
        self.start = [r.choice([0, 1, -3, 5]) for _ in self.names]

    def text(self):
        starts = [f"x * {k % 3 + 1} + {start}" for k, start in enumerate(self.start)]
        starts = [f"({s}) * 0.5" if n in self.floats else s for n, s in zip(self.names, starts)]
        columns = ", ".join(f"{start} as {name}" for name, start in zip(self.names, starts))
        body = " | ".join("derive " + ", ".join(f"{name} = {text}" for name, text, _ in stage) for stage in self.stages)
        if self.form == "stencil":
            others = ", ".join(f"{name} as {name}" for name in self.names[1:])
            first = self.names[0]
            text = f"stencil -1..1 else 0: (at({first}, -1) + at({first}, 1) + {first} * 2) % 1000 as {first}"
            body = f"{text}{', ' if others else ''}{others} | {body}"
            if self.names[1:]:  # all columns would have V at the ends
                body = body.split(" | ", 1)[1]
                self.form = "plain"
        rounds = str(self.rounds) if self.limit or self.form not in ("while", "until") else ""
        clause = {"while": f"while {self.test[0]}" if self.test else "", "until": f"until {self.test[0]}" if self.test else ""}
        header = " ".join(part for part in (rounds or str(self.rounds), clause.get(self.form, "")) if part)
        return f"range 1..{self.count} | map {columns} | repeat {header}: ({body}) | pick {', '.join(self.names)}"

    def run_round(self, state, step):
        """The columns after a round, all computed; raises Failed."""
        rows = Rows({name: [lambda v=v: v for v in values] for name, values in state.items()}, self.count, step)
        keep = None
        if self.form == "while":
            keep = []
            for i in range(self.count):
                try:
                    keep.append(self.test[1](rows.row(i)))
                except Failed:
                    raise Failed(i) from None
            if not any(keep):
                return None
        first = rows
        if self.form == "stencil":
            name = self.names[0]

            def blend(i):
                if i == 0 or i == self.count - 1:
                    return 0
                total = checked(state[name][i - 1] + state[name][i + 1])
                return remainder(checked(total + checked(state[name][i] * 2)), 1000)

            rows = Rows({**rows.columns, name: [once(lambda i=i: blend(i)) for i in range(self.count)]}, self.count, step)
        for stage in self.stages:
            columns = dict(rows.columns)
            for name, _, compute in stage:
                columns[name] = [once(lambda i=i, c=compute, r=rows: c(r.row(i))) for i in range(self.count)]
            rows = Rows(columns, self.count, step)
        after = {name: [] for name in self.names}
        for i in range(self.count):
            for name in self.names:
                try:
                    chosen = rows if keep is None or keep[i] else first
                    after[name].append(chosen.columns[name][i]())
                except Failed as failed:
                    raise Failed(i) from failed
        return after

    def expected_in_rows(self, state):
        """With `while` each row runs on its own: the first row that fails decides."""
        count, self.count = self.count, 1
        ends = []
        for i in range(count):
            row = {name: [values[i]] for name, values in state.items()}
            for step in range(self.rounds):
                try:
                    after = self.run_round(row, step)
                except Failed:
                    self.count = count
                    return step, i
                if after is None:
                    break
                row = after
            ends.append(row)
        self.count = count
        return {name: [row[name][0] for row in ends] for name in self.names}

    def expected(self):
        """The columns at the end, or (round, row) of an error."""
        state = {}
        for k, (name, start) in enumerate(zip(self.names, self.start)):
            values = [x * (k % 3 + 1) + start for x in range(1, self.count + 1)]
            state[name] = [v * 0.5 for v in values] if name in self.floats else values
        if self.form == "while":
            return self.expected_in_rows(state)
        for step in range(self.rounds):
            try:
                after = self.run_round(state, step)
            except Failed as failed:
                return step, failed.row
            if after is None:
                break
            state = after
            if self.form == "until":
                rows = Rows({n: [lambda v=v: v for v in values] for n, values in state.items()}, self.count, step)
                if self.test[1](rows):
                    break
        return state


def shown(program, result):
    rows = []
    for i in range(program.count):
        rows.append(tuple(result[name][i] for name in program.names))
    return rows


def problem_of(program, text, mode):
    expected = program.expected()
    # Rows of commas and numbers with all digits
    command = [harness.RQL, *harness.ALL_MODES[mode], "--format", "csv", "-c", text]
    done = subprocess.run(command, capture_output=True, timeout=120, env=harness.environment(os.environ.get("HOME", "/tmp")),
                          check=False)
    err = done.stderr.decode()
    if isinstance(expected, tuple):
        found = re.search(r"row (\d+), round (\d+)", err) or re.search(r"(), round (\d+)", err)
        if done.returncode == 0 or not found:
            return f"expected an error in round {expected[0]}, got status {done.returncode}\n{err}"
        if int(found.group(2)) != expected[0]:
            return f"expected an error in round {expected[0]}\n{err}"
        alone = not re.search(r"(sum|min|max)\(", text)
        if alone and expected[1] is not None and found.group(1) and int(found.group(1)) != expected[1]:
            return f"expected an error in row {expected[1]}\n{err}"
        return ""
    if done.returncode != 0:
        return f"expected rows, got an error\n{err}"
    lines = done.stdout.decode().splitlines()[1:]
    got = [tuple(float(cell) if name in program.floats else int(cell) for name, cell in zip(program.names, line.split(",")))
           for line in lines]
    for i, (a, b) in enumerate(zip(got, shown(program, expected))):
        if a != b and not all(x == y or (x != x and y != y) for x, y in zip(a, b)):
            return f"row {i}: got {a}, expected {b}"
    return "" if len(got) == program.count else f"{len(got)} rows of {program.count}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tally = harness.Tally("programs")
    errors = 0
    for seed in range(options.seed, options.seed + options.count):
        program = Program(seed)
        text = program.text()
        errors += isinstance(program.expected(), tuple)
        for mode in harness.MODES:
            # Each program is built for a device, which takes long.
            if not mode.startswith("host") and seed >= options.seed + options.count // DEVICE_SHARE:
                continue
            problem = problem_of(program, text, mode)
            tally.check(f"{seed} ({mode})", problem and f"{text}\n{problem}")
    print(f"programs: {errors} of {options.count} fail as they should")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
