#!/usr/bin/env python3
"""Reading files: rql against DuckDB, Polars and pyarrow, whichever this Python has, on the same CSV and Parquet files.

    bench_files.py --build DIR [--rows N] [--rounds N]

A time stamp, a symbol out of 500, a price with blanks, a quantity. `rql` is the statement in a running rql, from Enter to
the next prompt (shell.py), `rql -c` a whole process; the peers run in this process, from the call to the result. A file
is in the page cache, but read anew each time: for rql it is touched before. Everybody runs once in each round, in an order
that is another one each time; results are compared, and the minimums are told, of time and of processor time. `duckdb -c`
is a whole process too, if DUCKDB or the path names its command line.
"""

import argparse
import importlib
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from bench import REST_SECONDS, environment, processor_ns
from machine import machine
from shell import Shell, number

SYMBOLS = [f"S{k:03d}" for k in range(497)] + ["AAPL", "MSFT", "GOOG"]
YEAR = 365 * 24 * 3600 * 10**6
PEERS = ("duckdb", "polars", "pyarrow")
TASKS = {  # of rql; what it prints is compared
    "sum of one": ("load {} | sum qty", None),
    "filter": ('load {} | select sym == "AAPL" | sum qty', None),
    "group": ("let r = load {} | group sym: sum(qty)", "r | sum $2"),
    "group, all": ("let r = load {} | group sym: max(time), mean(price), sum(qty)", "r | sum $4"),
}
SQL = {
    "sum of one": "select sum(qty) from '{}'",
    "filter": "select sum(qty) from '{}' where sym = 'AAPL'",
    "group": "select sym, sum(qty) from '{}' group by sym",
    "group, all": "select sym, max(time), avg(price), sum(qty) from '{}' group by sym",
}


def write_csv(path, rows):
    some = random.Random(1)
    times = sorted(some.randrange(YEAR) for _ in range(rows))
    with open(path, "w", encoding="utf-8") as out:
        print('"time","sym","price","qty"', file=out)
        for at in times:
            seconds, micros = divmod(at, 10**6)
            stamp = time.strftime("2023-%m-%d %H:%M:%S", time.gmtime(1672531200 + seconds))
            price = "" if some.random() < 0.005 else f"{some.random() * 500:.2f}"
            symbol, quantity = some.choice(SYMBOLS), some.randrange(1, 1000)
            print(f'{stamp}.{micros:06d},"{symbol}",{price},{quantity}', file=out)


class Peers:
    """The libraries that there are, and their way to do each task with a file."""

    def __init__(self):
        self.modules = {}
        for name in PEERS:
            try:
                self.modules[name] = importlib.import_module(name)
                print(f"{name} {self.modules[name].__version__}")
            except ImportError:
                print(f"{name} is missing")
        if "duckdb" in self.modules:
            self.connection = self.modules["duckdb"].connect()

    def duckdb(self, task, file):
        return sum(row[-1] for row in self.connection.execute(SQL[task].format(file)).fetchall())

    def polars(self, task, file):
        pl = self.modules["polars"]
        lazy = pl.scan_csv(file) if file.endswith(".csv") else pl.scan_parquet(file)
        if task.startswith("group"):
            more = [pl.col("time").max(), pl.col("price").mean()] if task == "group, all" else []
            return lazy.group_by("sym").agg(*more, pl.col("qty").sum()).collect()["qty"].sum()
        rows = lazy.filter(pl.col("sym") == "AAPL") if task == "filter" else lazy
        return rows.select(pl.col("qty").sum()).collect().item()

    def pyarrow(self, task, file):
        columns = {"group, all": None, "sum of one": ["qty"]}.get(task, ["sym", "qty"])
        compute = importlib.import_module("pyarrow.compute")
        if file.endswith(".csv"):
            csv = importlib.import_module("pyarrow.csv")
            table = csv.read_csv(file, convert_options=csv.ConvertOptions(include_columns=columns or []))
        else:
            table = importlib.import_module("pyarrow.parquet").read_table(file, columns=columns)
        if task.startswith("group"):
            more = [("time", "max"), ("price", "mean")] if task == "group, all" else []
            return compute.sum(table.group_by("sym").aggregate([*more, ("qty", "sum")])["qty_sum"]).as_py()
        if task == "filter":
            table = table.filter(compute.equal(table["sym"], "AAPL"))
        return compute.sum(table["qty"]).as_py()

    def contestants(self):
        return {name: getattr(self, name) for name in self.modules}


