#!/usr/bin/env python3
"""The examples of README.md and docs/*.md run as they are written. A block of indented lines is a script, or commands of a shell;
with `rql> ` before its lines it is a session at the prompt, which prints what follows each of them.

    documents.py [NAME...]     all documents, or these; UPDATE=1 rewrites what sessions print

docs/everyday.md has a test of its own, everyday.py."""

import os
import re
import shutil
import subprocess
import sys
import time

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(TESTS, "terminal"))
import harness  # noqa: E402
import terminal as terminals  # noqa: E402

DOCUMENTS = ("README.md", "docs/architecture.md", "docs/language.md", "docs/missing.md", "docs/performance.md", "docs/questions.md", "docs/tutorial.md")
BLOCK = re.compile(r"(?:^    .*\n)+", re.MULTILINE)
TUTORIAL = "docs/tutorial.md"  # all that is printed is in it
PROMPT = "rql> "
COLUMNS, ROWS = 84, 50

# What a block of the language's page takes for granted, by the beginning of the block.
GIVEN = {
    "load trades-*.parquet": "trades.csv | save trades-1.parquet\ntrades.csv | save trades-2.parquet",
    "load trades.csv | lookup syms.csv": "trades.csv | derive venue = side | save t2.csv\nload quotes.csv | derive market = \"buy\" | save q2.csv\n"
    "companies.csv | pick sym, sector | save syms.csv",
    "load prices.csv": "range 1..3 | map x as open, x + 2 as high, x - 1 as low, x + 1 as close | save prices.csv",
    "def large(k)": "let trades = load amounts.bin as amt\nlet today = load amounts.bin as x\nlet yesterday = load amounts.bin as y",
    "range 1..9 as n": "let board = range 0..99 | shape 10 10 | map int(row % 3 == 0) as alive\n"
    "def life = | stencil [-1..1, -1..1] else 0: int(at(-1, 0) + at(1, 0) + at(0, -1) + at(0, 1) == 2) as alive\n"
    "let u = range 1..9 | map float(x) as u\nlet t = range 1..2",
    "load pixels.u8": "range 1..307200 | map x % 256 as p | save pixels.u8",
    "load photo.ppm": "range 0..99 | shape 10 10 | map row as red, col as green, 9 as blue | save photo.ppm",
    "let watched": "trades.csv | derive id = row | save t3.csv\nt3.csv | take 5 | save cancelled.csv",
}
# Files that those make under other names, as trades.csv must stay what it is for other blocks.
RENAMED = {"t2.csv": "trades.csv", "q2.csv": "quotes.csv", "t3.csv": "trades.csv"}
WRITTEN = {"load t.csv price": ("t.csv", "price,id,when\n1.25,007,2024-01-02T10:00\n-,8,?\n")}
ARGUMENTS = {"#!/usr/bin/env rql": ["id=42", "dir=."]}
# What cannot run in a test: it installs, takes minutes or needs a server, and is tested elsewhere.
LEFT_OUT = re.compile(r"\./bootstrap |clickhouse://|https://|s3://|make bench|build/rql trades\.csv|pip install")


class Place:
    """A folder with the sample data, and in data/ the full columns."""

    def __init__(self, sandbox, name):
        self.root, self.home, self.here = sandbox.root, sandbox.home, sandbox.path(name)
        shutil.copytree(os.path.join(harness.TREE, "data", "sample"), self.here)
        os.symlink(os.path.join(harness.TREE, "data"), os.path.join(self.here, "data"))
        os.symlink(os.path.dirname(harness.RQL), os.path.join(self.here, "build"))


def run(place, arguments, stdin=b""):
    result = harness.run(["--device", "host", "--quiet", *arguments], place.here, place.home, stdin=stdin)
    return "" if result.status == 0 else result.text()


