#!/usr/bin/env python3
"""Random joins, memberships, appends and unpivots over random tables of all types, with missing keys, duplicates and
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
MARK = 7_000_000_000_000_000_000
NAN = object()


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
        return [low + at for at in range(size)]
    if kind.kind == "float" and style != "any":
        return [0.0, -0.0, float("nan")] + [rng.choice([at / 4, at * 1e300, -at / 3]) for at in range(size)]
    if kind.kind == "text" and (style == "far" or size >= 2000):
        return [f"key {rng.randrange(10**9)}" for _ in range(size)]
    make = source(rng, kind.kind, rng.random() < 0.2)
    return [make() for _ in range(size)]


def random_tables(rng, number, large):
    """Two tables with the same keys, and other columns."""
    rows = [rng.choice([0, 1, 2, 3, 7, 20, 60, 300]) for _ in range(2)]
    if large:
        rows = [rng.choice([3, 5000, 40_000]), rng.choice([2000, 40_000])]
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
        for at in range(rng.randint(1, 3)):
            kind = rng.choice([INT, TEXT, FLOAT, DATE, BOOL, Type("decimal", 1)])
            make = source(rng, kind.kind, rng.random() < 0.1)
            gaps = rng.choice([0, 0, 0.3])
            columns.append(Column(f"{'lr'[side]}{at}", kind, [None if rng.random() < gaps else make() for _ in range(count)]))
        for column in columns:  # a list without values does not say its type
            if form == "list" and count and all(value is None for value in column.values):
                column.values[0] = source(rng, column.type.kind, False)()
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


def asof(left, right, left_names, right_names, prefix):
    """Each row of the left with the latest of the right that is not after it, the last of equal ones."""
    groups = {}
    for at, (key, time) in enumerate(zip(right.keys(right_names[:-1]), right.columns[right_names[-1]][1])):
        if key is not None and time is not None:
            groups.setdefault(key, []).append((time, at))
    for group in groups.values():
        group.sort()
    others = []
    for key, time in zip(left.keys(left_names[:-1]), left.columns[left_names[-1]][1]):
        group = groups.get(key, []) if time is not None else []
        count = bisect.bisect_right(group, time, key=lambda each: each[0]) if group else 0
        others.append(group[count - 1][1] if count else None)
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
        return f"{text} | {stage}", lambda: asof(relation, other, names, right_names, prefix)
    return f"{text} | {stage}", lambda: join(relation, other, kind, names, right_names, prefix)


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
    parser.add_argument("--modes", default=",".join({**harness.MODES, "host-unfused": [], "host-kept": []}))
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
