"""ClickHouse for tests: the server of Debian, and the module chdb behind modern.py; and what tests on them share."""

import argparse
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402

CONFIG = """<?xml version="1.0"?><yandex>
<logger><level>warning</level><log>{here}/log</log><errorlog>{here}/errors</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
<max_concurrent_queries>20</max_concurrent_queries><mark_cache_size>100000000</mark_cache_size>
<path>{here}/data/</path><tmp_path>{here}/data/tmp/</tmp_path><user_files_path>{here}/data/files/</user_files_path>
<format_schema_path>{here}/data/schemas/</format_schema_path><users_config>{here}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database><timezone>UTC</timezone>
<remote_servers>{clusters}</remote_servers>
</yandex>"""

USERS = """<?xml version="1.0"?><yandex>
<profiles><default><max_threads>1</max_threads></default>
<skipping><skip_unavailable_shards>1</skip_unavailable_shards></skipping>
<skipped><readonly>1</readonly><skip_unavailable_shards>1</skip_unavailable_shards></skipped>
<ro><readonly>2</readonly></ro><fixed><readonly>1</readonly></fixed>
<cut><readonly>1</readonly><max_rows_to_read>5</max_rows_to_read><read_overflow_mode>break</read_overflow_mode></cut>
<free><max_rows_to_read>5</max_rows_to_read><read_overflow_mode>break</read_overflow_mode></free></profiles>
<users>{users}</users><quotas><default></default></quotas></yandex>"""

USER = """<{name}><password>{password}</password><networks><ip>127.0.0.1</ip></networks><profile>{profile}</profile><quota>default</quota></{name}>"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server on loopback: a process with a folder of its own."""

    def __init__(self, folder):
        self.folder, self.port, self.process = folder, 0, None

    def start(self, command, **options):
        with open(os.path.join(self.folder, "output"), "ab") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, stderr=log, **{"stdout": log, **options})

    def ask(self, sql):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", data=sql if isinstance(sql, bytes) else sql.encode(), timeout=60) as answer:
            return answer.read().decode()

    def url(self, table, by, user=""):
        return f"clickhouse://{user}127.0.0.1:{self.port}/default/{table}?by={by}"

    def stop(self):
        self.process.kill()
        self.process.wait()


class ClickHouse(Server):
    def __init__(self, folder, tcp=None, clusters=""):
        super().__init__(folder)
        self.port, self.tcp = free_port(), tcp or free_port()
        os.makedirs(os.path.join(folder, "data", "tmp"))
        people = [("default", "", "default"), ("reader", "secret", "ro")] + [(name, "", name) for name in ("fixed", "cut", "free", "skipping", "skipped")]
        users = "".join(USER.format(name=name, password=password, profile=profile) for name, password, profile in people)
        config = CONFIG.format(here=folder, http=self.port, tcp=self.tcp, clusters=clusters)
        for name, text in (("config.xml", config), ("users.xml", USERS.format(users=users))):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        self.launch()

    def launch(self):
        self.start(["clickhouse-server", f"--config-file={self.folder}/config.xml"])

    def wait(self):
        for _ in range(600):
            try:
                self.ask("SELECT 1")
                return self
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.05)
        raise RuntimeError("clickhouse-server does not start")


def python():
    return os.environ.get("CHDB_PYTHON") or sys.executable


