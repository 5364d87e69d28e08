#!/usr/bin/env python3
"""The benchmark: rql against hand-written C, DuckDB, ClickHouse (chdb), Polars and NumPy, on the same columns.

    bench.py --build DIR [--max-rows N] [--rounds N] [--groups G,...] [--tasks NAME,...] [--devices D,...] [--no-cold]
    bench.py --gpu --build DIR [...]      against CuPy and CUB (cub.cu) instead, everybody on a GPU that has the columns

Warm: everybody is running and has the columns in memory. rql is timed from Enter to the next prompt, in a terminal
(shell.py); the others inside their own process, from the call to the result (peers.py, hand.c). A number is read back;
a relation is kept: rql names it with `let`, C allocates an array, DuckDB and ClickHouse make a table or Arrow's, the
quicker. `rql shown` is the line as it stands, of whose rows the first and last are looked at. Everybody runs once in
each round, in an order that is another one each time, after a moment of rest; results are compared, and medians are
told. The rounds of the first seconds are not counted: what is known of columns and built for a task once and for all is
there by then.

Cold: whole processes, from nothing to the printed answer.

DIR has the built rql, hand and generate, and gets bench/: results.csv, results.svg if gnuplot is there, and the data.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from cold import measure_cold
from machine import machine
from plot import plot
from shell import Screen, Shell, ShellError, device_number
from tasks import GROUPS, TASKS

HERE = os.path.dirname(os.path.abspath(__file__))
MEASURED = ("NumPy", "Polars", "DuckDB", "ClickHouse")
ON_GPU = ("CuPy", "CUB")
FEWEST, MOST_SECONDS = 3, 3.0  # minimum rounds; a contestant that takes longer is skipped afterwards
REST_SECONDS = 0.003  # before each turn: threads of the previous contestant may still spin
WARM_SECONDS, SMALL_ROWS = 2.0, 100_000  # small inputs need no more than one round


def sizes(group, most):
    """Powers of ten and, for RubiCL's tasks, powers of two."""
    found = {10**k for k in range(3, 10)}
    if group == "rubicl":
        found |= {2**k for k in range(10, 31, 3)}
    return {size for size in found if size <= most}


