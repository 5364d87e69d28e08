#!/usr/bin/env python3
"""Text files of random tables, read by rql and by a reference written from the rules in docs/language.md: the names,
types and values of all columns, or of some, must be the same.

    tests/text.py [--seed N] [--rounds N]
"""

import argparse
import datetime
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import harness

DUMP = os.path.join(os.path.dirname(harness.RQL), "dump_file")
INT = re.compile(r"[+-]?\d+\Z", re.ASCII)
FLOAT = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity|nan)\Z", re.ASCII | re.IGNORECASE)
LEADING_ZERO = re.compile(r"[+-]?0\d", re.ASCII)
DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)\Z", re.ASCII)
TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d(?::?\d\d)?)?\Z", re.ASCII)
SAMPLE = 1000  # lines
WORDS = {"", "na", "n/a", "#n/a", "null", "none", "-", "?", "\\n"}
EPOCH = datetime.date(1970, 1, 1)


class Cell:
    """A cell as written: `raw` with the white space around it, or the content of its quotes."""

    def __init__(self, raw, quoted):
        self.raw = raw
        self.quoted = quoted
        self.text = raw if quoted else raw.strip(" \t")


def days_of(text):
    found = DATE.match(text)
    try:
        return (datetime.date(*map(int, found.groups())) - EPOCH).days if found else None
    except ValueError:
        return None


