#!/usr/bin/env python3
"""Folders of files: trees of random partitions, read by rql and by a reference written from the rules in
docs/language.md. Rows, types of partitions and the number of files that a filter opens must be the same.

    tests/folders.py [--seed N] [--rounds N]
"""

import argparse
import datetime
import json
import os
import random
import re
import shutil
import sys
import urllib.parse

import harness

MISSING = "__HIVE_DEFAULT_PARTITION__"
TEXTS = ["a", "b c", "Zürich", "x/y", "100%", "50%25", "k=v", "", "it's", "-", "NA", "1e3", "tab\there", "2024-01-01x"]


class Key:
    """A partition column: its name, the kind of its values, and these as written (without encoding)."""

    def __init__(self, rng, number):
        self.name = f"k{number}"
        self.kind = rng.choice(["int", "month", "date", "text", "zip", "mixed"])
        self.values = []
        for _ in range(rng.randint(1, 4)):
            value = self.make(rng)
            if value not in self.values:
                self.values.append(value)
        if rng.random() < 0.3:
            self.values.append(None)

    def make(self, rng):
        if self.kind == "int":
            return str(rng.choice([0, 7, -3, 2024, 10**12, -(2**63), 2**63 - 1, rng.randint(-100, 100)]))
        if self.kind == "month":
            return f"{rng.randint(1, 12):02}"
        if self.kind == "date":
            return str(datetime.date(2024, 1, 1) + datetime.timedelta(rng.randint(0, 400)))
        if self.kind == "zip":
            return f"{rng.randint(0, 99999):05}"
        if self.kind == "mixed":
            return rng.choice(["1", "2024-01-01", "x", "007"])
        return rng.choice(TEXTS)


def kind_of(values):
    """The type of a key, by all of its values as written; None is missing."""
    present = [value for value in values if value not in (None, "")]
    if present and all(re.fullmatch(r"-?(\d\d?|[1-9]\d*)", value) and -(2**63) <= int(value) < 2**63 for value in present):
        return "int"
    if present and all(re.fullmatch(r"\d{4}-\d\d-\d\d", value) for value in present):
        return "date"
    return "text"


def typed(value, kind):
    if value is None or (value == "" and kind != "text"):
        return None
    return int(value) if kind == "int" else value


def cell(value):
    return "" if value is None else f'"{value}"' if value == "" else str(value)


def write_table(path, names, rows):
    """A CSV or JSON lines file."""
    with open(path, "w", encoding="utf-8") as file:
        if path.endswith(".csv"):
            file.write(",".join(names) + "\n")
            for row in rows:
                file.write(",".join(cell(row[name]) for name in names) + "\n")
        else:
            for row in rows:
                file.write(json.dumps({name: row[name] for name in names}) + "\n")


class Tree:
    """A folder of random files below `root`, and the rows that it has."""

    def __init__(self, rng, sandbox, root):
        self.rng = rng
        self.root = root
        self.here = sandbox.here
        self.keys = [Key(rng, k) for k in range(rng.choice([0, 1, 1, 2, 3]))]
        self.text = rng.choice([".csv", ".jsonl"])
        self.saved = rng.choice([self.text, self.text, ".parquet", ".arrow", ".tsv", ".csv.gz"])
        self.files = {}  # path: (values of keys, names, rows)
        shutil.rmtree(os.path.join(self.here, root), ignore_errors=True)
        self.fill(root, [])
        if not self.files:
            self.add_file(os.path.join(root, *(f"{key.name}=1" for key in self.keys)), ["1"] * len(self.keys))
        self.convert(sandbox)

    def fill(self, folder, values):
        if len(values) == len(self.keys):
            for _ in range(self.rng.choice([1, 1, 2])):
                self.add_file(folder, values)
            return
        key = self.keys[len(values)]
        for value in key.values:
            if self.rng.random() < 0.8:
                name = MISSING if value is None else urllib.parse.quote(value, safe=" '")
                self.fill(os.path.join(folder, f"{key.name}={name}"), [*values, value])

    def add_file(self, folder, values):
        os.makedirs(os.path.join(self.here, folder), exist_ok=True)
        names = ["id", "x"] + self.rng.sample(["late", "s"], self.rng.randint(0, 2))
        number = len(self.files)
        rows = []
        for i in range(self.rng.choice([1, 1, 2, 5, 17])):
            row = {"id": number * 1000 + i, "x": self.rng.choice([1, 2, 3]), "late": self.rng.randint(0, 9) * 10**9,
                   "s": self.rng.choice(["p", "q", "r"])}
            rows.append({name: row[name] for name in names})
        path = os.path.join(folder, f"part-{self.rng.randint(0, 9)}-{number}")
        self.files[path] = (values, names, rows)
        write_table(os.path.join(self.here, path + self.text), names, rows)
        with open(os.path.join(self.here, folder, "_SUCCESS"), "w", encoding="utf-8"):
            pass

    def convert(self, sandbox):
        """Has rql save the files in another format."""
        if self.saved == self.text:
            return
        script = "".join(f"load {json.dumps(path + self.text, ensure_ascii=False)} | save {json.dumps(path + self.saved, ensure_ascii=False)}\n"
                         for path in self.files)
        done = harness.run([], sandbox.here, sandbox.home, stdin=script.encode())
        assert done.status == 0, done.text()
        for path in self.files:
            os.remove(os.path.join(self.here, path + self.text))

    def order(self):
        return sorted(self.files, key=lambda path: (path + self.saved).encode())

    def kinds(self):
        return [kind_of([values[k] for values, _, _ in self.files.values()]) for k in range(len(self.keys))]

    def columns(self, paths):
        names = []
        for path in paths:
            names += [name for name in self.files[path][1] if name not in names]
        return names

    def rows(self, paths):
        """The rows of the files in order, as dictionaries."""
        names, kinds, rows = self.columns(paths), self.kinds(), []
        for path in paths:
            values = self.files[path][0]
            told = {key.name: typed(value, kind) for key, value, kind in zip(self.keys, values, kinds)}
            rows += [{**{name: row.get(name) for name in names}, **told} for row in self.files[path][2]]
        return rows

    def condition(self):
        """A random filter on a key, and which files it leaves."""
        k = self.rng.randrange(len(self.keys))
        name, kind = self.keys[k].name, self.kinds()[k]
        value = typed(self.rng.choice([values[k] for values, _, _ in self.files.values()]), kind)
        paths = self.order()
        told = {path: typed(self.files[path][0][k], kind) for path in paths}
        if value is None or self.rng.random() < 0.1:
            return f"{name} is missing", [path for path in paths if told[path] is None]
        literal = json.dumps(value, ensure_ascii=False).replace("%", "%") if kind == "text" else str(value)
        operator = self.rng.choice(["==", "<=", ">"])
        test = {"==": lambda x: x == value, "<=": lambda x: x <= value, ">": lambda x: x > value}[operator]
        if kind == "text" and operator != "==":
            value = value.encode()
            kept = [path for path in paths if told[path] is not None and test(told[path].encode())]
        else:
            kept = [path for path in paths if told[path] is not None and test(told[path])]
        return f"{name} {operator} {literal}", kept


