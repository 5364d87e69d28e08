#!/usr/bin/env python3
"""Each primitive on random columns: rql's tasks, by its own --timing, against NumPy, DuckDB and Polars in the same run.

    bench_primitives.py [--rows N] [--rounds N] [--device D] [NAME...]

Printed is the fastest of the rounds in milliseconds. What rql reads and gives are columns in memory; reading the
command, building kernels and printing are left out, as parsing and planning are for nobody else. DuckDB makes a table
of each result. A peer that is not installed is missing, and says so.
"""

import argparse
import importlib
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RQL = os.environ.get("RQL", os.path.join(TREE, "build", "rql"))
PEERS = ("numpy", "duckdb", "polars")

CROSS = "(at(-1, 0) + at(0, -1) + at(0, 1) + at(1, 0)) / 4"

# Columns: x any int32, k 0..999, f floats, p a permutation of the rows.
# name: rql's pipeline, then NumPy of the columns c, SQL over the table t, Polars of the data frame d and the module pl.
CASES = {
    "map": (
        "load x.i32 | map x / 3 + 1",
        lambda c: c.x // 3 + 1,
        "x // 3 + 1 as r from t",
        lambda d, pl: d.select(pl.col("x") // 3 + 1),
    ),
    "filter sparse": (
        "load x.i32 | select x % 100 == 0",
        lambda c: c.x[c.x % 100 == 0],
        "x from t where x % 100 = 0",
        lambda d, pl: d.select("x").filter(pl.col("x") % 100 == 0),
    ),
    "filter dense": (
        "load x.i32 | select x % 100 != 0",
        lambda c: c.x[c.x % 100 != 0],
        "x from t where x % 100 <> 0",
        lambda d, pl: d.select("x").filter(pl.col("x") % 100 != 0),
    ),
    "scan": (
        "load x.i32 | scan +",
        lambda c: np.cumsum(c.x, dtype=np.int64),
        "sum(x) over (rows unbounded preceding) as r from t",
        lambda d, pl: d.select(pl.col("x").cast(pl.Int64).cum_sum()),
    ),
    "scan floats": (
        "load f.f64 | scan +",
        lambda c: np.cumsum(c.f),
        "sum(f) over (rows unbounded preceding) as r from t",
        lambda d, pl: d.select(pl.col("f").cum_sum()),
    ),
    "scan max": (
        "load x.i32 | scan max",
        lambda c: np.maximum.accumulate(c.x),
        "max(x) over (rows unbounded preceding) as r from t",
        lambda d, pl: d.select(pl.col("x").cum_max()),
    ),
    "fold": (
        "load x.i32 | fold ^",
        lambda c: np.bitwise_xor.reduce(c.x),
        "bit_xor(x) as r from t",
        lambda d, pl: d.select(pl.col("x").bitwise_xor()),
    ),
    "fold function": ("load x.i32 | reduce |a, b| (a + b) & 65535", None, None, None),
    "sum floats": (
        "load f.f64 | sum",
        lambda c: c.f.sum(),
        "sum(f) as r from t",
        lambda d, pl: d.select(pl.col("f").sum()),
    ),
    "sort": ("load x.i32 | sort", lambda c: np.sort(c.x), "x from t order by x", lambda d, pl: d.select("x").sort("x")),
    "sort rows": (
        "load k.i32, x.i32 | sort k, x desc",
        lambda c: np.lexsort((-c.x.astype(np.int64), c.k)),
        "k, x from t order by k, x desc",
        lambda d, pl: d.select("k", "x").sort("k", "x", descending=[False, True]),
    ),
    "sort floats": (
        "load f.f64 | sort",
        lambda c: np.sort(c.f),
        "f from t order by f",
        lambda d, pl: d.select("f").sort("f"),
    ),
    "group dense": (
        "load k.i32, x.i32 | group k: sum(x), count()",
        lambda c: (np.bincount(c.k, c.x), np.bincount(c.k)),
        "k, sum(x), count(*) from t group by k order by k",
        lambda d, pl: d.group_by("k").agg(pl.col("x").cast(pl.Int64).sum(), pl.len()).sort("k"),
    ),
    "group sparse": (
        "load x.i32, k.i32 | group x / 4096: sum(k)",
        lambda c: np.unique(c.x // 4096, return_inverse=True),
        "x // 4096 as r, sum(k) from t group by r order by r",
        lambda d, pl: d.group_by(pl.col("x") // 4096).agg(pl.col("k").cast(pl.Int64).sum()).sort("x"),
    ),
    "distinct": (
        "load k.i32 | distinct",
        lambda c: np.unique(c.k),
        "distinct k from t",
        lambda d, pl: d.select("k").unique(maintain_order=True),
    ),
    "stencil": (
        "load x.i32 | stencil -1..1 else 0: (at(-1) + at(0) + at(1)) / 3",
        lambda c: (c.wide[:-2] + c.wide[1:-1] + c.wide[2:]) // 3,
        "(lag(x::bigint) over () + x::bigint + lead(x) over ()) // 3 as r from t",
        lambda d, pl: d.select((pl.col("x").shift(1).cast(pl.Int64) + pl.col("x") + pl.col("x").shift(-1)) // 3),
    ),
    "stencil 2-D": (
        f"load x.i32 | shape {{rows}} 1000 | stencil [-1..1, -1..1] else 0: {CROSS}",
        lambda c: blur(c.x.reshape(-1, 1000)),
        None,
        None,
    ),
    "gather": (
        "load x.i32 | gather (load p.i32)",
        lambda c: c.x[c.p],
        None,
        lambda d, pl: d.select(pl.col("x").gather(pl.col("p"))),
    ),
    "scatter": ("load x.i32 | scatter (load p.i32)", lambda c: scattered(c.x, c.p), None, None),
    "reverse": (
        "load x.i32 | reverse",
        lambda c: c.x[::-1].copy(),
        None,
        lambda d, pl: d.select(pl.col("x").reverse()),
    ),
    "along rows": (
        "load x.i32 | shape {rows} 1000 | sum along rows",
        lambda c: c.x.reshape(-1, 1000).sum(axis=1, dtype=np.int64),
        None,
        None,
    ),
    "along cols": (
        "load x.i32 | shape {rows} 1000 | sum along cols",
        lambda c: c.x.reshape(-1, 1000).sum(axis=0, dtype=np.int64),
        None,
        None,
    ),
    "hist": (
        "load x.i32 | hist 100",
        lambda c: np.histogram(c.x, 100),
        "histogram(x) as r from (select (x // 42949673) as x from t)",
        lambda d, pl: d["x"].hist(bin_count=100),
    ),
}


def blur(image):
    wide = image.astype(np.int64)
    result = np.zeros_like(wide)
    result[1:-1, 1:-1] = (wide[:-2, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:] + wide[2:, 1:-1]) // 4
    return result


def scattered(values, positions):
    result = np.zeros_like(values)
    result[positions] = values
    return result


class Columns:
    def __init__(self, rows):
        random = np.random.default_rng(42)
        self.x = random.integers(-(2**31), 2**31, rows, dtype=np.int32)
        self.k = random.integers(0, 1000, rows, dtype=np.int32)
        self.f = random.normal(size=rows)
        self.p = random.permutation(rows).astype(np.int32)

    @property
    def wide(self):
        """x, for sums that 32 bits do not hold."""
        return self.x.astype(np.int64)

    def save(self, folder):
        for name in ("x.i32", "k.i32", "f.f64", "p.i32"):
            getattr(self, name[0]).tofile(os.path.join(folder, name))


def milliseconds(function, rounds):
    times = []
    for _ in range(rounds + 1):
        begun = time.perf_counter()
        function()
        times.append((time.perf_counter() - begun) * 1e3)
    return min(times[1:])


def rql_milliseconds(pipeline, folder, rounds, options):
    """The tasks of the fastest round, or what rql says instead."""
    scalar = re.search(r"\| (fold|reduce|sum)[^|]*(\|[^|]*\|[^|]*)?$", pipeline) and "along" not in pipeline
    statement = pipeline if scalar else f"let result = {pipeline}"
    arguments = [RQL, *options, "--timing", *(["-c", statement] * (rounds + 1))]
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip().split("\n")[0]
    times = []
    for report in re.split(r"^total .*$", done.stderr, flags=re.MULTILINE):
        tasks = [float(each) for each in re.findall(r"^(?:kernel|upload|download) +([\d.]+) ms", report, re.MULTILINE)]
        if tasks:
            times.append(sum(tasks))
    return min(times[1:]) if len(times) == rounds + 1 else f"{len(times)} reports for {rounds + 1} rounds"


def load_peers(columns):
    """The peers that are here, each with what a case of it is a function of."""
    peers = {"numpy": columns}
    for name in PEERS[1:]:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if name == "polars":
            peers[name] = module.DataFrame(vars(columns)), module
        else:
            peers[name] = module.connect()
            fill(peers[name], columns)
    return peers


def fill(connection, columns):
    """The columns as a table."""
    connection.register("arrays", {name: values for name, values in vars(columns).items()})
    connection.execute("create table t as select * from arrays")


def peer_milliseconds(name, peer, case, rounds):
    """The fastest round, "-" where the peer has no such primitive, or what it says instead."""
    function = case[1 + PEERS.index(name)]
    if function is None:
        return "-"
    try:
        return measured(name, peer, function, rounds)
    except Exception as error:  # noqa: BLE001 each version has its own
        return f"fails: {error}".split("\n")[0]


def measured(name, peer, function, rounds):
    if name == "numpy":
        return milliseconds(lambda: function(peer), rounds)
    if name == "polars":
        return milliseconds(lambda: function(*peer), rounds)
    return milliseconds(lambda: peer.execute(f"create or replace temp table r as select {function}"), rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000, help="a multiple of 1000")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="auto")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    rows = max(1, arguments.rows // 1000) * 1000
    with tempfile.TemporaryDirectory(prefix="rql-bench-") as folder:
        columns = Columns(rows)
        columns.save(folder)
        peers = load_peers(columns)
        missing = [name for name in PEERS if name not in peers]
        print(f"primitives, {rows:,} rows, device {arguments.device}, milliseconds, fastest of {arguments.rounds}")
        for name in missing:
            print(f"{name} is missing: it is not installed for {sys.executable}")
        print(f"{'':16} {'rql':>10}" + "".join(f" {name:>10}" for name in peers))
        for title, case in CASES.items():
            if arguments.names and not any(title.startswith(name) for name in arguments.names):
                continue
            options = ["--device", arguments.device]
            times = [rql_milliseconds(case[0].format(rows=rows // 1000), folder, arguments.rounds, options)]
            times += [peer_milliseconds(name, peer, case, arguments.rounds) for name, peer in peers.items()]
            cells = [f"{each:.2f}" if isinstance(each, float) else each for each in times]
            print(f"{title:16}" + "".join(f" {cell:>10}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
