#!/usr/bin/env python3
"""One peer in a process of its own: `peers.py NAME FOLDER` loads the columns in FOLDER and then answers lines on its
standard input, one JSON value for each:

    run TASK      runs the task and gives its time in nanoseconds, measured here
    result TASK   what the last run made: {"rows", "sums", "at"}, or {"scalar"}; see Shell.result in shell.py

The first answer, unasked for, is the peer's version, or what is missing. Each peer makes of a task what its users would
keep: NumPy an array, Polars a frame, DuckDB and ClickHouse a table or Arrow's, whichever they are quicker at.
"""

import importlib
import json
import os
import sys
import time

from tasks import TASKS

SKIPPED = "-"


class Columns:
    """The columns as NumPy arrays, the files mapped into memory. Those that no task of the run needs may be missing."""

    def __init__(self, folder, np):
        self.np = np
        for file in sorted(os.listdir(folder)):
            name, ending = os.path.splitext(file)
            if ending in (".bin", ".i32", ".f64"):
                dtype = np.float64 if ending == ".f64" else np.int32
                setattr(self, name, np.fromfile(os.path.join(folder, file), dtype))

    def arrays(self):
        return {name: values for name, values in vars(self).items() if name != "np"}

    def sums(self):
        return self.np.bincount(self.ids, self.amounts).astype(self.np.int64)

    def top(self, count):
        rows = self.np.argpartition(self.x, -count)[-count:]
        rows = rows[self.np.argsort(-self.x[rows])]
        return self.ids[rows], self.x[rows]

    def blur(self):
        wide = self.x.astype(self.np.int64)
        result = self.np.zeros_like(wide)
        result[1:-1] = (wide[:-2] + wide[1:-1] + wide[2:]) // 3
        return result

    def scattered(self):
        result = self.np.zeros_like(self.x)
        result[self.p] = self.x
        return result


