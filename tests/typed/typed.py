#!/usr/bin/env python3
"""Random pipelines over random tables of all types: compares rql with a reference, row by row.

    typed.py [--count N] [--seed SEED] [--modes M,...] [--device-share F] [--large-share F] [--forms F,...] [--repeat N] [--duckdb]

The reference is Python's (reference.py) or, with --duckdb, DuckDB (sql.py). Prints its seed, which makes the same pipelines
again. Many pipelines run in one process. A mismatch is shrunk and printed with the statements that show it again.
"""

import argparse
import math
import os
import random
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
import reference  # noqa: E402
from pipelines import Case, random_case  # noqa: E402
from tables import random_tables  # noqa: E402
from values import literal, read  # noqa: E402

CASES = 20  # of one table
BATCH = 15  # tables of one process
MARK = 7_000_000_000_000_000_000
SHRINKING = 12  # seconds


# --- what rql prints --------------------------------------------------------------------------------------------------


def records(text):
    """The records of CSV: lists of (text, quoted)."""
    made, record, at = [], [], 0
    while at < len(text):
        quoted = text[at] == '"'
        if quoted:
            end = at + 1
            while text[end] != '"' or text[end + 1 : end + 2] == '"':
                end += 2 if text[end] == '"' else 1
            field = text[at + 1 : end].replace('""', '"')
            at = end + 1
        else:
            end = at
            while text[end] not in ",\n":
                end += 1
            field, at = text[at:end], end
        record.append((field, quoted))
        if text[at] == "\n":
            made.append(record)
            record = []
        at += 1
    return made


def near(expected, got, rough):
    """Whether floats agree, the mean of exact sums but for its last digit."""
    if expected != expected or got != got:
        return expected != expected and got != got
    if expected == got:
        return True
    error = abs(expected - got)
    return math.isfinite(expected) and error <= (1e-9 * max(abs(expected), 1e-3) if rough else 1e-15 * abs(expected))


def mismatch_of_value(kind, expected, field, rough):
    text, quoted = field
    missing = text == "" and not quoted
    if missing or expected is None:
        return "" if missing and expected is None else f"expected {expected!r}, got {text!r}"
    try:
        got = read(kind, text)
    except ValueError as error:
        return str(error)
    good = near(expected, got, rough) if kind.kind == "float" else expected == got
    return "" if good else f"expected {expected!r}, got {text!r}"


def mismatch_of_answer(expected, text, rough):
    """The problem with what was printed, or an empty text."""
    if expected.names is None and expected.types[0].kind == "text":
        # A single text is printed as it is.
        return "" if text == expected.rows[0][0] + "\n" else f"expected {expected.rows[0][0]!r}, got {text[:300]!r}"
    try:
        rows = records(text)
    except IndexError:
        return f"not CSV: {text[:300]!r}"
    if expected.names is not None:
        names = [field for field, _ in rows.pop(0)] if rows else None
        if names != expected.names:
            return f"expected columns {expected.names}, got {names}"
    if len(rows) != len(expected.rows):
        return f"expected {len(expected.rows)} rows, got {len(rows)}: {text[:300]!r}"
    for at, (row, wanted) in enumerate(zip(rows, expected.rows)):
        if len(row) != len(expected.types):
            return f"row {at} has {len(row)} values"
        for kind, value, field in zip(expected.types, wanted, row):
            problem = mismatch_of_value(kind, value, field, rough)
            if problem:
                return f"row {at} ({kind.kind}): {problem}"
    return ""


# --- running ----------------------------------------------------------------------------------------------------------


