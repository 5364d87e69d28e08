#!/usr/bin/env python3
"""Sessions in a real terminal, driven through tmux. Every wait has a timeout."""

import itertools
import os
import re
import shlex
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import drivers  # noqa: E402
import editing  # noqa: E402
import harness  # noqa: E402
import highlighting  # noqa: E402
import looking  # noqa: E402

PROMPT = re.compile(r"^rql> ?$")
PATIENCE = 90  # seconds; the first query may build a kernel
QUIET = 10  # seconds without output at an idle prompt


class Terminal:
    """rql in its own tmux server."""

    starts = itertools.count()

    def __init__(self, sandbox, options=(), variables=None, size=(120, 50)):
        self.sandbox = sandbox
        self.size = [str(cells) for cells in size]
        self.variables = {"RQL_PAGER": "", **(variables or {})}  # a pager would wait for a key
        self.socket = ""
        self.options = options

    def tmux(self, *arguments, text=None):
        env = harness.environment(self.sandbox.home)
        env["TERM"] = "xterm"
        env["SHELL"] = "/bin/sh"  # the user may have none
        env.update(self.variables)
        done = subprocess.run(
            ["tmux", "-S", self.socket, "-f", "/dev/null", *arguments],
            env=env,
            cwd=self.sandbox.here,
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout

    def start(self):
        # A server that is shutting down may still answer, so each start has its own socket.
        self.socket = os.path.join(self.sandbox.root, f"tmux-{next(Terminal.starts)}")
        # Print the exit status to show the end. Ctrl-C also reaches the shell, which must survive it.
        name = f"TERM={self.variables['TERM']} " if "TERM" in self.variables else ""  # else tmux says which it is
        command = f'trap : INT; {name}{shlex.join([harness.RQL, *self.options])}; echo "left with $?"; exec cat'
        self.tmux("new-session", "-d", "-x", self.size[0], "-y", self.size[1], command)

    def stop(self):
        self.tmux("kill-server")

    def screen(self):
        """The lines on the screen and in its history, without trailing blanks."""
        return [line.rstrip() for line in self.tmux("capture-pane", "-p", "-S", "-2000").rstrip("\n").split("\n")]

    def wait(self, wanted, patience=PATIENCE):
        """Waits until wanted(lines) holds; returns whether it did. At a prompt where nothing moves it does not wait long."""
        before, end, quiet_end = None, time.monotonic() + patience, 0
        while True:
            lines, now = self.screen(), time.monotonic()
            if wanted(lines):
                return True
            if lines != before:
                before, quiet_end = lines, now + QUIET
            if now > end or (now > quiet_end and self.ready(lines)):
                return False
            time.sleep(0.05)

    def settle(self, still=0.15):
        """Waits until the screen has not changed for a while."""
        before, since, end = None, time.monotonic(), time.monotonic() + 20
        while time.monotonic() - since < still and time.monotonic() < end:
            now = self.screen()
            if now != before:
                before, since = now, time.monotonic()
            time.sleep(0.02)

    def ready(self, lines):
        """The prompt waits on the last line."""
        filled = [line for line in lines if line]
        return bool(filled) and bool(PROMPT.match(filled[-1]))

    def fresh(self):
        """A clear screen with the prompt on it."""
        self.tmux("send-keys", "C-l")
        # What is cleared may go to the history, so that is cleared after.
        self.wait(lambda _: self.only_prompt(self.tmux("capture-pane", "-p").split("\n")), 20)
        self.tmux("clear-history")
        return self.wait(self.only_prompt, 20)

    def only_prompt(self, lines):
        return self.ready(lines) and sum(map(bool, lines)) == 1

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def enter(self, text):
        self.type(text)
        self.keys("Enter")

    def shows(self, pattern, prompt=True, patience=PATIENCE):
        """Waits for a line that matches, and for the prompt after it; what is wrong, or nothing."""
        found = re.compile(pattern)

        def there(lines):
            return any(found.search(line) for line in lines) and (not prompt or self.ready(lines))

        if self.wait(there, patience):
            return ""
        return f"no line like {pattern!r} and a prompt after it on the screen:\n" + "\n".join(self.screen()[-40:])


def session(sandbox, tally, options):
    """One visit, and a second one that remembers it."""
    terminal = Terminal(sandbox, options)
    mode = " ".join(options) or "auto"

    def step(title, problem):
        tally.check(f"{title} ({mode})", problem)

    def ask(title, text, pattern):
        terminal.fresh()
        terminal.enter(text)
        step(title, terminal.shows(pattern))

    terminal.start()
    try:
        prompt = terminal.wait(terminal.ready)
        step("prompt", "" if prompt else "no prompt:\n" + "\n".join(terminal.screen()))
        if not prompt:
            return  # each of the steps below would wait in vain
        ask("main-query", "load ids.bin | zip amounts.bin | select ids==42 && amounts>0 | snds | sum", r"^107$")

        terminal.fresh()
        terminal.enter("load ids.bin |")
        step(
            "continuation-prompt",
            "" if terminal.wait(lambda lines: not terminal.ready(lines), 20) else "no other prompt",
        )
        terminal.enter("count")
        step("continuation", terminal.shows(r"^10$"))

        ask("relation", "load ids.bin | zip amounts.bin | select ids == 7", r"\b30\b")
        ask("abbreviation-told", "load ids.bin | zip amounts.bin | select am == 30 | count", r"^note: am = amounts$")
        terminal.fresh()
        terminal.enter("| snds | sum")
        step("refinement", terminal.shows(r"^-20$"))

        ask("rows-left", "range 1..3000000 | select fst % 3 == 0 | map fst * 2 as x", r"^ *6,000,000$")
        ask("rows-left-place", ".tables", r"^_ +1,000,000 .* on demand +x ")
        ask("rows-left-refined", "| select x % 4 == 0 | sum", r"^1,500,003,000,000\b")
        ask("rows-left-failure", "| map 1 / (x - 600) as y | count y > 0", r"error: division by zero .*row 99$")

        ask("error", "load ids.bin | cuont", r"error: .*cuont")
        step("error-caret", terminal.shows(r"^ *\| +\^~~~~$", patience=5))
        step("error-advice", terminal.shows(r"\bcount\b", patience=5))
        ask("alive-after-error", "20 + 2", r"^22$")
        terminal.fresh()
        terminal.enter("range 1..3 | select x == 2")
        terminal.shows(r"\b2\b")
        terminal.enter("| bogus")
        terminal.shows(r"error")
        terminal.fresh()
        terminal.enter("| sum x * 41")
        step("refinement-after-error", terminal.shows(r"^82$"))
        ask("failing-row", "load zeros.i32 | map 10 / x", r"error: .*row 1\b")

        terminal.fresh()
        terminal.type("nonsense nonsense")
        terminal.wait(lambda lines: any("nonsense nonsense" in line for line in lines), 20)
        terminal.keys("C-c")
        terminal.wait(terminal.ready, 20)
        terminal.enter("30 + 3")
        step("interrupt-clears-the-line", terminal.shows(r"^33$"))
        step(
            "interrupt-runs-nothing",
            "error on the screen" if any("error" in line for line in terminal.screen()) else "",
        )

        terminal.fresh()
        terminal.enter("load ids.bin |")
        terminal.wait(lambda lines: not terminal.ready(lines), 20)
        terminal.keys("C-c")
        terminal.wait(terminal.ready, 20)
        terminal.enter("40 + 4")
        step("interrupt-clears-a-continuation", terminal.shows(r"^44$"))

        terminal.fresh()
        terminal.enter("range 1..4000000000000 | select (x ^ x >> 3) % 7 == 1 | count")
        # Interrupted at any time after it began; the prompt must be back soon.
        terminal.wait(lambda lines: any("count" in line for line in lines), 20)
        time.sleep(0.5)
        begun = time.monotonic()
        terminal.keys("C-c")
        back = terminal.wait(terminal.ready)
        seconds = time.monotonic() - begun
        step("interrupt-stops-a-query", "" if back and seconds < 10 else f"back: {back} after {seconds:.1f} s")
        ask("alive-after-interrupt", "50 + 5", r"^55$")

        # A loop of a row ends within it then: what it has computed so far is no result.
        terminal.fresh()
        terminal.enter("let stopped = range 1..3 | map sum(k in 1..10_000_000_000: (x * k) % 7)")
        terminal.wait(lambda lines: any("10_000_000_000" in line for line in lines), 20)
        time.sleep(0.5)
        terminal.keys("C-c")
        step("interrupt-stops-a-loop", terminal.shows(r"^interrupted$"))
        ask("interrupted-loop-has-no-result", "stopped", r"unknown relation or value `stopped`")

        ask("command", ".set fusion off", r"^rql> \.set fusion off$")
        ask("unknown-command", ".fusoin", r"error|unknown")
        ask("help", ".help", r"select")
        ask("table-is-cut", "range 1..100000", r"100000 rows|100,000 rows|100_000 rows")
        ask("save", "load ids.bin | save copy.i32", r"^rql> load ids\.bin \| save copy\.i32$")
        ask("saved", "load copy.i32 | sum", f"^{sum(harness.IDS)}$")

        terminal.fresh()
        terminal.type("load ids.bin | revers_no")
        terminal.keys("C-u")
        terminal.type("load ids.bin | rej")
        terminal.keys("Tab")
        step("completion", terminal.shows(r"reject", prompt=False, patience=20))
        terminal.keys("C-c")
        terminal.wait(terminal.ready, 20)

        terminal.fresh()
        terminal.tmux("load-buffer", "-", text="load ids.bin\n  | select ids == 444\n  | count")
        terminal.tmux("paste-buffer", "-p")
        terminal.wait(lambda lines: any("count" in line for line in lines), 20)
        terminal.keys("Enter")
        step("pasted-lines", terminal.shows(r"^1$"))

        terminal.fresh()
        terminal.type("70 + 17")
        terminal.keys("Left", "BSpace", "Home", "Right", "BSpace", "End")
        terminal.enter("0")
        step("line-editing", terminal.shows(r"^70$"))

        terminal.fresh()
        terminal.enter("60 + 6")
        terminal.shows(r"^66$")
        terminal.fresh()
        terminal.keys("Up")
        terminal.keys("Enter")
        step("history-up", terminal.shows(r"^66$"))
        terminal.fresh()
        terminal.keys("C-d")
        step("end-of-input-leaves", terminal.shows(r"^left with 0$", prompt=False, patience=20))
    finally:
        terminal.stop()

    history = os.path.join(sandbox.home, "state", "rql", "history")
    right = os.path.exists(history) and os.stat(history).st_mode & 0o777 == 0o600
    step("history-file-is-private", "" if right else f"{history}: missing, or not of mode 0600")

    terminal.start()
    try:
        terminal.wait(terminal.ready)
        terminal.fresh()
        terminal.keys("Up")
        terminal.keys("Enter")
        step("history-survives", terminal.shows(r"^66$"))
        terminal.fresh()
        terminal.enter(".quit")
        step("quit", terminal.shows(r"^left with 0$", prompt=False, patience=20))
    finally:
        terminal.stop()


def with_a_data_file(sandbox, tally):
    """The first and last rows of a long file are shown, from the first and last of its row groups, and queries read the
    columns that they need."""
    query = """range 1..3500000 | map c1 as id, c1 % 7 == 0 ? missing : c1 * 0.5 as half,
        c1 % 2 == 0 ? "even" : "odd" as kind, c1 % 1000 + 100 as code"""
    query = " ".join(query.split())
    harness.run(["--device", "host", "-c", query + " | save long.parquet"], sandbox.here, sandbox.home)
    terminal = Terminal(sandbox, ["--device", "host", "long.parquet"])
    terminal.start()
    try:
        tally.check("data-file-end", terminal.shows(r"^ *3,500,000 +missing +even +100$"))
        screen = "\n".join(terminal.screen())
        for title, row in (("begin", "1 +0.5 +odd +101"), ("missing", "7 +missing +odd +107"), ("rows", r"\d+ of 3,500,000 rows.*")):
            tally.check(f"data-file-{title}", "" if re.search(f"^ *{row}$", screen, re.MULTILINE) else screen)
        terminal.fresh()
        terminal.enter("| sum id")
        tally.check("data-file-sum", terminal.shows(r"^6,125,001,750,000"))
        terminal.enter(".tables")
        tally.check("data-file-bytes", terminal.shows(r"^long +3,500,000 +14,000,000 +file\+memory "))
    finally:
        terminal.stop()


def without_opencl(sandbox, tally):
    """Where no OpenCL platform is found, the evaluator answers without a word; .devices says so."""
    vendors = os.path.join(sandbox.root, "no-vendors")
    os.makedirs(vendors)
    os.environ["OCL_ICD_VENDORS"] = vendors
    terminal = Terminal(sandbox, ["--header"])
    terminal.start()
    try:
        terminal.wait(terminal.ready)
        terminal.fresh()
        terminal.enter("load ids.bin | count ids == 42")
        problem = terminal.shows(r"^4$")
        if not problem and any("note: " in line for line in terminal.screen()):
            problem = "\n".join(terminal.screen()[-20:])
        tally.check("without-opencl-answers", problem)
        terminal.fresh()
        terminal.enter(".devices")
        tally.check("without-opencl-says-so", terminal.shows(r"^no OpenCL device"))
    finally:
        terminal.stop()
        del os.environ["OCL_ICD_VENDORS"]


def with_a_slow_driver(sandbox, tally):
    """While a driver loads, the prompt, errors and queries do not wait for it, and leaving does not either."""
    vendors = drivers.slow_driver(sandbox)
    if not vendors:
        return
    os.environ["OCL_ICD_VENDORS"] = vendors
    terminal = Terminal(sandbox, ["--header"])
    patience = drivers.SLOW_SECONDS / 2
    terminal.start()
    began = time.monotonic()
    try:
        terminal.wait(terminal.ready)
        terminal.enter("load ids.bin | count 42")
        tally.check("slow-driver-query", terminal.shows(r"^4$", patience=patience))
        terminal.enter("load ids.bin | cuont 42")
        tally.check("slow-driver-error", terminal.shows(r"did you mean", patience=patience))
        terminal.keys("C-d")
        problem = terminal.shows(r"^left with 0$", prompt=False, patience=patience)
        took = time.monotonic() - began
        if not problem and took >= drivers.SLOW_SECONDS:
            problem = f"all of it took {took:.1f} s, and the driver was there by then"
        tally.check("slow-driver-leave", problem)
    finally:
        terminal.stop()
        del os.environ["OCL_ICD_VENDORS"]


def has_terminals():
    try:
        for end in os.openpty():
            os.close(end)
    except OSError as error:
        print(f"terminal: not tested, there are no pseudo-terminals here: {error}")
        return False
    return True


def main(sandbox):
    tally = harness.Tally("terminal")
    if not has_terminals():
        print("terminal: 0 passed, 0 failed")
        return 0
    if "device" in harness.MODES:
        without_opencl(sandbox, tally)
        with_a_slow_driver(sandbox, tally)
        session(sandbox, tally, harness.ALL_MODES["auto"])
    session(sandbox, tally, harness.ALL_MODES["host"])
    with_a_data_file(sandbox, tally)
    editing.all_steps(Terminal, sandbox, tally.check)
    highlighting.all_steps(Terminal, sandbox, tally.check)
    looking.all_steps(Terminal, sandbox, tally.check)
    return tally.finish()


if __name__ == "__main__":
    harness.main_program(main)
