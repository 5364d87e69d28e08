#!/usr/bin/env python3
"""The Jupyter kernel in contrib/jupyter: installed by pip, it runs a notebook. PYTHON must have nbclient and be one that may be
installed into, as of a virtual environment; without Jupyter nothing is tested, which is said.

    make jupyter PYTHON=venv/bin/python"""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402

# Cells, each with a kind of output and a text in it; None: there is no output.
CELLS = (
    ("let t = trades.csv", None, ""),
    ("t | group sym: sum(qty) as shares\n  | sort shares desc\n  | take 2", "text/html", "<td style=\"text-align: left\">AAPL</td>"),
    ("| sum shares", "stdout", "46535"),
    ("_ + 1", "stdout", "46536"),
    ("range 1..1000", "text/html", "50 of 1,000 rows"),
    ("range 1..3 | map x * 2.5 as big | plot", "image/svg+xml", "<svg"),
    ("range 1..2 | map \"<b>|\" as c1", "text/html", "&lt;b&gt;|"),
    ("t | sum sym", "error", "In["),
    ("range 1..3 | bogus", "error", "bogus"),
    ("explain range 1..3 | sum", "stdout", "queue: 2 tasks"),
    (".help sum", "stdout", "sum [E]"),
    ("# nothing", None, ""),
    ("t | count\nt | take 1", "text/html", "1 row"),
)


def outputs(cell):
    """The kinds of outputs with their texts."""
    found = {}
    for output in cell.outputs:
        if output.output_type == "stream":
            found[output.name] = found.get(output.name, "") + output.text
        elif output.output_type == "error":
            found["error"] = "\n".join(output.traceback)
        else:
            for kind, text in output.data.items():
                found[kind] = found.get(kind, "") + text
    return found


def install(sandbox):
    """From a copy: pip builds in the folder that it is given."""
    copy = sandbox.path("kernel")
    shutil.copytree(os.path.join(harness.TREE, "contrib", "jupyter"), copy)
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", copy]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def run_notebook(sandbox, tally):
    import nbclient
    import nbformat

    sample = os.path.join(harness.TREE, "data", "sample")
    os.environ.update(RQL=harness.RQL, HOME=sandbox.home, XDG_CACHE_HOME=os.path.join(sandbox.home, "cache"))
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(code) for code, _, _ in CELLS],
        metadata={"kernelspec": {"name": "rql", "display_name": "rql"}},
    )
    client = nbclient.NotebookClient(notebook, timeout=60, kernel_name="rql", allow_errors=True, resources={"metadata": {"path": sample}})
    client.execute()
    nbformat.validate(notebook)
    for (code, kind, text), cell in zip(CELLS, notebook.cells):
        found = outputs(cell)
        good = text in found.get(kind, "") if kind else not set(found) - {"stderr"}
        good = good and (kind == "error") == ("error" in found)
        tally.check(f"cell: {code}", "" if good else f"expected {text!r} in {kind}: {found}")


def interrupted(sandbox, tally):
    """An interrupt ends the query, not the session."""
    import jupyter_client

    manager, client = jupyter_client.manager.start_new_kernel(kernel_name="rql", cwd=sandbox.here)
    try:
        client.execute_interactive("let kept = 42", timeout=30)
        client.execute("range 1..4000000000000 | select (x ^ x >> 3) % 7 == 1 | count")
        import time

        time.sleep(1)
        manager.interrupt_kernel()
        texts = []
        client.get_shell_msg(timeout=30)
        client.execute_interactive("kept + 1", timeout=30, output_hook=lambda message: texts.append(str(message["content"])))
        tally.check("interrupted", "" if "43" in "".join(texts) else str(texts))
        client.inspect("t | median", 6)
        while (reply := client.get_shell_msg(timeout=30))["msg_type"] != "inspect_reply":
            pass
        tally.check("inspected", "" if "median" in reply["content"]["data"].get("text/plain", "") else str(reply["content"]))
    finally:
        client.stop_channels()
        manager.shutdown_kernel()


def main(sandbox):
    tally = harness.Tally("jupyter")
    try:
        import nbclient  # noqa: F401
    except ImportError:
        print("skipped: jupyter/notebook: this Python has no nbclient; PYTHON names one that has")
        print("jupyter: 0 passed, 0 failed")
        return 0
    problem = install(sandbox)
    tally.check("installed", problem)
    if not problem:
        run_notebook(sandbox, tally)
        interrupted(sandbox, tally)
    return tally.finish()


if __name__ == "__main__":
    harness.main_program(main)
