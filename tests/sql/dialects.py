#!/usr/bin/env python3
"""Random expressions as SQL: each engine's values, or its first failing row, against those of rql on the same data.

    dialects.py [--count N] [--seed SEED] [--engines NAME,...] [--verbose]

Engines: clickhouse-18 (clickhouse-server, started here on loopback), clickhouse (the module chdb, behind modern.py), duckdb (the module of
this Python). Those that are missing are skipped, and counted. The texts come from build/print_sql.
"""

import contextlib
import csv
import datetime
import math
import os
import random
import re
import struct
import subprocess
import sys

import engines
import random_queries
from engines import harness

LEAST, MOST = -(2**63), 2**63 - 1
INTEGERS = (0, 1, -1, 2, -2, 3, 7, 42, 63, 64, 65, -63, 255, 1000, 2**31 - 1, -(2**31), 2**32, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, MOST, MOST - 1, LEAST, LEAST + 1)
FLOATS = (0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.5, -2.5, 3.5, 0.1, 0.49999999999999994, 1.5e300, -1.5e300, 5e-324, -2e-310, 2.0**52 + 0.5, 2.0**53, 2.0**62, 2.0**63, -(2.0**63), 1e19, math.inf, -math.inf, math.nan)
# Name, format of struct, kind, extension, type of ClickHouse and DuckDB
COLUMNS = (
    ("a", "q", "int", "i64", "Int64", "BIGINT"),
    ("b", "q", "int", "i64", "Int64", "BIGINT"),
    ("i", "i", "int", "i32", "Int32", "INTEGER"),
    ("k", "b", "int", "i8", "Int8", "TINYINT"),
    ("u", "H", "int", "u16", "UInt16", "USMALLINT"),
    ("x", "d", "float", "f64", "Float64", "DOUBLE"),
    ("y", "d", "float", "f64", "Float64", "DOUBLE"),
    ("z", "f", "float", "f32", "Float32", "FLOAT"),
)
BOUNDS = {"q": (LEAST, MOST), "i": (-(2**31), 2**31 - 1), "b": (-128, 127), "H": (0, 65535)}
MILD = {"b": range(-20, 200), "k": range(1, 64), "z": (0.5, 1.0, -1.5, 2.5, 3.0, 100.0, -7.25)}  # with which most expressions have values
ROWS = 120


def random_value(rng, name, form):
    if name in MILD:
        return rng.choice(MILD[name])
    if form in "df":
        number = rng.choice(FLOATS) if rng.random() < 0.5 else rng.choice((rng.uniform(-4, 4), float(rng.randrange(-9, 9)), rng.gauss(0, 1) * 10.0 ** rng.randrange(-20, 20)))
        return number if form == "d" else struct.unpack("<f", struct.pack("<f", max(min(number, 1e38), -1e38) if math.isfinite(number) else number))[0]
    low, high = BOUNDS[form]
    number = rng.choice(INTEGERS) if rng.random() < 0.35 else rng.randrange(-9, 70) if rng.random() < 0.6 else rng.randrange(low, high + 1)
    return min(max(number, low), high)


def random_stages(rng):
    writer = random_queries.Writer(rng, {column[0]: column[2] for column in COLUMNS})
    filters = [f"select {writer.truth(3)}" for _ in range(rng.choice((0, 0, 1, 1, 2)))]
    makers = [rng.choice((writer.integer, writer.integer, writer.real, writer.truth)) for _ in range(rng.choice((1, 1, 2, 3)))]
    values = [f"{maker(rng.choice((2, 3, 4)))} as v{n}" for n, maker in enumerate(makers)]
    return " | ".join([*filters, "map " + ", ".join(values)])


# --- engines ----------------------------------------------------------------------------------------------------------


def of_text(field):
    if field in ("true", "false"):
        return int(field == "true")
    return None if field == "\\N" else float(field) if re.search(r"[.enf]", field) else int(field)


def binary(rows):
    return b"".join(struct.pack("<q" + "".join(c[1] for c in COLUMNS), *row) for row in rows)


