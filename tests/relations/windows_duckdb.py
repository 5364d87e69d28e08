#!/usr/bin/env python3
"""Random windows, over all rows and within groups, against DuckDB's window functions.

    windows_duckdb.py [--count N] [--seed SEED] [--rows N]

Needs Python with duckdb. Sums and means of floats may differ in their last digits, since DuckDB's are not exact.
"""

import argparse
import csv
import io
import math
import os
import random
import sys

import duckdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import groups  # noqa: E402
import harness  # noqa: E402

SQL_TYPES = {"text": "varchar", "i64": "bigint", "f64": "double"}
CASES = 20


def frame_of(first, last, timed):
    def edge(distance, open_end):
        if distance is None:
            return f"unbounded {open_end}"
        return f"{abs(distance)} {'preceding' if distance < 0 else 'following'}"

    unit = "range" if timed else "rows"
    order = "t" if timed else "rn"
    return f"order by {order} {unit} between {edge(first, 'preceding')} and {edge(last, 'following')}"


def random_column(rng, keys):
    """The rql and the SQL of a derived column, and its kind."""
    partition = f"partition by {', '.join(keys)} " if keys else ""
    choice = rng.random()
    if choice < 0.12:
        name, down, dense = rng.choice("kgvws"), rng.random() < 0.5, rng.random() < 0.5
        order = f"order by {name} {'desc' if down else 'asc'} nulls last"
        word = "dense_rank" if dense else "rank"
        sql = f"case when {name} is null then null else {word}() over ({partition}{order}) end"
        return f"rank({name}{', desc' if down else ''}{', dense' if dense else ''})", sql, "int"
    if choice < 0.25:
        name, distance = rng.choice("kgvwfs"), rng.choice([-1, 1, -3, 7])
        word = "lag" if distance < 0 else "lead"
        return f"at({name}, {distance})", f"{word}({name}, {abs(distance)}) over ({partition}order by rn)", groups.KINDS[name]
    if choice < 0.35:
        name, parts = rng.choice("kgvwfs"), rng.choice([1, 2, 3, 4, 10, 400])
        if rng.random() < 0.5:
            there = f"partition by {', '.join([*keys, name + ' is null'])} order by {name}, rn"
            return f"ntile({parts}, {name})", f"case when {name} is null then null else ntile({parts}) over ({there}) end", "int"
        back = rng.random() < 0.5
        over = f"over ({partition}{frame_of(0, None, False) if back else frame_of(None, 0, False)})"
        sql = f"{'first' if back else 'last'}_value({name} ignore nulls) {over}"
        return f"fill({name}{', back' if back else ''})", sql, groups.KINDS[name]
    word = rng.choice(["sum", "count", "mean", "min", "max", "first", "last", "median", "quantile", "var", "stddev", "corr", "distinct"])
    numbers = word in ("sum", "mean", "median", "quantile", "var", "stddev", "corr")
    name, other = rng.choice("vwf" if numbers else "kgvwfs"), rng.choice("vwf")
    first, last = groups.random_edges(rng)
    # Of rows with equal times DuckDB's first is any.
    timed = rng.random() < 0.3 and (first, last) != (None, None) and word not in ("first", "last")
    over = f"over ({partition}{frame_of(first, last, timed)})"
    calls = {
        "sum": f"coalesce(sum({name}) {over}, 0)",
        "count": f"count({name}) {over}",
        "mean": f"avg({name}) {over}",
        "min": f"min({name}) {over}",
        "max": f"max({name}) {over}",
        "first": f"first_value({name} ignore nulls) {over}",
        "last": f"last_value({name} ignore nulls) {over}",
        "median": f"median({name}) {over}",
        "quantile": f"quantile_cont({name}, 0.9) {over}",
        "var": f"var_samp({name}) {over}",
        "stddev": f"stddev_samp({name}) {over}",
        "corr": f"corr({name}, {other}) {over}",
        "distinct": f"count(distinct {name}) {over}",
    }
    if word in ("quantile", "corr"):
        call = f"quantile(0.9, {name})" if word == "quantile" else f"corr({name}, {other})"
    else:
        call = f"{word}({name})"
    edges = f"{'' if first is None else first}..{'' if last is None else last}{' of t' if timed else ''}"
    kind = "int" if word in ("count", "distinct") else "float" if numbers and word != "sum" else groups.KINDS[name]
    return f"{call} over {edges}", calls[word], kind


def same(kind, value, text):
    if text in ("nan", "") and (value is None or value != value):
        return True  # the correlation of one pair, or of values without a deviation
    if value is None or text == "":
        return value is None and text == ""
    if kind == "float":
        return math.isclose(float(text), float(value), rel_tol=1e-9, abs_tol=1e-9)
    return text == str(value)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--rows", type=int, default=300)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    print(f"seed {options.seed}", flush=True)
    tally = harness.Tally("windows_duckdb")
    made = 0
    while made < options.count:
        rows = groups.random_rows(rng, options.rows)
        # DuckDB sums of wide values are of another type, or of no use.
        if any(row["v"] is not None and abs(row["v"]) > 10**6 for row in rows) or not rows:
            continue
        for row in rows:
            row["f"] = row["f"] if row["f"] is None or abs(row["f"]) < 1e6 else 0.5
        connection = duckdb.connect()
        columns = ", ".join(f"{name} {SQL_TYPES[kind]}" for name, kind in groups.TYPES.items())
        connection.execute(f"create table data (rn bigint, {columns})")
        places = ", ".join("?" * (len(groups.TYPES) + 1))
        connection.executemany(
            f"insert into data values ({places})", [[n] + [row[name] for name in groups.TYPES] for n, row in enumerate(rows)]
        )
        cases = []
        for _ in range(CASES):
            keys = rng.choice([[], ["k"], ["g"], ["k", "g"], ["w"]])
            derived = [random_column(rng, keys) for _ in range(rng.choice([1, 1, 2]))]
            stage = "derive " + ", ".join(f"z{i} = {rql}" for i, (rql, _, _) in enumerate(derived))
            text = f"data | per {', '.join(keys)}: {stage}" if keys else f"data | {stage}"
            text += " | pick " + ", ".join(f"z{i}" for i in range(len(derived)))
            query = "select " + ", ".join(sql for _, sql, _ in derived) + ", rn from data order by rn"
            try:
                answers = connection.execute(query).fetchall()
            except (duckdb.OutOfRangeException, duckdb.ConversionException):  # edges beyond 64 bits
                continue
            cases.append(groups.Case(text, [], answers, [kind for _, _, kind in derived]))
            cases[-1].query = query
        made += len(cases)
        with harness.Sandbox() as sandbox:
            sandbox.write("data.csv", groups.table_text(rows).encode())
            for case, out in zip(cases, groups.run_cases(sandbox, "data", cases, harness.ALL_MODES["host"])):
                got = list(csv.reader(io.StringIO(out)))[1:]
                problem = "" if len(got) == len(case.rows) else f"expected {len(case.rows)} rows, got {len(got)}: {out[:200]}"
                for at, (row, fields) in enumerate(zip(case.rows, got)):
                    good = all(same(kind, value, text) for kind, value, text in zip(case.columns, row, fields))
                    problem = problem or ("" if good else f"row {at}: expected {row}, got {fields}")
                tally.check(case.text[:70], f"{problem}\n{case.text}\n{case.query}" if problem else "")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
