#!/usr/bin/env python3
"""Tables on ClickHouse servers: a real one, started here on loopback, and ones that misbehave.

    servers.py      without clickhouse-server only those that misbehave"""

import http.server
import os
import pty
import random
import re
import select
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import engines
import modern
from engines import harness

INTERRUPTED = (130, -2)


def types(rig, server):
    """Every type, with what it prints as."""
    columns = (
        ("Int8", "-128", "-128"), ("Int16", "-32768", "-32768"), ("Int32", "-5", "-5"), ("Int64", "-9223372036854775808", "-9223372036854775808"),
        ("UInt8", "255", "255"), ("UInt16", "65535", "65535"), ("UInt32", "4294967295", "4294967295"),
        ("UInt64", "9223372036854775807", "9223372036854775807"), ("Float32", "0.5", "0.5"), ("Float64", "1e300", "1e300"),
        ("Date", "'2024-02-29'", "2024-02-29"), ("DateTime", "'2024-02-29 01:02:03'", "2024-02-29T01:02:03Z"),
        ("DateTime('Europe/Berlin')", "toDateTime(0)", "1970-01-01T01:00:00+01:00"), ("String", "'a\\tb\\'c'", "a\\tb'c"),
        ("FixedString(4)", "'ab'", "ab"), ("Enum8('on' = 1, 'off' = 2)", "'off'", "off"), ("Decimal(9, 2)", "1.25", "1.25"),
        ("Decimal(18, 4)", "-0.5", "-0.5000"), ("Decimal(38, 3)", "7", "7.000"), ("Nullable(Int32)", "NULL", ""),
        ("Nullable(String)", "NULL", ""), ("Nullable(String)", "''", '""'), ("Nullable(Float64)", "2.5", "2.5"),
        ("UUID", "toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0')", "61f0c404-5cb3-11e7-907b-a6006ad3dba0"),
    )
    server.ask("CREATE TABLE types (pos Int32, %s) ENGINE = Memory" % ", ".join(f"c{k} {kind}" for k, (kind, _, _) in enumerate(columns)))
    server.ask("INSERT INTO types SELECT 0, %s" % ", ".join(f"CAST({value} AS {kind})" for kind, value, _ in columns))
    for k, (kind, value, shown) in enumerate(columns):
        rig.answers(f"type {kind} {value}", shown + "\n", f"load {server.url('types', 'pos')} | pick c{k}")
    server.ask("CREATE TABLE large (pos Int32, n UInt64) ENGINE = Memory")
    server.ask("INSERT INTO large SELECT number, 9223372036854775806 + number FROM numbers(3)")
    rig.fails("too large", "a value of `n` does not fit in 64 bits here, row 2", f"load {server.url('large', 'pos')} | sum n")
    rig.fails("too large, left join", "a value of `n` does not fit in 64 bits here, row 2", f"load {server.url('large', 'pos')} | left join {server.url('large', 'pos')} as q on pos | map q_n")
    rig.fails("too large, full join", "a value of `n` does not fit in 64 bits here, row 2", f"load {server.url('large', 'pos')} | full join {server.url('large', 'pos')} as q on pos | map q_n")
    rig.fails("too large, full join", "a value of `n` does not fit in 64 bits here, row 2", f"load {server.url('large', 'pos')} | full join {server.url('large', 'pos')} as q on pos | map n")
    rig.fails("too large, lookup", "a value of `n` does not fit in 64 bits here, row 2", f"load {server.url('large', 'pos')} | lookup {server.url('large', 'pos')} as q on pos | map q_n")
    rig.answers("not read", "3\n", f"load {server.url('large', 'pos')} | sum pos")


def types_of_today(rig, server):
    """Types that servers have had since version 20."""
    for k, (kind, value, shown) in enumerate((
        ("Bool", "true", "true"), ("Date32", "'1905-01-02'", "1905-01-02"), ("DateTime64(3, 'UTC')", "'1969-12-31 23:59:59.250'", "1969-12-31T23:59:59.250Z"),
        ("DateTime64(6, 'Europe/Berlin')", "toDateTime64('2024-07-01 02:00:00.000001', 6, 'Europe/Berlin')", "2024-07-01T02:00:00.000001+02:00"),
        ("LowCardinality(String)", "'ab'", "ab"), ("LowCardinality(Nullable(String))", "NULL", ""), ("Nullable(Bool)", "NULL", ""), ("Nullable(Date32)", "NULL", ""),
        ("Enum16('on' = 1, 'off' = 2000)", "'off'", "off"), ("Nullable(Enum8('on' = 1))", "NULL", ""), ("Decimal64(3)", "-1.5", "-1.500"),
    )):  # fmt: skip
        server.ask(f"CREATE TABLE today_{k} (pos Int32, v {kind}) ENGINE = Memory")
        server.ask(f"INSERT INTO today_{k} SELECT 0, CAST({value} AS {kind})")
        rig.answers(f"type {kind} {value}", shown + "\n", f"load {server.url(f'today_{k}', 'pos')} | pick v")
        rig.answers(f"compared with itself: {kind}", "1\n", f"let t = load {server.url(f'today_{k}', 'pos')}", "t | select v is missing || v == v | count")
    moment = '[0] | map timestamp("2024-02-29T12:00:00.5Z") as at, date("1905-01-02") as day'
    rig.answers("a part of a second, and a day long ago", "2024-02-29T12:00:00.500Z\t1905-01-02\n", f"{moment} | save {server.url('moments', 'at')}", f"load {server.url('moments', 'at')}")


