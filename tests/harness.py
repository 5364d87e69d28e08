"""Shared by the black-box tests: running rql, counting results, and the columns that scripts read.

Every test program prints a line for each failing test and ends with "NAME: N passed, M failed", which tests/run adds up.
"""

import argparse
import contextlib
import difflib
import glob
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

TESTS = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(TESTS)
RQL = os.path.abspath(os.environ.get("RQL", os.path.join(TREE, "build", "rql")))

# A query prints the same in all modes. RQL_MODES selects some: "host host-kept device unfused auto". In mode auto small inputs may
# never reach a device. RQL_TEST_DEVICE is the number of the device: under `--device gpu` few rows stay on the host.
DEVICE = os.environ.get("RQL_TEST_DEVICE", "1")
ALL_MODES = {
    "host": ["--device", "host"],
    "device": ["--device", DEVICE],
    "unfused": ["--device", DEVICE, "--fusion", "off"],
    "auto": [],
    "host-unfused": ["--device", "host", "--fusion", "off"],
    # Column statistics are used at once, and rows are computed when they are printed.
    "host-kept": ["--device", "host", "--stats", "now", "--defer", "always"],
    # What is larger than almost nothing is divided on the disk.
    "host-spilled": ["--device", "host", "--memory", "4MB"],
    "device-kept": ["--device", DEVICE, "--stats", "now", "--defer", "always"],
}
MODES = {name: ALL_MODES[name] for name in (os.environ.get("RQL_MODES") or "host host-kept device unfused auto").split()}


