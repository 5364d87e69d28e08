#!/usr/bin/env python3
"""What servers compute of texts: the same lines on a table, lowered and read, print the same.

    texts.py [--count N] [--seed S] [--engines NAME,...]

Each line runs on the table, where the server computes, and after a stage that no server runs, so that its columns are read."""

import argparse
import os
import random
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
import modern  # noqa: E402
import servers  # noqa: E402

# Long and short characters, line ends, what LIKE and regular expressions take for something else, what is no UTF-8.
PARTS = ("a", "b", "A", "Z", "%", "_", "\\", "'", "\n", "\t", " ", "ü", "Ä", "ß", "€", "😀", "\u00a0", "\x01", "aa", "ab", ".", "*", "$", "^", "[", "0", "-7", "ſ", "ǰ")
BROKEN = (b"\xff", b"\xc3", b"a\x80b", b"\xe2\x82", b"\xc3a", b"b\xf0\x9f\x98")
PATTERNS = ("%", "", "_", "__", "a%", "%a", "%a%", "a", "a_", "_a%", "%a%b%", "a%b", "%\\%%", "\\%%", "%\\_", "\\\\%", "%\\\\", "a\\b", "%_%", "%ü", "ü_", "%€%", "_%_", "%'%", "%.%", "a.%", "%\n%", "%\n_", "%$", "[%", "%aa%a%", "_\n%", "%%", "%a%%", "\\a%")


def quoted(text):
    """A text in rql."""
    table = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(table.get(c, f"\\u{{{ord(c):x}}}" if ord(c) < 32 else c) for c in text) + '"'


class Writer:
    def __init__(self, rng):
        self.rng = rng

    def constant(self):
        return quoted("".join(self.rng.choice(PARTS) for _ in range(self.rng.choice((0, 1, 1, 1, 2)))))

    def text(self, depth):
        rng = self.rng
        if depth <= 0 or rng.random() < 0.3:
            return rng.choice(("s", "s", "n", "c"))
        choice = rng.random()
        one = self.text(depth - 1)
        if choice < 0.3:
            return f"{rng.choice(('upper', 'lower', 'trim'))}({one})"
        if choice < 0.45:
            return f"substr({one}, {rng.choice((0, 1, 2, 5, 100))}{rng.choice(('', ', 0', ', 1', ', 3'))})"
        if choice < 0.55:
            return f"replace({one}, {quoted(rng.choice(PARTS))}, {self.constant()})"
        if choice < 0.75:
            other = self.constant() if rng.random() < 0.7 else rng.choice(("c", "p"))
            return f"({one} + {other})" if rng.random() < 0.5 else f"({other} + {one})"
        if choice < 0.9:
            return f"({self.truth(depth - 1)} ? {one} : {self.constant() if rng.random() < 0.5 else self.text(depth - 1)})"
        return f"({one} ?? {self.constant()})"

    def integer(self, depth):
        return f"{self.rng.choice(('len', 'bytes'))}({self.text(depth - 1)})" if self.rng.random() < 0.8 else "v"

    def truth(self, depth):
        rng = self.rng
        one, choice = self.text(depth - 1), rng.random()
        if choice < 0.35:
            return f"({one} like {quoted(rng.choice(PATTERNS))})"
        if choice < 0.6:
            return f"{rng.choice(('starts', 'ends', 'contains'))}({one}, {self.constant()})"
        if choice < 0.75:
            return f"({one} {rng.choice(('==', '!=', '<', '<=', '>', '>='))} {self.constant() if rng.random() < 0.7 else self.text(depth - 1)})"
        if choice < 0.8:
            return f"({one} in [{self.constant()}, {self.constant()}])"
        if choice < 0.9 and depth > 0:
            return f"({self.truth(depth - 1)} {rng.choice(('&&', '||'))} {self.truth(depth - 1)})"
        if choice < 0.95:
            return f"({one} is missing)"
        return f"({self.integer(depth)} {rng.choice(('<', '==', '>='))} {rng.choice((0, 1, 2, 4))})"

    def line(self):
        rng, choice = self.rng, self.rng.random()
        if choice < 0.3:
            return f"select {self.truth(2)} | map pos"
        if choice < 0.4:
            return f"select {self.truth(2)} | count"
        if choice < 0.65:
            return f"map pos, {self.text(3)} as t, {self.integer(2)} as i, {self.truth(2)} as b | select pos >= 0"
        if choice < 0.8:
            return f"group {self.text(2)} as k: count() as n, sum({self.integer(1)}) as s"
        if choice < 0.9:
            return f"map pos, {self.text(2)} as t | sort t{rng.choice(('', ' desc'))}, pos | take 7"
        return f"map {self.text(2)} as t | distinct | sort t | take 9"


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


def told(result):
    errors = [re.sub(r"^-c:[0-9:]+ ", "", line) for line in result.err.decode(errors="replace").split("\n")]
    return result.status, result.out, [line for line in errors if line.startswith("error: ")]


def random_lines(rig, url, seed, count):
    writer = Writer(random.Random(seed))
    lowered = errors = 0
    for number in range(count):
        line = writer.line()
        there = rig.run(f"load {url} | {line}")
        here = rig.run(f"load {url} | derive rql_row = row | {line}")
        shown = rig.run(f"explain sql load {url} | {line}")
        lowered += shown.status == 0 and "here:" not in shown.out.decode(errors="replace")
        errors += there.status != 0
        rig.tally.check(f"{number}: {line}", "" if told(here) == told(there) else f"read {str(told(here))[:700]}\nlowered {str(told(there))[:700]}\n{shown.out.decode(errors='replace')[:1500]}")
    print(f"texts: {lowered} of {count} lowered, {errors} errors")


def run_engine(name, tally, options):
    with harness.Sandbox() as sandbox, modern.started(name, sandbox) as server:
        rig = servers.Rig(sandbox, modern.Part(tally, name))
        rng = random.Random(options.seed)
        make_table(server, "clean", rng, 150, False)
        make_table(server, "broken", rng, 150, True)
        random_lines(rig, server.url("clean", "pos"), options.seed, options.count)
        random_lines(rig, server.url("broken", "pos"), options.seed + 1, options.count // 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engines", default=",".join(modern.ENGINES))
    options = parser.parse_args()
    tally = harness.Tally("texts")
    for name in modern.present("texts", options.engines.split(",")):
        run_engine(name, tally, options)
    tally.finish()
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
