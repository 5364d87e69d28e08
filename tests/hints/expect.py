#!/usr/bin/env python3
"""Writes tests/hints/*.csv and tests/hints/expected.json: what DuckDB, pandas or Polars answers to the lines of tests/hints/lines.txt.

Needs duckdb, pandas and polars (PYTHON of a virtual environment); the tests read what this wrote. Of each line the reference is what
follows it after `~`, else the line itself: SQL, Python where it begins with `py:` (of pandas) or `pl:` (of Polars), or lines of a
shell after `sh:`."""

import csv
import datetime
import json
import os
import random
import re
import subprocess

import duckdb
import numpy as np
import pandas as pd
import polars as pl

HERE = os.path.dirname(os.path.abspath(__file__))
START = datetime.datetime(2024, 2, 27, 8, 0)


def moment(minutes):
    return (START + datetime.timedelta(minutes=minutes)).isoformat()


def maybe(value, share):
    return "" if random.random() < share else value


def trades():
    yield "id,time,sym,price,qty,side,day"
    for i in range(60):
        time = START + datetime.timedelta(minutes=97 * i + i % 7)
        sym = random.choice(["AAPL", "MSFT", "GOOG", "IBM"])
        qty = maybe(random.randrange(1, 50) * 10, 0.15)
        price = round(random.uniform(10, 200), 2) + 0.001 * i
        yield f"{i + 1},{time.isoformat()},{sym},{price:.3f},{qty},{random.choice(['buy', 'sell'])},{time.date()}"
    yield "61,2024-03-01T00:00:00,AAPL,77.061,150,buy,2024-03-01"
    yield "62,2024-03-02T12:30:00,ZZZ,5.062,,sell,2024-03-02"


def taxi():
    yield "pickup,dropoff,passengers,distance,fare,tip,payment,zone"
    for i in range(50):
        begin = START + datetime.timedelta(minutes=53 * i)
        end = begin + datetime.timedelta(minutes=random.randrange(3, 70))
        distance = round(random.uniform(0.5, 20), 2)
        fare = round(3 + 2.5 * distance, 2)
        tip = maybe(round(fare * random.random() / 4, 2), 0.2)
        zone = random.choice(["East Side", "Harlem", "JFK Airport", "Soho"])
        yield f"{begin.isoformat()},{end.isoformat()},{random.randrange(1, 6)},{distance},{fare},{tip},{random.choice(['card', 'cash'])},{zone}"


def customers():
    yield "cust,name,city,since,credit"
    names = ["Ann Lee", "Bob Ray", "Cy Young", "Dee Fox", "Eve Orr", "Flo May", "Gus Van"]
    for i, name in enumerate(names):
        yield f"{i + 1},{name},{maybe(random.choice(['Paris', 'Rome', 'Oslo']), 0.2)},20{18 + i % 5}-0{1 + i}-15,{random.randrange(100, 90000) / 100:.2f}"


def orders():
    yield "id,cust,item,amount,day,note"
    for i in range(40):
        day = (START + datetime.timedelta(days=i * 3 % 50)).date()
        note = maybe(random.choice(["gift", "rush order", "call first", "Gift wrap"]), 0.5)
        yield f"{i + 1},{maybe(random.randrange(1, 10), 0.1)},{random.choice(['pen', 'ink', 'pad', 'cup'])},{random.randrange(100, 5000) / 100:.2f},{day},{note}"


def logs():
    yield "ts,host,level,path,status,ms"
    for i in range(70):
        path = random.choice(["/", "/login", "/api/users", "/api/items/7", "/static/a.css"])
        level = random.choice(["INFO", "INFO", "WARN", "ERROR"])
        yield f"{moment(13 * i)},{random.choice(['web1', 'web2', 'db1'])},{level},{path},{random.choice([200, 200, 301, 404, 500])},{maybe(random.randrange(1, 3000), 0.1)}"


def write_tables():
    random.seed(7)
    for make in trades, taxi, customers, orders, logs:
        with open(os.path.join(HERE, make.__name__ + ".csv"), "w", encoding="utf-8") as file:
            file.write("\n".join(make()) + "\n")


NAMES = ["trades", "taxi", "customers", "orders", "logs"]
TIMES = {"time", "day", "pickup", "dropoff", "since", "ts"}


