"""Cold starts on question 3, from starting a process to the printed answer: rql with and without its kernel cache, and
other systems. All files are in the page cache."""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 7
QUERY = "load ids.bin | zip amounts.bin | select ids == 42 | sum amounts"
SQL = "select sum(amounts) from t where ids = 42"
NUMPY = "import numpy as n; i, a = n.fromfile('ids.bin', 'i4'), n.fromfile('amounts.bin', 'i4'); print(a[i == 42].sum())"
POLARS = (
    "import numpy as n, polars as p; d = p.DataFrame({k: n.fromfile(k + '.bin', 'i4') for k in ('ids', 'amounts')}); "
    "print(d.lazy().filter(p.col('ids') == 42).select(p.col('amounts').cast(p.Int64).sum()).collect().item())"
)


class Cold:
    def __init__(self, build, folder, root):
        self.build, self.folder, self.root = build, folder, root
        self.table = os.path.join(root, "t.duckdb")
        self.duckdb = os.environ.get("DUCKDB") or shutil.which("duckdb")

    def environment(self, cache):
        env = {key: value for key, value in os.environ.items() if key != "POCL_CACHE_DIR"}
        return env | {"HOME": cache, "XDG_CACHE_HOME": cache}

    def commands(self):
        """The name, the command, and whether caches are cleared before."""
        rql = [os.path.join(self.build, "rql"), "--quiet", "-c", QUERY]
        yield "rql -c, nothing cached", rql, True
        yield "rql -c", rql, False
        yield "rql -c --device host", [*rql, "--device", "host"], False
        yield "C", [os.path.join(self.build, "hand"), "once", ".", "q3"], False
        if self.duckdb:
            self.make_table()
            yield "duckdb -c, own file", [self.duckdb, "-readonly", "-csv", "-noheader", self.table, "-c", SQL], False
        else:
            print("duckdb -c is missing: no duckdb on the path, and none named in DUCKDB")
        for name, module, program in (("python, NumPy", "numpy", NUMPY), ("python, Polars", "polars", POLARS)):
            if subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0:
                yield name, [sys.executable, "-c", program], False
            else:
                print(f"{name} is missing")

    def make_table(self):
        """The columns in a DuckDB file, imported from CSV."""
        csv = os.path.join(self.root, "t.csv")
        rql = [os.path.join(self.build, "rql"), "--quiet", "-c", f"load ids.bin | zip amounts.bin | save '{csv}'"]
        subprocess.run(rql, cwd=self.folder, check=True)
        load = f"create table t as select ids::int as ids, amounts::int as amounts from read_csv('{csv}')"
        subprocess.run([self.duckdb, self.table, "-c", load], check=True, capture_output=True)
        os.remove(csv)

    def run(self, command, empty):
        cache = os.path.join(self.root, "empty" if empty else "kept")
        if empty:
            shutil.rmtree(cache, ignore_errors=True)
        os.makedirs(cache, exist_ok=True)
        begun = time.perf_counter_ns()
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment(cache), capture_output=True, text=True, check=True
        )
        spent = (time.perf_counter_ns() - begun) / 1e6
        if empty:
            time.sleep(2)  # lets background work finish
        return spent, int(done.stdout.strip())


def measure_cold(build, folder, rows):
    print(f"\nquestion 3 as a whole process, {rows:,} rows; milliseconds".replace(",", " "))
    with tempfile.TemporaryDirectory(prefix="rql-cold-") as root:
        cold = Cold(build, folder, root)
        commands = list(cold.commands())
        times = {name: [] for name, _, _ in commands}
        answers = {}
        for turn in range(ROUNDS + 1):  # the first fills the caches
            for name, command, empty in commands:
                spent, answers[name] = cold.run(command, empty)
                if turn > 0:
                    times[name].append(spent)
        if len(set(answers.values())) != 1:
            sys.exit(f"the answers differ: {answers}")
        print(f"{'':24} {'minimum':>9} {'median':>9}")
        for name, each in times.items():
            print(f"{name:24} {min(each):9.1f} {statistics.median(each):9.1f}")