class Modern(Server):
    """Of today."""

    def __init__(self, folder):
        super().__init__(folder)
        self.start([python(), os.path.join(os.path.dirname(os.path.abspath(__file__)), "modern.py"), folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def wait(self):
        self.port = int(self.process.stdout.readline() or 0)
        if not self.port:
            raise RuntimeError("chdb does not start")
        return self


def modern_is_there():
    return subprocess.run([python(), "-c", "import chdb.session"], capture_output=True, check=False).returncode == 0


# Whether it is installed, what starts it, what it is called.
ENGINES = {
    "clickhouse-18": (lambda: bool(shutil.which("clickhouse-server")), ClickHouse, "clickhouse-server"),
    "clickhouse": (modern_is_there, Modern, "the module chdb"),
}


def present(title, names=tuple(ENGINES)):
    """The engines that are installed; tells which are not."""
    found = [name for name in names if ENGINES[name][0]()]
    missing = [ENGINES[name][2] for name in names if name not in found]
    if missing:
        print(f"{title}: skipped: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed ({len(missing)} of {len(names)} engines)", flush=True)
    return found


class Proxy:
    """Passes requests on to a server, and counts the bytes of its answers, those sent there, and the statements."""

    def __init__(self, server):
        self.listener, self.to, self.bytes, self.sent, self.statements = socket.create_server(("127.0.0.1", 0)), server.port, 0, 0, 0
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            with contextlib.suppress(OSError):
                near = self.listener.accept()[0]
                far = socket.create_connection(("127.0.0.1", self.to))
                for ends in ((near, far, False), (far, near, True)):
                    threading.Thread(target=self.pump, args=ends, daemon=True).start()

    def pump(self, source, sink, answers):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                self.bytes += len(data) if answers else 0
                self.sent += 0 if answers else len(data)
                self.statements += 0 if answers else data.count(b"POST /")
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def url(self, table, by):
        return f"clickhouse://127.0.0.1:{self.port}/default/{table}?by={by}"

    def travel(self, work):
        """The result of work(), the bytes and the statements that it took."""
        before = self.bytes, self.statements
        return work(), self.bytes - before[0], self.statements - before[1]


class Part:
    """What is counted of one engine."""

    def __init__(self, tally, name):
        self.tally, self.name = tally, name

    def check(self, title, problem):
        self.tally.check(f"{self.name}: {title}", problem)


@contextlib.contextmanager
def started(name, sandbox):
    """The engine's server with a folder of its own, until the end of the block."""
    folder = sandbox.path(f"server-{name}")
    os.makedirs(folder)
    server = ENGINES[name][1](folder).wait()
    try:
        yield server
    finally:
        server.stop()


class Rig:
    def __init__(self, sandbox, tally):
        self.sandbox = sandbox
        self.tally = tally

    def run(self, *queries, variables=()):
        arguments = ["--device", "host"]
        for query in queries:
            arguments += ["-c", query]
        return harness.run(arguments, self.sandbox.here, self.sandbox.home, prefix=("env", *variables))

    def answers(self, title, expected, *queries, variables=()):
        result = self.run(*queries, variables=variables)
        got = result.out.decode()
        problem = harness.difference(expected, got, "output") if got != expected else ""
        self.tally.check(title, problem or ("" if result.status == 0 else result.text()))

    def fails(self, title, message, *queries, variables=(), status=1):
        """The one error has this text, and nothing is printed."""
        result = self.run(*queries, variables=variables)
        errors = result.err.decode()
        good = result.status == status and message in errors and errors.count("error: ") == 1 and not result.out
        self.tally.check(title, "" if good else f"expected status {status} and {message!r}: {result.text()}")


def each(title, tally, names=tuple(ENGINES)):
    """The engines that are installed: the name of each, a rig and a server, which stops when the next is asked for."""
    for name in present(title, names):
        with harness.Sandbox() as sandbox, started(name, sandbox) as server:
            yield name, Rig(sandbox, Part(tally, name)), server


def options(count, names=tuple(ENGINES)):
    """The arguments of a test of random lines."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engines", default=",".join(names))
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


def main(title, test, count):
    """Runs test(rig, server, options) on each engine; returns the exit status."""
    chosen = options(count)
    tally = harness.Tally(title)
    for _, rig, server in each(title, tally, chosen.engines.split(",")):
        try:
            test(rig, server, chosen)
        except subprocess.TimeoutExpired as problem:
            rig.tally.check("in time", str(problem))
    tally.finish()
    return 1 if tally.failed else 0
