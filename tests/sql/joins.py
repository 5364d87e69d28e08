#!/usr/bin/env python3
"""Joins that a server runs: the same rows as of files, or the same error, on one, two and four servers.

    joins.py [--count N] [--seed S]      N random pipelines besides"""

import random
import re
import sys

import engines
import server_faults
import random_queries
from engines import harness

WORDS = ("", "a", "AAPL", "MSFT", "ÄÖ", "a'b\\c", "Z")
WIDE = (-(2**63), 2**63 - 1, -1, 0, 1, 2, 2**31, 2**40, 200)
FLOATS = (0.0, -0.0, 1.5, -2.25, 1e300, 0.1)
A = (("pos", "Int64"), ("k", "Nullable(Int32)"), ("i", "Int64"), ("u", "UInt8"), ("sym", "String"), ("x", "Float64"), ("d", "Date"))
B = (("id", "Int64"), ("k", "Nullable(Int8)"), ("j", "Int64"), ("name", "String"), ("y", "Float64"), ("w", "Nullable(Int64)"), ("day", "Date"), ("z", "Float32"))
ROWS = {"a": 60, "b": 40, "none": 0, "few": 6}

# {a}, {b}, {none} and {few} are the tables; {few} has distinct keys, and the columns of b.
PUSHED = (
    "{a} | join {b} on k",
    "{a} | left join {b} on k",
    "{a} | join {b} as q on i = j",
    "{a} | left join {b} as q on i = j | pick pos, q_k, q_w, q_name",
    "{a} | join {b} on k, i = j | drop name",
    "{a} | left join {b} as q on u = j, sym = name",
    "{a} | join {b} as q on sym = name | map pos, q_id, q_w",
    "{a} | join {b} as q on x = y | map pos, q_id",
    "{a} | derive t = x == 1.5 ? 0.0 / 0.0 : x | join (load {b} | derive s = y == 0.1 ? 0.0 / 0.0 : y) as q on t = s | map pos, q_id",
    "{a} | join {b} as q on x = z | map pos, q_id",
    "{a} | left join {b} as q on d = day | map pos, q_id, q_k, q_z is missing",
    "{a} | full join {b} on k",
    "{a} | full join {b} as q on i = j",
    "{a} | full join {b} as q on pos = id | map pos, q_w, sym",
    "{a} | full join {b} as q on sym = name, k | map pos, sym, k, q_id",
    "{a} | full join {b} as q on x = y, d = day | map pos, x, d, q_id, q_z",
    "{a} | full join {b} as q on u = j | group u: count() as n, sum(q_w & 1023) as w",
    "{a} | full join {b} as q on k | select u is missing || q_id is missing | map pos, k, q_id",
    "{a} | full join {none} on k | map pos, k, id",
    "{none} | full join {a} as q on k | map id, k, q_pos",
    "{none} | full join {none} as q on k | count",
    "{a} | select u > 100 | sort x, pos | take 30 | full join (load {b} | select w > 0 | pick k, id) on k",
    "{a} | full join {b} as q on k | full join {few} as f on i = j | map pos, k, i, q_id, f_id | tail 30",
    "{a} | full join (load {a} | group sym: count() as n) on sym | map pos, sym, n",
    "{a} | derive t = u > 100 | full join (load {b} | derive s = j > 1) as q on t = s | map pos, t, q_id",
    "{a} | semi join {b} on k",
    "{a} | anti join {b} on k",
    "{a} | semi join {b} on sym = name, k | count",
    "{a} | anti join {b} on x = y | map pos, x",
    "{a} | lookup {few} on k",
    "{a} | lookup {few} as q on i = j | map pos, q_name, q_w, q_z",
    "{a} | join {none} on k",
    "{a} | left join {none} on k",
    "{a} | anti join {none} on k | count",
    "{none} | join {b} as q on k | count",
    "{none} | left join {a} as q on k | sum q_i & 7",
    "{a} | left join {b} on k | group sym: count(w), sum(j & 1023) as s",
    "{a} | join {b} on k | sum j & 1023",
    "{a} | join {b} on k | select w > 3 && u < 200 | map pos, id, w + u as s",
    "{a} | left join {b} on k | select w is missing | count",
    "{a} | select u > 20 | join (load {b} | select w > 0 | pick k, id) on k | count",
    "{a} | join (load {b} | group k: sum(w) as t) on k | map pos, t",
    "{a} | group k: count() as n | join {b} on k | map k, n, id",
    "{a} | take 20 | left join (load {b} | take 10) on k | map pos, id",
    "{a} | join {b} on k | sort id desc, pos | take 7 | map pos, id",
    "{a} | join {b} on k | left join {few} as f on i = j | map pos, id, f_w",
    "{a} | left join (load {b} | semi join {few} on k) on k | map pos, id",
    "{a} | join (load {a} | group sym: count() as n) on sym | map pos, n",
    "{a} | derive k = k * 2 | join {b} on k | map pos, id",
    "{a} | derive t = u > 100 | join (load {b} | derive s = j > 1) as q on t = s | count",
    "{a} | left join {b} on k | derive q = w ?? -1 | group q: count()",
    "{a} | join {b} on k | distinct | count",
    "{a} | left join {b} on k | tail 5 | map pos, id",
    "{a} | select k in (load {b} | map k) | count",
    "{a} | select k in (load {b} | take 7 | map k) && x in (load {b} | map y) | map pos, k, x",
    "{a} | derive s = sym in (load {b} | map name) | group s: count(), sum(u)",
    "{a} | map pos, !(k in (load {b} | map k)) as s, (i in (load {b} | map j)) || d in (load {b} | map day) as t | take 50",
    "{a} | map pos, (k in (load {none} | map k) ? 1 : 2) as s | sum s",
    "{a} | select upper(sym) in (load {b} | select w > 0 | map name) | sum u",
    "{a} | map x == 1.5 ? 0.0 / 0.0 : x as t | count t in (load {b} | map y == 0.1 ? 0.0 / 0.0 : y as t)",
    "{a} | select (u > 100) in (load {b} | map j > 1) | reject k in (load {few} | group k: count() as n | map k) | map pos",
    "{a} | select i in (load {a} | semi join {b} on k | map i) | count",
)
# Where something fails, is refused, or runs here.
OTHER = (
    "{a} | join (load {b} | derive q = 1 // (id - id)) on k | sum q",
    "{a} | join (load {b} | derive q = 1 // (k is missing ? 0 : 1)) on k | map pos, q",
    "{a} | derive q = 1 // (u - u) | join {none} on k | sum q",
    "{a} | derive q = u // (pos - 7) | left join {b} on k | map pos, q, id",
    "{a} | derive q = i * i | semi join {b} on k | map q",
    "{a} | lookup {b} on k",
    "{a} | lookup {b} on k | sum w",
    "{a} | derive q = i * i | full join {b} on k | map pos, q, id",
    "{a} | full join (load {b} | derive q = 1 // (id - id)) on k | map pos, q",
    "{a} | full join {b} on k, sym = j",
    "{a} | asof join {b} as q on pos = id | map pos, q_w",
    "{a} | asof join {b} as q on pos = id nearest within 3 | map pos, q_w",
    "{a} | join {b} as q on k, i > j | map pos, q_id",
    "{a} | anti join {b} on i >= j | count",
    "{a} | cross join {b} as q | count",
    "{a} | join (load {b} | reverse) on k | map pos, id",
    "{a} | join b.csv on k | map pos, id",
    "{a} | join {b} on sym = k | count",
    "{a} | map 5 as c, pos | full join (load {b} | map 5 as c, id) on c | count",
    "{a} | map 5 as c, pos | full join (load {b} | map 5 as c, id) on c | map pos, id, c",
    "{a} | map 5 as c, pos | join (load {b} | map 5 as c, id) on c | count",
    "{a} | join {b} on k | scan + ",
    "{a} | join {b} on k | map pos | scan +",
    "{a} | derive s = k in (load {b} | derive q = 1 // (id - id) | map q) | count s",
    "{a} | derive s = k in (load {none} | derive q = 1 // (id - id) | map q) | count s",
    "{a} | select sym in (load b.csv | map name) | count",
)