def describe(np, arrays, ordered=True):
    """A summary of a relation, to compare peers."""
    arrays = [np.ascontiguousarray(values) for values in arrays]
    rows = len(arrays[0])
    whole = all(values.dtype.kind in "iub" for values in arrays)
    sums = [int(values.astype(np.int64).sum()) % 2**64 for values in arrays] if whole else None
    places = (0, rows // 3, rows - 1) if rows and ordered and whole else ()
    return {"rows": rows, "sums": sums, "at": [[int(values[k]) for k in places] for values in arrays]}


class NumPy:
    def __init__(self, columns):
        self.columns = columns
        self.version = columns.np.__version__

    def has(self, task):
        return task.numpy is not None

    def run(self, task):
        self.made = None
        self.made = task.numpy(self.columns)

    def result(self, task):
        if task.scalar:
            return {"scalar": self.made.item() if hasattr(self.made, "item") else self.made}
        return describe(self.columns.np, self.made if isinstance(self.made, tuple) else [self.made])


class CuPy(NumPy):
    """NumPy's operations on a GPU that has the columns; waits for the device."""

    def __init__(self, columns):
        self.numpy = columns.np
        self.module = importlib.import_module("cupy")
        for name, values in columns.arrays().items():
            setattr(columns, name, self.module.asarray(values))
        columns.np = self.module
        super().__init__(columns)

    def run(self, task):
        super().run(task)
        if task.scalar:
            self.made = self.made.item()
        self.module.cuda.Device().synchronize()

    def result(self, task):
        if task.scalar:
            return {"scalar": self.made}
        made = self.made if isinstance(self.made, tuple) else (self.made,)
        return describe(self.numpy, [self.module.asnumpy(values) for values in made])


class Polars:
    def __init__(self, columns):
        self.module = importlib.import_module("polars")
        self.version = self.module.__version__
        self.columns = columns
        self.frame = self.module.DataFrame(columns.arrays()).lazy()

    def has(self, task):
        return task.polars is not None

    def run(self, task):
        self.made = None
        self.made = task.polars(self.frame, self.module).collect()

    def result(self, task):
        if task.scalar:
            return {"scalar": self.made.item()}
        return describe(self.columns.np, [self.made[name].to_numpy() for name in self.made.columns])


class Sql:
    """The fastest of several ways to build a relation, chosen in the first run of each task."""

    ordered = True

    def __init__(self, columns):
        self.columns = columns
        self.quickest = {}

    def query(self, task):
        return f"select {task.sql}"

    def run(self, task):
        if task.scalar:
            self.made = self.scalar(self.query(task))
            return
        if task.name not in self.quickest:
            self.quickest[task.name] = min(self.ways(), key=lambda way: self.time_of(way, task))
        self.quickest[task.name](self.query(task))

    def time_of(self, way, task):
        times = []
        for _ in range(2):
            begun = time.perf_counter_ns()
            way(self.query(task))
            times.append(time.perf_counter_ns() - begun)
        return min(times)

    def result(self, task):
        if task.scalar:
            return {"scalar": self.made}
        return describe(self.columns.np, self.arrays(self.query(task)), self.ordered or "order by" in task.sql)


class DuckDB(Sql):
    def __init__(self, columns):
        super().__init__(columns)
        module = importlib.import_module("duckdb")
        self.version = module.__version__
        self.connection = module.connect()
        self.connection.register("arrays", columns.arrays())
        self.connection.execute("create table t as select * from arrays")

    def has(self, task):
        return task.sql is not None

    def scalar(self, query):
        return self.connection.execute(query).fetchone()[0]

    def as_table(self, query):
        self.connection.execute(f"create or replace temp table r as {query}")

    def as_arrow(self, query):
        self.arrow = None
        self.arrow = self.connection.execute(query).to_arrow_table()

    def ways(self):
        return [self.as_table, self.as_arrow]

    def arrays(self, query):
        return list(self.connection.execute(query).fetchnumpy().values())


class ClickHouse(Sql):
    ordered = False

    def __init__(self, columns):
        super().__init__(columns)
        session = importlib.import_module("chdb.session")
        self.version = importlib.import_module("chdb").__version__
        self.session = session.Session()
        types = {"i": "Int32", "f": "Float64"}
        names = ", ".join(f"{name} {types[values.dtype.kind]}" for name, values in columns.arrays().items())
        self.session.query(f"create table t ({names}) engine = Memory")
        self.fill()

    def fill(self):
        global arrays  # DuckDB looks it up by name
        arrays = importlib.import_module("pandas").DataFrame(self.columns.arrays())
        names = ", ".join(self.columns.arrays())
        self.session.query(f"insert into t ({names}) select {names} from Python(arrays)")
        del arrays

    def has(self, task):
        return bool(task.sql if task.clickhouse is None else task.clickhouse)

    def query(self, task):
        return f"select {task.clickhouse or task.sql}"

    def scalar(self, query):
        return json.loads(self.session.query(query, "JSONCompactEachRow").bytes())[0]

    def as_table(self, query):
        self.session.query("drop table if exists r")
        self.session.query(f"create table r engine = Memory as {query}")

    def as_arrow(self, query):
        self.arrow = None
        self.arrow = self.session.query(query, "ArrowTable")

    def ways(self):
        return [self.as_table, self.as_arrow]

    def arrays(self, query):
        self.as_arrow(query)
        return [column.to_numpy() for column in self.arrow.columns]


PEERS = {"NumPy": NumPy, "CuPy": CuPy, "Polars": Polars, "DuckDB": DuckDB, "ClickHouse": ClickHouse}


def answer(peer, command, task):
    if not peer.has(task):
        return SKIPPED
    if command == "result":
        return peer.result(task)
    begun = time.perf_counter_ns()
    peer.run(task)
    return time.perf_counter_ns() - begun


def main():
    name, folder = sys.argv[1:]
    try:
        peer = PEERS[name](Columns(folder, importlib.import_module("numpy")))
    except ImportError as error:
        print(json.dumps({"missing": str(error)}))
        return
    print(json.dumps({"version": peer.version}), flush=True)
    by_name = {task.name: task for task in TASKS}
    for line in sys.stdin:
        command, task = line.split()
        try:
            said = answer(peer, command, by_name[task])
        except Exception as error:  # noqa: BLE001 any exception of the peer
            said = {"fails": str(error).strip().split("\n")[0][:200]}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
