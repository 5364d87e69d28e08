#!/usr/bin/env python3
"""Random pipelines over arrays of one to five axes against NumPy: indices, stencils with all borders, scans and aggregates
along an axis, elements, loops, other shapes, and files; elements out of range are errors of the first row. Usage as folds.py's.
"""

import math
import os
import random
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import folds
import harness

SCANS = {"+": np.cumsum, "max": np.maximum.accumulate, "min": np.minimum.accumulate}
AGGREGATES = {"sum": np.sum, "max": np.max, "min": np.min, "count": lambda a, axis: np.full_like(a, 1).sum(axis=axis)}
LARGEST = 2**40
MOST = 400  # elements


class Failed(Exception):
    """The first row that has no value; its text is part of rql's message."""


class Maker:
    def __init__(self, source):
        self.source = source

    def extents(self):
        """Sizes of at most MOST elements, small ones more often."""
        axes = self.source.choice([1, 2, 2, 3, 3, 3, 4, 5])
        while True:
            extents = [self.source.choice([1, 2, 2, 3, 3, 4, 5, 7, 40]) for _ in range(axes)]
            if math.prod(extents) <= MOST:
                return extents

    def factors(self, count):
        """Sizes whose product is `count`."""
        extents = []
        while count > 1 and len(extents) < 4 and self.source.random() < 0.8:
            extents.append(self.source.choice([d for d in range(1, count + 1) if count % d == 0]))
            count //= extents[-1]
        return [*extents, count]

    def names(self, axes):
        """Names of all axes, or of none."""
        named = axes > 1 and self.source.random() < 0.7
        return self.source.sample("ijklmno", axes) if named else [None] * axes


class State:
    """A query so far, and the array of its column c."""

    def __init__(self, array, names):
        self.array, self.names = array, names

    @property
    def axes(self):
        return self.array.ndim

    def shape_text(self):
        sizes = [str(extent) for extent in self.array.shape]
        if self.names[0] is None:
            return " ".join(sizes)
        return ", ".join(f"{name} {size}" for name, size in zip(self.names, sizes))

    def index(self, axis):
        """What an expression calls the index along an axis, or None; and its values."""
        name = self.names[axis]
        if name is None and self.axes <= 2:
            name = ("row", "col")[axis]
        return name, np.indices(self.array.shape)[axis]

    def along(self, axis):
        if self.axes == 2 and self.names[0] is None:
            return ("cols", "rows")[axis]
        return self.names[axis]


def shifted(array, distances, border):
    """Each element's neighbour; where there is none, anything if `border` is None."""
    for axis, distance in enumerate(distances):
        extent = array.shape[axis]
        index = np.arange(extent) + distance
        if border == "wrap":
            index %= extent
        elif border == "mirror" and extent > 1:
            index %= 2 * extent - 2
            index = np.where(index < extent, index, 2 * extent - 2 - index)
        else:
            index = np.clip(index, 0, extent - 1)
        array = np.take(array, index, axis=axis)
    return array


def stencil(maker, state):
    source = maker.source
    reach = [(-source.choice([0, 0, 1, 2]), source.choice([0, 0, 1, 3])) for _ in range(state.axes)]
    points = [[source.randint(*each) for each in reach] for _ in range(source.choice([1, 2, 3]))]
    border = source.choice([None, None, "wrap", "edge", "mirror"])
    ranges = ", ".join(f"{low}..{high}" for low, high in reach)
    ranges = f"[{ranges}]" if state.axes > 1 or source.random() < 0.5 else ranges
    sums = " + ".join(f"at({', '.join(str(each) for each in point)})" for point in points)
    made = sum(shifted(state.array, point, border) for point in points)
    if border is None:
        inside = np.ones(state.array.shape, bool)
        for axis, (low, high) in enumerate(reach):
            place = np.indices(state.array.shape)[axis]
            inside &= (place + low >= 0) & (place + high < state.array.shape[axis])
        made = np.where(inside, made, -7)
    state.array = made
    return f"stencil {ranges} {border or 'else -7'}: {sums} as c"


def indices(maker, state):
    parts, made = ["c"], state.array
    for axis in range(state.axes):
        name, values = state.index(axis)
        factor = maker.source.randint(-3, 3)
        if name:
            parts.append(f"{factor} * {name}")
            made = made + factor * values
    if state.axes > 2:
        parts.append("row")
        made = made + np.arange(made.size).reshape(made.shape)
    state.array = made
    return f"map {' + '.join(parts)} as c"


def scan(maker, state):
    axis = maker.source.randrange(state.axes)
    if state.axes > 1 and state.along(axis) is None:
        return None
    word = maker.source.choice(list(SCANS))
    state.array = SCANS[word](state.array, axis=axis)
    return f"scan {word}" + (f" along {state.along(axis)}" if state.axes > 1 else "")


