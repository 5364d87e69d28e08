#!/usr/bin/env python3
"""What questions to 10^12 rows on 1000 shards would take, from what they take on one, two and four ClickHouse servers of this machine:
bytes to the server that is asked, to the shards and to rql, and memory, for docs/scale.md. Not a test.

    thousand.py [ROWS A SHARD]"""

import sys
import time

import engines
from engines import harness

KEYS = (1000, 32000)
SHARDS = (1, 2, 4)
LINES = (
    ("`select id == 42 \\| count`", "select id == 42 | count"),
    ("`sum amount`", "sum amount"),
    ("`sum x`, floats", "sum x"),
    ("`top 10 by amount`", "top 10 by amount, pos"),
    ("`group k: count(), sum(amount)`", "derive k = id % {keys} | group k: count(), sum(amount)"),
    ("`group k: mean(x)`", "derive k = id % {keys} | group k: mean(x)"),
    ("`group: distinct(k)`", "derive k = id % {keys} | group: distinct(k)"),
    ("`median amount`", "median amount"),
    ("`lookup file on k`, then groups", "derive k = id % {keys} | lookup (range 0..{last} | map _ as k, _ % 10 as w) on k | group w: sum(amount)"),
)


class Port:
    def __init__(self, port):
        self.port = port


class Rack:
    """Servers that reach each other through proxies, and write down the memory of their queries."""

    def __init__(self, sandbox, rows):
        engines.CONFIG = engines.CONFIG.replace("</yandex>", "<query_log><database>system</database><table>query_log</table><flush_interval_milliseconds>100</flush_interval_milliseconds></query_log></yandex>")
        engines.USERS = engines.USERS.replace("<max_threads>1</max_threads>", "<max_threads>1</max_threads><log_queries>1</log_queries>", 1)
        ports = [engines.free_port() for _ in range(SHARDS[-1])]
        self.between = [engines.Proxy(Port(port)) for port in ports]
        shard = "<shard><replica><host>127.0.0.1</host><port>{}</port></replica></shard>"
        clusters = "".join(f"<c{count}>{''.join(shard.format(proxy.port) for proxy in self.between[:count])}</c{count}>" for count in SHARDS)
        self.servers = [engines.ClickHouse(sandbox.path(f"shard{k}"), port, clusters) for k, port in enumerate(ports)]
        for k, server in enumerate(self.servers):
            server.wait()
            server.ask("CREATE TABLE part (pos Int64, id Int32, amount Int32, x Float64) ENGINE = MergeTree ORDER BY pos")
            server.ask(f"INSERT INTO part SELECT number + {k * rows}, intHash32(number) % 1000000, toInt64(intHash32(number + 7) % 20001) - 10000, (intHash32(number + 9) % 100000) / 64 FROM numbers({rows})")
        for count in SHARDS:
            self.servers[0].ask(f"CREATE TABLE t{count} (pos Int64, id Int32, amount Int32, x Float64) ENGINE = Distributed(c{count}, default, part)")
        self.client = engines.Proxy(self.servers[0])

    def ask(self, rig, count, line):
        """Bytes to rql, from the shards to the server that is asked, and from there to them; and its memory."""
        query = f"load {self.client.url(f't{count}', 'pos')} | {line}"
        rig.run(query)
        time.sleep(3)  # the log has whole seconds
        before = self.client.bytes, sum(proxy.bytes for proxy in self.between), sum(proxy.sent for proxy in self.between)
        result = rig.run(query)
        if result.status != 0:
            sys.exit(result.text())
        time.sleep(0.4)
        memory = self.servers[0].ask("SELECT max(memory_usage) FROM system.query_log WHERE type = 2 AND is_initial_query AND event_time >= now() - 2 AND query NOT LIKE '%query_log%'")
        return self.client.bytes - before[0], sum(proxy.bytes for proxy in self.between) - before[1], sum(proxy.sent for proxy in self.between) - before[2], int(memory or 0)


def fit(points):
    """a and b of a + b * keys, from the first point and the last; nothing shrinks with keys."""
    (least, first), (most, last) = points[0], points[-1]
    b = max((last - first) / (most - least), 0) if most > least else 0
    return first - b * least, b


def size(number):
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB")):
        if number >= unit:
            return f"{number / unit:.3g} {name}"
    return f"{number:.0f} B"


def at_size(measured, keys, shards, rows, grows):
    """The bytes up, down and to rql, and the memory, of `keys` keys on as many shards. What is sent up by rows (grows) is that of
    all rows; the rest is a constant and a share of each key, of each shard."""
    most = SHARDS[-1]
    up_a, up_b = fit([(k, measured[k, most][1] / most) for k in KEYS])
    down_a, down_b = fit([(k, measured[k, most][2] / most) for k in KEYS])
    client_a, client_b = fit([(k, measured[k, most][0]) for k in KEYS])
    memory_a, memory_b = fit([(k, measured[k, most][3]) for k in KEYS])
    up = measured[KEYS[0], most][1] / (most * rows) * 1e12 if grows else shards * (up_a + up_b * keys)
    memory = measured[KEYS[0], most][3] / (most * rows) * 1e12 if grows else memory_a + memory_b * keys
    return max(up, 0), max(shards * (down_a + down_b * keys), 0), max(client_a + client_b * keys, 0), max(memory, 0)


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 500000
    with harness.Sandbox() as sandbox:
        rig = engines.Rig(sandbox, harness.Tally("thousand"))
        rack = Rack(sandbox, rows)
        print("| question | keys | measured, 4 shards: up, down, to rql, memory | 1000 shards, 10^12 rows: up | down | to rql | memory |\n| --- | --- | --- | --- | --- | --- | --- |")
        try:
            for title, line in LINES:
                keyed, grows = "{keys}" in line, title == "`median amount`"
                measured = {(k, count): rack.ask(rig, count, line.format(keys=k, last=k - 1)) for k in (KEYS if keyed else KEYS[:1]) for count in (SHARDS[0], SHARDS[-1])}
                for count in (SHARDS[0], SHARDS[-1]):
                    measured[KEYS[-1], count] = measured.get((KEYS[-1], count), measured[KEYS[0], count])
                for keys in (1e3, 1e6) if keyed else (0,):
                    shown = ", ".join(size(number) for number in (lambda m: (m[1], m[2], m[0], m[3]))(measured[KEYS[0], SHARDS[-1]]))
                    print(f"| {title} | {keys:.0e} | {shown} | " + " | ".join(size(number) for number in at_size(measured, keys, 1000, rows, grows)) + " |", flush=True)
        finally:
            for server in rack.servers:
                server.stop()


if __name__ == "__main__":
    main()
