#!/usr/bin/env python3
"""Random folds over an index, against an interpreter of the language's rules in plain Python, errors included.

Usage: folds.py [--count N] [--seed S] [--modes host,host-unfused,...]. Each query is run in every mode; what it prints,
or the first line of its error, must be what the interpreter says.
"""

import argparse
import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
ELEMENTS = [3, -7, 0, 12, 5, -1, 9, 2**40, 4, 1]
NUMBERS = [0.5, -1.25, 1e16, 3.0, 0.1]
KINDS = ("sum", "product", "min", "max", "mean", "count", "any", "all", "argmin", "argmax")


class Failed(Exception):
    """A value that does not exist; its text is part of rql's message."""


def fit(integer):
    if INT64_MIN <= integer <= INT64_MAX:
        return integer
    raise Failed("does not fit in 64 bits")


def quotient(a, b):
    if b == 0:
        raise Failed("division by zero")
    return fit(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))


def remainder(a, b):
    if b == 0:
        raise Failed("division by zero")
    return abs(a) % abs(b) * (-1 if a < 0 else 1)


def divide(a, b):
    if b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)
    return a / b


def element(values, at):
    if not 0 <= at < len(values):
        raise Failed(f"position {at} is outside")
    return values[at]


def better(kind, a, b):
    """Whether `a` replaces `b`."""
    if isinstance(a, float):
        if math.isnan(b):
            return not math.isnan(a)
    return a < b if kind in ("min", "argmin") else a > b


def float_sum(values):
    if any(math.isnan(v) for v in values) or (math.inf in values and -math.inf in values):
        return math.nan
    for infinite in (math.inf, -math.inf):
        if infinite in values:
            return infinite
    try:
        return math.fsum(values) + 0.0
    except OverflowError:
        return None  # too close to the ends of doubles for this interpreter


def look_up(env, name):
    """A name's value; a function computes it where it is read."""
    value = env[name]
    return value() if callable(value) else value


class Rounds:
    """The values of a fold, with the place of each."""

    def __init__(self, kind, floats):
        self.kind = kind
        self.floats = floats
        self.values = []
        self.places = []

    def add(self, value, place):
        """Adds a value; returns whether it decides."""
        self.values.append(value)
        self.places.append(place)
        return (self.kind == "any" and value) or (self.kind == "all" and not value)

    def result(self):
        kind, values = self.kind, self.values
        if kind in ("any", "all"):
            return (any if kind == "any" else all)(values)
        if kind == "count":
            return sum(values)
        if not values and kind in ("min", "max", "mean", "argmin", "argmax"):
            raise Failed("of an empty range")
        if kind in ("sum", "mean"):
            total = float_sum(values) if self.floats else fit(sum(values))
            return total if kind == "sum" else divide(float(total), float(len(values)))
        if kind == "product":
            if not self.floats:
                return fit(math.prod(values))
            product = 1.0
            for value in values:
                product *= value
            return product + 0.0
        best = 0
        for i in range(1, len(values)):
            if better(kind, values[i], values[best]):
                best = i
        if kind in ("argmin", "argmax"):
            return self.places[best]
        return values[best] + 0.0 if self.floats else values[best]


