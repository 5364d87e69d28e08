#!/usr/bin/env python3
"""Loops on whole columns that end, or fail, in any of many rounds: by the same few programs with random numbers, so that
devices build few of them. What is printed is compared with a computation in Python; errors with their round and row.

    tests/programs/rounds.py [--count N] [--seed S] [--modes host,host-unfused,...]
"""

import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import folds
import harness

INT64_MAX = 2**63 - 1


class Loop:
    """A query, and what it does to a state: `next_of` gives a row of the next one, `ends` whether it was the last."""

    def __init__(self, query, state, rounds, next_of, begins, ends):
        self.query = query
        self.state = state
        self.rounds = rounds
        self.next_of = next_of
        self.begins = begins
        self.ends = ends

    def expected(self):
        """The lines, or round and row of an error."""
        state = self.state
        for step in range(self.rounds):
            if not self.begins(state, step):
                break
            after = []
            for row in range(len(state)):
                values = self.next_of(state, row, step)
                if any(isinstance(v, int) and abs(v) > INT64_MAX for v in values):
                    return None, (step, row)
                after.append(values)
            state, before = after, state
            try:
                if self.ends(before, state, step):
                    break
            except folds.Failed:
                return None, (step, None)
        return ["\t".join(str(v) for v in row) for row in state], None


def growing(pick):
    """Integers that grow until their maximum is large enough, or too large."""
    rows, times, bound, rounds = pick(2, 90), pick(2, 3), 2 ** pick(10, 66), pick(1, 90)
    bound = min(bound, INT64_MAX)
    query = (f"range 1..{rows} | map x as u | repeat {rounds} until max(u) > {bound}: "
             f"map u[(row + 1) % {rows}] * {times} + step as u")
    return Loop(query, [(x,) for x in range(1, rows + 1)], rounds,
                lambda state, row, step: (state[(row + 1) % rows][0] * times + step,),
                lambda state, step: True, lambda before, state, step: max(u for u, in state) > bound)


def settling(pick):
    """Floats that a stencil brings together, and how many rows there are above a bound; two aggregates end it."""
    rows, bound, most, rounds = pick(3, 200), pick(1, 500) / 1000, pick(0, 5), pick(1, 400)
    query = (f"range 1..{rows} | map x % 7 * 1.5 as u, 0 as k | repeat {rounds} "
             f"until max(abs(u - before(u))) < {bound} || count(k) - sum(k) <= {most}: "
             f"(stencil -1..1 else 0.0: (at(u, -1) + at(u, 1)) / 2 as u "
             f"| map u, int(u < 1.0) as k)")

    def next_of(state, row, _):
        inside = 0 < row < rows - 1
        u = (state[row - 1][0] + state[row + 1][0]) / 2 if inside else 0.0
        return u, int(u < 1.0)

    return Loop(query, [(x % 7 * 1.5, 0) for x in range(1, rows + 1)], rounds, next_of, lambda state, step: True,
                lambda before, state, step: max(abs(a[0] - b[0]) for a, b in zip(before, state)) < bound
                or rows - sum(k for _, k in state) <= most)


def normalised(pick):
    """Rounds that begin with an aggregate, and end with a sum of large integers."""
    rows, modulus, rounds = pick(1, 70), pick(1000, 30000), pick(1, 100)
    scale = 10 ** pick(12, 14)
    query = (f"range 1..{rows} | map x as u | repeat {rounds} until sum(u * {scale}) > {scale} * {modulus}: "
             f"map (u * 3 + max(u) + step) % {modulus} as u")

    def next_of(state, row, step):
        return ((state[row][0] * 3 + max(u for u, in state) + step) % modulus,)

    return Loop(query, [(x,) for x in range(1, rows + 1)], rounds, next_of, lambda state, step: True,
                lambda before, state, step: folds.fit(sum(u * scale for u, in state)) > scale * modulus)


def linked(pick):
    """Sums of what is computed of elements at one position, which may be outside in any round."""
    rows, terms, times, rounds = pick(1, 60), pick(0, 9), pick(1, 50), pick(1, 12)
    inside, bound = rows + (pick(0, 9) == 0), 10 ** pick(1, 9)
    at = f"[(e * {times} + step) % {inside}]"
    query = (f"range 1..{rows} | map x * 0.37 as u, x % 5 as w | repeat {rounds} until max(u) > {bound}: "
             f"map sum(e in row..row + {terms}: (w{at} > 2 ? u{at} / w{at} : u{at}) - e) * 0.5 as u, (w + step) % 7 as w")

    def next_of(state, row, step):
        positions = [((e * times + step) % inside, e) for e in range(row, row + terms + 1)]
        if any(p >= rows for p, _ in positions):
            return (2**64,)
        values = [(*state[p], e) for p, e in positions]
        return math.fsum((u / w if w > 2 else u) - e for u, w, e in values) * 0.5, (state[row][1] + step) % 7

    return Loop(query, [(x * 0.37, x % 5) for x in range(1, rows + 1)], rounds, next_of, lambda state, step: True,
                lambda before, state, step: max(u for u, _ in state) > bound)


def same(line, expected):
    """Python writes small numbers in another way."""
    return line == expected or ("." in line and [float(v) for v in line.split()] == [float(v) for v in expected.split()])


def problem_of(loop, out, err):
    lines, failure = loop.expected()
    if failure is None:
        differing = [f"row {k}: {a}, not {b}" for k, (a, b) in enumerate(zip(out, lines)) if not same(a, b)]
        good = len(out) == len(lines) and not differing and not err
        return "" if good else f"{len(out)} rows of {len(lines)}, {differing[:1]} {err!r}"
    where = ("" if failure[1] is None else f"row {failure[1]}, ") + f"round {failure[0]}"
    return "" if err.endswith(where) else f"expected an error in {where}, got {len(out)} rows, {err!r}"


def main(arguments):
    options = folds.options_of(arguments)
    tally = harness.Tally("rounds")
    pick = random.Random(options.seed).randint
    loops = []
    while len(loops) < options.count:
        loop = (growing, settling, normalised, linked)[len(loops) % 4](pick)
        loops.append(loop)
    with harness.Sandbox() as sandbox:
        for mode in options.modes.split(","):
            outs, errs = folds.run_mode(harness.ALL_MODES[mode], sandbox, [(loop.query, None, None) for loop in loops])
            for number, loop in enumerate(loops):
                problem = problem_of(loop, outs[number], errs[number])
                tally.check(f"{mode} {number}", problem and f"{loop.query}\n{problem}")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