class ClickHouse:
    dialect = "clickhouse"

    def __init__(self, name, sandbox, rows):
        is_there, start, _ = engines.ENGINES[name]
        if not is_there():
            raise ImportError(f"{name} is not installed")
        folder = sandbox.path(f"server-{name}")
        os.makedirs(folder, exist_ok=True)
        self.server = start(folder).wait()
        self.server.ask("CREATE TABLE t (pos Int64, %s) ENGINE = Memory" % ", ".join(f"{c[0]} {c[4]}" for c in COLUMNS))
        # The older one's parser of decimals does not round correctly.
        if rows:
            self.server.ask(b"INSERT INTO t FORMAT RowBinary " + binary(rows))

    def ask_texts(self, sql):
        return [line.split("\t") for line in self.server.ask(sql + " FORMAT TabSeparatedRaw").splitlines()]

    def ask(self, sql):
        return [[of_text(field) for field in line] for line in self.ask_texts(sql)]

    def stop(self):
        self.server.stop()


class DuckDB:
    dialect = "duckdb"

    def __init__(self, _, __, rows):
        import duckdb

        self.connection = duckdb.connect()
        self.connection.execute("CREATE TABLE t (pos BIGINT, %s)" % ", ".join(f"{c[0]} {c[5]}" for c in COLUMNS))
        if rows:
            self.connection.executemany("INSERT INTO t VALUES (%s)" % ", ".join("?" * (len(COLUMNS) + 1)), rows)

    def ask(self, sql):
        return [list(row) for row in self.connection.execute(sql).fetchall()]

    ask_texts = ask

    def stop(self):
        self.connection.close()


ENGINES = {"clickhouse-18": ClickHouse, "clickhouse": ClickHouse, "duckdb": DuckDB}


# --- comparing --------------------------------------------------------------------------------------------------------


def write_columns(sandbox, rows):
    for n, (name, form, _, extension, *_) in enumerate(COLUMNS):
        with open(sandbox.path(f"{name}.{extension}"), "wb") as file:
            file.write(b"".join(struct.pack("<" + form, row[n + 1]) for row in rows))


SOURCE = "load " + ", ".join(f"{c[0]}.{c[3]}" for c in COLUMNS)


def answers_of_rql(sandbox, pipelines):
    """Of each: ("row", number), ("values", rows) or ("other", message)."""
    made = []
    for begin in range(0, len(pipelines), 100):
        script = "".join(f"{SOURCE} | {line}\nprint MARK\n".replace("print MARK", "7777777") for line in pipelines[begin : begin + 100])
        with open(sandbox.path("cases.rql"), "w", encoding="utf-8") as file:
            file.write(script)
        result = harness.run(["--device", "host", "--keep-going", "--format", "csv", "cases.rql"], sandbox.here, sandbox.home, timeout=300)
        parts = re.split(r"^7777777\n", result.out.decode(), flags=re.M)
        errors = {int(line): message for line, message in re.findall(r"^cases\.rql:(\d+):\d+: error: (.*)$", result.err.decode(), flags=re.M)}
        for n in range(len(pipelines[begin : begin + 100])):
            message = errors.get(2 * n + 1)
            row = re.search(r"row (\d+)", message or "")
            if message:
                made.append(("row", int(row.group(1))) if row else ("other", message))
            else:
                made.append(("values", [[of_text(field) for field in line.split(",")] for line in parts[n].splitlines()[1:]]))
    return made


def texts_of(sandbox, dialect, pipelines):
    program = os.path.join(os.path.dirname(harness.RQL), "print_sql")
    lines = "".join(f"{SOURCE} | {line}\n" for line in pipelines)
    return subprocess.run([program, dialect], input=lines, text=True, capture_output=True, cwd=sandbox.here, check=True).stdout.splitlines()


