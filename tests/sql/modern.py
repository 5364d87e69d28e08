#!/usr/bin/env python3
"""ClickHouse of today for tests: the module chdb, behind ClickHouse's HTTP interface as far as rql uses it.

    modern.py       serves, and prints its port; ends with its standard input

One query runs at a time. Settings of the address become those of the query; there are no users. engines.py starts it by the interpreter of the
tests, or CHDB_PYTHON."""

import contextlib
import http.server
import os
import re
import sys
import threading
import urllib.parse


PARAMETERS = ("query", "query_id", "database", "user", "password")


class Engine:
    def __init__(self, folder):
        from chdb import session

        self.session = session.Session(os.path.join(folder, "data"))
        self.folder, self.busy, self.database = folder, threading.Lock(), "default"
        self.session.query("SET max_threads = 1")
        self.version = self.session.query("SELECT version()", "TabSeparated").bytes().decode().strip()

    def use(self, database):
        if database != self.database:
            self.session.query("USE `" + database.replace("\\", "\\\\").replace("`", "\\`") + "`")
            self.database = database

    @contextlib.contextmanager
    def external(self, tables):
        """Tables of the rows that have come with a query, while it runs."""
        for name, (structure, rows) in tables.items():
            path = os.path.join(self.folder, name + ".rows")  # chdb takes files of its folder for tables of their names
            with open(path, "wb") as file:
                file.write(rows)
            self.session.query(f"CREATE TABLE {name} ({structure}) ENGINE = Memory")
            if rows:
                self.session.query(f"INSERT INTO {name} FROM INFILE '{path}' FORMAT Native")
        try:
            yield
        finally:
            for name in tables:
                self.session.query(f"DROP TABLE {name}")

    def run(self, sql, rows, parameters, tables):
        """The answer as bytes and the number of rows read; `rows` are what an INSERT takes."""
        settings = ", ".join(f"{name} = '{value}'" for name, value in parameters.items() if name not in PARAMETERS and not name.endswith(("_structure", "_format")))
        with self.busy, contextlib.ExitStack() as stack:
            self.use(parameters.get("database", "default"))
            stack.enter_context(self.external(tables))
            if sql.lstrip()[:6].upper() == "INSERT" and rows:
                path = os.path.join(self.folder, "rows")
                with open(path, "wb") as file:
                    file.write(rows)
                sql, count = re.subn(r"\sFORMAT\s+(\w+)\s*$", rf" FROM INFILE '{path}' FORMAT \1", sql)
                if count != 1:
                    raise ValueError("Code: 62. DB::Exception: INSERT without a format. (SYNTAX_ERROR)")
            elif settings:
                sql += " SETTINGS " + settings
            answer = self.session.query(sql, "TabSeparated")
            return answer.bytes(), answer.storage_rows_read()


def tables_of(body, boundary, parameters):
    """The structure and the rows of each part of a form."""
    tables = {}
    for part in body.split(f"--{boundary}".encode())[1:-1]:
        head, rows = part[2:-2].split(b"\r\n\r\n", 1)
        name = re.search(rb'; name="(\w+)"; filename=', head).group(1).decode()
        if parameters[f"{name}_format"] != "Native":
            raise ValueError("Code: 73. DB::Exception: only Native is understood here. (UNKNOWN_FORMAT)")
        tables[name] = parameters[f"{name}_structure"], rows
    return tables


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *_):
        pass

    def body(self):
        if self.headers.get("Transfer-Encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def answer(self, status, body, headers):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        engine = self.server.engine
        parameters = {name: values[0] for name, values in urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query, keep_blank_values=True).items()}
        body = self.body()
        tables = {}
        if self.headers.get("Content-Type", "").startswith("multipart/form-data"):
            tables, body = tables_of(body, self.headers["Content-Type"].split("boundary=")[1], parameters), b""
        if "query" in parameters:
            sql, rows = parameters["query"], body
        else:  # the rows of an INSERT follow a line with the statement, or the name of a binary format and a space
            head = re.match(rb"INSERT INTO .*? FORMAT (?:TabSeparated\n|RowBinary )", body, re.S)
            sql, rows = (body[: head.end()].decode(), body[head.end() :]) if head else (body.decode(), b"")
        if "system.processes" in sql and engine.busy.locked() or sql.startswith("KILL"):
            self.answer(200, b"", ())
            return
        try:
            result, read = engine.run(sql, rows, parameters, tables)
            self.answer(200, result, (("X-ClickHouse-Summary", f'{{"read_rows":"{read}"}}'),))
        except Exception as problem:  # whatever chdb raises is the answer
            text = str(problem)
            code = re.match(r"Code: (\d+)", text)
            self.answer(404 if code and code.group(1) in ("60", "81") else 500, (text + f" (version {engine.version} (official build))\n").encode(), (("X-ClickHouse-Exception-Code", code.group(1) if code else "0"),))


def serve(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.engine = Engine(folder)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
