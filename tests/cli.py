#!/usr/bin/env python3
"""The command line: -c, standard input, options, output formats, dot commands, timing, saved tables, and the kernel
cache."""

import gzip
import json
import json
import os
import re
import signal
import threading
import time

import harness

MAIN = "load ids.bin | zip amounts.bin | select ids==42 && amounts>0 | snds | sum"


class CommandLine:
    def __init__(self, sandbox, tally):
        self.sandbox = sandbox
        self.tally = tally

    def run(self, *arguments, **more):
        return harness.run(arguments, self.sandbox.here, self.sandbox.home, **more)

    def prints(self, title, expected, *arguments, **more):
        """Checks for success, this stdout and an empty stderr."""
        result = self.run(*arguments, **more)
        good = (result.status, result.out, result.err) == (0, expected.encode(), b"")
        self.tally.check(title, "" if good else f"expected {expected!r}\n{result.text()}")

    def says(self, title, arguments, pattern, where="err", status=0, **more):
        """Checks that a line of stdout or stderr matches."""
        result = self.run(*arguments, **more)
        text = getattr(result, where).decode("utf-8", "replace")
        good = result.status == status and re.search(pattern, text, re.MULTILINE)
        self.tally.check(title, "" if good else f"expected {pattern!r} on std{where}\n{result.text()}")

    def inputs(self):
        host = ("--device", "host")
        script = f"# a script\n{MAIN}\nload ids.bin\n  | count\n"
        self.sandbox.write("q.rql", script.encode())
        self.prints("script", "107\n10\n", *host, "q.rql")
        self.prints("stdin", "107\n10\n", *host, stdin=script.encode())
        self.prints("dash", "107\n10\n", *host, "-", stdin=script.encode())
        self.prints("-c", "107\n10\n", *host, "-c", MAIN, "-c", "load ids.bin | count")
        self.prints("--command=", "2\n", *host, "--command=1 + 1")
        self.prints("-cTEXT", "2\n", *host, "-c1+1")
        self.prints("-c-with-lines", "107\n10\n", *host, "-c", script)
        self.prints("-c-share-names", "84\n", *host, "-c", "let a = 42", "-c", "def f(x) = x * 2", "-c", "f(a)")
        self.prints("-c-leaves-stdin-alone", "2\n", *host, "-c", "1 + 1", stdin=b"3 + 3")
        self.prints("nothing", "", *host, stdin=b"")
        self.sandbox.write("-odd.rql", b"1 + 1")
        self.prints("script-that-begins-with-a-dash", "2\n", *host, "--", "-odd.rql")
        self.prints("no-opencl-needed", "107\n", "--device", "host", "-c", MAIN)
        # Without an OpenCL platform the evaluator answers.
        os.makedirs(self.sandbox.path("no-vendors"))
        os.environ["OCL_ICD_VENDORS"] = self.sandbox.path("no-vendors")
        result = self.run("-c", MAIN)
        self.tally.check("without-opencl", "" if (result.status, result.out) == (0, b"107\n") else result.text())
        self.prints("without-opencl-quiet", "107\n", "--quiet", "-c", MAIN)
        self.says("without-opencl-a-gpu-is-an-error", ["--device", "gpu", "-c", MAIN], "error", status=1)
        del os.environ["OCL_ICD_VENDORS"]

    def pipes(self):
        """Data from standard input and named pipes."""
        host = ("--device", "host")
        table = b"a,b\n1,2\n3,4\n"
        total, count = "load /dev/stdin csv | sum a", "load /dev/stdin csv | count"
        self.prints("pipe", "4\n2\n", *host, "-c", total, "-c", count, stdin=table)
        self.prints("pipe-in-two-formats", "4\n12\n", *host, "-c", total, "-c", "load /dev/stdin u8 | count", stdin=table)
        self.prints("pipe-as-a-dash", "4\n2\n", *host, "-c", "load - | sum a", "-c", "load - csv | count", stdin=table)
        self.prints("pipe-of-lines-of-json", "3\n", *host, "-c", "load - | sum a", stdin=b'{"a": 1}\n{"a": 2}\n')
        self.says("dash-with-statements", host, "`/dev/stdin` supplies the statements", status=1, stdin=b"load -")
        self.prints("pipe-without-data", "0\n", *host, "-c", "load /dev/stdin i32 | count")
        self.sandbox.write("nine.u8", b"\t")
        self.prints("pipe-beside-a-file", "11\n", *host, "-c", "load /dev/stdin i32 as n, nine.u8 | map n + nine",
                    stdin=b"\2\0\0\0")
        self.sandbox.write("piped.rql", f"{total}\n{count}\n".encode())
        self.prints("pipe-of-a-script", "4\n2\n", *host, "piped.rql", stdin=table)
        self.sandbox.write("piped.rql", f"{total}\nload nosuch.bin\n".encode())
        self.says("pipe-of-a-wrong-script", [*host, "piped.rql"], r"piped.rql:2:6: error: no such file", status=1, stdin=table)
        big = bytes(range(256)) * 40000
        self.prints("pipe-of-much", f"{sum(big)}\n", *host, "-c", "load /dev/stdin u8 | sum", stdin=big)
        for title, more in (("pipe-of-statements", ()), ("pipe-of-statements-by-name", ("-",))):
            told = r"^<stdin>:2:6: error: `/dev/stdin` supplies the statements(.|\n)*hint: use `rql -c QUERY`"
            self.says(title, [*host, *more], told, status=1, stdin=f"1 + 1\n{total}".encode())
        self.prints("pipe-of-packed-data", "4\n", *host, "-c", total, stdin=gzip.compress(table))
        given = ("bash", "-c", 'exec "$0" "$@" --arg f=<(printf "a,b\\n5,6\\n")')
        self.prints("pipe-of-the-shell", "11\n", *host, "-c", "load $f csv | map a + b", prefix=given)
        path = self.sandbox.path("line.tsv")
        os.mkfifo(path)
        writer = threading.Thread(target=write, args=(path, b"a\tb\n1\t2\n3\t4\n"))
        writer.start()
        self.prints("named-pipe", "6\n2\n", *host, "-c", "load line.tsv | sum b", "-c", "load line.tsv | count")
        writer.join()
        process = harness.start([*host, "-c", "1", "-c", "load line.tsv"], self.sandbox.here, self.sandbox.home)
        process.stdout.readline()  # now it waits for somebody to write
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        result = harness.Result(process.returncode, out, err)
        self.tally.check("named-pipe-interrupted", "" if result.status == -signal.SIGINT else result.text())

    def options(self):
        self.says("help", ["--help"], r"--device", "out")
        self.says("help-letter", ["-h"], r"rql", "out")
        with open(os.path.join(harness.TREE, "VERSION"), encoding="ascii") as file:
            version = file.read().strip()
        self.prints("version", f"rql {version}\n", "--version")
        self.says("dot-help", ["-c", ".help"], r"select", "out")
        self.says("plain-help", ["-c", "help"], r"select", "out")
        self.says("plain-help-as-a-script", ["help"], r"no such file: `help`\nhint: .*--help", status=2)
        self.prints("query-as-an-argument", "6\n", "--device", "host", "range 1..3 | sum")
        self.prints("queries-as-arguments", "42\n42\n", "--device", "host", "let x = 42", "let y = x", "-c", "x + 0", "-c", "y + 0")
        self.prints("count-of-a-range", "9223372036854775807\n", "range 1..9223372036854775807 | count")
        self.says("script-misspelt", ["q.rlq"], r"hint: did you mean `q.rql`", status=2)
        self.says("dot-devices", ["-c", ".devices"], r"\S", "out")
        self.says("dot-set", ["-c", ".set"], r"fusion", "out")
        self.says("unknown-command", ["-c", ".fusoin"], r"error: .*fusoin", status=1)
        self.says("unknown-setting", ["-c", ".set fusoin off"], r"error: .*fusoin", status=1)
        self.says("bad-setting", ["-c", ".set fusion maybe"], r"error: .*maybe", status=1)
        self.prints("set-fusion-off", "107\n", "--device", "host", "-c", ".set fusion off", "-c", MAIN)
        self.prints("set-device", "107\n", "--device", "host", "-c", ".set device host", "-c", MAIN)

    def data_files(self):
        """rql FILE: tables named by their files."""
        table = b"a,b\n1,2\n3,4\n"
        for name in ("deals.csv", "20 old.csv", "it's.tsv.gz", "deals.txt"):
            self.sandbox.write(name, gzip.compress(b"a\n7\n") if name.endswith(".gz") else b"one\ntwo\nthree\n" if name.endswith(".txt") else table)
        self.prints("data-file", "4\n2\n2\n", "deals.csv", "-c", "deals | sum a", "-c", "| count", "-c", "| count")
        self.prints("data-files", "4\n4\n7\n3\n", "-c", "deals | sum a", "deals.csv", "20 old.csv", "it's.tsv.gz", "deals.txt",
                    "-c", "_20_old | sum a", "-c", "it_s | sum a", "-c", "| count")
        self.prints("data-file-and-statements", "2\n6\n", "deals.csv", stdin=b"| count\ndeals | sum b\n")
        self.says("data-file-missing", ["nosuch.csv", "-c", "1"], "no such file: `nosuch.csv`", status=2)
        self.says("data-file-and-script", ["deals.csv", "x.rql"], "'x.rql' is not a data file", status=2)

    def choice(self):
        """What chooses by itself explains its choice; a device that was named leaves nothing to explain."""
        lines = self.run("-c", f"explain {MAIN}").out.decode().splitlines()
        told = lines[-2:] if len(lines) > 2 else ["", ""]
        good = told[0].startswith("backend choice: ") and re.search(r"^  1 on host: about 0\.0\d\d ms", told[1])
        self.tally.check("explain-tells-the-choice", "" if good else "\n".join(lines))
        self.says("explain-of-more-rows", ["-c", "explain range 1..1000000000 | sum"], r"^  1 on .*host: about [\d.]+ ms", "out")
        named = self.run("--device", "host", "-c", f"explain {MAIN}").out
        self.tally.check("explain-without-a-choice", "" if b"backend choice" not in named and named else named.decode())
        self.prints("auto", "107\n500000500000\n", "-c", MAIN, "-c", "range 1..1000000 | sum")
        self.prints("to-and-from-auto", "107\n107\n107\n", "-c", MAIN, "-c", ".device host", "-c", MAIN, "-c",
                    ".device auto", "-c", MAIN)

    def commands(self):
        host = ("--device", "host")
        self.prints(
            "tables-and-drop",
            "a\t\t\t\t5\nr\t3\t24\tmemory\tc1 i64\nr\t3\t24\tmemory\tc1 i64\n",
            *host,
            "-c",
            "let a = 5",
            "-c",
            "let r = range 1..3",
            "-c",
            ".tables",
            "-c",
            ".drop a",
            "-c",
            ".tables",
        )
        mapped = "t\t10\t40\tfile\tids i32\n"
        self.prints("tables-mapped", mapped, *host, "-c", "let t = load ids.bin", "-c", ".tables")
        self.sandbox.write("parsed.csv", b"n,m\n1,2\n3,4\n")
        parsed = "t\t2\t32\tmemory\tn i64, m i64\n"
        self.prints("tables-parsed", parsed, *host, "-c", "let t = load parsed.csv", "-c", ".tables")
        both = "t\t2\t40\tfile+memory\tn i64, m i64, two i32\n"
        self.sandbox.write("two.i32", bytes(8))
        zipped = "let t = load parsed.csv | zip two.i32"
        self.prints("tables-of-both", both, *host, "-c", zipped, "-c", ".tables")
        self.says("tables-format", [*host, "--format", "json", "-c", "let t = load ids.bin", "-c", ".tables"],
                  r'^\[\{"name": "t", "rows": 10, "bytes": 40, "where": "file"', "out")
        self.prints("output", "3\n", *host, "-c", ".output out.txt", "-c", "1 + 1", "-c", ".output", "-c", "1 + 2")
        self.tally.check("output-file", harness.difference("2\n", read(self.sandbox.path("out.txt")), "out.txt"))
        self.prints("output-at-the-end", "", *host, "-c", ".output out.txt", "-c", "1 + 3", "-c", "load ids.bin | take 1")
        self.tally.check("output-ended", harness.difference("4\n42\n", read(self.sandbox.path("out.txt")), "out.txt"))
        table = "a\t\t\t\t1\n"
        self.prints("output-not-of-commands", table, *host, "-c", ".output out.csv", "-c", "let a = 1", "-c", ".tables",
                    "-c", "load ids.bin | take 1")
        self.tally.check("output-by-ending", harness.difference("ids\n42\n", read(self.sandbox.path("out.csv")), "out.csv"))
        self.prints("output-raw", "", *host, "--format", "raw", "-c", ".output out.i32", "-c", "load ids.bin | take 1")
        self.tally.check("output-of-bytes", harness.difference("*\0\0\0", read(self.sandbox.path("out.i32")), "out.i32"))
        self.prints("output-in-capitals", "", *host, "-c", ".output OUT.CSV", "-c", "load ids.bin | take 1")
        self.tally.check("output-by-capitals", harness.difference("ids\n42\n", read(self.sandbox.path("OUT.CSV")), "OUT.CSV"))
        self.says("output-of-a-failure", [*host, "-c", ".output out.txt", "-c", "5", "-c", "1 / 0"],
                  r"^note: `out\.txt` is unchanged", status=1)
        self.tally.check("output-left", harness.difference("4\n42\n", read(self.sandbox.path("out.txt")), "out.txt"))
        self.says("output-goes-on", [*host, "-k", "-c", ".output out.txt", "-c", "5", "-c", "1 / 0"], r"error", status=1)
        self.tally.check("output-of-what-went-well", harness.difference("5\n", read(self.sandbox.path("out.txt")), "out.txt"))
        left = [name for name in os.listdir(self.sandbox.here) if name.startswith(".rql")]
        self.tally.check("output-leaves-nothing", str(left) if left else "")
        self.says("output-nowhere", [*host, "-c", ".output no/such/place"], r"error: cannot write", status=1)
        os.makedirs(self.sandbox.path("down"), exist_ok=True)
        self.prints("cd", "10\n", *host, "-c", ".cd down", "-c", "load ../ids.bin | count")
        self.sandbox.write("down/deep.i32", b"\1\0\0\0")
        script = b".cd down\nload deep.i32 | count\n.cd ..\nload ids.bin | count\n"
        self.prints("cd-in-a-script", "1\n10\n", *host, stdin=script)
        self.says("cd-is-checked", host, r"2:6: error: no such file", status=1, stdin=b".cd down\nload ids.bin | count\n")
        self.prints("cd-tells", os.path.realpath(self.sandbox.path("down")) + "\n", *host, "-c", ".cd down", "-c", ".cd")
        self.prints("cd-home", os.path.realpath(self.sandbox.home) + "\n", *host, "-c", ".cd ~", "-c", ".cd")
        home = ["range 1..3 | save ~/own.i32", "load ~/own.i32 | sum", ".output ~/own.csv", "7", ".output"]
        self.prints("files-at-home", "6\n", *host, *(word for query in home for word in ("-c", query)))
        with open(os.path.join(self.sandbox.home, "own.csv"), encoding="ascii") as file:
            self.tally.check("output-at-home", "" if "7" in file.read() else "own.csv has not what was sent there")
        self.says("cd-nowhere", [*host, "-c", ".cd no-such"], r"error: cannot change to", status=1)
        self.says("dropped", [*host, "-c", "let a = 5", "-c", ".drop a", "-c", "a"], r"error: .*`a`", status=1)
        self.prints("quit", "2\n", *host, stdin=b"1 + 1\n.quit\n2 + 2\n")
        self.prints("plain-quit", "2\n", *host, "-c", "1 + 1", "-c", "quit", "-c", "2 + 2")
        self.sandbox.write("double.rql", b"who * 2\narg2 + 1\n")
        self.prints("script-arguments", "42\n42\n", *host, "double.rql", "who=21", "41")
        self.says("script-argument-missing", [*host, "double.rql", "who=21"], r"error: .*`arg2`", status=1)
        self.says("script-argument-is-text", [*host, "double.rql", "who=range 1..3"], r"error: .*`who`", status=1)
        self.prints("arg", "9\n", *host, "--arg", "n=4", "--arg=m=5", "-c", "$n + $m")
        self.prints("arg-beside-a-script", "42\n", *host, "--arg", "twice=2", "-", "21", stdin=b"$arg1 * $twice")
        self.prints("arg-is-no-column", "4\n", *host, "--arg", "ids=42", "-c", "load ids.bin | count ids == $ids")
        self.prints("arg-path", "10\n", *host, "--arg", "file=ids.bin", "-c", "load $file | count")
        self.prints("arg-path-as-source", "10\n", *host, "--arg", "file=ids.bin", "-c", "$file | count")
        self.prints("arg-folder", "10\n", *host, "--arg", "dir=.", "-c", "load $dir/ids.bin | zip $dir/amounts.bin | count")
        self.says("arg-is-no-relation", [*host, "--arg", "r=range 1..3", "-c", "$r | sum"], r"no such file: `range 1..3`", status=1)
        self.arguments_are_data(host)
        for number, text in enumerate(("AAPL", "3M", "BRK.B", "New York", 'a"b', "", "1 +", "2024-Q1")):
            query = f"['AAPL', '3M', 'BRK.B', 'New York', 'a\"b', '', '1 +', '2024-Q1'] | count c1 == $s"
            self.prints(f"arg-text-{number}", "1\n", *host, "--arg", f"s={text}", "-c", query)
        self.says("arg-text-is-no-number", [*host, "--arg", "f=a.b", "-c", "$f + 1"], r"error: .*`\$f` is text", status=1)
        self.says("arg-without-a-name", [*host, "--arg", "42", "-c", "1"], r"NAME=VALUE", status=2)
        self.sandbox.write("shebang.rql", b"#!/usr/bin/env rql\nload $file | count\n")
        os.chmod(self.sandbox.path("shebang.rql"), 0o755)
        self.prints("shebang", "10\n", *host, "shebang.rql", "file=ids.bin")
        failing = b"load zeros.i32 | map 10 / x\n1 + 1\n2 )\nnosuch\n"
        self.says("stops-at-the-first-error", host, r"2:|3:|4:", status=1, stdin=failing)
        result = self.run(*host, "--keep-going", stdin=failing)
        told = sorted(re.findall(rb"^<stdin>:([0-9]+):[0-9]+: error", result.err, re.MULTILINE))
        good = (result.status, result.out, told) == (1, b"2\n", [b"1", b"3", b"4"])
        self.tally.check("keep-going", "" if good else result.text())
        self.prints("-e", "2\n", *host, "-e", stdin=b"1 + 1")
        wrong = b"range 1..3 | nosuch 1\n" * 30
        self.says("keep-going-after-many", [*host, "-k"], r"^7$", where="out", status=1, stdin=wrong + b"3 + 4\n")
        self.says("keep-going-tells-all", [*host, "-k"], r"<stdin>:30:14: error", status=1, stdin=wrong)
        self.says("-c-keep-going", [*host, "-k", "-c", "nosuch", "-c", "1 + 1"], r"^2$", where="out", status=1)
        help_text = self.run("--help").out.decode()
        fits = help_text.count("\n") < 24 and all(len(line) < 80 for line in help_text.split("\n"))
        self.tally.check("help-fits-a-screen", "" if fits else help_text)
        self.prints("read", "42\n42\n", *host, "-c", "let who = 21", "-c", "let arg2 = 41", "-c", ".read double.rql")
        self.sandbox.write("loop.rql", b".read loop.rql\n")
        self.says("read-itself", [*host, "loop.rql"], r"error: `\.read` is nested", status=1)
        self.says("help-of-a-word", [*host, "-c", ".help select"], r"filter where", "out")
        self.says("help-of-stages", [*host, "-c", ".help stages"], r"^reject E ", "out")
        self.says("help-of-nothing", [*host, "-c", ".help slect"], r"error: .*slect", status=1)
        self.prints("refine", "2\n", *host, stdin=b"load ids.bin | select ids == 7\n# a comment\n\n| count\n")
        self.says("refine-nothing", [*host, "-c", "1 + 1", "-c", "| count"], r"error: ", "err", status=1)

    def escapes(self):
        """On a terminal no name moves the cursor; elsewhere it is what the file has."""
        self.sandbox.write("odd.csv", "a\x1b[31mb,c\u200bd\u202ee\n1,2\n".encode())
        for query in (".schema odd.csv", "load odd.csv"):
            ours, terminal = os.openpty()
            self.run("--device", "host", "-c", query, stdout=terminal)
            shown = os.read(ours, 1 << 16).decode()
            os.close(terminal)
            os.close(ours)
            bad = [name for name in ("\x1b[31m", "\u200b", "\u202e") if name in shown]
            self.tally.check(f"shown-{query.split()[0].strip('.')}", f"{bad} in {shown!r}" if bad else "")
        self.says("schema-as-it-is", ["--device", "host", "-c", ".schema odd.csv"], "`a\x1b\\[31mb` i64, `?c\u200bd\u202ee", "out")

    def rewritten(self):
        """A file that is written anew where it is, and is longer then; one that only grows."""
        for kind in ("arrow", "npz", "i64"):
            self.run("-c", f"range 1..2000 as v | save old.{kind}; range 1..3000 as v | map v * 2 as v | save new.{kind}")
            between = f'load "|cat new.{kind} > old.{kind}; echo 1" txt | count'
            self.says(f"rewritten-{kind}", ["-c", f"let t = load old.{kind}", "-c", "t | count", "-c", between, "-c", "t | sum"], "was truncated or rewritten", status=1)
        self.run("-c", "range 1..2000 as v | save old.i64")
        between = 'load "|cat new.i64 >> old.i64; echo 1" txt | count'
        self.prints("grown", "2000\n1\n2001000\n", "-c", "let t = load old.i64", "-c", "t | count", "-c", between, "-c", "t | sum")

    def safe(self):
        """What --safe refuses, and what stays possible."""
        outside = os.path.join(self.sandbox.root, "outside.csv")
        write(outside, b"a\n1\n")
        os.symlink(outside, self.sandbox.path("link.csv"))
        write(os.path.join(self.sandbox.root, "outside.rql"), b"load ids.bin | count\n")
        self.prints("safe", "10\n107\n", "--safe", "-c", "load ids.bin | count", "-c", MAIN)
        self.prints("safe-script", "10\n", "--safe", os.path.join(self.sandbox.root, "outside.rql"))
        self.prints("safe-pipe", "10\n", "--safe", prefix=("bash", "-c", 'exec "$0" "$@" <(echo "load ids.bin | count")'))
        self.prints("safe-input", "1\n", "--safe", "-c", "load - csv | sum", prefix=("bash", "-c", f'exec "$0" "$@" < {outside}'))
        self.says("safe-zones", ["--safe", "-c", '2024-07-01T12:00:00 in "UTC" in "Europe/Berlin"'], "^2024-07-01T14:00:00", "out")
        refused = {
            "outside": (f"load '{outside}' | count", "Permission denied"),
            "link": ("load link.csv | count", "Permission denied"),
            "parent": (".cd ..", "load outside.csv | count", "Permission denied"),
            "folder": (f"load '{self.sandbox.root}/*.csv' | count", "error"),
            "read": (f".read {outside}", "Permission denied"),
            "save": ("load ids.bin | save safe.bin", "Permission denied"),
            "save-folders": ("range 1..3 as x | derive y = x % 2 | save safe by y", "Permission denied"),
            "output": (".output safe.txt", "1 + 1", "Permission denied"),
            "program": ('load "|echo 1" csv | count', "runs no programs"),
            "address": ("load https://127.0.0.1:1/t.csv | count", "opens no connections"),
            "server": ("load clickhouse://127.0.0.1:1/d/t | count", "opens no connections"),
            "server-save": ("load ids.bin | save clickhouse://127.0.0.1:1/d/t?by=ids", "error"),
        }
        for name, (*queries, pattern) in refused.items():
            arguments = [word for query in queries for word in ("-c", query)]
            self.says(f"safe-{name}", ["--safe", *arguments], pattern, status=1)
        left = [name for name in os.listdir(self.sandbox.here) if name.startswith(("safe", ".rql-"))]
        self.tally.check("safe-leaves-nothing", str(left) if left else "")

    def arguments_are_data(self, host):
        """A value is never run; what is no literal is a text, every byte of it."""
        texts = ["range 1..3 | save leak.csv", "load ids.bin", "1; 2", "a\nb", "\n", "'q'", '"q"', "a'b\"c", "`", "$s", "# x", "00501"]
        texts += ["42 # x", "(42)", "1 + 1", "2024-02-30", "1mo", "missing", "None", "99999999999999999999", "--5", "- 5", "é\u20ac", "[1]"]
        for number, text in enumerate(texts):
            wanted = json.dumps({"s": text, "length": len(text)}, ensure_ascii=False, separators=(",", ":")).replace("\\n", "\\u000a") + "\n"
            query = "[1] | map $s as s, len($s) as length"
            title = f"argument-is-text-{number}"
            self.prints(title, wanted, *host, "--format", "jsonl", "--arg", f"s={text}", "-c", query)
            self.prints(title + "-stated", wanted, *host, "--format", "jsonl", "--arg", f"s:text={text}", "-c", query)
        self.tally.check("argument-is-not-run", "leak.csv was written" if os.path.exists(self.sandbox.path("leak.csv")) else "")
        values = [("42", "42"), ("-5", "-5"), ("1.5", "1.5"), ("1_000", "1000"), ("0", "0"), ("0.5", "0.5"), ("-9223372036854775808",) * 2]
        values += [("1e3", "1000.0"), ("2024-01-31", '"2024-01-31"'), ("2024-01-31T09:30", '"2024-01-31T09:30:00"'), ("90s", '"00:01:30"')]
        for text, wanted in values:
            self.prints(f"argument-{text}", f'{{"v":{wanted}}}\n', *host, "--format", "jsonl", "--arg", f"v={text}", "-c", "[1] | map $v as v")
        self.prints("argument-condition", "2\n", *host, "--arg", "c=true", "-c", "[1, 2] | select $c | count")
        self.prints("argument-stated-float", "3.5\n", *host, "--arg", "f:float=7", "-c", "$f / 2")
        self.prints("argument-stated-text", "1\n", *host, "--arg", "f:text=7", "-c", "['7'] | count c1 == $f")
        self.says("argument-of-another-type", [*host, "--arg", "n:int=x", "-c", "$n"], r"error: this is no int: `x`", status=2)
        self.says("argument-of-no-type", [*host, "--arg", "n:number=1", "-c", "$n"], r"no type `number`", status=2)
        self.says("argument-name", [*host, "--arg", "in=1", "-c", "1"], r"error: .*`in`", status=2)
        self.says("argument-no-utf-8", [*host, "--arg", b"s=\xff", "-c", "[1] | map $s"], r"not UTF-8", status=1)

    def formats(self):
        host = ("--device", "host")
        query = "load trades/ | derive big = qty > 15"
        rows = [(1.5, 10, 5000000000, False), (2.25, 20, 5000000001, True), (0.5, 30, 5000000002, True)]
        names = ["price", "qty", "when", "big"]
        tsv = "".join("\t".join(map(str, row)).lower() + "\n" for row in rows)
        csv = "".join(",".join(map(str, row)).lower() + "\n" for row in rows)
        self.prints("tsv", tsv, *host, "--format", "tsv", "-c", query)
        self.prints("tsv-header", "\t".join(names) + "\n" + tsv, *host, "--header", "-c", query)
        self.prints("csv", ",".join(names) + "\n" + csv, *host, "--format", "csv", "-c", query)
        self.prints("format-setting", ",".join(names) + "\n" + csv, *host, "-c", ".set format csv", "-c", query)
        self.prints("scalar-in-csv", "3\n", *host, "--format", "csv", "-c", "1 + 2")
        result = self.run(*host, "--format", "jsonl", "-c", query)
        try:
            good = [json.loads(line) for line in result.out.decode().splitlines()] == [
                dict(zip(names, row)) for row in rows
            ]
        except ValueError:
            good = False
        self.tally.check("jsonl", "" if good and result.status == 0 else result.text())
        result = self.run(*host, "--format", "jsonl", "-c", "load odd.f64")
        values = [json.loads(line)["odd"] for line in result.out.decode().splitlines()]
        self.tally.check("jsonl-has-no-nan", "" if values == [None, None, None, 2.5, 0.0] else result.text())
        self.says("table", [*host, "--format", "table", "-c", query], r"^ *price +qty +when +big$", "out")
        self.says("table-types", [*host, "--format", "table", "-c", query], r"^ *f64 +i32 +i64 +bool$", "out")
        self.says("table-rows", [*host, "--format", "table", "-c", query], r"^ *2\.25 +20 +5000000001 +true$", "out")
        for ending, text in [("tsv", "\t".join(names) + "\n" + tsv), ("csv", ",".join(names) + "\n" + csv)]:
            self.run(*host, "-c", f"{query} | save table.{ending}")
            saved = read(self.sandbox.path(f"table.{ending}"))
            self.tally.check(f"save-{ending}", harness.difference(text, saved, "table"))
        self.run(*host, "-c", f"{query} | save table.jsonl")
        saved = [json.loads(line) for line in read(self.sandbox.path("table.jsonl")).splitlines()]
        good = saved == [dict(zip(names, row)) for row in rows]
        self.tally.check("save-jsonl", "" if good else str(saved))
        self.run(
            *host,
            "-c",
            'load ids.bin as `a,"b\tc` | take 1 | save odd.csv',
            "-c",
            'load ids.bin as `a,"b\tc` | take 1 | save odd.jsonl',
        )
        self.tally.check("csv-quotes", harness.difference('"a,""b\tc"\n42\n', read(self.sandbox.path("odd.csv")), "csv"))
        saved = read(self.sandbox.path("odd.jsonl"))
        self.tally.check(
            "jsonl-quotes", "" if json.loads(saved) == {'a,"b\tc': 42} and saved.count("\n") == 1 else saved
        )

    def timing(self):
        for mode, options in harness.MODES.items():
            result = self.run(*options, "--timing", "-c", MAIN)
            text = result.err.decode()
            wanted = [
                r"^parsed +[\d.]+ ms",
                r"^mapped +[\d.]+ ms.*ids\.bin",
                r"^kernel +[\d.]+ ms.*GB/s",
                r"^total +[\d.]+ ms",
            ]
            missing = [pattern for pattern in wanted if not re.search(pattern, text, re.MULTILINE)]
            good = result.status == 0 and result.out == b"107\n" and not missing
            self.tally.check(f"timing ({mode})", "" if good else f"missing {missing}\n{result.text()}")
        self.says("timing-command", ["--device", "host", "-c", ".timing on", "-c", "1 + 1"], r"^total +[\d.]+ ms")
        host = ["--device", "host"]
        self.says("timing-of-runs", [*host, "-c", ".timing 3", "-c", MAIN], r"^median +[\d.]+ ms  of 3 more runs$")
        self.says("explain-run", [*host, "-c", f"explain run {MAIN}"], r"^load\+zip\+select.* host +10 ", where="out")
        self.says("explain-run-result", [*host, "-c", f"explain run {MAIN}"], r"the result is 107$", where="out")
        self.zones_told([*host, "--stats", "now"])
        self.says("race-host", [*host, "-c", f"race {MAIN}"], r"^host +", where="out")
        self.says("race-same", [*host, "-c", f"race {MAIN}"], r"results are identical|there is no device", where="out")
        nans = "race [1, 2, 0] | map 0.0 / x, -0.0 * x, log(-x)"
        self.says("race-nan", [*host, "-c", nans], r"identical|no device", where="out")
        self.says("race-share", [*host, "-c", "race range 1..100000 | map sqrt(x)"], r"^host .* (\d\d?|100) %$", where="out")
        self.says("race-rows", [*host, "-c", "race range 1..1000 | sort x desc"], r"identical|no device", where="out")

    def zones_told(self, options):
        """What is known of an ascending column lets all zones of its rows but the first be passed over."""
        self.sandbox.write("up.i32", b"".join(row.to_bytes(4, "little") for row in range(20000)))
        os.utime(self.sandbox.path("up.i32"), (10**9, 10**9))  # what has just been written may still be changing
        query = "load up.i32 | select up < 1000 | sum"
        self.says("explain-run-zones", [*options, "-c", query, "-c", f"explain run {query}"], r" 20000 +5 +4 ", "out")
        foreseen = r"^  1 on .*; up as i16; skips 4 of 5 zones$"
        self.says("explain-zones", ["--stats", "now", "-c", query, "-c", f"explain {query}"], foreseen, "out")
        # Of many zones a sample is asked first: nothing is skipped in vain, and what can be is found.
        values = bytes(range(100)) * 50000
        for name, content, told in (
            ("all", values, r"^load\+count +(host +)?5000000 +\d+\.\d+ "),
            ("half", bytes(2500000) + values[2500000:], r" 5000000 +1221 +610 "),
        ):
            self.sandbox.write(f"{name}.i8", content)
            os.utime(self.sandbox.path(f"{name}.i8"), (10**9, 10**9))
            query = f"load {name}.i8 | count 7"
            self.says(f"zones-of-{name}", [*options, "-c", query, "-c", f"explain run {query}"], told, "out")

    def programs(self):
        """Another constant is no other program: after id==42, id==43 builds nothing, in this process or the next."""

        def built(result):
            lines = [line for line in result.err.decode().splitlines() if line.startswith("built")]
            return [line for line in lines if "cached" not in line and "OpenCL started" not in line]

        queries = [MAIN, MAIN.replace("42", "43"), MAIN.replace("42", "7"), MAIN.replace("amounts>0", "amounts>-30")]
        if "device" not in harness.MODES:
            return
        fresh = {"RQL_TEST_CACHE": os.path.join(self.sandbox.root, "cold")}
        kept = os.environ.get("RQL_TEST_CACHE")
        os.environ.update(fresh)
        try:
            results = [self.run("--device", "1", "--timing", "-c", MAIN)]
            results.append(self.run("--device", "1", "--timing", *(part for query in queries for part in ("-c", query))))
        finally:
            os.environ.pop("RQL_TEST_CACHE")
            if kept:
                os.environ["RQL_TEST_CACHE"] = kept
        self.tally.check("first-run-builds", "" if len(built(results[0])) == 1 else results[0].text())
        good = results[1].status == 0 and len(built(results[1])) == 1
        self.tally.check("another-constant-builds-nothing", "" if good else results[1].text())
        answers = b"".join(
            b"%d\n" % total
            for total in (
                sum(a for i, a in zip(harness.IDS, harness.AMOUNTS) if i == who and a > least)
                for who, least in ((42, 0), (43, 0), (7, 0), (42, -30))
            )
        )
        self.tally.check(
            "another-constant-answers", "" if results[1].out == answers else f"expected {answers}\n{results[1].text()}"
        )
        # The next process finds on disk what the first one built.
        taken = [float(re.search(r"([\d.]+) ms", "".join(built(result)) or "0 ms").group(1)) for result in results]
        self.tally.check("next-process-builds-less", "" if taken[1] < taken[0] / 2 else f"built for {taken} ms")

    def interrupted(self):
        """Ctrl-C while results print ends rql as the signal does: part of them is no success."""
        process = harness.start(["--device", "host", "-c", "range 1..100000000"], self.sandbox.here, self.sandbox.home)
        began = process.stdout.read(1)  # the pipe is full from here on
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        result = harness.Result(process.returncode, out, err)
        good = began == b"1" and result.status == -signal.SIGINT and len(out) < 10_000_000
        self.tally.check("interrupted-while-printing", "" if good else result.text())

    def explain(self):
        result = self.run("--device", "host", "-c", "explain " + MAIN)
        text = result.out.decode()
        told = ["queue: 6 tasks", "Load", "Zip", "Filter", "Snds", "Sum", "fused: 1 task", "Filter+Sum"]
        good = result.status == 0 and not result.err and all(word in text for word in told)
        self.tally.check("explain", "" if good else result.text())
        if "device" in harness.MODES:
            result = self.run("--device", "1", "-c", "explain kernel " + MAIN)
            good = result.status == 0 and b"kernel" in result.out and b"42" not in result.out
            self.tally.check("explain-kernel", "" if good else result.text())


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def main(sandbox):
    tally = harness.Tally("cli")
    cli = CommandLine(sandbox, tally)
    groups = (cli.inputs, cli.pipes, cli.options, cli.data_files, cli.choice, cli.commands, cli.formats, cli.timing)
    groups += (cli.interrupted, cli.programs, cli.rewritten, cli.safe, cli.escapes)
    return harness.run_groups(tally, (*groups, cli.explain))


if __name__ == "__main__":
    harness.main_program(main)