def field(value, kind, csv):
    if value is None:
        return "" if csv else "\\N"
    if kind == "String":
        return f'"{value}"' if csv else value.replace("\\", "\\\\")
    return repr(value) if kind.startswith("Float") else str(value)


def row_of(rng, number, columns):
    made = []
    for name, kind in columns:
        if name in ("pos", "id"):
            made.append(number)
        elif kind.startswith("Nullable"):
            made.append(rng.choice((None, rng.randrange(-4, 12))))
        elif kind == "Int64":
            made.append(rng.choice(WIDE))
        elif kind == "String":
            made.append(rng.choice(WORDS))
        elif kind == "UInt8":
            made.append(rng.randrange(256))
        elif kind == "Date":
            made.append(f"2020-01-{rng.randrange(1, 20):02}")
        else:
            made.append(rng.choice(FLOATS if kind == "Float64" else (0.0, -0.0, 1.5, -2.25, 7.0)))
    return made


def rows_of(rng, table):
    columns = A if table == "a" else B
    rows = [row_of(rng, number, columns) for number in range(ROWS[table])]
    if table == "few":  # each key once
        for number, row in enumerate(rows):
            row[1], row[2] = (None if number == 3 else number * 3 - 6), WIDE[number]
    return columns, rows


def make_tables(rig, shards, counts, rng):
    """The tables a1, b1 ... of one server, a2 ... of two; and files of the same rows."""
    for table in ROWS:
        columns, rows = rows_of(rng, table)
        types = "(" + ", ".join(f"{name} {kind}" for name, kind in columns) + ")"
        with open(rig.sandbox.path(f"{table}.csv"), "w", encoding="utf-8") as file:
            file.write(",".join(name for name, _ in columns) + "\n")
            file.writelines(",".join(field(value, kind, True) for value, (_, kind) in zip(row, columns)) + "\n" for row in rows)
        for count in counts:
            local = f"{table}1" if count == 1 else f"{table}_part{count}"
            for k, server in enumerate(shards[:count]):
                server.ask(f"CREATE TABLE {local} {types} ENGINE = MergeTree ORDER BY {columns[0][0]}")
                mine = rng.sample(rows[k::count], len(rows[k::count]))
                if mine:
                    server.ask(f"INSERT INTO {local} FORMAT TabSeparated\n" + "".join("\t".join(field(value, kind, False) for value, (_, kind) in zip(row, columns)) + "\n" for row in mine))
            if count > 1:
                shards[0].ask(f"CREATE TABLE {table}{count} {types} ENGINE = Distributed(c{count}, default, {local})")


