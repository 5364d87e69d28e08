#!/usr/bin/env python3
"""Faults of ClickHouse servers, each made to happen, and tables on two and four of them.

    server_faults.py      without clickhouse-server only certificates"""

import http.server
import random
import re
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time

import engines
import servers
from engines import harness

SHARDS = 4
ROWS = 20000


# A line for each stage: those that servers run, and those that run here on what comes over.
ON_SERVERS = {
    "join": "join (rows.csv | group id: count() as n) on id | sum n", "lookup": "lookup (rows.csv | group id: count() as n) on id | sum n",
    "select": "select id == 7 | count", "reject": "reject amount > 0 | count", "take": "take 3", "skip": "skip 19990 | pick pos, sym", "tail": "tail 3", "map": "map amount * 2 as v | sum",
    "derive": "derive v = amount + id | sum v", "braid": "pick id, amount | braid $1 * 2 + $2 as v | count", "pick": "pick sym, id | distinct", "drop": "drop sym | take 2",
    "rename": "rename id as key | select key == 3 | count", "fsts": "pick id, amount | fsts | sum", "snds": "pick id, amount | snds | sum", "nth": "nth 2 | sum",
    "sort": "sort amount desc, pos | take 5", "top": "top 4 by amount", "group": "group sym: count(), sum(amount), max(id)", "distinct": "pick sym | distinct", "count": "count id == 4",
    "sum": "sum amount", "min": "min amount", "max": "max id", "mean": "mean amount", "wmean": "wmean amount, id", "any": "any amount > 998", "all": "all id < 40",
    "reduce": "pick id | reduce max", "assert": "assert id >= 0 | count",
    "median": "median amount",
    "quantile": "quantile 0.3, amount", "stddev": "stddev amount", "var": "var amount", "corr": "corr id, amount", "hist": "hist amount 7", "sample": "sample 5 seed 3", "argmax": "argmax amount, pos", "describe": "pick sym | describe",
}
HERE = {
    "zip": "zip (rows.csv | map amount as other) | sum other - amount", "with": "with m = mean(amount) | select amount > m | count", "scan": "pick amount | scan + | max",
    "per": "per sym: derive t = sum(amount) over ..0 | select pos % 999 == 0", "repeat": "repeat 2: ( derive pos = pos + 1 ) | sum pos",
    "append": "append rows.csv | count",
    "union": "pick id | union (rows.csv | map id + 20 as id) | count", "except": "pick id | except (rows.csv | map id + 20 as id) | count",
    "intersect": "pick id | intersect (rows.csv | map id + 20 as id) | count",
    "unpivot": "unpivot id, amount as name, value | count", "unnest": "derive parts = split(sym, \"A\") | unnest parts with k | group parts, k: count()", "reverse": "reverse | take 3",
    "stencil": "pick amount | stencil -1..1 else 0: at(-1) + at(1) as v | max", "gather": "pick amount | gather [3, 5]", "scatter": "pick amount | take 3 | scatter [2, 0, 1]",
    "shape": "pick amount | shape 200 100 | sum", "product": "map id % 2 + 1 as v | take 9 | product",
    "mode": "mode id", "list": "pick sym | take 9 | list sym, \"-\"", "argmin": "argmin amount",
    "plot": "pick id, amount | plot", "show": "show 3", "browse": "take 3 | browse", "save": "take 3 | save three.csv",
}


def start_shards(sandbox, counts=(2, SHARDS)):
    """Servers that know the clusters c2, of the first two of them, and so on, and pair, whose only shard the last two are."""
    ports = [engines.free_port() for _ in range(SHARDS)]
    shard = "<shard><replica><host>127.0.0.1</host><port>{}</port></replica></shard>"
    clusters = "".join(f"<c{count}>{''.join(shard.format(port) for port in ports[:count])}</c{count}>" for count in counts)
    clusters += "<pair>" + (shard.format(ports[-2]) + shard.format(ports[-1])).replace("</shard><shard>", "") + "</pair>"
    started = [engines.ClickHouse(sandbox.path(f"shard{k}"), port, clusters) for k, port in enumerate(ports)]
    return [server.wait() for server in started]


