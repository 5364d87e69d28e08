#!/usr/bin/env python3
"""Random texts read by formats and regular expressions: compares rql with Python's strptime and re, row by row.

    text_fuzz.py [--count N] [--rows N] [--seed SEED] [--modes M,...] [--device-share F]

A check is one expression of all rows of a table. Prints its seed, which makes the same expressions again.
"""

import argparse
import datetime
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from functions import pad, split, substr  # noqa: E402
from readings import MICROSECOND, OF_GROUPS, REGEXES, REPLACEMENTS, extract, python_format, read_time, replace_regex  # noqa: E402
from values import TEXT, literal  # noqa: E402

TOGETHER = 20  # expressions of a table
DATE_PARTS = ["%Y-%m-%d", "%d/%m/%Y", "%m.%d.%y", "%d %b %Y", "%B %d, %Y", "%Y %j", "%a %d %b %Y", "%A, %d %B %Y", "%F", "%D"]
CLOCK_PARTS = ["%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%H.%M.%S.%f", "%T", "%R", "%I %p"]
BETWEEN = [" ", "T", ":", " at "]
ZONES = ["", "", " %z", "%z"]
WORDS = ["", "a", "b", "ab", "a1", "12", "é", "日本", "x-y", "A_B", " ", "a b", "2024-01-31", "k=v;k2=v2", "AAPL 12.5", "aaa", "ß"]


def random_moment(source):
    year = source.choice([source.randint(1970, 2030), source.randint(1, 9999), 2024, 2000, 1900])
    day = datetime.datetime(year, 1, 1) + datetime.timedelta(source.randrange(365))
    return day + source.choice([0, source.randrange(86_400) * 10**6, source.randrange(86_400 * 10**6)]) * MICROSECOND


def written(moment, form, source):
    """The moment by the format, at times not quite."""
    zone = source.choice(["Z", "+0000", "+01:00", "-0730", "+1400"])
    text = moment.strftime(python_format(form).replace("%Y", f"{moment.year:04}").replace("%z", zone))
    choice = source.random()
    if choice < 0.1:
        text = re.sub(r"\b0(\d)\b", r"\1", text)
    elif choice < 0.2:
        text = source.choice([text.upper(), text.lower()])
    elif choice < 0.35 and text:
        at = source.randrange(len(text))
        text = text[:at] + source.choice("019:/xZé+-") + text[at + 1 :]
    elif choice < 0.4:
        text = source.choice(["", "x", text + " ", text + "1", text[:-1], " " + text])
    return text


class Times:
    """Texts of one format, and an expression that reads them."""

    def __init__(self, source, rows):
        self.what = source.choice(["date", "timestamp", "timestamp", "time"])
        self.form = source.choice(CLOCK_PARTS if self.what == "time" else DATE_PARTS)
        if self.what == "timestamp" or (self.what == "date" and source.random() < 0.3):
            self.form += source.choice(BETWEEN) + source.choice(CLOCK_PARTS)
        if self.what == "timestamp":
            self.form += source.choice(ZONES)
        self.texts = [written(random_moment(source), self.form, source) for _ in range(rows)]
        self.texts = [None if rows > 1 and source.random() < 0.05 else text for text in self.texts]

    def expressions(self):
        return [(f"int({self.what}(s, {literal(TEXT, self.form)}))", self.value)]

    def value(self, text):
        return read_time(self.what, text, self.form)