KINDS = {"Int64": "i64", "Nullable(Int32)": "i32", "Nullable(Int8)": "i8", "Nullable(Int64)": "i64", "UInt8": "u8", "Float64": "f64", "Float32": "f32", "String": "text", "Date": "date"}
# A file without rows tells no types.
FILES = {name: f"{name}.csv" for name in ROWS} | {"none": "none.csv " + ", ".join(f"{column} {KINDS[kind]}" for column, kind in B)}


def filled(line, names):
    """The line with sources; the first is loaded."""
    text = re.sub(r"load \{(\w+)\}", lambda found: f"load {names[found.group(1)]}", "load " + line)
    return re.sub(r"\{(\w+)\}", lambda found: names[found.group(1)] if " " not in names[found.group(1)] else f"(load {names[found.group(1)]})", text)


def result(rig, query, *before):
    ran = rig.run(*before, query)
    errors = re.findall(r"error: .*", ran.err.decode())
    return ran.status, ran.out.decode(), errors


def same(rig, urls, title, lines, pushed):
    names = FILES
    for line in lines:
        here, there = result(rig, filled(line, names)), result(rig, filled(line, urls))
        problem = "" if here == there or (here[0] != 0 and here[0] == there[0] and same_errors(here, there, names, urls)) else f"here {str(here)[:600]}\nthere {str(there)[:600]}"
        if pushed and here[0] != 0:
            problem = problem or str(here)
        elif pushed and not problem:
            shown = rig.run("explain sql " + filled(line, urls)).out.decode()
            problem = shown if " JOIN " not in shown and "GLOBAL IN" not in shown or re.search(r"^here: .*join", shown, re.M) else ""
        rig.tally.check(f"{title}: {line}", problem)


