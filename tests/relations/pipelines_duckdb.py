#!/usr/bin/env python3
"""Random pipelines of joins, memberships, appends, pivots, groups and stages within groups, over random tables with missing
keys and duplicates: each is written as rql and as SQL, and rql's rows, in their order, are compared with DuckDB's.

    pipelines_duckdb.py [--count N] [--seed SEED] [--modes M,...] [--device-share F]

Needs Python with duckdb. Prints its seed, which makes the same pipelines again. Rows keep their order in SQL by a column `o`.
Floats are small multiples of 1/4, so that DuckDB's sums of them are exact too.
"""

import argparse
import csv
import io
import os
import random
import sys
import time

import duckdb

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402

CASES = 40  # of one set of tables
MOST_ROWS = 200_000  # of an answer
MARK = "next case"
MISSING = "\\N"
WORDS = ["a", "bb", "b", "C", "é", "", "zz"]
TYPES = {"int": "i64", "float": "f64", "text": "text", "date": "date"}
SQL_TYPES = {"int": "bigint", "float": "double", "text": "varchar", "date": "date"}


# --- tables -----------------------------------------------------------------------------------------------------------


def random_table(rng, at, large):
    """Columns k (int), g (text), d (date), t (int, ascending, none missing), v, w (int), f (float): {name: (kind, values)}."""
    rows = rng.choice([0, 1, 2, 3, 8, 25, 40]) if not large else rng.choice([3000, 20_000])
    keys = rng.choice([1, 3, 10, 30]) if not large else rng.choice([2000, 10**9])
    far = 1 if large else rng.choice([1, 1, 10**10])
    gaps = rng.choice([0, 0, 0.2])

    def column(make):
        return [None if rng.random() < gaps else make() for _ in range(rows)]

    times = sorted(rng.randrange(max(1, rows)) for _ in range(rows))
    return {
        "k": ("int", column(lambda: rng.randrange(keys) * far)),
        "g": ("text", column(lambda: rng.choice(WORDS) if not large else f"key {rng.randrange(keys)}")),
        "d": ("date", column(lambda: rng.randrange(5))),
        "t": ("int", times),
        f"v{at}": ("int", column(lambda: rng.randint(-20, 20))),
        f"w{at}": ("int", [rng.randint(0, 9) for _ in range(rows)]),
        f"f{at}": ("float", column(lambda: rng.randint(-40, 40) / 4)),
    }


def cell(kind, value):
    if value is None:
        return ""
    if kind == "date":
        return f"2024-01-{value + 1:02}"
    return f'"{value}"' if kind == "text" else str(value)


def csv_text(table):
    columns = [[cell(kind, value) for value in values] for kind, values in table.values()]
    return "".join(",".join(row) + "\n" for row in [list(table), *zip(*columns)])


# --- a relation in both languages -------------------------------------------------------------------------------------


class Relation:
    """A pipeline so far: its text, its columns, and the SQL query (a subquery with the column o) that gives its rows."""

    def __init__(self, text, sql, columns, timed):
        self.text, self.sql, self.columns = text, sql, columns
        self.timed = timed  # t is ascending

    def stage(self, text, sql, columns=None, timed=None):
        return Relation(
            f"{self.text} | {text}",
            f"({sql})",
            self.columns if columns is None else columns,
            self.timed if timed is None else timed,
        )

    def named(self):
        return self.text if "|" not in self.text else f"({self.text})"

    def of_kind(self, *kinds):
        return [name for name, kind in self.columns.items() if kind in kinds]


def listed(names, prefix=""):
    return ", ".join(prefix + name for name in names)


def literal(rng, kind):
    """A constant in both languages."""
    if kind == "text":
        word = rng.choice(WORDS)
        return f'"{word}"', f"'{word}'"
    if kind == "date":
        day = rng.randrange(5)
        return f"2024-01-{day + 1:02}", f"date '2024-01-{day + 1:02}'"
    number = rng.randint(-5, 12) if kind == "int" else rng.randint(-12, 12) / 4
    return str(number), str(number)