def make_rows(count):
    rng = random.Random(1)
    return [(k, rng.choice(["AAPL", "MSFT", "ÄÖ", ""]), rng.choice([None, rng.randrange(1000) / 4]), rng.randrange(-50, 50)) for k in range(count)]


def pipelines(rig, server):
    """The same lines on a table of the server and on a file."""
    rows = make_rows(70000)
    server.ask("CREATE TABLE trades (pos Int64, sym String, price Nullable(Float64), qty Int32, tags Array(Int8)) ENGINE = MergeTree ORDER BY qty")
    text = "\n".join(f"{k}\t{sym}\t{chr(92) + 'N' if price is None else price}\t{qty}\t[]" for k, sym, price, qty in rows)
    server.ask("INSERT INTO trades FORMAT TabSeparated\n" + text + "\n")
    with open(rig.sandbox.path("trades.csv"), "w", encoding="utf-8") as file:
        file.write("pos,sym,price,qty\n")
        file.writelines(f'{k},"{sym}",{"" if price is None else price},{qty}\n' for k, sym, price, qty in rows)
    url = server.url("trades", "pos")
    for line in (
        "count", "sum qty", 'select sym == "AAPL" && qty > 0 | sum qty', "group sym: count(), sum(price), max(qty)", "take 5", "tail 3",
        "sort qty, pos | take 7", "select price is missing | count", "derive d = price * qty | select d > 100 | top 5 by d",
        "per sym: derive total = sum(qty) over ..0 | select pos % 9999 == 0", 'map upper(sym) as s | group s: count()',
    ):
        expected = rig.run(f"trades.csv | {line}")
        rig.tally.check(f"reference of {line}", "" if expected.status == 0 else expected.text())
        rig.answers(line, expected.out.decode(), f"load {url} | {line}")
        rig.answers(f"let: {line}", expected.out.decode(), f"let t = load {url}", f"t | {line}", variables=("RQL_TEST=1",))
    # A table and a file in one statement.
    for line in ("zip few.csv | sum qty * w", "select pos % 7 == 3 | join few.csv on pos = w | sum qty", "take 500 | derive d = qty * 2 | zip (few.csv | take 500) | sum d * w", "join few.csv on pos = w | sum qty * pos"):
        expected = rig.run("range 0..69999 | map _ as w | save few.csv", f"trades.csv | {line}")
        rig.tally.check(f"reference of {line}", "" if expected.status == 0 and expected.out else expected.text())
        rig.answers(f"with a file: {line}", expected.out.decode(), f"load {url} | {line}")
    expected = rig.run("few.csv | join (trades.csv | take 1000) on w = pos | sum qty")
    for source in (f"load {url}", "t"):
        rig.answers(f"behind a file: {source}", expected.out.decode(), f"let t = load {url}", f"few.csv | join ({source} | take 1000) on w = pos | sum qty")
    rig.answers("an argument", "70000\n", f"let t = load '{url}'", "(t | count) + 0")


def live(rig, server):
    """What a table has may change: columns of one statement are read together, and each statement reads anew."""
    server.ask("CREATE VIEW dice AS SELECT toInt64(number) AS pos, rand(number) AS a, a AS b, toInt64(a) + 1 AS c FROM numbers(1000)")
    table = f"let t = load {server.url('dice', 'pos')}"
    rig.answers("columns are read together", "0\n", table, "t | select a != b | count")
    rig.answers("columns of a computed relation are read together", "0\n", table, "let u = t | derive c = a - b", "u | select a != b || c != 0 | count")
    rig.answers("each statement reads anew", "false\n", table, "let one = (t | sum a)", "let two = (t | sum a)", "one == two")
    rig.answers("named twice, read together", "0\n", table, "t | map a as x | zip (t | map b as y, c as z) | select x != y || z != x + 1 | count")
    # The number of rows differs from SELECT to SELECT, too.
    server.ask("CREATE VIEW some AS SELECT toInt64(number) AS pos, toInt64(1) AS one, pos AS same FROM numbers(60000) WHERE rand(number) % 2 = 0")
    some = f"let t = load {server.url('some', 'pos')}"
    for k in range(3):
        rig.answers(f"other rows {k}", "0\n0\n", some, "t | select one != 1 || pos != same | count", "t | tail 1 | select pos < 59900 | count")
    # The server's random numbers are those of a clock that ticks every 4 ms.
    counts = [f"let n{k} = (t | count)" for k in range(20)]
    rig.answers("other rows, counted", "false\n", some, *counts, " && ".join(f"n0 == n{k}" for k in range(1, 20)))
    rig.answers("other rows of renamed columns", "0\n", some, "let u = t | rename one as x", "u | select x != 1 | count")
    rig.answers("other rows, named twice", "0\n", some, "t | map one | zip (t | map pos, same) | select pos != same | count")
    rig.answers("twice in one statement", "1000\n", table, "t | join t as other on pos | count")


