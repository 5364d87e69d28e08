#!/usr/bin/env python3
"""Calls that fail, one by one: allocations, system calls, threads and, on an OpenCL device, calls of the driver
(tests/fault.c makes the N-th fail). After each there is the right answer or one error, the next statement answers, and no
file is left; and no memory, if the program is of a build under AddressSanitizer (rql-faults beside it has the calls linked).

    faults.py                   --count faults of each kind and statement, chosen by --seed; of OpenCL calls of some kinds
    faults.py --all             every one until none is left
    faults.py --only save-csv --kinds write,sync"""

import argparse
import gzip
import os
import random
import shutil
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor

import harness

# How the calls of a kind fail.
KINDS = {
    "allocate": ("once",), "map": ("once", "on"), "open": ("once", "on"), "read": ("once", "short", "interrupted"),
    "write": ("once", "on", "short", "interrupted"), "status": ("once",), "truncate": ("once",), "sync": ("once",), "rename": ("once",),
    "unlink": ("once",), "fork": ("once",), "pipe": ("once",), "thread": ("once", "on"), "advise": ("on",), "folder": ("once",),
}
# Calls of a driver. Its programs are in the cache already, but for some of those that fail.
DRIVER_KINDS = {kind: ("once", "on") for kind in ("context", "queue", "program", "kernel", "argument", "buffer", "upload", "fill",
                                                  "launch", "wait", "fetch", "mapping", "ask")}
LEAKED = 23  # the status of a program under AddressSanitizer that has complaints
DRIVER_SAMPLE = 3  # statements, and kinds of each, unless all are made
# Where a process that saves is killed.
KILLS = {"open", "write", "truncate", "sync", "rename", "folder", "unlink"}
# Ways that may end the program, with a message: when even the reserve for small things cannot be had.
ENDS = {("map", "on")}

STATEMENTS = {
    "range": "range 1..5 as x | map x * 2 | sum",
    "csv": "load t.csv | sort name desc | take 2",
    "gzip": "load t.csv.gz | group name: sum(x)",
    "zstd": "load made.csv.zst | count",
    "parquet": "load made.parquet | select x > 3 | sum x",
    "arrow": "load made.arrow | distinct | count",
    "npy": "load made.npy | median",
    "jsonl": "load t.jsonl | describe",
    "raw": "load t.i64 | scan + | max",
    "folder": "load 't*.csv' | count",
    "join": "load t.csv | join (load made.parquet | group name: count() as n) on name | sum n",
    "lookup": "load t.csv | lookup (load made.parquet | group name: max(x) as m) on name | sum m",
    "window": "load t.csv | per name: derive r = sum(x) over ..0 | sort x | take 3",
    "repeat": "range 1..9 as x | map float(x) | repeat 3: ( stencil -1..1 wrap: (at(-1) + at(1)) / 2 ) | sum",
    "texts": "load t.csv | derive u = upper(name) | select u like \"%1\" | count",
    "times": "load t.csv | map timestamp(x * 1000000) as d | max",
    "lists": "load t.csv | derive parts = split(name, \"e\") | unnest parts | count",
    "pivot": "load t.csv | unpivot x, y as what, v | group what: mean(v)",
    "append": "load t.csv | append (load made.parquet) | count",
    "hist": "load t.csv | pick x | hist 3",
    "quantile": "load t.csv | group name: median(x) as m | sum m",
    "pipe": "load '|cat t.csv' csv | count",
    # Of more than memory holds.
    "spilled-sort": ".set memory 2MB\nrange 1..300000 as x | map x * 7919 % 300007 as a, x | sort a | map a * x | sum",
    "spilled-rank": ".set memory 2MB\nrange 1..300000 as x | map x * 7919 % 300007 as a, x | derive r = rank(a) | map r * x | sum",
    "spilled-group": ".set memory 2MB\nrange 1..300000 as x | map x * 7919 % 300007 as a, x | group a: sum(x) as s | map a * s | sum",
    "explain": "explain load t.csv | select x > 2 | count",
    "schema": ".schema t.csv",
    "tables": ".tables",
    "help": ".help sort",
    **{f"save-{name}": f"load t.csv | save new.{name}" for name in ("csv", "csv.gz", "csv.zst", "parquet", "arrow", "jsonl", "npz", "tsv")},
    "save-npy": "load t.csv | pick x | save new.npy",
    "save-over": "load t.csv | pick x | save old.csv",
    "save-folders": "load t.csv | save parts by name",
    "save-splayed": "load t.csv | pick x, y | save new/",
}