class Run:
    def __init__(self, sandbox):
        self.folder = sandbox.here
        self.home = sandbox.home
        self.scripts = 0

    def script(self, text, options):
        self.scripts += 1
        path = os.path.join(self.folder, "cases.rql")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return harness.run([*options, "--keep-going", "--format", "csv", "cases.rql"], self.folder, self.home, timeout=900)

    def prepare(self, table):
        """Writes the file of a table."""
        if table.form == "list":
            return
        with open(os.path.join(self.folder, f"{table.name}.csv"), "wb") as file:
            file.write(table.csv())
        if table.form != "csv":
            as_csv = type(table)(table.name, table.columns, "csv")
            made = self.script(f"{as_csv.loaded()} | save '{table.name}.{table.form}'\n", ["--device", "host"])
            if made.status != 0:
                raise RuntimeError(made.text())

    def together(self, cases, options):
        """What each case prints, None after the process ended early."""
        lines, table = [], None
        for number, case in enumerate(cases):
            if case.table is not table:
                table = case.table
                lines.append(table.definition())
            lines += case.statements()
            lines.append(str(MARK + number))
        result = self.script("\n".join(lines) + "\n", options)
        rest = result.out.decode("utf-8", "replace")
        outs = []
        for number in range(len(cases)):
            out, mark, rest = rest.partition(f"{MARK + number}\n")
            outs.append(out if mark else None)
        return outs

    def alone(self, case, options):
        self.prepare(case.table)
        return self.script("\n".join([case.table.definition(), *case.statements()]) + "\n", options)


class Expected:
    """The reference's answer of a case, None if the query may fail; `known` is false if the reference has none."""

    def __init__(self, case, reference_of):
        self.case = case
        self.exact = reference_of is reference.answer
        self.answer = None
        self.known = True
        try:
            self.answer = reference_of(case)
        except reference.Failed:
            pass
        except NotImplementedError:
            self.known = False

    def mismatch(self, out):
        """The problem with what a case printed, or an empty text."""
        if out is None:
            return "the process ended"
        if not self.known or self.answer is None:
            return ""  # an error, or an answer that did not need the value that fails
        if out:
            problem = mismatch_of_answer(self.answer, out, not self.exact)
            return "" if problem and self.rounded_otherwise(out) else problem
        return "" if self.may_fail() else "expected an answer, but there is none"

    def rounded_otherwise(self, out):
        """Whether the other reference rounded a sum of floats that the exact one finds as printed."""
        if self.exact or not any(word in ("sum", "mean") for stage in self.case.stages for word in stage.words()):
            return False
        try:
            return not mismatch_of_answer(reference.answer(self.case), out, False)
        except reference.Failed:
            return False

    def may_fail(self):
        """Whether it fails by rql's rules, although the other reference did not need the value."""
        try:
            reference.answer(self.case)
        except reference.Failed:
            return True
        return False


def problem_alone(run, case, options, reference_of):
    """The problem of a case in a process of its own."""
    expected = Expected(case, reference_of)
    result = run.alone(case, options)
    out = result.out.decode("utf-8", "replace")
    if result.status not in (0, 1):
        return f"crashed: {result.text()}"
    problem = expected.mismatch(out)
    if problem and result.err:
        problem += "\n" + result.err.decode("utf-8", "replace")[:1500]
    return problem


def kind_of(problem):
    """What a smaller case must have in common with the first: no other error."""
    if "error:" in problem:
        return problem[problem.index("error:") :].split("`")[0][:60]
    return "wrong" if problem.startswith(("row", "expected")) else problem[:20]


def shrunk(run, case, options, reference_of, problem):
    end = time.monotonic() + SHRINKING
    kind = kind_of(problem)
    improved = True
    while improved and time.monotonic() < end:
        improved = False
        for smaller in case.simpler():
            if time.monotonic() > end:
                break
            try:
                other = problem_alone(run, smaller, options, reference_of)
            except (KeyError, IndexError, ValueError, TypeError, StopIteration, AttributeError):
                continue  # a later stage needed what is no longer there
            if other and kind_of(other) == kind and "no column" not in other and "unknown" not in other:
                case, problem, improved = smaller, other, True
                break
    return case, problem


def describe(case, mode, options, problem):
    lines = [case.table.definition(), *case.statements()]
    text = "\n".join(line if len(line) < 3000 else line[:3000] + " ..." for line in lines)
    return f"{problem}\n({mode}) rql {' '.join(options)} on\n{text}"


# --- making -----------------------------------------------------------------------------------------------------------


def scalars_of(source, table):
    """`let` values: literals, and the smallest or largest of a column."""
    made = []
    for number, column in enumerate(table.columns):
        values = [value for value in column.values if value is not None and value == value]
        if column.type.kind in ("bool", "decimal") or not values:
            continue
        name = f"v{number}"
        if source.random() < 0.5:
            word = source.choice(["min", "max"])
            value = reference.aggregate(word, column.type, values, False)
            made.append((name, column.type, value, f"let {name} = {table.name} | {word} {column.name}"))
        else:
            value = source.choice(values)
            made.append((name, column.type, value, f"let {name} = {literal(column.type, value)}"))
    return made


