#!/usr/bin/env python3
"""Random pipelines over random columns: compares rql in every mode with NumPy.

    differential.py [--seconds S | --count N] [--seed SEED] [--modes M,...] [--data DIR] [--large-share F]

Prints its seed, which makes the same queries again. A mismatch is shrunk a little and printed with the command that
shows it again; the columns are always the same, made in DIR (default: a temporary folder). Modes are those of
tests/harness.py; those that use a device get half of the time, and fewer queries, each over several sets of columns.
"""

import argparse
import math
import os
import random
import re
import shlex
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from pipelines import Data, QueryError, make_case, simpler, variant  # noqa: E402

MARK = 7_000_000_000_000_000_000  # printed between the answers of one process
ROUGH = 1e-13  # relative error allowed for functions that devices round differently
KIND = 18  # leading letters of a problem that identify its kind
SHRINKING = 20  # seconds spent on shrinking a mismatch
HOST_SHAPES = 60
DEVICE_SHAPES = 6
DEVICE_VARIANTS = 8


def same_float(expected, got, rough):
    if math.isnan(expected) or math.isnan(got):
        return math.isnan(expected) and math.isnan(got)
    if expected == got:
        return True
    return rough and abs(expected - got) <= ROUGH * abs(expected)


def mismatch_of_number(expected, text, rough):
    """The problem with a printed number, or an empty text."""
    if isinstance(expected, float):
        looks_float = re.fullmatch(r"-?(inf|nan|\d.*[.e].*)", text)
        good = looks_float and same_float(expected, float(text), rough)
    elif isinstance(expected, bool):
        good = text == str(expected).lower()
    else:
        good = text == str(expected)
    return "" if good else f"expected {expected!r}, got {text!r}"


def mismatch_of_answer(expected, out, rough):
    """The problem with a printed answer (a number, or a list of columns), or an empty text."""
    lines = out.split("\n")[:-1]
    if not isinstance(expected, list):
        return (
            mismatch_of_number(expected, lines[0], rough)
            if len(lines) == 1
            else f"expected one line, got {out[:200]!r}"
        )
    rows = len(expected[0])
    if len(lines) != rows:
        return f"expected {rows} rows, got {len(lines)}: {out[:200]!r}"
    columns = expected
    for row, line in enumerate(lines):
        fields = line.split("\t")
        if len(fields) != len(columns):
            return f"row {row} has {len(fields)} fields: {line!r}"
        for column, field in zip(columns, fields):
            problem = mismatch_of_number(column[row].item(), field, rough)
            if problem:
                return f"row {row}: {problem}"
    return ""


class Expected:
    """The result that the reference expects of a case."""

    def __init__(self, case):
        self.error = None
        self.answer = None
        try:
            self.answer = case.expected()
        except QueryError as error:
            self.error = error
        self.rough, self.lenient = case.rough, case.lenient

    def mismatch(self, result):
        """The problem with a run of this case alone, or an empty text."""
        text = result.err.decode("utf-8", "replace")
        if self.error is None:
            if self.lenient and result.status == 1 and text.count("error: ") == 1:
                return ""
            if result.status != 0 or text:
                return f"expected an answer, got status {result.status}: {text[:600]}"
            return mismatch_of_answer(self.answer, result.out.decode("utf-8", "replace"), self.rough)
        if self.error.regrouped and result.status == 0:
            return ""
        # Errors found before running are reported for each stage.
        several = self.error.row is None or self.error.vague
        if result.status != 1 or result.out or not 1 <= text.count("error: ") <= (9 if several else 1):
            return f"expected an error ({self.error}), got {result.text()}"
        rows = re.findall(r"\brow (\d+)", text.split("\n")[0])
        if self.error.vague:
            return ""
        if self.error.row is None:
            return f"expected an error without a row: {text}" if rows else ""
        if not rows or (self.error.sure and int(rows[-1]) != self.error.row):
            return f"expected an error in row {self.error.row}, got: {text}"
        return ""


