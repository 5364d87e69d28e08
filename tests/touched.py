#!/usr/bin/env python3
"""Prints the unit programs of what a change has touched, one a line: make quick runs them.

    tests/touched.py [BASE]

A change is what differs from BASE: by default from main, on main from the commit before. A program belongs to a source that
it includes the header of; where none does, to all of the source's folder. Kernels belong to their backend's programs.
"""
import pathlib
import re
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.split()


def changed_files():
    base = sys.argv[1:] or git("merge-base", "HEAD", "main")
    if not sys.argv[1:] and base == git("rev-parse", "HEAD") and not git("status", "--porcelain"):
        base = git("rev-parse", "HEAD~1")
    return git("diff", "--name-only", *base) + git("ls-files", "--others", "--exclude-standard")


def included(path):
    """The headers that a test includes, those of the headers beside it among them."""
    names = INCLUDE.findall(path.read_text(encoding="utf-8"))
    for name in list(names):
        beside = path.parent / name
        if beside.exists() and beside != path:
            names += included(beside)
    return set(names)


def programs_of(name, tests):
    path = pathlib.PurePosixPath(name)
    if path.parts[:2] == ("tests", "unit"):
        return {path.stem} if path.name.startswith("test_") else {test for test, names in tests.items() if path.name in names}
    if path.parts[0] != "src" or len(path.parts) < 3:
        return set()
    if path.parts[:3] == ("src", "cl", "kernels"):
        return {test for test in tests if test.startswith("test_cl_")}
    source = path.relative_to("src")
    own = {test for test, names in tests.items() if str(source.with_suffix(".h")) in names}
    return own or {test for test, names in tests.items() if any(name.startswith(f"{source.parent}/") for name in names)}


def main():
    tests = {path.stem: included(path) for path in (TREE / "tests" / "unit").glob("test_*.c")}
    programs = set()
    for name in changed_files():
        programs |= programs_of(name, tests)
    print("\n".join(sorted(programs & tests.keys())))


if __name__ == "__main__":
    main()
