#!/usr/bin/env python3
"""Random joins (by equal keys, inequalities, the nearest time, and of all rows), memberships, appends and unpivots over random tables of all types, with missing keys, duplicates and
keys near and far: compares rql with a reference in Python, row by row.

    joins.py [--count N] [--seed SEED] [--modes M,...] [--device-share F] [--large-share F]

Prints its seed, which makes the
same pipelines again. Many pipelines run in one process; a mismatch prints the statements that show it again.
"""

import argparse
import bisect
import os
import random
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "typed")]
import harness  # noqa: E402
from reference import Answer  # noqa: E402
from tables import Column, Table  # noqa: E402
from typed import Run, mismatch_of_answer  # noqa: E402
from values import BOOL, DATE, FLOAT, INT, TEXT, TIMESTAMP, Type, source  # noqa: E402

CASES = 12  # of one pair of tables
BATCH = 10  # pairs of one process
PAIRS = 400_000  # rows of both sides that the reference compares, each with each
MARK = 7_000_000_000_000_000_000
NAN = object()


class Unclear(Exception):
    """Whether it fails depends on the rest of a table."""


class Failed(Exception):
    """The query is an error."""


# --- tables -----------------------------------------------------------------------------------------------------------


def key_types(rng):
    pool = [INT, INT, INT, TEXT, TEXT, DATE, TIMESTAMP, FLOAT, BOOL, Type("decimal", 2)]
    return [rng.choice(pool) for _ in range(rng.choice([1, 1, 1, 2, 3]))]


def key_pool(rng, kind, size):
    """The values from which both tables draw a key."""
    style = rng.choice(["near", "near", "far", "any"] if size < 2000 else ["near", "far"])
    if kind.kind == "timestamp" and style == "far":
        return [rng.randint(-(10**15), 10**15) for _ in range(size)]
    if kind.kind == "timestamp" and size >= 2000:
        return [at * 10**6 for at in range(size)]
    if kind.kind == "int" and style == "far":
        return [rng.randint(-(2**63), 2**63 - 1) for _ in range(size)]
    if kind.kind == "int" and style == "near":
        low = rng.choice([0, -5, 10**6, -(2**63), 2**63 - size])
        step = rng.choice([1, 1, 40, 300]) if -(2**63) < low < 2**62 else 1
        return [low + step * at for at in range(size)]
    if kind.kind == "float" and style != "any":
        return [0.0, -0.0, float("nan")] + [rng.choice([at / 4, at * 1e300, -at / 3]) for at in range(size)]
    if kind.kind == "text" and (style == "far" or size >= 2000):
        return [f"key {rng.randrange(10**9)}" for _ in range(size)]
    make = source(rng, kind.kind, rng.random() < 0.2)
    return [make() for _ in range(size)]


def comparable(value):
    return value is not None and value == value


def ends_of_intervals(rng, begins, pool):
    """A column that ends the intervals that another one begins, some of which overlap, or none do, or which have no order."""
    style = rng.choice(["any", "later", "apart", "alike"])
    values = [rng.choice(pool) for _ in begins.values]
    if style == "alike":
        values = [None if rng.random() < 0.1 else value for value in begins.values]
    if style in ("later", "apart"):
        for at, (begin, end) in enumerate(zip(begins.values, values)):
            if comparable(begin) and comparable(end) and end < begin:
                begins.values[at], values[at] = end, begin
    if style == "apart":
        edges = sorted({value for value in pool if comparable(value)})
        next_edge = dict(zip(edges, edges[1:] + edges[-1:]))
        values = [next_edge.get(value) for value in begins.values]
    return Column("e0", begins.type, values)