def condition(rng, relation):
    name = rng.choice(list(relation.columns))
    rql, sql = literal(rng, relation.columns[name])
    sign = rng.choice(["<", ">=", "==", "!="])
    return f"{name} {sign} {rql}", f"{name} {'=' if sign == '==' else '<>' if sign == '!=' else sign} {sql}"


def missing_last(name, down=False):
    return f"{name} {'desc' if down else 'asc'} nulls last"


# --- aggregates and windows: text, SQL, kind --------------------------------------------------------------------------


def aggregate(rng, relation):
    """Of the rows of a group, in the order o."""
    word = rng.choice(
        "count count sum sum mean min max median first last distinct any all stddev var argmin argmax quantile wmean".split()
    )
    numbers = relation.of_kind("int", "float")
    if word == "count" and rng.random() < 0.4 or not numbers:
        return "count()", "count(*)", "int"
    name = rng.choice(numbers if word in ("sum", "mean", "median", "stddev", "var", "quantile") else list(relation.columns))
    kind = relation.columns[name]
    if word in ("any", "all"):
        rql, sql = condition(rng, relation)
        made = f"bool_{'or' if word == 'any' else 'and'}({sql})"
        return f"int({word}({rql}))", f"coalesce({made}, {'false' if word == 'any' else 'true'})::int", "int"
    if word == "count" and rng.random() < 0.4:
        rql, sql = condition(rng, relation)
        return f"count({rql})", f"count(*) filter (where {sql})", "int"
    if word in ("count", "distinct"):
        return f"{word}({name})", f"count({'distinct ' if word == 'distinct' else ''}{name})", "int"
    if word == "sum":
        return f"sum({name})", f"coalesce(sum({name}), 0)", kind
    if word == "quantile":
        return f"quantile(0.25, {name})", f"quantile_cont({name}::double, 0.25)", "float"
    if word == "median":
        return f"median({name})", f"quantile_cont({name}::double, 0.5)", "float"
    if word == "mean":
        return f"mean({name})", f"avg({name})", "float"
    if word in ("stddev", "var"):
        return f"{word}({name})", f"{'stddev_samp' if word == 'stddev' else 'var_samp'}({name})", "float"
    if word in ("first", "last"):
        return f"{word}({name})", f"{word}({name} order by o) filter (where {name} is not null)", kind
    if word in ("argmin", "argmax"):
        other = rng.choice(list(relation.columns))
        order = f"{missing_last(name, word == 'argmax')}, o"
        return f"{word}({name}, {other})", f"first({other} order by {order}) filter (where {name} is not null)", relation.columns[other]
    if word == "wmean":
        a, b = rng.choice(numbers), rng.choice(numbers)
        both = f"filter (where {a} is not null and {b} is not null)"
        return f"wmean({a}, abs({b}) + 1)", f"sum({a} * (abs({b}) + 1)::double) {both} / sum(abs({b}) + 1) {both}", "float"
    return f"{word}({name})", f"{word}({name})", kind


def edge(distance, is_last):
    if distance is None:
        return f"unbounded {'following' if is_last else 'preceding'}"
    return "current row" if distance == 0 else f"{abs(distance)} {'following' if distance > 0 else 'preceding'}"


def window(rng, relation, partition):
    """An aggregate of the rows around each row, within the rows with equal `partition`."""
    first, last = sorted(rng.choice([0, 0, 1, -1, 2, -3, 7, -19]) for _ in range(2))
    first, last = rng.choice([(None, 0), (None, 0), (None, None), (0, None), (first, last), (first, last), (None, last)])
    over = f"{'' if first is None else first}..{'' if last is None else last}"
    rows = "rows"
    order = "o"
    if relation.timed and "t" in relation.columns and rng.random() < 0.3:
        over, rows, order = f"{over} of t", "range", "t"
    frame = f"over ({partition} order by {order} {rows} between {edge(first, False)} and {edge(last, True)})"
    numbers = relation.of_kind("int", "float")
    word = rng.choice(["sum", "mean", "min", "max", "count", "first", "last", "all"])
    if word == "all" or not numbers:
        return f"count() over {over}", f"count(*) {frame}", "int"
    name = rng.choice(numbers)
    kind = relation.columns[name]
    if word in ("first", "last"):
        if rows == "range":  # rows of equal t have no order in SQL
            return f"count({name}) over {over}", f"count({name}) {frame}", "int"
        return f"{word}({name}) over {over}", f"{word}_value({name} ignore nulls) {frame}", kind
    sql = {"sum": f"coalesce(sum({name}) {frame}, 0)", "mean": f"avg({name}) {frame}"}.get(word, f"{word}({name}) {frame}")
    return f"{word}({name}) over {over}", sql, {"mean": "float", "count": "int"}.get(word, kind)


