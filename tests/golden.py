#!/usr/bin/env python3
"""Scripts with expected output. tests/golden/NAME.rql prints NAME.out and succeeds; so do tests/seeds/NAME.rql, examples
from the papers that rql builds on. tests/errors/NAME.rql fails with status 1 and prints NAME.err (and NAME.out, if it
exists). Standard error is compared too. Every script runs in every mode; explain scripts run in one.

    tests/golden.py [NAME...]        all scripts, or those whose names start with NAME

RQL_ALTERNATE=1 runs each second script on devices, but for COVERED, and the others where they may choose one: building
kernels takes most of the time of a whole run.

RQL_JOBS=16 runs so many scripts at once: on a GPU most of their time is that of the driver's start.

UPDATE=1 writes the evaluator's output as the expected text. Verify it line by line.
"""

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import harness

# `explain` prints this when fusion is off; the queues are the same.
UNFUSED = "fusion is off: the queue runs as written\n"
# `explain` prints this in mode auto.
CHOICE = re.compile(r"^backend choice: .*\n(?:  \d+ on .*\n)*", re.MULTILINE)
# A device that is named prints this.
WIDE = "note: part of the query runs without OpenCL: the query has more columns and literals than a kernel takes\n"
# So many kernels that a device runs them only when they are named.
LONG = ("ikra-loops", "parakeet-loops", "images", "fill", "list", "over-order", "rollup", "zones")
# Of each second script those without which the others still execute the same lines and branches of src/cl.
COVERED = ("borders", "functions-text", "describe-relation", "append", "asof", "in", "named-stages", "combined-rows", "stages",
           "time-formats", "lazy", "unread", "count", "windows", "tables", "letdef", "save", "functions", "group-order")
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


def problem_of(sandbox, base, status, options, update):
    script = os.path.basename(base) + ".rql"
    with open(base + ".rql", "rb") as file:
        sandbox.write(script, file.read())
    result = harness.run([*options, script], sandbox.here, sandbox.home)
    out = CHOICE.sub("", result.out.decode("utf-8", "backslashreplace").replace(UNFUSED, ""))
    err = result.err.decode("utf-8", "backslashreplace").replace(WIDE, "")
    if update and result.status == status:
        write(base + ".out", out)
        write(base + ".err", err)
    problems = [
        harness.difference(read(base + ".out"), out, "stdout"),
        harness.difference(read(base + ".err"), err, "stderr"),
        "" if result.status == status else f"status {result.status}, expected {status}",
    ]
    return "\n".join(problem for problem in problems if problem)


def files_of(sandbox):
    paths = (os.path.join(folder, name) for folder, _, names in os.walk(sandbox.root) for name in names)
    return {path: (status.st_ino, status.st_mtime_ns, status.st_size) for path in paths for status in (os.lstat(path),)}


def title_and_problem(script, clean):
    """Runs (folder, name, status, mode, options, update) in one of the clean sandboxes. One in which it has changed a file is
    not used again: to make one takes longer than most scripts."""
    folder, name, status, mode, options, update = script
    sandbox, before = clean.pop() if clean else (harness.Sandbox().__enter__(), None)
    before = before or files_of(sandbox)
    problem = problem_of(sandbox, os.path.join(harness.TESTS, folder, name), status, options, update)
    os.remove(sandbox.path(name + ".rql"))
    if files_of(sandbox) == before:
        clean.append((sandbox, before))
    else:
        sandbox.__exit__()
    return f"{folder}/{name} ({mode})", problem


def main(_):
    tally = harness.Tally("golden")
    scripts = []
    wanted = tuple(sys.argv[1:])
    update = os.environ.get("UPDATE") == "1"
    alternate, number = os.environ.get("RQL_ALTERNATE") == "1", 0
    for folder, status in FOLDERS.items():
        path = os.path.join(harness.TESTS, folder)
        for name in sorted(entry[:-4] for entry in os.listdir(path) if entry.endswith(".rql")):
            if wanted and not name.startswith(wanted):
                continue
            only_host = update or name.startswith("explain")
            modes = {"host": harness.ALL_MODES["host"]} if only_host else harness.MODES
            if name in LONG and not wanted:
                modes = {mode: options for mode, options in modes.items() if "device" not in mode and mode != "unfused"}
            number += 1
            if alternate:
                left_out = "auto" if number % 2 and name not in COVERED else "device"
                modes = {mode: options for mode, options in modes.items() if mode != left_out}
            scripts += [(folder, name, status, mode, options, update) for mode, options in modes.items()]
    clean = []
    with ThreadPoolExecutor(int(os.environ.get("RQL_JOBS", "1"))) as pool:
        for title, problem in pool.map(lambda script: title_and_problem(script, clean), scripts):
            tally.check(title, problem)
    for sandbox, _ in clean:
        sandbox.__exit__()
    return tally.finish()


if __name__ == "__main__":
    harness.main_program(main)
