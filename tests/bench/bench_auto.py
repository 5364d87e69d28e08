#!/usr/bin/env python3
"""Whether leaving the choice to rql costs anything: the same tasks at every size with --device auto, in the running
shell and warm, against each single choice.

    bench_auto.py [--rows N] [--rounds N] [--devices host,cpu] [--data FOLDER] [TASK...]

Printed are medians in milliseconds of what passes between Enter and the next prompt, and how many times as long as the
best single choice auto took. A line ends in SLOW where that is more than a tenth and a millisecond longer; the exit
status then is 1. FOLDER has ids.bin and amounts.bin of at least N rows (data/generate.c).
"""

import argparse
import os
import statistics
import sys
import tempfile
import time

from machine import machine
from shell import Shell, ShellError

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RQL = os.path.abspath(os.environ.get("RQL", os.path.join(TREE, "build", "rql")))
FILES = ("ids.bin", "amounts.bin")
ROW_BYTES = 4

TASKS = {
    "map": "let r = load {ids} | map ids * 3 + 1",
    "filter": "let r = load {amounts} | select amounts > 0",
    "sparse": "let r = load {amounts} | select amounts > 9000",
    "q3": "load {ids}, {amounts} | select ids == 42 && amounts > 0 | sum amounts",
    "q5": "load {amounts} | select amounts % 222 == 0 | count",
    "group": "let r = load {ids}, {amounts} | group ids: sum(amounts), count()",
    "sort": "let r = load {amounts} | sort",
    "scan": "let r = load {amounts} | scan +",
}

# Seconds and maximum number of warm-up runs: programs are built, rates measured, other backends tried.
# Small inputs do not wait for programs.
WARM = 10
WARM_SECONDS = 3
BUILD_SECONDS = 1
BUILD_ROWS = 100_000


def first_rows(source, folder, rows):
    """Writes the first rows of each column; returns the file names by column."""
    names = {}
    for name in FILES:
        stem = name.removesuffix(".bin")
        with open(os.path.join(source, name), "rb") as file:
            data = file.read(rows * ROW_BYTES)
        if len(data) < rows * ROW_BYTES:
            sys.exit(f"{source}/{name} has fewer than {rows} rows")
        # One folder per size keeps the column names.
        os.makedirs(os.path.join(folder, str(rows)), exist_ok=True)
        with open(os.path.join(folder, str(rows), name), "wb") as file:
            file.write(data)
        names[stem] = f"{rows}/{name}"
    return names


def open_shells(devices, folder):
    env = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "OCL_ICD_VENDORS") if name in os.environ}
    env.update(HOME=folder, XDG_CACHE_HOME=os.path.join(folder, "cache"), TERM="dumb", LC_ALL="C.UTF-8")
    return {device: Shell(RQL, folder, ["--device", device], env) for device in devices}


def warm_up(shell, query, rows, patient):
    for _ in range(5 if patient and rows >= BUILD_ROWS else 1):
        spent = 0
        for run in range(WARM):
            spent += shell.ask(query)[1]
            if spent > WARM_SECONDS * 1e9 and run >= 3:
                break
        if patient and rows >= BUILD_ROWS:
            time.sleep(BUILD_SECONDS)


def measure(shells, query, rows, rounds):
    """The median time of each shell in milliseconds; runs alternate."""
    times = {device: [] for device in shells}
    for device, shell in shells.items():
        warm_up(shell, query, rows, device == "auto")
    for _ in range(rounds):
        for device, shell in shells.items():
            times[device].append(shell.ask(query)[1] / 1e6)
    return {device: statistics.median(list_) for device, list_ in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=", ".join(TASKS))
    parser.add_argument("--rows", type=int, default=10_000_000, help="at most so many, by powers of ten from 100 on")
    parser.add_argument("--least", type=int, default=100, help="at least so many")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--devices", default="host,cpu")
    parser.add_argument("--data", default=os.path.join(TREE, "data"))
    options = parser.parse_args()
    slow = 0
    devices = options.devices.split(",")
    print(machine())
    print(f"{'task':8} {'rows':>11}" + "".join(f" {device:>9}" for device in devices) + f" {'auto':>9}  auto/best")
    with tempfile.TemporaryDirectory(prefix="rql-bench-") as folder:
        shells = open_shells([*devices, "auto"], folder)
        rows = options.least
        while rows <= options.rows:
            names = first_rows(options.data, folder, rows)
            for name in options.tasks or TASKS:
                times = measure(shells, TASKS[name].format(**names), rows, options.rounds)
                best = min(times[device] for device in devices)
                bad = times["auto"] > best * 1.1 + 1
                slow += bad
                cells = "".join(f" {times[device]:9.3f}" for device in (*devices, "auto"))
                print(f"{name:8} {rows:11}{cells}  {times['auto'] / best:9.2f}{'  SLOW' if bad else ''}", flush=True)
            rows *= 10
        for shell in shells.values():
            shell.close()
    print(f"{slow} slow" if slow else "auto is never more than 10 % and 1 ms behind the best single choice")
    return 1 if slow else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ShellError as error:
        sys.exit(f"bench_auto: {error}")
