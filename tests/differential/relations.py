"""Relations, and operations on whole columns: aggregates, scans, order."""

import math
from functools import reduce

import numpy as np

from expressions import INT64_MAX, INT64_MIN, Place


class QueryError(Exception):
    """The query fails: in this row, or for another reason (row is None); `sure` if this row is the one to be told. If
    `vague`, what fails may be a row or something else. If `regrouped`, a function left 64 bits, which it may not do when its
    values are combined in another grouping: an answer is as good."""

    def __init__(self, row, sure, vague=False, regrouped=False):
        super().__init__(f"row {row}" if row is not None else "an error without a row")
        self.row = row
        self.sure = sure
        self.vague = vague
        self.regrouped = regrouped


class Relation:
    """A relation. A column is (value, fails); origin is each row's row of the source."""

    def __init__(self, names, columns, rows):
        self.names = names
        self.columns = columns
        self.rows = rows
        self.shape = None
        self.vague = False
        self.lenient = False  # a column may fail as a whole, although the rows read do not
        # Smallest row in which something always needed failed, and whether its number is told by this origin.
        self.failed = None
        self.sure = True
        self.regrouped = False
        self.uncounted = False  # the number of rows is known only after running
        self.filtered = False
        self.begin()

    def begin(self):
        """The next stages are another task, which numbers its rows anew."""
        self.origin = np.arange(self.rows)
        self.uncounted = self.uncounted or self.filtered
        self.filtered = False

    def place(self):
        return Place(self.rows, self.shape)

    def whole(self, column):
        value, fails = column
        return np.broadcast_to(value, self.rows), np.broadcast_to(fails, self.rows)

    def note(self, fails):
        """Marks these rows as failing."""
        if fails.any():
            first = int(self.origin[fails].min())
            self.failed = first if self.failed is None else min(self.failed, first)

    def pending(self):
        """Whether a column has rows that would fail if they were read."""
        return any(fails.any() for _, fails in map(self.whole, self.columns))

    def keep(self, which):
        self.columns = [tuple(part[which] for part in self.whole(column)) for column in self.columns]
        self.origin = self.origin[which]
        self.rows = len(self.origin)
        self.shape = None

    def raise_if_failed(self):
        if self.failed is not None:
            raise QueryError(self.failed, self.sure, self.vague, self.regrouped)


# --- aggregates -------------------------------------------------------------------------------------------------------


def exact_int_sum(values):
    low = values & 0xFFFFFFFF
    return int((values >> 32).sum()) * 2**32 + int(low.sum()) if len(values) else 0


def exact_float_sum(values):
    finite = values[np.isfinite(values)]
    if np.isnan(values).any() or (np.isposinf(values).any() and np.isneginf(values).any()):
        return math.nan
    if len(finite) < len(values):
        return math.inf if np.isposinf(values).any() else -math.inf
    try:
        return math.fsum(finite) + 0.0
    except OverflowError:  # an intermediate overflow; integers in units of 2^-1074 do not overflow
        return unscaled(sum(map(scaled, finite.tolist())))