def random_tables(rng, number, large):
    """Two tables with the same keys, and other columns."""
    rows = [rng.choice([0, 1, 2, 3, 7, 20, 60, 300]) for _ in range(2)]
    if large:
        rows = [rng.choice([3, 5000, 40_000]), rng.choice([2000, 40_000, 140_000])]
    kinds = [rng.choice([INT, TEXT, TIMESTAMP])] if large else key_types(rng)
    size = rng.choice([max(rows) + 1, 3 * max(rows) + 1] if large else [1, 2, 5, max(rows) + 1, 3 * max(rows) + 1])
    pools = [key_pool(rng, kind, size if len(kinds) == 1 else max(1, int(size ** (1 / len(kinds))))) for kind in kinds]
    made = []
    for side, count in enumerate(rows):
        forms = ["csv", "parquet", "arrow"] if count == 0 or large else ["list", "csv", "parquet", "arrow"]
        form = rng.choice(forms)
        columns = []
        distinct = side == 1 and len(kinds) == 1 and rng.random() < 0.4
        for at, kind in enumerate(kinds):
            gaps = rng.choice([0, 0, 0.1, 0.5])
            pool = pools[at]
            if distinct:
                unique = list({same(value): value for value in pool}.values())
                rng.shuffle(unique)
                drawn = (unique + [None] * count)[:count]
            else:
                drawn = [rng.choice(pool) for _ in range(count)]
            columns.append(Column(f"k{at}", kind, [None if rng.random() < gaps else value for value in drawn]))
        if side == 1:
            columns.append(ends_of_intervals(rng, columns[0], pools[0]))
        for at in range(rng.randint(1, 3)):
            kind = rng.choice([INT, TEXT, FLOAT, DATE, BOOL, Type("decimal", 1)])
            make = source(rng, kind.kind, rng.random() < 0.1)
            gaps = rng.choice([0, 0, 0.3])
            columns.append(Column(f"{'lr'[side]}{at}", kind, [None if rng.random() < gaps else make() for _ in range(count)]))
        for column in columns:  # a list without values does not say its type
            if form == "list" and count and all(value is None for value in column.values):
                column.values[0] = source(rng, column.type.kind, False)()
        if rng.random() < 0.3:  # in the order of the keys
            keys = [column.values for column in columns[: len(kinds)]]
            order = sorted(range(count), key=lambda row: [(key[row] is None, 0 if key[row] is None else key[row]) for key in keys])
            columns = [Column(column.name, column.type, [column.values[row] for row in order]) for column in columns]
        made.append(Table(f"{'lr'[side]}{number}", columns, form))
    return made


# --- the reference ----------------------------------------------------------------------------------------------------


def same(value):
    """Equal for values that are the same key; NaN is."""
    if isinstance(value, float):
        return NAN if value != value else value + 0.0
    return value


class Relation:
    """Columns by name, in order: (type, values)."""

    def __init__(self, columns, rows):
        self.columns = columns
        self.rows = rows

    def at(self, places):
        """The rows at these places; None: missing."""
        places = list(places)
        return Relation(
            {
                name: (kind, [None if at is None else values[at] for at in places])
                for name, (kind, values) in self.columns.items()
            },
            len(places),
        )

    def keys(self, names):
        """The key of each row, None if a part is missing."""
        columns = [self.columns[name][1] for name in names]
        return [
            None if any(column[at] is None for column in columns) else tuple(same(column[at]) for column in columns)
            for at in range(self.rows)
        ]


def relation_of(table):
    return Relation({column.name: (column.type, column.values) for column in table.columns}, table.rows)


def places_of(keys):
    places = {}
    for at, key in enumerate(keys):
        if key is not None:
            places.setdefault(key, []).append(at)
    return places


def join(left, right, kind, left_names, right_names, prefix):
    """The rows of a join, in the order of the left, then of the right."""
    left_keys, right_keys = left.keys(left_names), right.keys(right_names)
    places = places_of(right_keys)
    if kind == "lookup" and any(len(each) > 1 for each in places.values()):
        raise Failed
    if kind in ("semi join", "anti join"):
        return left.at(at for at, key in enumerate(left_keys) if (key in places) == (kind == "semi join"))
    pairs = []
    for at, key in enumerate(left_keys):
        found = places.get(key, [] if kind == "join" else [None])
        pairs += [(at, other) for other in found]
    if kind == "full join":
        known = set(left_keys)
        pairs += [(None, at) for at, key in enumerate(right_keys) if key is None or key not in known]
    rows = left.at(at for at, _ in pairs)
    others = right.at(other for _, other in pairs)
    columns = dict(rows.columns)
    for left_name, right_name in zip(left_names, right_names):
        kind_of, values = columns[left_name]
        given = others.columns[right_name][1]
        columns[left_name] = (kind_of, [other if pair[0] is None else value for value, other, pair in zip(values, given, pairs)])
    for name, column in others.columns.items():
        if name not in right_names:
            columns[f"{prefix}_{name}" if prefix else name] = column
    return Relation(columns, len(pairs))