def fill(rig, shards):
    """The same rows in tables on two and four servers and in a file."""
    rng = random.Random(3)
    rows = [(k, rng.randrange(40), rng.randrange(-1000, 1000), rng.choice(["AAPL", "MSFT", "ÄÖ", ""])) for k in range(ROWS)]
    with open(rig.sandbox.path("rows.csv"), "w", encoding="utf-8") as file:
        file.write("pos,id,amount,sym\n" + "".join(f'{pos},{key},{amount},"{sym}"\n' for pos, key, amount, sym in rows))
    columns = "(pos Int64, id Int32, amount Int32, sym String)"
    for count in (2, SHARDS):
        for k, server in enumerate(shards[:count]):
            server.ask(f"CREATE TABLE part{count} {columns} ENGINE = MergeTree ORDER BY pos")
            server.ask(f"INSERT INTO part{count} FORMAT TabSeparated\n" + "".join("\t".join(map(str, row)) + "\n" for row in rows[k::count]))
        shards[0].ask(f"CREATE TABLE all{count} {columns} ENGINE = Distributed(c{count}, default, part{count})")


def stages(rig, shards):
    """Each stage, on two and four servers as here. A stage that is new, or that servers have begun to run, is to be added."""
    listed = {line.split()[0] for line in rig.run(".help stages").out.decode().splitlines()}
    missing = listed ^ {*ON_SERVERS, *HERE}
    rig.tally.check("a line for each stage", f"not in both: {missing}" if missing else "")
    for name, line in (ON_SERVERS | HERE).items():
        expected = rig.run(f"rows.csv | {line}")
        rig.tally.check(f"stage {name}: reference", "" if expected.status == 0 else expected.text())
        for count in (2, SHARDS) if name in ON_SERVERS else (SHARDS,):
            rig.answers(f"stage {name}: {count} shards", expected.out.decode(), f"load {shards[0].url(f'all{count}', 'pos')} | {line}")
        shown = rig.run(f"explain load {shards[0].url('all2', 'pos')} | {line}").out
        pushed = shown.startswith(b"on the server") and b"\nhere: " not in shown
        rig.tally.check(f"stage {name}: where", "" if pushed == (name in ON_SERVERS) else f"servers {'run' if pushed else 'do not run'} it")


def distributed(rig, shards):
    for line in (
        "count", "sum amount", "select id == 7 && amount > 0 | sum amount", "group sym: count(), sum(amount), max(id)", "take 3",
        "sort amount desc, pos | take 5", "group id: mean(amount) | top 3 by mean_amount", "pick sym | distinct", 'select sym == "ÄÖ" | count',
        "median amount", "any amount > 998", "group: sum(amount * 0.1), distinct(sym), all(id < 39)", "group id: distinct(sym), median(amount), quantile(0.9, amount * 0.1)", "group amount * 0.5 as half: count() | take 5",
        "group sym: sum(amount * 0.1), mean(amount * 0.7), min(amount * 0.7)", "group id: mean(amount * 0.1) as m | sort m | tail 3", "tail 3", "map pos, amount * 0.1 as v | top 3 by v", "map amount * 0.1 as v | max",
        "group sym: mode(id), count()", "group id: mode(sym), mode(amount > 0)", "take 99 | group id: list(sym, \"/\"), list(amount)", "group sym, id % 3 as k: sum(amount), median(id) rollup",
        "map pos, median(amount) over -6..0 as m, ntile(4, amount) as q, ewma(amount, 0.1) as e | top 3 by m, pos", "derive z = id % 5 == 0 ? missing : amount | map fill(z) as a, fill(z, linear) as b | sum a",
    ):  # fmt: skip
        expected = rig.run(f"rows.csv | {line}")
        rig.tally.check(f"reference of {line}", "" if expected.status == 0 else expected.text())
        for count in (2, SHARDS):
            rig.answers(f"{count} shards: {line}", expected.out.decode(), f"load {shards[0].url(f'all{count}', 'pos')} | {line}")
    shown = rig.run(f"let t = load {shards[0].url('all2', 'pos')}", ".connections")
    rig.tally.check("clusters", "" if b"c2 (2), c4 (4)" in shown.out else shown.text())
    rig.fails("save into it", "is a Distributed", f"range 1..3 | save {shards[0].url('all2', 'range')[:-9]}")


