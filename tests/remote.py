#!/usr/bin/env python3
"""Files at addresses, from a server on the loopback that obeys, stalls, cuts, refuses, redirects and changes what it has.

    tests/remote.py [GROUP ...]

Results must be those of the same files on the disk, and the server counts what it was asked for. Signatures of requests
for S3 are computed here again, from the rules of AWS (Signature Version 4).
"""

import gzip
import hashlib
import hmac
import html
import http.server
import os
import random
import re
import signal
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse

import harness

KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


class Asked:
    """One request."""

    def __init__(self, path, headers):
        self.path = path
        self.headers = headers
        self.range = headers.get("Range", "")
        self.sent = 0


class Server:
    """Objects by path. `faults` has for a path what happens to its next requests, each in a word; the last one repeats if
    it begins with `*`."""

    def __init__(self, tls=None):
        self.objects, self.etags, self.types, self.faults, self.log = {}, {}, {}, {}, []
        self.extra = {}  # headers of a path
        self.buckets = None  # set: requests are for S3, with its errors
        self.anonymous = False
        self.lock = threading.Lock()
        self.released = threading.Event()  # lets stalled answers end
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.answer(self)

        class Threads(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                pass  # clients close connections

        self.http = Threads(("127.0.0.1", 0), Handler)
        self.port = self.http.server_address[1]
        if tls:  # the handshake is made in the thread of its connection, or one that stalls would stop all
            self.http.socket = tls.wrap_socket(self.http.socket, server_side=True, do_handshake_on_connect=False)
        self.base = f"http{'s' if tls else ''}://127.0.0.1:{self.port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def put(self, path, data, etag=True):
        self.objects[path] = data
        self.etags[path] = f'"{hashlib.md5(data).hexdigest()}"' if etag is True else etag
        return self.base + path

    def take_log(self):
        log, self.log = self.log, []
        return log

    def fault(self, path):
        with self.lock:
            waiting = self.faults.get(path)
            if not waiting:
                return ""
            return waiting[0][1:] if waiting[0].startswith("*") else waiting.pop(0)

    def plain(self, handler, status, body=b"", headers=()):
        handler.send_response(status)
        for name, value in headers:
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def answer(self, handler):
        path = urllib.parse.unquote(handler.path.split("?")[0])
        asked = Asked(handler.path, handler.headers)
        with self.lock:
            self.log.append(asked)
        if self.buckets is not None and self.refuses(handler, path):
            return
        fault = self.fault(path)
        word, _, value = fault.partition(" ")
        if word.isdigit():
            self.plain(handler, int(word), b"no", [("Retry-After", value)] if value else [])
        elif word == "redirect":
            self.plain(handler, 302, headers=[("Location", value)])
        elif word == "close":
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)
        elif word == "silence":
            self.released.wait(60)
            handler.close_connection = True
        elif path not in self.objects:
            self.plain(handler, 404, b"not here")
        else:
            self.give(handler, asked, path, word, value)

    def give(self, handler, asked, path, word, value):
        data, etag = self.objects[path], self.etags[path]
        if word == "change":
            self.objects[path] = f"a\n{value}\n".encode()
        modified = None
        if etag and not etag.endswith('"'):
            etag, modified = None, etag
        if word == "other":
            etag = '"other"'
        size, begin, end, status = len(data), 0, len(data), 200
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", asked.range)
        known = asked.headers.get("If-None-Match") or asked.headers.get("If-Modified-Since")
        if known and known == (etag or modified) and word != "unconditional":
            handler.send_response(304)
            if etag:
                handler.send_header("ETag", etag)
            handler.end_headers()
            return
        if match and word not in ("norange", "nolength", "cutwhole", "chunks"):
            if match[1]:
                begin, end = int(match[1]), min(size, int(match[2] or size) + 1)
            else:
                begin = max(0, size - int(match[2]))
            if begin >= size:
                self.plain(handler, 416, headers=[("Content-Range", f"bytes */{size}")])
                return
            status = 206
        handler.send_response(status)
        if etag:
            handler.send_header("ETag", etag)
        if modified:
            handler.send_header("Last-Modified", modified)
        for name, text in self.extra.get(path, {}).items():
            handler.send_header(name, text)
        handler.send_header("Content-Type", self.types.get(path, "application/octet-stream"))
        if status == 206:
            handler.send_header("Content-Range", f"bytes {begin}-{end - 1}/{size}")
        body = data[begin:end]
        if word in ("nolength", "chunks"):
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            for at in range(0, len(body) if word == "nolength" else 100000, 50000):
                piece = body[at : at + 50000]
                handler.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            if word == "chunks":
                handler.close_connection = True
                handler.connection.shutdown(socket.SHUT_RDWR)
            else:
                handler.wfile.write(b"0\r\n\r\n")
            return
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if word in ("cut", "cutwhole", "stall"):
            body = body[: int(value)]
        asked.sent = len(body)
        handler.wfile.write(body)
        if word == "stall":
            handler.wfile.flush()
            self.released.wait(60)
        if word in ("cut", "cutwhole", "stall"):
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)

    def error(self, handler, status, code, message):
        self.plain(handler, status, f"<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{message}</Message></Error>".encode())
        return True

    def list(self, handler, bucket, query):
        """A page of three keys."""
        begin = f"/{bucket}/"
        keys = sorted(path[len(begin) :] for path in self.objects if path.startswith(begin + query["prefix"]))
        first = int(query.get("continuation-token", "0+/=").split("+")[0])
        items = "".join(
            f"<Contents><Key>{html.escape(key)}</Key><ETag>{html.escape(self.etags[begin + key])}</ETag>"
            f"<Size>{len(self.objects[begin + key])}</Size><StorageClass>STANDARD</StorageClass></Contents>"
            for key in keys[first : first + 3]
        )
        more = first + 3 < len(keys)
        token = f"<NextContinuationToken>{first + 3}+/=</NextContinuationToken>" if more else ""
        self.plain(handler, 200, f'<?xml version="1.0"?><ListBucketResult><IsTruncated>{str(more).lower()}</IsTruncated>{items}{token}</ListBucketResult>'.encode())
        return True

    def refuses(self, handler, path):
        """What S3 checks first."""
        if "Authorization" not in handler.headers:
            return not self.anonymous and self.error(handler, 403, "AccessDenied", "Access Denied")
        problem = signature_problem(handler.path, handler.headers)
        if problem:
            return self.error(handler, 403, "SignatureDoesNotMatch", problem)
        bucket = path.split("/")[1]
        if bucket not in self.buckets:
            return self.error(handler, 404, "NoSuchBucket", "The specified bucket does not exist")
        query = dict(urllib.parse.parse_qsl(handler.path.partition("?")[2], keep_blank_values=True))
        if query.get("list-type") == "2":
            return self.list(handler, bucket, query)
        if path not in self.objects:
            return self.error(handler, 404, "NoSuchKey", "The specified key does not exist.")
        return False


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature_problem(target, headers):
    """What is wrong with the signature of a GET; empty if it is right."""
    match = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w+)",
        headers["Authorization"],
    )
    if not match:
        return "no such form: " + headers["Authorization"]
    key, day, region, names, signature = match.groups()
    path, _, query = target.partition("?")
    signed = names.split(";")
    for name in headers:
        if name.lower() == "host" or name.lower().startswith("x-amz-"):
            if name.lower() not in signed:
                return f"{name} is not signed"
    canonical = "\n".join(
        [
            "GET",
            urllib.parse.quote(urllib.parse.unquote(path), safe="/-_.~"),
            "&".join(sorted(query.split("&"))),
            *[f"{name}:{' '.join(headers[name].split())}" for name in signed],
            "",
            names,
            headers["x-amz-content-sha256"],
        ]
    )
    scope = f"{day}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hashlib.sha256(canonical.encode()).hexdigest()])
    made = mac(mac(mac(mac(("AWS4" + SECRET).encode(), day), region), "s3"), "aws4_request")
    if key != KEY:
        return "unknown key"
    return "" if hmac.new(made, text.encode(), hashlib.sha256).hexdigest() == signature else "it differs: " + canonical


