#!/usr/bin/env python3
"""Random sets of columns over random tables: each query with sets gives what the same query gives with the columns written out,
which Python finds.

    sets.py [--count N] [--seed SEED] [--modes M,...]"""

import fnmatch
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import ALL_MODES, random_cases, run  # noqa: E402

PARTS = ["a", "b", "amt", "x_1", "x", "é", "feature"]
TYPES = ["int", "float", "text", "date"]
NUMERIC = ("int", "float")
CELLS = {
    "int": lambda rng: str(rng.randint(-9, 9)),
    "float": lambda rng: repr(rng.randint(-40, 40) / 8),
    "text": lambda rng: rng.choice(["p", "q", "rs"]),
    "date": lambda rng: f"2024-0{rng.randint(1, 9)}-11",
}
AGGREGATES = {"sum": NUMERIC, "mean": NUMERIC, "min": TYPES, "max": TYPES, "median": TYPES, "first": TYPES, "distinct": TYPES}


def random_table(rng):
    """Names with their types, and rows of cells; the first column is a key."""
    names = []
    while len(names) < rng.choice([1, 2, 5, 9, 40]):
        name = "_".join(rng.choice(PARTS) for _ in range(rng.randint(1, 3))) + str(rng.randint(0, 30))
        if name not in names:
            names.append(name)
    columns = {"key": "int", **{name: rng.choice(TYPES) for name in names}}
    rows = [[CELLS[kind](rng) if rng.random() < 0.8 else "" for kind in columns.values()] for _ in range(rng.choice([0, 1, 2, 9]))]
    for row in rows:
        row[0] = str(rng.randint(0, 2))
    return columns, rows


def stated(columns, path):
    return f"load {path} " + ", ".join(f"{name} {kind}" for name, kind in columns.items())


def pattern_of(rng, names, ends):
    """A pattern that a name fits; within expressions its star is at an end."""
    name = rng.choice(names)
    cut = rng.randint(1, len(name) - 1) if len(name) > 1 else 1
    forms = ["*", name[:cut] + "*", "*" + name[cut:]]
    if not ends:
        forms.append(name[:1] + "*" + name[cut:])
    return rng.choice([form for form in forms if not form[0].isdigit() and not form.startswith("**")])


def random_set(rng, columns, ends=True, span=True):
    """A set as it is written, and its columns in order; some of them have no column."""
    names = list(columns)
    if span and rng.random() < 0.3:
        first, last = sorted(rng.sample(range(len(names)), 2)) if len(names) > 1 else (0, 0)
        text, members = f"{names[first]}..{names[last]}", names[first:last + 1]
    else:
        text = pattern_of(rng, names, ends)
        members = [name for name in names if fnmatch.fnmatchcase(name, text)]
    if rng.random() < 0.3:
        kind = rng.choice(TYPES + ["numeric"])
        text += f" of {kind}"
        members = [name for name in members if columns[name] == kind or (kind == "numeric" and columns[name] in NUMERIC)]
    if rng.random() < 0.3:
        without = rng.sample(names, min(len(names), rng.randint(1, 2)))
        if rng.random() < 0.5:
            without.append(pattern_of(rng, names, False))
        text += f" but ({', '.join(without)})"
        members = [name for name in members if not any(fnmatch.fnmatchcase(name, other) for other in without)]
    return text, members


def part_of(text, name):
    """What the star of a pattern stands for."""
    pattern = text.split(" ")[0]
    if pattern.count("*") != 1 or ".." in pattern:
        return name
    before, after = pattern.split("*")
    return name[len(before):len(name) - len(after)]


def bracketed(text):
    return f"({text})" if ".." in text else text


def random_pair(rng, columns):
    """A stage with sets and the same without; None: they cannot be compared."""
    form = rng.choice(["pick", "drop", "rename", "unpivot", "derive", "made", "map", "sort", "group", "per", "mixed"])
    text, members = random_set(rng, columns, ends=form in ("map", "sort", "group", "per", "mixed", "made"))
    if not members:
        return f"pick {text}", None
    numbers = all(columns[name] in NUMERIC for name in members)
    if form == "pick":
        chosen = rng.choice(list(columns))
        rest = [name for name in members if name != chosen]
        return f"pick {chosen}, {text}", f"pick {', '.join([chosen] + rest)}"
    if form == "drop" and len(members) < len(columns):
        return f"drop {text}", f"drop {', '.join(members)}"
    if form == "rename":
        return f"rename {text} as new_*", "rename " + ", ".join(f"{name} as new_{part_of(text, name)}" for name in members)
    if form == "unpivot" and len({columns[name] for name in members}) == 1:
        return f"unpivot {text} as k, v", f"unpivot {', '.join(members)} as k, v"
    if form == "derive" and numbers:
        return f"derive {text} = _ * 2 + 1", "derive " + ", ".join(f"{name} = {name} * 2 + 1" for name in members)
    if form == "made" and numbers:
        return (f"derive new_* = ({text}) * 2 ?? 0",
                "derive " + ", ".join(f"new_{part_of(text, name)} = {name} * 2 ?? 0" for name in members))
    if form == "map":
        return f"map {bracketed(text)} is missing as m_*", "map " + ", ".join(f"{n} is missing as m_{part_of(text, n)}" for n in members)
    if form == "sort":
        down = rng.choice(["", " desc"])
        return f"sort {text}{down}", "sort " + ", ".join(name + down for name in members)
    pattern = text.split(" ")[0]
    if "*" in pattern[1:-1]:
        return f"pick {text}", f"pick {', '.join(members)}"
    word = rng.choice(list(AGGREGATES))
    keys = [name for name in members if name != "key"]
    kept = [name for name in keys if columns[name] in AGGREGATES[word]]
    if not keys:
        return f"group key: {word}({text})", None
    if form == "group" and kept and (len(kept) == len(keys) or text.split(" but")[0] == "*"):
        return f"group key: {word}({text})", "group key: " + ", ".join(f"{word}({name}) as {word}_{name}" for name in kept)
    if form == "per" and all(columns[name] in NUMERIC for name in keys):
        return (f"per key: derive {text} = _ - first(_)",
                "per key: derive " + ", ".join(f"{name} = {name} - first({name})" for name in keys))
    return (f"group key: max({text}) is min(_) as same_*",
            "group key: " + ", ".join(f"max({name}) is min({name}) as same_{part_of(text, name)}" for name in keys))


def check(rng, sandbox, mode, number):
    columns, rows = random_table(rng)
    path = os.path.join(sandbox.here, f"t{number}.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([",".join(columns)] + [",".join(row) for row in rows]) + "\n")
    short, long = random_pair(rng, columns)
    source = stated(columns, os.path.basename(path))
    outputs = [run(ALL_MODES[mode] + ["--format", "csv", "-c", f"{source} | {stage}"], sandbox.here, sandbox.here)
               for stage in (short, long) if stage]
    os.remove(path)
    got = outputs[0]
    if not long:
        return "" if got.status == 1 and (b"no column" in got.err) else f"{short}\nexpected an error, got {got.out!r} {got.err!r}"
    if got.out == outputs[1].out and got.status == outputs[1].status == 0:
        return ""
    return f"{source} | {short}\n{long}\n{got.out.decode()}{got.err.decode()}\n{outputs[1].out.decode()}{outputs[1].err.decode()}"


if __name__ == "__main__":
    sys.exit(random_cases("sets", 200, check))