# On an OpenCL device, twice: the next statement answers on the device or the evaluator.
DRIVER_STATEMENTS = {
    "cl-sum": "load t.i64 | select t % 3 == 1 | map t * 2 | sum",
    "cl-rows": "load t.csv | select x % 2 == 0 | map x * y | tail 3",
    "cl-sort": "load t.csv | pick x, y | sort y, -x | take 3",
    "cl-group": "load t.csv | group y: sum(x), count()",
    "cl-texts": "load t.csv | group name: max(x) | sort name",
    "cl-scan": "load t.i64 | scan + | max",
    "cl-distinct": "load t.csv | map y | distinct | count",
    "cl-hist": "load t.csv | pick x | hist 3",
    "cl-repeat": "range 1..9 as x | map float(x) | repeat 3: ( stencil -1..1 wrap: (at(-1) + at(1)) / 2 ) | sum",
    "cl-join": "load t.csv | join (load made.parquet | group name: count() as n) on name | sum n",
    "cl-let": "let a = load t.i64 | derive u = t * 3 | pick u; a | sort -u | skip 90; a | sum",
    "cl-save": "load t.csv | map x * 7 | save new.npy",
}


class Faults:
    def __init__(self, sandbox, tally, options):
        self.sandbox, self.tally, self.options = sandbox, tally, options
        self.random = random.Random(options.seed)
        self.program = os.path.join(os.path.dirname(harness.RQL), "rql-faults")
        self.library = None
        if not os.path.exists(self.program):
            self.program, self.library = harness.RQL, sandbox.path("fault.so")
            source = os.path.join(harness.TREE, "tests", "fault.c")
            subprocess.run(["cc", "-O1", "-D_GNU_SOURCE", "-fno-builtin", "-DCL_TARGET_OPENCL_VERSION=120", "-shared", "-fPIC",
                            "-o", self.library, source, "-ldl"], check=True)
        self.data = sandbox.path("data")
        self.made = 0
        self.ended = 0
        self.fill()

    def fill(self):
        os.makedirs(self.data)
        rows = "".join(f"{k},{k * 3 % 7},name{k % 4}\n" for k in range(1, 60))
        for name, text in (("t.csv", "x,y,name\n" + rows), ("t2.csv", "x,y,name\n" + rows), ("old.csv", "v\n1\n"),
                           ("t.jsonl", "".join(f'{{"a": {k}, "b": {{"c": "z{k}"}}}}\n' for k in range(20)))):
            with open(os.path.join(self.data, name), "w", encoding="ascii") as file:
                file.write(text)
        with gzip.open(os.path.join(self.data, "t.csv.gz"), "wt") as file:
            file.write("x,y,name\n" + rows)
        with open(os.path.join(self.data, "t.i64"), "wb") as file:
            file.write(b"".join(k.to_bytes(8, "little") for k in range(99)))
        for name in ("csv.zst", "parquet", "arrow"):
            result = harness.run(("--device", "host", "-c", f"load t.csv | save made.{name}"), self.data, self.sandbox.home)
            assert result.status == 0, result.text()
        result = harness.run(("--device", "host", "-c", "load t.csv | pick x | save made.npy"), self.data, self.sandbox.home)
        assert result.status == 0, result.text()

    def run(self, folder, statement, fault, keep=False):
        """Runs a statement and others in a copy of the files, or, after a run with `keep`, in what that one left; returns
        the result, whether the fault happened, and the files with their contents."""
        here = os.path.join(self.sandbox.root, folder)
        if not os.path.exists(here):
            shutil.copytree(self.data, os.path.join(here, "data"))
            os.makedirs(os.path.join(here, "home"))
        env = harness.environment(os.path.join(here, "home"))
        env["XDG_CACHE_HOME"] = os.path.join(here, "cache")
        if self.library:
            env["LD_PRELOAD"] = self.library
        else:
            env["ASAN_OPTIONS"] = f"{env.get('ASAN_OPTIONS', '')}:abort_on_error=0:exitcode={LEAKED}"
        env.update(FAULT=fault, FAULT_FIRED=os.path.join(here, "fired"), FAULT_COUNTS=os.path.join(here, "counts"))
        driver = folder.startswith("cl-")
        cache = os.path.join(self.sandbox.root, f"programs-{zlib.crc32(statement.encode())}")
        if driver and os.path.exists(cache):
            shutil.copytree(cache, env["XDG_CACHE_HOME"], dirs_exist_ok=True)
        command = [self.program, "--device", "cpu" if driver else "host", "-k", "-c", statement, "-c", statement if driver else "40 + 2", "-c", "40 + 2"]
        try:
            done = subprocess.run(command, cwd=os.path.join(here, "data"), env=env, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=60, check=False)
            result = harness.Result(done.returncode, done.stdout, done.stderr)
        except subprocess.TimeoutExpired as late:
            result = harness.Result("timeout", late.stdout or b"", late.stderr or b"")
        if driver and not os.path.exists(cache) and os.path.exists(env["XDG_CACHE_HOME"]):
            shutil.copytree(env["XDG_CACHE_HOME"], cache)
        files = {}
        for root, _, names in os.walk(os.path.join(here, "data")):
            for name in names:
                path = os.path.join(root, name)
                with open(path, "rb") as file:
                    files[os.path.relpath(path, os.path.join(here, "data"))] = file.read()
        result.counts = {}
        if os.path.exists(os.path.join(here, "counts")):
            with open(os.path.join(here, "counts"), encoding="ascii") as file:
                result.counts = {kind: int(count) for kind, count in map(str.split, file)}
        happened = os.path.exists(os.path.join(here, "fired"))
        if not keep:
            shutil.rmtree(here, ignore_errors=True)
        return result, happened, files

    def problem(self, kind, how, right, files, result, left):
        """What is wrong with the result of a run with a fault; "" for nothing."""
        told = result.err.decode("utf-8", "replace")
        hidden = [name for name in left if ".rql-" in name]
        if (kind, how) in ENDS and result.status == -6 and "out of memory" in told:
            self.ended += 1
            return ""
        if not isinstance(result.status, int) or result.status < 0 or result.status > 2:
            return "ended"
        if hidden and kind != "unlink":
            return f"left: {hidden}"
        if result.status == 0:
            same = result.out == right.out and {name: files[name] for name in files} == {name: left.get(name) for name in files}
            return "" if same else "another answer"
        if result.status == 1 and not result.out.endswith(b"42\n") and "standard output" not in told:
            return "the next statement does not answer"
        if not told.strip():
            return "no message"
        for name, data in left.items():
            if name not in files or (files[name] != data and not (name == "old.csv" and data == b"v\n1\n")):
                return f"half a file: {name}"
        return ""

    def check(self, name, statement):
        right, _, files = self.run(f"{name}-right", statement, "")
        if right.status != 0 or not right.counts:
            self.tally.check(f"{name}-right", right.text())
            return
        kinds = DRIVER_KINDS if name in DRIVER_STATEMENTS else KINDS
        if name in DRIVER_STATEMENTS and not self.options.all and not self.options.kinds:
            kinds = dict(self.random.sample(sorted(kinds.items()), DRIVER_SAMPLE))
        for kind, hows in kinds.items():
            if not self.options.kinds or kind in self.options.kinds:
                for how in hows:
                    self.sweep(name, statement, kind, how, right.counts[kind], right, files)
                if name.startswith("save-") and kind in KILLS:
                    self.kill(name, statement, kind, right.counts[kind], right, files)

    def kill(self, name, statement, kind, count, right, files):
        """A process that is killed in a save leaves the old file or the new one, and what else is left is removed by the
        next save into the directory."""
        problems = []
        for number in sorted(self.random.sample(range(1, count + 1), min(count, max(count if self.options.all else 0, self.options.count)))):
            folder = f"{name}-{kind}-killed"
            result, happened, left = self.run(folder, statement, f"{kind}:{number}:killed", keep=True)
            self.made += happened
            half = [path for path in files if path in left and left[path] not in (files[path], b"v\n1\n")]
            result, _, left = self.run(folder, statement, "")
            exists = result.status == 1 and b"save to a new folder" in result.err
            if half or (not exists and (result.out != right.out or left != files)):
                problems.append(f"{statement}\nFAULT={kind}:{number}:killed half: {half}, then {sorted(left)}\n{result.text()}")
        self.tally.check(f"{name}-{kind}-killed".replace(".", "-"), problems[0] if problems else "")

    def sweep(self, name, statement, kind, how, count, right, files):
        numbers = range(1, count + 1)
        if not self.options.all and count > self.options.count:
            numbers = sorted(self.random.sample(numbers, self.options.count))
        problems = []
        for number in numbers:
            result, happened, left = self.run(f"{name}-{kind}-{how}", statement, f"{kind}:{number}:{how}")
            self.made += happened
            problem = self.problem(kind, how, right, files, result, left) if happened or result.status != 0 else ""
            if problem:
                problems.append(f"{statement}\nFAULT={kind}:{number}:{how} {problem}\n{result.text()}")
        title = f"{name} {kind} {how}".replace(" ", "-").replace(".", "-")
        self.tally.check(title, f"{len(problems)} of {len(numbers)}: {problems[0]}" if problems else "")


def main(sandbox):
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--count", type=int, default=2)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--kinds", type=lambda text: text.split(","))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    tally = harness.Tally("faults")
    faults = Faults(sandbox, tally, options)
    chosen = {name: text for name, text in (STATEMENTS | DRIVER_STATEMENTS).items() if not options.only or name in options.only}
    if not faults.library:
        chosen = {name: text for name, text in chosen.items() if name in STATEMENTS}
    elif not options.all and not options.only:
        kept = faults.random.sample(sorted(DRIVER_STATEMENTS), DRIVER_SAMPLE)
        chosen = {name: text for name, text in chosen.items() if name in STATEMENTS or name in kept}
    with ThreadPoolExecutor(options.jobs) as pool:
        for done in [pool.submit(faults.check, name, text) for name, text in chosen.items()]:
            done.result()
    print(f"faults: {faults.made} made to happen with seed {options.seed}; {faults.ended} ended the program for lack of memory")
    return tally.finish()


if __name__ == "__main__":
    harness.main_program(main)
