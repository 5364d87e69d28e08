#!/usr/bin/env python3
"""Faults outside rql: drivers slow to load, compilers that crash, kernel caches that are truncated, unusable or shared by
several processes."""

import glob
import os
import shutil
import signal
import stat
import subprocess
import time

import harness

MAIN = "load ids.bin | zip amounts.bin | select ids==42 && amounts>0 | snds | sum"
SLOW_SECONDS = 6


class Drivers:
    def __init__(self, sandbox, tally):
        self.sandbox = sandbox
        self.tally = tally
        self.caches = 0

    def fresh(self):
        """Switches to an empty cache; returns rql's folder in it."""
        self.caches += 1
        os.environ["RQL_TEST_CACHE"] = os.path.join(self.sandbox.root, f"cache-{self.caches}")
        return os.path.join(os.environ["RQL_TEST_CACHE"], "rql")

    def start(self, *arguments):
        return harness.start(arguments, self.sandbox.here, self.sandbox.home)

    def run(self, *arguments, **more):
        return harness.run(arguments, self.sandbox.here, self.sandbox.home, **more)

    def answers(self, title, result, notes=0):
        """Checks for the right answer and the number of notes."""
        told = result.err.decode().splitlines()
        good = (result.status, result.out) == (0, b"107\n") and len([line for line in told if "note:" in line]) == notes
        self.tally.check(title, "" if good else f"expected {notes} notes\n{result.text()}")

    def cache(self):
        """Cache entries are private to the user, damaged ones are replaced, and no other file is left."""
        folder = self.fresh()
        self.answers("cold", self.run("--device", "1", "-c", MAIN))
        entries = glob.glob(f"{folder}/programs/*")
        modes = [stat.S_IMODE(os.stat(path).st_mode) for path in (folder, f"{folder}/programs", *entries)]
        good = len(entries) == 1 and modes == [0o700, 0o700, 0o600]
        self.tally.check("one-private-entry", "" if good else f"{entries}: {modes}")
        left = wait_for(lambda: not glob.glob(f"{folder}/pocl.*"))
        self.tally.check("no-directories-left", "" if left else f"{os.listdir(folder)}")
        if not entries:
            return
        whole = open(entries[0], "rb").read()
        damages = {
            "truncated": whole[: len(whole) // 2],
            "empty": b"",
            "foreign": b"#!/bin/sh\nexit 1\n" * 200,
            "flipped": whole[:5000] + bytes([whole[5000] ^ 4]) + whole[5001:],
        }
        for name, damage in damages.items():
            with open(entries[0], "wb") as file:
                file.write(damage)
            self.answers(f"cache-{name}", self.run("--device", "1", "-c", MAIN))
            size = os.path.getsize(entries[0]) if os.path.exists(entries[0]) else 0
            self.tally.check(f"cache-{name}-is-mended", "" if size > len(whole) // 2 else f"{size} bytes")

    def unusable(self):
        """A file in place of the cache folder: queries run, with one note."""
        folder = self.fresh()
        os.makedirs(os.path.dirname(folder))
        with open(folder, "wb"):
            pass
        self.answers("unusable-cache", self.run("--device", "1", "-c", MAIN), 1)

    def full(self):
        """Disks that fill when the programs are cached: the driver would end the process at their launch. While another
        disk has room its files go there; then the evaluator answers, with one note."""
        folder = self.fresh()
        space = os.path.join(self.sandbox.root, "full")
        os.makedirs(space)
        os.makedirs(folder)
        script = (
            f'mount -t tmpfs -o size=2m one "{folder}" && mount -t tmpfs -o size=2m two "{space}" || exit 77; '
            f'export TMPDIR="{space}"; "$@" && for disk in "{folder}" "{space}"; '
            'do dd if=/dev/zero of="$disk/fill" bs=4k 2>/dev/null; "$@" || exit; done'
        )
        prefix = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh")
        result = self.run("--device", "1", "-c", MAIN, "-c", "load ids.bin | select ids > 1 | count", prefix=prefix)
        if result.status == 77 or b"unshare" in result.err:
            print("drivers: no full disk tested, nothing can be mounted here")
            return
        told = result.err.decode().splitlines()
        good = (result.status, result.out) == (0, b"107\n9\n" * 3) and len(told) == 1 and "no space left" in told[0]
        self.tally.check("full-disk", "" if good else result.text())

    def several(self):
        """Several processes need the same new program at once."""
        folder = self.fresh()
        for number, process in enumerate([self.start("--device", "1", "-c", MAIN) for _ in range(3)]):
            out, err = process.communicate(timeout=300)
            self.answers(f"at-once-{number + 1}", harness.Result(process.returncode, out, err))
        entries = os.listdir(f"{folder}/programs")
        self.tally.check("at-once-one-entry", "" if len(entries) == 1 else str(entries))

    def killed(self):
        """The compiler is killed as soon as it starts: the evaluator answers, with at most one note."""
        folder = self.fresh()
        process = self.start("--device", "1", "-c", MAIN)
        killed = wait_for(lambda: compilers(folder))
        for compiler in killed:
            os.kill(compiler, signal.SIGABRT)
        out, err = process.communicate(timeout=300)
        result = harness.Result(process.returncode, out, err)
        good = killed and (result.status, result.out) == (0, b"107\n") and result.err.count(b"note:") == 1
        self.tally.check("compiler-killed", "" if good else f"killed: {killed}\n{result.text()}")
        self.answers("compiler-lives-again", self.run("--device", "1", "-c", MAIN))

    def stopped(self):
        """A compiler that is stopped holds its lock: others wait for some seconds, then build beside it."""
        folder = self.fresh()
        process = self.start("--device", "1", "-c", MAIN)
        seen = wait_for(lambda: compilers(folder))
        for compiler in seen:
            harness.pause(compiler)
        began = time.monotonic()
        self.answers("compiler-stopped", self.run("--device", "1", "-c", MAIN))
        took = time.monotonic() - began
        self.tally.check("compiler-stopped-not-waited-for", "" if seen and took < 30 else f"seen: {seen}, {took:.1f} s")
        for compiler in seen:
            os.kill(compiler, signal.SIGKILL)
        process.communicate(timeout=300)

    def leaves(self):
        """Ctrl-C ends the wait for a program; the compiler continues, and the next process finds the program."""
        folder = self.fresh()
        process = self.start("--device", "1", "-c", MAIN)
        seen = wait_for(lambda: compilers(folder))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        result = harness.Result(process.returncode, out, err)
        good = seen and (result.status, result.out) == (-signal.SIGINT, b"")
        self.tally.check("left-while-building", "" if good else f"seen: {seen}\n{result.text()}")
        kept = wait_for(lambda: not compilers(folder) and glob.glob(f"{folder}/programs/*.program"))
        self.tally.check("left-while-building-and-kept", "" if kept else f"{os.listdir(folder)}")

    def slow(self):
        """Only a query that names a device waits for a driver that is slow to load."""
        vendors = slow_driver(self.sandbox)
        if not vendors:
            return
        os.environ["OCL_ICD_VENDORS"] = vendors
        began = time.monotonic()
        result = self.run("-c", MAIN, "-c", "1 +", "-c", "2")
        took = time.monotonic() - began
        good = result.status == 1 and result.out == b"107\n" and took < SLOW_SECONDS / 2
        self.tally.check("slow-driver-not-waited-for", "" if good else f"{took:.1f} s\n{result.text()}")
        began = time.monotonic()
        process = self.start("--device", "1", "-c", MAIN)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        took = time.monotonic() - began
        good = process.returncode == -signal.SIGINT and not out and took < SLOW_SECONDS / 2
        self.tally.check("slow-driver-interrupted", "" if good else f"{took:.1f} s, {process.returncode}, {out}, {err}")
        del os.environ["OCL_ICD_VENDORS"]


def wait_for(holds, seconds=60):
    """Polls holds() until it is true; returns its last value."""
    end = time.monotonic() + seconds
    while True:
        held = holds()
        if held or time.monotonic() > end:
            return held
        time.sleep(0.002)


def compilers(folder):
    """The compiler processes that use a cache."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                words = file.read().split(b"\0")
            if words[1:2] == [b"--compile-programs"] and folder.encode() in words:
                found.append(int(path.split("/")[2]))
        except OSError:
            continue  # the process has ended
    return found


def slow_driver(sandbox):
    """A folder for OCL_ICD_VENDORS with a driver that takes SLOW_SECONDS to load and has no platform; None without a C
    compiler."""
    compiler = shutil.which(os.environ.get("CC", "cc").split()[-1]) or shutil.which("gcc")
    if not compiler:
        print("drivers: no slow driver tested, there is no C compiler")
        return None
    folder = os.path.join(sandbox.root, "slow-vendors")
    os.makedirs(folder, exist_ok=True)
    source, library = os.path.join(folder, "slow.c"), os.path.join(folder, "slow.so")
    with open(source, "w", encoding="ascii") as file:
        file.write(
            "#include <unistd.h>\n"
            f"__attribute__((constructor)) static void load(void) {{ for (int k = 0; k < {SLOW_SECONDS}; k++) sleep(1); }}\n"
        )
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    with open(os.path.join(folder, "slow.icd"), "w", encoding="ascii") as file:
        file.write(library + "\n")
    return folder


def main(sandbox):
    tally = harness.Tally("drivers")
    drivers = Drivers(sandbox, tally)
    groups = [drivers.slow]
    if "device" in harness.MODES:
        groups += [drivers.cache, drivers.unusable, drivers.full, drivers.several, drivers.killed, drivers.stopped, drivers.leaves]
    return harness.run_groups(tally, groups)


if __name__ == "__main__":
    harness.main_program(main)