def run_script(place, text):
    """A block of the pages about the language, with what it takes for granted."""
    text = re.sub("^    ", "", text, flags=re.MULTILINE)

    def of(table):
        return next((given for beginning, given in table.items() if text.startswith(beginning)), None)

    problem = run(place, ["-"], of(GIVEN).encode()) if of(GIVEN) else ""
    given = of(GIVEN) if of(GIVEN) and "let " in of(GIVEN) else ""
    for made, name in RENAMED.items():
        if made in (of(GIVEN) or ""):
            os.replace(os.path.join(place.here, made), os.path.join(place.here, name))
    if of(WRITTEN):
        name, content = of(WRITTEN)
        with open(os.path.join(place.here, name), "w", encoding="utf-8") as file:
            file.write(content)
    path = os.path.join(place.here, "block.rql")
    with open(path, "w", encoding="utf-8") as file:
        file.write((given + "\n" if given else "") + text)
    return problem or run(place, [path, *(of(ARGUMENTS) or [])])


def run_command(place, line):
    """A line for the shell."""
    command = ["bash", "-c", line]
    env = harness.environment(place.home)
    done = subprocess.run(command, cwd=place.here, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


class Session:
    """A prompt in a terminal."""

    def __init__(self, place):
        self.terminal = terminals.Terminal(place, ["--device=host", "--no-init"], {"RQL_PAGER": ""}, (COLUMNS, ROWS))
        self.terminal.start()
        self.terminal.wait(self.terminal.ready)

    def lines(self):
        text = self.terminal.tmux("capture-pane", "-p", "-J", "-S", "-2000")
        return [line.rstrip() for line in text.rstrip().split("\n")]

    def ask(self, typed):
        """Types a line; returns what is printed below it."""
        before = sum(line.startswith("rql>") for line in self.lines())
        self.terminal.enter(typed)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            lines = self.lines()
            prompts = [at for at, line in enumerate(lines) if line.startswith("rql>")]
            if lines[-1] == "rql>" and len(prompts) > before:
                return lines[prompts[-2] + 1 : -1]
            time.sleep(0.02)
        return ["no prompt after it:", *self.lines()[-5:]]


def run_session(session, block, tally, document):
    """Returns the block as it is printed. A block in which nothing is printed only must not fail."""
    entries = []
    for line in block.rstrip("\n").split("\n"):
        line = line[4:]
        if line.startswith(PROMPT):
            entries.append((line[len(PROMPT) :], []))
        else:
            entries[-1][1].append(line)
    compared = any(expected for _, expected in entries) or document == TUTORIAL
    printed = []
    for typed, expected in entries:
        got = session.ask(typed)
        failed = any(line.startswith("error:") for line in got) and not any(line.startswith("error:") for line in expected)
        printed += [PROMPT + typed, *(got if compared else [])]
        wrong = failed or (compared and got != expected)
        tally.check(f"{document}: {typed}", harness.difference("\n".join(expected) + "\n", "\n".join(got) + "\n", typed) if wrong else "")
    return "".join(f"    {line}".rstrip() + "\n" for line in printed)


def check(document, sandbox, tally):
    path = os.path.join(harness.TREE, document)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    place = Place(sandbox, os.path.basename(document))
    session = Session(place) if f"    {PROMPT}" in text else None

    def visit(match):
        block = match[0]
        first = block.split("\n")[0].strip()
        if first.startswith(PROMPT):
            return run_session(session, block, tally, document)
        lines = [line[4:] for line in block.rstrip("\n").split("\n")]
        if re.match(r"build/rql|make |\./bootstrap|echo |pip ", first):
            for line in lines:
                if not LEFT_OUT.match(line):
                    tally.check(f"{document}: {line}", run_command(place, line))
        elif not LEFT_OUT.search(first):
            tally.check(f"{document}: {first}", run_script(place, block))
        return block

    try:
        new = BLOCK.sub(visit, text)
    finally:
        if session:
            session.terminal.stop()
    if os.environ.get("UPDATE") and new != text:
        with open(path, "w", encoding="utf-8") as file:
            file.write(new)


def main(sandbox):
    tally = harness.Tally("documents")
    if not terminals.has_terminals():
        return tally.finish()
    for document in sys.argv[1:] or DOCUMENTS:
        check(document, sandbox, tally)
    return tally.finish()


if __name__ == "__main__":
    harness.main_program(main)
