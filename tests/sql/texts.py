#!/usr/bin/env python3
"""What servers compute of texts: the same lines on a table, lowered and read, print the same.

    texts.py [--count N] [--seed S] [--engines NAME,...]

Each line runs on the table, where the server computes, and after a stage that no server runs, so that its columns are read."""

import os
import random
import re
import sys

import engines
import random_queries

# Long and short characters, line ends, what LIKE and regular expressions take for something else, what is no UTF-8.
PARTS = ("a", "b", "A", "Z", "%", "_", "\\", "'", "\n", "\t", " ", "ü", "Ä", "ß", "€", "😀", "\u00a0", "\x01", "aa", "ab", ".", "*", "$", "^", "[", "0", "-7", "ſ", "ǰ")
BROKEN = (b"\xff", b"\xc3", b"a\x80b", b"\xe2\x82", b"\xc3a", b"b\xf0\x9f\x98")


def random_line(rng):
    writer, choice = random_queries.Writer(rng, {"s": "text", "n": "text", "c": "text", "p": "text", "v": "int"}, words=PARTS), rng.random()
    truth = writer.truth_of_text if rng.random() < 0.6 else writer.truth
    if choice < 0.3:
        return f"select {truth(2)} | map pos"
    if choice < 0.4:
        return f"select {truth(2)} | count"
    if choice < 0.65:
        return f"map pos, {writer.text(3)} as t, {writer.integer(2)} as i, {truth(2)} as b | select pos >= 0"
    if choice < 0.8:
        return f"group {writer.text(2)} as k: count() as n, sum({writer.integer(1)}) as s"
    if choice < 0.9:
        return f"map pos, {writer.text(2)} as t | sort t{rng.choice(('', ' desc'))}, pos | take 7"
    return f"map {writer.text(2)} as t | distinct | sort t | take 9"


def make_table(server, name, rng, rows, broken):
    """A table of random texts, of which some are no UTF-8 if `broken`."""
    made = []
    for pos in range(rows):
        texts = ["".join(rng.choice(PARTS) for _ in range(rng.choice((0, 1, 1, 2, 3, 5)))).encode() for _ in range(3)]
        if broken and rng.random() < 0.5:
            texts[rng.randrange(3)] += rng.choice(BROKEN) + rng.choice((b"", b"a", b" "))
        n = None if rng.random() < 0.25 else texts[1]
        made.append((pos, texts[0], n, texts[2], rng.choice((b"x", b"y", b"")), rng.randrange(-9, 9)))
    server.ask(f"CREATE TABLE {name} (pos Int64, s String, n Nullable(String), c String, p String, v Int32) ENGINE = MergeTree ORDER BY s")
    escaped = lambda text: b"\\N" if text is None else text.replace(b"\\", b"\\\\").replace(b"\t", b"\\t").replace(b"\n", b"\\n")  # noqa: E731
    lines = [b"\t".join((str(row[0]).encode(), *map(escaped, row[1:5]), str(row[5]).encode())) for row in made]
    server.ask(f"INSERT INTO {name} FORMAT TabSeparated\n".encode() + b"\n".join(lines) + b"\n")