COMPARED = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def are_apart(right, keys, inequalities):
    """Whether the rows are intervals no two of which overlap among those with equal keys."""
    ops = dict((op[0], (name, op, other)) for name, op, other in inequalities)
    if len(ops) < 2 or ops["<"][0] != ops[">"][0]:
        return right.rows == 0
    closed = ops["<"][1] == "<=" and ops[">"][1] == ">="
    begins, ends = right.columns[ops[">"][2]][1], right.columns[ops["<"][2]][1]
    last = {}
    there = [at for at in range(right.rows) if keys[at] is not None and comparable(begins[at]) and comparable(ends[at])]
    for at in sorted(there, key=lambda at: begins[at]):
        if not (begins[at] <= ends[at] if closed else begins[at] < ends[at]):
            continue
        before = last.get(keys[at])
        if before is not None and not (before[0] < begins[at] if closed else before[0] <= begins[at]):
            return False
        last[keys[at]] = (ends[at],)
    return True


def compared(left, right, kind, equal, inequalities, prefix):
    """A join by equal keys, pairs of names, and by inequalities (name, operator, name): the rows of the right in the order of the
    column that is a lower bound, else of the first, then in their own. Without both of them a cross join."""
    left_keys, right_keys = left.keys([name for name, _ in equal]), right.keys([name for _, name in equal])
    places = range(right.rows)
    if inequalities:
        order = next((name for _, op, name in inequalities if op in (">", ">=")), inequalities[0][2])
        values = right.columns[order][1]
        places = sorted((at for at in places if comparable(values[at])), key=lambda at: values[at])
    if kind == "lookup" and not are_apart(right, right_keys, inequalities):
        raise Failed
    tests = [(left.columns[name][1], COMPARED[op], right.columns[other][1]) for name, op, other in inequalities]
    pairs = []
    for at in range(left.rows):
        found = [
            other
            for other in places
            if left_keys[at] is not None
            and left_keys[at] == right_keys[other]
            and all(comparable(a[at]) and comparable(b[other]) and test(a[at], b[other]) for a, test, b in tests)
        ]
        if kind in ("semi join", "anti join"):
            pairs += [(at, None)] if bool(found) == (kind == "semi join") else []
        else:
            pairs += [(at, other) for other in found or ([None] if kind in ("left join", "lookup") else [])]
    columns = dict(left.at(at for at, _ in pairs).columns)
    if kind not in ("semi join", "anti join"):
        for name, column in right.at(other for _, other in pairs).columns.items():
            if name not in [name for _, name in equal]:
                columns[f"{prefix}_{name}" if prefix else name] = column
    return Relation(columns, len(pairs))


def place_of_time(group, time, direction, within):
    """The row of these (time, row) that is next to the time, None if there is none."""
    times = [each for each, _ in group]
    before, after = bisect.bisect_right(times, time) - 1, bisect.bisect_left(times, time)
    if direction == ">":
        before = after - 1
    if direction == "<":
        after = bisect.bisect_right(times, time)
    if direction == "nearest":
        after = before + 1
        back = before >= 0 and (after == len(times) or time - times[before] <= times[after] - time)
    else:
        back = direction in ("", ">", ">=")
    at = before if back else after
    if not 0 <= at < len(times) or (within is not None and abs(times[at] - time) > within):
        return None
    return group[at][1]


def asof(left, right, left_names, right_names, prefix, direction="", within=None):
    """Each row of the left with the latest of the right that is not after it, the last of equal ones; or the first that is not
    before it, the first of equal ones; or what is closer."""
    groups = {}
    for at, (key, time) in enumerate(zip(right.keys(right_names[:-1]), right.columns[right_names[-1]][1])):
        if key is not None and time is not None:
            groups.setdefault(key, []).append((time, at))
    for group in groups.values():
        group.sort()
    others = []
    for key, time in zip(left.keys(left_names[:-1]), left.columns[left_names[-1]][1]):
        group = groups.get(key, []) if time is not None else []
        others.append(place_of_time(group, time, direction, within))
    columns = dict(left.columns)
    for name, column in right.at(others).columns.items():
        if name not in right_names:
            columns[f"{prefix}_{name}" if prefix else name] = column
    return Relation(columns, left.rows)