def scaled(each):
    numerator, denominator = each.as_integer_ratio()
    return numerator * (2**1074 // denominator)


def unscaled(total):
    try:
        return total / 2**1074
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def int_product(value):
    if (value == 0).any():
        return 0
    product = 1
    for each, times in zip(*np.unique(value, return_counts=True)):
        if abs(int(each)) > 1 and times > 64:
            raise QueryError(None, True)
        product *= int(each) ** (int(times) if abs(int(each)) > 1 else int(times) % 2)
        if abs(product) > 2**64:
            raise QueryError(None, True)
    if not INT64_MIN <= product <= INT64_MAX:
        raise QueryError(None, True)
    return product


def float_product(value):
    with np.errstate(all="ignore"):
        return float(np.multiply.accumulate(value)[-1]) if len(value) else 1.0


def aggregate(word, value):
    """sum, product, min, max or mean of a column."""
    floating = value.dtype.kind == "f"
    if word == "sum":
        return exact_float_sum(value) if floating else exact_int_sum(value)
    if word == "product":
        return float_product(value) if floating else int_product(value)
    if not len(value):
        raise QueryError(None, True)
    if word == "mean":
        return (exact_float_sum if floating else exact_int_sum)(value) / len(value)
    if floating:
        value = value[~np.isnan(value)]
        if not len(value):
            return math.nan
        return float(value.min() if word == "min" else value.max()) + 0.0
    return int(value.min() if word == "min" else value.max())


# --- combining --------------------------------------------------------------------------------------------------------


class Beyond(Exception):
    """A value beyond 64 bits."""


def checked(value):
    if isinstance(value, int) and not INT64_MIN <= value <= INT64_MAX:
        raise Beyond
    return value


# Associative functions, and whether they apply to floats.
FUNCTIONS = {
    "|a, b| a + b": (lambda a, b: checked(a + b), False),
    "|a, b| a * b": (lambda a, b: checked(a * b), False),
    "|p, q| q": (lambda a, b: b, True),
    "|a, b| a": (lambda a, b: a, True),
    "|a, b| a != 0 ? a : b": (lambda a, b: a if a != 0 else b, True),
    "|l, r| min(l, r)": (lambda a, b: a if a < b or b != b else b, True),
    "|l, r| l < r || r != r ? r : l": (lambda a, b: b if a < b or b != b else a, False),
    "|a, b| (a + b) & 255": (lambda a, b: checked(a + b) & 255, False),
    "|a, b| (a & 65535) * (b & 65535) & 65535": (lambda a, b: (a & 65535) * (b & 65535) & 65535, False),
    "|a, b| a ^ b ^ 5": (lambda a, b: a ^ b ^ 5, False),
    "|a, b| bitor(a, b)": (lambda a, b: a | b, False),
}
OPERATORS = {"+": 0, "*": 1, "min": None, "max": None, "&": -1, "^": 0, "bitor": 0, "or": 0}
BITS = {"&": lambda a, b: a & b, "^": lambda a, b: a ^ b, "bitor": lambda a, b: a | b, "or": lambda a, b: a | b}


class Running:
    """The running value of a sequence. `now` raises Beyond if 64 bits do not hold it."""

    def __init__(self, op, floating, initial):
        self.op = op
        self.floating = floating
        self.value = OPERATORS.get(op)
        self.beyond = False
        self.infinite = set()
        if floating and op in "+*":
            self.value = 0 if op == "+" else 1.0
        if initial is not None:
            self.add(float(initial) if floating else initial)

    def add(self, each):
        op, value = self.op, self.value
        if op == "+":
            if not self.floating:
                self.value += each
            elif math.isfinite(each):
                self.value += scaled(each)
            else:
                self.infinite.add("nan" if math.isnan(each) else each)
        elif op == "*":
            if each == 0 and not self.floating:
                self.value, self.beyond = 0, False
            elif not self.beyond:
                self.value = value * each
                self.beyond = not self.floating and abs(self.value) > 2**63
        elif op in ("min", "max"):
            if value is None or (self.floating and math.isnan(value)):
                self.value = each
            elif not (self.floating and math.isnan(each)):
                self.value = min(value, each) if op == "min" else max(value, each)
        elif op in BITS:
            self.value = BITS[op](value, each)
        elif not self.beyond:
            try:
                self.value = each if value is None else FUNCTIONS[op][0](value, each)
            except Beyond:
                self.beyond = True

    def now(self):
        if self.beyond:
            raise Beyond
        if self.value is None:
            raise QueryError(None, True)  # of no rows
        if self.op == "+" and self.floating:
            if self.infinite:
                return self.infinite.copy().pop() if self.infinite in ({math.inf}, {-math.inf}) else math.nan
            return unscaled(self.value)
        return checked(self.value) if not self.floating else self.value


def fold(stage, value):
    """One number of all values."""
    op, initial, floating = stage["op"], stage["initial"], value.dtype.kind == "f"
    if op in ("+", "*") and initial is not None:
        value = np.concatenate([np.array([initial], dtype=value.dtype), value])
    if op in ("+", "*"):
        return aggregate("sum" if op == "+" else "product", value)
    running = Running(op, floating, initial)
    for each in value.tolist():
        running.add(each)
    try:
        return running.now()
    except Beyond:
        raise QueryError(0, False, True, op in FUNCTIONS) from None


def scan(stage, value):
    """The running values of a column, and which rows have none."""
    running = Running(stage["op"], value.dtype.kind == "f", stage["initial"])
    results, fails = [], []
    for each in value.tolist():
        if not stage["exclusive"]:
            running.add(each)
        try:
            results.append(running.now())
            fails.append(False)
        except Beyond:
            results.append(0)
            fails.append(True)
        if stage["exclusive"]:
            running.add(each)
    return np.array(results, dtype=value.dtype), np.array(fails, dtype=bool)


def chains(rows, shape, along):
    """The sequences of rows that are combined, each in its order."""
    if along is None:
        return [np.arange(rows)]
    places = np.arange(rows).reshape(shape)
    return list(places if along == "rows" else places.T)


# --- order ------------------------------------------------------------------------------------------------------------


def ranks(value, descending=False):
    """Integers in the order of the values: NaN last in both directions, zeros equal."""
    if value.dtype.kind != "f":
        rank = np.unique(value, return_inverse=True)[1]
        return -rank if descending else rank
    nan = np.isnan(value)
    rank = np.unique(np.where(nan, 0.0, value + 0.0), return_inverse=True)[1]
    return np.where(nan, len(value), -rank if descending else rank)


def sorted_rows(keys):
    """The rows stably sorted by these ranks, the first most significant."""
    return np.lexsort(keys[::-1]) if len(keys[0]) else np.arange(0)


def starts_of(keys, order):
    """Where a row differs from its predecessor in this order."""
    changes = reduce(np.logical_or, (key[order][1:] != key[order][:-1] for key in keys))
    return np.concatenate([[0], np.flatnonzero(changes) + 1]) if len(order) else np.arange(0)
