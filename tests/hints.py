#!/usr/bin/env python3
"""Lines of other languages (tests/hints/lines.txt): each is answered, turned into a line that gives the same, or told plainly.

    > the line
    ~ its reference, SQL, after `py:` Python or after `sh:` lines of a shell, where it is not the line itself; `none`: it has no answer
    = the line that rql shows, which must give what the reference does
    ! what rql says where there is no such line
    . rql runs the line itself, and is right

The answers of DuckDB, pandas and the programs of a shell are in tests/hints/expected.json, which tests/hints/expect.py writes. UPDATE=1 rewrites what rql
shows and says. Verify it line by line."""

import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import harness

FOLDER = os.path.join(harness.TESTS, "hints")
PAGE = os.path.join(FOLDER, "lines.txt")
NAMES = [
    "let trades = load trades.csv",
    "let taxi = load taxi.csv",
    "let customers = load customers.csv credit decimal(2)",
    "let orders = load orders.csv",
    "let logs = load logs.csv",
]
SHOWN = re.compile(r"^hint: write `(.*)`$", re.MULTILINE)
HINT = re.compile(r"^hint: (.*)$", re.MULTILINE)
ERROR = re.compile(r"^(?:[^ :]+:\d+:\d+: )?error: (.*)$", re.MULTILINE)
DURATION = re.compile(r"^(-?)(?:(\d+)d )?(\d+):(\d\d):(\d\d(?:\.\d+)?)$")


def run(lines, folders=(FOLDER,), options=()):
    with harness.Sandbox(bare=True) as sandbox:
        for path in (os.path.join(folder, name) for folder in folders for name in os.listdir(folder) if name.endswith(".csv")):
            with open(path, "rb") as file:
                sandbox.write(os.path.basename(path), file.read())
        commands = [option for line in lines for option in ("-c", line)]
        return harness.run(["--device", "host", *options, *commands], sandbox.here, sandbox.home)


def value(text):
    """A cell of rql's output as one of the reference."""
    if text == "":
        return None
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"') and text.endswith('"') and len(text) > 1:
        return text[1:-1]
    found = DURATION.match(text)
    if found:
        sign, days, hours, minutes, seconds = found.groups()
        total = ((int(days or 0) * 24 + int(hours)) * 60 + int(minutes)) * 60 + float(seconds)
        return (-1 if sign else 1) * total * 1e6
    try:
        return float(text)
    except ValueError:
        return text


def is_equal(mine, other):
    if isinstance(mine, (int, float)) and isinstance(other, (int, float)):
        return abs(float(mine) - float(other)) <= 1e-9 * max(1.0, abs(float(other)))
    if isinstance(mine, str) and isinstance(other, str):
        return re.sub(r"T00:00:00$", "", mine) == re.sub(r"T00:00:00$", "", other)
    return mine == other


def key(row):
    return [(v is not None, str(round(float(v), 6)) if isinstance(v, (int, float)) else re.sub(r"T00:00:00$", "", str(v))) for v in row]


def problem_of(line, expected, folders=(FOLDER,), names=tuple(NAMES), options=()):
    """Whether the line gives the expected rows; else what it gives."""
    named = re.match(r"^let (\w+) = ", line)
    result = run([*names, line] + ([named[1]] if named else []), folders, options)
    if result.status != 0:
        return f"`{line}` does not run\n{result.text()}"
    rows = [[value(cell) for cell in text.split("\t")] for text in result.out.decode().splitlines()]
    wanted = [[value(v) if isinstance(v, str) and v else v for v in row] for row in expected["rows"]]
    if not expected["ordered"]:
        rows, wanted = sorted(rows, key=key), sorted(wanted, key=key)
    same = len(rows) == len(wanted) and all(
        len(a) == len(b) and all(is_equal(x, y) for x, y in zip(a, b)) for a, b in zip(rows, wanted)
    )
    return "" if same else f"`{line}` gives\n{rows[:6]} ({len(rows)} rows)\nexpected\n{wanted[:6]} ({len(wanted)} rows)"


def answer(line, expected):
    """The lines that follow it on the page, what it is, and what is wrong."""
    result = run([*NAMES, line])
    error = result.err.decode()
    shown = SHOWN.search(error)
    if shown:
        problem = problem_of(shown[1], expected) if expected else f"`{shown[1]}` for a line without an answer"
        return ["= " + shown[1]], "hinted right", problem
    if result.status == 0:
        problem = problem_of(line, expected) if expected else "it runs, and has no answer"
        return ["."], "answered", problem
    told = HINT.search(error)
    message = ERROR.search(error)
    problem = "" if told and ".help` shows" not in told[1] else f"nothing is said of it\n{error}"
    return ["! " + (told[1] if told else message[1] if message else error)], "told plainly", problem


class Entry:
    """A line of the page with what follows it; or, without a line, text between."""

    def __init__(self, line, before=()):
        self.line = line
        self.before = list(before)  # the line itself and its reference, as written
        self.shown = []


def read():
    entries = []
    with open(PAGE, encoding="utf-8") as file:
        for text in file.read().splitlines():
            if text.startswith("> "):
                entries.append(Entry(text[2:], [text]))
            elif text.startswith("~ "):
                entries[-1].before.append(text)
            elif text[:2] in ("= ", "! ") or text == ".":
                entries[-1].shown.append(text)
            else:
                entries.append(Entry(None, [text]))
    return entries


# What is typed at once, whose `let` has not run when the line is read: that may be missing which the file has missing.
LETS = {
    'let o = load orders.csv; o.groupby("cust").head(2)': "o | select cust is not missing | per cust: take 2",
    'let o = load orders.csv\n# let o = 3\nlet u = o | select id > 3\nu.groupby("item").head(2)': "u | per item: take 2",
    "let o = load trades.csv; select sym, sum(qty) from o group by sym": "o | group sym: count(qty) > 0 ? sum(qty) : missing",
    "let o = load orders.csv; o[o$id > 3, ]": "o | select id > 3",
}


def main(_):
    tally = harness.Tally("hints")
    for typed, wanted in LETS.items():
        shown = SHOWN.findall(run([typed]).err.decode())
        tally.check(typed.replace("\n", "; "), "" if shown == [wanted] else f"{shown}, expected `{wanted}`")
    section = os.environ.get("HINTS_SECTION")
    with open(os.path.join(FOLDER, "expected.json"), encoding="utf-8") as file:
        expected = json.load(file)
    entries = read()
    for entry in entries:
        if entry.before[0].startswith("# "):
            current = entry.before[0][2:]
        entry.section = None if not entry.line else current
    lines = [entry for entry in entries if entry.line and section in (None, entry.section)]
    update = os.environ.get("UPDATE") == "1"
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda entry: answer(entry.line, expected.get(entry.line)), lines))
    counts = {"answered": 0, "hinted right": 0, "told plainly": 0, "wrong": 0}
    for entry, (shown, kind, problem) in zip(lines, answers):
        if not update and not problem:
            problem = harness.difference("\n".join(entry.shown), "\n".join(shown), "answer")
        entry.shown = shown
        counts["wrong" if problem else kind] += 1
        tally.check(entry.line, problem)
    if update:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write("".join(text + "\n" for entry in entries for text in entry.before + entry.shown))
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return tally.finish()


if __name__ == "__main__":
    harness.main_program(main)