class Tally:
    """Counts tests and reports failures."""

    def __init__(self, name):
        self.name = name
        self.passed = 0
        self.failed = 0

    def check(self, title, problem):
        """Counts one test, which passed if `problem` is empty."""
        if problem:
            self.failed += 1
            print(f"FAILED {self.name}/{title}")
            print("    " + problem.rstrip("\n").replace("\n", "\n    "), flush=True)
        else:
            self.passed += 1

    def finish(self):
        """Prints the counts; returns the exit status."""
        print(f"{self.name}: {self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0


class Result:
    """The result of running a program; out and err are bytes."""

    def __init__(self, status, out, err):
        self.status = status
        self.out = out
        self.err = err

    def text(self):
        def show(data):
            text = data.decode("utf-8", "backslashreplace")
            return text if len(text) <= 2000 else f"{text[:1000]}\n[...]\n{text[-900:]}"

        return f"status {self.status}\nstdout: {show(self.out)}\nstderr: {show(self.err)}"


def environment(home):
    """An environment without the user's settings. All tests share one kernel cache."""
    kept = (
        "PATH",
        "LD_LIBRARY_PATH",
        "OCL_ICD_VENDORS",
        "POCL_EXTRA_BUILD_FLAGS",
        "POCL_WORK_GROUP_SPECIALIZATION",
        "ASAN_OPTIONS",
        "UBSAN_OPTIONS",
        "LSAN_OPTIONS",
        "RQL_CACHE_DIR",
    )
    env = {name: os.environ[name] for name in kept if name in os.environ}
    cache = os.environ.get("RQL_TEST_CACHE", os.path.join(home, "cache"))
    env.update(
        HOME=home, XDG_STATE_HOME=os.path.join(home, "state"), XDG_CACHE_HOME=cache, TERM="dumb", LC_ALL="C.UTF-8"
    )
    return env


def run(arguments, cwd, home, stdin=b"", timeout=300, stdout=subprocess.PIPE, prefix=()):
    """Runs rql; the status is "timeout" if it does not end in time."""
    command = [*prefix, RQL, *arguments]
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment(home),
            input=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return Result("timeout", late.stdout or b"", late.stderr or b"")
    return Result(done.returncode, done.stdout or b"", done.stderr)


def start(arguments, cwd, home):
    """Starts rql without waiting for its end."""
    pipe = subprocess.PIPE
    command = [RQL, *arguments]
    return subprocess.Popen(command, cwd=cwd, env=environment(home), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe)


def pause(pid):
    """Stops a process, if it has not ended, and waits until each of its threads has stopped: until one has handled the signal the others run on."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        states = []
        for path in glob.glob(f"/proc/{pid}/task/*/stat"):
            with contextlib.suppress(OSError), open(path, encoding="utf-8") as file:
                states.append(file.read().rpartition(")")[2].split()[0])
        if set(states) <= set("TtZX"):
            return
        time.sleep(0.001)
    raise TimeoutError(f"process {pid} does not stop")


def difference(expected, got, what):
    """A unified diff of two texts, empty if they are equal."""
    if expected == got:
        return ""
    lines = difflib.unified_diff(
        expected.splitlines(), got.splitlines(), f"{what} expected", f"{what} got", lineterm=""
    )
    text = "\n".join(list(lines)[:40])
    return text or f"{what}: the same lines, but one lacks its newline: {expected[-40:]!r}, {got[-40:]!r}"


OLD = 1_700_000_000  # a time stamp, in seconds


class Sandbox:
    """A temporary folder: `here` has the small columns, unless it is `bare`; `home` is the home directory."""

    def __init__(self, bare=False):
        self.bare = bare

    def __enter__(self):
        self.root = tempfile.mkdtemp(prefix="rql-test-")
        self.here = os.path.join(self.root, "here")
        self.home = os.path.join(self.root, "home")
        os.makedirs(self.here)
        os.makedirs(self.home)
        if not self.bare:
            make_columns(self.here)
        # rql reads a file anew while it is younger than its time stamp is exact: that would depend on the machine's speed.
        for name in sorted(glob.glob(os.path.join(self.here, "**"), recursive=True)):
            os.utime(name, (OLD, OLD))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.here, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return name


FORMATS = {"i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "f32": "f", "f64": "d"}



def numpy_types(np):
    """NumPy's type for each of FORMATS."""
    return {name: np.dtype(name[0] + str(int(name[1:]) // 8)).type for name in FORMATS}


# The columns that golden scripts read: file name, type, values.
IDS = [42, 7, 42, 444, 0, 42, 666, 42, 7, 222]
AMOUNTS = [100, -50, -20, 222, 444, 0, -222, 7, 30, 111]
INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)
COLUMNS = [
    ("ids.bin", "i32", IDS),
    ("amounts.bin", "i32", AMOUNTS),
    ("a.i8", "i8", [-128, -1, 0, 1, 127]),
    ("b.i16", "i16", [-32768, -1, 0, 1, 32767]),
    ("c.i32", "i32", [-(2**31), -1, 0, 1, 2**31 - 1]),
    ("d.i64", "i64", [INT64_MIN, -1, 0, 1, INT64_MAX]),
    ("e.u8", "u8", [0, 1, 2, 128, 255]),
    ("f.u16", "u16", [0, 1, 2, 32768, 65535]),
    ("g.u32", "u32", [0, 1, 2, 2**31, 2**32 - 1]),
    ("h.f32", "f32", [0.0, -1.5, 0.25, 3.0, 16777216.0]),
    ("i.f64", "f64", [0.0, -1.5, 0.1, 3.0, 1e300]),
    ("odd.f64", "f64", [float("nan"), float("inf"), float("-inf"), 2.5, -0.0]),
    ("empty.i32", "i32", []),
    ("empty.f64", "f64", []),
    ("one.i64", "i64", [9]),
    ("huge.i64", "i64", [INT64_MAX] * 5),
    ("zeros.i32", "i32", [3, 0, -2, 0, 5]),
    ("trades/price.f64", "f64", [1.5, 2.25, 0.5]),
    ("trades/qty.i32", "i32", [10, 20, 30]),
    ("trades/when.i64", "i64", [5000000000, 5000000001, 5000000002]),
]


# Text files that scripts read; some are malformed.
TEXTS = {
    "numbers.txt": "3\n-1\n4\n1\n-5\n",
    "halves.txt": "0.5\n1.5\n-2.25\n",
    "orders.csv": 'id,"price, net",paid\r\n42,1.5,true\r\n7,-2.25,false\r\n42,3,true\r\n',
    "orders.tsv": "id\tqty\n42\t3\n7\t5\n",
    "export.dat": "id,amt\n42,10\n7,-20\n",
    "plain.csv": "1,0.5\n2,1.5\n",
    "notes.csv": 'id,note,amt\n1,"a, b",10\n2,,20\n',
    "hole.csv": "id,amt\n1,10\n2,\n3,30\n",
    "ragged.csv": "id,amt\n1,10\n2,20,200\n3,30\n",
    "quoted.tsv": 'id\tname\tamt\n1\t"of two\nlines"\t10\n',
    "quotes.csv": 'id,amt\n1,"10\n2,20\n',
    "words.csv": "name\nann\nbob\n",
    "rides.csv": "trip_distance,tip_amount,pay\n1.5,0.5,1\n2.5,0,2\n4,1.25,1\n",
    "prices.csv": "price\n2.675\n-2.675\n1.005\n0.500\n",
    "half-pair.jsonl": '{"s": "ok"}\n{"s": "a pair: \\ud83d\\ude00"}\n{"s": "half: \\ud83d"}\n',
    "low-half.jsonl": '{"id": 1, "s": "\\ude00"}\n',
    "nul.jsonl": '{"s": "a\\u0000b"}\n',
    "nothing.csv": "",
    "messy.csv": "time,sym,price,qty,code,open\n2024-01-02T09:30:00,AAPL,185.5,100,1,true\n2024-01-02T09:30:01,MSFT,,50,2,\n"
    "2024-01-03T09:30:01.25,,370.25,NA,A17,false\n2024-01-04 00:00:00,NA,186,25,4,TRUE\n",
    "euro.csv": "day;shop;amount;rate\n2024-01-31;Ulm;3;1,5\n2024-02-29;;-;2,25\n",
    "ids.csv": "zip,account,zip\n10001,12345678901234567890,1\n00501,7,2\n",
    "rows.csv": "AAPL,1.5,2024-01-02\nMSFT,2,2024-01-03\n",
    "gaps.csv": "reading\n1\n\n3\n\n",
    "events.jsonl": '{"at":"2024-01-31T09:30:00Z","kind":"open","tags":["a"],"user":{"id":1}}\n'
    '{"kind":"clo\\u0073e","n":2,"at":null}\n{"n":2.5,"kind":"","at":"2024-01-31T11:30:00+02:00"}\n',
    "nested.jsonl": '{"id":1,"commit":{"rev":"a","$type":"x","record":{"langs":["en","pt"],"n":1}},"tags":["a",null,"\\u0062"]}\n'
    '{"id":2,"commit":{"rev":"b","record":{"langs":[],"n":2.5}},"tags":[],"late":{"by":{"name":"J"}}}\n'
    '{"id":3,"commit":null,"mix":{"a":1},"tags":null,"list":[1,"s",{"o":[1]}]}\n'
    '{"id":4,"commit":{"record":{}},"mix":7,"both":[1, 2],"items":[{"sku":"x","n":1},{"n":2,"sub":{"k":[true]}},null]}\n'
    '{"id":5,"mix":"s","both":3,"grid":[[1,2],[3],[],null],"items":[]}\n',
    "array.json": '[\n  {\n    "id": 1,\n    "at": {"day": "2024-01-31", "v": [ 1 , 2.5 ]}\n  },\n  {"id": 2, "s": "a, } ]"}\n]\n',
    "objects.json": '{\n  "id": 1,\n  "v": [\n    1\n  ]\n}\n{\n  "id": 2,\n  "s": "q"\n}\n',
    "cut.json": '[{"id":1},\n{"id":2}',
    "comma.json": '[{"id":1},\n{"id":2},\n]',
    "no-comma.json": '[{"id":1}\n{"id":2}]',
    "number.json": '[{"id":1},\n7]',
    "empty.json": "[ ]",
    "twice.jsonl": '{"a":{"b":1}}\n{"a":{"b":1,"b":2}}\n',
    "broken.jsonl": '{"a":{"b":1}}\n{"a":{"b":1]}\n',
    "latin.csv": "id,city\n1,K\xf6ln\n",
    "typo.csv": "id,amt\n1,10\n2,2O\n3,30\n",
    "no-gzip.csv.gz": "id\n1\n",
    "no-array.npy": "id\n1\n",
}


def make_columns(folder):
    for name, kind, values in COLUMNS:
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(struct.pack(f"<{len(values)}{FORMATS[kind]}", *values))
    with open(os.path.join(folder, "seven.i32"), "wb") as file:
        file.write(b"\1\2\3\4\5\6\7")  # not a multiple of the element size
    with open(os.path.join(folder, "plain.dat"), "wb") as file:
        file.write(struct.pack("<4i", 1, 2, 3, 4))
    for name, text in TEXTS.items():
        with open(os.path.join(folder, name), "w", encoding="latin-1", newline="") as file:
            file.write(text)


def run_groups(tally, groups):
    """Runs these methods, or those named on the command line; returns the exit status."""
    for group in groups:
        if len(sys.argv) < 2 or group.__name__ in sys.argv[1:]:
            group()
    return tally.finish()


def random_cases(name, count, check):
    """Checks `count` random cases (--count, --seed, --modes) by check(rng, sandbox, mode, number), which returns what is
    wrong, or an empty text. Returns the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--modes", default="host")
    options = parser.parse_args()
    tally = Tally(name)
    with Sandbox() as sandbox:
        for number in range(options.count):
            rng = random.Random(f"{options.seed} {number}")
            mode = rng.choice(options.modes.split(","))
            tally.check(f"seed {options.seed}, case {number}", check(rng, sandbox, mode, number))
    return tally.finish()


def main_program(function):
    """Runs main in a sandbox and exits with its status."""
    if not os.access(RQL, os.X_OK):
        sys.exit(f"{RQL} is not there: build it first, or name it in RQL")
    with Sandbox() as sandbox:
        status = function(sandbox)
    sys.exit(status)
