"""What a program is to tests/bench/programs.py."""

import numpy as np


class Case:
    def __init__(self, name, rql, answer, numpy, c, numba=None, tables=None, setup=(), ticks=0, more=None, slow=False):
        self.name = name  # the title, with sizes
        self.rql, self.answer = rql, answer  # the statement that is timed, and the one that prints the numbers of its `r`
        self.tables = tables or {}  # what rql loads: NAME, an array or a structured one
        self.setup = setup  # definitions
        self.numpy, self.c, self.numba = numpy, c, numba
        self.more = more or {}  # other contestants, by name
        self.slow = slow  # whether NumPy takes minutes at full size
        self.ticks = ticks  # rounds, where rounds a second are wanted


def structured(**columns):
    """Columns of equal length as one NumPy array of fields."""
    array = np.empty(len(next(iter(columns.values()))), [(name, value.dtype) for name, value in columns.items()])
    for name, value in columns.items():
        array[name] = value
    return array