def frames():
    result = {}
    for name in NAMES:
        frame = pd.read_csv(os.path.join(HERE, name + ".csv"))
        for column in TIMES & set(frame.columns):
            frame[column] = pd.to_datetime(frame[column])
        result[name] = frame
    return result


def cell(value):
    """What a value is in every language: None, a number, or text."""
    if value is None or value is pd.NaT or (isinstance(value, (float, np.floating)) and np.isnan(value)):
        return None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (datetime.timedelta, np.timedelta64)):
        return pd.Timedelta(value) / pd.Timedelta(microseconds=1)
    if isinstance(value, (datetime.datetime, np.datetime64, pd.Timestamp)):
        text = pd.Timestamp(value).isoformat()
        return text
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, str):
        return value
    return float(value) if float(value) != int(float(value)) else int(float(value))


def of_sql(connection, text):
    found = connection.execute(text)
    bare = re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", text)))
    return [[cell(value) for value in row] for row in found.fetchall()], "order by" in bare.lower()


def of_python(text):
    value = eval(text, {"pd": pd, "np": np, **frames()})  # pylint: disable=eval-used
    ordered = "sort" in text or "head" in text or "nlargest" in text
    if isinstance(value, pd.Series):
        value = value.reset_index() if value.index.name or value.index.nlevels > 1 else value.to_frame()
    if isinstance(value, pd.DataFrame):
        if value.index.name or value.index.nlevels > 1:
            value = value.reset_index()
        return [[cell(v) for v in row] for row in value.astype(object).itertuples(index=False)], ordered
    if isinstance(value, (list, np.ndarray, pd.Index)):
        return [[cell(v)] for v in value], ordered
    return [[cell(value)]], True


def of_polars(text):
    tables = {name: pl.from_pandas(frame) for name, frame in frames().items()}
    value = eval(text, {"pl": pl, **tables})  # pylint: disable=eval-used
    value = value.collect() if isinstance(value, pl.LazyFrame) else value
    ordered = "sort" in text or "head" in text or "top_k" in text
    if isinstance(value, pl.Series):
        value = value.to_frame()
    rows = value.rows() if isinstance(value, pl.DataFrame) else [[value]]
    return [[cell(v) for v in row] for row in rows], ordered


def of_shell(text):
    """What the programs print, as values between commas; in order where they sort."""
    env = {**os.environ, "LC_ALL": "C"}
    out = subprocess.run(["bash", "-c", text], cwd=HERE, env=env, check=False, capture_output=True, text=True).stdout
    return [[shell_cell(value) for value in row] for row in csv.reader(out.splitlines())], "awk" not in text


def shell_cell(text):
    try:
        return cell(float(text))
    except ValueError:
        return text or None


def answer(connection, text):
    """What the reference answers."""
    kinds = {"sh: ": of_shell, "py: ": of_python, "pl: ": of_polars}
    rows, ordered = kinds[text[:4]](text[4:]) if text[:4] in kinds else of_sql(connection, text)
    return {"ordered": ordered, "rows": rows}


def lines(folder=HERE):
    """Pairs of a line and its reference, and the language of its section."""
    line = language = None
    with open(os.path.join(folder, "lines.txt"), encoding="utf-8") as file:
        for text in file.read().splitlines() + ["> "]:
            if text.startswith("# "):
                language = text[2:].split()[0]
            elif text.startswith("> "):
                if line:
                    yield line, reference, of_line
                line, reference, of_line = text[2:], None, language
            elif text.startswith("~ "):
                reference = text[2:]


def main():
    write_tables()
    connection = duckdb.connect()
    for name in NAMES:
        path = os.path.join(HERE, name + ".csv")
        connection.execute(f"create table {name} as select * from read_csv('{path}')")
    connection.execute("alter table customers alter credit type decimal(10, 2)")
    expected = {}
    for line, reference, language in lines():
        if reference == "none":
            continue
        text = reference or {"SQL": "", "shell": "sh: ", "polars": "pl: "}.get(language, "py: ") + line
        try:
            expected[line] = answer(connection, text)
        except Exception as error:  # pylint: disable=broad-except
            print(f"{line}: {error}")
    write(HERE, expected)


def write(folder, expected):
    for found in expected.values():
        if not found["ordered"]:
            found["rows"].sort(key=lambda row: [(value is not None, str(value)) for value in row])
    with open(os.path.join(folder, "expected.json"), "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in expected.items()) + "\n}\n")


if __name__ == "__main__":
    main()