STATED = "pos i64, a i8, b i16, c i32, d u8, e u16, f u32, g f32, h f64, s text, day date, at timestamp, price decimal(3)"


def saved_rows(count):
    """Rows of all types, with values at their ends and missing ones."""
    rng = random.Random(2)

    def some(*values):
        return "" if rng.random() < 0.1 else str(rng.choice(values))

    for k in range(count):
        yield ",".join((
            str(k), some(-128, 127, 5), some(-32768, 32767), some(-(2**31), 2**31 - 1, 7), some(0, 255), some(0, 65535), some(0, 2**32 - 1),
            some(0.5, -1e30, 3), some("1e300", "-0.0", "nan", "inf"), some('"a,b"', "Ä" * 100, '"x""y"', "\\n", rng.randrange(1000)),
            some("1970-01-01", "2105-12-31", "2024-02-29"), some("1970-01-01T00:00:00Z", "2105-12-31T23:59:59Z", "2024-02-29T12:00:00Z"),
            some("999999999999999.999", "-999999999999999.999", "0.001"),
        ))  # fmt: skip


def saving(rig, server, modern=False):
    """What is saved is what is loaded again. Servers of today have more types, and messages of their own; the one here has no users."""
    with open(rig.sandbox.path("all.csv"), "w", encoding="utf-8") as file:
        file.write("pos,a,b,c,d,e,f,g,h,s,day,at,price\n" + "".join(row + "\n" for row in saved_rows(3000)))
    source, url = f"load all.csv {STATED}", server.url("saved", "pos")
    for rows in ("", "| take 1", "| take 0", "| select pos % 7 == 3 && s is not missing"):
        expected = rig.run(f"{source} {rows}").out.decode()
        rig.answers(f"saved rows {rows}", expected, f"{source} {rows} | save {url}", f"load {url}")
        for name, kind in (("c", "i32"), ("day", "date"), ("price", "decimal(3)"), ("s", "text")):
            shown = rig.run(f".schema {url}").out.decode()
            rig.tally.check(f"type of {name} {rows}", "" if f"{name} {kind}" in " ".join(shown.split()) else shown)
    rig.answers("many blocks", "1000000\n500000500000\n", f"range 1..1000000 | map _ as x, _ % 3 == 0 as third | save {server.url('many', 'x')}; load {server.url('many', 'x')} | count", f"load {server.url('many', 'x')} | sum x")
    rig.answers("replaced, with other columns", "1.5\n", f"[1.5] | map _ as z | save {server.url('many', 'z')} replace", f"load {server.url('many', 'z')}")
    rig.answers("a scalar", "6\n", f"range 1..3 | map _ as x | sum x | save {server.url('total', 'sum_x')}", f"load {server.url('total', 'sum_x')}")
    rig.answers("read from itself", "3.0\n", f"load {server.url('many', 'z')} | map z * 2 as z | save {server.url('many', 'z')}", f"load {server.url('many', 'z')} | sum z")
    # What cannot be saved leaves the table.
    kept = server.url("many", "z")
    for title, message, query in (
        ("no place", "row 1: 1969-12-31 of `_` has no place in the server's type Date", f'["2024-01-01", "1969-12-31"] | map date(_) as _ | save {kept[:-1]}_ replace'),
        ("a part of a second", "has no place in the server's type DateTime('UTC')", f'["2024-01-01T00:00:00.5Z"] | map timestamp(_) as z | save {kept} replace'),
        ("a name of rql's queries", "`rql_x` could not be loaded again", f"range 1..3 | map _ as z, _ as rql_x | save {kept} replace"),
        ("no such column", "there is no column `z` to order the table by", f"range 1..3 | map _ as x | save {kept}"),
        ("other columns", "`many` has no column `y`", f"range 1..3 | map _ * 0.5 as z, _ as y | save {kept}"), ("another type", "`z` of `many` is of another type, Float64", f"range 1..3 | map _ as z | save {kept}"),
        ("no way", "`add` is no way to save", f"range 1..3 | map _ as z | save {kept} add"), ("append to a file", "`append` is for tables on servers", "range 1..3 | map _ as z | save z.csv append"),
        ("missing in the order", "values of `a` are missing", f"{source} | save {server.url('many', 'a')} replace"),
        ("a function that fails", "division by zero", f"range 1..3 | map 1 / (_ - 2) as z | save {kept}"),
        ("a view", "is a View", f"range 1..3 | map _ as x | save {server.url('dice', 'x')}"),
        ("a reader", "readonly mode", f"range 1..3 | map _ * 0.5 as z | save {server.url('many', 'z', 'fixed@')}"),
        ("no database", "`127.0.0.1:%d`: Database nowhere doesn't exist" % server.port, f"range 1..3 | save clickhouse://127.0.0.1:{server.port}/nowhere/t"),
        ("password in it", "an address holds no password", f"range 1..3 | save clickhouse://a:b@127.0.0.1:{server.port}/t"),
    ):  # fmt: skip
        if not modern or title not in ("no place", "a part of a second", "a reader"):
            rig.fails(f"save: {title}", message.replace("doesn't", "does not") if modern else message, query)
    rig.answers("kept", "3.0\n", f"load {kept} | sum z")
    for wait in (0.3, 0.5, 0.8):
        process = harness.start(["--device", "host", "-c", f"range 1..60000000 | map _ as z, _ * 3 as y | save {kept} replace"], rig.sandbox.here, rig.sandbox.home)
        time.sleep(wait)
        process.send_signal(2)
        rig.tally.check(f"interrupted after {wait} s", "" if process.wait(timeout=30) in INTERRUPTED else "it ended otherwise")
    for _ in range(100):
        left = server.ask("SELECT name FROM system.tables WHERE name LIKE 'rql%' UNION ALL SELECT query FROM system.processes WHERE query LIKE 'INSERT%'")
        if not left:
            break
        time.sleep(0.05)
    rig.tally.check("nothing is left", left)
    rig.answers("kept after interrupts", "3.0\n", f"load {kept} | sum z")