class Remote:
    def __init__(self, sandbox):
        self.sandbox = sandbox
        self.tally = harness.Tally("remote")
        self.server = Server()
        self.env = {}
        self.number = 0

    # ---- helpers

    def environment(self):
        env = harness.environment(self.sandbox.home)
        env.update(no_proxy="*", XDG_CACHE_HOME=os.path.join(self.sandbox.root, f"cache{self.number}"), **self.env)
        return env

    def fresh_cache(self):
        self.number += 1

    def cache(self):
        """The files that are kept, with what they take on the disk."""
        folder = os.path.join(self.environment()["XDG_CACHE_HOME"], "rql", "files")
        names = os.listdir(folder) if os.path.isdir(folder) else []
        return {name: os.stat(os.path.join(folder, name)).st_blocks * 512 for name in names}

    def rql(self, text, *options, stdin=b"", timeout=120):
        command = [harness.RQL, "--device", "host", *options, "-c", text]
        try:
            done = subprocess.run(
                command,
                cwd=self.sandbox.here,
                env=self.environment(),
                input=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            return harness.Result("timeout", late.stdout or b"", late.stderr or b"")
        return harness.Result(done.returncode, done.stdout, done.stderr)

    def local(self, text):
        """What the same query prints of files that are here."""
        got = self.rql(text)
        if got.status != 0 or not got.out:
            raise RuntimeError(f"{text}\n{got.text()}")
        return got.out.decode()

    def check_out(self, title, text, out, *options):
        """The query prints just this."""
        got = self.rql(text, *options)
        same = got.status == 0 and got.out.decode() == out
        self.tally.check(title, "" if same else f"{text}\nexpected {out!r}\n{got.text()}")
        return got

    def check_error(self, title, text, *parts, absent=(), options=()):
        """The query fails, and the message has these parts."""
        got = self.rql(text, *options)
        message = got.err.decode()
        lacking = [part for part in parts if part not in message] + [part for part in absent if part in message]
        wrong = got.status in (0, "timeout") or got.out or lacking
        self.tally.check(title, f"{text}\nnot so: {lacking}\n{got.text()}" if wrong else "")
        return got

    def check(self, title, holds, what=""):
        self.tally.check(title, "" if holds else f"it does not hold: {what}")

    def make(self, name, query):
        got = self.rql(f"{query} | save '{name}'")
        if got.status != 0:
            raise RuntimeError(got.text())
        with open(self.sandbox.path(name), "rb") as file:
            return file.read()

    def big(self, name):
        """A table whose columns are incompressible; the sums of two of them."""
        rows = 400_000
        rng = random.Random(7)
        numbers = bytearray(rng.randbytes(rows * 8))
        others = bytearray(rng.randbytes(rows * 8))
        for data in (numbers, others):
            data[7::8] = bytes(rows)  # sums fit
        self.sandbox.write("n.i64", bytes(numbers))
        self.sandbox.write("m.i64", bytes(others))
        data = self.make(name, "load n.i64 | zip (load m.i64) | derive k = row % 7, s = text(n % 1000)")
        total = sum(int.from_bytes(numbers[at : at + 8], "little") for at in range(0, len(numbers), 8))
        other = sum(int.from_bytes(others[at : at + 8], "little") for at in range(0, len(others), 8))
        return data, total, other

    # ---- groups

    def formats(self):
        """Every format, from servers with and without ranges and lengths."""
        query = "range 1..5000 as id | derive x = float(id) / 7, s = text(id % 100), d = date(\"2024-01-01\") + id % 300"
        for name in ("t.parquet", "t.arrow", "t.arrows", "t.csv", "t.csv.gz", "t.csv.zst", "t.tsv", "t.jsonl", "t.npz"):
            data = self.make(name, query)
            ask = "| group id % 10 as k: sum(x), max(s), count()" if name != "t.npz" else "| group id % 10 as k: sum(x), count()"
            local = self.local(f"load {name} {ask}")
            for word in ("", "*norange", "*nolength"):
                self.fresh_cache()
                url = self.server.put("/" + name, data)
                self.server.faults["/" + name] = [word] if word else []
                self.check_out(f"{name} {word}", f"load {url} {ask}", local)
                self.check_out(f"{name} {word} again", f"load {url} {ask}", local)
            self.server.faults.clear()
        for name, query in (("c.i32", "range 1..100000 as c | map c"), ("c.npy", "range 1..100000 as c"), ("c.txt", "range 1..1000 as c")):
            data = self.make(name, query)
            local = self.local(f"load {name} | sum")
            self.check_out(name, f"load {self.server.put('/' + name, data)} | sum", local)
        url = self.server.put("/empty.csv", b"")
        self.check_error("an empty file", f"load {url}", "empty.csv")
        url = self.server.put("/empty.i32", b"")
        self.check_out("an empty column", f"load {url} | count", "0\n")
        url = self.server.put("/small.csv", b"a,b\n1,2\n")
        self.check_out("a small file", f"load {url} | sum b", "2\n")

    def formats_by_content(self):
        """Addresses without an extension."""
        for name in ("t.parquet", "t.arrow", "t.csv", "t.csv.gz", "t.jsonl"):
            data = self.make(name, "range 1..3000 as id")
            url = self.server.put("/export/" + name.replace(".", "-"), data)
            self.check_out(f"{name} by its content", f"load '{url}?a=1&b=x.csv' | sum id", "4501500\n")
        url = self.server.put("/t.dat", b"a\n1\n")
        self.check_out("a stated format", f"load {url} csv | sum a", "1\n")
        url = self.server.put("/q.csv", b"a;b\n1;2\n")
        self.check_out("behind a question mark", f"load '{url}?x=y.parquet' | sum b", "2\n")
        self.check_out("a name from the address", f"let t = load '{url}?x=1'; .schema t", self.local(f"let t = load '{url}'; .schema t"))
        packed = self.server.put("/packed.csv", gzip.compress(b"a\n1\n2\n"))
        self.server.extra["/packed.csv"] = {"Content-Encoding": "gzip"}
        self.check_out("an encoded answer", f"load {packed} | sum a", "3\n")
        self.server.types["/page.csv"] = "text/html; charset=utf-8"
        url = self.server.put("/page.csv", b"<html>no</html>\n")
        self.check_out("a page on purpose", f"load {url} txt | count", "1\n")
        strange = self.server.put("/strange.csv", b"xyz")
        self.server.extra["/strange.csv"] = {"Content-Encoding": "br"}
        self.check_error("a strange encoding", f"load {strange}", "comes in an encoding that cannot be read: br")
        self.check_error("a web page", f"load {url}", "is a web page, not a data file")
        url = self.server.put("/typed.csv", b"a,b\n1,2\n")
        self.check_out("stated types", f"load {url} a float | sum a", "1.0\n")
        done = subprocess.run(
            [harness.RQL, "--device", "host", url, "-c", "| sum b"],
            env=self.environment(), cwd=self.sandbox.here, capture_output=True, check=False,
        )
        self.check("on the command line", done.stdout == b"2\n", done)

    def ranges(self):
        """Of a table, what the query needs."""
        for name in ("big.parquet", "big.arrow"):
            self.fresh_cache()
            data, total, other = self.big(name)
            url = self.server.put("/" + name, data)
            self.server.take_log()
            self.check_out(f"{name}: a column", f"load {url} | sum n", f"{total}\n")
            log = self.server.take_log()
            sent = sum(asked.sent for asked in log)
            self.check(f"{name}: no more than a part", sent < len(data) * 0.62, f"{sent} of {len(data)} in {len(log)} requests")
            self.check(f"{name}: only ranges", all(asked.range for asked in log), [asked.range for asked in log])
            self.check_out(f"{name}: again", f"load {url} | sum n", f"{total}\n")
            log = self.server.take_log()
            self.check(f"{name}: what is here is not sent", len(log) == 1 and log[0].sent == 0, [asked.range for asked in log])
            self.check_out(f"{name}: another column", f"load {url} | sum m", f"{other}\n")
            again = sum(asked.sent for asked in self.server.take_log())
            self.check(f"{name}: only what lacks", sent + again < len(data) * 1.1, f"{sent} and {again} of {len(data)}")
            self.check_out(f"{name}: both, in one session", f"let t = load {url}; t | map n - m | sum; load {url} | sum n", f"{total - other}\n{total}\n")
            self.check(f"{name}: asked once a statement", len(self.server.take_log()) == 2)
            local = self.local(f"load {name} | take 5; load {name} | tail 3; load {name} | select n % 1000 == 5 | count")
            self.fresh_cache()
            self.check_out(f"{name}: ends and filters", f"load {url} | take 5; load {url} | tail 3; load {url} | select n % 1000 == 5 | count", local)

    def validators(self):
        """What changes is loaded again."""
        url = self.server.put("/v.csv", b"a\n1\n")
        self.check_out("first", f"load {url} | sum a", "1\n")
        self.server.put("/v.csv", b"a\n2\n")
        self.check_out("changed", f"load {url} | sum a", "2\n")
        self.server.put("/v.csv", b"a\n3\n", '"same"')
        self.check_out("with another tag", f"load {url} | sum a", "3\n")
        self.server.faults["/v.csv"] = ["*unconditional"]
        self.check_out("without conditions", f"load {url} | sum a", "3\n")
        self.server.faults.clear()
        self.server.put("/v.csv", b"a\n4\n", None)
        self.check_out("without validators", f"load {url} | sum a", "4\n")
        self.server.put("/v.csv", b"a\n5\n", None)
        self.check_out("without validators, again", f"load {url} | sum a; load {url} | sum a", "5\n5\n")
        now = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime())
        self.server.put("/v.csv", b"a\n6\n", now)
        self.check_out("a time", f"load {url} | sum a", "6\n")
        self.server.put("/v.csv", b"a\n7\n", now)
        self.check_out("the same time, of now", f"load {url} | sum a", "7\n")
        for title, tag in (("a time", now), ("a tag of a time", '"5f-8"')):
            self.server.put("/v.csv", b"a\n6\n", tag)
            self.server.extra["/v.csv"] = {"Last-Modified": now} if tag != now else {}
            self.server.faults["/v.csv"] = ["change 7"]
            self.check_out(f"{title}, in a session", f"load {url} | sum a; load {url} | sum a", "6\n7\n")
        self.server.extra.clear()
        old = "Tue, 14 Nov 2023 22:13:20 GMT"
        self.server.put("/v.csv", b"a\n8\n", old)
        self.check_out("an old time", f"load {url} | sum a", "8\n")
        self.server.take_log()
        self.check_out("an old time, again", f"load {url} | sum a", "8\n")
        log = [(asked.sent, asked.range, dict(asked.headers)) for asked in self.server.take_log()]
        self.check("by a condition", [sent for sent, _, _ in log] == [0], log)

    def changes(self):
        """An object that changes while it is read is an error."""
        data, total, other = self.big("big.parquet")
        url = self.server.put("/c.parquet", data)
        self.server.faults["/c.parquet"] = ["", "*other"]
        self.check_error("between requests", f"load {url} | sum n", "changed while it was read: load it again")
        self.fresh_cache()
        self.server.faults["/c.parquet"] = ["", "cut 10", "*other"]
        self.check_error("between tries", f"load {url} | sum n", "changed while it was read: load it again")
        self.fresh_cache()
        self.server.faults["/c.parquet"] = []
        self.server.take_log()
        self.check_out("before it changes", f"let t = load {url}; t | sum n", f"{total}\n")
        asked = len(self.server.take_log())
        self.fresh_cache()
        self.server.faults["/c.parquet"] = [""] * asked + ["*other"]
        got = self.rql(f"let t = load {url}; t | sum n; t | sum n; t | sum m")
        self.check("what is here stays", got.out == f"{total}\n{total}\n".encode(), got.text())
        self.check("what lacks is an error", b"changed while it was read: load it again" in got.err, got.text())
        self.server.faults["/c.parquet"] = [""] * (asked + 1)
        self.server.etags["/c.parquet"] = '"new"'
        self.check_out("loaded again", f"load {url} | sum m", f"{other}\n")

    def faults(self):
        """Servers that fail for a while are asked again; what is wrong is said."""
        data, total, _ = self.big("big.parquet")
        url = self.server.put("/f.parquet", data)
        rng = random.Random(3)
        for title, faults in (
            ("unavailable", ["503", "503", "", "503", "500", "429", "502", "504"]),
            ("told to wait", ["503 1", "", "429 1"]),
            ("closed", ["close", "", "close", "close", "", "close"]),
            ("cut", [f"cut {rng.randint(0, 300000)}" for _ in range(12)]),
            ("cut at blocks", ["cut 65536", "cut 131072", "cut 65535", "cut 65537", "cut 1", "cut 0"]),
        ):
            self.fresh_cache()
            self.server.faults["/f.parquet"] = faults
            self.check_out(title, f"load {url} | sum n", f"{total}\n")
        for word in ("", "*norange", "*nolength"):
            self.fresh_cache()
            csv = self.make("f.csv", "range 1..200000 as a | derive b = a * 3")
            path = self.server.put("/f.csv", csv)
            cuts = [f"cut {rng.randint(0, 3000000)}" for _ in range(4)] if word != "*nolength" else []
            self.server.faults["/f.csv"] = cuts + ([word] if word else [])
            self.check_out(f"text, cut {word}", f"load {path} | sum b", "60000300000\n")
        for word in ("cutwhole 100000", "chunks"):
            self.fresh_cache()
            self.server.faults["/f.csv"] = ["*" + word]
            began = time.monotonic()
            self.check_error(f"always ends early, {word}", f"load {path} | sum b", "f.csv` was not received whole")
            self.check(f"after some tries, {word}", time.monotonic() - began < 20)
        self.fresh_cache()
        self.server.faults["/f.parquet"] = ["stall 100", "", "stall 70000", "stall 0"]
        self.check_out("stalled", f"load {url} | sum n", f"{total}\n", "-c", ".set timeout 4")
        self.fresh_cache()
        self.server.faults["/f.parquet"] = ["*silence"]
        self.check_error("silent", f"load {url} | sum n", "sends nothing more", ".set timeout SECONDS", options=("-c", ".set timeout 1"))
        self.server.released.set()
        self.server.faults["/f.parquet"] = ["*503"]
        self.check_error("always unavailable", f"load {url} | sum n", "HTTP status 503")
        self.server.faults["/f.parquet"] = ["", "*403"]
        self.check_error("no longer allowed", f"load {url} | sum n", "may not be read", "HTTP status 403")
        self.server.faults.clear()
        self.check_error("not there", f"load {self.server.base}/no.csv", "there is no `http://127.0.0.1:", "HTTP status 404")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.check_error("nobody listens", f"load http://127.0.0.1:{port}/t.csv", f"cannot connect to `127.0.0.1:{port}`")
        self.check_error("no such port", "load http://127.0.0.1:99999/t.csv", "`http://127.0.0.1:99999/t.csv` is not a valid address")
        with socket.create_server(("127.0.0.1", 0)) as other:
            def greet():
                connection, _ = other.accept()
                with connection:
                    connection.sendall(b"SSH-2.0-x\r\n")
                    connection.recv(1000)
                    connection.shutdown(socket.SHUT_WR)
            threading.Thread(target=greet, daemon=True).start()
            self.check_error("another protocol", f"load http://127.0.0.1:{other.getsockname()[1]}/t.csv", "does not answer as an HTTP server")
        self.check_error("no host", "load http://no.invalid/t.csv", "there is no host `no.invalid`")
        self.check_error("damaged", f"load {self.server.put('/d.parquet', data[:-1])}", "d.parquet` is not a Parquet file, or truncated")
        zeroed = data[: len(data) // 3] + bytes(100000) + data[len(data) // 3 + 100000 :]
        self.check_error("damaged inside", f"load {self.server.put('/z.parquet', zeroed)} | sum n", "z.parquet")

    def redirects(self):
        target = self.server.put("/target.csv", b"a\n1\n2\n")
        here = self.server.base
        self.server.faults["/r.csv"] = [f"*redirect {target}"]
        self.check_out("a redirect", f"load {here}/r.csv | sum a", "3\n")
        self.server.faults["/r.csv"] = ["*redirect /target.csv"]
        self.check_out("a relative one", f"load {here}/r.csv | sum a", "3\n")
        self.fresh_cache()
        data, total, _ = self.big("big.parquet")
        target = self.server.put("/target.parquet", data)
        self.server.faults["/r.parquet"] = [f"*redirect {target}"]
        self.server.take_log()
        self.check_out("one of ranges", f"load {here}/r.parquet | sum n", f"{total}\n")
        paths = [asked.path for asked in self.server.take_log()]
        self.check("a redirect is followed once", paths.count("/r.parquet") == 1 and len(paths) > 2, paths)
        self.fresh_cache()
        self.server.put("/later.parquet", data)
        self.server.faults["/r.parquet"] = [f"redirect {target}", f"*redirect {here}/later.parquet"]
        self.server.faults["/target.parquet"] = ["obey", "*403"]
        self.check_out("where it led has expired", f"load {here}/r.parquet | sum n", f"{total}\n")
        self.server.faults["/later.parquet"] = ["*403"]
        self.fresh_cache()
        self.server.faults["/r.parquet"] = [f"redirect {target}", f"*redirect {here}/later.parquet"]
        self.server.faults["/target.parquet"] = ["obey", "*403"]
        self.check_error("so has all that follows", f"load {here}/r.parquet | sum n", "r.parquet` may not be read")
        self.server.faults["/r.csv"] = [f"*redirect {here}/r.csv"]
        self.check_error("in circles", f"load {here}/r.csv | sum a", "leads in circles")
        secret = self.sandbox.write("secret.csv", b"a\n1\n")
        self.server.faults["/r.csv"] = [f"*redirect file://{self.sandbox.path(secret)}"]
        self.check_error("to a file", f"load {here}/r.csv | sum a", "leads to an address that is not http:// or https://")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.server.faults["/r.csv"] = [f"*redirect http://127.0.0.1:{port}/t.csv"]
        self.check_error("to nobody", f"load {here}/r.csv", "r.csv` leads to a server that cannot be reached", str(port), absent=(f"connect to `127.0.0.1:{self.server.port}`",))
        self.server.faults.clear()

    def secrets(self):
        """Passwords stand neither in addresses nor in messages."""
        here = f"127.0.0.1:{self.server.port}"
        self.check_error("a password", f"load http://me:geheim@{here}/t.csv", "an address holds no user and no password", "with https:// they are read")
        self.check_error("a password over https", f"load https://me:geheim@{here}/t.csv", "an address holds no user and no password", "~/.netrc: machine")
        got = self.rql(f"load 'http://{here}/no.csv?signature=geheim' | sum a")
        told = got.err.decode().split("\n")[0]
        self.check("a signature", got.status != 0 and "geheim" not in told and "no.csv?..." in told, got.text())
        signed = self.server.put("/signed.csv", b"a\n1\n")
        got = self.rql(f"load '{signed}?x=1&sig=geheim' | sum a", "--timing")
        self.check("a signature in times", got.status == 0 and "signed.csv" in got.text() and "geheim" not in (got.out + got.err).decode(), got.text())
        with open(os.path.join(self.sandbox.home, ".netrc"), "w", encoding="ascii") as file:
            file.write("machine 127.0.0.1 login me password geheim\n")
        url = self.server.put("/open.csv", b"a\n1\n")
        self.server.take_log()
        self.check_out("http without a name", f"load {url} | sum a", "1\n")
        self.check("no name is sent", not self.server.take_log()[0].headers.get("Authorization"))
        os.remove(os.path.join(self.sandbox.home, ".netrc"))
        self.check_error("saving", f"range 1..3 | save {url}", "save it to a file")

    def s3(self):
        data, total, _ = self.big("big.parquet")
        self.server.buckets = {"bucket"}
        keys = ["t.parquet", "a b/c=d/ü+'!*().parquet", "year=2024/%41.parquet"]
        for key in keys:
            self.server.put(f"/bucket/{urllib.parse.unquote(urllib.parse.quote(key))}", data)
        place = {"AWS_ENDPOINT_URL": self.server.base}
        keyed = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
        for key in keys:
            for more in ({}, {"AWS_SESSION_TOKEN": "FQoGZX//token=="}, {"AWS_REGION": "eu-north-1"}):
                self.fresh_cache()
                self.env = {**place, **keyed, **more}
                self.server.take_log()
                self.check_out(f"{key} {more}", f"load \"s3://bucket/{key}\" | sum n", f"{total}\n")
                log = self.server.take_log()
                region = more.get("AWS_REGION", "us-east-1")
                self.check("all are signed", log and all(f"/{region}/s3/" in asked.headers.get("Authorization", "") for asked in log))
                self.check_out(f"{key} {more}, again", f"load \"s3://bucket/{key}\" | sum n", f"{total}\n")
        self.check_error("no bucket", "load s3://bukket/t.parquet", "there is no bucket `bukket`")
        self.check_error("no object", "load s3://bucket/no.parquet", "there is no `s3://bucket/no.parquet`")
        self.check_error("no key in the address", "load s3://bucket", "the address names no object of the bucket")
        self.check_error("no bucket in the address", "load s3:///x.csv", "the address names no bucket")
        self.env = {**place, **keyed, "AWS_SECRET_ACCESS_KEY": "wrong"}
        self.check_error("a wrong key", "load s3://bucket/t.parquet", "may not be read", "SignatureDoesNotMatch", absent=("wrong", KEY))
        self.fresh_cache()
        self.env = place
        self.check_error("without a key", "load s3://bucket/t.parquet", "may not be read without a key: AccessDenied", "AWS_ACCESS_KEY_ID")
        self.server.anonymous = True
        self.check_out("anonymous", "load s3://bucket/t.parquet | sum n", f"{total}\n")
        self.server.anonymous = False
        folder = os.path.join(self.sandbox.home, ".aws")
        os.makedirs(folder)
        with open(os.path.join(folder, "credentials"), "w", encoding="ascii") as file:
            file.write(f"# keys\n[default]\naws_access_key_id = {KEY}\naws_secret_access_key={SECRET}\n[other]\naws_access_key_id=x\naws_secret_access_key=y\n")
        with open(os.path.join(folder, "config"), "w", encoding="ascii") as file:
            file.write(f"[default]\nregion = ap-south-1\n[profile far]\nregion=us-west-2\nendpoint_url = {self.server.base}\naws_access_key_id={KEY}\naws_secret_access_key={SECRET}\n[profile sso]\nsso_session = x\n")
        self.fresh_cache()
        self.server.take_log()
        self.check_out("from files", "load s3://bucket/t.parquet | sum n", f"{total}\n")
        self.check("the region of the file", "/ap-south-1/s3/" in self.server.take_log()[0].headers["Authorization"])
        self.env = {"AWS_PROFILE": "far"}
        self.check_out("a profile", "load s3://bucket/t.parquet | sum n", f"{total}\n")
        self.env = {**place, "AWS_PROFILE": "other"}
        self.check_error("a profile with another key", "load s3://bucket/t.parquet", "SignatureDoesNotMatch")
        self.env = {**place, "AWS_PROFILE": "sso"}
        self.check_error("a profile without keys", "load s3://bucket/t.parquet", "has `sso_session` instead of a key", "--profile sso --format env")
        self.env = {**place, "AWS_PROFILE": "prod"}
        self.check_error("no such profile", "load s3://bucket/t.parquet", "AWS_PROFILE is `prod`, which is no profile of")
        self.env = {**place, **keyed}
        self.server.faults["/bucket/t.parquet"] = [f"*redirect {self.server.base}/bucket/stolen.parquet"]
        self.server.take_log()
        self.check_error("no signature is redirected", "load s3://bucket/t.parquet", "HTTP status 302")
        self.check("nobody else was asked", {asked.path for asked in self.server.take_log()} == {"/bucket/t.parquet"})
        self.env = {}
        self.server.buckets = None

    def lists(self):
        """Patterns and folders of a bucket, as of files that are here."""
        self.server.buckets = {"bucket"}
        self.env = {"AWS_ENDPOINT_URL": self.server.base, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
        paths = [f"sales/year={year}/month={month:02}/part {part} & 1.parquet" for year in (2023, 2024) for month in range(1, 5) for part in "ab"]
        for number, path in enumerate(paths):
            os.makedirs(os.path.dirname(self.sandbox.path(path)), exist_ok=True)
            self.server.put(f"/bucket/{path}", self.make(path, f"range 1..{1000 + number} as n"))
        for path in ("sales/_SUCCESS", "sales/year=2024/.hidden.parquet", "sales/notes.md", "other/n.parquet"):
            os.makedirs(os.path.dirname(self.sandbox.path(path)), exist_ok=True)
            self.sandbox.write(path, b"x")
            self.server.put(f"/bucket/{path}", b"x")
        for path in ("sales/", "sales/year=2024/*/*.parquet", "sales/**/part b*.parquet", "sales/year=202[34]/month=0?/part a*"):
            for ask in ("| group year, month: count(), sum(n)", "| select month == 3 | count", "| take 3"):
                if ask != "| take 3" and "sales/year=2024/*" in path:
                    ask = ask.replace("year, ", "")
                local = self.local(f"load '{path}' {ask}")
                self.check_out(f"{path} {ask}", f"load 's3://bucket/{path}' {ask}", local)
        self.server.take_log()
        self.check_out("only what can pass", "load s3://bucket/sales/ | select year == 2024 && month == 2 | count", self.local("load sales/ | select year == 2024 && month == 2 | count"))
        opened = {asked.path for asked in self.server.take_log() if "list-type" not in asked.path}
        self.check("two files, and the first", len(opened) <= 3, opened)
        self.check_error("nothing found", "load 's3://bucket/sales/*.arrow'", "no file matches `s3://bucket/sales/*.arrow`")
        self.check_error("an empty folder", "load s3://bucket/none/", "holds no files that can be loaded")
        self.check_error("no bucket of a folder", "load s3://bukket/none/", "there is no bucket `bukket`")
        self.check_error("patterns of http", f"load '{self.server.base}/*.csv'", "*.csv` may not be read: AccessDenied")
        self.env = {}
        self.server.buckets = None

    def interrupts(self):
        """Ctrl-C ends what waits, and what comes."""
        data, total, _ = self.big("big.parquet")
        url = self.server.put("/i.parquet", data)
        rng = random.Random(5)
        for number in range(8):
            self.fresh_cache()
            self.server.released.clear()
            self.server.faults["/i.parquet"] = [["*silence"], ["", "*stall 1000"], ["", "*silence"], ["*503"]][number % 4]
            with subprocess.Popen(
                [harness.RQL, "--device", "host", "-c", f"load {url} | sum n"], env=self.environment(),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            ) as process:
                time.sleep(0.2 + 0.3 * rng.random())
                process.send_signal(signal.SIGINT)
                try:
                    out, err = process.communicate(timeout=10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    out, err = process.communicate()
                    err += b"\ndid not end"
            self.check(f"interrupt {number}", process.returncode in (130, -signal.SIGINT) and not out, f"{process.returncode} {out} {err}")
            self.server.released.set()
            self.server.faults.clear()
            self.check_out(f"after interrupt {number}", f"load {url} | sum n", f"{total}\n")

    def kept(self):
        """What is kept has a limit, and can be dropped."""
        self.fresh_cache()
        for number in range(3):
            url = self.server.put(f"/k{number}.csv", b"a\n" + b"123456789\n" * 200000)
            self.check_out(f"file {number}", f"load {url} | count", "200000\n")
        self.check("all are kept", len(self.cache()) == 3, self.cache())
        got = self.rql(".cache")
        self.check("shown", re.match(rb"3 files, 6\.\d MB in /", got.out), got.text())
        self.server.take_log()
        got = self.rql(f"load {url} | count", "-c", ".set cache off")
        self.check("not kept", got.out == b"200000\n" and sum(asked.sent for asked in self.server.take_log()) > 2000000, got.text())
        self.check("nothing is dropped then", len(self.cache()) == 3, self.cache())
        self.check_out("loaded while dropped", f"let t = load {url}; t | count\n.cache clear\nt | sum a", "200000\n1 file, 2.1 MB in " + os.path.join(self.environment()["XDG_CACHE_HOME"], "rql", "files") + "\n24691357800000\n")
        got = self.rql(".cache clear")
        self.check("dropped", re.match(rb"0 files, 0\.0 MB in /", got.out) and not self.cache(), got.text())
        self.check_error("another word", ".cache empty", "`.cache` cannot do `empty`")
        folder = os.path.join(self.environment()["XDG_CACHE_HOME"], "rql", "files")
        with open(os.path.join(folder, "0" * 32), "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 1_000_000_000)
        os.utime(file.name, (harness.OLD, harness.OLD))
        url = self.server.put("/fresh.csv", b"a\n" + b"123456789\n" * 200000)
        self.check_out("beyond the limit", f"load {url} | count", "200000\n", "-c", ".set cache 1")
        self.check("the oldest has gone", len(self.cache()) == 1 and "0" * 32 not in self.cache(), self.cache())
        for name in self.cache():
            with open(os.path.join(folder, name), "r+b") as file:
                file.write(b"damaged!")
        self.check_out("a damaged one is not used", f"load {url} | count", "200000\n")
        self.rql(".cache clear")

    def certificate(self, name, *options):
        """A key and a certificate that it has signed itself, valid for these names of servers."""
        certificate, key = self.sandbox.path(f"{name}.crt"), self.sandbox.path(f"{name}.key")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
             "-keyout", key, "-out", certificate, *options],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return certificate, context

    def tls(self):
        """Servers with TLS, whose certificates are trusted, unknown, and of another name."""
        data, total, _ = self.big("big.parquet")
        here = ["-addext", "subjectAltName=IP:127.0.0.1"]
        trusted, context = self.certificate("here", *here)
        server = Server(context)
        url = server.put("/t.parquet", data)
        self.check_error("not trusted", f"load {url} | sum n", "certificate", "SSL_CERT_FILE")
        self.check("nothing was asked", not server.take_log())
        self.env = {"SSL_CERT_FILE": trusted}
        self.check_out("trusted", f"load {url} | sum n", f"{total}\n")
        self.check("parts of it", sum(asked.sent for asked in server.take_log()) < len(data))
        stranger = Server(self.certificate("stranger", *here)[1])
        self.check_error("another's certificate", f"load {stranger.put('/t.parquet', data)} | sum n", "certificate")
        elsewhere, context = self.certificate("elsewhere", "-addext", "subjectAltName=DNS:example.org")
        named = Server(context)
        self.env = {"SSL_CERT_FILE": elsewhere}
        self.check_error("of another name", f"load {named.put('/t.parquet', data)} | sum n", "certificate")
        self.env = {"SSL_CERT_FILE": trusted}
        server.faults["/t.parquet"] = [f"*redirect {self.server.put('/plain.parquet', data)}"]
        self.server.take_log()
        self.fresh_cache()
        self.check_error("not to http", f"load {url} | sum n", "not https://")
        self.check("nobody was asked there", not self.server.take_log())
        server.faults["/t.parquet"] = [f"*redirect {server.put('/moved.parquet', data)}"]
        self.check_out("to https", f"load {url} | sum n", f"{total}\n")
        server.take_log()
        self.sandbox.write(os.path.join(self.sandbox.home, ".netrc"), b"machine 127.0.0.1 login somebody password secret\n")
        server.faults.clear()
        self.fresh_cache()
        self.check_out("with a password", f"load {url} | sum n", f"{total}\n")
        self.check("sent by TLS", "Basic c29tZWJvZHk6c2VjcmV0" in {asked.headers.get("Authorization") for asked in server.take_log()})
        self.fresh_cache()
        self.check_out("without TLS", f"load {self.server.base}/plain.parquet | sum n", f"{total}\n")
        self.check("none in the clear", all("Authorization" not in asked.headers for asked in self.server.take_log()))
        os.remove(os.path.join(self.sandbox.home, ".netrc"))
        self.env = {}

    def together(self):
        """Processes share what is kept."""
        data, total, other = self.big("big.parquet")
        url = self.server.put("/p.parquet", data)
        self.server.faults["/p.parquet"] = ["cut 1000", "", "503", "cut 100000"]
        running = [
            subprocess.Popen(
                [harness.RQL, "--device", "host", "-c", f"load {url} | sum {'nm'[k % 2]}"], env=self.environment(),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
            for k in range(6)
        ]
        for k, process in enumerate(running):
            out, err = process.communicate(timeout=120)
            self.check(f"process {k}", out == f"{[total, other][k % 2]}\n".encode(), (out, err))


def main(sandbox):
    test = Remote(sandbox)
    return harness.run_groups(
        test.tally,
        [
            test.formats,
            test.formats_by_content,
            test.ranges,
            test.validators,
            test.changes,
            test.faults,
            test.redirects,
            test.secrets,
            test.tls,
            test.s3,
            test.lists,
            test.interrupts,
            test.kept,
            test.together,
        ],
    )


if __name__ == "__main__":
    harness.main_program(main)
