#!/usr/bin/env python3
"""Writes tests/tasks/*.csv and tests/tasks/expected.json: what DuckDB answers to the SQL of the tasks in tests/tasks/lines.txt.

Needs duckdb and pandas (PYTHON of a virtual environment); the tests read what this wrote."""

import datetime
import json
import os
import random
import sys

import duckdb

HERE = os.path.dirname(os.path.abspath(__file__))
HINTS = os.path.join(os.path.dirname(HERE), "hints")
sys.path.insert(0, HINTS)
import expect  # noqa: E402


def messy():
    """An export: a title, a blank line, a remark at the end, decimal commas, days before months, names as they were typed."""
    yield "Umsatzbericht 2024"
    yield "erstellt am 02/01/2025"
    yield ""
    yield "Nr;Datum;Kunde;Betrag;Rabatt"
    for i in range(30):
        day = datetime.date(2024, 1, 5) + datetime.timedelta(days=11 * i)
        name = random.choice(["Meier", "MEIER", "Schmidt ", "schmidt", "Özil", "von Ahn"])
        amount = f"{random.randrange(100, 200000) / 100:.2f}".replace(".", ",")
        rebate = random.choice(["", "2,5", "10,0", "0,0"])
        yield f"{i + 1};{day:%d/%m/%Y};{name};{amount};{rebate}"


def wide():
    names = [f"s_{k:02}" for k in range(1, 61)]
    yield ",".join(["site", "day", *names])
    for i in range(24):
        cells = [expect.maybe(f"{random.uniform(-5, 40):.2f}", 0.1) for _ in names]
        yield ",".join([random.choice(["north", "south", "east"]), f"2024-05-{i + 1:02}", *cells])


def meters():
    yield "meter,time,value"
    for meter in ["a", "b"]:
        for i in range(36):
            time = datetime.datetime(2024, 2, 29, 6) + datetime.timedelta(hours=i, minutes=0 if meter == "a" else 15)
            if random.random() < 0.85:
                yield f"{meter},{time.isoformat()},{expect.maybe(f'{random.uniform(1, 9):.3f}', 0.2)}"


def events():
    yield "time,event"
    for hour, event in [(2, "start"), (9, "repair"), (17, "stop"), (26, "start")]:
        yield f"{(datetime.datetime(2024, 2, 29, 4) + datetime.timedelta(hours=hour, minutes=7)).isoformat()},{event}"


def main():
    random.seed(11)
    connection = duckdb.connect()
    for make in messy, wide, meters, events:
        path = os.path.join(HERE, make.__name__ + ".csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(make()) + "\n")
        options = ", skip = 3, delim = ';', decimal_separator = ',', dateformat = '%d/%m/%Y'" if make is messy else ""
        connection.execute(f"create table {make.__name__} as select * from read_csv('{path}'{options})")
    for name in expect.NAMES:
        connection.execute(f"create table {name} as select * from read_csv('{os.path.join(HINTS, name)}.csv')")
    expected = {}
    for line, sql, _ in expect.lines(HERE):
        rows, ordered = expect.of_sql(connection, sql)
        expected[line] = {"ordered": ordered, "rows": rows}
    expect.write(HERE, expected)


if __name__ == "__main__":
    main()
