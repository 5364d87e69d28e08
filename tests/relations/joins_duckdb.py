#!/usr/bin/env python3
"""Random joins by inequalities and asof joins of all kinds, up to millions of rows, against DuckDB's.

    joins_duckdb.py [--count N] [--seed SEED] [--modes M,...] [--device-share F] [--large-share F]

Needs Python with duckdb. Prints its seed, which makes the same joins again. Both read the same Parquet files. `i` and `k` number
the rows of the sides, and are what is compared: all pairs in their order, or sums of very many.
"""

import argparse
import os
import random
import sys
import time

import duckdb

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402

CASES = 25  # of one pair of tables
MOST_ROWS = 20_000  # that are compared one by one
MOST_PAIRS = 50_000_000  # that DuckDB makes
LEAST, GREATEST = -(2**63), 2**63 - 1
FLIP = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def values(rng, kind, count, spread):
    """A list of SQL values."""
    numbers = [rng.randrange(-spread, spread) for _ in range(count)]
    if kind == "bigint" and rng.random() < 0.3:
        numbers = [rng.choice([LEAST, LEAST + 1, -1, 0, GREATEST - 1, GREATEST, each]) for each in numbers]
    gaps = rng.choice([0, 0, 0.02, 0.3])
    made = {
        "bigint": lambda n: n,
        "double": lambda n: rng.choice([n / 4, float(n), n * 1e200]),
        "varchar": lambda n: f"t{abs(n):04}" if n % 50 else rng.choice(["", "é", "z" * 30]),
        "date": lambda n: f"{1970 + n % 60}-{1 + n // 60 % 12:02}-{1 + n // 720 % 28:02}",
        "timestamp": lambda n: f"2024-01-{1 + n % 28:02} {n // 28 % 24:02}:{n // 700 % 60:02}:00",
        "decimal(12,2)": lambda n: f"{n}.{abs(n) % 100:02}",
    }[kind]
    return [None if rng.random() < gaps else made(n) for n in numbers]


def create(connection, rng, folder, name, kind, count, columns, spread):
    """A table of g, which is for equal keys, columns of the type, and the rows' numbers."""
    number = {"l": "i", "r": "k"}[name]
    if count > 5000:  # DuckDB makes the rows
        low = f"(hash({rng.randrange(10**6)}, n) % {spread})::bigint"
        length = f"(hash({rng.randrange(10**6)}, n) % {rng.choice([2, max(2, spread // count * 3), max(2, spread // count * 40)])})::bigint"
        connection.execute(
            f"create table {name} as select (n % 7)::bigint as g, low as {columns[0]}"
            + (f", low + {length} as {columns[1]}" if len(columns) > 1 else "")
            + f", n as {number} from (select range as n, {low} as low from range({count}))"
        )
    else:
        groups = [rng.choice([0, 1, 2, 3, None]) for _ in range(count)]
        made = [values(rng, kind, count, spread) for _ in columns]
        if len(columns) > 1 and rng.random() < 0.7:
            made = [list(each) for each in zip(*(pair if None in pair else sorted(pair) for pair in zip(*made)))] or made
        typed = "".join(f", {column} {kind}" for column in columns)
        connection.execute(f"create table {name} (g bigint{typed}, {number} bigint)")
        if count:
            marks = ", ".join("?" * (len(columns) + 2))
            connection.executemany(f"insert into {name} values ({marks})", [list(row) for row in zip(groups, *made, range(count))])
    path = os.path.join(folder, f"{name}.parquet")
    connection.execute(f"copy (select * from {name} order by {number}) to '{path}' (format parquet)")


def comparison(rng):
    """A join by inequalities: what follows its source, and its condition in SQL; the order of the rows of the right."""
    some = [("a", rng.choice([">", ">="]), "lo"), ("a", rng.choice(["<", "<="]), "hi")]
    if rng.random() < 0.4:
        some = [(rng.choice("ab"), rng.choice(list(FLIP)), right) for right in rng.sample(["lo", "hi"], rng.choice([1, 2]))]
    rng.shuffle(some)
    grouped = rng.random() < 0.4
    on = ([rng.choice(["g"])] if grouped else []) + [" ".join(each) for each in some]
    condition = " and ".join((["l.g = r.g"] if grouped else []) + [f"l.{a} {op} r.{b}" for a, op, b in some])
    order = next((b for _, op, b in some if op[0] == ">"), some[0][2])
    return ", ".join(on), condition, order


def random_comparison(rng):
    on, condition, order = comparison(rng)
    kind = rng.choice(["join", "join", "left join", "semi join", "anti join"])
    if kind in ("semi join", "anti join"):
        sql = f"select l.i from l {kind.split()[0]} join r on {condition} order by 1"
        return f"load l.parquet | {kind} (load r.parquet | drop k) on {on} | pick i", sql
    sql = f"select l.i, r.k from l {kind} r on {condition} order by l.i, r.{order}, r.k"
    return f"load l.parquet | {kind} r.parquet as r on {on} | pick i, r_k", sql


def asof_sql(op, grouped):
    condition = f"{'l.g = r.g and ' if grouped else ''}l.a {op} r.lo"
    return f"select l.i, r.lo as t from l asof left join (select g, lo from r where lo is not null) r on {condition}"