def end(process):
    """Closes the process's input and kills it if it hangs."""
    process.stdin.close()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Hand:
    """hand.c on a number of threads."""

    def __init__(self, program, folder, threads):
        self.threads = threads
        self.process = subprocess.Popen([program, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid

    def run(self, task, rows):
        if not task.hand:
            return None
        self.process.stdin.write(f"{task.name} {self.threads}\n")
        self.process.stdin.flush()
        ns, *self.said = (int(word) for word in self.process.stdout.readline().split())
        return ns

    def result(self, task):
        if task.scalar:
            return {"scalar": self.said[0]}
        rows, *columns = self.said
        step = 4 if rows else 1
        return {
            "rows": rows,
            "sums": columns[::step],
            "at": [columns[k + 1 : k + step] for k in range(0, len(columns), step)],
        }

    def close(self):
        end(self.process)


class Cub(Hand):
    """cub.cu."""

    def __init__(self, program, folder):
        super().__init__(program, folder, 1)

    def run(self, task, rows):
        return None if task.name == "group" else super().run(task, rows)


class Peer:
    """A peer in its own process."""

    def __init__(self, name, folder):
        command = [sys.executable, os.path.join(HERE, "peers.py"), name, folder]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.pid = self.process.pid
        started = json.loads(self.process.stdout.readline() or '{"missing": "it does not start"}')
        self.version, self.missing = started.get("version"), started.get("missing")

    def ask(self, command, task):
        self.process.stdin.write(f"{command} {task.name}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise ShellError("it ended")
        said = json.loads(line)
        if isinstance(said, dict) and "fails" in said:
            raise ShellError(said["fails"])
        return None if said == "-" else said

    def run(self, task, rows):
        return self.ask("run", task)

    def result(self, task):
        return self.ask("result", task)

    def close(self):
        end(self.process)


def differ(one, other):
    """Whether two results differ; floats and fields that a peer does not report are not compared."""
    if "scalar" in one:
        a, b = one["scalar"], other["scalar"]
        return abs(a - b) > 1e-9 * max(1.0, abs(a)) if isinstance(a, float) else a != b
    if one["rows"] != other["rows"]:
        return True
    known = one["sums"] is not None and other["sums"] is not None
    placed = known and any(one["at"]) and any(other["at"])
    return known and one["sums"] != other["sums"] or placed and one["at"] != other["at"]


class Times(dict):
    """Of each contestant: its rounds in milliseconds, or a text that says why there are none. `spent` has the
    milliseconds of processor that its threads took for them, all together."""

    def __init__(self):
        super().__init__()
        self.spent = {}
        self.shown = self

    def median(self, name):
        return statistics.median(self.shown[name]) if isinstance(self.get(name), list) else None


def processor_ns(pid):
    """Of all threads of a process, those that are gone included: its clock, as clock_getcpuclockid makes it."""
    return time.clock_gettime_ns((~pid << 3) | 2)


def measure(task, rows, contestants, rounds):
    times = Times()
    active = dict(contestants)
    warm = False
    turn = 0
    begun = time.monotonic()
    order = random.Random(0)
    while active and turn < rounds:
        for name in order.sample(list(active), len(active)):
            time.sleep(REST_SECONDS)
            before = processor_ns(active[name].pid)
            try:
                ns = active[name].run(task, rows)
            except ShellError as error:
                times[name] = str(error)
                del active[name]
                continue
            if ns is None:
                del active[name]
            elif warm:
                waited = times.setdefault(name, [])
                waited.append(ns / 1e6)
                times.spent.setdefault(name, []).append((processor_ns(active[name].pid) - before) / 1e6)
                if len(waited) >= FEWEST and sum(waited) > 1e3 * MOST_SECONDS:
                    del active[name]
        turn += warm
        warm = warm or rows <= SMALL_ROWS or time.monotonic() - begun >= WARM_SECONDS
    results = {name: contestants[name].result(task) for name in times if isinstance(times[name], list)}
    first = next(iter(results), None)
    for name, result in results.items():
        if differ(results[first], result):
            sys.exit(f"{task.title}, {rows} rows: {first} gives {results[first]}, {name} gives {result}")
    return times


def fastest_peer(times):
    known = [(times.median(name), name) for name in MEASURED + ON_GPU if times.median(name) is not None]
    return min(known) if known else None


def cell(times, name):
    if isinstance(times.get(name), str):
        return "fails"
    median = times.median(name)
    return "-" if median is None else f"{median:.3g}" if median < 100 else f"{median:.0f}"


def ratio(a, b):
    return "-" if a is None or b is None else f"{a / b:.2f}"


def table_head(rows, contestants, what):
    print(f"\n{rows:,} rows; medians in milliseconds{what}".replace(",", " "))
    print(f"{'':22} {'peer/rql':>19} {'rql/C all':>10}" + "".join(f" {name:>11}" for name in contestants))


def table_row(task, times, contestants, best):
    peer = fastest_peer(times)
    mine = times.median(best)
    ahead = f"{ratio(peer[0], mine)} {peer[1]}" if peer and mine else "-"
    behind = ratio(mine, times.median("C all"))
    print(
        f"{task.title:22} {ahead:>19} {behind:>10}" + "".join(f" {cell(times, name):>11}" for name in contestants),
        flush=True,
    )
    for name, said in times.items():
        if isinstance(said, str):
            print(f"    {name}: {said}")


class Data:
    """The columns at each size; smaller ones are prefixes of larger ones."""

    def __init__(self, build, rows, more):
        self.root = os.path.join(build, "bench", "data")
        self.full = os.path.join(self.root, str(rows))
        self.rows = rows
        os.makedirs(self.full, exist_ok=True)
        hand = os.path.join(build, "hand")
        subprocess.run([os.path.join(build, "generate"), "--rows", str(rows), "--dir", self.full], check=True)
        subprocess.run([hand, "data", self.full, str(rows)], check=True)
        if more:
            subprocess.run([hand, "more", self.full, str(rows)], check=True)

    def folder(self, rows):
        if rows == self.rows:
            return self.full
        folder = os.path.join(self.root, str(rows))
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for file in os.listdir(self.full):
            if file == "p.i32":
                continue  # a prefix of a permutation is not a permutation
            width = 8 if file.endswith(".f64") else 4
            with open(os.path.join(self.full, file), "rb") as source, open(os.path.join(folder, file), "wb") as part:
                shutil.copyfileobj(FirstBytes(source, width * rows), part, 1 << 20)
        return folder

    def clean(self):
        shutil.rmtree(self.root, ignore_errors=True)


class FirstBytes:
    def __init__(self, source, left):
        self.source, self.left = source, left

    def read(self, count):
        part = self.source.read(min(count, self.left))
        self.left -= len(part)
        return part


def environment(home):
    """The user's caches, but not their history or settings."""
    env = {key: value for key, value in os.environ.items() if key not in ("PROMPT_COMMAND", "RQL_HISTORY")}
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return env | {"TERM": "dumb", "HOME": home, "XDG_CACHE_HOME": cache, "XDG_STATE_HOME": home, "XDG_CONFIG_HOME": home}


def start_cub(contestants, program, folder, told):
    if os.path.exists(program):
        contestants["CUB"] = Cub(program, folder)
    elif "CUB" not in told:
        print("CUB is missing: there is no nvcc to build it with")
        told.add("CUB")


def start(arguments, folder, home, told):
    """Starts all contestants; reports a missing one once."""
    build = arguments.build
    contestants = {}
    for device in arguments.devices:
        name = "rql" if device == arguments.devices[0] else f"rql {device}"
        rql = os.path.join(build, "rql")
        contestants[name] = Shell(rql, folder, ["--device", device_number(rql, device)], environment(home))
    if arguments.gpu:
        start_cub(contestants, os.path.join(build, "cub"), folder, told)
    else:
        usual = ["--device", arguments.devices[0]]
        contestants["rql shown"] = Screen(os.path.join(build, "rql"), folder, usual, environment(home))
        contestants["C one"] = Hand(os.path.join(build, "hand"), folder, 1)
        contestants["C all"] = Hand(os.path.join(build, "hand"), folder, os.cpu_count())
    for name in ("CuPy",) if arguments.gpu else MEASURED:
        if name in arguments.without:
            continue
        peer = Peer(name, folder)
        if peer.missing is None:
            contestants[name] = peer
        line = f"{name} {peer.version}" if peer.version else f"{name} is missing: {peer.missing}"
        if line not in told:
            print(line, flush=True)
            told.add(line)
    return contestants


def measure_size(arguments, data, rows, tasks, told, lines):
    folder = data.folder(rows)
    with tempfile.TemporaryDirectory(prefix="rql-bench-") as home:
        contestants = start(arguments, folder, home, told)
        table_head(rows, contestants, " of processor" if arguments.processor else "")
        for task in tasks:
            times = measure(task, rows, contestants, arguments.rounds or (21 if rows <= 100_000 else 9))
            times.shown = times.spent if arguments.processor else times
            table_row(task, times, contestants, "rql")
            for name, each in times.items():
                if isinstance(each, list):
                    spent = statistics.median(times.spent[name])
                    lines.append((task, rows, name, len(each), min(each), statistics.median(each), spent))
        for contestant in contestants.values():
            contestant.close()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [task.name for task in TASKS]
    parser.add_argument("--build", required=True)
    parser.add_argument("--max-rows", type=int, default=10_000_000)
    parser.add_argument("--rows", type=lambda text: [int(each) for each in text.split(",")], help="only these sizes")
    parser.add_argument("--rounds", type=int, help="9, of small inputs 21")
    parser.add_argument("--groups", type=lambda text: text.split(","), default=list(GROUPS[:3]), help=", ".join(GROUPS))
    parser.add_argument("--tasks", type=lambda text: text.split(","), default=[], help=", ".join(names))
    parser.add_argument("--gpu", action="store_true", help="on a GPU")
    parser.add_argument("--devices", type=lambda text: text.split(","), help="auto, or gpu; the first one is rql's")
    parser.add_argument("--without", type=lambda text: text.split(","), default=[], help="peers not to start")
    parser.add_argument("--processor", action="store_true", help="show the processor's time: for a busy machine")
    parser.add_argument("--no-cold", action="store_true")
    arguments = parser.parse_args()
    unknown = set(arguments.tasks) - set(names) or set(arguments.groups) - set(GROUPS)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    arguments.build = os.path.abspath(arguments.build)
    arguments.devices = arguments.devices or ["gpu" if arguments.gpu else "auto"]
    return arguments


def chosen(arguments):
    """The tasks of each size, smallest first."""
    by_size = {}
    for task in TASKS:
        if task.name in arguments.tasks or (not arguments.tasks and task.group in arguments.groups):
            found = {arguments.max_rows} if task.group == "primitives" else sizes(task.group, arguments.max_rows)
            for rows in arguments.rows or found:
                by_size.setdefault(rows, []).append(task)
    return dict(sorted(by_size.items()))


def write_csv(path, lines):
    with open(path, "w", encoding="utf-8") as out:
        print("task,rows,contestant,rounds,minimum_ms,median_ms,processor_ms,bytes_moved", file=out)
        for task, rows, name, count, least, median, spent in lines:
            figures = f"{least:.4f},{median:.4f},{spent:.4f}"
            print(f"{task.name},{rows},{name},{count},{figures},{task.bytes * rows}", file=out)


def main():
    arguments = parse_arguments()
    by_size = chosen(arguments)
    most = max(by_size)
    here = os.path.join(arguments.build, "bench")
    os.makedirs(here, exist_ok=True)
    data = Data(arguments.build, most, any(task.group == "primitives" for tasks in by_size.values() for task in tasks))
    lines, told = [], set()
    print(machine())
    begun = time.monotonic()
    for rows, tasks in by_size.items():
        measure_size(arguments, data, rows, tasks, told, lines)
    if not arguments.no_cold and not arguments.gpu:
        measure_cold(arguments.build, data.folder(most), most)
    stem = os.path.join(here, "results-gpu" if arguments.gpu else "results")
    table = f"{stem}.csv"
    write_csv(table, lines)
    print(f"\n{time.monotonic() - begun:.0f} s; {table}")
    print(plot(lines, stem))
    data.clean()


if __name__ == "__main__":
    main()