def interrupts(rig, shards):
    """Ctrl-C ends the queries on all shards."""
    for server in shards:
        server.ask("CREATE VIEW waiting AS SELECT pos, amount + sleepEachRow(0.0001) AS s FROM part4")
    shards[0].ask(f"CREATE TABLE all_waiting (pos Int64, s Int64) ENGINE = Distributed(c{SHARDS}, default, waiting)")
    left = "SELECT query FROM system.processes WHERE query LIKE '%waiting%' AND query NOT LIKE '%system.processes%'"
    for line in ("sum s", "sort s | take 3"):
        process = harness.start(["-c", f"load {shards[0].url('all_waiting', 'pos')} | {line}"], rig.sandbox.here, rig.sandbox.home)
        end = time.monotonic() + 20
        while time.monotonic() < end and not all(server.ask(left) for server in shards):
            time.sleep(0.02)
        rig.tally.check(f"runs on all shards: {line}", "" if process.poll() is None else str(process.communicate()))
        process.send_signal(signal.SIGINT)
        status = process.wait(timeout=20)
        rig.tally.check(f"interrupt: {line}", "" if status in servers.INTERRUPTED else f"status {status}")
        end = time.monotonic() + 10
        while time.monotonic() < end and any(server.ask(left) for server in shards):
            time.sleep(0.02)
        rig.tally.check(f"nothing runs on any shard: {line}", "\n".join(server.ask(left) for server in shards).strip())


def dead_shard(rig, shards):
    """Never the rows of the other shards alone."""
    shards[-1].stop()
    for user in ("", "skipping@"):
        result = rig.run(f"load {shards[0].url('all4', 'pos', user)} | sum amount")
        good = result.status == 1 and not result.out and b"Connection refused" in result.err and result.err.count(b"error: ") == 1
        rig.tally.check(f"a dead shard {user}", "" if good else result.text())
    rig.fails("a profile that skips it", "has the setting skip_unavailable_shards = 1", f"load {shards[0].url('all4', 'pos', 'skipped@')} | sum amount")
    rig.answers("the others", f"{ROWS}\n", f"load {shards[0].url('all2', 'pos', 'skipping@')} | count")
    shards[-1].launch()
    shards[-1].wait()
    rig.answers("it is back", f"{ROWS}\n", f"load {shards[0].url('all4', 'pos')} | count")


def replicas(rig, shards):
    """A replica that dies within a question: the other one answers it. Without any there is one error."""
    running = "SELECT count() FROM system.processes WHERE query LIKE '%twin%' AND query NOT LIKE '%system.processes%'"
    for server in shards[-2:]:
        server.ask("CREATE VIEW twin AS SELECT toInt64(number) AS pos, number + sleepEachRow(0.0002) AS s FROM numbers(10000)")
    shards[0].ask("CREATE TABLE all_twin (pos Int64, s UInt64) ENGINE = Distributed(pair, default, twin)")
    question = f"load {shards[0].url('all_twin', 'pos')} | sum s"
    process = harness.start(["--device", "host", "-c", question], rig.sandbox.here, rig.sandbox.home)
    end, killed = time.monotonic() + 20, None
    while time.monotonic() < end and not killed:
        killed = next((server for server in shards[-2:] if int(server.ask(running))), None)
        time.sleep(0.02)
    if killed:
        killed.stop()
    out, errors = process.communicate(timeout=60)
    rig.tally.check("a replica that dies", "" if killed and out == b"49995000\n" and not errors else f"{killed} {out} {errors}")
    for server in shards[-2:]:
        server.stop()
    rig.fails("no replica", "`127.0.0.1:%d` has lost one of the servers of this table: Connection refused (127.0.0.1:" % shards[0].port, question)
    for server in shards[-2:]:
        server.launch()
        server.wait()
    rig.answers("the replicas are back", "49995000\n", question)


