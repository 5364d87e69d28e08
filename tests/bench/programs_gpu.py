#!/usr/bin/env python3
"""Programs with loops and folds on a GPU: rql against CuPy and CUDA (programs.cu), in one run. Without CuPy nothing runs.

    programs_gpu.py [--build DIR] [--device WHICH] [--rounds N] [--only NAME,...] [--tiny] [--seconds N]

rql runs at its prompt and is timed from Enter to the next prompt, the others from the call until the device is done; inputs
are on the device, all have run once before, and the least of N times counts. Answers are compared. Below a program stands
what `--timing` says of its loop (rounds, time of each, and that nothing was transferred between them) and of uploads."""

import argparse
import ctypes
import os
import re
import sys
import time

import numpy as np

from program_cases import CASES
from programs import Rql, agree, figure
from shell import device_number, number

try:
    import cupy
    from program_cupy import PEERS
except ImportError as error:
    cupy, missing = None, error

ROUNDS = re.compile(r"repeat: (\d+) rounds? of ([0-9.e+]+) (\w+)")
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


class Nothing:
    """In place of the loops for the host."""

    def __getattr__(self, _):
        return None


class Cuda:
    """The functions of programs.cu: addresses on the device and integers as such."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def __getattr__(self, name):
        function = getattr(self.library, name)
        function.restype = ctypes.c_int64
        return lambda *arguments: function(
            *(ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int64(value) for value in arguments))


class TimedRql(Rql):
    def run(self, case):
        """The answer, seconds, and the lines of --timing."""
        said, ns = self.shell.ask(f"let r = {case.rql}")
        shown = [line for line in self.shell.ask(case.answer)[0] if not re.search(r" ms( |$)", line)]
        return [number(cell) for cell in shown[-1].split("\t")], ns / 1e9, said


def peer(run, answer):
    begun = time.perf_counter()
    result = run()
    cupy.cuda.Device().synchronize()
    spent = time.perf_counter() - begun
    return answer(result), spent, []


def measure(contestants, rounds, seconds):
    """Of each contestant the least time, with what rql said then; answers; what went wrong."""
    least, answers, problems = {}, {}, {}
    for name, run in contestants.items():
        begun = time.monotonic()
        for turn in range(rounds + 1):
            if turn > 1 and time.monotonic() - begun > seconds:
                break
            try:
                answers[name], spent, said = run()
            except Exception as error:  # pylint: disable=broad-except # the libraries have errors of their own
                problems[name] = f"{type(error).__name__}: {error}"
                break
            if turn > 0 and (name not in least or spent < least[name][0]):
                least[name] = spent, said
    for name, answer in answers.items():
        if not agree(answer, answers[next(iter(answers))]):
            problems[name] = f"answers {answer}, not {answers[next(iter(answers))]}"
    return least, problems


def said_of_rounds(said):
    """The round's seconds, if there is a loop, and the lines worth printing."""
    worth = [" ".join(line.split()) for line in said if re.match(r"(uploaded|downloaded|fetched|kernel)", line)]
    found = [ROUNDS.search(line) for line in worth]
    each = [float(match[2]) * UNITS[match[3]] for match in found if match]
    return (each[0] if each else None), worth


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="")
    parser.add_argument("--tiny", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("--seconds", type=float, default=3, help="for each contestant of a program")
    parser.add_argument("--alone", action="store_true", help="rql without the others, and without CuPy")
    arguments = parser.parse_args()
    if not cupy and not arguments.alone:
        print(f"skipped: {missing}")
        return 0
    path = os.path.abspath(os.path.join(arguments.build, "programs_cuda.so"))
    cuda = Cuda(path) if os.path.exists(path) and not arguments.alone else None
    program = os.path.abspath(os.path.join(arguments.build, "rql"))
    rql = TimedRql(program, device_number(program, arguments.device), ["--timing"])
    print(f"rql on {arguments.device}; NumPy {np.__version__}; " + ("alone" if arguments.alone else f"CuPy {cupy.__version__}"))
    print("| program | rql, ms | rounds a second | CuPy, ms | CUDA, ms | rql / CuPy | rql / CUDA |")
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    failed = 0
    for key in arguments.only.split(",") if arguments.only else CASES:
        size = (lambda _, tiny: tiny) if arguments.tiny else (lambda full, _: full)
        case = CASES[key](Nothing(), None, size)
        contestants, problems = {}, {}
        try:
            rql.begin(case)
            contestants["rql"] = lambda case=case: rql.run(case)
            if not arguments.alone:
                for name, (run, answer) in PEERS[key](cupy, cuda, case, size).items():
                    if cuda or not name.startswith("CUDA"):
                        contestants[name] = lambda run=run, answer=answer: peer(run, answer)
        except Exception as error:  # pylint: disable=broad-except
            problems["beginning"] = f"{type(error).__name__}: {error}"
        least, more = measure(contestants, arguments.rounds, arguments.seconds)
        problems.update(more)
        each, worth = said_of_rounds(least["rql"][1]) if "rql" in least else (None, [])
        times = {name: spent for name, (spent, _) in least.items()}
        shown = [figure(times[name]) if name in times else "" for name in ("CuPy", "CUDA")]
        ratios = [f"{times['rql'] / times[name]:.2f}" if name in times and "rql" in times else "" for name in ("CuPy", "CUDA")]
        cells = [case.name, figure(times["rql"]) if "rql" in times else "", f"{1 / each:.4g}" if each else "", *shown, *ratios]
        print("| " + " | ".join(cells) + " |", flush=True)
        for name, spent in times.items():
            if name not in ("rql", "CuPy", "CUDA"):
                print(f"    {name}: {figure(spent)}")
        for line in worth:
            print(f"    {line}")
        for name, problem in problems.items():
            failed += 1
            print(f"    {key}, {name}: {' '.join(problem.split())[:400]}", flush=True)
    rql.end()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
