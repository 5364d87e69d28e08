#!/usr/bin/env python3
"""Random pipelines on tables of a server and on files of the same rows: the same rows, or the same error.

    random_pipelines.py [--count N] [--seed S] [--engines NAME,...] [--verbose]

Engines: clickhouse-18 (clickhouse-server, started here on loopback) and clickhouse (the module chdb, behind modern.py)."""

import os
import random
import re
import struct
import sys

import engines
import random_queries

WIDE = (-(2**63), 2**63 - 1, -(2**63) + 1, -1, 0, 1, 2, 7, 2**31, -(2**31), 2**32, 2**40, -(2**40), 2**62, -(2**62), 63, 64, 3037000500)
SOME = (0.0, -0.0, 1.5, -2.25, 1e300, 0.1)
ENUM = "Enum8('MSFT' = -3, 'a' = 1, '' = 2, 'AAPL' = 7, 'a\\'b\\\\c' = 8, 'ÄÖ' = 9)"
ENUMERATED = ("MSFT", "a", "", "AAPL", "a'b\\c", "ÄÖ")
HUGE = "huge"  # stands for an integer of 2^63 and more


class Moment(str):
    """A time stamp as servers write it."""


def moment(rng, modern, digits):
    """Servers of 2018 have whole seconds, from 1970 on."""
    whole = rng.choice(("1970-01-01 00:00:00", "2024-02-29 12:30:59", f"20{rng.randrange(10, 30)}-0{rng.randrange(1, 10)}-1{rng.randrange(10)} {rng.randrange(10, 24)}:00:0{rng.randrange(10)}"))
    if modern and rng.random() < 0.5:
        whole = rng.choice(("1969-12-31 23:59:59", "1965-07-01 00:00:00", "2261-01-01 00:00:00", whole))
    return Moment(whole + ("." + rng.choice(("0" * 9, "000001999", "123456789", "999999999"))[:digits] if modern else ""))


def large(rng):
    return HUGE if rng.random() < 0.02 else rng.choice((rng.randrange(9), 2**63 - 1))


def day(rng):
    return f"20{rng.randrange(10, 30)}-0{rng.randrange(1, 10)}-1{rng.randrange(10)}"


# Of each table its rows, and the name, type (also one of today), kind and values of each column.
TABLES = {
    "t": (300, (
        ("a", "Int64", "int", lambda rng, _: rng.choice(WIDE)), ("b", "Int64", "int", lambda rng, _: rng.choice(WIDE)), ("i", "Int32", "int", lambda rng, _: rng.randrange(-50, 50)),
        ("u", "UInt16", "int", lambda rng, _: rng.randrange(65536)), ("m", "Nullable(Int8)", "missing", lambda rng, _: rng.choice((None, rng.randrange(-5, 5)))),
        ("v", "UInt64", "int", lambda rng, _: large(rng)), ("e", ENUM, "text", lambda rng, _: rng.choice(ENUMERATED)),
        ("sym", ("String", "LowCardinality(String)"), "text", lambda rng, _: rng.choice(random_queries.WORDS)), ("x", "Float64", "float", lambda rng, _: rng.choice(SOME)),
        ("y", "Float64", "float", lambda rng, _: rng.choice((0.1, 0.25, -0.7, -0.0, 1e-7, 123456789.125, rng.random(), rng.gauss(0, 1000)))),
        ("day", ("Date", "Date32"), "date", lambda rng, _: day(rng)), ("at", ("DateTime", "DateTime64(7)"), "time", lambda rng, modern: moment(rng, modern, 7)),
    )),
    "w": (40, (
        ("j", "Int32", "int", lambda rng, _: rng.randrange(-50, 50)), ("k", "Nullable(Int32)", "missing", lambda rng, _: rng.choice((None, rng.randrange(-9, 9)))),
        ("name", "String", "text", lambda rng, _: rng.choice(random_queries.WORDS)), ("z", "Float64", "float", lambda rng, _: rng.choice(SOME)), ("c", "Int64", "int", lambda rng, _: rng.choice(WIDE)),
        ("q", "Nullable(UInt64)", "missing", lambda rng, _: rng.choice((None, large(rng)))), ("f", "FixedString(5)", "text", lambda rng, _: rng.choice([word for word in random_queries.WORDS if len(word.encode()) <= 5])),
        ("o", f"Nullable({ENUM})", "text", lambda rng, _: rng.choice((None, *ENUMERATED))), ("when", ("DateTime", "DateTime64(3)"), "time", lambda rng, modern: moment(rng, modern, 3)),
        ("due", ("Nullable(DateTime)", "Nullable(DateTime64(9))"), "time", lambda rng, modern: rng.choice((None, moment(rng, modern, 9)))),
    )),
}  # fmt: skip
COLUMNS = {table: {"pos": "int"} | {name: kind for name, _, kind, _ in columns} for table, (_, columns) in TABLES.items()}
# What a file has in place of HUGE, which it cannot have: nothing that is computed exactly depends on it.
STAND_INS = (1, 2**63 - 2)