def micros_of(text):
    """Microseconds and whether there is a zone; None if it is no timestamp."""
    found = TIME.match(text)
    days = days_of(found.group(1)) if found else None
    if days is None:
        return None
    hour, minute, second = int(found.group(2)), int(found.group(3)), int(found.group(4) or 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    micros = ((days * 24 + hour) * 60 + minute) * 60_000_000 + second * 1_000_000 + int((found.group(5) or "0").ljust(6, "0")[:6])
    zone = found.group(6)
    if zone and zone != "Z":
        digits = zone[1:].replace(":", "").ljust(4, "0")
        if int(digits[:2]) > 23 or int(digits[2:]) > 59:
            return None
        ahead = (int(digits[:2]) * 60 + int(digits[2:])) * 60_000_000
        micros -= ahead if zone[0] == "+" else -ahead
    return micros, zone is not None


def class_of(cell):
    """The class of a cell: None if it is missing, or would be in a column that is not text."""
    text = cell.text
    if text.lower() in WORDS:
        return None
    if FLOAT.match(text):
        if LEADING_ZERO.match(text):
            return "text"
        if INT.match(text):
            return "int" if -(2**63) <= int(text) < 2**63 else "wide"
        return "text" if abs(float(text)) == float("inf") and "i" not in text.lower() else "float"
    if text.lower() in ("true", "false"):
        return "bool"
    if days_of(text) is not None:
        return "date"
    time = micros_of(text)
    return "text" if time is None else "utc" if time[1] else "timestamp"


def type_of(classes):
    if classes == {"int"}:
        return "i64"
    if "float" in classes and classes <= {"int", "wide", "float"}:
        return "f64"
    names = {"bool": "bool", "date": "i32 date", "timestamp": "i64 timestamp", "utc": "i64 timestamp utc"}
    return names.get(*classes, "text") if len(classes) == 1 else "text"


def value_of(cell, kind):
    """The value as build/dump_file prints it; floats as such; None: missing."""
    if kind == "text":
        return None if not cell.raw and not cell.quoted else cell.raw.encode().hex()
    if cell.text.lower() in WORDS:
        return None
    if kind == "i64":
        return str(int(cell.text))
    if kind == "f64":
        return float(cell.text)
    if kind == "bool":
        return str(int(cell.text.lower() == "true"))
    return str(days_of(cell.text) if kind == "i32 date" else micros_of(cell.text)[0])


def columns_of(rows, names):
    """[(name, type, values)] of rows of cells."""
    columns = []
    for k, name in enumerate(names):
        cells = [row[k] for row in rows]
        classes = {class_of(cell) for cell in cells} - {None}
        kind = type_of(classes) if classes or cells else "i64"
        sample = {class_of(cell) for cell in cells[:SAMPLE]}
        if "wide" in sample and "float" not in sample:
            kind = "text"  # identifiers, though there may be floats behind them
        columns.append((name, kind, [value_of(cell, kind) for cell in cells]))
    return columns


def is_header(first, rows):
    """Whether the first of several rows names the columns."""
    if not rows:
        cells = [cell for cell in first if cell.quoted or cell.text.lower() not in WORDS]
        return any(cell.quoted or class_of(cell) == "text" for cell in cells) or not cells
    name = value = False
    for k, cell in enumerate(first):
        classes = {class_of(row[k]) for row in rows[:1000]} - {None}
        kind = type_of(classes) if classes else "text"
        if kind == "text" or (not cell.quoted and cell.text.lower() in WORDS):
            continue
        own = class_of(cell)
        fits = own in ("int", "wide", "float") if kind in ("i64", "f64") else type_of({own}).split(" utc")[0] == kind.split(" utc")[0]
        name = name or cell.quoted or not fits
        value = value or (fits and not cell.quoted)
    return name or not value


def names_of(first, count):
    names = []
    for k in range(count):
        name = first[k].text if first and first[k].text else f"c{k + 1}"
        distinct, number = name, 2
        while distinct in names:
            distinct, number = f"{name}_{number}", number + 1
        names.append(distinct)
    return names


class Tables:
    def __init__(self, sandbox, tally, seed):
        self.sandbox = sandbox
        self.tally = tally
        self.random = random.Random(seed)
        self.inner = False

    # Random cells

    def word(self):
        parts = ["a", "B", "é", "日本", " ", "-", "0", "1", ".", "x y", "#", "'", "{", "NA", ":", "e5", "\\", *['"'] * self.inner]
        return "".join(self.random.choices(parts, k=self.random.randint(0, 5)))

    def number(self):
        return self.random.choice(
            [
                str(self.random.randint(-1000, 1000)),
                str(self.random.randint(-(2**63), 2**63 - 1)),
                "0",
                "-0",
                f"+{self.random.randint(1, 99)}",
            ]
        )

    def real(self):
        value = self.random.choice([self.random.uniform(-1e3, 1e3), self.random.gauss(0, 1) * 10.0 ** self.random.randint(-300, 300)])
        return self.random.choice([repr(value), f"{value:.2f}", f"{value:.20e}", "nan", "-inf", "NaN", ".5", "5.", "0.0", "1E5"])

    def date(self):
        return str(datetime.date.fromordinal(self.random.randint(1, 3652059)))

    def time(self, zone):
        clock = f"{self.random.randint(0, 23):02d}:{self.random.randint(0, 59):02d}"
        if self.random.random() < 0.8:
            clock += f":{self.random.randint(0, 59):02d}"
            if self.random.random() < 0.5:
                clock += "." + "".join(self.random.choices("0123456789", k=self.random.randint(1, 6)))
        date = str(datetime.date.fromordinal(self.random.randint(2, 3652058)))
        return date + self.random.choice("T ") + clock + (self.random.choice(["Z", "+02:00", "-0530", "+01"]) if zone else "")

    def maker(self):
        """A function that makes cells of a column, most of one kind."""
        kinds = {
            "int": self.number,
            "float": self.real,
            "bool": lambda: self.random.choice(["true", "false", "True", "FALSE"]),
            "date": self.date,
            "time": lambda: self.time(False),
            "utc": lambda: self.time(True),
            "text": self.word,
            "zip": lambda: f"{self.random.randint(0, 99999):05d}",
            "wide": lambda: str(self.random.randint(2**62, 2**65)),
            "blank": lambda: "",
        }
        kind = self.random.choice(list(kinds))
        other = self.random.choice(list(kinds)) if self.random.random() < 0.3 else kind
        others, missing = self.random.choice([0, 0.0005, 0.01, 0.3]), self.random.choice([0, 0, 0.001, 0.2])
        words = ["", "", " ", "NA", "n/a", "NULL", "null", "None", "-", "?", "#N/A", "\\N"]

        def make():
            if self.random.random() < missing:
                return self.random.choice(words)
            return kinds[other if self.random.random() < others else kind]()

        return make

    # Writing

    def written(self, text, separator, quotes):
        """A cell as bytes of a CSV file and as the reference sees it."""
        inner = self.inner and not text.lstrip(" \t").startswith('"')  # quotes within cells stand for themselves
        needed = any(c in text for c in separator + ("" if inner else '"') + "\r\n") or (text != text.strip(" \t") and self.random.random() < 0.5)
        if needed or self.random.random() < quotes:
            blank = self.random.choice(["", "", "", " "])
            return blank + '"' + text.replace('"', '""') + '"' + blank, Cell(text, True)
        blank = self.random.choice([""] * 20 + [" ", "\t" if separator != "\t" else " "])
        raw = blank + text + self.random.choice(["", blank])
        return raw, Cell(raw, False)

    def csv(self, rows, count):
        """Bytes of a random table of delimited text, and its columns by the reference."""
        separator = self.random.choice([",", ",", ",", ";", "\t", "|"])
        quotes, newline = self.random.choice([0, 0.01, 0.5]), self.random.choice(["\n", "\n", "\r\n"])
        self.inner = self.random.randrange(3) == 0
        makers = [self.maker() for _ in range(count)]
        breaks = self.random.random() < 0.3
        lines, cells = [], []
        header = self.random.random() < 0.8
        for row in range(rows + header):
            texts = [make() for make in makers]
            if row == 0 and header:
                texts = [self.random.choice(["id", "price", "größe", f"n{k}", f"n{k}", "2024", ""]) for k in range(count)]
            elif breaks and self.random.random() < 0.01:
                texts[self.random.randrange(count)] = 'two\nlines, "quoted"'
            pairs = [self.written(text, separator, quotes if row or not header else 0.1) for text in texts]
            lines.append(separator.join(pair[0] for pair in pairs))
            cells.append([pair[1] for pair in pairs])
        # A last line without any byte would be none.
        text = newline.join(lines) + self.random.choice(["", newline] if lines and lines[-1] else [newline])
        return text, cells, separator

    def reference(self, text, cells, count, separator):
        """The columns, or None if the file is one of those whose first line says something else."""
        if not cells or not text.strip():
            return None
        first = text.split("\n")[0]
        counts = {c: 0 for c in ",;\t|"}
        quoted = False
        for before, c in zip(" " + text, text):
            if c == '"' and (quoted or before in " ,;\t|"):
                quoted = not quoted
            if c == "\n" and not quoted:
                break
            if not quoted and c in counts:
                counts[c] += 1
        most = max(counts, key=lambda c: counts[c])
        if (most if counts[most] else ",") != (separator if count > 1 else ",") or (count == 1 and counts[most]) or "\r" in first.rstrip("\r"):
            return None
        if count > 1:
            if not text.strip(" \t\r\n" if separator != "\t" else " \r\n"):
                return None
        header = is_header(cells[0], cells[1:])
        return columns_of(cells[1:] if header else cells, names_of(cells[0] if header else None, count))

    def objects(self, rows, count):
        """JSON lines of a random table, and its columns."""
        makers = {f"k{k}é" if k == 2 else f"k{k}": self.maker() for k in range(count)}
        lines, cells, order = [], [], []
        for row in range(rows):
            line, values = {}, []
            for name, make in makers.items():
                text = make()
                form = self.random.random()
                kind = class_of(Cell(text, False))
                if form < 0.1 and row > 0:
                    values.append(Cell("", False))
                    if form < 0.05:
                        line[name] = None
                elif kind in ("int", "wide", "float") and INT.match(text) and not text.startswith("+"):
                    line[name] = int(text)
                    values.append(Cell(str(int(text)), False))
                elif kind == "float":
                    line[name] = float(text)
                    values.append(Cell(json.dumps(float(text)), False))
                elif kind == "bool":
                    line[name] = text.lower() == "true"
                    values.append(Cell(text.lower(), False))
                else:
                    line[name] = text
                    values.append(Cell(text, True))
            if self.random.random() < 0.1:
                line = dict(self.random.sample(list(line.items()), len(line)))
            order += [name for name in line if name not in order]
            lines.append(json.dumps(line, ensure_ascii=self.random.random() < 0.5))
            cells.append(values)
        return "\n".join(lines) + "\n", cells, list(makers), order

    # Comparing

    def read(self, path, names):
        done = subprocess.run([DUMP, path, *names], capture_output=True, check=False)
        columns, values = [], None
        # A name may have this text, whose newline ends no line here.
        for line in done.stdout.decode().replace("two\nlines", "two\0lines").split("\n")[:-1]:
            found = re.match(r"(.*): ((?:i|u|f|bool)\d*(?: .*)?)\Z", line, re.DOTALL) if not re.match(r"-?[0-9a-z.+]*\Z", line) else None
            if found:
                values = []
                kind = re.sub(r"u\d+ text", "text", found.group(2).replace(" missing", ""))
                columns.append((found.group(1).replace("\0", "\n"), kind, values))
            elif values is not None:
                values.append(None if line == "-" else line)
        return columns, done

    def compare(self, title, path, expected):
        some = [column for column in expected if self.random.random() < 0.5 and column[0].isalnum()]
        names = [column[0] for column in some]
        if not names or self.random.random() < 0.4:
            some, names = expected, []
        columns, done = self.read(path, names)
        problem = "" if done.returncode == 0 and not done.stderr.startswith(b"error") else done.stderr.decode(errors="replace")
        if not problem and [c[:2] for c in columns] != [c[:2] for c in some]:
            problem = f"{[c[:2] for c in columns]}, expected {[c[:2] for c in some]}"
        for ours, theirs in zip(columns, some):
            if problem:
                break
            mine = [None if v is None else float(v) for v in ours[2]] if ours[1] == "f64" else ours[2]
            if len(mine) != len(theirs[2]):
                problem = f"{ours[0]}: {len(mine)} rows, expected {len(theirs[2])}"
            for row, (a, b) in enumerate(zip(mine, theirs[2])):
                if not problem and a != b and not (a != a and b != b):
                    problem = f"{ours[0]}, row {row}: {a}, expected {b}"
        if problem:
            problem += f"\nthe file is now {tempfile.gettempdir()}/rql-{os.path.basename(path)}"
        self.tally.check(title, problem)
        if problem:
            os.replace(path, os.path.join(tempfile.gettempdir(), "rql-" + os.path.basename(path)))

    def run(self, rounds):
        for number in range(rounds):
            rows = self.random.choice([0, 1, 2, 3, 10, 100, 3000, 3000] + [30000] * (number % 10 == 0))
            count = self.random.choice([1, 2, 3, 5, 8])
            if number % 4 == 3 and rows > 0:
                text, cells, names, order = self.objects(rows, count)
                path = self.sandbox.path(f"t{number}.jsonl")
                expected = sorted(self.json_columns(cells, names), key=lambda column: order.index(column[0]) if column[0] in order else -1)
            else:
                text, cells, separator = self.csv(rows, count)
                path = self.sandbox.path(f"t{number}.csv")
                expected = self.reference(text, cells, count, separator)
            if expected is None:
                continue
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            self.compare(f"table-{number}", path, expected)

    @staticmethod
    def json_columns(cells, names):
        columns = []
        for k, name in enumerate(names):
            column = [row[k] for row in cells]
            classes = set()
            for cell in column:
                own = class_of(Cell(cell.text, False))
                if cell.quoted:
                    classes.add(own if own in ("date", "timestamp", "utc") else "text")
                elif cell.text:
                    classes.add(own)
            kind = type_of(classes) if classes else "text"
            values = [None if not c.text and not c.quoted else value_of(c, kind) for c in column]
            columns.append((name, kind, values))
        return columns


def main(sandbox):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--rounds", type=int, default=60)
    arguments = parser.parse_args()
    print(f"text: seed {arguments.seed}")
    tally = harness.Tally("text")
    Tables(sandbox, tally, arguments.seed).run(arguments.rounds)
    return tally.finish()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    os.chdir(harness.TREE)
    harness.main_program(main)
