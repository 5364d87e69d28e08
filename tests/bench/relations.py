#!/usr/bin/env python3
"""TPC-H, db-benchmark and ClickBench: rql against DuckDB, Polars and ClickHouse (chdb), each question in one run.

    relations.py --rql PROGRAM [--tpch DIR] [--db-benchmark DIR] [--clickbench DIR] [--rounds N] [--questions NAME,...]
        [--without PEER,...] [--only files|memory] [--threads N]

DIR as written by tests/tpch/tables.py, tests/db-benchmark/tables.py and tests/clickbench/hits.py. Everybody answers each question from the Parquet
files, and then from tables in memory. From files, rql is a new process each time, from its start to its end; the others
are running. From memory all are running, and keep the answer as a table: rql is timed from Enter to the next prompt.
Medians in milliseconds; `peer/rql` is the fastest peer by rql."""

import argparse
import glob
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path += [os.path.join(TESTS, "db-benchmark"), os.path.join(TESTS, "clickbench")]

from machine import machine  # noqa: E402
from shell import Shell, ShellError  # noqa: E402

PATIENCE = 60  # seconds; who takes longer is not asked again


def tables_of(folder):
    paths = sorted(glob.glob(os.path.join(folder, "*.parquet")))
    return {os.path.splitext(os.path.basename(path))[0]: path for path in paths}


def statements(script):
    """Each statement on one line: lines that begin with a blank continue the one before."""
    lines = [line for line in script.splitlines() if line and not line.startswith("#")]
    joined = re.sub(r"\n\s+", " ", "\n".join(lines))
    return joined.split("\n")


class Rql:
    """Answers from files: a process for each question."""

    def __init__(self, rql, folder):
        self.rql, self.folder = rql, folder

    def run(self, question):
        command = [self.rql, "--arg", "dir=" + self.folder, "-c", ";".join(statements(question.script))]
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=PATIENCE)
        return time.perf_counter() - begun


class RqlTables:
    """Answers from tables in memory: a session at the prompt."""

    def __init__(self, rql, folder):
        home = tempfile.mkdtemp(prefix="rql-bench-")
        env = dict(os.environ, TERM="dumb", HOME=home, XDG_STATE_HOME=home, XDG_CONFIG_HOME=home)
        self.shell = Shell(rql, folder, [], env)
        for name in tables_of(folder):
            self.shell.ask(f"let {name} = load {name}.parquet")

    def run(self, question):
        spent = 0
        for line in statements(question.script):
            line = re.sub(r"load \$dir/(\w+)\.parquet", r"\1", line)
            spent += self.shell.ask(line if line.startswith("let ") else f"let answer = {line}")[1]
        return spent / 1e9


class DuckDB:
    def __init__(self, folder, loaded):
        import duckdb

        self.name = "DuckDB " + duckdb.__version__
        self.connection = duckdb.connect()
        what = "table" if loaded else "view"
        for name, path in tables_of(folder).items():
            self.connection.execute(f"create {what} {name} as select * from read_parquet('{path}')")

    def run(self, question):
        begun = time.perf_counter()
        self.connection.execute(f"create or replace temp table answer as {question.sql}")
        return time.perf_counter() - begun


class Polars:
    def __init__(self, folder, loaded):
        import polars

        self.name = "Polars " + polars.__version__
        frames = {name: polars.scan_parquet(path) for name, path in tables_of(folder).items()}
        self.frames = {name: frame.collect().lazy() for name, frame in frames.items()} if loaded else frames
        self.sql = polars.SQLContext(self.frames)

    def run(self, question):
        begun = time.perf_counter()
        frame = question.polars(self.frames) if question.polars else self.sql.execute(question.sql)
        frame.collect()
        return time.perf_counter() - begun


class ClickHouse:
    def __init__(self, folder, loaded):
        import chdb
        from chdb import session

        self.name = "ClickHouse " + chdb.engine_version
        self.session = session.Session()
        self.session.query("create database b engine = Atomic")
        for name, path in tables_of(folder).items():
            source = f"select * from file('{path}', Parquet)"
            memory = "table b.{0} engine = MergeTree order by tuple() as {1}"
            self.session.query("create " + (memory if loaded else "view b.{0} as {1}").format(name, source))
        self.session.query("use b")

    def run(self, question):
        begun = time.perf_counter()
        self.session.query(question.sql, "Null")
        return time.perf_counter() - begun


