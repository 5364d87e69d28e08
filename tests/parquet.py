#!/usr/bin/env python3
"""Parquet files of several writers, in tests/parquet: SET-WRITER.parquet holds the columns of SET.txt, which has a line for
each with its values; some have only the first rows. Truncated and damaged files are read or refused with one error.

    tests/parquet.py [--rounds N]

tests/interop/make_samples.py wrote them. `make interop` compares with the writers themselves.
"""
import argparse
import collections
import glob
import os
import random
import re
import struct
import subprocess
import sys

import harness
import parquet_legacy

SAMPLES = os.path.join(harness.TESTS, "parquet")
DUMP = os.path.join(os.path.dirname(harness.RQL), "dump_file")
# What is told about each file: the start of a note.
NOTES = {
    "index-pandas": ["the index of pandas is a range, which is no column of the file", "`derive year = 1990 + 5 * row` makes one"],
    "nested-pyarrow": ["left out columns that cannot be read: `bytes` (of bytes that are not text)"],
}
# The types of some columns.
TYPES = {
    "zones-pyarrow": {
        "berlin": "i64 timestamp in Europe/Berlin missing",
        "utc": "i64 timestamp utc missing",
        "none": "i64 timestamp missing",
        "india": "i64 timestamp in Asia/Kolkata missing",
    },
    "durations-pyarrow": {unit: "i64 duration missing" for unit in ("s", "ms", "us", "ns")},
}
# The error that reading all columns of wrong-*.parquet ends in; the column `good` can be read from most.
ERRORS = {
    "u64": "column `bad`, row 3: the value exceeds",
    "u64-dictionary": "column `bad`, row 3: the value exceeds",
    "decimal": "column `bad`, row 1: the decimal does not fit 64 bits",
    "utf8": "column `bad`, row 1: the text is not UTF-8",
    "utf8-dictionary": "column `bad`, row 1: the text is not UTF-8",
    "checksum": "column `bad`, row group 0 is damaged: a page does not match its checksum",
    "encrypted": "is encrypted",
}


def dump(path, *names, options=()):
    """The columns of a file, by name: the type and the values as text. And the status and stderr."""
    done = subprocess.run([DUMP, *options, path, *names], capture_output=True, text=True, check=False)
    columns = {}
    values = []
    for line in done.stdout.splitlines():
        name, colon, kind = line.rpartition(": ")
        if colon:
            values = []
            columns[name] = (kind, values)
        else:
            values.append(line)
    return columns, done.returncode, done.stderr


def expected_values(path):
    with open(path, encoding="utf-8") as lines:
        named = (line.rstrip("\n").split(": ", 1) for line in lines)
        return {name: ["" if word == "''" else word for word in rest.split(" ")] for name, rest in named}


def same_value(kind, ours, theirs):
    if ours == theirs:
        return True
    if kind.split()[0] not in ("f32", "f64") or "-" in (ours, theirs):
        return False
    return struct.pack("d", float(ours)) == struct.pack("d", float(theirs))


def check_sample(path, options=()):
    name = os.path.basename(path).removesuffix(".parquet")
    expected = expected_values(os.path.join(SAMPLES, name.partition("-")[0] + ".txt"))
    columns, status, told = dump(path, options=options)
    if status != 0:
        return told
    problems = [f"no note: {note}" for note in NOTES.get(name, []) if note not in told]
    if name not in NOTES and "left out" in told:
        problems.append(told)
    for column, kind in TYPES.get(name, {}).items():
        if columns[column][0] != kind:
            problems.append(f"{column}: {columns[column][0]} instead of {kind}")
    for column, (kind, values) in columns.items():
        theirs = expected[column][: len(values)] if name.endswith("-row") or name.endswith("-rows") else expected[column]
        if len(values) != len(theirs):
            problems.append(f"{column}: {len(values)} rows instead of {len(theirs)}")
        for row, (mine, other) in enumerate(zip(values, theirs)):
            if not same_value(kind, mine, other):
                problems.append(f"{column} ({kind}), row {row}: {mine} instead of {other}")
                break
    return "\n".join(problems)


