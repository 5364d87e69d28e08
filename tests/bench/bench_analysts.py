#!/usr/bin/env python3
"""What analysts ask of columns in memory: texts of numbers and times and back, regular expressions, deviations, gaps, windows of medians,
joins by intervals. rql, DuckDB and Polars in one run.

    bench_analysts.py --build DIR [--rows N] [--rounds N] [--threads N] [TASK...]

All columns of a task are read before. rql computes each task once in a new process, since it keeps results; the others compute it once
before. Results are materialised: by `let`, as a table of DuckDB, as a frame of Polars. Medians of processor time of all threads and,
in parentheses, of time, in milliseconds; the last column is rql's share of the faster of both."""

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import time

TOTAL = re.compile(r"^total +([0-9.]+) ms", re.MULTILINE)
PARTS = r"^https://[^/]*/([a-z]+)/([0-9]+)"

# name, columns, rql after `t | `, SQL after `select`, Polars of the frame t
TASKS = (
    ("text(n)", "n", "map text(n)", "n::varchar from t", lambda t, pl: t.select(pl.col("n").cast(pl.String))),
    ("text(time, f)", "time", 'map text(time, "%d/%m/%Y %H:%M")', "strftime(time, '%d/%m/%Y %H:%M') from t",
     lambda t, pl: t.select(pl.col("time").dt.strftime("%d/%m/%Y %H:%M"))),
    ("format", "small n", 'map format("{}-{:05}", small, n)', "format('{}-{:05}', small, n) from t",
     lambda t, pl: t.select(pl.format("{}-{}", "small", pl.col("n").cast(pl.String).str.zfill(5)))),
    ("date(s, f)", "day_text", 'map date(day_text, "%d/%m/%Y")', "strptime(day_text, '%d/%m/%Y')::date from t",
     lambda t, pl: t.select(pl.col("day_text").str.to_date("%d/%m/%Y"))),
    ("timestamp(s, f)", "time_text", 'map timestamp(time_text, "%d/%m/%Y %H:%M:%S")', "strptime(time_text, '%d/%m/%Y %H:%M:%S') from t",
     lambda t, pl: t.select(pl.col("time_text").str.to_datetime("%d/%m/%Y %H:%M:%S"))),
    ("extract", "url", f"map extract(url, '{PARTS}', 2)", f"regexp_extract(url, '{PARTS}', 2) from t",
     lambda t, pl: t.select(pl.col("url").str.extract(PARTS, 2))),
    ("extract, each row another", "line", "map extract(line, '([0-9]+)$', 1)", "regexp_extract(line, '([0-9]+)$', 1) from t",
     lambda t, pl: t.select(pl.col("line").str.extract("([0-9]+)$", 1))),
    ("replace_regex", "url", r"map replace_regex(url, '/([a-z]+)/', '<\1>')", r"regexp_replace(url, '/([a-z]+)/', '<\1>', 'g') from t",
     lambda t, pl: t.select(pl.col("url").str.replace_all("/([a-z]+)/", "<$1>"))),
    ("replace", "line", "map replace(line, 'row', 'line')", "replace(line, 'row', 'line') from t",
     lambda t, pl: t.select(pl.col("line").str.replace_all("row", "line", literal=True))),
    ("stddev of integers", "n", "group: stddev(n)", "stddev(n) from t", lambda t, pl: t.select(pl.col("n").std())),
    ("stddev of small integers", "small", "group: stddev(small)", "stddev(small) from t", lambda t, pl: t.select(pl.col("small").std())),
    ("stddev of floats", "f", "group: stddev(f)", "stddev(f) from t", lambda t, pl: t.select(pl.col("f").std())),
    ("stddev, missing values", "gap", "group: stddev(gap)", "stddev(gap) from t", lambda t, pl: t.select(pl.col("gap").std())),
    ("fill", "gap", "map fill(gap)", "last_value(gap ignore nulls) over (rows unbounded preceding) from t",
     lambda t, pl: t.select(pl.col("gap").forward_fill())),
    ("join by an interval", "a", "join i on a >= lo, a < hi | map a, w", "a, w from t join i on a >= lo and a < hi",
     lambda t, pl, i: t.lazy().select("a").join_where(i.lazy(), pl.col("a") >= pl.col("lo"), pl.col("a") < pl.col("hi")).select("a", "w").collect()),
    ("median of a window of 20", "f", "map median(f) over -19..0", "median(f) over (rows 19 preceding) from t",
     lambda t, pl: t.select(pl.col("f").rolling_median(20, min_samples=1))),
    ("median of a window of 1000", "f", "map median(f) over -999..0", "median(f) over (rows 999 preceding) from t",
     lambda t, pl: t.select(pl.col("f").rolling_median(1000, min_samples=1))),
)


