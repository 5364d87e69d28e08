#!/usr/bin/env python3
"""Random pipelines on a table of a server and on a file of the same rows: the same rows, or the same error.

    random_pipelines.py [--count N] [--seed S] [--engines NAME,...] [--verbose]

Engines: clickhouse-18 (clickhouse-server, started here on loopback) and clickhouse (the module chdb, behind modern.py)."""

import argparse
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
import modern  # noqa: E402
import servers  # noqa: E402

ROWS = 300
WIDE = (-(2**63), 2**63 - 1, -(2**63) + 1, -1, 0, 1, 2, 7, 2**31, -(2**31), 2**32, 2**40, -(2**40), 2**62, -(2**62), 63, 64, 3037000500)
CONSTANTS = (0, 1, 2, 3, 7, -1, -2, 42, 63, 64, 1000, 2**31, -(2**31), 2**40, 2**63 - 1)
WORDS = ("", "a", "AAPL", "MSFT", "ÄÖ", "a'b\\c", "Z")
ARITHMETIC = ("+", "-", "*", "//", "%", "+", "-", "*", "<<", ">>", "&", "|", "^")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class Writer:
    """Expressions over columns of the kinds that are named: int, missing (an integer that may be), text, float, bool."""

    def __init__(self, rng, columns):
        self.rng = rng
        self.columns = dict(columns)

    def of(self, kind):
        names = [name for name, its in self.columns.items() if its == kind]
        return self.rng.choice(names) if names else None

    def integer(self, depth):
        rng = self.rng
        if depth <= 0 or rng.random() < 0.2:
            name = self.of("int")
            return name if name and rng.random() < 0.75 else f"({rng.choice(CONSTANTS)})"
        choice = rng.random()
        if choice < 0.6:
            return f"({self.integer(depth - 1)} {rng.choice(ARITHMETIC)} {self.integer(depth - 1)})"
        if choice < 0.7:
            return f"{rng.choice(('abs', '-', '~'))}({self.integer(depth - 1)})"
        if choice < 0.8:
            return f"{rng.choice(('min', 'max'))}({self.integer(depth - 1)}, {self.integer(depth - 1)})"
        if choice < 0.92:
            return f"({self.condition(depth - 1)} ? {self.integer(depth - 1)} : {self.integer(depth - 1)})"
        missing = self.of("missing")
        return f"({missing} ?? {self.integer(depth - 1)})" if missing else f"int({self.condition(depth - 1)})"

    def condition(self, depth):
        rng = self.rng
        choice = rng.random()
        text, missing, truth, number = self.of("text"), self.of("missing"), self.of("bool"), self.of("float")
        if depth > 0 and choice < 0.3:
            return f"({self.condition(depth - 1)} {rng.choice(('&&', '||'))} {self.condition(depth - 1)})"
        if depth > 0 and choice < 0.35:
            return f"!({self.condition(depth - 1)})"
        if text and choice < 0.5:
            word = rng.choice(WORDS).replace("\\", "\\\\")
            return f'({text} {rng.choice(COMPARISONS)} "{word}")' if rng.random() < 0.6 else f'("{word}" {rng.choice(COMPARISONS)} {text})'
        if missing and choice < 0.6:
            return f"({missing} is {rng.choice(('', 'not '))}missing)"
        if truth and choice < 0.65:
            return truth
        if number and choice < 0.75:
            return f"({number} {rng.choice(COMPARISONS)} {rng.choice(('0.0', '1.5', '-2.25', '1e300'))})"
        return f"({self.integer(depth - 1)} {rng.choice(COMPARISONS)} {self.integer(depth - 1)})"

    def stages(self):
        """Some stages, and what the columns are after them."""
        rng = self.rng
        stages = []
        for _ in range(rng.randrange(1, 5)):
            choice = rng.random()
            if choice < 0.3:
                stages.append(f"{rng.choice(('select', 'select', 'reject'))} {self.condition(2)}")
            elif choice < 0.45:
                name = f"v{len(stages)}"
                stages.append(f"derive {name} = {self.integer(2)}")
                self.columns[name] = "int"
            elif choice < 0.55:
                stages.append("map pos, " + ", ".join(f"{self.integer(2)} as m{k}" for k in range(2)) + f", {self.condition(1)} as b0")
                self.columns = {"pos": "int", "m0": "int", "m1": "int", "b0": "bool"}
            elif choice < 0.65 and "pos" in self.columns:
                keys = [name for name, kind in self.columns.items() if kind in ("int", "text", "bool", "float") and name != "pos"]
                stages.append("sort " + ", ".join([f"{rng.choice(keys)}{rng.choice(('', ' desc'))}"] if keys else []) + (", pos" if keys else "pos"))
            elif choice < 0.75:
                stages.append(f"{rng.choice(('take', 'skip', 'take', 'tail'))} {rng.randrange(0, 60)}")
            elif choice < 0.87:
                keys = [name for name, kind in self.columns.items() if name != "pos"]
                if not keys:
                    continue
                chosen = rng.sample(keys, min(len(keys), rng.choice((0, 1, 1, 2, 2))))
                kinds = [self.columns[name] for name in chosen]
                value = self.integer(1)
                names = [f"k{k}" for k in range(len(chosen))]
                number = self.of("float")
                of_float = f", {rng.choice(('sum', 'mean', 'min', 'max'))}({number}) as f" if number and rng.random() < 0.6 else ""
                measured = rng.choice([name for name, kind in self.columns.items() if kind in ("int", "missing", "float")] or ["1"])
                of_values = f", {rng.choice((f'median({measured})', f'quantile(0.3, {measured})', f'distinct({measured})', f'distinct({rng.choice(list(self.columns))})'))} as d" if rng.random() < 0.4 else ""
                of_truth = f", {rng.choice(('any', 'all'))}({self.condition(1)}) as t" if rng.random() < 0.3 else ""
                stages.append("group " + ", ".join(f"{name} as {new}" for name, new in zip(chosen, names)) + f": count() as n, {rng.choice(('sum', 'min', 'max'))}({value}) as s{of_float}{of_truth}{of_values}")
                self.columns = dict(zip(names, kinds)) | {"n": "int", "s": "int" if chosen else "missing"} | ({"f": "float"} if of_float else {}) | ({"t": "bool"} if of_truth else {})
            elif choice < 0.93:
                chosen = rng.sample(list(self.columns), min(len(self.columns), 2))
                stages.append("pick " + ", ".join(chosen) + " | distinct")
                self.columns = {name: self.columns[name] for name in chosen}
            else:
                stages.append("assert " + self.condition(1))
        return stages

    def pipeline(self):
        stages = self.stages()
        end = self.rng.random()
        if end < 0.5:
            number = self.of("float") if self.rng.random() < 0.2 else None
            stages.append(f"{self.rng.choice(('sum', 'min', 'max', 'mean', 'sum'))} {number or self.integer(2)}")
        elif end < 0.65:
            stages.append("count")
        elif end < 0.7:
            stages.append(f"{self.rng.choice(('any', 'all'))} {self.condition(2)}")
        return " | ".join(stages)