def regex(rng, depth=0):
    """A pattern; few have something that the two kinds of regular expressions do not have in common."""
    one = lambda: rng.choice(("a", "b", "A", "Z", "ü", "€", "😀", ".", "%", "_", "-", " ", "x", "0", "7", "\\\\.", "\\\\d", "\\\\w", "\\\\s", "\\\\W", "\\\\D", "\\\\S", "[ab]", "[^a]", "[a-zü]", "[\\\\d_-]", "[^\\\\w]", "[]a]" if rng.random() < 0.1 else "[.*]", "\\\\n", "\\\\t", "\\\\b" if rng.random() < 0.1 else "ß"))  # noqa: E731
    parts = []
    for _ in range(rng.choice((0, 1, 1, 2, 2, 3) if depth else (1, 1, 2, 3))):
        part = one() if depth > 1 or rng.random() < 0.7 else f"{rng.choice(('(', '(?:'))}{regex(rng, depth + 1)})"
        parts.append(part + rng.choice(("", "", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,}", "+?", "*?")))
    pattern = "".join(parts)
    if rng.random() < 0.2:
        pattern += "|" + regex(rng, 2)
    if depth == 0:
        pattern = rng.choice(("", "", "", "^", "(?i)")) + pattern + rng.choice(("", "", "$"))
    return pattern


def regex_call(rng):
    pattern = regex(rng)
    choice, groups = rng.random(), len(re.findall(r"\((?!\?)", pattern))
    if choice < 0.4:
        return f's ~ "{pattern}"'
    if choice < 0.7:
        return f'extract(s, "{pattern}"{rng.choice(("", f", {rng.randrange(groups + 1)}"))})'
    to = "".join(rng.choice(("x", "€", " ", "'", "\\\\\\\\", "\\\\a", f"\\\\{rng.randrange(groups + 1)}")) for _ in range(rng.randrange(4)))
    return f'replace_regex(s, "{pattern}", "{to}")'


def regexes(rig, url, seed, count):
    rng = random.Random(seed)
    lowered = 0
    for number in range(count):
        line = "map pos, " + ", ".join(f"{regex_call(rng)} as c{k}" for k in range(2)) + " | select pos >= 0"
        there, here = rig.run(f"load {url} | {line}"), rig.run(f"load {url} | derive rql_row = row | {line}")
        lowered += b"\nhere:" not in rig.run(f"explain sql load {url} | {line}").out
        rig.tally.check(f"regexes {number}: {line}", "" if told(here) == told(there) else f"read {str(told(here))[:700]}\nlowered {str(told(there))[:700]}")
    print(f"texts: {lowered} of {count} lines of two regular expressions lowered")


def told(result):
    errors = [re.sub(r"^-c:[0-9:]+ ", "", line) for line in result.err.decode(errors="replace").split("\n")]
    return result.status, result.out, [line for line in errors if line.startswith("error: ")]


def random_lines(rig, url, seed, count):
    rng = random.Random(seed)
    lowered = errors = 0
    for number in range(count):
        line = random_line(rng)
        there = rig.run(f"load {url} | {line}")
        here = rig.run(f"load {url} | derive rql_row = row | {line}")
        shown = rig.run(f"explain sql load {url} | {line}")
        lowered += shown.status == 0 and "here:" not in shown.out.decode(errors="replace")
        errors += there.status != 0
        rig.tally.check(f"{number}: {line}", "" if told(here) == told(there) else f"read {str(told(here))[:700]}\nlowered {str(told(there))[:700]}\n{shown.out.decode(errors='replace')[:1500]}")
    print(f"texts: {lowered} of {count} lowered, {errors} errors")


def cases(rig, server):
    """The letters of which servers change the case are those that they change as rql does, one by one."""
    rig.sandbox.write("letters.csv", ("pos,s\n" + "".join(f'{code},"a{chr(code)}B"\n' for code in range(0xA0, 0x20000) if not 0xD800 <= code < 0xE000)).encode())
    url, proxy = server.url("letters", "pos"), engines.Proxy(server)
    saved = rig.run(f"letters.csv | map pos, s, upper(s) as upper, lower(s) as lower | save {url}")
    rig.tally.check("letters", "" if saved.status == 0 else saved.text())
    for name in ("upper", "lower"):
        shown = rig.run(f"explain load {url} | select {name}(s) != {name} | count").out.decode()
        found = re.search(r"'\^\[([^']*)\]\*\$'", shown)
        known = [tuple(int(code, 16) for code in pair) for pair in re.findall(r"x\{(\w+)\}-[\\]*x\{(\w+)\}", found.group(1))] if found else []
        which = " || ".join(f"pos in {first}..{last}" for first, last in known)
        rig.answers(f"letters: {name}", "0\n", ".set fetch 1MB", f"load {url} | select {which} | select {name}(s) != {name} | count")
        rig.tally.check(f"letters: {name} of many", "" if sum(min(last, 0x1FFFF) - first for first, last in known) > 90000 and "unless a text has letters" in shown else shown)
    for text, line in (("\u3000\u00a0ÄÖ x\u2003", 'trim(s) == "ÄÖ x"'), ("naïve Ωμέγα", 'lower(s) == "naïve ωμέγα"'), ("Ünder 東京", 'upper(s) like "%_NDER%京"')):
        server.ask("CREATE TABLE one (pos Int64, s String) ENGINE = Memory")
        server.ask(f"INSERT INTO one VALUES (1, '{text}')".encode())
        result, _, asked = proxy.travel(lambda line=line: rig.run(f"load {proxy.url('one', 'pos')} | count {line}"))
        rig.tally.check(f"letters: {line}", "" if result.out == b"1\n" and asked <= 2 else f"{asked} questions: {result.text()}")
        server.ask("DROP TABLE one")


def compare(rig, server, options):
    rng = random.Random(options.seed)
    make_table(server, "clean", rng, 150, False)
    make_table(server, "broken", rng, 150, True)
    cases(rig, server)
    random_lines(rig, server.url("clean", "pos"), options.seed, options.count)
    random_lines(rig, server.url("broken", "pos"), options.seed + 1, options.count // 2)
    regexes(rig, server.url("clean", "pos"), options.seed, options.count)
    regexes(rig, server.url("broken", "pos"), options.seed + 1, options.count // 4)
    refused = rig.run(f"load {server.url('broken', 'pos')} | map s | save broken.parquet")
    rig.tally.check("no file of text that is not UTF-8", "" if refused.status == 1 and b"not UTF-8, which files cannot hold" in refused.err and not os.path.exists(rig.sandbox.path("broken.parquet")) else f"{refused.err}")
    saved = rig.run(f"load {server.url('clean', 'pos')} | map s, n | save clean.parquet", "load clean.parquet | count")
    rig.tally.check("a file of text", "" if saved.out == b"150\n" else f"{saved.out} {saved.err}")


if __name__ == "__main__":
    sys.exit(engines.main("texts", compare, 60))