def value(rng, relation, partition):
    """An expression of rows at hand."""
    choice = rng.random()
    name = rng.choice(list(relation.columns))
    kind = relation.columns[name]
    numbers = relation.of_kind("int", "float")
    whole = f"over ({partition})"
    if choice < 0.5:
        return window(rng, relation, partition)
    if choice < 0.65:
        distance = rng.choice([-1, 1, -2, 5])
        function = "lag" if distance < 0 else "lead"
        return f"at({name}, {distance})", f"{function}({name}, {abs(distance)}) over ({partition} order by o)", kind
    if choice < 0.8:
        down, dense = rng.random() < 0.5, rng.random() < 0.5
        text = f"rank({name}{', desc' if down else ''}{', dense' if dense else ''})"
        function = "dense_rank" if dense else "rank"
        sql = f"{function}() over ({partition} order by {missing_last(name, down)})"
        return text, f"case when {name} is not null then {sql} end", "int"
    if choice < 0.9 and numbers:
        number = rng.choice(numbers)
        return f"{number} - mean({number})", f"{number} - avg({number}) {whole}", "float"
    if choice < 0.95:
        return "row", f"row_number() over ({partition} order by o) - 1", "int"
    return f"count({name})", f"count({name}) {whole}", "int"


# --- stages -----------------------------------------------------------------------------------------------------------


def select(rng, relation):
    rql, sql = condition(rng, relation)
    keep = rng.random() < 0.6
    text = f"{'select' if keep else 'reject'} {rql}"
    return relation.stage(text, f"select * from {relation.sql} where ({sql}) is {'' if keep else 'not '}true")


def derive(rng, relation):
    numbers = relation.of_kind("int")
    if not numbers:
        return relation
    a, b, name = rng.choice(numbers), rng.choice(numbers), rng.choice(["x", "y", numbers[0]])
    if name in ("k", "t"):
        name = "x"
    columns = {**relation.columns, name: "int"}
    made = ", ".join(each if each != name else f"{a} % 100 + {b} % 7 as {name}" for each in columns)
    return relation.stage(f"derive {name} = {a} % 100 + {b} % 7", f"select {made}, o from {relation.sql}", columns)


def derive_value(rng, relation, keys=()):
    partition = f"partition by {listed(keys)}" if keys else ""
    rql, sql, kind = value(rng, relation, partition)
    name = rng.choice(["x", "y", "z"])
    columns = {**relation.columns, name: kind}
    made = ", ".join(each if each != name else f"{sql} as {name}" for each in columns)
    return f"derive {name} = {rql}", f"select {made}, o from {relation.sql}", columns


def derive_window(rng, relation):
    return relation.stage(*derive_value(rng, relation))


