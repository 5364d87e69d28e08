#!/usr/bin/env python3
"""Programs with loops and folds: rql against NumPy, C on all threads and, where it is installed, Numba, in one run.

    programs.py --build DIR [--device WHICH] [--rounds N] [--only NAME,...] [--without PEER,...] [--tiny] [--slow]

rql runs at its prompt and is timed from Enter to the next prompt, the others from the call to the result. All take turns;
each has run once before, so programs are compiled. Answers are compared. Printed are the least processor time of all
threads and, below it, the least time on the clock, both in milliseconds: on a busy machine the first is to be trusted."""

import argparse
import ctypes
import os
import sys
import tempfile
import time

# Threads that wait must not use the processor: its time is measured. Read when the libraries start.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np  # noqa: E402

from machine import machine  # noqa: E402
from program_cases import CASES  # noqa: E402
from shell import Shell, ShellError, number  # noqa: E402

PATIENCE = 20  # seconds; who has taken longer is not asked again
TOLERANCE = 1e-9


class Loops:
    """The C functions: arrays go by address, the rest by value."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def __getattr__(self, name):
        function = getattr(self.library, name)
        function.restype = ctypes.c_int64

        def call(*arguments):
            return function(*(self.passed(argument) for argument in arguments))

        return call

    @staticmethod
    def passed(value):
        if isinstance(value, np.ndarray):
            return np.ascontiguousarray(value).ctypes.data_as(ctypes.c_void_p)
        return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int64(value)


class Rql:
    """A session at the prompt, of which the processor time of all threads can be read."""

    def __init__(self, rql, device, options=()):
        self.rql, self.device, self.options, self.shell = rql, device, options, None
        self.folder = tempfile.TemporaryDirectory(prefix="rql-bench-")

    def begin(self, case):
        self.end()
        folder = self.folder.name
        env = dict(os.environ, TERM="dumb", HOME=folder, XDG_STATE_HOME=folder, XDG_CONFIG_HOME=folder)
        env.setdefault("XDG_CACHE_HOME", folder)
        self.shell = Shell(self.rql, folder, ["--device", self.device, *self.options], env)
        for name, table in case.tables.items():
            np.save(os.path.join(folder, name + ".npy"), table)
            self.shell.ask(f"let {name} = load {name}.npy")
        for line in case.setup:
            self.shell.ask(line)

    def run(self, case):
        clock = (~self.shell.pid << 3) | 2  # the processor time of a process: clock_getcpuclockid
        self.shell.type(f"let r = {case.rql}")
        before = time.clock_gettime(clock)
        _, ns = self.shell.enter()
        used = time.clock_gettime(clock) - before
        shown = self.shell.ask(case.answer)[0][-1]
        return [number(cell) for cell in shown.split("\t")], used, ns / 1e9

    def end(self):
        if self.shell:
            self.shell.close()
            self.shell = None


def timed(function):
    used, begun = time.process_time(), time.perf_counter()
    answer = function()
    return answer, time.process_time() - used, time.perf_counter() - begun


def agree(a, b):
    return len(a) == len(b) and all(x == y or abs(x - y) <= TOLERANCE * max(abs(x), abs(y)) for x, y in zip(a, b))


def measure(case, contestants, rounds):
    """Of each contestant the least processor time and time, or what went wrong."""
    least, problems, answers = {}, {}, {}
    for turn in range(rounds + 1):
        for name, run in contestants.items():
            if name in problems or (name in least and least[name][1] > PATIENCE):
                continue
            try:
                answer, used, spent = run()
            except ShellError as error:
                problems[name] = str(error)
                continue
            answers.setdefault(name, answer)
            if turn > 0 or spent > PATIENCE / 4:
                before = least.get(name, (used, spent))
                least[name] = min(used, before[0]), min(spent, before[1])
    reference = answers.get("C") or answers.get("NumPy")
    for name, answer in answers.items():
        if reference and not agree(answer, reference):
            problems[name] = f"answers {answer}, not {reference}"
    return least, problems


def figure(seconds):
    return f"{seconds * 1e3:.3g}" if seconds < 0.9995 else f"{seconds * 1e3:.0f}"


def line_of(case, least, names):
    """Cells of the table: ratios of processor time, then processor time and time on the clock of each."""
    def ratio(peer):
        return f"{least['rql'][0] / least[peer][0]:.2f}" if "rql" in least and peer in least else ""

    cells = [case.name, *(ratio(name) for name in names[1:])]
    cells += [f"{figure(least[name][0])} ({figure(least[name][1])})" if name in least else "" for name in names]
    rate = case.ticks / least["rql"][1] if case.ticks and "rql" in least else 0
    return [*cells, f"{rate:.4g}" if rate else ""]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--without", default="")
    parser.add_argument("--tiny", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("--slow", action="store_true", help="NumPy also where it takes minutes")
    arguments = parser.parse_args()
    without = arguments.without.split(",")
    loops = Loops(os.path.abspath(os.path.join(arguments.build, "programs.so")))
    versions = ["NumPy " + np.__version__]
    try:
        if "Numba" in without:
            raise ImportError("left out")
        import numba

        import program_loops

        versions.append("Numba " + numba.__version__)
    except ImportError as error:
        print(f"without Numba: {error}")
        program_loops = None
    rql = Rql(os.path.abspath(os.path.join(arguments.build, "rql")), arguments.device)
    names = ["rql", "C", "NumPy"] + (["Numba"] if program_loops else [])
    print(f"{machine()}; rql on {arguments.device}; {', '.join(versions)}; "
          f"least of {arguments.rounds}")
    header = ["program", *(f"rql / {name}" for name in names[1:]), *(f"{name}, ms" for name in names), "rql's rounds a second"]
    print("| " + " | ".join(header) + " |\n| " + " | ".join("---" for _ in header) + " |", flush=True)
    failed = 0
    for key in arguments.only.split(",") if arguments.only else CASES:
        case = CASES[key](loops, program_loops, (lambda _, tiny: tiny) if arguments.tiny else (lambda size, _: size))
        peers = {"C": case.c, "NumPy": None if case.slow and not arguments.slow else case.numpy, "Numba": case.numba, **case.more}
        contestants = {"rql": lambda case=case: rql.run(case)}
        contestants.update({name: lambda run=run: timed(run) for name, run in peers.items() if run and name not in without})
        problems = {}
        try:
            rql.begin(case)
        except ShellError as error:
            problems["rql"] = str(error)
            del contestants["rql"]
        least, more = measure(case, contestants, arguments.rounds)
        problems.update(more)
        print("| " + " | ".join(line_of(case, least, names)) + " |", flush=True)
        for name in case.more:
            if name in least:
                print(f"    {name}: {figure(least[name][0])} ({figure(least[name][1])})")
        for name, problem in problems.items():
            failed += 1
            print(f"    {key}, {name}: {' '.join(problem.split())[:300]}", flush=True)
    rql.end()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