class Run:
    def __init__(self, folder, home):
        self.folder = folder
        self.home = home

    def alone(self, case, options):
        arguments = list(options)
        statements = case.statements(random.Random)
        if "now" in options:
            arguments += self.asked_before(" ".join(statements))
        for statement in statements:
            arguments += ["-c", statement]
        result = harness.run(arguments, self.folder, self.home, timeout=600)
        return result

    def asked_before(self, text):
        """Queries every column that the text names, so that each has statistics."""
        names = [name for name in sorted(os.listdir(self.folder)) if re.search(rf"\b{re.escape(name)}\b", text)]
        return [part for name in names for part in ("-c", f"let before = load {name} | sort")]

    def together(self, cases, options):
        """The output of one process for each case; shorter than `cases` if one of them ended the process."""
        arguments = list(options)
        for index, case in enumerate(cases):
            for statement in case.statements(random.Random):
                arguments += ["-c", statement]
            arguments += ["-c", str(MARK + index)]
        result = harness.run(arguments, self.folder, self.home, timeout=600)
        if result.err:
            return []  # unexpected messages: run each case alone
        outs = []
        rest = result.out.decode("utf-8", "replace")
        for index in range(len(cases)):
            out, mark, rest = rest.partition(f"{MARK + index}\n")
            if not mark:
                break
            outs.append(out)
        return outs

    def shrunk(self, case, options, kind):
        """Shrinks the case while it mismatches in the same kind of way."""
        end = time.monotonic() + SHRINKING
        improved = True
        while improved and time.monotonic() < end:
            improved = False
            for smaller in simpler(case):
                if time.monotonic() > end:
                    break
                try:
                    expected = Expected(smaller)
                    problem = expected.mismatch(self.alone(smaller, options))
                except (KeyError, IndexError, ValueError, TypeError):
                    continue  # another stage needed the one removed
                if problem[:KIND] == kind and "no column" not in problem and "unknown" not in problem:
                    case = smaller
                    improved = True
                    break
        return case


def describe(case, mode, options, problem):
    statements = [f"-c {shlex.quote(statement)}" for statement in case.statements(random.Random)]
    return f"{problem}\n({mode}) rql {' '.join([*options, *statements])}"


def test_batch(run, tally, batch, modes):
    """One batch of (number, case, expected) in every mode."""
    # An error ends the process, so cases that should fail run alone, as do those after an unexpected failure.
    answering = [case for _, case, expected in batch if expected.error is None]
    for mode, options in modes.items():
        outs = iter(run.together(answering, options))
        for number, case, expected in batch:
            out = next(outs, None) if expected.error is None else None
            if out is not None:
                problem = mismatch_of_answer(expected.answer, out, expected.rough)
            else:
                problem = expected.mismatch(run.alone(case, options))
            if problem:
                small = run.shrunk(case, options, problem[:KIND])
                if small is not case:
                    problem = Expected(small).mismatch(run.alone(small, options)) or problem
                problem = describe(small, mode, options, problem)
            tally.check(f"query {number} ({mode})", problem)


def main(sandbox):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--count", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--modes", default=",".join({**harness.MODES, "host-unfused": [], "host-kept": [], "host-spilled": []}))
    parser.add_argument("--data", default=None)
    parser.add_argument("--large-share", type=float, default=0.03)
    arguments = parser.parse_args()

    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(10**9)
    folder = arguments.data or tempfile.mkdtemp(dir=sandbox.root)
    print(f"differential: seed {seed}" + (f", columns in {folder}" if arguments.data else ""), flush=True)
    data = Data(folder)
    run = Run(folder, sandbox.home)
    tally = harness.Tally("differential")
    chosen = {name: harness.ALL_MODES[name] for name in arguments.modes.split(",")}
    host_modes = {name: options for name, options in chosen.items() if "host" in name}
    device_modes = {name: options for name, options in chosen.items() if "host" not in name}

    begun = time.monotonic()
    spent = {"host": 0.0, "device": 0.0}
    made = 0
    while made < arguments.count and time.monotonic() - begun < arguments.seconds:
        # Kernels are slow to build, so devices run few shapes in many variants, for as much time as the host.
        on_device = device_modes and (not host_modes or spent["device"] <= spent["host"])
        batch = []
        for _ in range(DEVICE_SHAPES if on_device else HOST_SHAPES):
            source = random.Random(f"{seed}/{made}")
            case = make_case(source, data, source.random() < arguments.large_share)
            batch.append((str(made), case, Expected(case)))
            for number in range(DEVICE_VARIANTS if on_device else 0):
                other = variant(case, source, data)
                batch.append((f"{made}.{number}", other, Expected(other)))
            made += 1
        started = time.monotonic()
        test_batch(run, tally, batch, device_modes if on_device else host_modes)
        spent["device" if on_device else "host"] += time.monotonic() - started
    print(f"differential: {made} queries in {time.monotonic() - begun:.0f} s, seed {seed}")
    return tally.finish()


if __name__ == "__main__":
    harness.main_program(main)
