#!/usr/bin/env python3
"""What exceeds the memory limit is spilled: the same answers as without a limit, and as NumPy's; no process is killed in
a control group of little memory; what neither memory nor disk holds is refused."""

import gzip
import os
import random
import subprocess
import sys
import time

import numpy as np

import harness

ROWS, LONG, MIXED = 3_000_000, 90_000_000, 20_000_000
GROUP = "/sys/fs/cgroup/memory/rql-test"
GROUP_BYTES = 256 << 20


def pipelines(rng):
    """Pipelines over a, b, x of `t.npz`, each with what NumPy says, or None."""
    k, m = rng.randrange(1, 1000), rng.randrange(2, 50)
    return [
        (f"select a % {m} != 0 | sort x | skip {ROWS // 2}", None),
        (f"map a * {k} as y, b as b | sort y | tail 5", None),
        (f"sort -a | take {k} | sum a", lambda a, b, x: int(np.sort(a)[::-1][:k].sum())),
        (f"sort b | derive r = row | select r % {m} == 0 | sum a", lambda a, b, x: int(a[np.argsort(b, kind='stable')][::m].sum())),
        ("group b: sum(a), count(), max(x) | sort b | tail 5", None),
        (f"derive g = a % {k * 1000} | pick g | distinct | count", lambda a, b, x: len(np.unique(a % (k * 1000)))),
        ("pick a | scan + | tail 1", None),
        (f"select x > 0.{m:02d} | derive y = x * {k} | sort y | sum b", lambda a, b, x: int(b[x > float(f'0.{m:02d}')].sum())),
        (f"pick a, b | join (load t.npz | select a % {m} == 1 | pick a, x as z) on a | count", None),
        ("derive q = b // 7 | per q: (sort a | derive m = median(x) over ..0) | group: max(m), sum(a)", None),
        (f"median a + {k}", None),
    ]


class Box:
    """Runs rql, in a control group if there is one."""

    def __init__(self, sandbox, tally):
        self.sandbox, self.tally = sandbox, tally

    def run(self, *arguments, group=None, temporary=None, stdin=subprocess.DEVNULL):
        command = [harness.RQL, "--no-init", "--device", "host", *arguments]
        if group:
            command = ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh", *command]
        env = harness.environment(self.sandbox.home)
        if temporary:
            env["TMPDIR"] = temporary
        return subprocess.run(command, cwd=self.sandbox.here, env=env, capture_output=True, text=True, stdin=stdin, timeout=600, check=False)

    def check(self, title, expected, *arguments, **how):
        done = self.run(*arguments, **how)
        problem = "" if (done.returncode, done.stdout) == (0, expected) else f"status {done.returncode}: {done.stdout}{done.stderr}, not {expected}"
        self.tally.check(title, problem)

    def refuses(self, title, said, *arguments, **how):
        done = self.run(*arguments, **how)
        message = " ".join(done.stderr.split())
        self.tally.check(title, "" if done.returncode == 1 and all(part in message for part in said) else f"status {done.returncode}: {done.stdout}{done.stderr}")

    def survives(self, title, expected, said, *arguments, **how):
        """It is answered, or refused with this message: threads and their memory decide which."""
        done = self.run(*arguments, **how)
        good = (done.returncode, done.stdout) == (0, expected) or (done.returncode == 1 and said in " ".join(done.stderr.split()))
        self.tally.check(title, "" if good else f"status {done.returncode}: {done.stdout}{done.stderr}")


def open_group():
    """A control group of little memory, or None where there is none to be had."""
    try:
        os.makedirs(GROUP, exist_ok=True)
        for name in ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"):
            if os.path.exists(f"{GROUP}/{name}"):
                with open(f"{GROUP}/{name}", "w", encoding="ascii") as file:
                    file.write(str(GROUP_BYTES))
        return GROUP
    except OSError:
        return None