def check_saved(sandbox, path):
    """A file with lists, saved and read again."""
    saved = sandbox.path("saved.parquet")
    done = subprocess.run([DUMP, "--save", saved, path], capture_output=True, text=True, check=False)
    before, after = dump(path), dump(saved)
    if done.returncode or before[1] or after[1]:
        return done.stderr + before[2] + after[2]
    return "" if before[0] == after[0] else harness.difference(str(before[0]), str(after[0]), "columns")


def check_legacy(sandbox, name):
    """Lists as older writers have them."""
    elements, columns, expected = parquet_legacy.CASES[name]
    sandbox.write("legacy.parquet", parquet_legacy.case_file(elements, columns))
    found, status, told = dump(sandbox.path("legacy.parquet"))
    shown = {column: " ".join(values) for column, (_, values) in found.items()}
    return "" if (shown, status, told) == (expected, 0, "") else f"{shown} instead of {expected}: {told}"


def check_levels(sandbox, name):
    """Lists that are damaged."""
    sandbox.write("wrong.parquet", parquet_legacy.case_file(*parquet_legacy.WRONG[name]))
    _, status, told = dump(sandbox.path("wrong.parquet"))
    return "" if (status, told.count("error: ")) == (1, 1) and "is damaged" in told else f"status {status}: {told}"


def check_wrong(path, error, options=()):
    _, status, told = dump(path, options=options)
    if status != 1 or error not in told or told.count("error: ") != 1:
        return f"status {status}: {told}"
    if "column" not in error:
        return ""
    columns, status, told = dump(path, "good")
    return told if status or [*columns] != ["good"] else ""


