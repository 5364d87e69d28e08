#!/usr/bin/env python3
"""Files of which only some rows are read, or texts not put in order: random filters, sorts, windows and joins on random
tables with missing values, from Parquet, Arrow and folders of Parquet files, against Python; failures against the same
table as CSV, which is read whole.

    late_rows.py [--count N] [--seed S]     N random statements, fused and not; prints the seed
"""

import os
import random
import sys

import harness
import numpy as np

ROWS = 150_000
FORMATS = ["x.parquet", "x.arrow", "parts/"]
MODES = [["--device", "host"], ["--device", "host", "--fusion", "off"]]


def make_table(rng):
    """Columns as lists: integers of several widths, floats and texts, and in each but `id` and `day` missing values."""
    random_of = np.random.default_rng(rng.randrange(2**32))

    def column(values):
        missing = random_of.random(ROWS) < 0.1
        return [None if gone else value for value, gone in zip(values.tolist(), missing)]

    return {
        "id": list(range(ROWS)),
        "day": np.sort(random_of.integers(0, 50, ROWS)).tolist(),
        "few": column(random_of.integers(0, 12, ROWS)),
        "wide": column(random_of.integers(-(2**40), 2**40, ROWS)),
        "ratio": column(random_of.integers(-4000, 4000, ROWS) / 8),
        "word": column(np.array(["", "ant", "bee", "cow", "dog"])[random_of.integers(0, 5, ROWS)]),
        "name": column(np.char.add("name ", random_of.integers(0, 90_000, ROWS).astype(str))),
    }


def write(table, sandbox):
    lines = [",".join(table)]
    for row in zip(*table.values()):
        lines.append(",".join("" if v is None else f'"{v}"' if isinstance(v, str) else str(v) for v in row))
    sandbox.write("x.csv", ("\n".join(lines) + "\n").encode())
    script = """let t = load x.csv
t | save x.parquet
t | save x.arrow
t | take 70000 | save parts/a.parquet
t | skip 70000 | save parts/b.parquet
"""
    os.mkdir(sandbox.path("parts"))
    done = harness.run(["--device", "host"], sandbox.here, sandbox.home, script.encode())
    for name in ["x.csv", "x.parquet", "x.arrow"]:
        os.utime(sandbox.path(name), (harness.OLD, harness.OLD))  # nothing is kept of a file that has just been written
    return "" if done.status == 0 else done.text()


def condition(rng, table):
    """A condition's text, and whether a row meets it."""
    column = rng.choice(["day", "few", "wide", "ratio", "word", "name", "id"])
    value = rng.choice(table[column])
    if value is None:
        value = next(v for v in table[column] if v is not None)
    if column == "name" and rng.random() < 0.5:
        digits = str(rng.randrange(100))
        return f'name like "%{digits}"', lambda row: row["name"] is not None and row["name"].endswith(digits)
    constant = f'"{value}"' if isinstance(value, str) else str(value)
    compare = {
        "==": lambda a: a == value,
        "!=": lambda a: a != value,
        "<": lambda a: a < value,
        ">=": lambda a: a >= value,
    }
    sign = rng.choice(list(compare))
    return f"{column} {sign} {constant}", lambda row: row[column] is not None and compare[sign](row[column])


def filters(rng, table):
    """Stages, and the numbers of the rows that pass."""
    conditions = [condition(rng, table) for _ in range(rng.choice([0, 0, 1, 1, 2, 3]))]
    rows = range(ROWS)
    if conditions:
        names = list(table)
        as_rows = (dict(zip(names, row)) for row in zip(*table.values()))
        rows = [i for i, row in enumerate(as_rows) if all(test(row) for _, test in conditions)]
    texts = [text for text, _ in conditions]
    if rng.random() < 0.5:
        return ["select " + " && ".join(texts)] if texts else [], rows
    return [f"select {text}" for text in texts], rows


def ordered(rows, keys, table):
    """Missing values are last; equal ones stay in their order."""
    for column, descending in reversed(keys):
        values = table[column]
        present = [i for i in rows if values[i] is not None]
        rows = sorted(present, key=lambda i: values[i], reverse=descending) + [i for i in rows if values[i] is None]
    return rows