def appending(rig, server):
    """Rows are added as the table's types, or none are."""
    kinds = "pos Int64, a Int8, b UInt64, c Nullable(Int32), e Float32, f Float64, s String, n Nullable(String), day Date, at DateTime, price Decimal(9, 2), d Int32 DEFAULT 7, m Int64 MATERIALIZED pos * 2"
    server.ask(f"CREATE TABLE taking ({kinds}) ENGINE = MergeTree ORDER BY pos")
    url = server.url("taking", "pos")
    with open(rig.sandbox.path("some.csv"), "w", encoding="utf-8") as file:
        file.write("pos,a,b,c,e,f,s,n,day,at,price\n")
        file.writelines(f"{k},{k - 50},{k},{'' if k % 3 == 0 else k},0.25,{k / 2},t{k},{'' if k % 2 == 0 else 'Ä'},2024-02-29,2024-02-29T01:02:03Z,{k}.07\n" for k in range(100))
    full = "load some.csv pos i64, a i64, b i64, c i32, e f32, f f64, s text, n text, day date, at timestamp, price decimal(2)"
    rig.fails("append: a column is lacking", "`taking` has a column `e` without a default, which the rows lack", f"{full} | drop e | save {url} append")
    expected = rig.run(f"{full} | pick pos, a, b, c, e, f, s, n, day, at, price").out.decode()
    for _ in range(2):
        rig.answers("appended", "", f"{full} | save {url} append")
    rig.answers("appended twice", expected, f"load {url} | pick pos, a, b, c, e, f, s, n, day, at, price | distinct | sort pos | pick pos, a, b, c, e, f, s, n, day, at, price")
    rig.answers("with defaults, and what the server computes", "200\n1400\n19800\n", f"load {url} | count", f"load {url} | sum d", f"load {url} | sum m")
    for title, message, change in (
        ("beyond its type", "row 7: 200 of `a` has no place in the server's type Int8", "derive a = pos == 7 ? 200 : a"), ("below its type", "row 3: -1 of `b` has no place in the server's type UInt64", "derive b = pos == 3 ? -1 : b"),
        ("missing", "values of `s` are missing, and its type String there takes none such", "derive s = pos == 3 ? missing : s"), ("of another type", "values of `s` here do not go into its type String there", "derive s = pos"),
        ("a part of a second", "has no place in the server's type DateTime", 'derive at = timestamp("2024-01-01T00:00:00.5Z")'), ("of another scale", "values of `price` here do not go into its type Decimal(9, 2) there", "derive price = price * price"),
        ("of more digits", "has no place in the server's type Decimal(9, 2)", "derive price = price * 10000000"),
        ("a long time ago", "1969-12-31 of `day` has no place in the server's type Date", 'derive day = date("1969-12-31")'),
        ("a wider float", "values of `e` here do not go into its type Float32 there", "derive e = e * 1.0 + f"), ("one more", "`taking` has no column `z`", "derive z = 1"), ("computed there", "`m` of `taking` is computed by the server", "derive m = pos"),
    ):  # fmt: skip
        rig.fails(f"append: {title}", message, f"{full} | {change} | save {url} append")
    rig.answers("nothing more is there", "200\n", f"load {url} | count")
    rig.answers("append makes a table", "3\n6\n", f"range 1..3 | map _ as x | save {server.url('made', 'x')} append", f"load {server.url('made', 'x')} | count", f"range 1..3 | map _ as x | save {server.url('made', 'x')} append", f"load {server.url('made', 'x')} | count")


