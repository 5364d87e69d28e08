#!/usr/bin/env python3
"""JSONBench's five questions to events of the shape of Bluesky's, made here, beside DuckDB (and chdb, if it is there).

    bench_json.py --build DIR [--events N] [--rounds N] [--formats F,...]

Each answer is taken from the file: rql is timed as a whole process, the others from the call to the result in a process
that is running, with a new connection; chdb is told the structure of JSON, for it infers none where a key has objects and
texts. Answers are compared. Medians of processor time of all threads, and in parentheses of time, in seconds."""

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

FORMATS = ("jsonl", "jsonl.zst", "jsonl.gz", "parquet")
POSTS, LIKES, REPOSTS, FOLLOWS, BLOCKS = (
    f"app.bsky.{name}" for name in ("feed.post", "feed.like", "feed.repost", "graph.follow", "graph.block")
)

# name, rql after the source, SQL with {t} for the table and {c} for the struct `commit`
QUESTIONS = (
    ("Q1", "group commit.collection: count() as n | sort n desc, commit.collection",
     "select commit.collection as c, count(*) as n from {t} group by c order by n desc, c nulls last"),
    ("Q2", 'select kind == "commit" && commit.operation == "create" | group commit.collection: count() as n, '
     "distinct(did) as users | sort n desc, commit.collection",
     "select commit.collection as c, count(*) as n, count(distinct did) from {t} "
     "where kind = 'commit' and commit.operation = 'create' group by c order by n desc, c"),
    ("Q3", 'select kind == "commit" && commit.operation == "create" && commit.collection in '
     f'["{POSTS}", "{REPOSTS}", "{LIKES}"] | group commit.collection, time_us // 3600000000 % 24 as hour: count() as n | sort hour, '
     "commit.collection",
     "select commit.collection as c, hour(make_timestamp(time_us)) as h, count(*) from {t} where kind = 'commit' and "
     f"commit.operation = 'create' and commit.collection in ('{POSTS}', '{REPOSTS}', '{LIKES}') group by c, h order by h, c"),
    ("Q4", f'select kind == "commit" && commit.operation == "create" && commit.collection == "{POSTS}" | '
     "group did: min(time_us) as first | top 3 by first asc",
     "select did, min(time_us) as first from {t} where kind = 'commit' and commit.operation = 'create' and "
     f"commit.collection = '{POSTS}' group by did order by first limit 3"),
    ("Q5", f'select kind == "commit" && commit.operation == "create" && commit.collection == "{POSTS}" | '
     "group did: max(time_us) // 1000 - min(time_us) // 1000 as span | top 3 by span",
     "select did, date_diff('milliseconds', make_timestamp(min(time_us)), make_timestamp(max(time_us))) as span from {t} "
     f"where kind = 'commit' and commit.operation = 'create' and commit.collection = '{POSTS}' "
     "group by did order by span desc, did limit 3"),
)
WORDS = "the a of sky blue and to in post today i you it is on for my we new art cat dog rain music good morning".split()


def letters(rng, count, alphabet="abcdefghijklmnopqrstuvwxyz234567"):
    return "".join(rng.choices(alphabet, k=count))


