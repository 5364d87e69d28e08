#!/usr/bin/env python3
"""What programs print, loaded by `load "|COMMAND"`: values, failures, Ctrl-C, when they run, and who cannot run them.

    tests/commands.py
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import harness


def ask(sandbox, *arguments, stdin=b""):
    return harness.run(["--device", "host", *arguments], sandbox.here, sandbox.home, stdin=stdin)


class Commands:
    """Each method whose name begins with test_ is a test; it returns what is wrong, or nothing."""

    def __init__(self, sandbox):
        self.sandbox = sandbox

    def path(self, name):
        return os.path.join(self.sandbox.here, name)

    def expect(self, query, out, err=b"", status=0, arguments=()):
        done = ask(self.sandbox, *arguments, "-c", query)
        fine = done.status == status and done.out == out and (err in done.err if err else not done.err)
        return "" if fine else f"{query}\n{done.text()}\nnot {out!r}, {err!r}"

    def runs(self):
        """How often a command that adds a byte to the file has run since this was asked."""
        path = self.path("runs")
        count = os.path.getsize(path) if os.path.exists(path) else 0
        if count:
            os.remove(path)
        return count

    counting = "|printf x >> runs; printf 'id,v\\\\n1,2\\\\n3,4\\\\n'"

    def test_formats(self):
        for text, extension in (("a,b\n1,x\n", "csv"), ("a\tb\n1\tx\n", "tsv"), ('{"a":1,"b":"x"}\n', "jsonl")):
            with open(self.path("t"), "w", encoding="utf-8") as file:
                file.write(text)
            problem = self.expect(f".format json\nload '|cat t' {extension}", b'[\n{"a":1,"b":"x"}\n]\n')
            if problem:
                return problem
        ask(self.sandbox, "-c", "load 't' tsv | save t.parquet", "-c", "load t tsv | save t.arrow")
        with open(self.path("numbers"), "wb") as file:
            file.write(bytes(range(10)))
        return (self.expect("load '|seq 5' txt | sum", b"15\n") or self.expect("load '|cat numbers' u8 | sum", b"45\n")
                or self.expect("load '|seq 5' txt | map seq | max", b"5\n"))

    def test_files_named_like_commands(self):
        with open(self.path("|printf x >> runs; #.csv"), "w", encoding="utf-8") as file:
            file.write("id,v\n1,2\n")
        problem = ""
        for pattern in ("*runs; #.csv", "**/*runs; #.csv", "[|]*.csv"):
            problem = problem or self.expect(f'load "{pattern}" | select id == 1 | sum v', b"2\n")
        os.remove(self.path("|printf x >> runs; #.csv"))
        return problem or (self.runs() and "a file's name was run as a command")

    def test_by_content(self):
        done = ask(self.sandbox, "-c", "range 1..1000 as x | save b.parquet", "-c", "range 1..1000 as x | save b.arrow",
                   "-c", "range 1..1000 as x | save b.csv.gz")
        if done.status:
            return done.text()
        for name in ("b.parquet", "b.arrow", "b.csv.gz"):
            problem = self.expect(f"load '|cat {name}' | sum x", b"500500\n")
            if problem:
                return problem
        return ""

    def test_long(self):
        return self.expect("load '|yes 12345 | head -n 3000000' txt | count", b"3000000\n")

    def test_failures(self):
        for command, said in (
            ("echo a; echo first >&2; echo the reason >&2; exit 3", b"failed with status 3: the reason"),
            ("printf 'a\\\\n1\\\\n'; exit 1", b"failed with status 1"),
            ("no-such-program", b"failed with status 127: "),
            ("kill -9 $$", b"signal 9"),
            ("kill -TERM $$", b"signal 15"),
            ("", b"no command"),
            ("true", b"is empty"),
            ("printf 'a,b\\\\n1\\\\n'", b"line 2"),
            ("head -c 100000 /dev/zero | tr '\\\\0' e >&2; printf '\\\\n\\\\033[2Jend\\\\n' >&2; exit 2", b"status 2: ^[[2Jend"),
        ):
            problem = self.expect(f'load "|{command}" csv', b"", said, 1)
            if problem:
                return problem
        return ""

    def test_note(self):
        return self.expect("load '|echo 7; echo beware >&2' txt", b"7\n", b"note: `|echo 7; echo beware >&2`: beware")

    def test_no_input_and_no_terminal(self):
        return (self.expect("load '|wc -c' txt", b"0\n")
                or self.expect("load '|(: < /dev/tty) 2>/dev/null && echo 1 || echo 0' txt", b"0\n"))

    def test_once_a_statement(self):
        query = f'load "{self.counting}" csv | join (load "{self.counting}" csv | rename v as w) on id | count'
        self.runs()
        problem = self.expect(query, b"2\n")
        if problem or self.runs() != 1:
            return problem or "not run once by a statement that names it twice"
        problem = self.expect(f'let t = load "{self.counting}" csv\nt | sum v\nt | sum id', b"6\n4\n")
        if problem or self.runs() != 1:
            return problem or "not run once by let"
        problem = self.expect(f'load "{self.counting}" csv | sum v\nload "{self.counting}" csv | sum v', b"6\n6\n")
        if problem or self.runs() != 2:
            return problem or "not run by each statement"
        problem = self.expect(f'load "{self.counting}" csv | map 1 / (v - v)', b"", b"divi", 1)
        return problem or ("" if self.runs() == 1 else "run again for an error")

    def test_checks_run_nothing(self):
        self.runs()
        problem = self.expect(f'load "{self.counting}" csv | sum v\nload ids.bin | nosuch', b"", b"nosuch", 1)
        return problem or ("a check has run it" if self.runs() else "")

    def test_arguments_are_data(self):
        for arguments, query in (
            (["--arg", "f=|touch made"], "load $f csv"),
            (["--arg", "f=|touch made"], "$f"),
            (["--arg", "f=|touch made; cat "], "load $f/x csv"),
            (["--arg", "f=touch made"], "load '|true $f' csv"),
            (["--arg", "f=|touch made"], "load ids.bin | zip $f"),
        ):
            ask(self.sandbox, *arguments, "-c", query)
            if os.path.exists(self.path("made")):
                return f"{arguments} {query}"
        with open(self.path("s.rql"), "w", encoding="utf-8") as file:
            file.write("load $arg1 csv\n")
        for line in (["s.rql", "|touch made"], ["|touch made.csv"], ["|touch made.csv", "-c", "| count"]):
            done = ask(self.sandbox, *line)
            if not done.status or any(os.path.exists(self.path(name)) for name in ("made", "made.csv")):
                return f"{line}: {done.text()}"
        return ""

    def test_scripts(self):
        with open(self.path("s.rql"), "w", encoding="utf-8") as file:
            file.write("load '|seq 3' txt | sum\n")
        done = ask(self.sandbox, "s.rql")
        return "" if done.out == b"6\n" else done.text()

    def test_file_of_such_a_name(self):
        with open(self.path("|touch made"), "w", encoding="utf-8") as file:
            file.write("a\n5\n")
        return self.expect("load './|touch made' csv", b"5\n")

    def test_interrupt(self):
        process = harness.start(["-c", "load '|sleep 1000 & echo $! > pid; wait' csv"], self.sandbox.here, self.sandbox.home)
        for _ in range(200):
            time.sleep(0.05)
            if os.path.exists(self.path("pid")) and os.path.getsize(self.path("pid")):
                break
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        process.communicate(timeout=60)
        with open(self.path("pid"), encoding="ascii") as file:
            child = int(file.read())
        for _ in range(40):
            try:
                os.kill(child, 0)
            except ProcessLookupError:
                return "" if process.returncode in (130, -signal.SIGINT) and time.monotonic() - begun < 10 else f"status {process.returncode}"
            time.sleep(0.05)
        with open(f"/proc/{child}/stat", encoding="ascii") as file:
            state = file.read().split()[2]
        return "" if state == "Z" else "what it has started goes on"

    def test_sqlite(self):
        if not shutil.which("sqlite3"):
            return ""
        script = "create table t(id integer, name text); insert into t values (1,'a'),(2,'b,\"c'),(3,null);"
        subprocess.run(["sqlite3", self.path("x.db"), script], check=True)
        return self.expect("load \"|sqlite3 -csv -header x.db 'select * from t'\" csv | map id, name is missing ? 0 : len(name)",
                           b"1\t1\n2\t4\n3\t0\n", b"1 missing")

    def test_hints_for_files_that_others_unpack(self):
        """The hint for a file that cannot be loaded is a line that runs."""
        text = "a,b\n1,x\n2,y\n"
        self.sandbox.write("t.csv", text.encode())
        ask(self.sandbox, "-c", "load t.csv | save t.arrow")
        makers = (
            ("bzip2", "bzip2 -k t.csv", "t.csv.bz2"), ("xz", "xz -k t.csv", "t.csv.xz"), ("lz4", "lz4 -q t.arrow t.arrow.lz4", "t.arrow.lz4"),
            ("zip", "zip -q 'a b.zip' t.csv", "'a b.zip'"), ("tar", "tar cf t.tar t.csv", "t.tar"), ("tar", "tar czf t.tar.gz t.csv", "t.tar.gz"),
            ("sqlite3", "sqlite3 x.db '.import --csv t.csv t'", "x.db"),
        )
        for program, command, path in makers:
            if not shutil.which(program) or (program == "zip" and not shutil.which("unzip")):
                continue
            subprocess.run(command, shell=True, check=True, cwd=self.sandbox.here)
            refused = ask(self.sandbox, "-c", f"load {path}")
            hint = refused.err.decode().partition("hint: ")[2].strip().replace("NAME", "t.csv").replace("TABLE", "t")
            problem = self.expect(f".format csv\n{hint}", text.encode())
            if refused.status == 0 or problem:
                return f"{refused.text()}\n{problem}"
        return ""

    def test_carriage_returns(self):
        self.sandbox.write("a b.csv", b'a,b\r1,"x,y"\r')
        refused = ask(self.sandbox, "-c", "load 'a b.csv'")
        hint = refused.err.decode().partition("hint: `")[2].strip().removesuffix("`")
        return self.expect(f".format csv\n{hint}", b'a,b\n1,"x,y"\n') if refused.status else refused.text()

    def test_backslashes_before_quotes(self):
        for content, rows in ((b'a,b\n1,"x\\"y,z"\n', b'a,b\n1,"x""y,z"\n'), (b'a,b\n1,"\\",",c\n', b'a,b\n1,"x""y,z"\n')):
            self.sandbox.write("a b.csv", content)
            refused = ask(self.sandbox, "-c", "load 'a b.csv'")
            hint = refused.err.decode().partition("hint: `")[2].strip().removesuffix("`")
            if not refused.status or "sed" not in hint:
                return refused.text()
        self.sandbox.write("a b.csv", b'a,b\n1,"x\\"y,z"\n2,"c\\\\"\n3,"d\\\\\\""\n')
        return self.expect(f".format csv\n{hint}", b'a,b\n1,"x""y,z"\n2,c\\\n3,"d\\"""\n')

    def test_names_of_rows(self):
        """Files of R, in which they have no name above them."""
        for sign, clause in ((",", ""), (" ", " separator ' '")):
            self.sandbox.write("r.csv", b'"x" "ok"\n"a b" 1.5 TRUE\n"c" 2.5 NA\n'.replace(b'" ', b'"' + sign.encode()).replace(b"5 ", b"5" + sign.encode()))
            refused = ask(self.sandbox, "-c", f"load r.csv{clause}")
            hint = refused.err.decode().partition("one: `")[2].strip().removesuffix("`")
            problem = self.expect(f".format csv\n{hint}", b"name,x,ok\na b,1.5,true\nc,2.5,\n", b"1 missing in `ok`")
            if refused.status == 0 or problem:
                return f"{refused.text()}\n{problem}"
        return ""

    def test_jq(self):
        if not shutil.which("jq"):
            return ""
        with open(self.path("x.json"), "w", encoding="utf-8") as file:
            json.dump([{"a": 1}, {"a": 2}], file)
        return self.expect("load \"|jq -c '.[]' x.json\" jsonl | sum a", b"3\n")

    def test_xlsx(self):
        try:
            import openpyxl  # pylint: disable=import-outside-toplevel
        except ImportError:
            return ""
        if not shutil.which("xlsx2csv"):
            return ""
        book = openpyxl.Workbook()
        for row in (["id", "name"], [1, "a"], [2, "b"]):
            book.active.append(row)
        book.save(self.path("x.xlsx"))
        return self.expect("load '|xlsx2csv x.xlsx' csv | sum id", b"3\n")


def main():
    tally = harness.Tally("commands")
    for name in [name for name in dir(Commands) if name.startswith("test_")]:
        with harness.Sandbox() as sandbox:
            tally.check(name.removeprefix("test_"), getattr(Commands(sandbox), name)())
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