class Bucket(http.server.BaseHTTPRequestHandler):
    """Files of a folder as S3 has them, parts too."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = os.path.join(self.server.folder, os.path.basename(urllib.parse.urlsplit(self.path).path))
        data = b""
        if os.path.isfile(path):
            with open(path, "rb") as file:
                data = file.read()
        part = re.match(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        begin, end = (int(part.group(1)), min(int(part.group(2) or len(data)), len(data) - 1) + 1) if part else (0, len(data))
        self.send_response((206 if part else 200) if data else 404)
        for name, value in (("Content-Length", end - begin), ("Content-Range", f"bytes {begin}-{end - 1}/{len(data)}"), ("ETag", '"1"'), ("Last-Modified", "Sat, 28 Nov 2026 10:00:00 GMT"), ("Accept-Ranges", "bytes")):
            self.send_header(name, str(value))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data[begin:end])

    do_HEAD = do_GET


def lake(rig, server):
    """A view over files of Parquet, as the documents have it."""
    line = "range 0..9999 | map _ as pos, _ % 7 as sym, date(\"2024-01-01\") + _ % 30 as day, _ * 0.5 as price"
    rig.answers("files of a lake", "", f"{line} | save trades.parquet")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Bucket) as bucket:
        bucket.folder, bucket.daemon_threads = rig.sandbox.here, True
        threading.Thread(target=bucket.serve_forever, daemon=True).start()
        server.ask(f"CREATE VIEW lake AS SELECT * FROM s3('http://127.0.0.1:{bucket.server_address[1]}/bank/trades.parquet', NOSIGN, 'Parquet')")
        server.ask(f"CREATE VIEW pond AS SELECT * FROM file('{rig.sandbox.path('trades.parquet')}', Parquet)")
        for view in ("lake", "pond"):
            for rest in ("count", "group sym: count(), sum(price), max(day)", "select day == date(\"2024-01-05\") | top 3 by price", "join (range 3..4 | map _ as sym, _ * 10 as w) on sym | group sym: sum(w)", "tail 3"):
                expected = rig.run(f"trades.parquet | {rest}").out.decode()
                rig.answers(f"{view}: {rest}", expected, f"load {server.url(view, 'pos')} | {rest}")
        bucket.shutdown()


def connections(rig, server):
    url = server.url("large", "pos")
    shown = rig.run(f"let t = load {url}", ".connections").out.decode().split("\t")
    good = len(shown) == 5 and shown[0] == f"clickhouse://127.0.0.1:{server.port}/" and shown[1] == "default" and shown[2][:1].isdigit() and shown[4].startswith("answers in ")
    rig.tally.check("connections", "" if good else str(shown))
    shown = rig.run(".set errors continue", "load clickhouse://a%2Fb%3Ac@" + url.removeprefix("clickhouse://") + " | count", ".connections").out.decode().split("\t")
    good = len(shown) == 5 and shown[0] == f"clickhouse://a%2Fb%3Ac@127.0.0.1:{server.port}/" and "does not accept the user `a/b:c`" in shown[4]
    rig.tally.check("connections of a user with other characters", "" if good else str(shown))
    shown = rig.run(f"let t = load {url}", ".tables").out.decode().split("\t")
    rig.tally.check("rows of a table are not told by .tables", "" if shown[1] == "" and shown[3] == "server" else str(shown))


class Prompt:
    """rql at a terminal."""

    def __init__(self, rig):
        self.process, self.master = None, None
        master, slave = pty.openpty()
        environment = dict(harness.environment(rig.sandbox.home), TERM="xterm", RQL_PAGER="")
        self.process = subprocess.Popen([harness.RQL, "--device", "host"], cwd=rig.sandbox.here, env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)
        self.master = master

    def until(self, wanted, patience=20.0):
        """What is written from now on until this appears, without escape sequences; without it if it does not appear."""
        text, end = "", time.monotonic() + patience
        while wanted not in text and select.select([self.master], [], [], max(0, end - time.monotonic()))[0]:
            text = re.sub("\033\\[[0-9;?]*[a-zA-Z]|\033[78]", "", text + os.read(self.master, 65536).decode("utf-8", "replace"))
        return text

    def shows(self, wanted, patience=20.0):
        return wanted in self.until(wanted, patience)

    def type(self, text):
        os.write(self.master, text.encode())

    def stop(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def completion(rig, server):
    here = f"clickhouse://127.0.0.1:{server.port}/"
    server.ask("CREATE TABLE tabbed (first Int64, second String) ENGINE = Memory")
    prompt = Prompt(rig)
    prompt.shows("rql> ")
    for typed, wanted in (
        (f"load {here}defau", "default/"), (f"load {here}default/tabb", "tabbed?by="), (f"load {here}default/tabbed?by=fir", "first"),
        (f"load '{here}default/tabbed?by=first,sec", "ond"), (f"load {here}default/tabbed?by=first | map sec", "second"), (f"range 1..2 | save '{here}default/tabb", "tabbed?by="),
    ):  # fmt: skip
        prompt.type(typed)
        prompt.shows(typed[-5:])
        prompt.type("\t")
        rig.tally.check(f"completes {typed}", "" if prompt.shows(wanted) else "it does not")
        prompt.type("\x15")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(1)
        prompt.type(f"load clickhouse://127.0.0.1:{silent.getsockname()[1]}/d")
        prompt.shows("/d")
        began = time.monotonic()
        prompt.type("\tEND")
        shown = prompt.shows("END")
        took = time.monotonic() - began
        rig.tally.check("a silent server", "" if shown and took < 1.5 else f"after {took:.2f} s")
    prompt.stop()


def people(rig, server):
    url = server.url("large", "pos", "reader@")
    rig.fails("no password", "does not accept the user `reader`", f"load {url} | count")
    rig.fails("wrong password", "does not accept the user `reader`", f"load {url} | count", variables=("CLICKHOUSE_PASSWORD=wrong",))
    rig.answers("password of the environment", "3\n", f"load {url} | count", variables=("CLICKHOUSE_PASSWORD=secret",))
    rig.answers("user of the environment", "3\n", f"load {server.url('large', 'pos')} | count", variables=("CLICKHOUSE_USER=reader", "CLICKHOUSE_PASSWORD=secret"))
    with open(os.path.join(rig.sandbox.home, ".netrc"), "w", encoding="utf-8") as file:
        file.write("machine 127.0.0.1 login reader password secret\n")
    rig.answers("password of ~/.netrc", "3\n", f"load {url} | count")
    rig.answers("user of ~/.netrc", "3\n", f"load {server.url('large', 'pos')} | count")
    os.remove(os.path.join(rig.sandbox.home, ".netrc"))
    rig.answers("readonly", "3\n", f"load {server.url('large', 'pos', 'fixed@')} | count")
    # Settings that would cut what is read without a word.
    rig.fails("settings that cut", "read_overflow_mode = break, which can leave rows out", f"load {server.url('trades', 'pos', 'cut@')} | sum qty")
    rig.fails("settings that fail", "Limit for rows", f"load {server.url('trades', 'pos', 'free@')} | sum qty")


def passwords(rig, server):
    """A password is in no message, file, command line or statement."""
    secret, refused = "hunter2", f"clickhouse://a:hunter2@127.0.0.1:{server.port}/default/large?by=pos"
    url = server.url("large", "pos", "reader@")
    lines = (f"load {url} | count", f"load {url} | sum nothing", f"load {url}x | count", f"explain load {url} | count", ".connections", f"load {refused} | count", f"range 1..3 | save {refused}", f"load clickhouse://127.0.0.1:{server.port}/large?password={secret} | count")
    refused = refused.replace(secret, "hunter2/a?b#c@hunter2")
    lines += (f"load {refused} | count", f"load '{refused.replace('2/a', '2 a')}' | count", f"load {refused.replace('clickhouse', 'Clickhouse')} | count", f"explain load {refused}", f".set temp {refused}", f".drop {refused}")
    for password in ("secret", "hunter2"):
        result = rig.run(".set errors continue", ".timing on", *lines, variables=("CLICKHOUSE_USER=reader", f"CLICKHOUSE_PASSWORD={password}"))
        shown = result.out + result.err
        good = secret.encode() not in shown and b"*******" in shown and (password == "secret" or b"does not accept the user `reader`" in shown)
        rig.tally.check(f"messages without a password: {password}", "" if good else shown.decode())
    server.ask("CREATE VIEW napping AS SELECT pos, sleepEachRow(0.01) AS s FROM slow")
    environment = dict(os.environ, CLICKHOUSE_USER="reader", CLICKHOUSE_PASSWORD="secret", XDG_STATE_HOME=rig.sandbox.home, XDG_CACHE_HOME=rig.sandbox.home)
    with subprocess.Popen([harness.RQL, "-c", f"load {server.url('napping', 'pos', 'reader@')} | sum s"], env=environment, cwd=rig.sandbox.here, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        found = ""
        for _ in range(200):
            found = found or server.ask("SELECT query FROM system.processes WHERE query LIKE '%napping%' AND query NOT LIKE '%processes%'")
            if found or process.poll() is not None:
                break
            time.sleep(0.02)
        with open(f"/proc/{process.pid}/cmdline", "rb") as file:
            command = file.read()
        process.communicate()
    rig.tally.check("a statement and a command line without a password", "" if found and "secret" not in found and b"secret" not in command else f"{found} {command}")
    prompt = Prompt(rig)
    prompt.shows("rql> ")
    for line in lines:
        prompt.type(line + "\r")
        prompt.type("99887765 + 1\r")
        prompt.shows("99,887,766")
    prompt.type(".quit\r")
    prompt.process.wait(timeout=20)
    prompt.stop()
    kept = []
    for folder, _, names in os.walk(rig.sandbox.home):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                kept += [name] if secret.encode() in file.read() else []
    rig.tally.check("files without a password", str(kept) if kept else "")


def wrong(rig, server):
    rig.fails("no table", "there is no table `default.trade` on `127.0.0.1:%d`; did you mean `trades`?" % server.port, f"load {server.url('trade', 'pos')}")
    rig.fails("no order", "the rows of `types` have no order", f"load clickhouse://127.0.0.1:{server.port}/types")
    rig.fails("no such order", "`types` has no column `po` to order its rows by", f"load {server.url('types', 'po')}")
    rig.fails("no server", "cannot connect to `127.0.0.1:1`", "load clickhouse://127.0.0.1:1/d/t?by=x")
    rig.fails("no host", "there is no host of `no-host.invalid:8123`", "load clickhouse://no-host.invalid/d/t?by=x")
    rig.fails("no TLS", "no TLS connection", f"load clickhouses://127.0.0.1:{server.port}/d/t?by=x")
    server.ask("CREATE TABLE named (pos Int64, rql_0 Int64) ENGINE = Memory")
    server.ask("INSERT INTO named SELECT number, -number FROM numbers(3)")
    rig.answers("a name of rql's queries", "2\n", f"load {server.url('named', 'pos')} | tail 1 | sum pos")
    rig.fails("order by such a name", "`named` has no column `rql_0`", f"load {server.url('named', 'rql_0')} | sum pos")
    shown = harness.run(["--device", "host", server.url("types", "pos"), "-c", "| count"], rig.sandbox.here, rig.sandbox.home)
    rig.tally.check("address as a file of the command line", "" if shown.out == b"1\n" and shown.status == 0 else shown.text())
    rig.fails("a format", "has no format", f"load {server.url('types', 'pos')} csv")
    server.ask("CREATE TABLE slow (pos Int64) ENGINE = Memory")
    server.ask("INSERT INTO slow SELECT number FROM numbers(100)")
    server.ask("CREATE VIEW sleeping AS SELECT pos, sleepEachRow(0.02) AS s FROM slow")
    process = harness.start(["-c", f"load {server.url('sleeping', 'pos')} | sum s"], rig.sandbox.here, rig.sandbox.home)
    for _ in range(500):  # until it is asked there
        if server.ask("SELECT count() FROM system.processes WHERE query LIKE '%sleeping%' AND query NOT LIKE 'DESCRIBE%' AND query NOT LIKE '%processes%'").strip() != "0":
            break
        time.sleep(0.02)
    began = time.monotonic()
    process.send_signal(2)
    status = process.wait(timeout=20)
    took = time.monotonic() - began
    rig.tally.check("interrupt", "" if status in INTERRUPTED and took < 3 else f"status {status} after {took:.2f} s")
    for _ in range(100):
        running = server.ask("SELECT count() FROM system.processes WHERE query LIKE '%sleeping%' AND query NOT LIKE '%processes%'").strip()
        if running == "0":
            break
        time.sleep(0.05)
    rig.tally.check("interrupt ends the query there", "" if running == "0" else f"{running} queries still run")


def block(columns, rows):
    """A block of format Native; columns are (name, type, bytes)."""
    data = bytes([len(columns), rows])
    for name, kind, values in columns:
        data += bytes([len(name)]) + name.encode() + bytes([len(kind)]) + kind.encode() + values
    return data


def texts(values):
    return b"".join(bytes([len(value)]) + value.encode() for value in values)


class Misbehaving(http.server.BaseHTTPRequestHandler):
    """Answers what is asked when a table is opened; what it does with its rows is the path's user name."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, body, status=200, length=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def do_POST(self):
        sql = self.rfile.read(int(self.headers["Content-Length"])).decode()
        kind = self.server.kind
        rows = block([("rql_0", "Int32", struct.pack("<3i", 1, 2, 3))], 3)
        if kind == "html":
            self.send(b"<html>hello</html>")
        elif kind == "status":
            self.send(b"<html>gone</html>", 503)
        elif "system.columns" in sql:
            self.send(block([("rql_0", "String", texts(["x"])), ("rql_1", "String", texts(["Int32"])), ("rql_2", "String", texts(["column 0"]))], 1))
        elif "system.processes" in sql:
            self.server.looks += 1
            if kind == "stall":
                self.server.stalled.wait(30)
            progress = self.server.looks if kind == "slow" else 1
            self.send(f"{progress}\t9\t0\t0\t0\t0\n".encode() if kind in ("slow", "alive") else b"")
        elif sql.startswith("KILL"):
            self.send(b"")
        elif "count()" in sql:
            self.send(block([("rql_0", "UInt64", struct.pack("<Q", 3))], 1))
        elif kind.startswith("once-") and not self.server.broken:
            self.server.broken = True
            if kind == "once-refused":
                self.send(b"Code: 279. DB::NetException: All connection tries failed. Log: \n\nCode: 210. DB::NetException: Connection refused (db2:9000). (NETWORK_ERROR) (version 26.9)\n\n. (ALL_CONNECTION_TRIES_FAILED)", 500)
            elif kind == "once-told":
                self.send(rows + b"Code: 32. DB::Exception: Attempt to read after eof: while receiving packet from db2:9000. (ATTEMPT_TO_READ_AFTER_EOF) (version 26.9)\n")
            else:
                self.send(rows[:-2], length=len(rows))
            self.close_connection = True
        elif kind.startswith("once-"):
            self.send(rows)
        elif kind == "fine":
            self.send(rows)
        elif kind == "retyped":
            self.send(rows.replace(b"\x05Int32", b"\x07Float32"))
        elif kind == "cut":
            self.send(rows[:-2], length=len(rows))
            self.close_connection = True
        elif kind == "short":
            self.send(rows[:-2])
        elif kind == "exception":
            self.send(rows + b"Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED) (version 23.8)\n")
        elif kind == "exception-cut":
            self.send(rows[:-2] + b"Code: 210. DB::Exception: All connection tries failed while connecting to db2:9000. (ALL_CONNECTION_TRIES_FAILED) (version 23.8)\n", length=10000)
            self.close_connection = True
        elif kind in ("stall", "forgotten", "alive", "slow"):
            self.send(rows[:5], length=len(rows))
            self.server.stalled.wait(3 if kind == "slow" else 30)
            if kind == "slow":
                self.wfile.write(rows[5:])


