#!/usr/bin/env python3
"""Random groups over random tables with missing keys and values: every aggregate, expressions of them, groups without keys,
aggregates in expressions of rows, and those that end a pipeline. The reference computes with fractions.

    aggregates.py [--count N] [--seed SEED] [--modes M,...] [--rows N] [--forms group,rollup,cube,rows,ends]"""

import math
import os
import sys
from fractions import Fraction

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import groups  # noqa: E402
from groups import KINDS, Case, Overflow, aggregate, exact, key_order_of, same_key, sum_of_floats  # noqa: E402

TOLERANCE = 1e-9
LARGE = 1e100  # products of larger numbers overflow
END = "the value"
DEVIATIONS = ("stddev", "var", "corr")  # of fewer than two rows they are nothing


class Anything:
    """A value that the reference does not compute."""


def number_less(value):
    """NaN is the largest."""
    return (1, 0.0) if value != value else (0, value)


def quantile(share, kind, values):
    present = sorted((v for v in values if v is not None), key=number_less if kind != "text" else None)
    if not present:
        return None
    at = (len(present) - 1) * share
    low = min(math.floor(at), len(present) - 1)
    if kind == "text":
        return present[low]
    a, b = present[low], present[min(low + 1, len(present) - 1)]
    if low == len(present) - 1 or at == low or a == b:
        return float(a)
    if any(isinstance(v, float) and not math.isfinite(v) for v in (a, b)):
        return Anything
    return float(a + Fraction(at - low) * (Fraction(b) - Fraction(a)))


def moment(xs, ys):
    """n * sum(x * y) - sum(x) * sum(y) of fractions."""
    return len(xs) * sum(x * y for x, y in zip(xs, ys)) - sum(xs) * sum(ys)


def root(value):
    """The square root of a fraction as a float, of any size."""
    shift = 200
    return math.isqrt(int(value * 4**shift)) / 2**shift if value else 0.0


def spread(word, values):
    present = [v for v in values if v is not None]
    if len(present) < 2:
        return None
    if any(not abs(v) < LARGE for v in present):
        return Anything
    parts = [Fraction(v) for v in present]
    variance = moment(parts, parts) / (len(parts) * (len(parts) - 1))
    return root(variance) if word == "stddev" else float(variance)


def both(xs, ys):
    return [(float(x), float(y)) for x, y in zip(xs, ys) if x is not None and y is not None]


def correlation(xs, ys):
    """Of integers, or of floats, to which an integer beside one is converted."""
    pairs = [(x, y) for x, y in zip(xs, ys) if x is not None and y is not None]
    if any(isinstance(v, float) for pair in pairs for v in pair):
        pairs = both(xs, ys)
    if len(pairs) < 2:
        return None
    if any(not abs(v) < LARGE for pair in pairs for v in pair):
        return Anything
    x, y = [Fraction(a) for a, _ in pairs], [Fraction(b) for _, b in pairs]
    xx, yy = moment(x, x), moment(y, y)
    if not xx or not yy:
        return math.nan
    return float(moment(x, y)) / (root(xx) * root(yy)) if abs(float(xx)) > 1e-200 and abs(float(yy)) > 1e-200 else Anything


def weighted(xs, ys):
    pairs = both(xs, ys)
    if not pairs:
        return None
    if any(not abs(v) < LARGE for pair in pairs for v in pair):
        return Anything
    weight = sum(Fraction(w) for _, w in pairs)
    total = sum(Fraction(x) * Fraction(w) for x, w in pairs)
    size = sum(abs(Fraction(x) * Fraction(w)) for x, w in pairs)
    if not weight:
        return math.nan if not total else Anything
    return float(total / weight) if abs(total) * 10**5 > size else Anything


def extreme(word, values, others):
    numbers = [v for v in values if v is not None]
    if not numbers:
        return None
    real = [v for v in numbers if v == v]
    best = (min if word == "argmin" else max)(real) if real else math.nan
    for at, value in enumerate(values):
        if value is not None and (value == best or (value != value and best != best)):
            return others[at]
    return None