class Question:
    def __init__(self, name, script, sql, polars=None):
        self.name, self.script, self.sql, self.polars = name, script, sql, polars


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as file:
        return file.read()


def tpch(folder):
    for number in range(1, 23):
        name = f"q{number:02}"
        yield Question(name, read(TESTS, "tpch", name + ".rql"), read(folder, name + ".sql").strip().rstrip(";"))


def db_benchmark(_):
    from queries import POLARS, SQL

    for name, sql in SQL.items():
        yield Question(name, read(TESTS, "db-benchmark", name + ".rql"), sql, POLARS[name])


def clickbench(folder):
    import duckdb
    from hits_questions import questions

    (rows,) = duckdb.execute(f"select count(*) from '{folder}/hits.parquet'").fetchone()
    for number, (query, sql, _) in enumerate(questions(rows)):
        yield Question(f"q{number:02}", f"load $dir/hits.parquet | {query}", sql)


def start(arguments, folder, loaded):
    contestants = {"rql": (RqlTables if loaded else Rql)(arguments.rql, folder)}
    for peer in (DuckDB, Polars, ClickHouse):
        if peer.__name__ in arguments.without:
            continue
        try:
            contestants[peer.__name__] = peer(folder, loaded)
        except ImportError as error:
            print(f"{peer.__name__} is missing: {error}")
    return contestants


def measure(question, contestants, rounds):
    times, failures = {name: [] for name in contestants}, {}
    for turn in range(rounds + 1):
        for name, contestant in contestants.items():
            if name in failures or sum(times[name]) > PATIENCE:
                continue
            try:
                spent = contestant.run(question)
                if turn > 0 or spent > PATIENCE / 4:
                    times[name].append(spent)
            except ShellError as error:
                failures[name] = str(error)
            except subprocess.CalledProcessError as error:
                failures[name] = error.stderr.decode(errors="replace")
            except Exception as error:  # the peers raise many kinds
                failures[name] = str(error)
    medians = {name: 1e3 * statistics.median(spent) for name, spent in times.items() if spent and name not in failures}
    return medians, failures


def compare(arguments, title, folder, questions, loaded):
    contestants = start(arguments, folder, loaded)
    names = list(contestants)
    print(f"\n{title}, {'tables in memory' if loaded else 'from Parquet'}; ms, medians of {arguments.rounds}")
    print(f"{'':6} {'peer/rql':>18}" + "".join(f" {name:>11}" for name in names), flush=True)
    totals = dict.fromkeys(names, 0.0)
    for question in questions:
        medians, failures = measure(question, contestants, arguments.rounds)
        peers = [(medians[name], name) for name in names[1:] if name in medians]
        ahead = f"{min(peers)[0] / medians['rql']:.2f} {min(peers)[1]}" if peers and "rql" in medians else "-"
        cells = "".join(f" {medians[name]:>11.1f}" if name in medians else f" {'fails':>11}" for name in names)
        print(f"{question.name:6} {ahead:>18}{cells}", flush=True)
        for name, failure in failures.items():
            print(f"    {name}: {' '.join(failure.split())[:160]}")
            totals[name] = float("nan")
        for name, median in medians.items():
            totals[name] += median
    print(f"{'all':6} {'':>18}" + "".join(f" {totals[name]:>11.0f}" for name in names), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rql", default=os.path.join(os.path.dirname(TESTS), "build", "rql"))
    parser.add_argument("--tpch")
    parser.add_argument("--db-benchmark")
    parser.add_argument("--clickbench")
    parser.add_argument("--threads", type=int, help="of everybody; by default all processors")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--questions", default="")
    parser.add_argument("--without", default="")
    parser.add_argument("--only", choices=("files", "memory"))
    arguments = parser.parse_args()
    arguments.rql = os.path.abspath(arguments.rql)
    if arguments.threads:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:arguments.threads])
    print(machine())
    wanted = arguments.questions.split(",") if arguments.questions else None
    sets = (("TPC-H", arguments.tpch, tpch), ("db-benchmark", arguments.db_benchmark, db_benchmark),
            ("ClickBench", arguments.clickbench, clickbench))
    for title, folder, make in sets:
        if folder is None:
            continue
        questions = [question for question in make(folder) if wanted is None or question.name in wanted]
        for loaded in (False, True):
            if questions and arguments.only != ("files" if loaded else "memory"):
                compare(arguments, title, os.path.abspath(folder), questions, loaded)


if __name__ == "__main__":
    main()
