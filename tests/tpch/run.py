#!/usr/bin/env python3
"""Runs the 22 questions of TPC-H, q01.rql to q22.rql, and compares their answers with those beside the tables.

    run.py DIR [qNN...]     DIR: as written by tables.py

Numbers may differ in the last digits: DuckDB's means and quotients are not correctly rounded."""

import csv
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))

import harness  # noqa: E402

RELATIVE = 1e-9


def same(ours, theirs):
    if ours == theirs:
        return True
    try:
        a, b = float(ours), float(theirs or "0")  # the sum of nothing is 0 in rql, NULL in SQL
    except ValueError:
        return False
    return abs(a - b) <= RELATIVE * max(abs(a), abs(b))


def differences(ours, theirs):
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, not {len(theirs)}"
    for number, (row, expected) in enumerate(zip(ours, theirs)):
        if len(row) != len(expected) or not all(map(same, row, expected)):
            return f"row {number}: {row}, not {expected}"
    return ""


def check(name, folder, modes):
    with open(os.path.join(folder, name + ".answer"), encoding="utf-8") as file:
        expected = [line.split("|") for line in file.read().splitlines()[1:]]
    script = os.path.join(HERE, name + ".rql")
    for mode, flags in modes.items():
        command = [harness.RQL, *flags, "--format", "tsv", "--arg", "dir=" + folder, script]
        run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
        if run.returncode:
            yield mode, run.stderr
        else:
            yield mode, differences(list(csv.reader(run.stdout.splitlines(), delimiter="\t")), expected)


def main():
    folder = sys.argv[1]
    names = sys.argv[2:] or [f"q{number:02}" for number in range(1, 23)]
    modes = {mode: harness.ALL_MODES[mode] for mode in (os.environ.get("RQL_MODES") or "host host-unfused").split()}
    tally = harness.Tally("tpch")
    for name in names:
        for mode, problem in check(name, folder, modes):
            tally.check(f"{name} {mode}", problem)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