def query_of(text):
    source, where, fails, *values = text.split("\t")
    listed = ", ".join([f"{value} AS r{n}" for n, value in enumerate(values)])
    whether = lambda condition: f"CASE WHEN {condition} THEN 1 ELSE 0 END"  # noqa: E731
    return f"SELECT pos, {whether(fails) if fails else '0'} AS f, {whether(where) if where else '1'} AS w, {listed} FROM {source} ORDER BY pos"


def same(expected, got):
    if isinstance(expected, float) and expected != expected:
        return got is not None and got != got
    return got is not None and (float(got) == expected if isinstance(expected, float) else got == expected)


def compare(expected, rows):
    failing = [row[0] for row in rows if row[1]]
    if expected[0] == "row" or failing:
        return "" if expected == ("row", failing[0] if failing else None) else f"expected {str(expected)[:200]}, it fails in rows {failing[:9]}"
    kept = [row for row in rows if row[2]]
    if len(kept) != len(expected[1]):
        return f"expected {len(expected[1])} rows, got {len(kept)}"
    for wanted, row in zip(expected[1], kept):
        if not all(map(same, wanted, row[3:])):
            return f"row {row[0]}: expected {wanted}, got {row[3:]}"
    return ""


def run_engine(name, sandbox, rows, pipelines, expected, tally, verbose):
    texts = texts_of(sandbox, ENGINES[name].dialect, pipelines)
    tally.check(f"{name}: texts", "" if len(texts) == len(pipelines) else f"{len(texts)} of {len(pipelines)}")
    try:
        engine = ENGINES[name](name, sandbox, rows)
    except ImportError as error:
        print(f"dialects: {name}: skipped: {error}")
        return
    refused = {}
    compared = 0
    try:
        for line, text, wanted in zip(pipelines, texts, expected):
            if wanted[0] == "other":
                continue
            if text.startswith(("no ", "error ")):
                refused[text] = refused.get(text, 0) + 1
                continue
            try:
                problem = compare(wanted, engine.ask(query_of(text)))
            except Exception as error:  # whatever the engine raises is a failure of the text
                problem = f"{type(error).__name__}: {getattr(error, 'read', lambda: b'')().decode()[:300] or str(error)[:300]}"
            compared += 1
            tally.check(f"{name}: {line}", f"{problem}\n{query_of(text)[: None if verbose else 1500]}" if problem else "")
    finally:
        engine.stop()
    print(f"dialects: {name}: {compared} compared; not lowered: {', '.join(f'{count} {what}' for what, count in sorted(refused.items())) or 'none'}", flush=True)


# --- explain sql --dialect --------------------------------------------------------------------------------------------