def most_frequent(values):
    """Of several the smallest."""
    counts, firsts = {}, {}
    for value in values:
        if value is not None:
            counts[same_key(value)] = counts.get(same_key(value), 0) + 1
            firsts.setdefault(same_key(value), value)
    if not counts:
        return None
    best = [key for key, count in counts.items() if count == max(counts.values())]
    chosen = firsts[min(best, key=key_order_of)]
    return chosen + 0.0 if isinstance(chosen, float) else chosen


def product(kind, values):
    made = Fraction(1) if kind == "int" else 1.0
    for value in values:
        if value is not None:
            made *= value
    return exact(int(made)) if kind == "int" else made


# --- a call: its text, kind, and value for the rows of a group --------------------------------------------------------


class Call:
    def __init__(self, text, kind, name, compute):
        self.text, self.kind, self.name, self.compute = text, kind, name, compute


def listed(name):
    return lambda rows: [row[name] for row in rows]


def random_call(rng):
    word = rng.choice(
        "sum count min max mean product median quantile stddev var corr wmean first last distinct mode list any all argmin"
        " argmax number".split()
    )
    name = rng.choice([n for n, k in KINDS.items() if k in ("int", "float")])
    if word in ("min", "max", "first", "last", "distinct", "mode", "count", "median", "quantile"):
        name = rng.choice(list(KINDS))
    kind, values = KINDS[name], listed(name)
    other = rng.choice(["v", "w", "f", "t"])
    if word == "count" and rng.random() < 0.4:
        return Call("count()", "int", "count", len)
    if word in ("sum", "count", "min", "max", "mean", "first", "last"):
        given = {"count": "int", "mean": "float"}.get(word, kind)
        label = word if word == "count" else f"{word}_{name}"
        return Call(f"{word}({name})", given, label, lambda rows: aggregate(word, kind, values(rows)))
    if word == "product":
        return Call("product(w)", "int", "product_w", lambda rows: product("int", [row["w"] for row in rows]))
    if word in ("median", "quantile"):
        share = 0.5 if word == "median" else rng.choice([0, 1, 0.25, 0.9, 0.99])
        text = f"median({name})" if word == "median" else f"quantile({share}, {name})"
        given = "text" if kind == "text" else "near"
        return Call(text, given, f"{word}_{name}", lambda rows: quantile(share, kind, values(rows)))
    if word in ("stddev", "var"):
        return Call(f"{word}({name})", "near", f"{word}_{name}", lambda rows: spread(word, values(rows)))
    if word in ("corr", "wmean"):
        compute = correlation if word == "corr" else weighted
        text = f"{word}({name}, {other})"
        return Call(text, "near", f"{word}_{name}", lambda rows: compute(values(rows), listed(other)(rows)))
    if word == "distinct":
        return Call(
            f"distinct({name})", "int", f"distinct_{name}",
            lambda rows: len({same_key(v) for v in values(rows) if v is not None}),
        )
    if word == "list":
        name, between = rng.choice("kgvws"), rng.choice(["/", "; ", ""])
        return Call(
            f'list({name}, "{between}")', "text", f"list_{name}",
            lambda rows: between.join(str(row[name]) for row in rows if row[name] is not None)
            if any(row[name] is not None for row in rows) else None,
        )
    if word == "mode":
        return Call(f"mode({name})", kind, f"mode_{name}", lambda rows: most_frequent(values(rows)))
    if word in ("any", "all"):
        limit = rng.randint(-3, 9)
        test = any if word == "any" else all
        return Call(
            f"{word}({name} < {limit})", "bool", word,
            lambda rows: test(v < limit for v in values(rows) if v is not None),
        )
    if word == "number":  # the row's, of the whole table
        return Call(
            f"argmax({name})", "int", f"argmax_{name}",
            lambda rows: extreme("argmax", values(rows), [row[" row"] for row in rows]),
        )
    of = rng.choice(list(KINDS))
    return Call(
        f"{word}({name}, {of})", KINDS[of], f"{word}_{name}",
        lambda rows: extreme(word, values(rows), listed(of)(rows)),
    )


