#!/usr/bin/env python3
"""Random questions about texts that functions make of each row, which have no order until something needs it: each gives what it
gives of the same texts, made by Python, in a file.

    computed_texts.py [--count N] [--seed SEED] [--modes M,...]"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import ALL_MODES, random_cases, run  # noqa: E402

EMPTY = "~"  # stands for an empty text in a file
WORDS = ["", "a", "b", "ab", "abc", "Zoë", "zz top", "10", "9", "-1"]


def both(*values):
    return None if None in values else "".join(str(value) for value in values)


def odd_end(text):
    end = text.split("of ")[1]
    return end if all(digit in "13579" for digit in end) else None


# How the texts are made, and by Python of the row n, k, s, u, whose u mostly differ.
TEXTS = (
    ("text(n)", lambda n, k, s, u: str(n)),
    ("text(n % 3)", lambda n, k, s, u: str(n % 3)),
    ('format("{}-{:03}", k, n)', lambda n, k, s, u: f"{k}-{n:03}"),
    ('format("{:>4}", k)', lambda n, k, s, u: f"{k:>4}"),
    ("s + text(n)", lambda n, k, s, u: both(s, n)),
    ("s + text(k)", lambda n, k, s, u: both(s, k)),
    ('concat(s, "/", n)', lambda n, k, s, u: both(s, "/", n)),
    ("substr(s, k, 1)", lambda n, k, s, u: None if s is None else s[k:k + 1]),
    ("substr(text(n), k, 2)", lambda n, k, s, u: str(n)[k:k + 2]),
    ("upper(s + text(n))", lambda n, k, s, u: None if s is None else (s + str(n)).upper()),
    ('replace(text(n), "1", "")', lambda n, k, s, u: str(n).replace("1", "")),
    ("extract(text(n), '([2-9]+)', 1)", lambda n, k, s, u: next(iter("".join(c if c in "23456789" else " " for c in str(n)).split()), None)),
    ('n % 3 == 0 ? missing : text(n)', lambda n, k, s, u: None if n % 3 == 0 else str(n)),
    ('n % 2 == 0 ? "" : text(n)', lambda n, k, s, u: "" if n % 2 == 0 else str(n)),
    ("k > 2 ? s : text(n)", lambda n, k, s, u: s if k > 2 else str(n)),
    ('s ?? text(n)', lambda n, k, s, u: str(n) if s is None else s),
    ('text(date(2024-01-01 + n % 9 * 1d), "%d/%m")', lambda n, k, s, u: f"{n % 9 + 1:02}/01"),
    ('replace(u, "row", "line")', lambda n, k, s, u: u.replace("row", "line")),
    ('replace(u, "0", "")', lambda n, k, s, u: u.replace("0", "")),
    ("extract(u, 'of ([13579]+)$', 1)", lambda n, k, s, u: odd_end(u)),
    ("substr(u, 0, 5)", lambda n, k, s, u: u[:5]),
    ("upper(u)", lambda n, k, s, u: u.upper()),
    ('u + "!"', lambda n, k, s, u: u + "!"),
    ('upper("<" + u)', lambda n, k, s, u: "<" + u.upper()),
    ('format("[{:<9}]", u)', lambda n, k, s, u: f"[{u:<9}]"),
    ("u + u", lambda n, k, s, u: u + u),
    ("u", lambda n, k, s, u: u),
)

# What is asked of the columns n, k, c, d: stages, whose rows have one order.
QUESTIONS = (
    "sort c, n", "sort c desc, n", "sort k, d desc, n", "top 3 by c | pick c", "top 4 by c asc | pick c", "distinct | sort n",
    "pick c | distinct | sort", "pick c, d | distinct | count", "group c: count()", "group c: sum(n), min(d), max(d)", "group c, d: count()",
    "group k: min(c), max(c), count(c), distinct(c)", "group k: mode(c), median(c)", "group k: first(c), last(d)",
    "group k: argmin(c, n), argmax(c, d)", "group k: argmin(n, c), argmax(n, d)", 'group k: list(c, "|")', "group: max(c), min(d), distinct(c)",
    "group c: collect(n)", "group k: collect(c)", "group len(c) as size: count()", "group k: count() | join X as x on k | count",
    'select c == "10"', 'select c != "10"', 'select c < "5"', 'select c >= "2" and c < "7"', 'select c in ["10", "9", "a", ""]', 'reject c in ["1", "2"]',
    "select c == d", "select c < d", "select c > d or c is missing", "select c is missing", 'select c like "%1%"', 'select contains(c, "1")',
    'select starts(c, "1") | sort d, n', 'select c ~ "^[0-9]+$"', "select len(c) > 1 | top 3 by c | pick c", 'select contains(c, "1") | top 3 by c | pick c',
    "derive e = c + d | group e: count()", "derive e = upper(c)", "derive e = len(c)", 'derive e = c ?? "none"', 'derive e = c ?? d | sort e, n',
    "derive e = n % 2 == 0 ? c : d", 'derive e = c == "" ? "empty" : c', 'derive e = max(c, d), f = min(c, d)', 'derive e = int(c)', "derive e = text(c)",
    'derive e = format("{:>6}|{}", c, d)', "derive r = rank(c)", "derive r = rank(c, dense)", "derive r = ntile(3, c)", "per k: derive r = rank(c)",
    "per k: (sort c, n | take 1)", "per c: derive m = count()", "per c: take 1", "derive m = max(c) over -2..0", "derive m = distinct(c) over ..0",
    "derive m = first(c) over ..0, l = last(d) over ..0", "derive b = at(c, -1)", "derive f = fill(c)", 'derive f = fill(c) | group f: count()',
    "join Y on c | sort n, m", "left join Y on c | sort n, m", "semi join Y on c", "anti join Y on c", "lookup (Y | group c: max(m) as m) on c",
    "join (Y | drop c) on c >= lo, c < hi | group: count(), sum(m)", "append (X | pick n, k, c, d) | group c: count()", "append Z | group c: count()",
    "pick c | union (X | pick d | rename d as c) | sort", "pick c | except (Y | pick c) | sort", "pick c | intersect (Y | pick c) | sort",
    "pick c, n | zip (X | pick d)", "unpivot c, d as name, v | group v: count()", "hist c", "pick c, d | describe", "sample 50% seed 3 | group c: count()",
    "reverse | take 3 | sort c", "skip 1 | tail 3 | distinct", "gather (X | select n % 2 == 0 | map row)", "select c in (Y | pick c)",
    "repeat 2: (derive n = n + 1) | group c: sum(n)", "with biggest = max(c) | select c == biggest | pick c, d", "count c", "group: max(c)", "group: min(c)", "group: mode(c)",
    "group k: max(c) as c | sort c", "derive e = split(c, '1', 0) | group e: count()", "rename c as e | sort e, n", "pick n, c | sort c | take 2 | pick c",
)
SHOWN = ("", "pick c", "take 3", "skip 2", "select n > 3", "select k == 1 | pick d, c", "derive e = c", "tail 2 | derive e = n", "map c | take 1")
SAVED = ("csv", "tsv", "parquet", "arrow", "npz")


def text_of_cell(value):
    """As a cell of a file, which says of an empty text what it is."""
    return "" if value is None else f'"{value or EMPTY}"'


def table(rng, name, sandbox, rows):
    """Writes the numbers, and beside them the texts; returns the lines that name both relations."""
    first, second = rng.choice(TEXTS), rng.choice(TEXTS)
    spread = rng.choice([3, 30, 10**6])
    values = [(rng.randint(0, spread), rng.randint(0, 4), rng.choice(WORDS + [None])) for _ in range(rows)]
    values = [(n, k, s, f"row {n} of {rng.randint(0, spread)}") for n, k, s in values]
    kept, filtered = values, ""
    if rng.random() < 0.3:
        kept, filtered = [row for row in values if row[1] != 2], " | select k != 2"
    lines = ["n,k,s,u"] + [f"{n},{k},{text_of_cell(s)},{u}" for n, k, s, u in values]
    sandbox.write(f"{name}.csv", ("\n".join(lines) + "\n").encode())
    lines = ["n,k,c,d"] + [f"{r[0]},{r[1]},{text_of_cell(first[1](*r))},{text_of_cell(second[1](*r))}" for r in kept]
    sandbox.write(f"{name}.ref.csv", ("\n".join(lines) + "\n").encode())
    of_file = f'load {name}.csv n int, k int, s text, u text | derive s = s == "{EMPTY}" ? "" : s'
    made = f"{of_file}{filtered} | derive c = {first[0]}, d = {second[0]} | drop s, u"
    read = f'load {name}.ref.csv n int, k int, c text, d text | derive c = c == "{EMPTY}" ? "" : c, d = d == "{EMPTY}" ? "" : d'
    return made, read


def sources(rng, sandbox, number):
    """The relations by name, as they are made and as they are read."""
    rows = rng.choice([0, 1, 2, 9, 40, 300])
    made, read = table(rng, f"x{number}", sandbox, rows)
    other_made, other_read = table(rng, f"y{number}", sandbox, rng.choice([0, 1, 7, 40]))
    lines = []
    for texts, other in ((made, other_made), (read, other_read)):
        lines.append([f"let X = {texts}", f"let Z = {other}",
                      'let Y = Z | select c is not missing and d is not missing | map c, n as m, min(c, d) as lo, max(c, d) as hi'])
    return lines, [made, read]


def check(rng, sandbox, mode, number):
    names, whole = sources(rng, sandbox, number)
    asked = [rng.choice(QUESTIONS) for _ in range(rng.randint(1, 4))] + [rng.choice(SHOWN)]
    rng.shuffle(asked)
    inline = rng.random() < 0.4
    options = [] if rng.random() < 0.7 else ["--memory", "16MB"]
    outputs = []
    for side in (0, 1):
        statements = list(names[side])
        for place, stages in enumerate(asked):
            source = whole[side] if inline else "X"
            statements.append(source + (f" | {stages}" if stages else ""))
            if place == 0 and rng.random() < 0.5:
                statements.append("let X = X | derive z = n | drop z")
        if number % 3 == 0:
            ending = SAVED[number // 3 % len(SAVED)]
            filled = ' | map n, k, c ?? "" as c, d ?? "" as d' if ending == "npz" else ""
            statements += [f"X{filled} | save out{number}.{ending}", f"load out{number}.{ending} | sort n, k, c, d"]
        arguments = [part for statement in statements for part in ("-c", statement)]
        outputs.append((statements, run(ALL_MODES[mode] + options + ["--format", "jsonl", *arguments], sandbox.here, sandbox.here)))
    (statements, made), (_, read) = outputs
    if (made.status, made.out) == (read.status, read.out) and made.status == 0:
        return ""
    return "\n".join(statements) + "\n\nof computed texts: " + made.text() + "\n\nof a file: " + read.text()


if __name__ == "__main__":
    sys.exit(random_cases("computed-texts", 150, check))