class Maker:
    """Makes expressions: pairs of a text and a function of the names' values."""

    def __init__(self, random_source):
        self.random = random_source
        self.folds = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def integer(self, names, depth):
        choice = self.random.randrange(12) if depth > 0 else self.random.randrange(3)
        if choice == 0:
            n = self.random.randint(-4, 9)
            return (f"({n})" if n < 0 else str(n)), lambda env: n
        if choice <= 2:
            name = self.random.choice(names)
            return name, lambda env: look_up(env, name)
        if choice <= 6:
            a, eval_a = self.integer(names, depth - 1)
            b, eval_b = self.integer(names, depth - 1)
            sign, what = self.pick(
                ("+", lambda x, y: fit(x + y)), ("-", lambda x, y: fit(x - y)), ("*", lambda x, y: fit(x * y))
            )
            return f"({a} {sign} {b})", lambda env: what(eval_a(env), eval_b(env))
        if choice == 7:
            a, eval_a = self.integer(names, depth - 1)
            b, eval_b = self.integer(names, depth - 1)
            sign, what = self.pick(("//", quotient), ("%", remainder), ("%", remainder))
            return f"({a} {'/' if sign == '//' else sign} {b})", lambda env: what(eval_a(env), eval_b(env))
        if choice == 8:
            a, eval_a = self.integer(names, depth - 1)
            if self.random.randrange(4):
                return f"a[abs({a}) % 10]", lambda env: element(ELEMENTS, remainder(abs_of(eval_a(env)), 10))
            return f"a[{a}]", lambda env: element(ELEMENTS, eval_a(env))
        if choice == 9:
            c, eval_c = self.condition(names, depth - 1)
            a, eval_a = self.integer(names, depth - 1)
            b, eval_b = self.integer(names, depth - 1)
            return f"({c} ? {a} : {b})", lambda env: eval_a(env) if eval_c(env) else eval_b(env)
        if choice == 10:
            a, eval_a = self.integer(names, depth - 1)
            b, eval_b = self.integer(names, depth - 1)
            name, what = self.pick(("min", min), ("max", max))
            return f"{name}({a}, {b})", lambda env: what(eval_a(env), eval_b(env))
        return self.fold(names, depth - 1, "int")

    def number(self, names, depth):
        choice = self.random.randrange(7) if depth > 0 else self.random.randrange(2)
        if choice == 0:
            n = self.random.choice(NUMBERS)
            return (f"({n!r})" if n < 0 else repr(n)), lambda env: n
        if choice == 1:
            name = self.random.choice(names)
            return f"float({name})", lambda env: float(look_up(env, name))
        if choice <= 4:
            a, eval_a = self.number(names, depth - 1)
            b, eval_b = self.number(names, depth - 1)
            sign, what = self.pick(
                ("+", lambda x, y: x + y), ("-", lambda x, y: x - y), ("*", lambda x, y: x * y), ("/", divide)
            )
            return f"({a} {sign} {b})", lambda env: what(eval_a(env), eval_b(env))
        if choice == 5:
            c, eval_c = self.condition(names, depth - 1)
            a, eval_a = self.number(names, depth - 1)
            b, eval_b = self.number(names, depth - 1)
            return f"({c} ? {a} : {b})", lambda env: eval_a(env) if eval_c(env) else eval_b(env)
        return self.fold(names, depth - 1, "float")

    def condition(self, names, depth):
        if depth > 0 and self.random.randrange(4) == 0:
            if self.random.randrange(3) == 0:
                return self.fold(names, depth - 1, "bool")
            a, eval_a = self.condition(names, depth - 1)
            b, eval_b = self.condition(names, depth - 1)
            sign = self.pick("and", "or")
            if sign == "and":
                return f"({a} and {b})", lambda env: eval_a(env) and eval_b(env)
            return f"({a} or {b})", lambda env: eval_a(env) or eval_b(env)
        a, eval_a = self.integer(names, depth - 1)
        b, eval_b = self.integer(names, depth - 1)
        sign, what = self.pick(
            ("<", lambda x, y: x < y), ("==", lambda x, y: x == y), (">=", lambda x, y: x >= y)
        )
        if sign == ">=":  # b <= a: what fails first is b
            return f"({a} >= {b})", lambda env: eval_b(env) <= eval_a(env)
        return f"({a} {sign} {b})", lambda env: what(eval_a(env), eval_b(env))

    def end(self, names):
        """An end of a range: rounds stay few."""
        if self.random.randrange(2):
            n = self.random.randint(-1, 4)
            return (f"({n})" if n < 0 else str(n)), lambda env: n
        name = self.random.choice(names)
        least, most = self.pick((0, 4), (-2, 3))
        return f"clamp({name}, {least}, {most})", lambda env: max(least, min(most, look_up(env, name)))

    def same_ranges(self, names, depth):
        """Two folds over one range, of which conditions decide which are computed: such folds share a loop."""
        first, last = self.end(names), self.end(names)
        index = f"i{len(names)}"
        inner = [*names, index]

        def one():
            word = self.pick("sum", "sum", "max", "min", "count")
            make = self.condition if word == "count" else self.integer
            body, evaluate = make(inner, max(depth, 1))

            def run(env):
                rounds = Rounds(word, False)
                low, high = first[1](env), last[1](env)
                for k in range(low, high + 1):
                    rounds.add(evaluate({**env, index: k}), k)
                return rounds.result()

            return f"{word}({index} in {first[0]}..{last[0]}: {body})", run

        (a, eval_a), (b, eval_b) = one(), one()
        c, eval_c = self.condition(names, 1)
        d, eval_d = self.condition(names, 1)
        if self.random.randrange(2):
            return f"(({c} ? {a} : 1) + ({d} ? 2 : {b}))", lambda env: fit(
                (eval_a(env) if eval_c(env) else 1) + (2 if eval_d(env) else eval_b(env)))
        return f"({c} ? {a} : {d} ? {b} : {a} + {b})", lambda env: (
            eval_a(env) if eval_c(env) else eval_b(env) if eval_d(env) else fit(eval_a(env) + eval_b(env)))

    def fold(self, names, depth, kind):
        """A fold whose result is of this kind."""
        self.folds += 1
        if kind == "int" and self.random.randrange(4) == 0:
            return self.same_ranges(names, depth)
        several = self.random.randrange(4) == 0
        floats = kind == "float" or (kind == "int" and self.random.randrange(4) == 0)
        word = {
            "float": ("sum", "sum", "min", "max", "mean", "product"),
            "int": ("count", "argmin", "argmax") if floats else ("sum", "sum", "product", "min", "max", "count", "argmin"),
            "bool": ("any", "all"),
        }[kind]
        word = self.random.choice(word)
        if word in ("argmin", "argmax"):
            several = False
        ranges, indices = [], []
        inner = list(names)
        for _ in range(2 if several else 1):
            index = f"i{len(inner)}"
            first, last = self.end(inner), self.end(inner)
            ranges.append((index, first, last))
            inner = inner + [index]
            indices.append(index)
        depth = max(depth, 1)
        if word in ("any", "all", "count"):
            body, evaluate = self.condition(inner, depth)
            floats = False
        else:
            body, evaluate = self.number(inner, depth) if floats else self.integer(inner, depth)

        def run(env):
            rounds = Rounds(word, floats)

            def nest(level, env):
                if level == len(ranges):
                    return rounds.add(evaluate(env), env[indices[-1]])
                index, first, last = ranges[level]
                low, high = first[1](env), last[1](env)
                for k in range(low, high + 1):
                    if nest(level + 1, {**env, index: k}):
                        return True
                return False

            nest(0, env)
            return rounds.result()

        text = ", ".join(f"{index} in {first[0]}..{last[0]}" for index, first, last in ranges)
        return f"{word}({text}: {body})", run


