#!/usr/bin/env python3
"""Rewrite rules (src/repl/rewrite): tests/rewrites.txt has lines as others write them, and what rql answers.

    > the line
      what it prints, at most three lines
    ! the message, of an error or a note
    = the line as it should be written, which must run

UPDATE=1 rewrites the answers. Verify them line by line."""

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import harness

PAGE = os.path.join(harness.TESTS, "rewrites.txt")
TABLES = {
    "t.csv": "sym,price,qty,flag\nAAPL,10.5,100,true\nMSFT,20.25,200,false\nAAPL,11.5,300,true\nGOOG,99.0,,false\n",
    "u.csv": "sym,rate\nAAPL,0.5\nMSFT,0.25\n",
    "d.csv": "at,day\n2024-02-29T10:00:00,2024-02-29\n2024-03-01T09:30:00,2024-03-01\n",
    "x.csv": "a\n1\n2\n",
    "new.csv": "sym,price,qty,flag\nIBM,1.5,10,true\n",
    "a.rql": "range 1..3 | sum\n",
}
NAMES = ["let t = load t.csv", "let u = load u.csv", "let f = range 1..4", "let x = 5"]
MESSAGE = re.compile(r"^(?:[^ :]+:\d+:\d+: )?(error|note|hint): (.*)$")
SHOWN = re.compile(r"^write `(.*)`$")
MOST = 3


def run(line):
    """Runs the line where the names are known; the rest of the line is read, but is no comment."""
    with harness.Sandbox(bare=True) as sandbox:
        for name, text in TABLES.items():
            sandbox.write(name, text.encode())
        commands = [option for name in [*NAMES, line] for option in ("-c", name)]
        result = harness.run(["--device", "host", *commands], sandbox.here, sandbox.home)
        result.out = result.out.replace(sandbox.here.encode(), b"HERE")
        return result


def answer(line):
    """The lines of the answer, and the line that it shows or None."""
    result = run(line)
    out = result.out.decode().splitlines()
    lines = ["  " + text for text in out[:MOST]] + (["  ..."] if len(out) > MOST else [])
    shown = None
    for text in result.err.decode().splitlines():
        found = MESSAGE.match(text)
        if not found or "missing in" in text:
            continue
        written = SHOWN.match(found[2])
        if found[1] == "hint" and written:
            shown = written[1]
            lines.append("= " + shown)
        else:
            lines.append("! " + found[2])
    return lines, shown


def problem_of(shown):
    """A line that is shown must run. One that begins with `|` needs the prompt."""
    if shown is None or shown.startswith("|"):
        return ""
    result = run(shown)
    return "" if result.status == 0 else f"`{shown}` does not run\n{result.text()}"


def read():
    with open(PAGE, encoding="utf-8") as file:
        return file.read()


def main(_):
    tally = harness.Tally("rewrites")
    text = read()
    lines = [line[2:] for line in text.splitlines() if line.startswith("> ")]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(answer, lines))
        problems = list(pool.map(problem_of, (shown for _, shown in answers)))
    given = iter(answers)
    new = []
    for line in text.splitlines():
        if line.startswith("> "):
            new += [line, *next(given)[0]]
        elif not line or line.startswith("#"):
            new.append(line)
    if os.environ.get("UPDATE") == "1":
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write("\n".join(new) + "\n")
    expected = re.split(r"^(?=> )", read(), flags=re.MULTILINE)
    got = re.split(r"^(?=> )", "\n".join(new) + "\n", flags=re.MULTILINE)
    for line, problem, before, after in zip(lines, problems, expected[1:], got[1:]):
        tally.check(line, problem or harness.difference(before, after, "answer"))
    return tally.finish()


if __name__ == "__main__":
    harness.main_program(main)