def same_errors(here, there, names, urls):
    """Errors name sources, addresses shortened."""
    texts = [there[2], here[2]]
    for name in names:
        shortest = urls[name][: urls[name].find("?") + 1] + "..."
        texts = [[text.replace(urls[name], names[name].split()[0]).replace(shortest, names[name].split()[0]).replace("i8", "i64") for text in errors] for errors in texts]
    return texts[0] == texts[1]


KINDS_OF = {"Int64": "int", "UInt8": "int", "Float64": "float", "Float32": "float", "String": "text", "Date": "date"}


def random_line(rng):
    """A pipeline whose first stage is a join, and which may have more."""
    mine, theirs = ({name: KINDS_OF.get(kind, "missing") for name, kind in columns} for columns in (A, B))
    writer = random_queries.Writer(rng, mine, {"b": theirs, "few": theirs, "none": theirs})
    join = None
    while not join:
        join = writer.join()
    return f"{{a}} | {join} | {writer.pipeline()}"


def unordered(rig, shards):
    """Without ?by= a join runs where the order does not matter."""
    urls = {name: f"clickhouse://127.0.0.1:{shards[0].port}/default/{name}1" for name in ROWS}
    same(rig, urls, "unordered", ("{a} | join {b} on k | count", "{a} | full join {b} on k | count", "{a} | left join {b} on k | sum w", "{a} | semi join {b} on k | group sym: count()", "{a} | lookup {few} on k | group name: count()"), True)
    rig.fails("unordered: rows", "have no order", filled("{a} | join {b} on k", urls))
    rig.fails("unordered: a source that fails", "what is computed of some row of `a1` has no result", filled("{a} | join (load {b} | derive q = 1 // (id - id)) on k | sum q", urls))


def named(rig, shards):
    """A table that `let` names, on both sides; and keys that are not shown, of what runs here."""
    table = f"let t = load {shards[0].url('a1', 'pos')}"
    for line in ("t | join (t | group sym: count() as n) on sym | map pos, n", "t | semi join (t | select u > 100) on k | count", "t | join (t | select u > 100 | map k, pos as p | reverse) on k | map pos, p", "t | left join b.csv on k | map pos"):
        here, there = (result(rig, line, first) for first in ("let t = load a.csv", table))
        rig.tally.check(f"named: {line}", "" if here == there and here[0] == 0 else f"here {here}\nthere {there}")


def elsewhere(rig, shards):
    """Of tables of two servers the second goes up to the first, through here."""
    urls = {"a": shards[0].url("a1", "pos"), "b": f"clickhouse://default@127.0.0.1:{shards[0].port}/default/b1?by=id"}
    same(rig, FILES | urls, "other user", ("{a} | join {b} on k | map pos, id",), False)
    shown = rig.run("explain sql " + filled("{a} | join {b} on k | map pos, id", urls)).out.decode()
    rig.tally.check("other user is told", "" if "sent up with it: id as c0, k as c1; its rows are read first" in shown else shown)