def field(value, is_csv):
    if value is None:
        return "" if is_csv else "\\N"
    if isinstance(value, Moment):
        return value.replace(" ", "T")[:26] + "Z" if is_csv else value
    if isinstance(value, str):
        return f'"{value}"' if is_csv else value.replace("\\", "\\\\")
    return repr(value)


def sent(value):
    """As a field of a table in which floats are their bits."""
    return str(struct.unpack("<q", struct.pack("<d", value))[0]) if isinstance(value, float) else field(value, False)


def make_table(rig, server, table, rng):
    """Files 0/TABLE.csv, 1/TABLE.csv and tables `default`.TABLE without, `huge`.TABLE with integers beyond 64 bits."""
    count, columns = TABLES[table]
    modern = rig.tally.name == "clickhouse"
    rows = [(pos, *(make(rng, modern) for _, _, _, make in columns)) for pos in range(count)]
    types = [(name, kind if isinstance(kind, str) else kind[modern]) for name, kind, _, _ in columns]
    for database, stand_in in (("default", STAND_INS[0]), ("huge", 2**64 - 1)):
        server.ask(f"CREATE DATABASE IF NOT EXISTS {database}")
        server.ask(f"CREATE TABLE {database}.{table} (pos Int64, {', '.join(f'`{name}` {kind}' for name, kind in types)}) ENGINE = MergeTree ORDER BY {columns[0][0]}")
        # 18.16 reads the text of floats inexactly.
        server.ask(f"CREATE TABLE {database}.sent_{table} (pos Int64, {', '.join(f'`{name}` {kind}'.replace('Float64', 'Int64') for name, kind in types)}) ENGINE = Memory")
        server.ask(f"INSERT INTO {database}.sent_{table} FORMAT TabSeparated\n" + "".join("\t".join(sent(stand_in if value is HUGE else value) for value in row) + "\n" for row in rows))
        server.ask(f"INSERT INTO {database}.{table} SELECT pos, {', '.join(f'reinterpretAsFloat64(reinterpretAsString(`{name}`))' if kind == 'Float64' else f'`{name}`' for name, kind in types)} FROM {database}.sent_{table}")
    for folder, stand_in in enumerate(STAND_INS):
        os.makedirs(rig.sandbox.path(str(folder)), exist_ok=True)
        with open(rig.sandbox.path(f"{folder}/{table}.csv"), "w", encoding="utf-8") as file:
            file.write(",".join(COLUMNS[table]) + "\n")
            file.writelines(",".join(field(stand_in if value is HUGE else value, True) for value in row) + "\n" for row in rows)
    return {pos for pos, row in enumerate(rows) if HUGE in row}


def answer(rig, line, sources):
    """What the line prints, and its error, which may name a source."""
    result = rig.run(random_queries.filled(f"load {{t}} | {line}", sources))
    errors = re.findall(r"error: .*", result.err.decode())
    errors = [re.sub(r"clickhouse://[^/]*/\w+/(\w+)\?[^ `)]*|\d/(\w+)\.csv", r"\1\2", error) for error in errors]
    # What is quoted of the line is cut, by its length with the source.
    # Of keys that are zeros with either sign servers give 0.0.
    out = re.sub(r"(^|\t)-0\.0(?=\t|$)", r"\g<1>0.0", result.out.decode(), flags=re.MULTILINE)
    out = re.sub(r"~\d+", "~", out)  # estimates of how many values there are
    return result.status, out, [re.sub(r"`[^`]{90,}`|`\(load [^`]*`", "`...`", error) for error in errors]


def tells_huge(got, places):
    """Whether it is the error of a place of HUGE."""
    told = re.fullmatch(r"error: a value of `([vq])` does not fit in 64 bits here, row (\d+)", got[2][0]) if len(got[2]) == 1 else None
    return got[:2] == (1, "") and told is not None and int(told.group(2)) in places["t" if told.group(1) == "v" else "w"]


def same_zeros(line, expected, got):
    """Of keys that are zeros of either sign servers give 0.0, and here the first is kept."""
    plain = lambda answered: (answered[0], re.sub(r"(?<![\d.])-0\.0(?!\d)", "0.0", answered[1]), answered[2])  # noqa: E731
    return re.search("distinct|group", line) and plain(expected) == plain(got)


