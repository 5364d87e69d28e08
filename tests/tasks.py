#!/usr/bin/env python3
"""Everyday tasks, each one line (tests/tasks/lines.txt), against DuckDB's answers to the SQL that stands below it.

    > the line
    ~ SQL that gives the same

The answers are in tests/tasks/expected.json, which tests/tasks/expect.py writes; tables are also those of tests/hints."""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import harness
import hints

FOLDER = os.path.join(harness.TESTS, "tasks")
MODES = {"host": [], "unfused": ["--fusion", "off"]}


def main(_):
    tally = harness.Tally("tasks")
    with open(os.path.join(FOLDER, "lines.txt"), encoding="utf-8") as file:
        lines = [text[2:] for text in file.read().splitlines() if text.startswith("> ")]
    with open(os.path.join(FOLDER, "expected.json"), encoding="utf-8") as file:
        expected = json.load(file)
    folders = [hints.FOLDER, FOLDER]
    for mode, options in MODES.items():
        with ThreadPoolExecutor(3) as pool:
            problems = pool.map(lambda line: hints.problem_of(line, expected[line], folders, [], options), lines)
        for line, problem in zip(lines, problems):
            tally.check(f"{line} ({mode})", problem)
    return tally.finish()


if __name__ == "__main__":
    harness.main_program(main)