def make_table(rig, server, seed):
    rng = random.Random(seed)
    rows, lines = [], ["pos,a,b,i,u,m,sym,x,y"]
    for pos in range(ROWS):
        missing = rng.choice([None, rng.randrange(-5, 5)])
        row = (pos, rng.choice(WIDE), rng.choice(WIDE), rng.randrange(-50, 50), rng.randrange(65536), missing, rng.choice(WORDS), rng.choice((0.0, -0.0, 1.5, -2.25, 1e300, 0.1)), rng.choice((0.1, 0.25, -0.7, -0.0, 1e-7, 123456789.125, rng.random(), rng.gauss(0, 1000))))
        escaped = row[6].replace("\\", "\\\\")
        rows.append("\t".join("\\N" if value is None else escaped if k == 6 else repr(value) if k >= 7 else str(value) for k, value in enumerate(row)))
        lines.append(",".join("" if value is None else f'"{value}"' if k == 6 else repr(value) if k >= 7 else str(value) for k, value in enumerate(row)))
    server.ask("CREATE TABLE t (pos Int64, a Int64, b Int64, i Int32, u UInt16, m Nullable(Int8), sym String, x Float64, y Float64) ENGINE = MergeTree ORDER BY (i, u)")
    server.ask("INSERT INTO t FORMAT TabSeparated\n" + "\n".join(rows) + "\n")
    with open(rig.sandbox.path("t.csv"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


COLUMNS = {"pos": "int", "a": "int", "b": "int", "i": "int", "u": "int", "m": "missing", "sym": "text", "x": "float", "y": "float"}


def answers(rig, source, lines):
    """What each line prints, and its error: a script goes on after errors when each line is a statement of its own."""
    found = []
    for line in lines:
        result = rig.run(f"{source} | {line}")
        errors = [re.sub(r"^-c:[0-9:]+ ", "", text) for text in result.err.decode().split("\n")]
        found.append((result.status, result.out.decode(), [text for text in errors if text.startswith("error: ")]))
    return found


def compare(rig, server, count, seed, verbose):
    rng = random.Random(seed)
    url = server.url("t", "pos")
    values = failures = 0
    for number in range(count):
        line = Writer(rng, COLUMNS).pipeline()
        (here,), (there,) = answers(rig, "t.csv", [line]), answers(rig, f"load {url}", [line])
        values += here[0] == 0
        failures += here[0] != 0
        same = here == there
        rig.tally.check(f"{number}: {line}", "" if same else f"here {str(here)[:400]}\nthere {str(there)[:400]}")
        if verbose:
            print(number, "same" if same else "different", line)
    print(f"random-pipelines: {rig.tally.name}: {values} values, {failures} errors", flush=True)


def run_engine(name, tally, options):
    with harness.Sandbox() as sandbox, modern.started(name, sandbox) as server:
        rig = servers.Rig(sandbox, modern.Part(tally, name))
        try:
            make_table(rig, server, options.seed)
            compare(rig, server, options.count, options.seed, options.verbose)
        except subprocess.TimeoutExpired as problem:
            tally.check("in time", str(problem))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engines", default=",".join(modern.ENGINES))
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    tally = harness.Tally("random-pipelines")
    for name in modern.present("random-pipelines", options.engines.split(",")):
        run_engine(name, tally, options)
    tally.finish()
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