def wider(a, b):
    """The type that holds the values of both, or None."""
    if a == b:
        return a
    kinds = {a.kind, b.kind}
    if kinds == {"int", "float"}:
        return FLOAT
    if kinds <= {"int", "decimal"}:
        return Type("decimal", max(a.scale, b.scale))
    return None


def converted(value, kind, to):
    if value is None or kind == to:
        return value
    if to.kind == "float":
        return float(value)
    made = value * 10 ** (to.scale - kind.scale)
    if not -(2**63) <= made < 2**63:
        raise Failed
    return made


def append(first, second):
    columns = {}
    for name in [*first.columns, *(name for name in second.columns if name not in first.columns)]:
        parts = [side.columns.get(name) for side in (first, second)]
        kinds = [part[0] for part in parts if part]
        kind = kinds[0] if len(kinds) == 1 else wider(*kinds)
        if kind is None and any(part[0].kind == "text" and all(value is None for value in part[1]) for part in parts):
            raise Unclear  # a text column without any value takes the other's type
        if kind is None:
            raise Failed
        values = []
        for side, part in zip((first, second), parts):
            values += [converted(value, part[0], kind) for value in part[1]] if part else [None] * side.rows
        columns[name] = (kind, values)
    return Relation(columns, first.rows + second.rows)


def unpivot(relation, names):
    kind = relation.columns[names[0]][0]
    for name in names[1:]:
        kind = wider(kind, relation.columns[name][0])
        if kind is None:
            raise Failed
    columns = {
        name: (each, [value for value in values for _ in names])
        for name, (each, values) in relation.columns.items()
        if name not in names
    }
    columns["key"] = (TEXT, list(names) * relation.rows)
    columns["value"] = (
        kind,
        [
            converted(relation.columns[name][1][at], relation.columns[name][0], kind)
            for at in range(relation.rows)
            for name in names
        ],
    )
    return Relation(columns, relation.rows * len(names))


# --- pipelines --------------------------------------------------------------------------------------------------------


class Case:
    """A pipeline, and what it should print: an Answer, or None if it is an error."""

    def __init__(self, tables, text, relation):
        self.tables = tables
        self.text = text
        self.answer = None
        if relation is not None:
            columns = relation.columns.values()
            rows = list(zip(*(values for _, values in columns)))
            self.answer = Answer(list(relation.columns), [kind for kind, _ in columns], rows)

    def mismatch(self, out):
        if out is None:
            return "the process ended"
        if self.answer is None:
            return f"expected an error, got {out[:200]!r}" if out else ""
        return mismatch_of_answer(self.answer, out, False) if out else "expected an answer, but there is none"