def choices(rng, table, rows):
    """Stages that choose among the rows."""
    count = rng.choice([1, 10, 1000])
    kind = rng.choice(["take", "skip", "tail", "top", "sort", "none", "twice"])
    column, other = rng.sample(["few", "wide", "ratio", "word", "name", "day"], 2)
    if kind == "take":
        return [f"take {count}"], rows[:count]
    if kind == "skip":
        return ["skip 7", f"take {count}"], rows[7 : 7 + count]
    if kind == "tail":
        skipped = rng.choice([0, 0, 3])
        return [f"skip {skipped}", f"tail {count}"] if skipped else [f"tail {count}"], rows[skipped:][-count:]
    if kind == "top":
        return [f"top {count} by {column}"], ordered(rows, [(column, True)], table)[:count]
    if kind == "sort":
        chosen = ordered(rows, [(column, False), (other, True)], table)
        return [f"sort by {column}, {other} desc", "skip 2", f"take {count}"], chosen[2 : 2 + count]
    if kind == "twice":
        chosen = ordered(rows[:5000], [(column, True)], table)[:100]
        return ["take 5000", f"top 100 by {column}", f"sort by {other}"], ordered(chosen, [(other, False)], table)
    return [], rows


def printed(value):
    return "" if value is None else '""' if value == "" else str(value)


def statement(rng, table):
    """A statement, and what it prints."""
    before, rows = filters(rng, table)
    stages, rows = choices(rng, table, rows)
    shown = ["id", *rng.sample([name for name in table if name != "id"], rng.choice([1, 3, 6]))]
    query = " | ".join([f"load {rng.choice(FORMATS)}", *before, *stages, "pick " + ", ".join(shown)])
    return query, "".join("\t".join(printed(table[name][i]) for name in shown) + "\n" for i in rows)