def misbehaving(rig):
    for kind, message in (
        ("fine", None),
        ("once-cut", None),
        ("once-told", None),
        ("once-refused", None),
        ("html", "the answer of `127.0.0.1:PORT` is not what was asked for"),
        ("status", "answered with HTTP status 503"),
        ("retyped", "the type of `x` has changed on `127.0.0.1:PORT` since the table was loaded"),
        ("cut", "the connection to `127.0.0.1:PORT` broke off before all rows were received"),
        ("short", "the answer of `127.0.0.1:PORT` ends within a block of rows"),
        ("exception", "`127.0.0.1:PORT`: Memory limit exceeded"),
        ("exception", "have the server's administrator raise `max_memory_usage`"),
        ("exception-cut", "`127.0.0.1:PORT` has lost one of the servers of this table: All connection tries failed while connecting to db2:9000"),
        ("forgotten", "`127.0.0.1:PORT` sends nothing, and its query has shown no progress for 1 seconds"),
        ("alive", "no progress for 1 seconds"),
        ("slow", None),
        ("stall", None),
    ):
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Misbehaving) as server:
            server.kind, server.stalled, server.daemon_threads, server.looks, server.broken = kind, threading.Event(), True, 0, False
            threading.Thread(target=server.serve_forever, daemon=True).start()
            port = server.server_address[1]
            query = f"load clickhouse://127.0.0.1:{port}/d/t?by=x | product"
            if message:
                rig.fails(kind, message.replace("PORT", str(port)), ".set timeout 1", query)
            elif kind.startswith(("fine", "slow", "once")):
                rig.answers(kind, "6\n", ".set timeout 1", query)
            else:
                process = harness.start(["-c", query], rig.sandbox.here, rig.sandbox.home)
                time.sleep(0.5)
                process.send_signal(2)
                status = process.wait(timeout=20)
                rig.tally.check("a stall can be interrupted", "" if status in INTERRUPTED else f"status {status}")
            server.stalled.set()
            server.shutdown()
    # Connections beyond those that wait to be accepted are not answered at all.
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        time.sleep(0.1)
        rig.fails("no connection in time", "cannot connect to `127.0.0.1:%d`" % full.getsockname()[1], ".set timeout 1", f"load clickhouse://127.0.0.1:{full.getsockname()[1]}/d/t?by=x | product")
        for client in waiting:
            client.close()