SYMBOLS = ("AAPL", "B", "it's", "\\x", "Zoë", "z")
# Of each table the name, type of ClickHouse and DuckDB and kind of each column, and its rows.
TABLES = {
    "trades": (
        ("pos", "Int64", "BIGINT", "int"), ("id", "Int32", "INTEGER", "int"), ("sym", "String", "VARCHAR", "text"), ("qty", "Int64", "BIGINT", "int"),
        ("n", "Nullable(Int32)", "INTEGER", "missing"), ("d", "Date", "DATE", "date"), ("price", "Nullable(Float64)", "DOUBLE", "float"), ("x", "Float64", "DOUBLE", "float"),
    ),
    "quotes": (
        ("spot", "Int64", "BIGINT", "int"), ("key", "Int32", "INTEGER", "int"), ("m", "Nullable(Int8)", "TINYINT", "missing"), ("name", "String", "VARCHAR", "text"),
        ("bid", "Float64", "DOUBLE", "float"), ("day", "Date", "DATE", "date"), ("w", "Nullable(Int64)", "BIGINT", "missing"),
    ),
}  # fmt: skip
ORDERS = {"trades": "pos", "quotes": "spot"}
JOINS = (
    "select id in (load {quotes} | map key) | count", "select x in (load {quotes} | map bid) && !(n in (load {quotes} | map m)) | map pos", "map pos, sym in (load {quotes} | select spot > 20 | map name) as s | take 30", "derive s = d in (load {quotes} | map day) | group s: count()",
    "join {quotes} as q on id = key | map pos, q_spot, q_name", "left join {quotes} as q on sym = name | map pos, q_spot, q_w | take 50", "left join {quotes} as q on n = m, d = day | map pos, q_spot, q_bid",
    "full join {quotes} as q on n = m | map pos, n, q_spot, q_w", "full join {quotes} as q on sym = name, id = key | map pos, sym, q_spot | tail 40", "full join {quotes} as q on x = bid, d = day | count",
    "semi join {quotes} as q on n = m", "anti join {quotes} on id = key | count", "derive y = -x | join {quotes} as q on y = bid | map pos, q_spot", "join (load {quotes} | group name: count() as c) on sym = name | map pos, c",
    "derive y = x == 0.5 ? 0.0 / 0.0 : x | join (load {quotes} | derive z = bid == 2.5 ? 0.0 / 0.0 : bid) as q on y = z | map pos, q_spot",
)
WHOLE = (
    'select id == 42 && qty > 5 | sum qty', "count", "select n is missing | count", 'select sym == "AAPL" | max qty', "sum n", "group id % 7 as k: sum(qty), count(), max(n)",
    'group sym: count(), mean(qty), min(qty)', 'derive e = qty * qty + id | select sym == "it\'s" | sort e desc, pos | take 3', "pick id, n, d | skip 5 | take 4",
    'select year(d) == 2024 && month(d) < 3 | pick pos, d | take 9', "select price > 100 | pick pos, price | take 5", 'select sym >= "B" | map pos, sym | take 6',
    "map qty * 1000000000000 as big | take 3", "group id % 7 as k: sum(qty * 100000000000000)", "map id % 3 as k, sym | distinct", "top 4 by qty",
    "select (price > 3 ? qty : n) > 20 | map pos, qty % 7 as r, round(price) as p | take 8", "map qty << 30 as s | sum s",
    'select sym like "A%" | count', 'select sym like "%_L" && qty > 0 | map pos, sym | take 5', 'select starts(sym, "it") || ends(sym, "ë") || contains(sym, "\\\\") | sum qty', 'select len(sym) == 3 | map pos, bytes(sym) as n | take 4',
    "group sym: median(qty), quantile(0.3, id), median(n)", "group id % 7 as k: quantile(0.9, qty * 15000000000000000), median(qty * 9000000000000000 + id), median(n)", "group: median(qty), quantile(0.25, n)", "select false | group: count(), median(n)",
    'map pos, replace(sym, "A", "%") as r | sort r desc, pos | take 50', "group substr(sym, 0, 1) as k: count(), sum(qty)", 'map pos, (qty > 0 ? sym + "!" : "<" + sym) as t | take 9', 'select sym < "Z" | map upper(sym) as u, pos | take 5', 'select sym < "Z" && lower(sym) == "aapl" | count',
    'derive x = " " + sym + "\t" | select sym < "Z" | map trim(x) as t, pos | take 7', 'map (qty > 5 ? sym : "none") as k, pos | select k >= "a" | take 9', 'select sym + sym like "BB" | count',
)


def rows_of(table):
    if table == "trades":
        return [(k, k * 7 % 100, SYMBOLS[k % 6], k * 37 % 1000 - 400, None if k % 4 == 0 else k - 50, f"202{3 + k % 3}-0{1 + k % 9}-11", None if k % 5 == 0 else k / 8, (0.0, 0.5, 2.5, -1.0)[k % 4]) for k in range(200)]
    return [(k, k * 11 % 60, None if k % 5 == 0 else k - 9, SYMBOLS[k * k % 6], (0.0, 2.5, 0.5)[k % 3], f"202{3 + k % 2}-0{1 + k % 9}-11", None if k % 3 == 0 else k * 10**17) for k in range(30)]


def quoted(value):
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return "NULL" if value is None else repr(value)


