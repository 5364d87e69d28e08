#!/usr/bin/env python3
"""Random samples: rows of the source in their order, as many as asked for, the same ones in each run and with each backend, others with
another seed, and of shares about as many as they say.

    samples.py [--count N] [--seed SEED] [--modes M,...]"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import ALL_MODES, random_cases, run  # noqa: E402


def check(rng, sandbox, mode, _number):
    rows = rng.choice([0, 1, 2, 7, 100, 1000, 30000])
    seed = rng.choice(["", "", f" seed {rng.randint(0, 9)}"])
    first = rng.randint(-5, 5)
    share = rng.random() < 0.5
    size = rng.choice([0, 1, 50, 100, rng.randint(0, 100)]) if share else rng.choice([0, 1, rows, rows + 1, rng.randint(0, rows)])
    source = f"range {first}..{first + rows - 1}" if rows else f"range 1..2 as x | select x > {2 + rng.randint(0, 5)}"
    text = f"{source} | sample {size}{'%' if share else ''}{seed}"
    other = rng.choice(["host", mode])
    result = run(ALL_MODES[mode] + ["-c", text, "-c", text], sandbox.here, sandbox.home)
    again = run(ALL_MODES[other] + ["-c", text], sandbox.here, sandbox.home)
    got, once = [int(x) for x in result.out.split()], [int(x) for x in again.out.split()]
    many = len(once)
    spread = 6 * (rows * size / 100 * (1 - size / 100)) ** 0.5 + 1 if share else 0
    expected = rows * size / 100 if share else min(size, rows)
    problem = (
        "it fails" if result.status or again.status
        else "another run takes others" if got != once * 2
        else "the order is not that of the rows" if once != sorted(set(once))
        else "a row is none of the source" if once and not first <= once[0] <= once[-1] < first + rows
        else f"{many} rows, not {expected:g}" if abs(many - expected) > spread
        else ""
    )
    return problem and f"{text} ({mode}, {other}): {problem}\n{result.err.decode()}"


if __name__ == "__main__":
    sys.exit(random_cases("samples", 200, check))
