#!/usr/bin/env python3
"""Prints the lines and branches that tests have reached, by folder of src/, from what gcc --coverage has counted.

    tests/coverage.py BUILD [--files] [--floor FILE]

--files prints those of each file too. With --floor it fails if fewer are reached than FILE says: the percentages of lines
and of branches, which only rise.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys


def counts_of(data):
    """[lines reached, lines, branches reached, branches] of each source of an object."""
    done = subprocess.run(["gcov", "--branch-probabilities", "--json-format", "--stdout", str(data)],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    counts = {}
    for file in json.loads(done.stdout or b'{"files": []}')["files"]:
        if not file["file"].startswith("src/") or not file["file"].endswith((".c", ".re", ".y")):
            continue
        branches = [branch["count"] > 0 for line in file["lines"] for branch in line["branches"]]
        reached = sum(line["count"] > 0 for line in file["lines"])
        counts[file["file"]] = [reached, len(file["lines"]), sum(branches), len(branches)]
    return counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--floor", type=pathlib.Path)
    options = parser.parse_args()
    files = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for counts in pool.map(counts_of, sorted(options.build.glob("**/*.gcno"))):
            files.update(counts)
    folders = collections.defaultdict(lambda: [0, 0, 0, 0])
    for name, counts in files.items():
        for key in (os.path.dirname(name), "all", *([name] if options.files else [])):
            folders[key] = [a + b for a, b in zip(folders[key], counts)]
    print(f"{'':<48}{'lines':>8}{'reached':>9}{'branches':>10}{'reached':>9}")
    for key in sorted(folders, key=lambda key: (key == "all", key)):
        lines, of_lines, branches, of_branches = folders[key]
        print(f"{key:<48}{of_lines:>8}{lines / max(of_lines, 1):>9.1%}{of_branches:>10}{branches / max(of_branches, 1):>9.1%}")
    if options.floor:
        lines, of_lines, branches, of_branches = folders["all"]
        floor = [float(text) for text in options.floor.read_text(encoding="ascii").split()]
        reached = [100 * lines / max(of_lines, 1), 100 * branches / max(of_branches, 1)]
        for what, got, least in zip(("lines", "branches"), reached, floor):
            if got < least:
                sys.exit(f"coverage: {got:.1f} % of {what} are reached, fewer than the {least} % of {options.floor}")


if __name__ == "__main__":
    main()