class Between(modern.Handler):
    """Passes requests on to a server, but for what goes wrong."""

    def do_POST(self):
        body = self.body()
        text = urllib.parse.unquote(self.path).encode() + body
        if self.server.kind == "refuses" and text.find(b"DROP TABLE") >= 0 and text.find(b"rql_old") >= 0:
            self.answer(500, b"Code: 359. DB::Exception: Table is too large to be dropped. (TABLE_SIZE_EXCEEDS_MAX_DROP_SIZE_LIMIT) (version 23.8)", ())
            return
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.server.behind}{self.path}", data=body, timeout=60) as answer:
                status, found = 200, answer.read()
        except urllib.error.HTTPError as problem:
            status, found = problem.code, problem.read()
        if self.server.kind == "loses" and b"RENAME TABLE" in text:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self.answer(status, found, ())


def saving_between(rig, server):
    """A table is saved although the answer is lost, and one that stays is told."""
    rig.answers("to be replaced", "", f"[1.5] | map _ as z | save {server.url('between', 'z')}")
    for k, kind in enumerate(("loses", "refuses"), 5):
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Between) as between:
            between.kind, between.behind, between.daemon_threads = kind, server.port, True
            threading.Thread(target=between.serve_forever, daemon=True).start()
            address = f"clickhouse://127.0.0.1:{between.server_address[1]}/default/between?by=z"
            result = rig.run(f"[{k}] | map _ as z | save {address} replace")
            told = b"the table that they replace is still there as `rql_old_" in result.err and b"too large to be dropped" in result.err
            rig.tally.check(f"saved by a server that {kind}", "" if result.status == 0 and told == (kind == "refuses") else result.text())
            between.shutdown()
        rig.answers(f"what a server has that {kind}", f"{k}\n", f"load {server.url('between', 'z')} | sum z")
        left = server.ask("SELECT count() FROM system.tables WHERE name LIKE 'rql%'").strip()
        rig.tally.check(f"what is left by a server that {kind}", "" if left == str(int(kind == "refuses")) else left)
    for name in server.ask("SELECT name FROM system.tables WHERE name LIKE 'rql%'").split():
        server.ask(f"DROP TABLE {name}")


def main():
    tally = harness.Tally("servers")
    with harness.Sandbox() as sandbox:
        misbehaving(engines.Rig(sandbox, tally))
    for name, rig, server in engines.each("servers", tally):
        types(rig, server)
        pipelines(rig, server)
        live(rig, server)
        saving(rig, server, name == "clickhouse")
        appending(rig, server)
        saving_between(rig, server)
        if name == "clickhouse":
            types_of_today(rig, server)
            lake(rig, server)
            continue
        connections(rig, server)
        completion(rig, server)
        people(rig, server)
        wrong(rig, server)
        passwords(rig, server)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
