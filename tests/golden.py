#!/usr/bin/env python3
"""Scripts with their expected output: tests/golden/NAME.rql prints NAME.out and ends well, as do the worked examples of
the research that rql builds on, tests/seeds/NAME.rql; tests/errors/NAME.rql ends with status 1 and tells NAME.err (and
prints NAME.out, if there is one, before). Standard error is compared whole, so a query that ends well says nothing
there. Every script runs in every mode that must agree, those called explain in one.

    tests/golden.py [NAME...]        all scripts, or those whose names begin so

UPDATE=1 writes what the evaluator says as the expected text: to be read through, line by line, before it is believed.
"""

import os
import re
import sys

import harness

# What `explain` adds where fusion is off; the queues that it shows are the same.
UNFUSED = "fusion is off: the queue runs as it was written\n"
# And where the choice of a backend is rql's own.
CHOICE = re.compile(r"^where: .*\n(?:  \d+ on .*\n)*", re.MULTILINE)
FOLDERS = {"golden": 0, "seeds": 0, "errors": 1}


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    if text:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    elif os.path.exists(path):
        os.remove(path)


def problem_of(shop, base, status, options, update):
    script = os.path.basename(base) + ".rql"
    with open(base + ".rql", "rb") as file:
        shop.write(script, file.read())
    result = harness.run([*options, script], shop.here, shop.home)
    out = CHOICE.sub("", result.out.decode("utf-8", "backslashreplace").replace(UNFUSED, ""))
    err = result.err.decode("utf-8", "backslashreplace")
    if update and result.status == status:
        write(base + ".out", out)
        write(base + ".err", err)
    problems = [
        harness.difference(read(base + ".out"), out, "stdout"),
        harness.difference(read(base + ".err"), err, "stderr"),
        "" if result.status == status else f"status {result.status}, expected {status}",
    ]
    return "\n".join(problem for problem in problems if problem)


def main(_):
    tally = harness.Tally("golden")
    wanted = tuple(sys.argv[1:])
    update = os.environ.get("UPDATE") == "1"
    for folder, status in FOLDERS.items():
        path = os.path.join(harness.TESTS, folder)
        for name in sorted(entry[:-4] for entry in os.listdir(path) if entry.endswith(".rql")):
            if wanted and not name.startswith(wanted):
                continue
            only_host = update or name.startswith("explain")
            modes = {"host": harness.ALL_MODES["host"]} if only_host else harness.MODES
            for mode, options in modes.items():
                # Each in a workshop of its own: scripts may save files.
                with harness.Workshop() as shop:
                    problem = problem_of(shop, os.path.join(path, name), status, options, update)
                    tally.check(f"{folder}/{name} ({mode})", problem)
    return tally.finish()


if __name__ == "__main__":
    harness.main_program(main)