# Sources here: lists, ranges and names, besides files.
SENT = (
    "{a} | select sym in (load b.csv | map name) | count", "{a} | join b.csv on k | map pos, id", "{a} | select i in (range 0..3) | map pos, i",
    "{a} | left join (load b.csv | reverse | derive t = id % 3 == 0, text = text(id)) on k | map pos, t, text, day, z",
    "{a} | join (load b.csv | derive e = id * 0.01) on k | group sym: max(e), count()",
    "{a} | lookup (load few.csv | join b.csv as q on j | group k: sum(q_w) as s) on k | map pos, s",
    "{a} | join (load few.csv | left join {b} as q on k) on k | count", "{a} | semi join (load b.csv | derive day = day + 1) on d = day | count",
    "{a} | lookup b.csv on k", "{a} | lookup b.csv on k | sum w", "{a} | join (load b.csv | derive q = 1 // (id - id)) on k | sum q", "{a} | join b.csv on sym = k", "{a} | asof join b.csv as q on pos = id | map pos, q_w",
    "{a} | join b.csv on k | sum nothing", "{a} | left join b.csv on k | scan +", "{a} | join b.csv on k | derive r = row | map r", "{a} | select k in (load b.csv | map k) && sym in (load few.csv | map name) | group sym: count()",
    "{a} | join (load {b} | reverse) on k | map pos, id",
)  # fmt: skip


def uploaded(rig, urls, count, options):
    """The table is on the server, and the sources are here."""
    names = FILES | {"a": urls["a"]}
    same(rig, names, f"{count} servers, sources here", [line for line in PUSHED if line.startswith("{a}") and "load {a}" not in line], True)
    same(rig, names | {"b": urls["b"]}, f"{count} servers, sources here", SENT, False)
    rng = random.Random(options.seed + 1)
    same(rig, names, f"{count} servers, sources here", [random_line(rng) for _ in range(options.count)], False)
    with open(rig.sandbox.path("large.csv"), "w", encoding="utf-8") as file:
        file.write("k,v\n" + "".join(f"{k},{k % 100}\n" for k in range(100000)))
    line = f"load {urls['a']} | join large.csv on k | sum v"
    expected = rig.run("load a.csv | join large.csv on k | sum v").out.decode()
    rig.answers(f"{count} servers: a large source", expected, line)
    rig.answers(f"{count} servers: one too large to go up", expected, ".set upload 1MB", line)
    shown = [rig.run(setting, "explain sql " + line).out.decode() for setting in (".set upload 1MB", ".set upload off", ".set upload auto")]
    for problem, text in zip(("more than the 1 MB that go up to it; `.set upload` allows more", "does not go up to it", "rql_x0 is `large.csv`, sent up with it: k as c0, v as c1; 100000 rows, 2400000 bytes"), shown):
        rig.tally.check(f"{count} servers: {problem}", "" if problem in text else text)


def run(rig, shards, counts, options):
    for count in counts:
        urls = {name: shards[0].url(f"{name}{count}", "pos" if name == "a" else "id") for name in ROWS}
        same(rig, urls, f"{count} servers", PUSHED, True)
        same(rig, urls, f"{count} servers", OTHER, False)
        rng = random.Random(options.seed)
        same(rig, urls, f"{count} servers", [random_line(rng) for _ in range(options.count)], False)
        uploaded(rig, urls, count, options)
    if counts[-1] > 1:
        mixed = {name: shards[0].url(f"{name}{counts[-1] if name == 'a' else 1}", "pos" if name == "a" else "id") for name in ROWS}
        same(rig, mixed, "a source of one server", PUSHED[:16], True)
    unordered(rig, shards)
    named(rig, shards)
    elsewhere(rig, shards)


def main():
    options = engines.options(10)
    tally = harness.Tally("joins")
    if "clickhouse-18" in engines.present("joins", options.engines.split(",")):
        with harness.Sandbox() as sandbox:
            shards = server_faults.start_shards(sandbox)
            try:
                rig = engines.Rig(sandbox, tally)
                make_tables(rig, shards, (1, 2, 4), random.Random(options.seed))
                run(rig, shards, (1, 2, 4), options)
            finally:
                for server in shards:
                    server.stop()
    for _, rig, server in engines.each("joins", tally, [name for name in options.engines.split(",") if name == "clickhouse"]):
        make_tables(rig, [server], (1,), random.Random(options.seed))
        run(rig, [server], (1,), options)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