def check_damaged(sandbox, path, rng):
    """Cuts a file short, or changes some bytes of it."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    if rng.random() < 0.3:
        del data[rng.randrange(len(data)):]
    else:
        for _ in range(rng.randrange(1, 6)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    damaged = os.path.join(sandbox.here, "damaged.parquet")
    with open(damaged, "wb") as file:
        file.write(data)
    _, status, told = dump(damaged, options=rng.choice([[], ["--unsorted"]]))
    errors = told.count("error: ")
    if (status, errors) in ((0, 0), (1, 1)):
        return ""
    kept = os.path.join("/tmp", "damaged-" + os.path.basename(path))
    os.replace(damaged, kept)
    return f"status {status}, {errors} errors; kept as {kept}: {told}"


def check_rows(sandbox):
    """Reads rows of pages with and without indices, which a filter finds by the other column."""
    path = os.path.join(SAMPLES, "rows", "dictionary-pyarrow.parquet")
    query = f'load "{path}" | select id == 1000 || id == 1001 || id == 69999 | pick value'
    done = harness.run(["--quiet", "--no-init", "-c", query], sandbox.here, sandbox.home)
    return "" if done.out == b"3000000000\n7\n1\n" else done.text()


def check_lists(sandbox):
    """Lists of some rows and row groups, which a filter finds by another column or by the lists themselves."""
    load = f'load "{os.path.join(SAMPLES, "lists-pyarrow-v1.parquet")}"'
    queries = {
        "select plain == 9 || plain == 18 | pick plain, ints": "9\t[5,5,5,5,5,5,5]\n18\t[null,3]\n",
        "select plain >= 14 | pick texts | take 2": '[["d"]]\n[["a","b"],[]]\n',
        "tail 1 | pick plain, map": "19\t{}\n",
        "select sum(ints) == 35 && `in.n` == 1 | pick plain, ints": "4\t[5,5,5,5,5,5,5]\n",
        "derive s = sum(ints) | sum s": "164\n",
        "select `in.deep.point.x` == 7 && plain > 10 | pick plain, `in.deep.point.tags`": '12\t["q",null]\n16\t["q",null]\n',
    }
    problems = []
    for query, expected in queries.items():
        done = harness.run(["--quiet", "--no-init", "-c", f"{load} | {query}"], sandbox.here, sandbox.home)
        if done.out.decode() != expected:
            problems.append(f"{query}: {done.text()}")
    return "\n".join(problems)


def texts_of_sample():
    """The columns `mixed` and `apart` of texts-pyarrow.parquet."""
    rows = range(70_000)
    return [None if k % 11 == 0 else f"text {k // 3 % 9000}" for k in rows], [f"{k // 40}é" for k in rows]


def check_texts(sandbox):
    """Texts that need no order, and then the same texts in their order."""
    mixed, apart = texts_of_sample()
    there = [text for text in mixed if text is not None]
    expected = {
        'select mixed like "%77%" | count': sum("77" in text for text in there),
        'select mixed == "text 17" | count': there.count("text 17"),
        'select mixed != "text 17" | count': len(there) - there.count("text 17"),
        'select mixed == "none" | count': 0,
        'select mixed < "text 5" | count': sum(text < "text 5" for text in there),
        'select mixed <= "text 5" | count': sum(text <= "text 5" for text in there),
        'select "text 5" < mixed | count': sum(text > "text 5" for text in there),
        'select mixed >= "text 5" | count': sum(text >= "text 5" for text in there),
        "select missing(mixed) | count": len(mixed) - len(there),
        "derive n = len(mixed) | sum n": sum(map(len, there)),
        "derive n = len(apart) | sum n": sum(map(len, apart)),
        'select apart == "1749é" && mixed like "text 53%" | count': sum(
            a == "1749é" and (m or "").startswith("text 53") for a, m in zip(apart, mixed)
        ),
        'select apart != "1749é" && mixed in ["text 1", "text 2"] | pick mixed | distinct | count': 2,
        "select apart == mixed | count": 0,
        "pick mixed | distinct | count": len(set(mixed)),
        "max mixed": max(there),
        "sort mixed desc | derive n = len(apart) | take 1 | pick mixed": max(there),
    }
    path = os.path.join(SAMPLES, "rows", "texts-pyarrow.parquet")
    problems = []
    for mode in ("host", "host-unfused"):
        for session in (False, True):
            lines = [f"t | {query}" if session else f'load "{path}" | {query}' for query in expected]
            scripts = ["\n".join([f'let t = load "{path}"', *lines])] if session else lines
            options = ["--quiet", "--no-init", *harness.ALL_MODES[mode]]
            runs = [harness.run([*options, "-c", script], sandbox.here, sandbox.home) for script in scripts]
            found = "".join(run.out.decode() + run.err.decode() for run in runs).splitlines()
            for query, line, value in zip(expected, found, expected.values(), strict=True):
                if line != str(value):
                    problems.append(f"{query} ({mode}): {line} instead of {value}")
    return "\n".join(problems)


def check_advice(sandbox):
    """What to do about a value beyond 64 bits."""
    query = f'load "{os.path.join(SAMPLES, "wrong-u64.parquet")}" | sum bad'
    done = harness.run(["--quiet", "--no-init", "-c", query], sandbox.here, sandbox.home)
    return "" if b"make `bad` text or floats" in done.err else done.text()


def check_optional(sandbox):
    """A column that may have missing values, and has none, gives values where each row needs one."""
    source = f'(load "{os.path.join(SAMPLES, "mixed-pandas.parquet")}" | pick i)'
    query = f"{source} | scan |a, b| a * b; range 5..9 | gather {source}; range 5..7 | scatter {source} into 4"
    done = harness.run(["--quiet", "--no-init", "-c", query], sandbox.here, sandbox.home)
    return "" if done.out.split() == b"1 2 6 6 7 8 0 5 6 7".split() else done.text()


def check_kept(sandbox):
    """Rows that a statement reads are kept for the next that needs the same rows."""
    make = "range 1..300000 as k | derive v = k * 7 % 1000003, w = k * 13 % 1009 | save kept.parquet"
    harness.run(["--quiet", "--no-init", "-c", make], sandbox.here, sandbox.home)
    os.utime(sandbox.path("kept.parquet"), (harness.OLD, harness.OLD))  # files that are new are read anew
    lines = ["let t = load kept.parquet", *["t | select w == 5 | sum v"] * 3, *["t | select k == 7 | sum v"] * 2]
    options = ["--quiet", "--no-init", "--device", "host", "--timing", "-c", "\n".join(lines)]
    result = harness.run(options, sandbox.here, sandbox.home)
    # What is found again takes some microseconds.
    taken = [re.search(r"mapped +([0-9.]+) ms", part) for part in result.err.decode().split("parsed")[2:]]
    reads = [found is not None and float(found[1]) > 0.3 for found in taken]
    total = sum(k * 7 % 1000003 for k in range(1, 300001) if k * 13 % 1009 == 5)
    if result.out.decode().split() != [str(total)] * 3 + ["49"] * 2:
        return result.text()
    return "" if reads == [True, False, False, True, False] else f"read in statements: {reads}\n{result.text()}"


def check_ordered(sandbox):
    """Texts that a filter looks at one by one, and something behind it compares with others."""
    make = 'range 1..200000 as k | map k, format("id{:08}", k * 7) as s | save many.parquet'
    harness.run(["--quiet", "--no-init", "-c", make], sandbox.here, sandbox.home)
    wanted = '(["id00000700", "id00000014", "x"] as d)'
    picked = 'load many.parquet | select s like "id0000%"'
    expected = {f"{picked} | join {wanted} on s = d | group : count(), sum(k)": "2\t102\n",
                f"{picked} | semi join {wanted} on s = d | sum k": "102\n",
                f"{picked} | anti join {wanted} on s = d | count": "1426\n",
                f'load many.parquet | select k < 9 || s like "%77" | select s in {wanted} | sum k': "2\n"}
    make = 'range 1..200000 as k | map k, format("id{:08}", k * 7919 % 200003) as s | save mixed.parquet'
    harness.run(["--quiet", "--no-init", "-c", make], sandbox.here, sandbox.home)
    order = sorted(range(1, 200001), key=lambda k: k * 7919 % 200003)
    rest = [k for k in order if (k * 7919 % 200003) // 100 != 7]
    least, greatest = (" ".join(map(str, keys)) for keys in (rest[:800:99], reversed(rest[-3:])))
    picked = 'load mixed.parquet | select !contains(s, "id000007")'
    expected |= {f"{picked} | sort s | take 800 | derive r = row | select r % 99 == 0 | map k": least.replace(" ", "\n") + "\n",
                 f"{picked} | top 3 by s | map k": greatest.replace(" ", "\n") + "\n",
                 f"{picked} | sort k % 2, s desc | take 1 | map k": f"{next(k for k in reversed(rest) if k % 2 == 0)}\n"}
    for line, output in expected.items():
        for mode in ("host", "host-unfused"):
            result = harness.run([*harness.ALL_MODES[mode], "-c", line], sandbox.here, sandbox.home)
            if result.out.decode() != output or result.status:
                return f"{line} ({mode}): expected {output!r}\n{result.text()}"
    return ""


def chosen_question(rng, mixed, apart):
    """A filter that looks at texts, something behind it that compares those of the rows that are left, and the answer."""
    part, other = (f"{rng.randrange(10 ** rng.randint(1, 4))}" for _ in range(2))
    by_mixed, both = rng.random() < 0.5, rng.random() < 0.3
    condition = f'{"mixed" if by_mixed else "apart"} like "%{part}%"'
    rows = [(m, a) for m, a in zip(mixed, apart) if part in ((m or "") if by_mixed else a)]
    if both:
        condition += f' && {"apart" if by_mixed else "mixed"} like "%{other}%"'
        rows = [(m, a) for m, a in rows if other in (a if by_mixed else (m or ""))]
    texts = [m for m, _ in rows if m is not None]
    counts = collections.Counter(texts)
    wanted = sorted(rng.sample(sorted(counts), min(3, len(counts)))) + ["none"]
    listed = ", ".join(f'"{text}"' for text in wanted)
    tails = (
        ("count", len(rows)),
        ("group : max(apart)", max((a for _, a in rows), default=None)),
        ("select !missing(mixed) | sort mixed | take 1 | pick mixed", min(texts, default=None)),
        ("select !missing(mixed) | group mixed: count() as n | map n * n | sum", sum(n * n for n in counts.values())),
        ("select !missing(mixed) | pick mixed | distinct | count", len(counts)),
        ("pick apart | distinct | count", len({a for _, a in rows})),
        ("derive u = upper(apart) | select u != apart | count", sum(a.upper() != a for _, a in rows)),
        ("derive n = len(apart) | sum n", sum(len(a) for _, a in rows)),
        (f"semi join ([{listed}] as d) on mixed = d | count", sum(counts[text] for text in wanted)),
        (f"anti join ([{listed}] as d) on mixed = d | count", len(rows) - sum(counts[text] for text in wanted)),
        (f"select mixed in ([{listed}] as d) | count", sum(counts[text] for text in wanted)),
    )
    tail, answer = rng.choice(tails)
    return f"select {condition} | {tail}", "" if answer is None else str(answer)


def check_chosen(sandbox, rng):
    """Rows chosen by texts that have no order yet, whose texts are then put in order: in processes and in sessions."""
    mixed, apart = texts_of_sample()
    path = os.path.join(SAMPLES, "rows", "texts-pyarrow.parquet")
    for mode in ("host", "host-unfused"):
        questions = [chosen_question(rng, mixed, apart) for _ in range(25)]
        alone = [([f'load "{path}" | {query}'], [answer]) for query, answer in questions[:8]]
        session = ([f'let t = load "{path}"', *[f"t | {query}" for query, _ in questions]], [answer for _, answer in questions])
        for script, answers in [*alone, session]:
            result = harness.run([*harness.ALL_MODES[mode], "-c", "\n".join(script)], sandbox.here, sandbox.home)
            found = result.out.decode().split("\n")
            if result.status or [line for line in found if line] != [answer for answer in answers if answer]:
                return f"{script} ({mode}): expected {answers}\n{result.text()}"
    return ""


def join_question(rng, left, right):
    """A join of the rows of `left`, which are in a file, with some of `right`, that leaves few of them; and the answer."""
    low, width = rng.randrange(1500), rng.choice((0, 1, 3, 40, 3000))
    few = rng.random() < 0.3
    taken = [(k, w) for k, w in right if low <= w <= low + width]
    condition = f"w in {low}..{low + width}"
    keys = collections.Counter(k for k, _ in taken)
    sums = collections.Counter()
    for k, w in taken:
        sums[k] += w
    kept = [(k, v, t) for k, v, t in left if not few or v < 30]
    source = f'(load right.parquet | select {condition})'
    picked = "load left.parquet" + (" | select v < 30" if few else "")
    by, on = rng.choice((("k", "k = id"), ("t", "t = name")))
    number = (lambda k, t: k) if by == "k" else (lambda k, t: int(t[1:]))
    rows = [(number(k, t), v) for k, v, t in kept]
    kinds = (
        (f"join {source} on {on} | group : count(), sum(v), sum(w)",
         (sum(keys[k] for k, _ in rows), sum(keys[k] * v for k, v in rows), sum(sums[k] for k, _ in rows))),
        (f"semi join {source} on {on} | group : count(), sum(v)", (sum(k in keys for k, _ in rows), sum(v for k, v in rows if k in keys))),
        (f"anti join {source} on {on} | group : count(), sum(v)", (sum(k not in keys for k, _ in rows), sum(v for k, v in rows if k not in keys))),
        (f'select {by} in ({source} | pick {on.split()[-1]}) | group : count(), sum(v)',
         (sum(k in keys for k, _ in rows), sum(v for k, v in rows if k in keys))),
    )
    tail, answer = rng.choice(kinds)
    return f"{picked} | {tail}", "\t".join(map(str, answer))


def check_joins(sandbox, rng):
    """Rows of a file that a join leaves out are not read: what is left against sums in Python."""
    make = """range 1..150000 as k | map k * 7 % 3001 as k, k * 13 % 1009 as v, format("n{:05}", k * 11 % 20011) as t | save left.parquet