def abs_of(integer):
    return fit(abs(integer))


def make_query(maker, rows):
    """A query of one or two stages, its text, and what it prints: lines, or the text of an error and its row."""
    names = ["x", "row"]
    kind = maker.pick("int", "int", "float", "bool")
    text, evaluate = maker.fold(names, 3, kind)
    between = None
    if maker.random.randrange(3) == 0:
        between = maker.integer(names, 2)
    keep = maker.condition(names, 2) if maker.random.randrange(4) == 0 else None
    query = f"range {-2}..{rows - 3}"
    if between:
        query += f" | map {between[0]} as x"
    if keep:
        query += f" | select {keep[0]}"
    query += f" | map {text} as r"
    lines, passed = [], []
    row = 0
    try:
        for row in range(rows):  # the filter of all rows comes first
            env = {"x": row - 2, "row": row}
            if between:  # computed where it is read
                env = {**env, "x": lambda env=env: between[1](env)}
            if not keep or keep[1](env):
                passed.append({**env, "row": len(passed)} if keep else env)
        for row, env in enumerate(passed):
            value = evaluate(env)
            if value is None:
                return query, None, None
            lines.append(show(value))
    except Failed as failure:
        return query, None, (str(failure), row, between is not None, keep is not None)
    return query, lines, None