def some_rows(rng, text, relation):
    """Perhaps some of the rows, so that how many there are is not known before."""
    choice = rng.random()
    if choice < 0.6:
        return text, relation
    if choice < 0.8:
        return f"{text} | select row % 3 != 1", relation.at(at for at in range(relation.rows) if at % 3 != 1)
    if choice < 0.9:
        count = rng.choice([0, 1, relation.rows // 2])
        return f"{text} | take {count}", relation.at(range(min(count, relation.rows)))
    return f"{text} | reverse", relation.at(reversed(range(relation.rows)))


def some_columns(rng, text, relation):
    """Perhaps some of the columns, so that others need not be read."""
    if rng.random() < 0.5:
        return text, relation
    names = rng.sample(list(relation.columns), rng.randint(1, len(relation.columns)))
    return f"{text} | pick {', '.join(names)}", Relation({name: relation.columns[name] for name in names}, relation.rows)


def random_join(rng, tables, left, right):
    kind = rng.choice(["join", "join", "left join", "semi join", "anti join", "full join", "lookup", "lookup"])
    text, relation = some_rows(rng, *left)
    source_text, other = some_rows(rng, *right)
    if rng.random() < 0.4 and relation.rows * other.rows <= PAIRS and "e0" in other.columns:
        return random_comparison(rng, text, relation, source_text, other)
    names = [column.name for column in tables[0].columns if column.name.startswith("k")]
    names = rng.sample(names, rng.randint(1, len(names)))
    if rng.random() < 0.15 and relation.columns[names[-1]][0].kind in ("int", "date", "timestamp", "decimal"):
        kind = "asof join"
    right_names = names
    prefix = "m" if any(name in relation.columns for name in other.columns if name not in names) else rng.choice([None, "m"])
    if rng.random() < 0.3:
        right_names = [f"other_{name}" for name in names]
        renamed = ", ".join(f"{name} as {new}" for name, new in zip(names, right_names))
        source_text += f" | rename {renamed}"
        new_names = dict(zip(names, right_names))
        other = Relation({new_names.get(name, name): column for name, column in other.columns.items()}, other.rows)
    on = ", ".join(name if name == new else f"{name} = {new}" for name, new in zip(names, right_names))
    given = source_text if "|" not in source_text else f"({source_text})"
    stage = f"{kind} {given}{f' as {prefix}' if prefix else ''} on {on}"
    if kind == "asof join":
        direction = rng.choice(["", "", "forward", "nearest", "nearest", "<", "<=", ">", ">="])
        if direction in COMPARED:
            stage = stage[: len(stage) - len(on.rpartition(", ")[2])] + f"{names[-1]} {direction} {right_names[-1]}"
        elif direction:
            stage += f" {direction}"
        within, written = random_distance(rng, relation.columns[names[-1]][0])
        return f"{text} | {stage}{written}", lambda: asof(relation, other, names, right_names, prefix, direction, within)
    return f"{text} | {stage}", lambda: join(relation, other, kind, names, right_names, prefix)


def random_distance(rng, kind):
    """A greatest distance in the unit of a type, and how it is written; none at all more often than not."""
    if rng.random() < 0.5:
        return None, ""
    number = rng.choice([0, 1, 2, 7, 1000, rng.randint(0, 10**6), rng.randint(0, 2**62)])
    if kind.kind == "timestamp":
        unit, size = rng.choice([("us", 1), ("s", 10**6), ("min", 60 * 10**6), ("d", 86_400 * 10**6)])
        number = min(number, 10**5)
        return number * size, f" within {number}{unit}"
    if kind.kind == "decimal":
        number = min(number, 10**15)
        return number, f" within {number // 10**kind.scale}.{number % 10**kind.scale:0{kind.scale}}"
    if kind.kind == "date" and rng.random() < 0.5:
        number = min(number, 10**5)
        return number, f" within {number}d"
    return number, f" within {number}"


def random_comparison(rng, text, relation, source_text, other):
    """A join by inequalities, or of all rows."""
    keys = [name for name in relation.columns if name.startswith("k")]
    kind = rng.choice(["join", "join", "join", "left join", "left join", "semi join", "anti join", "lookup"])
    equal = rng.sample(keys, rng.choice([0, 0, len(keys) - 1, len(keys)]))
    bounds = [(name, name) for name in keys] + [("k0", "e0")] * 2
    some = [(a, rng.choice(list(COMPARED)), b) for a, b in rng.sample(bounds, rng.choice([1, 2]))]
    if rng.random() < 0.6:
        some = [("k0", rng.choice([">", ">="]), "k0"), ("k0", rng.choice(["<", "<="]), "e0")]
        rng.shuffle(some)
    if rng.random() < 0.1 and relation.rows * other.rows <= PAIRS / 20:
        kind, equal, some = "cross join", [], []
    names = [name for name in other.columns if name not in equal]
    prefix = "m" if any(name in relation.columns for name in names) else rng.choice([None, "m"])
    on = equal + [f"{a} {op} {b}" for a, op, b in some]
    rng.shuffle(on)
    order = {f"{a} {op} {b}": (a, op, b) for a, op, b in some}
    some = [order[each] for each in on if each in order]
    given = source_text if "|" not in source_text else f"({source_text})"
    named = f" as {prefix}" if prefix and kind not in ("semi join", "anti join") else ""
    stage = f"{kind} {given}{named}{' on ' + ', '.join(on) if on else ''}"
    return f"{text} | {stage}", lambda: compared(relation, other, kind, [(name, name) for name in equal], some, prefix)


def random_membership(rng, tables, left, right):
    text, relation = some_rows(rng, *left)
    source_text, other = some_rows(rng, *right)
    name = rng.choice([column.name for column in tables[0].columns if column.name.startswith("k")])
    negated = rng.random() < 0.5
    members = {same(value) for value in other.columns[name][1] if value is not None}

    def kept():
        values = relation.columns[name][1]
        return relation.at(
            at for at, value in enumerate(values) if value is not None and (same(value) in members) != negated
        )

    return f"{text} | select {name} {'not ' if negated else ''}in ({source_text} | pick {name})", kept


def random_append(rng, tables, left, right):
    text, relation = some_rows(rng, *left)
    source_text, other = some_columns(rng, *some_rows(rng, *right))
    if rng.random() < 0.5:
        column = rng.choice(list(other.columns))
        to = rng.choice([name for name in [*relation.columns, column] if name == column or name not in other.columns])
        if to != column:
            source_text += f" | rename {column} as {to}"
            other = Relation({to if name == column else name: each for name, each in other.columns.items()}, other.rows)
    given = source_text if "|" not in source_text else f"({source_text})"
    return f"{text} | append {given}", lambda: append(relation, other)


def random_unpivot(rng, tables, left, right):
    text, relation = some_rows(rng, *rng.choice([left, right]))
    names = rng.sample(list(relation.columns), rng.randint(1, min(3, len(relation.columns))))
    kinds = {relation.columns[name][0] for name in names}
    if len(kinds) > 1 and rng.random() < 0.8:
        names = names[:1]
    return f"{text} | unpivot {', '.join(names)} as key, value", lambda: unpivot(relation, names)


def random_case(rng, tables):
    left, right = ((table.name, relation_of(table)) for table in tables)
    if rng.random() < 0.1:
        right = left
    make = rng.choices([random_join, random_membership, random_append, random_unpivot], [8, 2, 2, 1])[0]
    text, relation = make(rng, tables, left, right)
    try:
        text, made = some_columns(rng, *some_rows(rng, text, relation()))
    except Unclear:
        return random_case(rng, tables)
    except Failed:
        made = None
    return Case(tables, text, made)


# --- running ----------------------------------------------------------------------------------------------------------


def together(run, cases, options):
    """What each case prints, None after the process ended early."""
    lines, tables = [], None
    for number, case in enumerate(cases):
        if case.tables is not tables:
            tables = case.tables
            lines += [table.definition() for table in tables]
        lines += [case.text, str(MARK + number)]
    rest = run.script("\n".join(lines) + "\n", options).out.decode("utf-8", "replace")
    outs = []
    for number in range(len(cases)):
        out, mark, rest = rest.partition(f"{MARK + number}\n")
        outs.append(out if mark else None)
    return outs


def describe(run, case, mode, options, problem):
    lines = [*(table.definition() for table in case.tables), case.text]
    result = run.script("\n".join(lines) + "\n", options)
    text = "\n".join(line if len(line) < 3000 else line[:3000] + " ..." for line in lines)
    return f"{problem}\n{result.err.decode('utf-8', 'replace')[:1000]}\n({mode}) rql {' '.join(options)} on\n{text}"


def test_mode(run, tally, cases, mode, options, share, made):
    if "host" not in mode:  # each is a program to build
        cases = random.Random(f"{mode}/{made}").sample(cases, max(1, int(len(cases) * share)))
        cases.sort(key=lambda case: case.tables[0].name)
    for case, out in zip(cases, together(run, cases, options)):
        problem = case.mismatch(out)
        tally.check(f"{mode}", describe(run, case, mode, options, problem) if problem else "")


def main(sandbox):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--modes", default=",".join({**harness.MODES, "host-unfused": [], "host-kept": [], "host-spilled": []}))
    parser.add_argument("--device-share", type=float, default=0.02)
    parser.add_argument("--large-share", type=float, default=0.04)
    parser.add_argument("--failures", type=int, default=10)
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(10**9)
    print(f"joins: seed {seed}", flush=True)
    run, tally = Run(sandbox), harness.Tally("joins")
    begun = time.monotonic()
    made = pairs = 0
    while made < arguments.count and tally.failed < arguments.failures:
        cases = []
        for _ in range(BATCH):
            rng = random.Random(f"{seed}/{pairs}")
            tables = random_tables(rng, pairs, rng.random() < arguments.large_share)
            pairs += 1
            for table in tables:
                run.prepare(table)
            cases += [random_case(rng, tables) for _ in range(CASES)]
        made += len(cases)
        for mode in arguments.modes.split(","):
            test_mode(run, tally, cases, mode, harness.ALL_MODES[mode], arguments.device_share, made)
    failing = sum(case.answer is None for case in cases)
    print(f"joins: {made} pipelines in {time.monotonic() - begun:.0f} s, {failing} of the last {len(cases)} fail; seed {seed}")
    return tally.finish()


if __name__ == "__main__":
    harness.main_program(main)