def per(rng, relation):
    keys = [key for key in ("k", "g", "d") if key in relation.columns]
    if not keys:
        return derive_window(rng, relation)
    keys = rng.sample(keys, rng.randint(1, min(2, len(keys))))
    partition = f"partition by {listed(keys)}"
    texts, made = [], Relation("", relation.sql, relation.columns, relation.timed)
    for _ in range(rng.choice([1, 1, 2])):
        choice = rng.random()
        if choice < 0.45:
            text, sql, columns = derive_value(rng, made, keys)
            made = Relation("", f"({sql})", columns, made.timed)
        elif choice < 0.6:
            others = made.of_kind("int", "float")
            name = rng.choice(others) if others else keys[0]
            if not others:
                continue
            text = f"select {name} >= mean({name})"
            sql = f"select * exclude (m) from (select *, {name} >= avg({name}) over ({partition}) as m from {made.sql}) where m"
            made = Relation("", f"({sql})", made.columns, made.timed)
        elif choice < 0.8:
            count, word = rng.choice([0, 1, 1, 2, 5]), rng.choice(["take", "skip", "tail"])
            order = "o desc" if word == "tail" else "o"
            sql = f"select * exclude (n) from (select *, row_number() over ({partition} order by {order}) as n from {made.sql})"
            sql += f" where n {'>' if word == 'skip' else '<='} {count}"
            text = f"{word} {count}"
            made = Relation("", f"({sql})", made.columns, made.timed)
        else:
            count, name = rng.choice([1, 2, 3]), rng.choice(list(made.columns))
            inside = f"row_number() over ({partition} order by {missing_last(name, True)}, o)"
            sql = f"select *, {inside} as n from {made.sql}"
            order = ", ".join(missing_last(key) for key in keys)
            sql = f"select * exclude (n, o), row_number() over (order by {order}, n) as o from ({sql}) where n <= {count}"
            text = f"top {count} by {name}"
            made = Relation("", f"({sql})", made.columns, False)
        texts.append(text)
    if not texts:
        return relation
    body = texts[0] if len(texts) == 1 and rng.random() < 0.7 else f"({' | '.join(texts)})"
    return relation.stage(f"per {listed(keys)}: {body}", made.sql[1:-1], made.columns, made.timed)


def group(rng, relation):
    keys = [key for key in ("k", "g", "d") if key in relation.columns]
    keys = rng.sample(keys, rng.randint(0, min(2, len(keys))))
    made = [(f"a{at}", *aggregate(rng, relation)) for at in range(rng.choice([1, 2, 3]))]
    text = f"group {listed(keys)}{' ' if not keys else ''}: " + ", ".join(f"{rql} as {name}" for name, rql, _, _ in made)
    columns = {**{key: relation.columns[key] for key in keys}, **{name: kind for name, _, _, kind in made}}
    values = ", ".join(f"{sql} as {name}" for name, _, sql, _ in made)
    order = ", ".join(missing_last(key) for key in keys)
    if not keys:
        return relation.stage(text, f"select {values}, 0 as o from {relation.sql}", columns, False)
    sql = f"select {listed(keys)}, {values} from {relation.sql} group by {listed(keys)}"
    return relation.stage(text, f"select *, row_number() over (order by {order}) as o from ({sql})", columns, False)


def pivot(rng, relation):
    if "g" not in relation.columns or "k" not in relation.columns or not relation.of_kind("int"):
        return group(rng, relation)
    number = rng.choice(relation.of_kind("int"))
    words = rng.sample(["a", "b", "C", "zz"], rng.randint(1, 3))
    text = f"group k: sum({number}) across g in [{', '.join(chr(34) + word + chr(34) for word in words)}]"
    values = ", ".join(f"coalesce(sum({number}) filter (where g = '{word}'), 0) as {word}" for word in words)
    sql = f"select k, {values} from {relation.sql} group by k"
    columns = {"k": relation.columns["k"], **{word: "int" for word in words}}
    return relation.stage(text, f"select *, row_number() over (order by {missing_last('k')}) as o from ({sql})", columns, False)


def sort(rng, relation):
    names = rng.sample(list(relation.columns), min(len(relation.columns), rng.choice([1, 2])))
    downs = [rng.random() < 0.4 for _ in names]
    text = ", ".join(f"{name} desc" if down else name for name, down in zip(names, downs))
    order = ", ".join(missing_last(name, down) for name, down in zip(names, downs))
    sql = f"select * exclude (o), row_number() over (order by {order}, o) as o from {relation.sql}"
    if rng.random() < 0.3:
        count = rng.choice([0, 1, 4])
        order = missing_last(names[0], True)
        sql = f"select * exclude (o), row_number() over (order by {order}, o) as o from {relation.sql} order by {order}, o limit {count}"
        return relation.stage(f"top {count} by {names[0]}", sql, timed=False)
    return relation.stage(f"sort {text}", sql, timed=False)