def query(sandbox, text):
    return harness.run(["--device", "host", "-c", text], sandbox.here, sandbox.home)


def rows_of(done):
    if done.status != 0:
        return done.text()
    return [json.loads(line) for line in done.out.decode().splitlines()]


def problem_of(expected, got):
    if expected == got:
        return ""
    if isinstance(got, str):
        return got
    for i, (one, other) in enumerate(zip(expected, got)):
        if one != other or list(one) != list(other):
            return f"row {i}: expected {one}, got {other}"
    return f"expected {len(expected)} rows, got {len(got)}"


def check_tree(tally, sandbox, tree, title):
    paths = tree.order()
    expected = tree.rows(paths)
    for source in (tree.root + "/", f"{tree.root}/**/*{tree.saved}", f"{tree.root}/**"):
        if source.endswith("**"):
            source = f"{tree.root}/**/part-*"
        got = rows_of(query(sandbox, f".format jsonl\nload '{source}' | show {len(expected)}"))
        tally.check(f"{title}: {source}", problem_of(expected, got))
    for _ in range(3 if tree.keys else 0):
        condition, kept = tree.condition()
        text = f"load {tree.root}/ | select {condition}"
        opened = sorted({paths[0], *kept}, key=paths.index)
        names = tree.columns(opened) + [key.name for key in tree.keys]
        expected = [{name: row.get(name) for name in names} for row in tree.rows(opened)]
        ids = {row["id"] for path in kept for row in tree.files[path][2]}
        expected = [row for row in expected if row["id"] in ids]
        if kept and paths[0] not in kept:  # then its columns are not there
            names = tree.columns(kept) + [key.name for key in tree.keys]
            expected = [{name: row[name] for name in names} for row in expected]
        got = rows_of(query(sandbox, f".format jsonl\n{text} | show {len(expected) + 1}"))
        tally.check(f"{title}: {condition}", problem_of(expected, got))
        told = query(sandbox, f"explain {text} | count").out.decode()
        count = max(len(kept), 1)
        if not kept and "missing" in condition:
            count = len(paths)  # nothing is missing: the condition is a constant
        wanted = f"files: {count} of {len(paths)} opened\n"
        tally.check(f"{title}: files of {condition}", "" if wanted in told or len(paths) == 1 else f"not {wanted}{told}")