def make_tables(seed, first, count, arguments):
    """Tables and their cases; `repeat` tables of the same columns have the same cases, which need the same programs."""
    for number in range(first, first + count, arguments.repeat):
        source = random.Random(f"{seed}/{number}")
        names = [f"tab{at}" for at in range(number, min(number + arguments.repeat, first + count))]
        same = random_tables(source, names, arguments.forms.split(","), arguments.large_share)
        scalars = scalars_of(source, same[0])
        if len(same) > 1:  # all have those of the first
            scalars = [(name, kind, value, f"let {name} = {literal(kind, value)}") for name, kind, value, _ in scalars]
        cases = [random_case(source, same[0], scalars) for _ in range(CASES)]
        for at, table in enumerate(same):
            if any(column.type != other.type for column, other in zip(table.columns, same[0].columns)):
                continue  # a column in UTC of which all is missing
            of_table = [Case(table, case.stages, case.cut) for case in cases]
            for place, case in enumerate(of_table):
                case.part = f"part{place}of{number + at}"  # where one fails, no other case's is read
            yield table, of_table


def main(sandbox):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--modes", default=",".join({**harness.MODES, "host-unfused": [], "host-kept": []}))
    parser.add_argument("--device-share", type=float, default=0.006)
    parser.add_argument("--repeat", type=int, default=1, help="tables of the same columns that each case runs on")
    parser.add_argument("--large-share", type=float, default=0.02)
    parser.add_argument("--forms", default="list,csv,parquet,arrow")
    parser.add_argument("--duckdb", action="store_true")
    parser.add_argument("--failures", type=int, default=10)
    arguments = parser.parse_args()

    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(10**9)
    name = "typed-duckdb" if arguments.duckdb else "typed"
    print(f"{name}: seed {seed}", flush=True)
    reference_of = reference.answer
    if arguments.duckdb:
        import pipelines
        import sql

        reference_of = sql.Reference().answer
        pipelines.MORE_AGGREGATES.clear()
    run = Run(sandbox)
    tally = harness.Tally(name)
    modes = {mode: harness.ALL_MODES[mode] for mode in arguments.modes.split(",")}
    begun = time.monotonic()
    made = tables = failing = unknown = 0
    while made < arguments.count and tally.failed < arguments.failures and time.monotonic() - begun < arguments.seconds:
        cases = []
        count = min(max(BATCH, arguments.repeat), -(-(arguments.count - made) // CASES))
        for table, of_table in make_tables(seed, tables, count, arguments):
            run.prepare(table)
            cases += of_table
        tables += count
        made += len(cases)
        expected = [Expected(case, reference_of) for case in cases]
        failing += sum(each.known and each.answer is None for each in expected)
        unknown += sum(not each.known for each in expected)
        for mode, options in modes.items():
            test_mode(run, tally, cases, expected, mode, options, arguments, reference_of, made)
    seconds = time.monotonic() - begun
    print(f"{name}: {made} pipelines in {seconds:.0f} s, {failing} of them may fail, {unknown} without reference; seed {seed}")
    return tally.finish()


def test_mode(run, tally, cases, expected, mode, options, arguments, reference_of, made):
    """All cases on the host; some on a device, where each is a program to build."""
    pairs = list(zip(cases, expected))
    if "host" not in mode:
        pairs = random.Random(f"{mode}/{made}").sample(pairs, max(1, int(len(pairs) * arguments.device_share)))
        pairs.sort(key=lambda pair: cases.index(pair[0]))
    outs = run.together([case for case, _ in pairs], options)
    for (case, wanted), out in zip(pairs, outs):
        problem = wanted.mismatch(out)
        if out is None:
            problem = problem_alone(run, case, options, reference_of)
        elif problem:
            problem = problem_alone(run, case, options, reference_of) or f"only beside others: {problem}"
        if problem and tally.failed < arguments.failures:
            small, problem = shrunk(run, case, options, reference_of, problem)
            problem = describe(small, mode, options, problem)
            run.prepare(case.table)  # smaller ones had the same file
        tally.check(f"{case.table.name} ({mode})", problem)


if __name__ == "__main__":
    harness.main_program(main)