def some_rows(rng, relation):
    count = rng.choice([0, 1, 5, 20])
    word = rng.choice(["take", "skip", "tail", "reverse", "distinct"])
    if word == "reverse":
        return relation.stage(word, f"select * exclude (o), -o as o from {relation.sql}", timed=False)
    if word == "distinct":
        names = listed(relation.columns)
        return relation.stage(word, f"select {names}, min(o) as o from {relation.sql} group by {names}")
    order = {"take": f"o limit {count}", "skip": f"o offset {count}", "tail": f"o desc limit {count}"}[word]
    return relation.stage(f"{word} {count}", f"select * from {relation.sql} order by {order}")


def unpivot(rng, relation):
    names = rng.sample(relation.of_kind("int"), min(2, len(relation.of_kind("int"))))
    if not names or "key" in relation.columns:
        return relation
    rest = [name for name in relation.columns if name not in names]
    parts = [
        f"select {listed(rest)}{', ' if rest else ''}'{name}' as key, {name} as val, o * 2 + {at} as o from {relation.sql}"
        for at, name in enumerate(names)
    ]
    columns = {**{name: relation.columns[name] for name in rest}, "key": "text", "val": "int"}
    return relation.stage(f"unpivot {listed(names)} as key, val", " union all ".join(parts), columns, False)


def right_side(rng, tables):
    """Another relation, some rows of a table or one row for each of its keys."""
    relation = source(rng, tables)
    choice = rng.random()
    if choice < 0.3:
        key = rng.choice(["k", "g"])
        sql = f"select * exclude (n) from (select *, row_number() over (partition by {key} order by o) as n from {relation.sql})"
        return relation.stage(f"per {key}: take 1", f"{sql} where n = 1"), [key]
    if choice < 0.5:
        return select(rng, relation), None
    return relation, None


def join(rng, relation, tables):
    keys = [key for key in ("k", "g", "d") if key in relation.columns]
    if not keys:
        return relation
    right, distinct = right_side(rng, tables)
    keys = rng.sample(keys, rng.choice([1, 1, min(2, len(keys))]))
    kinds = ["join", "left join", "semi join", "anti join", "full join", "asof join"]
    if distinct and distinct[0] in relation.columns:
        keys, kinds = distinct, [*kinds, "lookup", "lookup", "lookup"]
    kind = rng.choice(kinds)
    if kind == "asof join" and "t" not in relation.columns:
        kind = "join"
    if len(keys) > 1 and rng.random() < 0.4 and kind != "asof join":
        keys = keys[:1]
    prefix = f"p{relation.text.count('join') + relation.text.count('lookup')}"
    all_keys = [*keys, "t"] if kind == "asof join" else keys
    others = [name for name in right.columns if name not in all_keys]
    text = f"{kind} {right.named()} as {prefix} on {listed(all_keys)}"
    equal = " and ".join(f"l.{key} = r.{key}" for key in keys)
    left_sql, right_sql = f"{relation.sql} l", f"{right.sql} r"
    if kind in ("semi join", "anti join"):
        exists = f"{'' if kind == 'semi join' else 'not '}exists (select 1 from {right_sql} where {equal})"
        text = f"{kind} {right.named()} on {listed(keys)}"
        return relation.stage(text, f"select * from {left_sql} where {exists}")
    columns = {**relation.columns, **{f"{prefix}_{name}": right.columns[name] for name in others}}
    theirs = "".join(f", r.{name} as {prefix}_{name}" for name in others)
    if kind == "asof join":
        order = "row_number() over (partition by l.o order by r.t desc nulls last, r.o desc)"
        sql = f"select l.*{theirs}, {order} as n from {left_sql} left join {right_sql} on {equal} and r.t <= l.t"
        return relation.stage(text, f"select * exclude (n) from ({sql}) where n = 1", columns)
    how = {"join": "join", "left join": "left join", "lookup": "left join", "full join": "full join"}[kind]
    ours = ", ".join(
        f"coalesce(l.{name}, r.{name}) as {name}" if name in keys and kind == "full join" else f"l.{name}"
        for name in relation.columns
    )
    order = "row_number() over (order by l.o nulls last, r.o nulls last) as o"
    made = f"select {ours}{theirs}, {order} from {left_sql} {how} {right_sql} on {equal}"
    return relation.stage(text, made, columns, relation.timed and kind != "full join")