def compare(rig, server, options):
    rng = random.Random(options.seed)
    places = {table: make_table(rig, server, table, rng) for table in TABLES}
    files = [{table: f"{folder}/{table}.csv" for table in TABLES} for folder in range(len(STAND_INS))]
    there = {table: server.url(table, "pos") for table in TABLES}
    beyond = {table: url.replace("/default/", "/huge/") for table, url in there.items()}
    values = pushed = huge = 0
    for number in range(options.count):
        line = random_queries.Writer(rng, COLUMNS["t"], {"w": COLUMNS["w"]}).pipeline()
        expected = answer(rig, line, files[0])
        if number % 4 == 3:
            got = answer(rig, line, beyond)
            good = tells_huge(got, places) or expected == got == answer(rig, line, files[1])
            huge += tells_huge(got, places)
        else:
            got = answer(rig, line, there)
            good = expected == got
        good = good or same_zeros(line, expected, got)
        # A `lookup` of no rows need not look whether the keys of its source are distinct.
        good = good or (got[0] == 0 and "`lookup` needs distinct keys" in "".join(expected[2]))
        values += expected[0] == 0
        rig.tally.check(f"{number}: {line}", "" if good else f"here {str(expected)[:400]}\nthere {str(got)[:400]}")
        if options.verbose:
            shown = rig.run(random_queries.filled(f"explain sql load {{t}} | {line}", there)).out.decode()
            pushed += "\nhere: " not in shown
            print(number, "same" if good else "different", line, shown[shown.find("\nhere: ") :] if "\nhere: " in shown else "")
    print(f"random-pipelines: {rig.tally.name}: {values} values, {options.count - values} errors, {huge} of {options.count // 4} of values beyond 64 bits" + (f", {pushed} wholly pushed" if options.verbose else ""), flush=True)


# A table of which any column is more than the travel that is allowed.
LARGE = 200000
VIEW = (
    ("pos", "int", "toInt64(number)", lambda n: n), ("a", "int", "toInt64(number * 7919 % 1009)", lambda n: n * 7919 % 1009), ("b", "int", "toInt64(number * number % 65537) - 300", lambda n: n * n % 65537 - 300),
    ("sym", "text", "arrayElement(['AAPL', 'MSFT', '', 'ÄÖ'], number % 4 + 1)", lambda n: ("AAPL", "MSFT", "", "ÄÖ")[n % 4]), ("x", "float", "number / 4", lambda n: n / 4), ("m", "missing", "if(number % 5 = 0, NULL, toInt32(number % 97))", lambda n: None if n % 5 == 0 else n % 97),
)  # fmt: skip
ALLOWED, OF_RESULT = 1000000, 16  # bytes, and bytes for one that is printed


def travel(rig, server, options):
    """What is said to run on the server, with sources that are here, brings its result alone, and takes those up."""
    server.ask(f"CREATE VIEW large AS SELECT {', '.join(f'{text} AS {name}' for name, _, text, _ in VIEW)} FROM numbers({LARGE})")
    with open(rig.sandbox.path("large.csv"), "w", encoding="utf-8") as file:
        file.write(",".join(name for name, *_ in VIEW) + "\n")
        file.writelines(",".join(field(value(number), True) for _, _, _, value in VIEW) + "\n" for number in range(LARGE))
    saved = rig.run("load large.csv pos i64, a i64, b i64, sym text, x f64, m i32 | save large.parquet")
    rig.tally.check("a large table", "" if saved.status == 0 else saved.text())
    proxy, rng = engines.Proxy(server), random.Random(options.seed + 3)
    here, there = {"t": "large.parquet", "w": "0/w.csv"}, {"t": proxy.url("large", "pos"), "w": "0/w.csv"}
    said = most = unless = fetched = 0
    for number in range(options.count // 2):
        writer = random_queries.Writer(rng, {name: kind for name, kind, *_ in VIEW}, {"w": COLUMNS["w"]})
        join = writer.join() if number % 2 else None
        line = f"{join} | {writer.pipeline()}" if join else writer.pipeline()
        expected = answer(rig, line, here)
        shown = rig.run(random_queries.filled(f"explain sql load {{t}} | {line}", there)).out.decode()
        before = proxy.bytes + proxy.sent
        got = answer(rig, line, there)
        bytes_travelled = proxy.bytes + proxy.sent - before - OF_RESULT * len(got[1].encode())
        good = expected == got or same_zeros(line, expected, got) or (got[0] == 0 and "`lookup` needs distinct keys" in "".join(expected[2]))
        problem = "" if good else f"here {str(expected)[:400]}\nthere {str(got)[:400]}"
        if "\nunless " in shown:
            unless, fetched = unless + 1, fetched + (bytes_travelled > ALLOWED)
        elif "SELECT" in shown and "\nhere: " not in shown and got[0] == 0:
            said, most = said + 1, max(most, bytes_travelled)
            problem = problem or ("" if bytes_travelled <= ALLOWED else f"{bytes_travelled} bytes besides the result\n{shown[:600]}")
        rig.tally.check(f"travel {number}: {line}", problem)
    print(f"random-pipelines: {rig.tally.name}: {said} of {options.count // 2} run on the server alone, with at most {most} bytes besides the result; {unless} unless something, of which {fetched} were fetched", flush=True)


def both(rig, server, options):
    compare(rig, server, options)
    travel(rig, server, options)


if __name__ == "__main__":
    sys.exit(engines.main("random-pipelines", both, 100))