def appends(rig, shards):
    """Rows that are said to be saved are stored on all shards; if one is dead, that is told."""
    for server in shards:
        server.ask("CREATE TABLE taken (pos Int64, v Int64) ENGINE = MergeTree ORDER BY pos")
    shards[0].ask(f"CREATE TABLE all_taken (pos Int64, v Int64) ENGINE = Distributed(c{SHARDS}, default, taken, pos)")
    url = shards[0].url("all_taken", "pos")
    rig.answers("append to shards", "100000\n", f"range 1..100000 | map _ as pos, _ * 3 as v | save {url} append", f"load {url} | count")
    counts = [int(server.ask("SELECT count() FROM taken")) for server in shards]
    rig.tally.check("appended on each shard", "" if counts == [100000 // SHARDS] * SHARDS else str(counts))
    shards[-1].stop()
    result = rig.run(f"range 1..100000 | map _ as pos, _ * 3 as v | save {url} append")
    good = result.status == 1 and b"Connection refused" in result.err and result.err.count(b"error: ") == 1 and b"may be in `all_taken` nevertheless" in result.err
    rig.tally.check("append with a dead shard", "" if good else result.text())
    shards[-1].launch()
    shards[-1].wait()
    rig.fails("no key", "no sharding key provided", f"load {shards[0].url('all2', 'pos')} | take 5 | save {shards[0].url('all2', 'pos')} append")


class Session(servers.Prompt):
    """rql at a prompt, which takes statements one by one."""

    def ask(self, statement):
        """What the statement prints, and what of the prompt stands before and after it."""
        self.type(statement + "\r")
        self.type("99887765 + 1\r")
        return self.until("99,887,766")


def restarts(rig, server):
    session = Session(rig)
    session.ask(f"let t = load {server.url('part2', 'pos')}")
    count = f"{ROWS // 2:,}"
    rig.tally.check("a session", "" if count in session.ask("t | count") else "another answer")
    server.stop()
    refused = session.ask("t | sum pos")
    rig.tally.check("a server that is down", "" if "cannot connect to" in refused and refused.count("error: ") == 1 else refused)
    shown = session.ask(".connections")
    rig.tally.check("is told by .connections", "" if "cannot connect to" in shown else shown)
    server.launch()
    server.wait()
    rig.tally.check("a server that has restarted", "" if count in session.ask("t | count") else "another answer")
    server.ask("CREATE VIEW lasting AS SELECT pos, amount + sleepEachRow(0.0001) AS s FROM part2")
    threading.Timer(0.7, server.process.kill).start()
    broken = session.ask(f"load {server.url('lasting', 'pos')} | sum s")
    rig.tally.check("a server that ends within a statement", "" if broken.count("error: ") == 1 and ("broke off before" in broken or "cannot connect" in broken) else broken)
    server.process.wait()
    server.launch()
    server.wait()
    rig.tally.check("and is back", "" if count in session.ask("t | count") else "another answer")
    # A table that changes.
    server.ask("CREATE TABLE changing (pos Int64, v Int32) ENGINE = Memory")
    server.ask("INSERT INTO changing VALUES (1, 5)")
    session.ask(f"let c = load {server.url('changing', 'pos')}")
    session.ask(f"let d = load {server.url('changing', 'pos').split('?', maxsplit=1)[0]}")
    rig.tally.check("before a change", "" if re.search(r"[\r\n]5\s", shown := session.ask("c | sum v")) else shown)
    server.ask("DROP TABLE changing")
    server.ask("CREATE TABLE changing (pos Int64, v Float64) ENGINE = Memory")
    server.ask("INSERT INTO changing VALUES (1, 5.5)")
    changed = session.ask("c | map v * 2")
    rig.tally.check("another type", "" if changed.count("error: ") == 1 else changed)
    changed = session.ask("c | select v > 5 | count")
    rig.tally.check("another type, counted on the server", "" if changed.count("error: ") == 1 and "the type of `v` has changed" in changed else changed)
    changed = session.ask("d | sum v")
    rig.tally.check("another type, without an order", "" if "have other types" in changed else changed)
    server.ask("DROP TABLE changing")
    server.ask("CREATE TABLE changing (pos Int64, w Int32) ENGINE = Memory")
    changed = session.ask("c | sum v")
    rig.tally.check("a column that is gone", "" if changed.count("error: ") == 1 else changed)
    server.ask("DROP TABLE changing")
    changed = session.ask("c | sum v")
    rig.tally.check("a table that is gone", "" if changed.count("error: ") == 1 and "doesn't exist" in changed else changed)
    server.ask("CREATE TABLE single (v Int32) ENGINE = Memory")
    server.ask("INSERT INTO single VALUES (5)")
    session.ask(f"let s = load {server.url('single', 'v')}")
    rig.tally.check("a table of one column", "" if re.search(r"[\r\n]5\s", shown := session.ask("s | sum v")) else shown)
    server.ask("INSERT INTO single VALUES (7)")
    rig.tally.check("each statement reads it anew", "" if re.search(r"[\r\n]12\s", shown := session.ask("s | sum v")) else shown)
    rig.tally.check("and so does an index", "" if re.search(r"[\r\n]7\s", shown := session.ask("s[1]")) else shown)
    server.ask("CREATE TABLE worded (v Int32, w String) ENGINE = Memory")
    server.ask("INSERT INTO worded VALUES (5, 'five')")
    session.ask(f"let w = load {server.url('worded', 'v')}")
    rig.tally.check("a text of a table", "" if re.search(r"[\r\n]five\s", shown := session.ask("w.w")) else shown)
    # Saving while the server ends leaves what was there.
    session.ask(f"[1.5] | map $1 as z | save {server.url('kept', 'z')}")
    threading.Timer(0.6, server.process.kill).start()
    lost = session.ask(f"range 1..60000000 | map $1 as z, $1 * 3 as y | save {server.url('kept', 'z')} replace")
    server.process.wait()
    server.launch()
    server.wait()
    rig.tally.check("a server that ends while rows are saved", "" if lost.count("error: ") == 1 else lost)
    rig.tally.check("keeps what was there", "" if "1.5" in session.ask(f"load {server.url('kept', 'z')} | sum z") else "it does not")
    # A server that hangs.
    session.ask(".set timeout 1")
    harness.pause(server.process.pid)
    hung = session.ask("t | sum pos")
    server.process.send_signal(signal.SIGCONT)
    rig.tally.check("a server that hangs", "" if hung.count("error: ") == 1 and "has shown no progress" in hung else hung)
    rig.tally.check("and goes on", "" if count in session.ask("t | count") else "another answer")
    session.stop()


def certificates(rig):
    """A certificate that nobody has signed."""
    files = {name: rig.sandbox.path(name) for name in ("key.pem", "certificate.pem")}
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", files["key.pem"], "-out", files["certificate.pem"]],
        capture_output=True, check=False,
    )  # fmt: skip
    if made.returncode != 0:
        rig.tally.check("certificate", made.stderr.decode())
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files["certificate.pem"], files["key.pem"])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), servers.Misbehaving) as server:
        server.kind, server.stalled, server.daemon_threads, server.looks = "fine", threading.Event(), True, 0
        server.handle_error = lambda *_: None  # it is no news here that the client leaves
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        query = f"load clickhouses://127.0.0.1:{server.server_address[1]}/d/t?by=x | product"
        rig.fails("an unknown certificate", "the certificate of `127.0.0.1:%d` is not trusted" % server.server_address[1], query)
        rig.answers("a certificate that is named", "6\n", query, variables=(f"SSL_CERT_FILE={files['certificate.pem']}",))
        rig.fails("another name than the certificate's", "is not trusted", query.replace("127.0.0.1", "localhost"), variables=(f"SSL_CERT_FILE={files['certificate.pem']}",))
        server.shutdown()


def main():
    tally = harness.Tally("faults")
    with harness.Sandbox() as sandbox:
        rig = engines.Rig(sandbox, tally)
        if shutil.which("openssl"):
            certificates(rig)
        else:
            print("faults: skipped: openssl is not installed")
        if not shutil.which("clickhouse-server"):
            print("faults: skipped: clickhouse-server is not installed")
            return tally.finish() if tally.passed else 0
        shards = start_shards(sandbox)
        try:
            fill(rig, shards)
            distributed(rig, shards)
            stages(rig, shards)
            interrupts(rig, shards)
            dead_shard(rig, shards)
            replicas(rig, shards)
            appends(rig, shards)
            restarts(rig, shards[1])
        finally:
            for server in shards:
                server.stop()
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