def member(rng, relation, tables):
    keys = [key for key in ("k", "g", "d") if key in relation.columns]
    if not keys:
        return relation
    key, (right, _) = rng.choice(keys), right_side(rng, tables)
    negated = rng.random() < 0.5
    text = f"select {key} {'not ' if negated else ''}in ({right.text} | pick {key})"
    values = f"select {key} from {right.sql} where {key} is not null"
    return relation.stage(text, f"select * from {relation.sql} where {key} {'not ' if negated else ''}in ({values})"
                          + (f" and {key} is not null" if negated else ""))


def append(rng, relation, tables):
    right, _ = right_side(rng, tables)
    columns = dict(relation.columns)
    if any(columns.get(name, kind) != kind for name, kind in right.columns.items()):
        return relation
    columns.update({name: kind for name, kind in right.columns.items() if name not in columns})
    parts = []
    for side, each in enumerate((relation, right)):
        names = ", ".join(name if name in each.columns else f"null::{SQL_TYPES[kind]} as {name}" for name, kind in columns.items())
        parts.append(f"select {names}, {side} as side, o from {each.sql}")
    sql = f"select * exclude (side, o), row_number() over (order by side, o) as o from ({' union all '.join(parts)})"
    return relation.stage(f"append {right.named()}", sql, columns, False)


def source(rng, tables):
    name = rng.choice(list(tables))
    return Relation(name, name, {column: kind for column, (kind, _) in tables[name].items()}, True)


SINGLE = [select, select, derive, derive_window, derive_window, per, per, per, group, group, pivot, sort, some_rows, unpivot]
SEVERAL = [join, join, join, member, append]


class Case:
    """A pipeline in both languages; `rows` are DuckDB's, with dates as days."""

    def __init__(self, relation):
        self.text, self.columns, self.rows = relation.text, relation.columns, None
        names = ", ".join(
            f"({name} - date '1970-01-01')" if kind == "date" else name for name, kind in relation.columns.items()
        )
        self.sql = f"select {names} from {relation.sql} order by o"


def random_case(rng, tables):
    relation, joins = source(rng, tables), 0
    for _ in range(rng.choice([1, 2, 2, 3, 3, 4])):
        if rng.random() < 0.4 and joins < 2:
            relation = rng.choice(SEVERAL)(rng, relation, tables)
            joins += 1
        else:
            relation = rng.choice(SINGLE)(rng, relation)
    return Case(relation)


# --- comparing --------------------------------------------------------------------------------------------------------


def same(kind, expected, text):
    if expected is None or text == "":
        # A text of length 0 and a missing one are both written as nothing: told apart by quotes, which csv drops.
        return (expected is None or expected == "") and text == ""
    if kind == "float":
        got = float(text)
        return got == expected or abs(got - expected) <= 1e-11 * max(1.0, abs(expected)) or (got != got and expected != expected)
    if kind == "date":
        return text == str(EPOCH_DATES.get(expected, expected))
    return text == str(int(expected) if isinstance(expected, bool) else expected)


EPOCH_DATES = {19723 + day: f"2024-01-{day + 1:02}" for day in range(31)}


def mismatch(case, out):
    got = list(csv.reader(io.StringIO(out)))
    if not got or got[0] != list(case.columns):
        return f"expected columns {list(case.columns)}, got {out[:300]!r}"
    if len(got) - 1 != len(case.rows):
        return f"expected {len(case.rows)} rows, got {len(got) - 1}"
    for at, (row, fields) in enumerate(zip(case.rows, got[1:])):
        fields = fields or [""]
        for (name, kind), expected, text in zip(case.columns.items(), row, fields):
            if not same(kind, expected, text):
                return f"row {at}, `{name}` ({kind}): expected {expected!r}, got {text!r}"
    return ""