def main(sandbox):
    tally = harness.Tally("memory")
    rng = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    numbers = np.random.default_rng(rng.randrange(1 << 32))
    a = numbers.permutation(ROWS).astype(np.int64)
    b = numbers.integers(0, ROWS // 3, ROWS, dtype=np.int32)
    x = numbers.random(ROWS)
    np.savez(sandbox.path("t.npz"), a=a, b=b, x=x)
    np.arange(LONG, dtype=np.int32).tofile(sandbox.path("long.i32"))
    box = Box(sandbox, tally)
    for text, expected in pipelines(rng):
        query = f"load t.npz | {text}"
        free = box.run("-c", query)
        tally.check(query, "" if free.returncode == 0 and (not expected or free.stdout.strip() == str(expected(a, b, x))) else f"{free.stdout}{free.stderr}")
        for limit in ("16MB", "64MB", f"{rng.randrange(20, 200)}MB"):
            box.check(f"{query}, {limit}", free.stdout, "--memory", limit, "-c", query)

    # What is kept under a name is spilled too, and read again.
    last = LONG - 1
    box.check("let", f"{LONG * last}\n{last * 2}\n", "--memory", "64MB", "-c", "let y = load long.i32 | map long * 2 as y; y | sum; y | skip " + str(last))

    # So is what the exact evaluator holds to find where a row fails.
    most = 2**63 // (ROWS - 2)  # only the largest exceeds it
    for text in (f"map a * {most}", f"sort x | map a * {most} | sum", f"select a * {most} > 5 | sort x"):
        row = int(np.argmax(a[np.argsort(x)] if text.startswith("sort") else a))
        box.refuses(f"{text}, 4MB", ["does not fit in 64 bits", f"row {row}"], "--memory", "4MB", "-c", f"load t.npz | {text}")

    # Texts that a filter looks at once are never all in memory.
    beginning = "every text begins with these words, so that all of them are long: "
    made = box.run("-c", f'load t.npz | derive s = a % 3 == 0 ? missing : "{beginning}" + text(a) + "/" + text(b) | save texts.parquet')
    tally.check("texts", made.stderr if made.returncode else "")
    digits = a.astype(str)
    present = a % 3 != 0
    begins, seven = present & np.char.startswith(digits, "77"), present & np.char.startswith(digits, "7")
    texts = (('s like "%: 77%"', begins), (f's == "{beginning}76/{b[a == 76][0]}"', a == 76), ('s like "%: 7%" && a % 2 == 0', seven & (a % 2 == 0)),
             ('s not like "%: 77%"', present & ~begins), ('s like "%nowhere%"', a < 0))
    for condition, rows in texts:
        expected = f"{rows.sum()}\t{a[rows].sum()}\n"
        query = f"load texts.parquet | select {condition} | group : count() as n, sum(a) as s"
        for limit in ("24MB", "64MB", "4GB"):
            box.check(f"{query}, {limit}", expected, "--memory", limit, "-c", query)
        longest = max((len(f"{beginning}{i}/{k}") for i, k in zip(a[rows], b[rows])), default=-1)
        box.check(condition, f"{longest}\n", "--memory", "24MB", "-c", f"load texts.parquet | select {condition} | map len(s) | reduce max from -1")

    # What is kept of files gives way before anything is spilled.
    box.run("-c", "load t.npz | save kept.parquet")
    time.sleep(1)  # of a file that has just been written nothing is kept
    lines = ".set stats off\nload kept.parquet | sum a\n.cache\nload t.npz | map a * 3 as y, x * 2.0 as z | sort z | skip 5 | sum y\n.cache"
    free, less = (box.run(*limit, "-c", lines).stdout for limit in ((), ("--memory", "60MB")))
    kept = [int(shown.splitlines()[-1].split()[0]) for shown in (free, less)]
    tally.check("kept of files", "" if kept[0] == 3 and kept[1] < 3 and free.split()[0] == less.split()[0] else free + less)

    # Refused before it starts, with the room that there is, or why there is none.
    sandbox.write("file", b"")
    box.run("-c", "load t.npz | save t.parquet")
    for directory, said in (("/nowhere", "`/nowhere`, for temporary files, does not exist"),
                            (sandbox.path("file"), "for temporary files, is no directory"),
                            ("/dev/shm", "`/dev/shm`, for temporary files, is in memory itself")):
        box.refuses(directory, [f"{LONG} rows of 8 bytes exceed the 0.064 GB of memory", said],
                    "--memory", "64MB", "-c", "let y = load long.i32 | map float(long) as y", temporary=directory)
        for limit, query, short in (("16MB", "load t.parquet | sort b, a | tail 1", "to load `t.parquet`"),
                                    ("32MB", "load t.npz | sort b, a | map x | tail 1", f"for {ROWS} rows")):
            box.refuses(f"{directory}, {query}", [f"not enough memory {short}, and `{directory}`, for temporary files, {said.split(', ')[-1]}",
                                                  "`.set temp DIRECTORY` names another"], "--memory", limit, "-c", query, temporary=directory)
    numbers.permutation(MIXED).astype(np.int32).tofile(sandbox.path("mixed.i32"))
    box.refuses("group", [f"not enough memory for {MIXED} rows", "`/dev/shm`, for temporary files, is in memory itself", "`.set temp DIRECTORY` names another"],
                "--memory", "64MB", "-c", "load mixed.i32 | group mixed: count() as c | sum c", temporary="/dev/shm")
    box.refuses("list", ["this needs at least", "MB of memory that cannot be spilled, and", "of the 16 MB of `memory` are free", "`.set memory"],
                "--memory", "16MB", "-c", "load t.npz | group: list(a) as s | map len(s)")
    box.refuses("another directory", ["`/dev/shm`, for temporary files, is in memory itself"], "--memory", "16MB", "-c",
                "let x = load mixed.i32 | derive b = mixed * 7 | sort b\n.set temp /dev/shm\nlet y = x | sort mixed\nx | sum b")
    box.refuses("no such directory", ["invalid value for `temp`: `/nowhere` does not exist"], "-c", ".set temp /nowhere")
    box.refuses("no directory", ["is no directory"], "-c", f".set temp {sandbox.path('file')}")
    tally.check("a size too small", "" if "which is 1MB or more, as 512MB or 2GB" in box.run("--memory", "100KB", "-c", "1").stderr else "not told")
    for text, said in (("sort x", "unless they are in order"), ("group a, b: sum(x)", "unless their groups are few"),
                       ("pick a | distinct", "unless few are distinct")):
        told = box.run("--memory", "64MB", "-c", f"explain load t.npz | {text}").stdout
        free = box.run("-c", f"explain load t.npz | {text}").stdout
        tally.check(f"explain {text}", "" if f"of rows are divided on the disk, {said}" in told and "disk" not in free else told + free)
    shown = box.run("-c", ".set temp /tmp\n.set memory 1.5GB\n.set temp\n.set memory").stdout
    tally.check("settings", "" if "/tmp" in shown and "1500MB" in shown else shown)

    group = open_group()
    if group:
        with gzip.open(sandbox.path("bomb.u8.gz"), "wb", compresslevel=1) as file:
            for _ in range(60):
                file.write(bytes(10_000_000))
        box.check("gzip", "600000000\n", "-c", "load bomb.u8.gz | count", group=group)
        with subprocess.Popen(["cat", sandbox.path("long.i32")], stdout=subprocess.PIPE) as cat:
            box.check("pipe", f"{LONG * last // 2}\n", "-c", "load - i32 | sum", group=group, stdin=cat.stdout)
        box.check("sort", "1\n2\n", "-c", f"load long.i32 | map {LONG} - long as y | sort y | take 2", group=group)
        with open(sandbox.path("texts.csv"), "w", encoding="ascii") as file:
            file.write("id,name\n")
            file.writelines(f"{k},number {k * 7919 % 3_000_017} of the list\n" for k in range(3_000_000))
        box.survives("texts", "0\tnumber 0 of the list\n", "not enough memory to load `texts.csv`", "-c", "load texts.csv | sort name | take 1", group=group)
        os.rmdir(group)
    return tally.finish()


if __name__ == "__main__":
    harness.main_program(main)