class Texts:
    """Odd texts, and expressions of regular expressions, padding and several columns."""

    def __init__(self, source, rows):
        self.source = source
        self.texts = ["".join(source.choice(WORDS) for _ in range(source.randint(0, 3))) for _ in range(rows)]
        self.texts = [None if rows > 1 and source.random() < 0.05 else text for text in self.texts]

    def expressions(self):
        return [self.expression() for _ in range(TOGETHER)]

    def expression(self):
        source = self.source
        regex = source.choice(REGEXES)
        groups = re.compile(regex).groups
        choice = source.random()
        if choice < 0.35:
            group = source.choice([None, *range(groups + 1)])
            call = f"extract(s, {literal(TEXT, regex)}{'' if group is None else f', {group}'})"
            return call, lambda s: extract(s, regex, group)
        if choice < 0.75:
            to = source.choice(REPLACEMENTS + OF_GROUPS[: 3 if groups > 1 else groups])
            return f"replace_regex(s, {literal(TEXT, regex)}, {literal(TEXT, to)})", lambda s: replace_regex(s, regex, to)
        if choice < 0.85:
            width, fill = source.randint(-9, 9), source.choice([" ", "*", "é"])
            return f"pad(s, {width}, {literal(TEXT, fill)})", lambda s: pad(s, width, fill)
        if choice < 0.95:
            begin, most = source.randint(-4, 4), source.randint(0, 5)
            return f"substr(s, {begin} + row * 0, {most})", lambda s: substr(s, begin, most)
        k = source.randint(-2, 2)
        return f"split(s, substr(s, 0, 1), {k})", lambda s: split(s, s[:1], k) if s else None


def script(tables):
    lines = []
    for number, (_, expressions) in enumerate(tables):
        lines.append(f"let t{number} = load t{number}.jsonl s text")
        lines.append(f"t{number} | map " + ", ".join(f"{call} as e{at}" for at, (call, _) in enumerate(expressions)))
        lines.append(f"{number} + 7000000")
    return "\n".join(lines) + "\n"


def problem_of(table, call, function, values):
    if len(values) != len(table.texts):
        return f"{call}: {len(values)} rows, not {len(table.texts)}"
    for row, (text, got) in enumerate(zip(table.texts, values)):
        wanted = None if text is None else function(text)
        if got != wanted:
            return f"{call}, row {row}: s is {text!r}, expected {wanted!r}, got {got!r}"
    return ""


def run_tables(sandbox, tally, tables, mode):
    with open(os.path.join(sandbox.here, "cases.rql"), "w", encoding="utf-8") as file:
        file.write(script(tables))
    options = [*harness.ALL_MODES[mode], "--keep-going", "--format", "jsonl", "cases.rql"]
    result = harness.run(options, sandbox.here, sandbox.home, timeout=900)
    rest = result.out.decode()
    for number, (table, expressions) in enumerate(tables):
        out, _, rest = rest.partition(f"{number + 7000000}\n")
        rows = [json.loads(line) for line in out.splitlines()]
        for at, (call, function) in enumerate(expressions):
            problem = problem_of(table, call, function, [row.get(f"e{at}") for row in rows])
            if problem and not rows:
                problem += "\n" + result.err.decode()[:1500]
            tally.check(f"t{number} ({mode})", problem)


def main(sandbox):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--rows", type=int, default=30)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--modes", default=",".join({**harness.MODES, "host-unfused": []}))
    parser.add_argument("--device-share", type=float, default=0.02)
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(10**9)
    print(f"text-fuzz: seed {seed}", flush=True)
    source = random.Random(seed)
    tally = harness.Tally("text-fuzz")
    made = 0
    while made < arguments.count and tally.failed < 10:
        tables = []
        for number in range(10):
            table = (Texts if number % 5 == 0 else Times)(source, source.choice([1, 2, arguments.rows, arguments.rows]))
            with open(os.path.join(sandbox.here, f"t{number}.jsonl"), "w", encoding="utf-8") as file:
                file.writelines(json.dumps({"s": text}) + "\n" for text in table.texts)
            tables.append((table, table.expressions()))
            made += len(tables[-1][1])
        for mode in arguments.modes.split(","):
            if "host" in mode or source.random() < arguments.device_share:
                run_tables(sandbox, tally, tables, mode)
    print(f"text-fuzz: {made} expressions; seed {seed}")
    return tally.finish()


if __name__ == "__main__":
    harness.main_program(main)
