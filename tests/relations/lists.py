#!/usr/bin/env python3
"""Random expressions and stages on lists, of random tables read from JSON lines: lengths, elements, slices, aggregates of each row,
unnest and collect, against Python. Lists and elements are missing at times, and lists are empty.

    lists.py [--count N] [--seed SEED] [--modes M,...]"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import ALL_MODES, random_cases, run  # noqa: E402

WORDS = ["a", "b", "cc", "é", ""]
DISTINCT = 3001  # more rows repeat those: to make them takes longer than to ask


def random_list(rng, element):
    return None if rng.random() < 0.1 else [element() for _ in range(rng.choice([0, 0, 1, 1, 2, 3, 5, 17]))]


def random_table(rng):
    """Rows of a key, an integer, and lists of integers, of texts and of structs."""
    count = rng.choice([1, 2, 7, 30, 200, 3001] if rng.random() < 0.95 else [100000])
    gaps = rng.random() < 0.7

    def number():
        return None if gaps and rng.random() < 0.2 else rng.randint(-9, 9)

    def word():
        return None if gaps and rng.random() < 0.2 else rng.choice(WORDS)

    rows = [{"k": k % 5, "n": rng.randint(-3, 6), "xs": random_list(rng, number), "ts": random_list(rng, word),
             "it": random_list(rng, lambda: {"p": number(), "t": word()}),
             "mm": random_list(rng, lambda: random_list(rng, number))} for k in range(min(count, DISTINCT))]
    rows = [{**rows[k % len(rows)], "k": k % 5} for k in range(count)]
    # The first record has every type.
    rows[0].update({"xs": [1, None], "ts": ["a"], "it": [{"p": 1, "t": "a"}], "mm": [[1], []]})
    return rows


def present(values):
    return [value for value in values if value is not None]


def per_row(function):
    """Of a list that is there."""
    return lambda row, xs: None if xs is None else function(row, xs)


def element(xs, k):
    return xs[k] if xs is not None and -len(xs) <= k < len(xs) else None


def sliced(xs, first, last):
    if xs is None:
        return None
    begin = max(len(xs) + first, 0) if first < 0 else first
    end = len(xs) + last + 1 if last < 0 else last + 1
    return xs[begin:max(end, begin)]


def random_slice(rng, name):
    first, last = rng.choice([0, 1, -2, 3]), rng.choice([0, 2, -1, 9])
    if rng.random() < 0.3:
        return f"{name}[n..n + {last}]", lambda row: sliced(row[name], row["n"], row["n"] + last)
    if rng.random() < 0.3:
        return f"{name}[{first}..len({name}) - 2]", lambda row: row[name] and sliced(row[name], first, len(row[name]) - 2)
    return f"{name}[{first}..{last}]", lambda row: sliced(row[name], first, last)


def random_operand(rng, name):
    """A list as it is written, and as Python finds it in a row."""
    if name == "xs" and rng.random() < 0.2:
        return "mm[n]", lambda row: element(row["mm"], row["n"])
    return random_slice(rng, name) if rng.random() < 0.3 else (name, lambda row: row[name])


def number_expression(rng):
    text, of = random_operand(rng, "xs")
    c = rng.randint(-5, 5)
    forms = [
        (f"len({text})", per_row(lambda row, xs: len(xs))),
        (f"sum({text})", per_row(lambda row, xs: sum(present(xs)))),
        (f"sum({text} * n + {c})", per_row(lambda row, xs: sum(x * row["n"] + c for x in present(xs)))),
        (f"count({text})", per_row(lambda row, xs: len(present(xs)))),
        (f"count({text} > {c})", per_row(lambda row, xs: sum(x > c for x in present(xs)))),
        (f"min({text})", per_row(lambda row, xs: min(present(xs), default=None))),
        (f"max({text})", per_row(lambda row, xs: max(present(xs), default=None))),
        (f"count({text} == max({text}))", per_row(lambda row, xs: present(xs).count(max(present(xs), default=None)))),
        ("sum(it.p)", lambda row, xs: None if row["it"] is None else sum(present([i["p"] for i in row["it"]]))),
    ]
    written, value = rng.choice(forms)
    return written, lambda row: value(row, of(row))


def test_expression(rng):
    text, of = random_operand(rng, "xs")
    c, word = rng.randint(-5, 5), rng.choice(WORDS[:4])
    forms = [
        (f"any({text} == {c})", per_row(lambda row, xs: c in xs)),
        (f"all({text} > {c})", per_row(lambda row, xs: all(x > c for x in present(xs)))),
        (f"any({text} > n)", per_row(lambda row, xs: any(x > row["n"] for x in present(xs)))),
        (f"contains({text}, {c})", per_row(lambda row, xs: c in xs)),
        (f"n in {text}", per_row(lambda row, xs: row["n"] in xs)),
        (f"{c} not in {text}", per_row(lambda row, xs: c not in xs)),
        (f"{text} == xs", lambda row, xs: None if xs is None or row["xs"] is None else xs == row["xs"]),
        ("mm[0..1] != mm[-2..-1]",
         lambda row, xs: None if row["mm"] is None else sliced(row["mm"], 0, 1) != sliced(row["mm"], -2, -1)),
        ("it[n..] == it", lambda row, xs: None if row["it"] is None else sliced(row["it"], row["n"], -1) == row["it"]),
        (f'any(it.p > {c} && it.t == "{word}")',
         lambda row, xs: None if row["it"] is None else any(i["p"] is not None and i["p"] > c and i["t"] == word for i in row["it"])),
        (f'any(ts == "{word}")', lambda row, xs: None if row["ts"] is None else word in row["ts"]),
    ]
    written, value = rng.choice(forms)
    return written, lambda row: value(row, of(row))


def element_expression(rng):
    k = rng.choice([0, 1, -1, -3, 6])
    forms = [(f"xs[{k}]", lambda row: element(row["xs"], k)), (f"ts[{k}]", lambda row: element(row["ts"], k)),
             (f"it[{k}].p", lambda row: (element(row["it"], k) or {"p": None})["p"]),
             ("xs[n]", lambda row: element(row["xs"], row["n"])),
             (f"mm[n][{k}]", lambda row: element(element(row["mm"], row["n"]), k)),
             (f"xs[n..][{k}]", lambda row: element(sliced(row["xs"], row["n"], -1), k)),
             (f"it[1..][{k}].t", lambda row: (element(sliced(row["it"], 1, -1), k) or {"t": None})["t"])]
    text, of = random_operand(rng, rng.choice(["xs", "ts"]))
    forms.append((text, of))
    return rng.choice(forms)


def mapped(rng, rows):
    items = [rng.choice([number_expression, test_expression, element_expression])(rng) for _ in range(rng.randint(1, 4))]
    text = "map " + ", ".join(f"{written} as c{i}" for i, (written, _) in enumerate(items))
    return text, [{f"c{i}": value(row) for i, (_, value) in enumerate(items)} for row in rows]


def selected(rng, rows):
    written, value = test_expression(rng)
    if rng.random() < 0.5:
        return f"select {written} | count", [{"count": sum(value(row) is True for row in rows)}]
    return f"select {written} | pick n, xs", [{"n": row["n"], "xs": row["xs"]} for row in rows if value(row)]


def unnested(rng, rows):
    name, outer, position = rng.choice(["xs", "ts", "it"]), rng.random() < 0.4, rng.random() < 0.5
    out = []
    for row in rows:
        values = row[name] or ([None] if outer else [])
        for k, value in enumerate(values):
            new = {"k": row["k"]}
            if name == "it":
                new.update({"e.p": value["p"] if value else None, "e.t": value["t"] if value else None})
            else:
                new["e"] = value
            if position:
                new["at"] = k if row[name] else None
            out.append(new)
    text = f"pick k, {name} | unnest {'outer ' if outer else ''}{name} as e{' with at' if position else ''}"
    if rng.random() < 0.3:
        return text + " | count", [{"count": len(out)}]
    if rng.random() < 0.3 and name != "it":
        groups = {}
        for new in out:
            groups.setdefault(new["k"], []).append(new["e"])
        return (text + " | group k: collect(e) as es | sort k | map k, es, len(es) as n",
                [{"k": k, "es": groups[k], "n": len(groups[k])} for k in sorted(groups)])
    return text, out


def collected(rng, rows):
    groups = {}
    for row in rows:
        groups.setdefault(row["k"], []).append(row)
    keys = sorted(groups)
    return ("group k: collect(n) as ns, collect(xs) as ll, sum(sum(xs)) as total | sort k | map k, ns, ll, total, sum(ns) as s",
            [{"k": k, "ns": [row["n"] for row in groups[k]], "ll": [row["xs"] for row in groups[k]],
              "total": sum(sum(present(row["xs"] or [])) for row in groups[k]), "s": sum(row["n"] for row in groups[k])} for k in keys])


def joined(rng, rows):
    """Lists of two columns in one."""
    limit = rng.randint(-3, 6)
    text = f"map (n > {limit} ? xs : xs[1..]) as xs | append (load t.jsonl | map xs[..1] as xs) | map xs, sum(xs) as s"
    lists = [row["xs"] if row["n"] > limit else sliced(row["xs"], 1, 1 << 40) for row in rows]
    lists += [sliced(row["xs"], 0, 1) for row in rows]
    return text, [{"xs": xs, "s": None if xs is None else sum(present(xs))} for xs in lists]


def nested_objects(row):
    """Paths as JSON has them: `e.p` is a field of `e`, which is missing where all its fields are."""
    out = {}
    for name, value in row.items():
        if "." in name:
            first, rest = name.split(".")
            out.setdefault(first, {})[rest] = value
        else:
            out[name] = value
    return {name: None if isinstance(value, dict) and not any(v is not None for v in value.values()) else value
            for name, value in out.items()}


def check(rng, sandbox, mode, number):
    rows = random_table(rng)
    with open(os.path.join(sandbox.here, "t.jsonl"), "w", encoding="utf-8") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    text, expected = rng.choice([mapped, mapped, mapped, selected, unnested, unnested, collected, joined])(rng, rows)
    query = f"load t.jsonl | {text}"
    got = run([*ALL_MODES[mode], "--format", "jsonl", "-c", query], sandbox.here, sandbox.here)
    if got.status != 0 and b"cannot be computed within a fold over an index" in got.err:
        return ""
    if got.status != 0:
        return f"{query}\n{got.err.decode()}"
    found = [json.loads(line) for line in got.out.decode().splitlines()]
    if found and not isinstance(found[0], dict):
        found = [{"count": found[0]}]
    wanted = [nested_objects(row) for row in expected]
    found = [nested_objects(row) for row in found]
    if found == wanted:
        return ""
    at = next((i for i, pair in enumerate(zip(found, wanted)) if pair[0] != pair[1]), min(len(found), len(wanted)))
    return f"{query}\nrow {at}: {found[at:at + 1]}, not {wanted[at:at + 1]} ({len(found)} rows, not {len(wanted)})\n{rows[at:at + 1]}"


if __name__ == "__main__":
    sys.exit(random_cases("lists", 200, check))