range 1..2500 as id | map id * 5 % 3100 as id, format("n{:05}", id * 5 % 3100) as name, id as w | save right.parquet
range 1..2500 as id | map id * 5 % 1200 as id, format("n{:05}", id * 5 % 1200) as name, id as w | save twice.parquet"""
    harness.run(["--quiet", "--no-init", "-c", make], sandbox.here, sandbox.home)
    left = [(k * 7 % 3001, k * 13 % 1009, f"n{k * 11 % 20011:05}") for k in range(1, 150_001)]
    for mode in ("host", "host-unfused"):
        for name, modulus in (("right", 3100), ("twice", 1200)):
            right = [(n * 5 % modulus, n) for n in range(1, 2501)]
            questions = [join_question(rng, left, right) for _ in range(8)]
            questions = [(query.replace("right.parquet", name + ".parquet"), answer) for query, answer in questions]
            script = "\n".join(query for query, _ in questions)
            result = harness.run([*harness.ALL_MODES[mode], "--format", "tsv", "-c", script], sandbox.here, sandbox.home)
            found = [line.replace("missing", "").strip() for line in result.out.decode().splitlines()]
            for (query, answer), line in zip(questions, found, strict=False):
                if line != answer:
                    return f"{query} ({mode}): {line!r}, expected {answer!r}"
            if result.status or len(found) != len(questions):
                return result.text()
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    tally = harness.Tally("parquet")
    rng = random.Random(1)
    samples = sorted(glob.glob(os.path.join(SAMPLES, "*.parquet")))
    with harness.Sandbox() as sandbox:
        tally.check("some rows", check_rows(sandbox))
        tally.check("some lists", check_lists(sandbox))
        tally.check("texts", check_texts(sandbox))
        tally.check("texts in order", check_ordered(sandbox))
        tally.check("texts of chosen rows", check_chosen(sandbox, rng))
        tally.check("rows of joins", check_joins(sandbox, rng))
        tally.check("columns kept", check_kept(sandbox))
        tally.check("advice", check_advice(sandbox))
        tally.check("optional without missing values", check_optional(sandbox))
        for name in parquet_legacy.CASES:
            tally.check(name, check_legacy(sandbox, name))
        for name in parquet_legacy.WRONG:
            tally.check(name, check_levels(sandbox, name))
        for path in samples:
            name = os.path.basename(path)
            wrong = name.removeprefix("wrong-").removesuffix(".parquet")
            for options, how in (((), ""), (("--unsorted",), ", unsorted")):
                is_wrong = name.startswith("wrong-")
                problem = check_wrong(path, ERRORS[wrong], options) if is_wrong else check_sample(path, options)
                tally.check(name + how, problem)
            if name.startswith(("lists-", "nested-")):
                tally.check(name + ", saved", check_saved(sandbox, path))
            problems = (check_damaged(sandbox, path, rng) for _ in range(arguments.rounds))
            tally.check(name + ", damaged", next((problem for problem in problems if problem), ""))
    sys.exit(tally.finish())


if __name__ == "__main__":
    main()
