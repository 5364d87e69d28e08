#!/usr/bin/env python3
"""ClickHouse of today for tests: the module chdb, behind ClickHouse's HTTP interface as far as rql uses it.

    modern.py       serves, and prints its port; ends with its standard input

One query runs at a time. Settings of the address become those of the query; there are no users. engines.py starts it by the interpreter of the
tests, or CHDB_PYTHON."""

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

    def run(self, sql, rows, parameters):
        """The answer as bytes and the number of rows read; `rows` are what an INSERT takes."""
        settings = ", ".join(f"{name} = '{value}'" for name, value in parameters.items() if name not in PARAMETERS)
        with self.busy:
            self.use(parameters.get("database", "default"))
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
        if "query" in parameters:
            sql, rows = parameters["query"], body
        else:  # the rows of an INSERT follow a line with the statement, or the name of a binary format and a space
            head = re.match(rb"INSERT INTO .*? FORMAT (?:TabSeparated\n|RowBinary )", body, re.S)
            sql, rows = (body[: head.end()].decode(), body[head.end() :]) if head else (body.decode(), b"")
        if "system.processes" in sql and engine.busy.locked() or sql.startswith("KILL"):
            self.answer(200, b"", ())
            return
        try:
            result, read = engine.run(sql, rows, parameters)
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
