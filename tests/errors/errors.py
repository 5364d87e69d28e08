#!/usr/bin/env python3
"""Bad input that a script in a file cannot show: files and limits of the system, huge and broken text, broken output.

What every case asks: the exit status (not a signal), one message that says what and where, no control byte in it,
nothing on standard output, and nothing half-written. Errors of the language itself are scripts in this folder, which
tests/golden.py runs.
"""

import contextlib
import os
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402

# Drops root's right to read and write every file.
UNPRIVILEGED = (
    ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all") if os.getuid() == 0 else ()
)
MODES = {name: options for name, options in harness.MODES.items() if name in ("host", "device")}
ERROR = re.compile(r"(?:^|: )error: ", re.MULTILINE)


def told(result, *words, status=1, place=True, out=b"", errors=1):
    """What is wrong with the telling of an error, or an empty string."""
    wrong = []
    text = result.err.decode("utf-8", "replace")
    if result.status != status:
        wrong.append(f"status should be {status}")
    if result.out != out:
        wrong.append(f"stdout should be {out[:60]!r}")
    if errors is not None and len(ERROR.findall(text)) != errors:
        wrong.append(f"{len(ERROR.findall(text))} error messages, expected {errors}")
    if place and not re.search(r"^ *\| *\^~*$", text, re.MULTILINE):
        wrong.append("no caret")
    if len(result.err) > 16000:
        wrong.append(f"{len(result.err)} bytes of message")
    wrong += [f"does not say {word!r}" for word in words if word.lower() not in text.lower()]
    if re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", result.err):
        wrong.append("a control byte in stderr")
    if "\ufffd" in text:
        wrong.append("stderr is not UTF-8")
    return "\n".join([*wrong, result.text()]) if wrong else ""


def answered(result, out):
    """What is wrong with a run that should have ended well."""
    return "" if (result.status, result.out, result.err) == (0, out, b"") else f"expected {out[:60]!r}\n{result.text()}"