def check_saved(tally, sandbox, tree, title):
    """Saves what the tree has by some of its columns, twice, and reads it back."""
    rng = tree.rng
    rows = tree.rows(tree.order())
    names = list(rows[0])
    by = rng.sample([name for name in names if name != "x"], rng.randint(1, min(3, len(names) - 1)))
    kind = rng.choice(["parquet", "csv", "jsonl", "arrow", "tsv", "npz"])
    if any(name.startswith("k") and kind_of(tree_values) == "text" for name, tree_values in
           ((key.name, [values[k] for values, _, _ in tree.files.values()]) for k, key in enumerate(tree.keys)) if name not in by):
        kind = rng.choice(["parquet", "arrow"])  # in text files, texts may be of other types in other files
    if kind == "npz" and any(row[name] is None or isinstance(row[name], str) for row in rows for name in names if name not in by):
        kind = "parquet"
    shutil.rmtree(os.path.join(sandbox.here, "saved"), ignore_errors=True)
    for _ in range(2):
        done = query(sandbox, f"load {tree.root}/ | save saved/ {kind} by {', '.join(by)}")
        if done.status:
            break
    told = {name: [None if row[name] is None else str(row[name]) for row in rows] for name in by}
    kinds = {name: kind_of(told[name]) for name in by}
    expected = []
    for i, row in enumerate(rows):
        expected.append({name: typed(told[name][i], kinds[name]) if name in by else row[name] for name in names})
    got = rows_of(query(sandbox, f".format jsonl\nload saved/ | pick {', '.join(names)} | show {len(rows) + 1}"))

    def order(row):
        return json.dumps(row)

    problem = done.text() if done.status else got if isinstance(got, str) else problem_of(sorted(expected, key=order), sorted(got, key=order))
    tally.check(f"{title}: saved as {kind} by {', '.join(by)}", problem)
    files = sum(len(names) for _, _, names in os.walk(os.path.join(sandbox.here, "saved")))
    folders = len({tuple(row[name] for name in by) for row in rows})
    tally.check(f"{title}: number of files", "" if files == folders else f"{files} files for {folders} folders")


def check_spelling(tally, sandbox):
    """What other programs wrote for the same value, in another way, is refused and stays as it is."""
    for key, value, other in (("k", "1", "01"), ("k", "-3", "-03"), ("k", '"a b"', "a%20b"), ("k", '"ä"', "%C3%A4"), ("k", '"x"', "%78")):
        shutil.rmtree(os.path.join(sandbox.here, "spelled"), ignore_errors=True)
        os.makedirs(os.path.join(sandbox.here, "spelled", f"{key}={other}"))
        write = f"range 1..3 as x | derive {key} = {value} | save spelled csv by {key}"
        done = query(sandbox, write)
        wanted = f"`spelled` has `{key}={other}` in it, whose rows would be there twice beside"
        problem = "" if done.status == 1 and wanted in done.err.decode() else done.text()
        tally.check(f"{key}={other} beside {value}", problem)
        os.rename(os.path.join(sandbox.here, "spelled", f"{key}={other}"), os.path.join(sandbox.here, "spelled", f"{key}=7"))
        done = query(sandbox, write)
        tally.check(f"{value} without {other}", done.text() if done.status else "")


def check_left_behind(tally, sandbox):
    """Files and folders of processes that are gone are removed by the next save there; others stay."""
    root = os.path.join(sandbox.here, "swept")
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(os.path.join(root, "k=1"))
    gone, here = 2**31 - 1, os.getpid()
    left = [f".rql-{gone}-1f", f"k=1/.rql-{gone}-2", f".rql-{here}-1f", f".rql-{gone}-", f".rql-{gone}-1g", ".rql-0-1", ".rql-x"]
    for name in left:
        sandbox.write(f"swept/{name}", b"x")
    os.makedirs(os.path.join(root, f".rql-{gone}-3/k=1"))
    sandbox.write(f"swept/.rql-{gone}-3/k=1/data.csv", b"x")
    sandbox.write("kept.csv", b"x")
    os.symlink("../kept.csv", os.path.join(root, f".rql-{gone}-3/link"))
    queries = ["range 1..3 as x | save swept/a.csv", "range 1..3 as x | derive k = 1 | save swept/new csv by k"]
    for text in queries:
        done = query(sandbox, text)
        stay = sorted(name for name in os.listdir(root) if name.startswith(".rql-"))
        tally.check(f"swept by {text}", done.text() if done.status else "" if stay == sorted(left[2:]) else f"{stay} stay")
    os.unlink(os.path.join(root, "a.csv"))
    shutil.rmtree(os.path.join(root, "new"))
    done = query(sandbox, "range 1..3 as x | derive k = 1 | save swept csv by k")
    stay = os.listdir(os.path.join(root, "k=1"))
    tally.check("swept within", done.text() if done.status else "" if stay == ["data.csv"] else f"{stay}")
    tally.check("links are not followed", "" if os.path.exists(os.path.join(sandbox.here, "kept.csv")) else "it is gone")
    done = query(sandbox, "range 1..0 as x | derive k = x | save nothing csv by k")
    made = os.path.exists(os.path.join(sandbox.here, "nothing"))
    tally.check("no rows", "" if done.status == 1 and b"there are no rows" in done.err and not made else done.text())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    tally = harness.Tally("folders")
    with harness.Sandbox() as sandbox:
        check_spelling(tally, sandbox)
        check_left_behind(tally, sandbox)
        for i in range(options.rounds):
            seed = options.seed * 100000 + i
            tree = Tree(random.Random(seed), sandbox, "tree")
            check_tree(tally, sandbox, tree, f"seed {seed}")
            check_saved(tally, sandbox, tree, f"seed {seed}")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