class Events:
    """Random events, of which some keys come late: `embed` and `labels` of posts."""

    def __init__(self, count, seed=1):
        self.rng = random.Random(seed)
        self.count = count
        self.users = ["did:plc:" + letters(self.rng, 24) for _ in range(max(10, count // 8))]
        self.cids = ["bafyrei" + letters(self.rng, 52) for _ in range(5000)]
        self.keys = ["3lb" + letters(self.rng, 10) for _ in range(20000)]

    def link(self):
        rng = self.rng
        collection = POSTS
        return {"cid": rng.choice(self.cids), "uri": f"at://{rng.choice(self.users)}/{collection}/{rng.choice(self.keys)}"}

    def record(self, collection, number, created):
        rng = self.rng
        record = {"$type": collection, "createdAt": created}
        if collection == POSTS:
            record["langs"] = rng.choice((["en"], ["en"], ["ja"], ["pt", "en"], ["de"], []))
            if rng.random() < 0.4:
                record["reply"] = {"parent": self.link(), "root": self.link()}
            record["text"] = " ".join(rng.choices(WORDS, k=rng.randint(1, 40))) + rng.choice(("", "", ' "quoted"\n', " \u3042\u308a"))
            if number > self.count // 2 and rng.random() < 0.02:
                record["embed"] = {"$type": "app.bsky.embed.external", "external": {"uri": "https://example.com/", "title": "t"}}
                record["labels"] = {"values": [{"val": "x", "neg": False}]}
        elif collection in (LIKES, REPOSTS):
            record["subject"] = self.link()
        else:
            record["subject"] = rng.choice(self.users)
        return record

    def lines(self):
        rng = self.rng
        start = 1732206349000000
        for number in range(self.count):
            time_us = start + number * 86400_000_000 // self.count + rng.randrange(1000)
            event = {"did": self.users[min(int(rng.expovariate(8) * len(self.users)), len(self.users) - 1)], "time_us": time_us}
            draw = rng.random()
            if draw < 0.01:
                event["kind"] = rng.choice(("identity", "account"))
                event[event["kind"]] = {"did": event["did"], "seq": number, "time": "2024-11-21T16:09:27.095Z"}
                yield event
                continue
            collection = rng.choices((POSTS, LIKES, REPOSTS, FOLLOWS, BLOCKS), (20, 45, 10, 20, 4))[0]
            commit = {"rev": rng.choice(self.keys), "operation": "create", "collection": collection, "rkey": rng.choice(self.keys)}
            if draw < 0.06:
                commit["operation"] = "delete"
            else:
                created = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time_us // 1_000_000)) + f".{time_us // 1000 % 1000:03d}Z"
                commit["record"] = self.record(collection, number, created)
                commit["cid"] = rng.choice(self.cids)
            event["kind"] = "commit"
            event["commit"] = commit
            yield event


def generate(path, count):
    with open(path + ".part", "w", encoding="utf-8") as file:
        for event in Events(count).lines():
            file.write(json.dumps(event, separators=(",", ":"), ensure_ascii=False) + "\n")
    os.replace(path + ".part", path)


CHDB_SCHEMA = "did String, time_us Int64, kind String, commit Tuple(operation Nullable(String), collection Nullable(String))"
CHDB_WORDS = (("make_timestamp(", "fromUnixTimestamp64Micro("), ("hour(", "toHour("), (")) as h", ", 'UTC')) as h"))


def values(text):
    return [[None if value in ("", "\\N") else value for value in line.split("\t")] for line in text.split("\n")[:-1]]


def as_text(rows):
    return [[None if value is None else str(value) for value in row] for row in rows]


def cpu_of(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def timed(who, ask):
    """Processor time, time, and what `ask` returns."""
    used, began = cpu_of(who), time.perf_counter()
    answer = ask()
    return cpu_of(who) - used, time.perf_counter() - began, answer


def rql(build, path, question):
    query = f"{path} | {question[1]}"
    command = [os.path.join(build, "rql"), "--quiet", "--format", "tsv", "-c", query]
    cpu, seconds, done = timed(resource.RUSAGE_CHILDREN, lambda: subprocess.run(command, capture_output=True, text=True, check=False))
    if done.returncode != 0:
        sys.exit(f"{query}: {done.stderr}")
    return cpu, seconds, values(done.stdout)


def duck(path, question):
    import duckdb

    table = f"read_parquet('{path}')" if path.endswith(".parquet") else f"read_json('{path}')"
    connection = duckdb.connect()
    cpu, seconds, rows = timed(resource.RUSAGE_SELF, lambda: connection.sql(question[2].format(t=table)).fetchall())
    return cpu, seconds, as_text(rows)


def chdb_answer(path, question):
    import chdb

    table = f"file('{path}')" if path.endswith(".parquet") else f"file('{path}', 'JSONEachRow', '{CHDB_SCHEMA}')"
    sql = question[2].format(t=table)
    for word, theirs in CHDB_WORDS:
        sql = sql.replace(word, theirs)
    return timed(resource.RUSAGE_SELF, lambda: values(str(chdb.query(sql, "TSV"))))


def others():
    """The systems that are there, and how each is asked."""
    found = {}
    for name, module, ask in (("DuckDB", "duckdb", duck), ("chdb", "chdb", chdb_answer)):
        try:
            __import__(module)
            found[name] = ask
        except ImportError:
            print(f"{module} cannot be imported")
    return found


def differ(title, answer, expected):
    """Of Q5 spans may be equal."""
    return answer != expected and not (title == "Q5" and [row[1] for row in answer] == [row[1] for row in expected])


def make_formats(build, path, formats):
    paths = {}
    for name in formats:
        target = paths[name] = path.replace(".jsonl", "." + name)
        if not os.path.exists(target) and name == "parquet":
            import duckdb

            duckdb.sql(f"copy (from read_json('{path}', sample_size = -1)) to '{target}' (format parquet)")
        elif not os.path.exists(target):
            subprocess.run(["zstd", "-q", "-f", path, "-o", target] if name.endswith("zst") else ["gzip", "-k", "-f", path], check=True)
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--formats", default="jsonl,jsonl.zst,parquet")
    parser.add_argument("--directory", default=os.path.join(tempfile.gettempdir(), "rql-bench-json"))
    options = parser.parse_args()
    os.makedirs(options.directory, exist_ok=True)
    path = os.path.join(options.directory, f"events-{options.events}.jsonl")
    if not os.path.exists(path):
        generate(path, options.events)
    paths = make_formats(options.build, path, options.formats.split(","))
    systems = others()
    print(f"{options.events:,} events, {os.path.getsize(path) / 1e6:,.0f} MB, median of {options.rounds}")
    print(f"{'':6}{'':12}{'rql':>16}" + "".join(f"{name:>16}{'rql / it':>10}" for name in systems))
    wrong = 0
    for name, target in paths.items():
        for question in QUESTIONS:
            times = {system: [] for system in ("rql", *systems)}
            for _ in range(options.rounds):
                *spent, answer = rql(options.build, target, question)
                times["rql"].append(spent)
                for system, ask in systems.items():
                    *spent, expected = ask(target, question)
                    times[system].append(spent)
                    if differ(question[0], answer, expected):
                        wrong += 1
                        print(f"{question[0]}: rql {answer[:5]}, {system} {expected[:5]}")
            medians = {system: [statistics.median(column) for column in zip(*spent)] for system, spent in times.items()}
            shown = "".join(
                f"{cpu:8.2f} ({seconds:.2f})" + ("" if system == "rql" else f"{medians['rql'][0] / cpu:10.2f}")
                for system, (cpu, seconds) in medians.items()
            )
            print(f"{question[0]:6}{name:12}{shown}", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
