#!/usr/bin/env python3
"""Random windows and stages within groups over random tables with missing keys and duplicates: compares rql with a
reference in Python, row by row.

    groups.py [--count N] [--seed SEED] [--modes M,...] [--rows N] [--forms windows,per]

Prints its seed, which makes the same pipelines again. Many pipelines run in one process; a mismatch prints the statements
that show it again.
"""

import argparse
import csv
import io
import math
import os
import random
import sys
from fractions import Fraction

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402

CASES = 25  # of one table
MARK = "next"
INT_LEAST, INT_MOST = -(2**63), 2**63 - 1


class Overflow(Exception):
    """An integer that does not fit 64 bits."""


# --- tables -----------------------------------------------------------------------------------------------------------

KEYS = ["k", "g"]
WORDS = ["a", "bb", "b", "C", "é", "z"]


def random_rows(rng, most):
    count = rng.choice([0, 1, 2, 3, rng.randint(4, 40), rng.randint(40, max(41, most))])
    gaps = rng.choice([0, 0.1, 0.5, 1.0])
    groups = rng.choice([1, 2, 4, 1000])
    wide = rng.random() < 0.15
    time = 0
    rows = []
    for _ in range(count):
        time += rng.choice([0, 0, 1, 2, 5, 30])

        def maybe(value):
            return None if rng.random() < gaps else value

        big = rng.choice([2**62, -(2**62), 2**63 - 1, 7]) if wide else rng.randint(-50, 50)
        number = rng.choice([rng.randint(-400, 400) / 4, rng.uniform(-1, 1), 0.1, -0.0])
        if wide:
            number = rng.choice([number, 1e308, -1e308, 1e-310, math.inf, -math.inf, math.nan])
        rows.append({
            "k": maybe(rng.choice(WORDS[: min(groups, len(WORDS))])),
            "g": maybe(rng.randint(0, groups - 1)) if groups < 1000 else rng.randint(0, 10**9),
            "v": maybe(big),
            "w": rng.randint(0, 9),
            "f": maybe(number),
            "s": maybe(rng.choice(WORDS)),
            "t": time,
        })
    if rng.random() < 0.3:
        rows.sort(key=lambda row: (key_order(row["g"]), key_order(row["k"])))
        for at, row in enumerate(rows):
            row["t"] = at // 2
    if rows and rng.random() < 0.15:  # times up to the last
        shift = rng.choice([2**63 - 1 - max(row["t"] for row in rows), -(2**63) - min(row["t"] for row in rows)])
        for row in rows:
            row["t"] += shift
    return rows


TYPES = {"k": "text", "g": "i64", "v": "i64", "w": "i64", "f": "f64", "s": "text", "t": "i64"}
KINDS = {"k": "text", "g": "int", "v": "int", "w": "int", "f": "float", "s": "text", "t": "int"}


