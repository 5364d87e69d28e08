#!/usr/bin/env python3
"""Arrow files of several writers, in tests/arrow: NAME.* and NAME-*.* hold what NAME.txt says, and still do when rql has
saved them. Damaged files are read or refused with one error.

    tests/arrow.py

tests/interop/make_arrow.py wrote them; `make interop` compares with the writers themselves.
"""
import glob
import os
import random
import subprocess
import sys

import harness

SAMPLES = os.path.join(harness.TESTS, "arrow")
DUMP = os.path.join(os.path.dirname(harness.RQL), "dump_file")
NOTES = {
    "index.arrow": "the index of pandas is a range, which is no column of the file\nhint: `derive index = row` makes one",
    "nested.arrow": "left out columns that cannot be read: `bytes` (binary)",
    "missing.arrow": "are rounded down: 13 in `at_ns`, 15 in `zoned_ns`, 13 in `for_ns`, 11 in `time_ns`",
}
ROUNDS = 20


def dump(*arguments):
    return subprocess.run([DUMP, *arguments], capture_output=True, text=True, errors="replace", check=False)


def compare(done, expected):
    if done.returncode != 0:
        return f"status {done.returncode}: {done.stderr}"
    return "" if done.stdout == expected else harness.difference(expected, done.stdout, "columns")


def check_damage(tally, sandbox, path):
    """The file with some bytes changed, or without its end."""
    data = open(path, "rb").read()
    rng = random.Random(os.path.basename(path))
    for number in range(ROUNDS):
        damaged = bytearray(data)
        if number % 4 == 0:
            del damaged[rng.randrange(len(data)):]
        else:
            for _ in range(number % 4):
                damaged[rng.randrange(len(data))] = rng.randrange(256)
        sandbox.write("damaged.arrow", bytes(damaged))
        done = dump(sandbox.path("damaged.arrow"))
        errors = done.stderr.count("error: ")
        fine = (done.returncode, errors) in ((0, 0), (1, 1))
        tally.check(f"damaged-{os.path.basename(path)}-{number}", "" if fine else f"status {done.returncode}: {done.stderr}")


def check_unreadable(tally, sandbox):
    """A column that cannot be read is told when it is named, or when all others are used."""
    path = os.path.join(SAMPLES, "nested.arrow")
    for name, line, told, status in (
        ("unused", "sum a", "", 0),
        ("all", "take 1", "left out columns that cannot be read: `bytes` (binary)", 0),
        ("named", "pick bytes", "column `bytes` cannot be read: binary", 1),
        ("in-an-expression", "select len(bytes) > 2", "column `bytes` cannot be read: binary", 1),
    ):
        done = harness.run(["--device", "host", "-c", f'load "{path}" | {line}'], sandbox.here, sandbox.home)
        error = done.err.decode()
        fine = done.status == status and (told in error if told else not error)
        tally.check(f"unreadable-{name}", "" if fine else done.text())


def main():
    tally = harness.Tally("arrow")
    with harness.Sandbox() as sandbox:
        for path in sorted(glob.glob(os.path.join(SAMPLES, "*"))):
            name = os.path.basename(path)
            if name.endswith(".txt"):
                continue
            expected = open(os.path.join(SAMPLES, name.split(".")[0].split("-")[0] + ".txt"), encoding="utf-8").read()
            done = dump(path)
            tally.check(name, compare(done, expected))
            if name in NOTES:
                tally.check(f"{name}-note", "" if NOTES[name] in done.stderr else done.stderr)
            for ending in ("arrow", "arrows", "feather.gz"):
                saved = sandbox.path(f"saved.{ending}")
                done = dump("--save", saved, path)
                if ending.endswith(".gz") and done.returncode == 0:
                    subprocess.run(["gzip", "-df", saved], check=True)
                tally.check(f"{name}-saved-{ending}",
                            compare(dump(saved.removesuffix(".gz")), expected) if done.returncode == 0 else done.stderr)
            result = harness.run(["--device", "host", "-c", f'load "{path}" | save by-query.arrow'], sandbox.here, sandbox.home)
            tally.check(f"{name}-by-query", compare(dump(sandbox.path("by-query.arrow")), expected) if not result.status else result.text())
            check_damage(tally, sandbox, path)
        check_unreadable(tally, sandbox)
    sys.exit(tally.finish())


if __name__ == "__main__":
    main()
