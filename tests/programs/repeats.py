#!/usr/bin/env python3
"""Random loops of `repeat` whose rounds compute each row of itself, against an interpreter in plain Python: rounds of all
rows, with errors of the first round and then the first row; with `while`, of each row on its own. Usage as folds.py's.
"""

import functools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import folds
import harness

NAMES = ["u", "v", "row", "step"]


def make_query(maker, rows):
    """A query, its text, and what it prints: lines, or the text of an error and its row and round."""
    first_b, eval_b = maker.integer(["x", "row"], 1)
    count = maker.random.choice([0, 1, 2, 3, 4, 5, 6, 40])
    body_a, next_a = maker.integer(NAMES, 3)
    body_b, next_b = maker.integer(NAMES, 2)
    kind = maker.random.randrange(4)
    derive = f"derive u = {body_a}, v = {body_b}"
    if kind == 0:  # one after another: the second sees the new a
        derive = f"(derive u = {body_a} | derive v = {body_b})"
    keep, holds = maker.condition(["u", "v", "row"], 2) if maker.random.randrange(2) else ("", None)
    query = f"range -2..{rows - 3} | map x as u, {first_b} as v | repeat {count}"
    query += (f" while {keep}" if keep else "") + f": {derive} | map u, v as r"
    place = [0, None]  # the row and its round, for errors
    state = []

    def own_rounds(row, v, late=False):
        """The row after rounds of its own; `v` may be a function, which is called where the value is read. So are those
        of rounds if they are `late`."""
        now = {"u": row - 2, "v": v, "row": row}
        for place[1] in range(count):
            env = {**now, "step": place[1]}
            if not holds(env):
                break
            u = next_a(env)
            v = functools.partial(next_b, {**env, "u": u} if kind == 0 else env)
            now = {"u": u, "v": v if late else v(), "row": row}
        return now

    try:
        for row in range(rows):
            place[:] = row, None
            v = eval_b({"x": row - 2, "row": row})
            state.append(own_rounds(row, v) if holds else {"u": row - 2, "v": v, "row": row})
        for place[1] in range(0 if holds else count):
            after = []
            for place[0] in range(rows):
                env = {**state[place[0]], "step": place[1]}
                u = next_a(env)
                after.append({"u": u, "v": next_b({**env, "u": u} if kind == 0 else env), "row": place[0]})
            state = after
    except folds.Failed as failure:
        failures = [(str(failure), *place)]
        if holds and place[1] is None:  # or what the rounds meet before they read the value
            first = functools.partial(eval_b, {"x": place[0] - 2, "row": place[0]})
            for late in False, True:
                try:
                    own_rounds(place[0], first, late)
                except folds.Failed as other:
                    failures.append((str(other), *place))
        return query, None, failures
    return query, [f"{env['u']}\t{env['v']}" for env in state], None


def compare(expected, failures, out, err):
    """What is wrong with a mode's lines, empty if nothing is."""
    if failures:
        for text, row, round_number in failures:
            where = f"row {row}" + ("" if round_number is None else f", round {round_number}")
            if text in err and err.endswith(where):
                return ""
        return f"expected one of {failures}; got {err!r} {out}"
    if err:
        return f"unexpected {err!r}"
    return "" if out == expected else f"expected {expected}, got {out}"


def chain_problem(mode, sandbox):
    """What is wrong where a missing value passes through many columns, each of which gets it from the one before."""
    count = 120
    columns = ", ".join(f"x as c{k}" for k in range(1, count))
    body = ", ".join(f"c{k} = c{k - 1}" for k in range(1, count))
    query = f"range 1..2 | map x == 1 ? missing : x as c0, {columns} | repeat {count - 1}: derive {body}"
    query += f" | group: count(c{count - 1}), sum(c{count - 1})"
    result = harness.run([*mode, "-c", query], sandbox.here, sandbox.home)
    return "" if result.out == b"1\t2\n" else result.text()


def main(arguments):
    return folds.run_queries(arguments, folds.Maker, make_query, compare, ("chain", chain_problem))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