def cell(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return "nan" if value != value else repr(value)
    return str(value)


def table_text(rows):
    return "".join([",".join(TYPES) + "\n"] + [",".join(cell(row[name]) for name in TYPES) + "\n" for row in rows])


def loaded(name):
    # `t` has no missing values.
    return f"let {name} = load {name}.csv " + ", ".join(f"{column} {kind}" for column, kind in TYPES.items())


# --- order ------------------------------------------------------------------------------------------------------------


def key_order(value):
    """Missing is last, NaN before it."""
    if value is None:
        return (2, 0)
    if isinstance(value, float) and value != value:
        return (1, 0)
    return (0, value)


def same_key(value):
    if isinstance(value, float):
        return "nan" if value != value else value + 0.0
    return value


# --- expressions: text, kind, and the list of values of some rows ---------------------------------------------------


class Expression:
    def __init__(self, text, kind, values):
        self.text, self.kind, self.values = text, kind, values


def column(name, kind):
    return Expression(name, kind, lambda rows: [row[name] for row in rows])


def exact(value):
    if not INT_LEAST <= value <= INT_MOST:
        raise Overflow
    return value


def sum_of_floats(values):
    if any(v != v for v in values) or (math.inf in values and -math.inf in values):
        return math.nan
    if math.inf in values or -math.inf in values:
        return math.inf if math.inf in values else -math.inf
    total = sum((Fraction(v) for v in values), Fraction(0))
    try:
        return float(total) + 0.0
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def quantile(kind, share, present):
    """Type 7 of Hyndman and Fan; NaN is the largest. Of text the lower one."""
    ordered = sorted(present, key=key_order)
    at = (len(ordered) - 1) * share
    lower = int(at)
    fraction = at - lower if lower < len(ordered) - 1 else 0.0
    a = ordered[lower]
    if kind == "text":
        return a
    b = ordered[lower + 1] if fraction > 0 else a
    if kind == "float":
        return a + 0.0 if fraction == 0 or a == b else a + fraction * (b - a)
    return float(Fraction(a + b, 2)) if fraction == 0.5 else float(a) + fraction * float(b - a)


def moment(pairs):
    """n * sum(x * y) - sum(x) * sum(y), rounded once; of floats NaN where a product is not finite."""
    total = Fraction(0)
    for x, y in pairs:
        if isinstance(x, float):
            high = x * y
            if not math.isfinite(high):
                return math.nan
            total += Fraction(high) + Fraction(float(Fraction(x) * Fraction(y) - Fraction(high)))
        else:
            total += x * y
    exact_moment = len(pairs) * total - sum(Fraction(x) for x, _ in pairs) * sum(Fraction(y) for _, y in pairs)
    try:
        return exact_moment if pairs and not isinstance(pairs[0][0], float) else float(exact_moment) + 0.0
    except OverflowError:
        return math.inf


def variance(present):
    if len(present) < 2:
        return None
    counted = len(present) * (len(present) - 1)
    size = moment([(v, v) for v in present])
    return float(size / counted) if isinstance(size, Fraction) else max(0.0, size) / counted if size == size else size


def correlation(pairs):
    """Near the right value: its last digits are not defined."""
    if len(pairs) < 2:
        return None
    if any(isinstance(v, float) for pair in pairs for v in pair):
        pairs = [(float(x), float(y)) for x, y in pairs]
    xx, yy, xy = (moment(of) for of in ([(x, x) for x, _ in pairs], [(y, y) for _, y in pairs], pairs))
    if any(size != size for size in (xx, yy, xy)) or xx <= 0 or yy <= 0:
        return math.nan
    return Near(max(-1.0, min(1.0, float(xy) / (math.sqrt(xx) * math.sqrt(yy)))))


class Near(float):
    pass


def aggregate(word, kind, values):
    """Of the values of a window, of which some may be missing."""
    if word == "corr":
        return correlation([pair for pair in values if pair[0] is not None and pair[1] is not None])
    present = [v for v in values if v is not None]
    if word == "distinct":
        return len({same_key(v) for v in present})
    if word == "var" or word == "stddev":
        size = variance(present)
        return math.sqrt(size) if word == "stddev" and size is not None and size == size else size
    if word == "median" or word in SHARES:
        return quantile(kind, SHARES.get(word, 0.5), present) if present else None
    if word == "count":
        return sum(present) if kind == "bool" else len(present)
    if word == "sum":
        return sum_of_floats(present) if kind == "float" else exact(sum(present))
    if not present:
        return None
    if word == "first":
        return present[0]
    if word == "last":
        return present[-1]
    if word == "mean":
        if kind == "float":
            return sum_of_floats(present) / len(present)
        return float(Fraction(sum(present), len(present)))
    numbers = [v for v in present if v == v] or [math.nan]
    return min(numbers) if word == "min" else max(numbers)


SHARES = {"quantile(0.9": 0.9, "quantile(0.25": 0.25, "quantile(0": 0, "quantile(1": 1}
FLOATS = ("mean", "var", "stddev", "corr")


def window(word, of, first, last, times):
    """AGG(of) over first..last, in rows or by distances in the column t."""
    edges = f"{'' if first is None else first}..{'' if last is None else last}"
    call = f"{word}, {of.text})" if word in SHARES else f"{word}({of.text if of else ''})"
    text = f"{call} over {edges}" + (" of t" if times else "")
    kind = {"count": "int", "distinct": "int"}.get(word, of.kind if of else "int")
    if word in FLOATS or ((word in SHARES or word == "median") and kind == "int"):
        kind = "float"

    def values(rows):
        given = of.values(rows) if of else [1] * len(rows)
        made = []
        for at, row in enumerate(rows):
            if times:
                low = -math.inf if first is None else row["t"] + first
                high = math.inf if last is None else row["t"] + last
                inside = [v for v, other in zip(given, rows) if low <= other["t"] <= high]
            else:
                begin = 0 if first is None else max(0, at + first)
                end = len(rows) if last is None else max(begin, min(len(rows), at + last + 1))
                inside = given[begin:end]
            made.append(aggregate(word, of.kind if of else "int", inside))
        return made

    return Expression(text, kind, values)


def of_all(word, of):
    """An aggregate of all rows at hand."""

    def values(rows):
        return [aggregate(word, of.kind, of.values(rows))] * len(rows) if rows else []

    kind = {"count": "int", "mean": "float"}.get(word, of.kind)
    return Expression(f"{word}({of.text})", kind, values)


def at(of, distance):
    def values(rows):
        given = of.values(rows)
        return [given[i + distance] if 0 <= i + distance < len(rows) else None for i in range(len(rows))]

    return Expression(f"at({of.text}, {distance})", of.kind, values)


def rank(of, down, dense):
    def values(rows):
        given = of.values(rows)
        present = [v for v in given if v is not None]
        numbers = sorted((v for v in present if v == v), reverse=down)
        ordered = numbers + [v for v in present if v != v]
        places, dense_places = {}, {}
        for at_place, v in enumerate(ordered):
            places.setdefault(same_key(v), at_place + 1)
            dense_places.setdefault(same_key(v), len(dense_places) + 1)
        chosen = dense_places if dense else places
        return [None if v is None else chosen[same_key(v)] for v in given]

    return Expression(f"rank({of.text}{', desc' if down else ''}{', dense' if dense else ''})", "int", values)


def ntile(parts, of, down):
    def values(rows):
        given = of.values(rows)
        present = [i for i, v in enumerate(given) if v is not None and v == v]
        present.sort(key=lambda i: Descending(given[i]) if down else given[i])
        present += [i for i, v in enumerate(given) if v is not None and v != v]
        made = [None] * len(rows)
        size, larger = divmod(len(present), parts)
        for place, i in enumerate(present):
            beyond = place - larger * (size + 1)
            made[i] = (place // (size + 1) if beyond < 0 else larger + beyond // size) + 1
        return made

    return Expression(f"ntile({parts}, {of.text}{', desc' if down else ''})", "int", values)


def fill(of, back):
    def values(rows):
        made = of.values(rows)
        places = range(len(rows) - 2, -1, -1) if back else range(1, len(rows))
        for i in places:
            if made[i] is None:
                made[i] = made[i + 1 if back else i - 1]
        return made

    return Expression(f"fill({of.text}{', back' if back else ''})", of.kind, values)


def fill_linear(of, over):
    def values(rows):
        given = [None if v is None else float(v) for v in of.values(rows)]
        places = over.values(rows) if over else range(len(rows))
        there = [i for i, v in enumerate(given) if v is not None]
        made = list(given)
        for low, high in zip(there, there[1:]):
            for i in range(low + 1, high):
                whole = float(exact(places[high] - places[low]))
                way = float(exact(places[i] - places[low]))
                share = way / whole if whole else math.nan if way == 0 else math.copysign(math.inf, way)
                made[i] = given[low] + (given[high] - given[low]) * share
        return made

    return Expression(f"fill({of.text}, linear{', ' + over.text if over else ''})", "float", values)


def ewma(of, share, adjusts):
    def values(rows):
        made, mean, weight = [], None, 0.0
        kept = 1 - share
        for v in of.values(rows):
            if v is not None:
                number = float(v)
                weight *= kept
                if mean is None:
                    mean = number
                elif mean != number:
                    mean = (weight * mean + number) / (weight + 1) if adjusts else kept * mean + share * number
                weight += 1
            made.append(mean)
        return made

    return Expression(f"ewma({of.text}, {share}{', adjust' if adjusts else ''})", "float", values)


def random_series(rng, columns, timed):
    """A function of the rows before and behind."""
    numbers = [column(name, kind) for name, kind in columns.items() if kind in ("int", "float")]
    any_column = column(name := rng.choice(list(columns)), columns[name])
    word = rng.choice(["ntile", "fill", "linear", "ewma"])
    if word == "ntile":
        return ntile(rng.choice([1, 2, 3, 4, 10, 100]), any_column, rng.random() < 0.4)
    if word == "fill" or not numbers:
        return fill(any_column, rng.random() < 0.5)
    if word == "linear":
        return fill_linear(rng.choice(numbers), column("t", "int") if timed and rng.random() < 0.5 else None)
    return ewma(rng.choice(numbers), rng.choice([0.01, 0.1, 0.5, 0.94, 1]), rng.random() < 0.5)


def row_number():
    return Expression("row", "int", lambda rows: list(range(len(rows))))


def comparison(of, sign, limit):
    tests = {"<": lambda v: v < limit, ">=": lambda v: v >= limit, "==": lambda v: v == limit, "!=": lambda v: v != limit}
    return Expression(
        f"{of.text} {sign} {limit}", "bool", lambda rows: [None if v is None else tests[sign](v) for v in of.values(rows)]
    )


def plus(a, b):
    return Expression(
        f"{a.text} + {b.text}",
        "int",
        lambda rows: [None if x is None or y is None else exact(x + y) for x, y in zip(a.values(rows), b.values(rows))],
    )


def random_edges(rng):
    distances = [0, 0, 1, -1, 2, -2, 3, -3, 7, -19, 60]
    if rng.random() < 0.15:
        distances = [0, 1, -1, 2**63 - 1, 2**63 - 2, -(2**63), 1 - 2**63, 2**62, -(2**62)]
    first, last = sorted(rng.choice(distances) for _ in range(2))
    return rng.choice([(None, 0), (None, None), (0, None), (first, last), (first, last), (None, last), (first, None)])


def pair(a, b):
    """The arguments of a correlation."""
    return Expression(f"{a.text}, {b.text}", "float", lambda rows: list(zip(a.values(rows), b.values(rows))))


def random_window(rng, columns, timed):
    words = ["sum", "count", "mean", "min", "max", "first", "last", "median", "var", "stddev", "corr", "distinct", *SHARES]
    word = rng.choice(words)
    numbers = [name for name, kind in columns.items() if kind in ("int", "float")]
    names = numbers if word in ("sum", *FLOATS) else list(columns)
    first, last = random_edges(rng)
    if not names or (word == "count" and rng.random() < 0.4):
        word = "count"
        return window(word, None, first, last, timed and rng.random() < 0.4)
    name = rng.choice(names)
    of = column(name, columns[name])
    if word == "corr":
        return window(word, pair(of, column(other := rng.choice(names), columns[other])), first, last, timed and rng.random() < 0.4)
    if of.kind == "int" and word == "count" and rng.random() < 0.5:
        of = comparison(of, rng.choice(["<", ">="]), rng.randint(-5, 9))
    elif of.kind == "int" and rng.random() < 0.15:
        of = plus(of, column("w", "int")) if "w" in columns and columns["w"] == "int" else of
    return window(word, of, first, last, timed and rng.random() < 0.4)


def random_value(rng, columns, timed):
    choice = rng.random()
    if choice < 0.6:
        return random_window(rng, columns, timed)
    if choice < 0.75:
        return random_series(rng, columns, timed)
    name = rng.choice(list(columns))
    if choice < 0.9:
        return at(column(name, columns[name]), rng.choice([-1, 1, -2, 5]))
    if choice < 0.94:
        word = rng.choice(["sum", "count", "mean", "min", "max", "first", "last"])
        numbers = [name for name, kind in columns.items() if kind in ("int", "float")]
        name = rng.choice(numbers if word in ("sum", "mean") else list(columns))
        return of_all(word, column(name, columns[name]))
    if choice < 0.96:
        name = rng.choice(list(columns))
        return rank(column(name, columns[name]), rng.random() < 0.5, rng.random() < 0.5)
    if choice < 0.98:
        return at(random_window(rng, columns, timed), rng.choice([-1, 1]))
    return row_number()


# --- stages: text, and what they make of the rows of one group --------------------------------------------------------


class Stage:
    def __init__(self, text, apply, columns, orders=False):
        self.text, self.apply, self.columns, self.orders = text, apply, columns, orders


def derive(rng, columns, timed):
    made = [(rng.choice(["x", "y", "z", "n"]), random_value(rng, columns, timed)) for _ in range(rng.choice([1, 1, 2]))]
    made = list(dict(made).items())

    def apply(rows):
        lists = [(name, expression.values(rows)) for name, expression in made]
        return [{**row, **{name: values[i] for name, values in lists}} for i, row in enumerate(rows)]

    text = "derive " + ", ".join(f"{name} = {expression.text}" for name, expression in made)
    return Stage(text, apply, {**columns, **{name: expression.kind for name, expression in made}})


def select(rng, columns, timed):
    of = random_value(rng, columns, timed)
    while of.kind not in ("int", "float"):
        of = random_window(rng, columns, timed)
    test = comparison(of, rng.choice(["<", ">=", "!="]), rng.randint(-3, 9))
    keep = rng.random() < 0.6

    def apply(rows):
        return [row for row, truth in zip(rows, test.values(rows)) if (truth is True) == keep]

    return Stage(f"{'select' if keep else 'reject'} {test.text}", apply, columns)


def some_rows(rng, columns, timed):
    count = rng.choice([0, 1, 1, 2, 3, 10])
    word = rng.choice(["take", "skip", "tail"])
    cut = {
        "take": lambda rows: rows[:count],
        "skip": lambda rows: rows[count:],
        "tail": lambda rows: rows[max(0, len(rows) - count) :],
    }
    return Stage(f"{word} {count}", cut[word], columns)


STAGES = [derive, derive, select, some_rows]


# --- cases ------------------------------------------------------------------------------------------------------------


class Case:
    def __init__(self, name, stages, rows, columns):
        self.text = " | ".join([name] + [stage for stage in stages])
        self.rows, self.columns = rows, columns


def random_windows(rng, name, rows):
    columns, texts, failed = dict(KINDS), [], False
    for _ in range(rng.choice([1, 1, 2, 3])):
        stage = rng.choice(STAGES)(rng, columns, True)
        texts.append(stage.text)
        columns = stage.columns
        try:
            rows = None if failed else stage.apply(rows)
        except Overflow:
            failed = True
    return Case(name, texts, None if failed else rows, columns)


def sort(rng, columns, timed):
    names = rng.sample(sorted(columns), min(len(columns), rng.choice([1, 1, 2])))
    directions = [rng.random() < 0.4 for _ in names]

    def apply(rows):
        made = list(rows)
        for name, down in reversed(list(zip(names, directions))):
            made = in_order(made, name, down)
        return made

    text = "sort " + ", ".join(f"{name} desc" if down else name for name, down in zip(names, directions))
    return Stage(text, apply, columns, orders=True)


def in_order(rows, name, down):
    """Missing values are last in either direction, NaN before them; rows with equal values keep their order."""
    present = [row for row in rows if key_order(row[name])[0] == 0]
    present.sort(key=lambda row: Descending(row[name]) if down else row[name])
    return present + [r for r in rows if key_order(r[name])[0] == 1] + [r for r in rows if r[name] is None]


class Descending:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return other.value < self.value


def top(rng, columns, timed):
    count, name = rng.choice([0, 1, 2, 5]), rng.choice(list(columns))
    up = rng.random() < 0.3

    def apply(rows):
        return in_order(rows, name, not up)[:count]

    return Stage(f"top {count} by {name}{' asc' if up else ''}", apply, columns, orders=True)


def pick(rng, columns, timed):
    names = rng.sample(sorted(columns), rng.randint(1, len(columns)))
    kept = [key for key in rng.keys if key not in names] + names
    return Stage(f"pick {', '.join(names)}", lambda rows: rows, {name: columns[name] for name in kept})


def map_values(rng, columns, timed):
    given = {"p": random_value(rng, columns, timed), "q": column("w", "int") if "w" in columns else row_number()}
    kept = {key: columns[key] for key in rng.keys}

    def apply(rows):
        lists = [(name, expression.values(rows)) for name, expression in given.items()]
        return [{**{key: row[key] for key in kept}, **{n: v[i] for n, v in lists}} for i, row in enumerate(rows)]

    text = "map " + ", ".join(f"{expression.text} as {name}" for name, expression in given.items())
    return Stage(text, apply, {**kept, **{name: expression.kind for name, expression in given.items()}})


def reverse(rng, columns, timed):
    return Stage("reverse", lambda rows: rows[::-1], columns, orders=True)


def distinct(rng, columns, timed):
    def apply(rows):
        seen, made = set(), []
        for row in rows:
            key = tuple(same_key(row[name]) for name in columns)
            if key not in seen:
                seen.add(key)
                made.append(row)
        return made

    return Stage("distinct", apply, columns)


def group(rng, columns, timed):
    others = [name for name in columns if name not in rng.keys and name not in ("c", "u")]
    if not others:
        return distinct(rng, columns, timed)
    by = rng.choice(others)
    numbers = [name for name, kind in columns.items() if kind == "int" and name in others]
    total = rng.choice(numbers) if numbers and rng.random() < 0.7 else None
    kept = {key: columns[key] for key in rng.keys}

    def apply(rows):
        groups = {}
        for row in rows:
            groups.setdefault(same_key(row[by]), []).append(row)
        made = []
        for key in sorted(groups, key=key_order_of):
            inside = groups[key]
            row = {**{name: inside[0][name] for name in kept}, by: inside[0][by], "c": len(inside)}
            if total:
                row["u"] = exact(sum(other[total] for other in inside if other[total] is not None))
            made.append(row)
        return made

    text = f"group {by}: count() as c" + (f", sum({total}) as u" if total else "")
    given = {**kept, by: columns[by], "c": "int", **({"u": "int"} if total else {})}
    return Stage(text, apply, given, orders=True)


BODY = [reverse, distinct, group, derive, derive, derive, select, some_rows, some_rows, pick, map_values, sort, top]
MORE_KEYS = [("w % 3 as m", "m", "int", lambda row: row["w"] % 3)]


def random_per(rng, name, rows):
    keys = rng.choice([["k"], ["k"], ["g"], ["g"], ["k", "g"], ["g", "k"], ["w"], ["f"], ["s", "w"], ["v"]])
    columns, failed = dict(KINDS), False
    texts, names = list(keys), list(keys)
    if rng.random() < 0.15:
        text, made, kind, compute = rng.choice(MORE_KEYS)
        texts.append(text)
        names.append(made)
        columns[made] = kind
        rows = [{**row, made: compute(row)} for row in rows]
    rng.keys = names
    groups = {}
    for place, row in enumerate(rows):
        groups.setdefault(tuple(same_key(row[key]) for key in names), []).append({**row, " place": place})
    ordered = [groups[key] for key in sorted(groups, key=lambda key: [key_order_of(v) for v in key])]
    stages, orders = [], False
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        stage = rng.choice(BODY)(rng, columns, "t" in columns and not orders)
        if any(key not in stage.columns for key in names) or any(f"derive {key} " in stage.text for key in names):
            continue
        stages.append(stage.text)
        columns, orders = stage.columns, orders or stage.orders
        try:
            if not failed:
                ordered = [keep_places(stage, group) for group in ordered]
        except Overflow:
            failed = True
    if not stages:
        stages = ["take 1"]
        ordered = [group[:1] for group in ordered] if not failed else ordered
    made = None if failed else [row for group in ordered for row in group]
    if made is not None and not orders:
        made.sort(key=lambda row: row[" place"])
    body = stages[0] if len(stages) == 1 and rng.random() < 0.7 else f"({' | '.join(stages)})"
    return Case(name, [f"per {', '.join(texts)}: {body}"], made, columns)


def keep_places(stage, group):
    """The stage's rows, which `map` makes anew, with their places."""
    made = stage.apply(group)
    for row, old in zip(made, group) if made and " place" not in made[0] else []:
        row[" place"] = old[" place"]
    return made


def key_order_of(value):
    return (1, 0) if value == "nan" else key_order(value)


FORMS = {"windows": random_windows, "per": random_per}


# --- comparing --------------------------------------------------------------------------------------------------------


def mismatch(case, out):
    if case.rows is None:
        # What is not read cannot fail.
        return "" if "does not fit in 64 bits" in out or "error" not in out else f"expected an overflow, got {out[:200]!r}"
    if not out:
        return "nothing was printed"
    got = list(csv.reader(io.StringIO(out)))
    if got[0] != list(case.columns):
        return f"expected columns {list(case.columns)}, got {got[0]}"
    if len(got) - 1 != len(case.rows):
        return f"expected {len(case.rows)} rows, got {len(got) - 1}"
    for at_row, (row, fields) in enumerate(zip(case.rows, got[1:])):
        for (name, kind), text in zip(case.columns.items(), fields):
            value = row[name]
            if kind == "float" and value is not None and text:
                number = float(text)
                good = number == value or (number != number and value != value)
                good = good or (isinstance(value, Near) and abs(number - value) < 1e-9)
            else:
                good = text == ("" if value is None else str(value).lower() if kind == "bool" else str(value))
            if not good:
                return f"row {at_row}, `{name}`: expected {value!r}, got {text!r}"
    return ""


def answers(result):
    """What each case printed, with its error."""
    text = result.out.decode("utf-8", "replace")
    return text.split(f"{MARK}\n")


def run_cases(sandbox, table, cases, options):
    """What each case prints or, where it failed, its error."""
    lines = [loaded(table)]
    for case in cases:
        lines += [f'"{MARK}"', case.text]
    sandbox.write("cases.rql", ("\n".join(lines) + "\n").encode())
    command = [*options, "--quiet", "--keep-going", "--format", "csv", "cases.rql"]
    result = harness.run(command, sandbox.here, sandbox.home, timeout=600)
    outs = answers(result)[1:]
    errors = {}
    for part in result.err.decode("utf-8", "replace").split("cases.rql:")[1:]:
        errors.setdefault(int(part.split(":")[0]), part)
    for number in range(len(cases)):
        line = 3 + 2 * number
        out = outs[number] if number < len(outs) else ""
        yield out if line not in errors else errors[line]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--modes", default="host,host-unfused")
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--forms", default=",".join(FORMS))
    options = parser.parse_args()
    rng = random.Random(options.seed)
    print(f"seed {options.seed}", flush=True)
    tally = harness.Tally("groups")
    made = 0
    while made < options.count:
        rows = random_rows(rng, options.rows)
        cases = []
        for _ in range(min(CASES, options.count - made)):
            cases.append(FORMS[rng.choice(options.forms.split(","))](rng, "data", rows))
        made += len(cases)
        with harness.Sandbox() as sandbox:
            sandbox.write("data.csv", table_text(rows).encode())
            for mode in options.modes.split(","):
                for case, out in zip(cases, run_cases(sandbox, "data", cases, harness.ALL_MODES[mode])):
                    problem = mismatch(case, out)
                    shown = f"{problem}\n{loaded('data')}\n{case.text}\n{table_text(rows)[:1500]}" if problem else ""
                    tally.check(f"{mode} {case.text[:60]}", shown)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