def definitions(tables):
    return [
        f"let {name} = load {name}.csv " + ", ".join(f"{column} {TYPES[kind]}" for column, (kind, _) in table.items())
        for name, table in tables.items()
    ]


def outputs(sandbox, tables, cases, options):
    """What each case prints or, where it failed, its error."""
    first = definitions(tables)
    lines = list(first)
    for case in cases:
        lines += [f'"{MARK}"', case.text]
    sandbox.write("cases.rql", ("\n".join(lines) + "\n").encode())
    result = harness.run([*options, "--keep-going", "--format", "csv", "cases.rql"], sandbox.here, sandbox.home, timeout=900)
    outs = result.out.decode("utf-8", "replace").split(f"{MARK}\n")[1:]
    errors = {}
    for part in result.err.decode("utf-8", "replace").split("cases.rql:")[1:]:
        errors.setdefault(int(part.split(":")[0]), part)
    for number in range(len(cases)):
        line = len(first) + 2 + 2 * number
        yield errors.get(line) if "error" in errors.get(line, "") else outs[number] if number < len(outs) else "the process ended"


def create(connection, folder, name, table):
    """The table in DuckDB, with the column o. In its file \\N is missing and an empty cell an empty text."""
    columns = ", ".join(f"{column} {SQL_TYPES[kind]}" for column, (kind, _) in table.items())
    connection.execute(f"create table {name} ({columns}, o bigint)")
    path = os.path.join(folder, f"{name}.sql.csv")
    cells = [[MISSING if v is None else cell(kind, v).strip('"') for v in values] for kind, values in table.values()]
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([*row, at] for at, row in enumerate(zip(*cells)))
    if cells[0]:
        connection.execute(f"copy {name} from '{path}' (header false, nullstr '{MISSING}')")


def random_cases(rng, connection, tables, count):
    cases = []
    while len(cases) < count:
        case = random_case(rng, tables)
        case.rows = connection.execute(case.sql).fetchmany(MOST_ROWS + 1)
        if len(case.rows) <= MOST_ROWS:
            cases.append(case)
    return cases


def test_batch(tally, rng, options, modes):
    """Some pipelines over three random tables, in all modes; returns their number."""
    large = rng.random() < options.large_share
    with harness.Sandbox() as sandbox, duckdb.connect() as connection:
        connection.execute("set threads = 1")
        tables = {f"t{at}": random_table(rng, at, large) for at in range(3)}
        for name, table in tables.items():
            sandbox.write(f"{name}.csv", csv_text(table).encode())
            create(connection, sandbox.here, name, table)
        cases = random_cases(rng, connection, tables, 5 if large else CASES)
        for mode in modes:
            # On a device each is a program to build.
            chosen = cases if "host" in mode else [case for case in cases if rng.random() < options.device_share]
            for case, out in zip(chosen, outputs(sandbox, tables, chosen, harness.ALL_MODES[mode]) if chosen else []):
                problem = mismatch(case, out)
                if problem:
                    data = "\n".join(csv_text(table)[:600] for table in tables.values())
                    problem = "\n".join([problem, f"({mode})", case.text, case.sql, *definitions(tables), data])
                tally.check(f"{mode}: {case.text[:60]}", problem)
        return len(cases)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--modes", default="host,host-unfused,host-kept")
    parser.add_argument("--device-share", type=float, default=0.02)
    parser.add_argument("--large-share", type=float, default=0.05)
    parser.add_argument("--failures", type=int, default=10)
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    tally, begun, made, batch = harness.Tally("pipelines_duckdb"), time.monotonic(), 0, 0
    while made < options.count and tally.failed < options.failures:
        made += test_batch(tally, random.Random(f"{options.seed}/{batch}"), options, options.modes.split(","))
        batch += 1
    print(f"pipelines_duckdb: {made} pipelines in {time.monotonic() - begun:.0f} s; seed {options.seed}")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
