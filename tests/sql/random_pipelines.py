#!/usr/bin/env python3
"""Random pipelines on tables of a server and on files of the same rows: the same rows, or the same error.

    random_pipelines.py [--count N] [--seed S] [--engines NAME,...] [--verbose]

Engines: clickhouse-18 (clickhouse-server, started here on loopback) and clickhouse (the module chdb, behind modern.py)."""

import random
import re
import sys

import engines
import random_queries

WIDE = (-(2**63), 2**63 - 1, -(2**63) + 1, -1, 0, 1, 2, 7, 2**31, -(2**31), 2**32, 2**40, -(2**40), 2**62, -(2**62), 63, 64, 3037000500)
SOME = (0.0, -0.0, 1.5, -2.25, 1e300, 0.1)
# Of each table its rows, and the name, type, kind and values of each column.
TABLES = {
    "t": (300, (
        ("a", "Int64", "int", lambda rng: rng.choice(WIDE)), ("b", "Int64", "int", lambda rng: rng.choice(WIDE)), ("i", "Int32", "int", lambda rng: rng.randrange(-50, 50)),
        ("u", "UInt16", "int", lambda rng: rng.randrange(65536)), ("m", "Nullable(Int8)", "missing", lambda rng: rng.choice((None, rng.randrange(-5, 5)))),
        ("v", "UInt64", "int", lambda rng: rng.choice((rng.randrange(9), 2**63 - 1))),
        ("sym", "String", "text", lambda rng: rng.choice(random_queries.WORDS)), ("x", "Float64", "float", lambda rng: rng.choice(SOME)),
        ("y", "Float64", "float", lambda rng: rng.choice((0.1, 0.25, -0.7, -0.0, 1e-7, 123456789.125, rng.random(), rng.gauss(0, 1000)))),
    )),
    "w": (40, (
        ("j", "Int32", "int", lambda rng: rng.randrange(-50, 50)), ("k", "Nullable(Int32)", "missing", lambda rng: rng.choice((None, rng.randrange(-9, 9)))),
        ("name", "String", "text", lambda rng: rng.choice(random_queries.WORDS)), ("z", "Float64", "float", lambda rng: rng.choice(SOME)), ("c", "Int64", "int", lambda rng: rng.choice(WIDE)),
        ("q", "Nullable(UInt64)", "missing", lambda rng: rng.choice((None, rng.randrange(9)))), ("f", "FixedString(5)", "text", lambda rng: rng.choice([word for word in random_queries.WORDS if len(word.encode()) <= 5])),
    )),
}  # fmt: skip
COLUMNS = {table: {"pos": "int"} | {name: kind for name, _, kind, _ in columns} for table, (_, columns) in TABLES.items()}


def field(value, is_csv):
    if value is None:
        return "" if is_csv else "\\N"
    if isinstance(value, str):
        return f'"{value}"' if is_csv else value.replace("\\", "\\\\")
    return repr(value)


def make_table(rig, server, table, rng):
    count, columns = TABLES[table]
    rows = [(pos, *(make(rng) for _, _, _, make in columns)) for pos in range(count)]
    server.ask(f"CREATE TABLE {table} (pos Int64, {', '.join(f'{name} {kind}' for name, kind, _, _ in columns)}) ENGINE = MergeTree ORDER BY {columns[0][0]}")
    server.ask(f"INSERT INTO {table} FORMAT TabSeparated\n" + "".join("\t".join(field(value, False) for value in row) + "\n" for row in rows))
    with open(rig.sandbox.path(f"{table}.csv"), "w", encoding="utf-8") as file:
        file.write(",".join(COLUMNS[table]) + "\n")
        file.writelines(",".join(field(value, True) for value in row) + "\n" for row in rows)


def answer(rig, line, sources):
    """What the line prints, and its error, which may name a source."""
    result = rig.run(random_queries.filled(f"load {{t}} | {line}", sources))
    errors = re.findall(r"error: .*", result.err.decode())
    errors = [re.sub(r"clickhouse://[^/]*/default/(\w+)\?[^ `)]*|(\w+)\.csv", r"\1\2", error) for error in errors]
    # What is quoted of the line is cut, by its length with the source.
    return result.status, result.out.decode(), [re.sub(r"`[^`]{90,}`|`\(load [^`]*`", "`...`", error) for error in errors]


def compare(rig, server, options):
    rng = random.Random(options.seed)
    for table in TABLES:
        make_table(rig, server, table, rng)
    here, there = ({table: f"{table}.csv" for table in TABLES}, {table: server.url(table, "pos") for table in TABLES})
    values = pushed = 0
    for number in range(options.count):
        line = random_queries.Writer(rng, COLUMNS["t"], {"w": COLUMNS["w"]}).pipeline()
        expected, got = answer(rig, line, here), answer(rig, line, there)
        values += expected[0] == 0
        rig.tally.check(f"{number}: {line}", "" if expected == got else f"here {str(expected)[:400]}\nthere {str(got)[:400]}")
        if options.verbose:
            shown = rig.run(random_queries.filled(f"explain sql load {{t}} | {line}", there)).out.decode()
            pushed += "\nhere: " not in shown
            print(number, "same" if expected == got else "different", line, shown[shown.find("\nhere: ") :] if "\nhere: " in shown else "")
    print(f"random-pipelines: {rig.tally.name}: {values} values, {options.count - values} errors" + (f", {pushed} wholly pushed" if options.verbose else ""), flush=True)


if __name__ == "__main__":
    sys.exit(engines.main("random-pipelines", compare, 100))