class Cases:
    def __init__(self, sandbox, tally):
        self.sandbox = sandbox
        self.tally = tally

    def run(self, *arguments, mode="host", **more):
        return harness.run([*harness.ALL_MODES[mode], *arguments], self.sandbox.here, self.sandbox.home, **more)

    def query(self, text, **more):
        return self.run("-c", text, **more)

    def script(self, data, **more):
        self.sandbox.write("script.rql", data)
        return self.run("script.rql", **more)

    def check(self, title, problem):
        self.tally.check(title, problem)

    def files(self):
        """Every way a file can fail to be a column."""
        self.sandbox.write("secret.i32", b"\0\0\0\0")
        os.chmod(self.sandbox.path("secret.i32"), 0)
        os.mkdir(self.sandbox.path("nothing"))
        os.symlink("loop.i32", self.sandbox.path("loop.i32"))
        for title, query, words in [
            ("missing", "load missing.i32", ["missing.i32", "no such file"]),
            ("missing-near", "load amount.bin | sum", ["amount.bin"]),
            ("part-of-an-element", "load seven.i32", ["seven.i32", "7", "4"]),
            ("own-output", "load /dev/stdout u8", ["/dev/stdout", "output only"]),
            ("symlink-loop", "load loop.i32", ["loop.i32"]),
            ("device", "load '/dev/zero' u8".replace("'", '"'), ["/dev/zero"]),
            ("empty-directory", "load nothing/", ["nothing"]),
            ("directory-as-file", 'load "trades.i32"', ["trades.i32", "directory"]),
            ("long-name", f"load {'d/' * 3000}x.i32", ["long"]),
        ]:
            if title == "directory-as-file":
                os.mkdir(self.sandbox.path("trades.i32"))
            self.check(f"file-{title}", told(self.query(query, timeout=20), *words))
        self.check(
            "file-unreadable", told(self.query("load secret.i32", prefix=UNPRIVILEGED), "secret.i32", "permission")
        )
        self.check("file-control-bytes", told(self.query('load "\x1b[31mred\x07.i32"'), "^[", "^G"))
        self.check("file-not-utf8", told(self.script(b'load "\xff\xfe.i32"'), "no such file"))

    def truncated(self):
        """A file cut off while a query reads it: stopped with its map in place, cut, and let go on."""
        if not os.path.exists("/proc/self/maps"):
            print("errors: truncation is not tested, /proc is not mounted")
            return
        size = 1 << 30
        for mode in MODES:
            for left in (0, 4096 * 1000 + 1):
                path = self.sandbox.path("big.u8")
                with open(path, "wb") as file:
                    file.truncate(size)
                command = [
                    harness.RQL,
                    *harness.ALL_MODES[mode],
                    "-c",
                    "load big.u8 | map x * x + row as y | select y % 3 == 1 | sum",
                ]
                with subprocess.Popen(
                    command,
                    cwd=self.sandbox.here,
                    env=harness.environment(self.sandbox.home),
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                ) as process:
                    mapped = False
                    while not mapped and process.poll() is None:
                        with contextlib.suppress(OSError), open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
                            mapped = "big.u8" in maps.read()
                    harness.pause(process.pid)
                    os.truncate(path, left)
                    process.send_signal(signal.SIGCONT)
                    out, err = process.communicate(timeout=300)
                problem = told(harness.Result(process.returncode, out, err), "big.u8", place=False)
                self.check(
                    f"truncated-to-{left} ({mode})", problem if mapped else "the query ended before it mapped the file"
                )
                os.remove(path)

    def long_text(self):
        """Text of any size and depth ends in an answer or a clear error, and soon."""
        deep = 10_000
        for title, text, words in [
            ("identifier-of-10-MB", "a" * 10_000_000, ["255"]),
            ("digits-10-MB", "1" * 10_000_000, ["64 bits"]),
            ("sum-of-10-MB", "1" + "+1" * 5_000_000, ["5000"]),
            ("spaces-and-rubbish-10-MB", " " * 10_000_000 + "@", []),
            ("list-of-10-MB", "[" + "1," * 5_000_000, []),
            ("path-of-10-MB", "load /" + "p" * 10_000_000, ["long"]),
            ("string-of-10-MB", 'load "' + "p" * 10_000_000, []),
            ("100000-stages", "load ids.bin" + "| take 1" * 100_000, ["50000", "stage"]),
            ("10000-parentheses", "(" * deep + "1" + ")" * deep, ["200"]),
            ("10000-open-parentheses", "(" * deep, ["200"]),
            ("10000-nested-pipelines", "range 1..2" + "| zip (range 1..2" * deep + ")" * deep, ["200"]),
            ("10000-calls", "abs(" * deep + "1" + ")" * deep, ["200"]),
            ("10000-minus", "-" * deep + "1", ["200"]),
            ("10000-not", "!" * deep + "1", ["200"]),
            ("10000-not-words", "not " * deep + "1", ["200"]),
            ("10000-conditionals", "1 ? " * deep + "1" + " : 0" * deep, ["200"]),
            ("10000-else", "1 ? 1 : " * deep + "0", None),
            ("10000-indices", "a[" * deep + "0" + "]" * deep, ["200"]),
        ]:
            begun = time.monotonic()
            result = self.script(text.encode(), timeout=120)
            # Chains that a parser may take flat, answering, or refuse.
            problem = told(result, *(words or [])) if words is not None or result.status else ""
            seconds = time.monotonic() - begun
            self.check(title, problem or (f"took {seconds:.0f} s" if seconds > 60 else ""))
        self.check("10-MB-on-stdin", told(self.run(stdin=b"a" * 10_000_000), "255"))
        for title, text, out in [
            ("comment-of-10-MB", "#" + "x" * 10_000_000 + "\n1 + 1", b"2\n"),
            ("spaces-10-MB", "1" + " " * 10_000_000 + "+ 1", b"2\n"),
            ("lines-10-MB", "\n" * 10_000_000 + "1 + 1", b"2\n"),
            ("150-parentheses", "(" * 150 + "1" + ")" * 150, b"1\n"),
            ("150-minus", "-" * 150 + "1", b"1\n"),
            ("1000-additions", "1" + "+1" * 999, b"1000\n"),
            ("identifier-of-255", f"load ids.bin as {'n' * 255} | count {'n' * 255} == 42", b"4\n"),
            ("2000-stages", "load ids.bin" + "| select x == 42 | map x" * 1000 + "| count", b"4\n"),
            ("list-of-100000", "[" + "1," * 100_000 + "1] | sum", b"100001\n"),
        ]:
            self.check(title, answered(self.script(text.encode(), timeout=120), out))
        self.check(
            "50000-stages",
            answered(self.script(b"load ids.bin" + b"| take 9" * 49_999 + b"| count", timeout=120), b"9\n"),
        )

    def broken_text(self):
        """Bytes that are not text are reported, and never printed raw."""
        for title, data, words in [
            ("nul-byte", b"load ids.bin | co\0unt", []),
            ("nul-only", b"\0", []),
            ("nul-in-string", b'load "ids\0.bin"', []),
            ("invalid-utf8", b"load ids.bin | \xff\xfe", []),
            ("cut-utf8", b"load ids.bin | map \xe2\x82", []),
            ("overlong-utf8", b"load ids.bin | map \xc0\xaf + 1", []),
            ("surrogate", b"load ids.bin | map \xed\xa0\x80", []),
            ("escape", b"load ids.bin | \x1b]0;title", ["^["]),
            ("c1-control", "load ids.bin | \u009b31m".encode(), []),
            ("escape-in-name", b"load ids.bin, amounts.bin | select `\x1b[2J` == 1", ["^["]),
            ("bell-in-string", b'load "\x07\x08.bin"', ["^G"]),
            ("delete", b"load ids.bin | \x7f", []),
        ]:
            self.check(title, told(self.script(data), *words))
        self.check("crlf-lines", answered(self.script(b"load ids.bin |\r\n  count\r\n1 + 1\r\n"), b"10\n2\n"))
        self.check("bytes-in-a-comment", answered(self.script(b"# \0\xff\x1b\n1 + 1\n"), b"2\n"))
        self.check("byte-order-mark", answered(self.script(b"\xef\xbb\xbf1 + 1\n"), b"2\n"))
        self.check("no-last-newline", answered(self.script(b"1 + 1"), b"2\n"))
        self.check("empty-script", answered(self.script(b""), b""))
        self.check("only-a-comment", answered(self.script(b"# nothing"), b""))
        noise = bytes((i * 37 + i * i // 7) % 256 for i in range(200_000))
        result = self.script(noise, timeout=60)
        self.check("noise", told(result, errors=None))

    def save(self):
        """save replaces the whole file or leaves the old one, and leaves no temporary file."""
        here = self.sandbox.here
        old = struct.pack("<3i", 1, 2, 3)
        self.sandbox.write("old.i32", old)
        self.sandbox.write("old.i8", old)
        closed = os.path.join(here, "closed")
        os.mkdir(closed)
        with open(os.path.join(closed, "old.i32"), "wb") as file:
            file.write(old)
        os.chmod(closed, 0o555)
        os.mkfifo(self.sandbox.path("pipe.i32"))
        os.mkdir(self.sandbox.path("folder.i32"))
        for title, query, words in [
            ("unwritable-folder", "load ids.bin | save closed/old.i32", ["closed/old.i32", "permission"]),
            ("unwritable-new", "load ids.bin | save closed/new.i32", ["closed/new.i32", "permission"]),
            ("no-such-folder", "load ids.bin | save nowhere/new.i32", ["nowhere/new.i32"]),
            ("onto-a-folder", "load ids.bin | save folder.i32", ["folder.i32", "directory"]),
            ("onto-a-fifo", "load ids.bin | save pipe.i32", ["pipe.i32"]),
            ("does-not-fit", "load ids.bin | save old.i8", ["444", "row 3"]),
            ("query-fails", "load zeros.i32 | map 10 / x | save old.i32", ["row 1"]),
            ("unknown-ending", "load ids.bin | save old.what", [".what"]),
            ("two-columns-in-one", "load ids.bin, amounts.bin | save old.i32", []),
            ("float-to-int", "load h.f32 | save old.i32", []),
        ]:
            for mode in MODES:
                before = snapshot(here)
                result = self.query(query, mode=mode, prefix=UNPRIVILEGED, timeout=60)
                problem = told(result, *words)
                after = snapshot(here)
                if after != before:
                    problem += f"\nthe folder has changed: {set(after.items()) ^ set(before.items())}"
                self.check(f"save-{title} ({mode})", problem)
        os.chmod(closed, 0o755)

    def full_disk(self):
        """A full disk: a tiny file system if one can be mounted, and a limit on file sizes."""
        old = struct.pack("<3i", 1, 2, 3)
        folder = tempfile.mkdtemp(prefix="small-", dir=self.sandbox.root)
        mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder]
        mounted = os.getuid() == 0 and subprocess.run(mount, stderr=subprocess.DEVNULL, check=False).returncode == 0
        try:
            for title, prefix in [("mounted", ()), ("limited", ("prlimit", "--fsize=16384"))]:
                if title == "mounted" and not mounted:
                    continue
                for name in ("old.i64", "old.tsv"):
                    path = os.path.join(folder, name)
                    with open(path, "wb") as file:
                        file.write(old)
                    result = self.query(f'range 1..100000 | save "{path}"', prefix=prefix, timeout=60)
                    with open(path, "rb") as file:
                        kept = file.read()
                    problem = told(result, name, "space" if title == "mounted" else "large")
                    if kept != old:
                        problem += "\nthe old file is gone"
                    if os.listdir(folder) != [name]:
                        problem += f"\nleft behind: {os.listdir(folder)}"
                    self.check(f"full-disk-{title}-{name}", problem)
                    shutil.rmtree(path, ignore_errors=True)
                    for rest in os.listdir(folder):
                        os.remove(os.path.join(folder, rest))
        finally:
            if mounted:
                subprocess.run(["umount", folder], check=False)

    def broken_output(self):
        """An answer that cannot be written is an error; a closed pipe is not."""
        with open("/dev/full", "wb") as full:
            for query in ("1 + 1", "range 1..1000000"):
                result = self.query(query, stdout=full)
                self.check(f"stdout-full: {query}", told(result, "space", place=False, errors=None))
        closing = 'exec "$0" "$@" >&-'
        result = harness.run(
            ["--device", "host", "-c", "1 + 1"], self.sandbox.here, self.sandbox.home, prefix=("sh", "-c", closing)
        )
        self.check("stdout-closed", told(result, "output", place=False, errors=None))
        for descriptor in ("2>&-", "0<&-"):
            result = harness.run(
                ["--device", "host", "-c", "1 + 1"],
                self.sandbox.here,
                self.sandbox.home,
                prefix=("sh", "-c", f'exec "$0" "$@" {descriptor}'),
            )
            self.check(f"closed {descriptor}", answered(result, b"2\n"))
        result = harness.run(
            ["--device", "host", "-c", "bogus bogus"],
            self.sandbox.here,
            self.sandbox.home,
            prefix=("sh", "-c", 'exec "$0" "$@" 2>&-'),
        )
        self.check("error-with-closed-stderr", "" if (result.status, result.out) == (1, b"") else result.text())
        with subprocess.Popen(
            [harness.RQL, "--device", "host", "-c", "range 1..10000000"],
            cwd=self.sandbox.here,
            env=harness.environment(self.sandbox.home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            first = process.stdout.readline()
            process.stdout.close()
            err = process.stderr.read()
            status = process.wait(timeout=60)
        quiet = first == b"1\n" and not err and status in (0, 1, -signal.SIGPIPE, 128 + signal.SIGPIPE)
        self.check("reader-leaves", "" if quiet else harness.Result(status, first, err).text())

    def signals(self):
        """A signal soon ends a long query with that signal; the file to be replaced stays."""
        self.sandbox.write("kept.i64", b"12345678")
        query = "range 1..4000000000000 | map (x ^ x >> 3) % 7 as y | select y == 1 | count"
        for mode, options in MODES.items():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                for text in (query, "range 1..4000000000000 | select x % 1000003 == 1 | save kept.i64"):
                    with subprocess.Popen(
                        [harness.RQL, *options, "-c", text],
                        cwd=self.sandbox.here,
                        env=harness.environment(self.sandbox.home),
                        stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE,
                    ) as process:
                        time.sleep(1)
                        running = process.poll() is None
                        process.send_signal(number)
                        begun = time.monotonic()
                        try:
                            out, err = process.communicate(timeout=30)
                        except subprocess.TimeoutExpired:
                            process.kill()
                            out, err = process.communicate()
                        seconds = time.monotonic() - begun
                    result = harness.Result(process.returncode, out, err)
                    with open(self.sandbox.path("kept.i64"), "rb") as file:
                        kept = file.read() == b"12345678"
                    good = running and process.returncode == -number and not out and seconds < 10 and kept
                    problem = f"running: {running}, ended after {seconds:.1f} s, file kept: {kept}\n{result.text()}"
                    title = f"{number.name}-{'save' if 'save' in text else 'query'} ({mode})"
                    self.check(title, "" if good else problem)
        left = [name for name in os.listdir(self.sandbox.here) if "kept" in name]
        self.check("nothing-left-behind", "" if left == ["kept.i64"] else str(left))

    def usage(self):
        """Errors of the command line exit with status 2, errors of the script's file with 1 or 2."""
        for title, arguments, word in [
            ("unknown-option", ["--devise", "host"], "--device"),
            ("unknown-letter", ["-z"], "-z"),
            ("missing-value", ["-c"], "value"),
            ("bad-device", ["--device", "toaster", "-c", "1"], "toaster"),
            ("bad-format", ["--format", "xml", "-c", "1"], "xml"),
            ("no-such-device", ["--device", "77", "-c", "range 1..3 | sum"], "77"),
        ]:
            result = self.run(*arguments, timeout=60)
            wrong = result.status != (1 if title == "no-such-device" else 2) or result.out
            self.check(f"usage-{title}", result.text() if wrong or word.encode() not in result.err else "")
        os.mkdir(self.sandbox.path("folder.rql"))
        self.sandbox.write("secret.rql", b"1")
        os.chmod(self.sandbox.path("secret.rql"), 0)
        for script, word in [("none.rql", b"none.rql"), ("folder.rql", b"directory"), ("secret.rql", b"ermission")]:
            result = self.run(script, prefix=UNPRIVILEGED)
            good = result.status in (1, 2) and not result.out and word in result.err
            self.check(f"script-{script}", "" if good else result.text())

    def all_reported(self):
        """All errors of a script are reported before its first statement runs."""
        text = b"load ids.bin | save before.i32\nload ids.bin | bogus\n1 +* 2\nload ids.bin, amounts.bin | sum nosuch\n"
        result = self.script(text)
        problem = told(result, "script.rql:2:", "script.rql:3:", "script.rql:4:", errors=3)
        if os.path.exists(self.sandbox.path("before.i32")):
            problem += "\nthe first statement ran"
        self.check("all-errors-reported", problem)
        result = self.script(b"1 + 1\nload zeros.i32 | map 10 / x\n2 + 2\n")
        self.check("script-stops-at-the-first-that-fails", told(result, "script.rql:2:", out=b"2\n"))


def snapshot(folder):
    """The kind and content of every path below a folder."""
    found = {}
    for parent, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = os.path.join(parent, name)
            mode = os.lstat(path).st_mode
            content = b""
            if stat.S_ISREG(mode) and mode & 0o400:
                with open(path, "rb") as file:
                    content = file.read()
            found[path] = (stat.S_IFMT(mode), content)
    return found


def main(sandbox):
    tally = harness.Tally("errors")
    cases = Cases(sandbox, tally)
    groups = [
        cases.files,
        cases.truncated,
        cases.long_text,
        cases.broken_text,
        cases.save,
        cases.full_disk,
        cases.broken_output,
        cases.signals,
        cases.usage,
        cases.all_reported,
    ]
    return harness.run_groups(tally, groups)


if __name__ == "__main__":
    harness.main_program(main)