def fill_engine(name, engine):
    """Makes the tables of the database "default" there."""
    if name == "duckdb":
        engine.connection.execute('CREATE SCHEMA "default"')
    for table, columns in TABLES.items():
        rows = rows_of(table)
        if name == "duckdb":
            engine.connection.execute(f'CREATE TABLE "default".{table} (%s)' % ", ".join(f"{c[0]} {c[2]}" for c in columns))
            engine.connection.executemany(f'INSERT INTO "default".{table} VALUES (%s)' % ", ".join("?" * len(columns)), rows)
        else:
            engine.server.ask(f"CREATE TABLE default.{table} (%s) ENGINE = MergeTree ORDER BY {columns[0][0]}" % ", ".join(f"{c[0]} {c[1]}" for c in columns))
            engine.server.ask(f"INSERT INTO default.{table} VALUES " + ", ".join("(%s)" % ", ".join(map(quoted, row)) for row in rows))


def write_tables(sandbox):
    for table, columns in TABLES.items():
        with open(sandbox.path(f"{table}.csv"), "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([column[0] for column in columns])
            writer.writerows(rows_of(table))


def rows_of_rql(sandbox, line):
    """The names of columns, none of a value, and what rql prints for the rows of the files; the error, a text."""
    line = random_queries.filled(f"load {{trades}} | {line}", {table: f"{table}.csv" for table in TABLES})
    result = harness.run(["--device", "host", "--format", "csv", "-c", line], sandbox.here, sandbox.home)
    if result.status != 0:
        return result.err.decode()
    read = list(csv.reader(result.out.decode().splitlines()))
    is_value = len(read) == 1 and re.fullmatch(r"-?[0-9.]+(e[-+]?[0-9]+)?|-?inf|nan|true|false", read[0][0])
    return ([], read) if is_value else (read[0], read[1:])


def as_text(field):
    """A value of rql or of an engine as text; CSV does not tell an empty text from a missing one. Dates may be days."""
    text = "" if field in (None, "\\N", "ᴺᵁᴸᴸ") else str(int(field)) if isinstance(field, bool) else str(field)
    text = {"true": "1", "false": "0"}.get(text, text)  # engines have integers
    if re.fullmatch(r"-?[0-9]+", text):
        return text
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return str((datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days)
    return f"{float(text):.17g}" if re.fullmatch(r"-?[0-9.]+(e[-+]?[0-9]+)?|-?inf|nan", text) else text


# Of some texts they do not say here what they are elsewhere: then the row fails.
UNSURE = re.compile(r"\b(upper|lower|trim|substr|like)\b")


def difference_of(expected, answer, ordered, unsure):
    """Between rql's rows and those of an engine, which may have one more column: whether the row fails."""
    if isinstance(expected, str):
        failing = any(as_text(row[-1]) == "1" for row in answer)
        large = "does not fit" in expected and len(answer) == 1 and re.fullmatch(r"-?[0-9]{19,}", str(answer[0][0]))
        return "" if failing or large else f"expected {expected[:300]}, got {str(answer)[:300]}"
    width = len(expected[0]) or 1
    if answer and len(answer[0]) > width and any(as_text(row[-1]) == "1" for row in answer):
        return "" if unsure else f"expected {str(expected)[:300]}, got {str(answer)[:300]}"
    floats = {k for row in expected[1] for k, field in enumerate(row) if re.fullmatch(r"-?[0-9]+(\.[0-9]+(e[-+]?[0-9]+)?|e[-+]?[0-9]+)", field)}
    as_wanted = lambda row: [as_text(float(field) if k in floats and as_text(field) else field) for k, field in enumerate(row)]  # noqa: E731
    got = [as_wanted(row[:width]) for row in answer]
    wanted = [as_wanted(row) for row in expected[1]]
    good = got == wanted if ordered else sorted(got) == sorted(wanted)
    return "" if good else f"expected {str(wanted)[:300]}, got {str(got)[:300]}"


def explained(names, count, seed, sandbox, tally):
    """Whole pipelines: what a server would run, run by other engines. Random ones may be refused."""
    try:
        source = ClickHouse("clickhouse-18", sandbox, [])
    except ImportError as error:
        print(f"dialects: explain sql: skipped: {error}")
        return
    fill_engine("clickhouse-18", source)
    write_tables(sandbox)
    urls = {table: source.server.url(table, ORDERS[table]) for table in TABLES}
    mine, theirs = ({column[0]: column[3] for column in TABLES[table]} for table in TABLES)
    rng = random.Random(seed)
    lines = [*WHOLE, *JOINS, *(random_queries.Writer(rng, mine, {"quotes": theirs}, words=SYMBOLS).pipeline() for _ in range(count))]
    expected = [rows_of_rql(sandbox, line) for line in lines]
    for name in names:
        try:
            engine = source if name == "clickhouse-18" else ENGINES[name](name, sandbox, [])
        except ImportError:
            continue
        if engine is not source:
            fill_engine(name, engine)
        refused = 0
        for number, (line, wanted) in enumerate(zip(lines, expected)):
            shown = harness.run(["-c", random_queries.filled(f"explain sql --dialect {ENGINES[name].dialect} load {{trades}} | {line}", urls)], sandbox.here, sandbox.home)
            told = shown.out.decode().splitlines()
            problem = "" if shown.status == 0 and len(told) == 2 else shown.text()
            if problem and number >= len(WHOLE) + len(JOINS):
                refused += 1
                continue
            if not problem:
                try:
                    problem = difference_of(wanted, engine.ask_texts(told[1]), "distinct" not in line, UNSURE.search(line))
                except Exception as error:
                    refuses = isinstance(wanted, str) and "needs distinct keys" in wanted
                    problem = "" if refuses else f"{type(error).__name__}: {str(error)[:300]}"
                problem = problem and f"{problem}\n{told[1][:1500]}"
            tally.check(f"{name}: explain sql {line}", problem)
        print(f"dialects: {name}: {count - refused} of {count} random pipelines wholly said", flush=True)
        if engine is not source:
            engine.stop()
    source.stop()


# Of a file with a column of every type.
KINDS = "pos i64, u u8, small i16, f f32, flag bool, day date, at timestamp, price decimal(2), fine decimal(6), name text"
OF_KINDS = (
    "count", "group flag: count(), max(small)", "select flag | count", "select day >= date(\"2024-01-05\") | count", "select at < timestamp(\"2024-01-01T10:00:00Z\") | count", "select price > 1.5 | count", "select fine == price | count",
    "select name is missing | count", "group name: count(), sum(u)", "map pos, year(day) * 100 + month(day) as ym | tail 7", "map pos, hour(at) as h | take 9", "sort small desc, pos | map pos, small | take 5", "min small", "sum u", "select price is missing || fine < 0 | count",
    "group year(day) as y, flag: count() as n, sum(small) | sort n desc, y, flag | take 3", "map pos, name + \"!\" as t, !flag as g | tail 5", "select pos % 3 == 0 | tail 4 | map pos", "group: median(small)",
)  # fmt: skip


def write_files(sandbox):
    """The tables as files of Parquet, and one of all types."""
    for table in TABLES:
        saved = harness.run(["-c", f"load {table}.csv | save {table}.parquet"], sandbox.here, sandbox.home)
        if saved.status != 0:
            sys.exit(saved.text())
    with open(sandbox.path("kinds.csv"), "w", encoding="utf-8") as file:
        file.write(",".join(name.split()[0] for name in KINDS.split(", ")) + "\n")
        file.writelines(
            f"{k},{k % 256},{k * 37 % 2000 - 1000},{k / 4},{'true' if k % 3 else 'false'},202{3 + k % 2}-01-{1 + k % 9:02},2024-01-01T{k % 24:02}:00:00.25Z,{'' if k % 5 == 0 else f'{k % 7}.50'},{k % 9 - 1}.500000,{'' if k % 4 == 0 else SYMBOLS[k % 2]}\n" for k in range(150)
        )
    return harness.run(["-c", f"load kinds.csv {KINDS} | save kinds.parquet"], sandbox.here, sandbox.home)


# Names and types that DuckDB reads in another way than rql: how the file is made, a pipeline, and its rows or what the refusal says.
ODD_FILES = (
    ("odd[1].parquet", "SELECT 7 AS x", "load 'odd[1].parquet' | sum x", [(7,)]),
    ("o*d.parquet", "SELECT 8 AS x", "load 'o*d.parquet' | map x", [(8,)]),
    ("u?d.parquet", "SELECT 9 AS x", "load 'u?d.parquet' | map x", [(9,)]),
    ("x=5.parquet", "SELECT 1 AS y", "load 'x=5.parquet' | map y", [(1,)]),
    ("day=3/x.parquet", "SELECT 1 AS day", "load day=3/x.parquet | map day", [(1,)]),
    ("nine.parquet", "SELECT CAST(1.5 AS DECIMAL(18, 9)) AS d", "load nine.parquet | sum d", [(1500000000,)]),
    ("most.parquet", "SELECT CAST('92233720368547758.07' AS DECIMAL(19, 2)) AS d", "load most.parquet | max d", [(2**63 - 1, False)]),
    ("least.parquet", "SELECT CAST('-9.223372036854775808' AS DECIMAL(19, 18)) AS d", "load least.parquet | min d", [(-(2**63), False)]),
    ("bytes.parquet", "SELECT CAST(x AS BLOB) AS b FROM (VALUES ('z'), ('y'), ('z')) AS t(x)", "load bytes.parquet | group b: count() as n | sort b", [("y", 1), ("z", 2)]),
    ("bytes.parquet", None, 'load bytes.parquet | select b == "z" | count', [(2,)]),
    ("nest.parquet", "SELECT {'a': x, 'b': {'c.d': 10 * x, 'e': 100 * x}} AS s, x AS \"s.f\" FROM (VALUES (1), (2)) AS t(x)", "load nest.parquet | map s.a, s.b.e", [(1, 100), (2, 200)]),
    ("nest.parquet", None, "load nest.parquet | map s.f", [(1,), (2,)]),
    ("nest.parquet", None, "load nest.parquet | select s.a is missing | count", [(0,)]),
    ("number.parquet", "SELECT 1 AS \"File_Row_Number\", 2 AS x", "load number.parquet | sum x", "no SQL of duckdb does exactly this: the column `File_Row_Number`, whose name is that of its row numbers"),
    ("case.parquet", "", "load case.parquet | sum a", "no SQL of duckdb does exactly this: the columns `A` and `a`, whose names differ in case alone"),
    ("case.parquet", None, "load case.parquet | count", "the columns `A` and `a`"),
    ("all.parquet", "SELECT x, x + 2 AS y FROM (VALUES (1), (2)) AS t(x)", "load all.parquet | map y / x", [(3, False), (2, False)]),
    ("all.parquet", None, "load all.parquet", [(1, 3), (2, 4)]),
    ("all.parquet", None, "load all.parquet | select x > 2 | min y", [(None, True)]),
    ("all.parquet", None, "load all.parquet | select x > 2 | map x * y | max", [(None, True)]),
    ("all.parquet", None, "load all.parquet | select x > 1 | max y", [(4, False)]),
)  # fmt: skip


def odd_files(connection, sandbox, tally):
    for name in ("odd1.parquet", "oldd.parquet", "udd.parquet", "ud.parquet", "uud.parquet"):  # what the names as patterns would find
        connection.execute(f"COPY (SELECT 1000 AS x) TO '{name}' (FORMAT parquet)")
    os.mkdir("day=3")
    with open("case.csv", "w", encoding="utf-8") as file:
        file.write("A,b,a\n1,2,30\n")
    harness.run(["-c", "load case.csv | save case.parquet"], sandbox.here, sandbox.home)
    for name, made, line, wanted in ODD_FILES:
        if made:
            connection.execute(f"COPY ({made}) TO '{name}' (FORMAT parquet)")
        shown = harness.run(["-c", f"explain sql --dialect duckdb {line}"], sandbox.here, sandbox.home)
        if isinstance(wanted, str):
            tally.check(f"file: {line}", "" if shown.status == 1 and wanted in shown.err.decode() else shown.text())
            continue
        try:
            got = connection.execute(shown.out.decode().splitlines()[1]).fetchall()
        except Exception as error:  # whatever DuckDB raises
            got = f"{type(error).__name__}: {str(error)[:300]}"
        tally.check(f"file: {line}", "" if got == wanted else f"expected {wanted}, got {got}\n{shown.text()}")


def explained_files(count, seed, sandbox, tally):
    """Whole pipelines on files of Parquet, run by DuckDB."""
    try:
        import duckdb
    except ImportError as error:
        print(f"dialects: files: skipped: {error}")
        return
    write_tables(sandbox)
    saved = write_files(sandbox)
    tally.check("files: saved", "" if saved.status == 0 else saved.text())
    mine, theirs = ({column[0]: column[3] for column in TABLES[table]} for table in TABLES)
    rng = random.Random(seed + 7)
    lines = [*WHOLE, *JOINS, *(random_queries.Writer(rng, mine, {"quotes": theirs}, words=SYMBOLS).pipeline() for _ in range(count))]
    cases = [(f"load {{trades}} | {line}", rows_of_rql(sandbox, line), number < len(WHOLE) + len(JOINS)) for number, line in enumerate(lines)]
    for line in OF_KINDS:
        result = harness.run(["--format", "csv", "-c", f"load kinds.csv {KINDS} | {line}"], sandbox.here, sandbox.home)
        read = list(csv.reader(result.out.decode().splitlines()))
        is_value = len(read) == 1
        cases.append((f"load kinds.parquet | {line}", ([], read) if is_value else (read[0], read[1:]), True))
    said = 0
    with contextlib.chdir(sandbox.here):
        connection = duckdb.connect()
        odd_files(connection, sandbox, tally)
        for line, wanted, whole in cases:
            shown = harness.run(["-c", "explain sql --dialect duckdb " + random_queries.filled(line, {table: f"{table}.parquet" for table in TABLES})], sandbox.here, sandbox.home)
            told = shown.out.decode().splitlines()
            if shown.status != 0 or len(told) != 2:
                tally.check(f"file: {line}", shown.text() if whole else "")
                continue
            said += 1
            try:
                problem = difference_of(wanted, [list(row) for row in connection.execute(told[1]).fetchall()], "distinct" not in line, UNSURE.search(line))
            except Exception as error:  # whatever DuckDB raises
                refuses = isinstance(wanted, str) and "needs distinct keys" in wanted
                problem = "" if refuses else f"{type(error).__name__}: {str(error)[:300]}"
            tally.check(f"file: {line}", problem and f"{problem}\n{told[1][:1500]}")
        connection.close()
    print(f"dialects: files: {said} of {len(cases)} pipelines wholly said", flush=True)


def main():
    options = engines.options(150, ENGINES)
    print(f"dialects: --seed {options.seed}")
    rng = random.Random(options.seed)
    rows = [(pos, *(random_value(rng, *column[:2]) for column in COLUMNS)) for pos in range(ROWS)]
    pipelines = [random_stages(rng) for _ in range(options.count)]
    tally = harness.Tally("dialects")
    with harness.Sandbox() as sandbox:
        write_columns(sandbox, rows)
        expected = answers_of_rql(sandbox, pipelines)
        for name in options.engines.split(","):
            run_engine(name, sandbox, rows, pipelines, expected, tally, options.verbose)
    with harness.Sandbox() as sandbox:
        explained(options.engines.split(","), options.count // 2, options.seed, sandbox, tally)
    with harness.Sandbox() as sandbox:
        explained_files(options.count // 2, options.seed, sandbox, tally)
    kinds = [kind for kind, _ in expected]
    print(f"dialects: {kinds.count('values')} with values, {kinds.count('row')} with failing rows, {kinds.count('other')} with other errors")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
