#!/usr/bin/env python3
"""docs/everyday.md: every query of it runs on the sample data and prints what the page says.

    everyday.py            rql only; UPDATE=1 rewrites the answers in the page
    everyday.py --duckdb   also compares with what DuckDB answers to the SQL"""

import csv
import os
import re
import shutil
import subprocess
import sys

import harness

PAGE = os.path.join(harness.TREE, "docs", "everyday.md")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
RELATIVE = 1e-12


class Page:
    def __init__(self, sandbox):
        self.folder = sandbox.path("sample")
        shutil.copytree(os.path.join(harness.TREE, "data", "sample"), self.folder)
        programs = sandbox.path("bin")
        os.makedirs(programs)
        os.symlink(harness.RQL, os.path.join(programs, "rql"))
        self.env = harness.environment(sandbox.home)
        self.env["PATH"] = programs + ":" + self.env["PATH"]

    def run(self, language, text, style="table"):
        rql = ["rql", "--quiet", "--device", "host", "--format", style, "--header", "-c", text]
        command = ["bash", "-c", text] if language == "sh" else rql
        return subprocess.run(command, cwd=self.folder, env=self.env, capture_output=True, text=True, check=False)


def number(cell):
    try:
        return float(cell)
    except ValueError:
        return None


def same(ours, theirs):
    a, b = number(ours), number(theirs)
    if a is None or b is None:
        return ours.replace("T", " ") == theirs.replace("T", " ")
    return abs(a - b) <= RELATIVE * max(abs(a), abs(b))


def duckdb_differs(connection, sql, answer):
    """Compares DuckDB's answer with ours, which is TSV with a header unless it is one value."""
    cursor = connection.execute(sql)
    names = [column[0] for column in cursor.description]
    rows = [["" if cell is None else str(cell) for cell in row] for row in cursor.fetchall()]
    ours = list(csv.reader(answer.splitlines(), delimiter="\t"))
    if ours and ours[0] == names:
        ours = ours[1:]
    if len(ours) != len(rows) or not all(len(a) == len(b) and all(map(same, a, b)) for a, b in zip(ours, rows)):
        return f"DuckDB: {names} {rows}\nrql: {ours}"
    return ""


def main():
    tally = harness.Tally("everyday")
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    connection = None
    with harness.Sandbox() as sandbox:
        page = Page(sandbox)
        if "--duckdb" in sys.argv:
            import duckdb

            os.chdir(page.folder)
            connection = duckdb.connect()
        answer, query, asked = None, None, None

        def visit(match):
            nonlocal answer, query, asked
            language, body = match[1], match[2]
            if language in ("rql", "sh"):
                result = page.run(language, body)
                asked, query, answer = language, body, result.stdout
                tally.check(f"runs: {body.strip()}", result.stderr if result.returncode else "")
            elif language == "text":
                tally.check(f"answer: {query.strip()}", "" if answer == body else f"printed:\n{answer}\nthe page has:\n{body}")
                return f"```text\n{answer}```"
            elif language == "sql" and connection:
                if body.startswith("create"):
                    connection.execute(body)
                else:
                    plain = answer if asked == "sh" else page.run(asked, query, "tsv").stdout
                    tally.check(f"DuckDB: {body.strip()}", duckdb_differs(connection, body, plain))
            return match[0]

        rewritten = BLOCK.sub(visit, text)
    if os.environ.get("UPDATE"):
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(rewritten)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
