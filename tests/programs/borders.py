#!/usr/bin/env python3
"""Random stencils with borders, whose distances are constants and indices of folds, on one and two axes, against
NumPy's `pad`. Usage as folds.py's.
"""

import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import folds
import harness
import numpy as np

MODES = {"wrap": "wrap", "edge": "edge", "mirror": "reflect", "else x": None}
FACTOR = 1_000_003  # rows are x * FACTOR % 101 - 50


def make_query(rng):
    """A query and what it prints."""
    axes = int(rng.integers(1, 3))
    most = [1, 2, 3, 7, 40] if axes == 2 else [1, 2, 5, 100, 3000]
    shape = tuple(int(rng.integers(1, rng.choice(most) + 1)) for _ in range(axes))
    border = str(rng.choice(list(MODES)))
    reach = int(rng.integers(1, 3))
    x = (np.arange(math.prod(shape)) * FACTOR % 101 - 50).reshape(shape)
    mode = MODES[border]
    if mode == "reflect":
        index = [np.pad(np.arange(n), reach, mode=mode) if n > 1 else np.zeros(1 + 2 * reach, dtype=int) for n in shape]
        padded = x[np.ix_(*index)]
    else:
        padded = np.pad(x, reach, mode=mode) if mode else np.pad(x, reach)
    first = [-int(rng.integers(0, reach + 1)) for _ in shape]
    last = [int(rng.integers(0, reach + 1)) for _ in shape]
    places = [tuple(a + f for a, f in zip(at, first)) for at in np.ndindex(*[b - f + 1 for f, b in zip(first, last)])]
    near = np.stack([padded[tuple(slice(reach + d, reach + d + n) for d, n in zip(at, shape))] for at in places])
    step = np.array([at[-1] for at in places]).reshape((-1,) + (1,) * axes)
    names = ["i", "j"][:axes]
    ranges = ", ".join(f"{name} in {f}..{b}" for name, f, b in zip(names, first, last))
    own = f"at({', '.join(names)})"
    reals = (near * 0.1).reshape(len(near), -1).T
    choices = [
        (f"sum({ranges}: {own} * ({names[-1]} + 3))", lambda: (near * (step + 3)).sum(0)),
        (f"sum({ranges}: {own} * 0.1)", lambda: np.array([math.fsum(row) for row in reals]).reshape(shape)),
        (f"max({ranges}: {own}) - min({ranges}: {own} - {names[-1]})", lambda: near.max(0) - (near - step).min(0)),
        (f"count({ranges}: {own} > 3) + int(any({ranges}: {own} > 30)) - int(all({ranges}: {own} > -30))",
         lambda: (near > 3).sum(0) + (near > 30).any(0) - (near > -30).all(0)),
        (f"mean({ranges}: {own})", lambda: near.sum(0) / len(near)),
        (f"at({', '.join(map(str, places[0]))}) * 100 - at({', '.join(map(str, places[-1]))})",
         lambda: near[0] * 100 - near[-1]),
    ]
    text, compute = choices[rng.integers(len(choices))]
    values = compute()
    if mode is None:
        inside = np.zeros(shape, dtype=bool)
        inside[tuple(slice(reach, max(n - reach, reach)) for n in shape)] = True
        values = np.where(inside, values, x)
    bounds = ", ".join([f"{-reach}..{reach}"] * axes)
    query = f"range 0..{x.size - 1} | map x * {FACTOR} % 101 - 50 as x"
    query += f" | shape {' '.join(map(str, shape))} | stencil [{bounds}]" if axes > 1 else f" | stencil {bounds}"
    return f"{query} {border}: {text} as y", [float(value) for value in values.ravel()]


def main(arguments):
    options = folds.options_of(arguments)
    tally = harness.Tally("programs")
    rng = np.random.default_rng(options.seed)
    queries = [(*make_query(rng), None) for _ in range(options.count)]
    with harness.Sandbox() as sandbox:
        for mode in options.modes.split(","):
            outs, errs = folds.run_mode(harness.ALL_MODES[mode], sandbox, queries)
            for number, (query, expected, _) in enumerate(queries):
                got = outs[number]
                right = len(got) == len(expected) and all(float(a) == b for a, b in zip(got, expected))
                tally.check(f"{mode} {number}", "" if right else f"{query}\nexpected {expected[:20]}, got {got[:20]} "
                                                                 f"{errs[number]}")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