def found_rows(rng, table, rows):
    """A join that looks for `id` at equal distances among these rows, and a table of what it finds."""
    step, first = rng.choice([(7, 3), (1, 0), (1500, 5)])
    there, left = set(rows), rng.random() < 0.3
    keys = [k for k in (step * n + first for n in range(ROWS // step + 10)) if left or k in there]
    texts = {name: [table[name][k] if k in there else None for k in keys] for name in ["name", "word"]}
    join = f"range 0..{ROWS // step + 9} as n | derive k = {step} * n + {first} | {'left ' if left else ''}join"
    return join, {"k": keys, **texts}


def text_stages(rng, found):
    """Stages that show texts, or compare them: their columns, and lists of these."""
    column, other = rng.sample(["name", "word"], 2)
    values, all_rows = found[column], range(len(found["k"]))
    value = next((v for v in values if v), "none")
    rows_of = {
        "": all_rows,
        f"sort by {column}": ordered(all_rows, [(column, False)], found),
        f"top 5 by {column}": ordered(all_rows, [(column, True)], found)[:5],
        f'select {column} == "{value}"': [i for i in all_rows if values[i] == value],
        f'select {column} like "%7"': [i for i in all_rows if (values[i] or "").endswith("7")],
        f'select upper({column}) == "{value.upper()}"': [i for i in all_rows if values[i] == value],
        "select name < word": [
            i for i, (name, word) in enumerate(zip(found["name"], found["word"])) if None not in (name, word) and name < word
        ],
    }
    stage = rng.choice([*rows_of, "group", "", ""])
    if stage == "group":
        groups = {}
        for i in all_rows:
            if values[i] is not None:
                groups.setdefault(values[i], []).append(found[other][i])
        least = [(key, min((v for v in of if v is not None), default=None), len(of)) for key, of in sorted(groups.items())]
        return [f'select {column} >= ""', f"group {column}: min({other}), count()"], least
    shown = rng.choice([["k", "name"], ["word", "k"], ["k", "name", "word"]])
    return [stage] * (stage != "") + ["pick " + ", ".join(shown)], [[found[name][i] for name in shown] for i in rows_of[stage]]


def joined(rng, sandbox, table):
    """Texts that only a join brings are in order where they are compared, and only there."""
    before, rows = filters(rng, table) if rng.random() < 0.3 else ([], range(ROWS))
    join, found = found_rows(rng, table, rows)
    statements, wanted = [], ""
    for _ in range(2):
        stages, lines = text_stages(rng, found)
        source = " | ".join([f"load {rng.choice(['x.parquet', *FORMATS])}", *before])
        statements.append(" | ".join([f"{join} ({source}) on k = id", *stages]))
        wanted += "".join("\t".join(map(printed, line)) + "\n" for line in lines)
    return run_all(sandbox, "\n".join(statements), wanted)


def run_all(sandbox, script, wanted):
    for mode in MODES:
        done = harness.run([*mode, "-c", script], sandbox.here, sandbox.home)
        problem = harness.difference(wanted, done.out.decode(), f"{' '.join(mode)}: {script}")
        if done.status != 0 or problem:
            return problem or f"{script}: {done.text()}"
    return ""


def results(rng, sandbox, table):
    """Statements of one session, in which more and more is known of the files; what is kept of them may be little."""
    statements = [statement(rng, table) for _ in range(2)]
    statements = [*statements, *statements, statements[0]]
    script = "\n".join([f".set keep {rng.choice(['auto', 'auto', 'off'])}", *(query for query, _ in statements)])
    wanted = "".join(printed for _, printed in statements)
    return run_all(sandbox, script, wanted)


def kept(sandbox):
    """What is kept is shown, and dropped on demand, but for what a name refers to."""
    script = """load x.parquet | sum day
load x.parquet | select few == 3 && wide > 0 | take 5 | sum id
.cache
.cache clear
.cache
.set keep off
load x.parquet | sum day
.cache
"""
    done = harness.run(["--device", "host", "-c", script], sandbox.here, sandbox.home)
    lines = [line for line in done.out.decode().splitlines() if " memory" in line]
    if done.status != 0 or len(lines) != 1 or not lines[0].startswith("4 columns, "):
        return done.text()
    return ""


def saved(sandbox):
    """Files of rows and of columns hold the same, whether texts have an order or not."""
    paths = ["a.csv", "b.csv", "a.jsonl", "b.jsonl", "c.parquet", "c.csv"]
    from_of = dict(zip(paths, ["x.parquet", "x.arrow", "x.parquet", "x.arrow", "x.parquet", "c.parquet"]))
    script = "\n".join(f"load {from_of[path]} | save {path}" for path in paths)
    done = harness.run(["--device", "host", "-c", script], sandbox.here, sandbox.home)
    contents = {path: open(sandbox.path(path), "rb").read() if done.status == 0 else b"" for path in paths}
    same = contents["a.csv"] == contents["b.csv"] == contents["c.csv"] and contents["a.jsonl"] == contents["b.jsonl"]
    return "" if same and contents["a.csv"].count(b"\n") == ROWS + 1 else f"{script}: files differ: {done.text()}"


def failures(rng, sandbox, table):
    """A quotient by zero is told of the row that it is in, or not computed."""
    before, _ = filters(rng, table)
    stages, _ = choices(rng, table, [])
    failing = rng.choice([f"derive bad = 7 // (few - {rng.randrange(14)})", f"select 7 // (few - {rng.randrange(14)}) < 3"])
    place = rng.randrange(len(before) + len(stages) + 1)
    stages = before + stages
    query = " | ".join([*stages[:place], failing, *stages[place:], "sum id"])
    given = {}
    for path in ["x.csv", *FORMATS]:
        done = harness.run(["--device", "host", "-c", f"load {path} | {query}"], sandbox.here, sandbox.home)
        err = b"\n".join(line for line in done.err.splitlines() if line.startswith(b"error") or b": error" in line)
        given[path] = (done.status, done.out, err.split(b"error", 1)[-1])
    for path in FORMATS:
        if given[path] != given["x.csv"]:
            return f"{query}: {path} {given[path]}, CSV {given['x.csv']}"
    return ""


def main():
    tables = {}

    def check(rng, sandbox, _mode, number):
        if "table" not in tables:
            tables["table"] = make_table(random.Random(rng.random()))
            problem = write(tables["table"], sandbox)
            return problem or kept(sandbox) or saved(sandbox)
        kind = failures if number % 4 == 3 else joined if number % 4 == 1 else results
        return kind(rng, sandbox, tables["table"])

    return harness.random_cases("late-rows", 60, check)


if __name__ == "__main__":
    sys.exit(main())
