#!/usr/bin/env python3
"""Patterns of `like`, and `contains`, on columns of few and of many texts: against regular expressions of Python."""

import os
import random
import re
import sys

import harness

MANY = 1 << 16  # so many are read one by one
LETTERS = ["a", "b", "ab", "c", "%", "_", "\\", "é", "漢", "", " "]


def pattern_of(rng):
    """A pattern and the expression that matches the same."""
    parts, matched = [], []
    for _ in range(rng.randint(1, 6)):
        draw = rng.random()
        if draw < 0.35:
            parts.append("%")
            matched.append(".*")
        elif draw < 0.45:
            parts.append("_")
            matched.append(".")
        else:
            text = "".join(rng.choices(LETTERS, k=rng.randint(1, 3)))
            parts.append(re.sub(r"([%_\\])", r"\\\1", text))
            matched.append(re.escape(text))
    return "".join(parts), re.compile("".join(matched), re.DOTALL)


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def texts_of(rng, count):
    pool = ["".join(rng.choices(LETTERS, k=rng.randint(0, rng.choice([3, 12, 80])))) for _ in range(max(2, count // rng.choice([1, 1, 50])))]
    return [rng.choice(pool) for _ in range(count)]


def main(sandbox):
    tally = harness.Tally("like")
    rng = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    for number, count in enumerate((1, 2, 31, 500, 9000, 30000, 150000)):
        texts = texts_of(rng, count) if count < MANY else [f"{k:x}{rng.choice(LETTERS)}{k * 7919}" for k in range(count)]
        path = sandbox.path(f"t{number}.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("s\n" + "".join('"' + text.replace('"', '""') + '"\n' for text in texts))
        # Of Parquet, many texts are looked at where they are in the file; some are missing.
        there = [text for text in texts if len(text) % 7 != 3]
        missing = "derive s = len(s) % 7 == 3 ? missing : s"
        lines = [f"load t{number}.csv s text | {missing} | save t{number}.parquet"]
        asked = []
        for _ in range(40 if count < MANY else 8):
            pattern, expression = pattern_of(rng)
            part = "".join(rng.choices(LETTERS, k=rng.randint(1, 3)))
            asked += [(f"s like {quoted(pattern)}", lambda text, e=expression: bool(e.fullmatch(text))),
                      (f"s not like {quoted(pattern)}", lambda text, e=expression: not e.fullmatch(text)),
                      (f"contains(s, {quoted(part)})", lambda text, p=part: p in text)]
        for source in (f"load t{number}.csv s text", f"load t{number}.parquet"):
            lines += [f"{source} | select {condition} | count" for condition, _ in asked]
        script = sandbox.write(f"q{number}.rql", "\n".join(lines).encode())
        held = {text: [holds(text) for _, holds in asked] for text in set(texts)}
        expected = [str(sum(held[text][k] for text in some)) for some in (texts, there) for k in range(len(asked))]
        for mode in ("host", "host-unfused"):
            if os.path.exists(sandbox.path(f"t{number}.parquet")):
                os.remove(sandbox.path(f"t{number}.parquet"))
            result = harness.run([*harness.ALL_MODES[mode], script], sandbox.here, sandbox.home)
            found = result.out.decode().split()
            wrong = [(asked[k % len(asked)][0], a, b) for k, (a, b) in enumerate(zip(found, expected)) if a != b]
            tally.check(f"{count} texts {mode}", "" if found == expected else f"{wrong[:3]} {len(found)} of {len(expected)}\n{result.err.decode()[:500]}")
    return tally.finish()


if __name__ == "__main__":
    harness.main_program(main)