def tables(rows, pl, np):
    """The table, and intervals that do not overlap."""
    rng = np.random.default_rng(1)
    second = np.timedelta64(1, "s")
    start = np.datetime64("2024-01-01T00:00:00", "us")
    time_of = start + np.sort(rng.integers(0, 366 * 86400, rows)) * second + rng.integers(0, 10**6, rows) * np.timedelta64(1, "us")
    price = np.round(rng.uniform(10, 500, rows), 2)
    places = [f"https://example.org/{part}/{k:05d}?q={k * 7 % 1000}" for part in ("shop", "news", "blog", "docs") for k in range(25000)]
    table = pl.DataFrame({
        "time": time_of,
        "day": (start + rng.integers(0, 366, rows) * np.timedelta64(1, "D")).astype("datetime64[D]"),
        "n": rng.integers(-10**9, 10**9, rows),
        "small": rng.integers(0, 1000, rows),
        "f": rng.normal(size=rows),
        "a": rng.integers(0, 10**7, rows),
        "url": pl.Series(places).gather(pl.Series(rng.integers(0, len(places), rows))),
        "gap": pl.Series(price).zip_with(pl.Series(rng.random(rows) >= 0.2), pl.Series([None], dtype=pl.Float64)),
    }).with_columns(
        day_text=pl.col("day").dt.strftime("%d/%m/%Y"),
        time_text=pl.col("time").dt.strftime("%d/%m/%Y %H:%M:%S"),
        line=pl.format("row {} of user {}", "n", "a"),
    )
    edges = np.sort(rng.choice(10**7, 20_000, replace=False)).reshape(-1, 2)
    return table, pl.DataFrame({"lo": edges[:, 0], "hi": edges[:, 1], "w": np.arange(len(edges))})


class Measured:
    """Processor time and time of each round, in milliseconds."""

    def __init__(self):
        self.cpu, self.wall = [], []

    def call(self, work):
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        self.cpu.append(1000 * (time.process_time() - cpu))
        self.wall.append(1000 * (time.perf_counter() - wall))

    def medians(self):
        return statistics.median(self.cpu), statistics.median(self.wall)


class Rql:
    def __init__(self, options, folder):
        self.command = [os.path.join(options.build, "rql"), "--device", "host", "--timing", "--no-init"]
        self.names = [f"let t = load {folder}/t.parquet", f"let i = load {folder}/i.parquet"]

    def run(self, statements):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        arguments = [part for text in self.names + statements for part in ("-c", text)]
        out = subprocess.run(self.command + arguments, check=True, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime), [float(t) for t in TOTAL.findall(out.stderr)]

    def call(self, measured, columns, text):
        read = [f"let r = t | group: {', '.join(f'max({c}), count({c})' for c in columns.split())}", "i | max w"]
        without, _ = self.run(read)
        cpu, times = self.run(read + [f"let s = t | {text}"])
        measured.cpu.append(max(cpu - without, 0))
        measured.wall.append(times[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("tasks", nargs="*")
    options = parser.parse_args()
    os.environ["POLARS_MAX_THREADS"] = str(options.threads)
    import duckdb, numpy as np, polars as pl  # pylint: disable=import-outside-toplevel,multiple-imports

    folder = os.path.join(options.build, "bench")
    os.makedirs(folder, exist_ok=True)
    paths = [os.path.join(folder, name) for name in ("t.parquet", "i.parquet")]
    table, intervals = tables(options.rows, pl, np)
    for path, frame in zip(paths, (table, intervals)):
        frame.write_parquet(path)
    connection = duckdb.connect(config={"threads": options.threads})
    for name, path in zip("ti", paths):
        connection.execute(f"create table {name} as from '{path}'")
    rql = Rql(options, folder)
    print(f"{options.rows:,} rows, {options.threads} threads, DuckDB {duckdb.__version__}, Polars {pl.__version__}")
    print(f"{'':28}{'rql':>16}{'DuckDB':>16}{'Polars':>16}  share")
    worst = 0
    for name, columns, text, sql, of_polars in TASKS:
        if options.tasks and not any(part in name for part in options.tasks):
            continue
        tables_of = (table, pl, intervals)[: of_polars.__code__.co_argcount]
        mine, theirs, other = Measured(), Measured(), Measured()
        for _ in range(options.rounds):
            rql.call(mine, columns, text)
            theirs.call(lambda: connection.execute(f"create or replace temp table r as select {sql}"))
            other.call(lambda: of_polars(*tables_of))
        cells = [m.medians() for m in (mine, theirs, other)]
        share = cells[0][1] / min(cells[1][1], cells[2][1])
        worst = max(worst, share)
        print(f"{name:28}" + "".join(f"{f'{cpu:.0f} ({wall:.0f})':>16}" for cpu, wall in cells) + f"  {share:.2f}", flush=True)
    print(f"largest share: {worst:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