def random_asof(rng, kind):
    """Rows at the same time are not told apart: their time is compared."""
    grouped = rng.random() < 0.5
    direction = rng.choice(["", "forward", "nearest", "nearest", *FLIP])
    far = rng.choice([None, 0, 1, 5, 1000, 10**7])
    apart = {"bigint": "l.a::hugeint - {0}::hugeint", "timestamp": "(epoch_us(l.a) - epoch_us({0}))", "date": "(l.a - {0})"}[kind]
    word = f" {direction}" if direction in ("forward", "nearest") else ""
    on = f"{'g, ' if grouped else ''}a {direction if direction in FLIP else '='} lo{word}"
    written = f" within {far}{'us' if kind == 'timestamp' else ''}" if far is not None else ""
    if direction == "nearest":
        back = f"{apart.format('b.t')} <= -({apart.format('f.t')})"
        joined = (
            f"select l.i, case when b.t is null then f.t when f.t is null then b.t when {back} then b.t else f.t end as t"
            f" from l left join ({asof_sql('>=', grouped)}) b on l.i = b.i left join ({asof_sql('<=', grouped)}) f on l.i = f.i"
        )
    else:
        joined = asof_sql(direction if direction in FLIP else "<=" if direction == "forward" else ">=", grouped)
    taken = f"case when abs({apart.format('t')}) <= {far} then t end" if far is not None else "t"
    number = {"bigint": "t", "timestamp": "epoch_us(t)", "date": "(t - date '1970-01-01')"}[kind]
    sql = f"select i, {number} from (select l.i, {taken} as t from l join ({joined}) j on l.i = j.i) order by i"
    source = "(load r.parquet | pick g, lo, lo as t) as r"
    return f"load l.parquet | asof join {source} on {on}{written} | map i, {'r_t' if kind == 'bigint' else 'int(r_t)'} as t", sql


def text_of(rows):
    return "".join("\t".join("" if value is None else str(value) for value in row) + "\n" for row in rows)


def summed(text, sql):
    """The same as three sums, for results of very many rows."""
    columns = text.rpartition("| ")[2]
    names = ["i", "t" if columns.startswith("map") else "r_k"] if "," in columns else ["i"]
    others = [f"sum({name})" for name in names] + ([f"sum(({names[0]} % 1009) * ({names[1]} % 1013))"] if len(names) > 1 else [])
    inner = sql.rpartition(" order by")[0]
    sums = ["i", "v", "(i % 1009) * (v % 1013)"] if len(names) > 1 else ["i"]
    of_sql = [f"coalesce(sum({each}), 0)" for each in sums]
    wrapped = f"select count(*), {', '.join(of_sql)} from ({inner}) q({', '.join(['i', 'v'][: len(names)])})"
    return f"{text} | group : count(), {', '.join(others)}", wrapped


def random_case(rng, connection, kind, large):
    asof = kind in ("bigint", "timestamp", "date") and rng.random() < 0.35
    text, sql = random_asof(rng, kind) if asof else random_comparison(rng)
    if not large:
        rows = connection.execute(sql).fetchmany(MOST_ROWS + 1)
        if len(rows) <= MOST_ROWS:
            return text, sql, text_of(rows)
    pairs = connection.execute(f"select count(*) from ({sql.rpartition(' order by')[0]})").fetchone()[0]
    if pairs > MOST_PAIRS:
        return None
    text, sql = summed(text, sql)
    return text, sql, text_of(connection.execute(sql).fetchall())


def test_batch(tally, rng, options):
    large = rng.random() < options.large_share
    kind = "bigint" if large else rng.choice(["bigint", "bigint", "double", "varchar", "date", "timestamp", "decimal(12,2)"])
    counts = [rng.choice([200_000, 2_000_000]), rng.choice([0, 1, 1000, 20_000])]
    if not large:
        counts = [rng.choice([0, 1, 2, 3, 17, 100, 1500, 4000]) for _ in range(2)]
    elif rng.random() < 0.3:
        counts.reverse()
    spread = rng.choice([10**6, 10**9]) if large else rng.choice([3, 20, 1000, 10**5])
    made = 0
    with harness.Sandbox() as sandbox, duckdb.connect() as connection:
        connection.execute("set threads = 2")
        create(connection, rng, sandbox.here, "l", kind, counts[0], ["a", "b"], spread)
        create(connection, rng, sandbox.here, "r", kind, counts[1], ["lo", "hi"], spread)
        cases = [random_case(rng, connection, kind, large) for _ in range(4 if large else CASES)]
        cases = [case for case in cases if case]
        for mode in options.modes.split(","):
            for text, sql, expected in cases:
                if "host" not in mode and rng.random() >= options.device_share:
                    continue
                arguments = [*harness.ALL_MODES[mode], "--format", "tsv", "-c", text]
                result = harness.run(arguments, sandbox.here, sandbox.home, timeout=600)
                got = result.out.decode("utf-8", "replace")
                made += 1
                problem = ""
                if got != expected:
                    error = result.err.decode("utf-8", "replace")[:800]
                    at = next((at for at, (a, b) in enumerate(zip(got.split("\n"), expected.split("\n"))) if a != b), None)
                    there = [each.split("\n")[at] if at is not None else len(each) for each in (expected, got)]
                    problem = f"row {at}: expected {there[0]!r}, got {there[1]!r}\n{error}\n({mode}) {kind} {counts}\n{text}\n{sql}"
                tally.check(f"{mode}: {text[:60]}", problem)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--modes", default="host,host-unfused")
    parser.add_argument("--device-share", type=float, default=0.02)
    parser.add_argument("--large-share", type=float, default=0.1)
    parser.add_argument("--failures", type=int, default=10)
    options = parser.parse_args()
    print(f"joins_duckdb: seed {options.seed}", flush=True)
    tally, begun, made, batch = harness.Tally("joins_duckdb"), time.monotonic(), 0, 0
    while made < options.count and tally.failed < options.failures:
        made += test_batch(tally, random.Random(f"{options.seed}/{batch}"), options)
        batch += 1
    print(f"joins_duckdb: {made} runs in {time.monotonic() - begun:.0f} s; seed {options.seed}")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