def present(*values):
    return all(v is not None for v in values)


def random_expression(rng):
    """An expression of several aggregates."""
    choice = rng.randrange(4)
    if choice == 0:
        return Call(
            "max(w) - min(w)", "int", None,
            lambda rows: max(r["w"] for r in rows) - min(r["w"] for r in rows) if rows else None,
        )
    if choice == 1:
        return Call("sum(w) // (count() + 1)", "int", None, lambda rows: sum(r["w"] for r in rows) // (len(rows) + 1))
    if choice == 2:
        return Call(
            "sum(w * w) / float(count(w) + 1)", "near", None,
            lambda rows: sum(r["w"] ** 2 for r in rows) / (len(rows) + 1),
        )

    def deviations(rows):
        values = [row["f"] for row in rows if row["f"] is not None]
        if not values or any(not abs(v) < LARGE for v in values):
            return Anything if values else 0.0
        mean = sum_of_floats(values) / len(values)
        return sum_of_floats([abs(v - mean) for v in values])

    return Call("sum(abs(f - mean(f)))", "near", None, deviations)


def numbered(rows):
    return [{**row, " row": at} for at, row in enumerate(rows)]


KEYS = [[], [], ["k"], ["k"], ["g"], ["k", "g"], ["g", "k"], ["w"], ["f"], ["s", "w"], ["v"], ["k", "g", "f", "t"]]


def random_group(rng, name, rows):
    keys = rng.choice(KEYS)
    calls, names = [], set(keys)
    for _ in range(rng.choice([1, 1, 2, 3, 5])):
        call = random_expression(rng) if rng.random() < 0.2 else random_call(rng)
        call.shown = call.text
        if call.name is None or call.name in names or rng.random() < 0.2:
            call.name = f"c{len(names)}"
            call.shown = f"{call.text} as {call.name}"
        names.add(call.name)
        calls.append(call)
    made = {} if keys else {(): []}
    for row in numbered(rows):
        made.setdefault(tuple(same_key(row[key]) for key in keys), []).append(row)
    columns = {key: KINDS[key] for key in keys}
    columns.update({call.name: call.kind for call in calls})
    try:
        result = []
        for key in sorted(made, key=lambda key: [key_order_of(v) for v in key]):
            group = made[key]
            row = {k: group[0][k] for k in keys}
            row.update({call.name: call.compute(group) for call in calls})
            result.append(row)
    except Overflow:
        result = None
    keys_text = ", ".join(keys)
    return Case(name, [f"group {keys_text}: {', '.join(call.shown for call in calls)}"], result, columns)


ALL = object()  # in place of a key: the row is of all its values


def random_rollup(rng, name, rows, cube=False):
    """Groups with subtotals, which follow the groups of their key: by the first keys, or by all sets of them."""
    keys = rng.choice([["k"], ["g"], ["k", "g"], ["g", "k"], ["s", "w"], ["f"], ["k", "g", "s"]])
    calls, names = [], set(keys)
    for _ in range(rng.choice([1, 1, 2, 3])):
        call = random_expression(rng) if rng.random() < 0.2 else random_call(rng)
        call.name = f"c{len(names)}x"
        names.add(call.name)
        calls.append(call)
    whole, last = (1 << len(keys)) - 1, "keys" if cube else "level"
    sets = range(whole + 1) if cube else [whole >> drop << drop for drop in range(len(keys) + 1)]
    has = [[bool(digits >> (len(keys) - 1 - i) & 1) for i in range(len(keys))] for digits in sets]
    made = {(ALL,) * len(keys): []}
    for row in numbered(rows):
        for which in has:
            made.setdefault(tuple(same_key(row[key]) if of else ALL for key, of in zip(keys, which)), []).append(row)

    def place(key):
        """A subtotal is behind the groups that it is of."""
        return [(1, (0, 0)) if part is ALL else (0, key_order_of(part)) for part in key]

    columns = {**{key: KINDS[key] for key in keys}, **{call.name: call.kind for call in calls}, last: "int"}
    try:
        result = []
        for key in sorted(made, key=place):
            group = made[key]
            row = {k: None if key[i] is ALL else group[0][k] for i, k in enumerate(keys)}
            row.update({call.name: call.compute(group) for call in calls})
            digits = sum((part is not ALL) << (len(keys) - 1 - i) for i, part in enumerate(key))
            result.append({**row, last: digits if cube else sum(part is not ALL for part in key)})
    except Overflow:
        result = None
    shown = ", ".join(f"{call.text} as {call.name}" for call in calls)
    return Case(name, [f"group {', '.join(keys)}: {shown} {'cube' if cube else 'rollup'}"], result, columns)


def random_cube(rng, name, rows):
    return random_rollup(rng, name, rows, cube=True)


def random_rows(rng, name, rows):
    """An aggregate of all rows beside each."""
    call = random_call(rng)
    rows = numbered(rows)
    columns = {"t": "int", "a": call.kind}
    try:
        value = call.compute(rows) if rows else None
        result = [{"t": row["t"], "a": value} for row in rows]
    except Overflow:
        result = None
    return Case(name, [f"map t, {call.text} as a"], result, columns)


def random_end(rng, name, rows):
    """The aggregate as a stage that ends the pipeline, on rows that are filtered first."""
    call = random_call(rng)
    while not call.text.startswith(("median", "quantile", "stddev", "var", "corr", "wmean", "mode", "list", "arg")):
        call = random_call(rng)
    limit = rng.randint(0, 9)
    rows = numbered([row for row in rows if row["w"] < limit])
    value = call.compute(rows) if rows else None
    word, arguments = call.text[:-1].split("(", 1)
    stages = [f"select w < {limit}", f"{word} {arguments}"]
    if value is None:
        return Case(name, stages, "needs two rows" if word in DEVIATIONS else "of no rows", {})
    return Case(name, stages, [{END: value}], {END: call.kind})


def mismatch(case, out):
    if isinstance(case.rows, str):
        return "" if case.rows in out else f"expected an error: {case.rows}; got {out[:200]!r}"
    near = [name for name, kind in case.columns.items() if kind == "near"]
    anything = case.rows and any(row[name] is Anything for row in case.rows for name in case.columns)
    if END in case.columns and case.rows:
        out = f"{END}\n{out}"  # a single value has no header
    if not near or case.rows is None:
        return EXACTLY(case, out)
    lines = out.split("\n")
    fields = [line.split(",") for line in lines[1:]]
    if anything and "error" in out.split("\n")[0]:
        return f"error: {out[:200]!r}"
    for row, texts in zip(case.rows, fields):
        for at, name in enumerate(case.columns):
            if name not in near or at >= len(texts):
                continue
            value, text = row[name], texts[at]
            if value is Anything:
                texts[at] = ""
            elif value is not None and text:
                number = float(text)
                same = number == value or (number != number and value != value)
                if same or abs(number - value) <= TOLERANCE * max(abs(value), 1e-300):
                    texts[at] = repr(value)
    rows = [{name: None if row[name] is Anything else row[name] for name in case.columns} for row in case.rows]
    kinds = {name: "float" if name in near else kind for name, kind in case.columns.items()}
    exactly = Case("", [], rows, kinds)
    return EXACTLY(exactly, "\n".join([lines[0]] + [",".join(texts) for texts in fields]))


EXACTLY = groups.mismatch
groups.mismatch = mismatch
groups.FORMS = {"group": random_group, "rollup": random_rollup, "cube": random_cube, "rows": random_rows, "ends": random_end}

if __name__ == "__main__":
    sys.exit(groups.main())
