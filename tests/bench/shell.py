"""A running rql in a pseudo-terminal. Times span from Enter to the next prompt: parsing, planning, running and
printing."""

import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from fcntl import ioctl

PROMPT = b"rql> "
PATIENCE = 120  # seconds
ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\r|\x07")


class ShellError(Exception):
    pass


def device_number(rql, device):
    """The device as it is named for times: `gpu` by its number, since `--device gpu` computes on the host while programs
    are built. Others, and a GPU that is not there, keep their names."""
    if device != "gpu":
        return device
    listed = subprocess.run([rql, "-c", ".devices"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"^(\d+): .*\(GPU\)", listed, re.MULTILINE)
    return found[1] if found else device


class Shell:
    def __init__(self, rql, folder, options, env):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve(rql, [rql, "--quiet", "--format", "tsv", *options], env)
        # Wide enough that no line wraps or scrolls.
        ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 4000, 0, 0))
        self.read_until(prompts)

    def read_until(self, done):
        """Reads until `done` holds of the output; returns its text and the time."""
        seen = b""
        end = time.monotonic() + PATIENCE
        while True:
            if not select.select([self.terminal], [], [], max(0.0, end - time.monotonic()))[0]:
                raise ShellError(f"rql said nothing more for {PATIENCE} s after {seen[-200:]!r}")
            try:
                seen += os.read(self.terminal, 65536)
            except OSError as error:
                raise ShellError(f"rql has left: {seen[-500:].decode(errors='replace')}") from error
            now = time.perf_counter_ns()
            if done(seen):
                return ESCAPES.sub(b"", seen), now

    def ask(self, statement):
        """Types the statement and Enter; returns the output and the nanoseconds to the next prompt."""
        self.type(statement)
        return self.enter()

    def type(self, statement):
        typed = statement.encode()
        os.write(self.terminal, typed)
        self.read_until(lambda seen: typed in ESCAPES.sub(b"", seen))

    def enter(self):
        begun = time.perf_counter_ns()
        os.write(self.terminal, b"\r")
        seen, now = self.read_until(prompts)
        lines = [line.strip() for line in seen[: -len(PROMPT)].decode(errors="replace").split("\n")]
        said = [line for line in lines if line]
        if any("error:" in line for line in said):
            raise ShellError(" ".join(said)[:300])
        return said, now - begun

    def run(self, task, rows):
        pipeline = task.rql.format(thousands=rows // 1000)
        self.said, ns = self.ask(pipeline if task.scalar else f"let r = {pipeline}")
        return ns

    def result(self, task):
        """The last result: {"scalar"}, or the number of rows and, for each integer column, the sum modulo 2^64 and the
        values in the first row, after a third of the rows, and in the last row."""
        if task.scalar:
            return {"scalar": number(self.said[-1])}
        rows = int(number(self.ask("r | count")[0][-1]))
        places = (0, rows // 3, rows - 1) if rows else ()
        at = [[number(cell) for cell in self.ask(f"r | skip {k} | take 1")[0][-1].split("\t")] for k in places]
        if any(isinstance(value, float) for row in at for value in row):
            return {"rows": rows, "sums": None, "at": []}
        columns = [list(values) for values in zip(*at)]
        sums = [number(self.ask(f"r | sum ${k + 1}")[0][-1]) % 2**64 for k in range(len(columns))]
        return {"rows": rows, "sums": sums, "at": columns}

    def close(self):
        """Closes the terminal and kills a process that does not end."""
        os.close(self.terminal)
        for _ in range(50):
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                return
            time.sleep(0.1)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


class Screen(Shell):
    """Prints relations as a table instead of naming them; rows not shown are deferred."""

    def run(self, task, rows):
        if task.scalar:
            return None
        self.ask(".set format table")
        ns = self.ask(task.rql.format(thousands=rows // 1000))[1]
        self.ask(".set format tsv")
        return ns

    def result(self, task):
        self.ask("let r = _")
        return super().result(task)


def prompts(seen):
    """Whether the output ends in a prompt. Looks at no more of it: this process runs beside what it measures."""
    return ESCAPES.sub(b"", seen[-100:]).endswith(PROMPT)


def number(text):
    text = re.sub(r"[,_' ]", "", text)
    return float(text) if re.search(r"[.eEn]", text) else int(text)
