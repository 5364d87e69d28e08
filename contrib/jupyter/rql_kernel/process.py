"""rql as another process, which is given scripts and answers on standard output and standard error."""

import os
import pty
import select
import shutil
import signal
import subprocess
import tempfile
import termios
import uuid


class Rql:
    """A session of rql. Its input is a terminal, so that errors do not end it; its outputs are pipes."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="rql-kernel-")
        self.scripts = 0
        program = os.environ.get("RQL", "rql")
        master, slave = pty.openpty()
        modes = termios.tcgetattr(slave)
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, modes)
        try:
            self.process = subprocess.Popen(
                [program, "--format", "markdown", "--header"],
                stdin=slave,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as problem:
            os.close(master)
            shutil.rmtree(self.folder, ignore_errors=True)
            raise RuntimeError(f"cannot start {program}: {problem.strerror}; is rql on the path, or named in RQL?") from problem
        finally:
            os.close(slave)
        self.input = master

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def run(self, text, say):
        """Runs a script. Calls say("stdout" or "stderr", line) for each line of the answer. Returns false if rql has ended."""
        self.scripts += 1
        path = os.path.join(self.folder, f"In[{self.scripts}]")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        # The end is the error of an unknown command: unlike a value it changes nothing.
        end = f".end-{uuid.uuid4().hex}"
        try:
            os.write(self.input, f'.read "{path}"\n{end}\n'.encode())
            return self.listen(end, say)
        except OSError:
            return False

    def listen(self, end, say):
        outputs = {self.process.stdout.fileno(): "stdout", self.process.stderr.fileno(): "stderr"}
        partial = dict.fromkeys(outputs, b"")
        ending = ended = False
        while True:
            try:
                # What rql has written before its last message is in the pipes by then.
                ready = select.select(list(outputs), [], [], 0 if ended else None)[0]
                if not ready:
                    break
                for fd in ready:
                    got = os.read(fd, 1 << 16)
                    if not got:
                        return False
                    *lines, partial[fd] = (partial[fd] + got).split(b"\n")
                    for line in (each.decode("utf-8", "replace") for each in lines):
                        ending = ending or (outputs[fd] == "stderr" and end in line)
                        if not (ending and outputs[fd] == "stderr"):
                            say(outputs[fd], line.replace(self.folder + "/", ""))
                        ended = ended or (ending and line.startswith("hint:"))
            except KeyboardInterrupt:
                self.interrupt()
        for fd, rest in partial.items():
            if rest:
                say(outputs[fd], rest.decode("utf-8", "replace"))
        return True

    def close(self):
        os.close(self.input)
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
