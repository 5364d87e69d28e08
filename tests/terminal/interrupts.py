#!/usr/bin/env python3
"""Ctrl-C and the progress line at a terminal: long queries of many kinds are stopped at random moments.

    interrupts.py [--moments 200] [--rows 20000000] [--memory 256MB] [--seed S]

With --memory what exceeds it is spilled, and what has been spilled is freed. Each time from Ctrl-C to the next prompt is measured: the slowest of each kind is printed, and is at most LIMIT seconds
(--limit). In the same runs the percentage of the progress line never falls, and no time left is 0.0."""

import argparse
import fcntl
import os
import pty
import random
import re
import select
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402

PROMPT = b"rql> "
PERCENT = re.compile(rb"\r\x1b\[K *(\d+) %[^\r]*")
PATIENCE = 120

# t has the rows of --rows: k small, a and b spread, f float, s text; u has one row for each thousand of t.
KINDS = [
    "t | sort a | sum f",
    "t | sort f desc, b",
    "t | sort s, a",
    "t | describe",
    "t | group a: sum(f), count()",
    "t | group s: median(f)",
    "t | group k, b: sum(f)",
    "t | distinct | count",
    "t | pick a | distinct | count",
    "t | join u on a | sum f",
    "t | left join u on b | count",
    "t | derive r = rank(f) | sum r",
    "t | derive m = mean(f) over -1000..0 | sum m",
    "t | derive m = median(f) over -100..0 | max m",
    "t | per k: derive c = sum(f) over ..0",
    "t | map f | scan +",
    "t | median f",
    "t | hist f 100",
    "t | top 100000 by f",
    "t | select sin(f) * cos(f) + tan(f) > exp(f - 1000000) | map erf(f) + tanh(f) + sqrt(f) | sum",
]
SETUP = [
    "range 1..{rows} | map x % 7 as k, x * 7919 % 9999991 as a, x * 104729 % 999983 as b, "
    'float(x * 31 % 1000003) / 3 as f, x * 13 % 5 == 0 ? "alpha" : x % 3 == 0 ? "beta" : "gamma" as s | save t.parquet',
    "range 1..{small} | map x * 1000 as a, x as b, x as n | save u.parquet",
    "let t = load t.parquet | map k, a, b, f, s",
    "let u = load u.parquet",
]


def take_terminal():
    """In the child: its standard input becomes its controlling terminal, from which Ctrl-C is a signal."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Session:
    """rql at a terminal of its own; `output` is all that it has written since the last line was entered."""

    def __init__(self, sandbox, options):
        self.master, slave = pty.openpty()
        env = harness.environment(sandbox.home) | {"TERM": "xterm", "NO_COLOR": "1", "RQL_PAGER": ""}
        command = [harness.RQL, "--device", "host", "--no-init", *options]
        self.process = subprocess.Popen(
            command, cwd=sandbox.here, env=env, stdin=slave, stdout=slave, stderr=slave, preexec_fn=take_terminal
        )
        os.close(slave)
        self.output = b""
        self.wait()

    def read(self, seconds):
        """Reads what comes within this time; False if there is nothing."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        self.output += os.read(self.master, 1 << 16)
        return True

    def wait(self):
        """Until there is a prompt after the last line entered."""
        until = time.monotonic() + PATIENCE
        while not re.search(rb"(?:^|[\r\n]|\x1b\[K|\x1b\[\?2004h)rql> $", self.output):
            if time.monotonic() > until:
                raise TimeoutError(self.output[-500:])
            self.read(0.01)

    def enter(self, line):
        self.output = b""
        os.write(self.master, line.encode() + b"\n")

    def settle(self, seconds):
        """Reads for so long; False if the prompt is back before."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.read(until - time.monotonic())
            if self.output.endswith(PROMPT) and b"\n" in self.output:
                return False
        return True

    def interrupt(self):
        """The seconds from Ctrl-C to the prompt."""
        began = time.monotonic()
        os.write(self.master, b"\x03")
        mark = len(self.output)
        until = began + PATIENCE
        while PROMPT not in self.output[mark:]:
            if time.monotonic() > until:
                raise TimeoutError(self.output[-500:])
            self.read(0.01)
        return time.monotonic() - began

    def stop(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def progress_problem(output):
    """A percentage that is less than one before, or a time left of 0.0 s."""
    shown = [(int(found[1]), found[0]) for found in PERCENT.finditer(output)]
    for (before, _), (after, line) in zip(shown, shown[1:]):
        if after < before:
            return f"progress falls from {before} % to {after} %: {line!r}"
    zero = [line for _, line in shown if b" 0.0 s left" in line]
    return f"no time is left, but it goes on: {zero[0]!r}" if zero else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=200)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--memory")
    parser.add_argument("--limit", type=float, default=0.1)
    options = parser.parse_args()
    choice = random.Random(options.seed)
    tally = harness.Tally("interrupts")
    slowest = {}
    with harness.Sandbox() as sandbox:
        session = Session(sandbox, ["--memory", options.memory] if options.memory else [])
        for line in SETUP:
            session.enter(line.format(rows=options.rows, small=options.rows // 1000))
            session.wait()
            if b"error" in session.output:
                raise SystemExit(session.output.decode())
        for number in range(options.moments):
            kind = KINDS[number % len(KINDS)]
            session.enter(kind)
            running = session.settle(choice.random() ** 2 * 3 + 0.01)
            took = session.interrupt() if running else 0.0
            slowest[kind] = max(slowest.get(kind, 0.0), took)
            problem = progress_problem(session.output)
            if took > options.limit:
                problem = f"{took:.3f} s from Ctrl-C to the prompt\n{session.output[-300:]!r}"
            tally.check(f"{kind} (seed {options.seed}, {number})", problem)
            session.settle(0.02)
        session.stop()
    for kind in KINDS:
        print(f"{1000 * slowest.get(kind, 0.0):7.1f} ms  {kind}")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