def aggregate(maker, state):
    axis = maker.source.randrange(state.axes)
    if state.axes == 1 or state.along(axis) is None:
        return None
    word = maker.source.choice([*AGGREGATES, "reduce", "some"])
    along = state.along(axis)
    if word == "reduce":
        made = np.zeros_like(np.take(state.array, 0, axis=axis))
        for k in range(state.array.shape[axis]):  # associative: the last one that is even, or else the last
            here = np.take(state.array, k, axis=axis)
            made = here if k == 0 else np.maximum(made, here)
        text = "reduce |a, b| a > b ? a : b"
    elif word == "some":  # missing values add nothing
        made = np.where(state.array % 3 == 0, 0, state.array).sum(axis=axis)
        text = "map (c % 3 == 0 ? missing : c) as c | sum"
    else:
        made = AGGREGATES[word](state.array, axis=axis)
        text = word
    state.array = made
    del state.names[axis]
    if len(state.names) == 1:
        state.names = [None]
    return f"{text} along {along} | map x as c"


def element(maker, state):
    """The element at indices computed from the row's own: mostly in range."""
    parts, places, fails = [], [], np.zeros(state.array.shape, bool)
    for axis in range(state.axes):
        name, values = state.index(axis)
        extent = state.array.shape[axis]
        if name is None:
            return None
        choice = maker.source.randrange(12)
        if choice < 6:
            parts.append(f"({name} + {choice}) % {extent}")
            values = (values + choice) % extent
        elif choice < 11:
            parts.append(f"{extent - 1} - {name}")
            values = extent - 1 - values
        else:
            parts.append(f"{name} + 1")
            values = values + 1
        fails |= values >= extent
        places.append(np.minimum(values, extent - 1))
    if fails.any():
        raise Failed(f"row {int(np.flatnonzero(fails)[0])}", f"map c[{', '.join(parts)}] as c")
    state.array = state.array[tuple(places)]
    return f"map c[{', '.join(parts)}] as c"


def reshape(maker, state):
    state.array = state.array.reshape(maker.factors(state.array.size))
    state.names = maker.names(state.axes)
    return f"shape {state.shape_text()}"


def loop(maker, state):
    count = maker.source.choice([0, 1, 2, 3])
    distances = [maker.source.randint(-1, 1) for _ in range(state.axes)]
    for _ in range(count):
        state.array = shifted(state.array, distances, "wrap") - 1
    ranges = ", ".join(f"{min(each, 0)}..{max(each, 0)}" for each in distances)
    ranges = f"[{ranges}]" if state.axes > 1 else ranges
    return f"repeat {count}: (stencil {ranges} wrap: at({', '.join(str(each) for each in distances)}) as c | map c - 1 as c)"


STAGES = (stencil, stencil, indices, indices, scan, aggregate, aggregate, element, reshape, loop)


def make_query(maker, number):
    """The array of a file, a query, and what it prints: lines, or the text of an error."""
    extents = maker.extents()
    array = np.array([maker.source.randint(-50, 50) for _ in range(math.prod(extents))]).reshape(extents)
    state = State(array, maker.names(len(extents)))
    query = f"load {number}.npy | map x as c"
    if state.axes == 1 or state.names[0] is not None or maker.source.random() < 0.5:
        query += f" | shape {state.shape_text()}"
    try:
        for _ in range(maker.source.choice([1, 2, 3, 4, 5])):
            text = maker.source.choice(STAGES)(maker, state)
            query += f" | {text}" if text else ""
    except Failed as failure:
        return array, f"{query} | {failure.args[1]}", None, failure.args[0]
    if np.abs(state.array).max() > LARGEST:
        return make_query(maker, number)
    return array, query, [str(each) for each in state.array.ravel().tolist()], None


def compare(expected, failure, out, err):
    """What is wrong with a mode's lines, empty if nothing is."""
    if failure:
        return "" if "is outside" in err and err.endswith(failure) else f"expected {failure!r}, got {err!r}"
    if err:
        return f"unexpected {err!r}"
    return "" if out == expected else f"expected {expected}, got {out}"


def main(arguments):
    options = folds.options_of(arguments)
    tally = harness.Tally("axes")
    maker = Maker(random.Random(options.seed))
    cases = [make_query(maker, number) for number in range(options.count)]
    with harness.Sandbox() as sandbox:
        for number, case in enumerate(cases):
            np.save(sandbox.path(f"{number}.npy"), case[0])
        queries = [(query, expected, failure) for _, query, expected, failure in cases]
        for mode in options.modes.split(","):
            outs, errs = folds.run_mode(harness.ALL_MODES[mode], sandbox, queries)
            for number, (query, expected, failure) in enumerate(queries):
                problem = compare(expected, failure, outs[number], errs[number])
                tally.check(f"{mode} {number}", problem and f"{cases[number][0].shape}\n{query}\n{problem}")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