class Rql:
    def __init__(self, program, folder, home):
        self.program, self.environment = program, environment(home)
        self.shell = Shell(program, folder, [], self.environment)

    def running(self, task, file):
        """Returns the result, and the nanoseconds of time and of processor time."""
        statement, check = TASKS[task]
        self.shell.ask("let r = range 1..1")
        os.utime(file)
        before = processor_ns(self.shell.pid)
        said, ns = self.shell.ask(statement.format(file))
        spent = processor_ns(self.shell.pid) - before
        return number((self.shell.ask(check)[0] if check else said)[-1]), ns, spent

    def process(self, task, file):
        command = [self.program, "--quiet", "--format", "tsv", "-c", TASKS[task][0].format(file)]
        return whole_process(command, self.environment, task)


def duckdb_process(program):
    return lambda task, file: whole_process([program, "-csv", "-noheader", "-c", SQL[task].format(file)], None, task)


def whole_process(command, env, task):
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter_ns()
    said = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, text=True).stdout
    ns, after = time.perf_counter_ns() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = 1e9 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return number(said.split()[-1]) if TASKS[task][1] is None else None, ns, spent


def timed(peer):
    def run(task, file):
        before, begun = time.process_time_ns(), time.perf_counter_ns()
        result = peer(task, file)
        return result, time.perf_counter_ns() - begun, time.process_time_ns() - before

    return run


def measure(task, file, contestants, rounds):
    """The least milliseconds of time and of processor time of each."""
    least, results = {}, {}
    order = random.Random(0)
    for turn in range(rounds + 1):  # the first is not counted
        for name in order.sample(list(contestants), len(contestants)):
            time.sleep(REST_SECONDS)
            result, *spent = contestants[name](task, file)
            if result is not None:
                results[name] = result
            if turn > 0:
                known = least.get(name, spent)
                least[name] = [min(a, b) for a, b in zip(known, spent)]
    if len(set(results.values())) > 1:
        sys.exit(f"{file}, {task}: the results differ: {results}")
    return {name: [ns / 1e6 for ns in spent] for name, spent in least.items()}


def show(kind, rows):
    """One table: of time, or of processor time."""
    names = [name for name in ("rql", "rql -c", "duckdb -c", *PEERS) if name in rows[0][2]]
    print(f"\nminimums in milliseconds of {('time', 'processor time')[kind]}\n{'':32} {'peer/rql':>9}", end="")
    print("".join(f" {name:>9}" for name in names))
    for file, task, times in rows:
        peers = [times[name][kind] for name in names if name in PEERS]
        ratio = f"{min(peers) / times['rql'][kind]:.2f}" if peers else "-"
        cells = "".join(f" {times[name][kind]:9.1f}" for name in names)
        print(f"{file + ', ' + task:32} {ratio:>9}{cells}", flush=True)


def make_files(rql, peers, rows):
    """The Parquet files are pyarrow's if it is there, else rql's."""
    write_csv("trades.csv", rows)
    yield "trades.csv"
    if "pyarrow" not in peers.modules:
        subprocess.run([rql, "--quiet", "-c", "load trades.csv | save trades.parquet"], check=True)
        yield "trades.parquet"
        return
    table = importlib.import_module("pyarrow.csv").read_csv("trades.csv")
    for codec in ("snappy", "zstd"):
        importlib.import_module("pyarrow.parquet").write_table(table, f"{codec}.parquet", compression=codec)
        yield f"{codec}.parquet"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    program = os.path.join(os.path.abspath(arguments.build), "rql")
    peers = Peers()
    rows = []
    with tempfile.TemporaryDirectory(prefix="rql-files-") as home:
        os.chdir(home)
        files = list(make_files(program, peers, arguments.rows))
        rql = Rql(program, home, home)
        contestants = {"rql": rql.running, "rql -c": rql.process}
        duckdb = os.environ.get("DUCKDB") or shutil.which("duckdb")
        contestants |= {"duckdb -c": duckdb_process(duckdb)} if duckdb else {}
        contestants |= {name: timed(peer) for name, peer in peers.contestants().items()}
        for file in files:
            for task in TASKS:
                rows.append((file, task, measure(task, file, contestants, arguments.rounds)))
        rql.shell.close()
    print(machine())
    print(f"{arguments.rows:,} rows".replace(",", " "))
    for kind in (0, 1):
        show(kind, rows)


if __name__ == "__main__":
    main()
