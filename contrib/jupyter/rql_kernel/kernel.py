"""The kernel: cells to rql, and its answers to the notebook."""

import os
import re

from ipykernel.kernelbase import Kernel

from . import __version__
from .process import Rql
from .tables import Reader

# A plot at the end of a statement, which is drawn into a file.
PLOT = re.compile(r"\|\s*plot[ \t]*(?=$|;|#)", re.MULTILINE)
WORD = re.compile(r"\.?[A-Za-z_]+")


class RqlKernel(Kernel):
    implementation = "rql"
    implementation_version = __version__
    banner = "rql: an interactive shell for columnar data"
    language_info = {"name": "rql", "mimetype": "text/x-rql", "file_extension": ".rql"}
    rql = None

    def start_rql(self):
        if self.rql is None:
            self.rql = Rql()
        return self.rql

    def stop_rql(self):
        if self.rql is not None:
            self.rql.close()
            self.rql = None

    def show(self, data):
        self.send_response(self.iopub_socket, "display_data", {"data": data, "metadata": {}})

    def stream(self, name, text):
        self.send_response(self.iopub_socket, "stream", {"name": name, "text": text})

    def run(self, code, silent):
        """Returns the lines of the first error, empty if there is none."""
        rql = self.start_rql()
        pictures = []

        def draw(_):
            pictures.append(os.path.join(rql.folder, f"plot-{rql.scripts}-{len(pictures)}.svg"))
            return f'| plot "{pictures[-1]}"'

        text = PLOT.sub(draw, code)
        text = "_ " + text.lstrip() if text.lstrip().startswith("|") else text
        reader = Reader(
            lambda table: self.show({"text/html": table.html(), "text/plain": table.text()}),
            lambda plain: self.stream("stdout", plain),
        )
        errors = []

        def say(output, line):
            if output == "stderr":
                if errors or "error: " in line:
                    errors.append(line)
                elif not silent:
                    self.stream("stderr", line + "\n")
            elif not silent:
                reader.line(line)

        alive = rql.run(text, say)
        reader.finish()
        for picture in pictures:
            if os.path.exists(picture):
                with open(picture, encoding="utf-8") as file:
                    self.show({"image/svg+xml": file.read(), "text/plain": "a plot"})
        if not alive:
            self.stop_rql()
            errors.append("error: rql has ended; the next cell starts it again, without the names")
        return errors

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, **_):
        try:
            errors = self.run(code, silent) if code.strip() else []
        except RuntimeError as problem:
            errors = [f"error: {problem}"]
        answer = {"execution_count": self.execution_count, "payload": [], "user_expressions": {}}
        if not errors:
            return {"status": "ok", **answer}
        trouble = {"ename": "error", "evalue": errors[0], "traceback": errors}
        if not silent:
            self.send_response(self.iopub_socket, "error", trouble)
        return {"status": "error", **trouble, **answer}

    def do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        word = next((found[0] for found in WORD.finditer(code) if found.start() <= cursor_pos <= found.end()), "")
        lines = []
        if word:
            self.start_rql().run(f".help {word}", lambda output, line: output == "stdout" and lines.append(line))
        return {"status": "ok", "found": bool(lines), "data": {"text/plain": "\n".join(lines)}, "metadata": {}}

    def do_shutdown(self, restart):
        self.stop_rql()
        return {"status": "ok", "restart": restart}