def show(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return repr(value + 0.0)
    return str(value)


def same(expected, got):
    if expected == got:
        return True
    try:
        return any(c in expected + got for c in ".e") and float(expected) == float(got)
    except ValueError:
        return False


def compare(expected, failure, out, err):
    """What is wrong with a mode's lines, empty if nothing is."""
    if failure and failure[3]:  # which one depends on how many rows are filtered at once
        return "" if err else f"expected an error, got {out}"
    if failure:
        if failure[0] not in err:
            return f"expected the error {failure[0]!r}, got {err!r} {out}"
        if not failure[2] and f"row {failure[1]}\n" not in err + "\n" and "row" in err:
            return f"expected row {failure[1]}, got {err!r}"
        return ""
    if err:
        return f"unexpected {err!r}"
    if len(expected) != len(out) or not all(same(a, b) for a, b in zip(expected, out)):
        return f"expected {expected}, got {out}"
    return ""


def run_mode(options, sandbox, queries):
    """The lines and the error of each query."""
    script = ["let a = [" + ", ".join(str(e) for e in ELEMENTS) + "]"]
    for number, (query, _, _) in enumerate(queries):
        script += [f'"### {number}"', query]
    sandbox.write("folds.rql", "\n".join(script).encode() + b"\n")
    result = harness.run(["--no-init", "-k", *options, "folds.rql"], sandbox.here, sandbox.home, timeout=600)
    outs, errs = [[] for _ in queries], ["" for _ in queries]
    number = -1
    for line in result.out.decode().splitlines():
        if line.startswith("### "):
            number = int(line[4:])
        elif number >= 0:
            outs[number].append(line)
    for line in result.err.decode().splitlines():
        if line.startswith("folds.rql:") and ": error: " in line:
            at = (int(line.split(":")[1]) - 3) // 2
            errs[at] = errs[at] or line.split(": error: ", 1)[1]
        elif "error" in line:
            print(line)
    if result.status not in (0, 1):
        errs[number] = f"status {result.status}: " + result.err.decode()[-500:]
    return outs, errs


def options_of(arguments):
    options = argparse.ArgumentParser()
    options.add_argument("--count", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--rows", type=int, default=7)
    options.add_argument("--modes", default="host,host-unfused")
    return options.parse_args(arguments)


def run_queries(arguments, make_maker, make, judge, extra=None):
    """Runs random queries in each mode, and before them `extra`, the name of a test and what is wrong in a mode."""
    options = options_of(arguments)
    tally = harness.Tally("programs")
    maker = make_maker(random.Random(options.seed))
    queries = []
    while len(queries) < options.count:
        query = make(maker, options.rows)
        if (query[1] is not None or query[2]) and len(query[0]) < 900:
            queries.append(query)
    with harness.Sandbox() as sandbox:
        for mode in options.modes.split(","):
            if extra:
                tally.check(f"{mode} {extra[0]}", extra[1](harness.ALL_MODES[mode], sandbox))
            outs, errs = run_mode(harness.ALL_MODES[mode], sandbox, queries)
            for number, (query, expected, failure) in enumerate(queries):
                problem = judge(expected, failure, outs[number], errs[number])
                tally.check(f"{mode} {number}", problem and f"{query}\n{problem}")
    return tally.finish()


def main(arguments):
    return run_queries(arguments, Maker, make_query, compare)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
