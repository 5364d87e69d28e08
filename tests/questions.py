#!/usr/bin/env python3
"""The five questions and the main query on the full columns (make data), compared with NumPy: from a script, from standard
input and from -c, in every mode."""

import os
import re
import sys

import harness
import numpy as np

TARGET = 42
MAIN = "load data/ids.bin | zip data/amounts.bin | select ids==42 && amounts>0 | snds | sum"


def answers(ids, amounts):
    amounts = amounts.astype(np.int64)
    target = ids == TARGET
    deposit = amounts > 0
    return [
        int(target.sum()),
        int((target & deposit).sum()),
        int(amounts[target].sum()),
        int(amounts[target & (amounts < 0) & (amounts % 2 == 0)].sum()),
        int(((ids % 222 == 0) & deposit & (amounts % 222 == 0)).sum()),
    ]


def main(sandbox):
    tally = harness.Tally("questions")
    folder = os.path.join(harness.TREE, "data")
    script = os.path.join("data", "questions.rql")
    try:
        ids = np.fromfile(os.path.join(folder, "ids.bin"), dtype="<i4")
        amounts = np.fromfile(os.path.join(folder, "amounts.bin"), dtype="<i4")
    except OSError as error:
        sys.exit(f"{error}: run make data first")
    # Answers of zero would prove nothing.
    telling = len(ids) == len(amounts) and all(answers(ids, amounts)) and (amounts == 0).any()
    tally.check("columns", "" if telling else f"{len(ids)} and {len(amounts)} rows, answers {answers(ids, amounts)}")

    expected = "".join(f"{answer}\n" for answer in answers(ids, amounts)).encode()
    with open(os.path.join(harness.TREE, script), "rb") as file:
        text = file.read()
    queries = [line for line in re.sub(r"#.*", "", text.decode()).split("\n") if line.strip()]
    main_answer = int(amounts[(ids == TARGET) & (amounts > 0)].sum(dtype=np.int64))
    for mode, options in harness.MODES.items():
        ways = {
            "script": ([*options, script], b""),
            "stdin": (options, text),
            "-c": ([*options, *(part for query in queries for part in ("-c", query))], b""),
        }
        for way, (arguments, stdin) in ways.items():
            result = harness.run(arguments, harness.TREE, sandbox.home, stdin=stdin)
            good = (result.status, result.out, result.err) == (0, expected, b"")
            tally.check(f"{way} ({mode})", "" if good else f"expected {expected!r}\n{result.text()}")
        result = harness.run([*options, "-c", MAIN], harness.TREE, sandbox.home)
        good = (result.status, result.out) == (0, f"{main_answer}\n".encode())
        tally.check(f"main query ({mode})", "" if good else f"expected {main_answer}\n{result.text()}")
    return tally.finish()


if __name__ == "__main__":
    harness.main_program(main)
