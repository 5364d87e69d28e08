"""Random tables of all types, as files or lists that rql reads and as lists of Python values."""

import csv
import io

from values import BOOL, DATE, DURATION, FLOAT, INT, TEXT, TIMESTAMP, Type, literal, source
from values import write_date, write_decimal, write_timestamp

LENGTHS = [0, 1, 2, 3, 5, 7, 8, 9, 13, 20, 33, 50]
LONGER = [100, 257, 1023, 2049]
LARGE = [4097, 30_001, 100_000]
MULTIPLIER = 7919  # a large table repeats the rows of a small one in this step

STATED = {"int": "i64", "float": "f64", "bool": "bool", "text": "text", "date": "date", "timestamp": "timestamp"}


class Column:
    def __init__(self, name, kind, values):
        self.name = name
        self.type = kind
        self.values = values


class Table:
    """Columns of equal length; `base` if they repeat the rows of a smaller table."""

    def __init__(self, name, columns, form, base=None):
        self.name = name
        self.columns = columns
        self.rows = len(columns[0].values)
        self.form = form
        self.base = base

    def definition(self):
        """The statement that makes it under its name."""
        if self.base:
            rows = f"range 0..{self.rows - 1} | map x * {MULTIPLIER} % {self.base.rows}"
            return f"let {self.name} = {self.base.listed()} | gather ({rows})"
        if self.form == "list":
            return f"let {self.name} = {self.listed()}"
        return f"let {self.name} = {self.loaded()}"

    def listed(self):
        """A source that lists all values."""
        parts, made = [], []
        for column in self.columns:
            kind = INT if column.type.kind == "decimal" else column.type
            parts.append("[" + ", ".join(literal(kind, value) for value in column.values) + "]")
            # A list of conditions is one of integers, and one of decimals one of floats.
            if column.type.kind == "bool":
                made.append(f"{column.name} = {column.name} == 1")
            if column.type.kind == "decimal":
                made.append(f"{column.name} = div({column.name}, {10**column.type.scale}, {column.type.scale})")
        zipped = "".join(f" | zip {part} as {column.name}" for part, column in zip(parts[1:], self.columns[1:]))
        derived = f" | derive {', '.join(made)}" if made else ""
        return f"{parts[0]} | map c1 as {self.columns[0].name}{zipped}{derived}"

    def loaded(self):
        stated = ", ".join(
            f"{column.name} decimal({column.type.scale})" if column.type.kind == "decimal" else f"{column.name} {STATED[column.type.kind]}"
            for column in self.columns
        )
        return f"load '{self.name}.csv' {stated}" if self.form == "csv" else f"load '{self.name}.{self.form}'"

    def csv(self):
        """The table as a CSV file: nothing where a value is missing, empty text in quotes."""
        out = io.StringIO()
        out.write(",".join(column.name for column in self.columns) + "\n")
        for row in zip(*(column.values for column in self.columns)):
            out.write(",".join(cell(column.type, value) for column, value in zip(self.columns, row)) + "\n")
        return out.getvalue().encode()

    def smaller(self):
        """Smaller tables, for shrinking: half of the rows, one row less, one column less."""
        if self.base:
            yield Table(self.name, self.base.columns, "list")
            return
        for first, last in [(0, self.rows // 2), (self.rows // 2, self.rows), (1, self.rows), (0, self.rows - 1)]:
            if 0 < last - first < self.rows:
                yield Table(self.name, [Column(c.name, c.type, c.values[first:last]) for c in self.columns], self.form)
        for index in range(len(self.columns)):
            if len(self.columns) > 1:
                yield Table(self.name, self.columns[:index] + self.columns[index + 1 :], self.form)


def cell(kind, value):
    if value is None:
        return ""
    if kind.kind == "text":
        quoted = io.StringIO()
        csv.writer(quoted, quoting=csv.QUOTE_ALL, lineterminator="").writerow([value])
        return quoted.getvalue()
    if kind.kind == "float":
        return repr(value)
    if kind.kind == "bool":
        return "true" if value else "false"
    if kind.kind == "date":
        return write_date(value)
    if kind.kind == "timestamp":
        return write_timestamp(value, kind.utc, " ")
    if kind.kind == "decimal":
        return write_decimal(value, kind.scale)
    return str(value)


NAMES = {"int": "i", "float": "f", "bool": "b", "text": "s", "date": "d", "timestamp": "t", "duration": "u", "decimal": "p"}


def random_types(random, form):
    types = [INT, TEXT, random.choice([FLOAT, DATE])]
    pool = [INT, FLOAT, BOOL, TEXT, TEXT, DATE, TIMESTAMP, Type("timestamp", utc=True)]
    pool += [Type("decimal", scale) for scale in (0, 1, 2, 4)]
    if form == "list":
        pool.append(DURATION)  # text files have none
    types += random.sample(pool, random.randint(0, 5))
    random.shuffle(types)
    return types


class Recipe:
    """How the values of a column are drawn: there may be several tables of the same columns."""

    def __init__(self, name, kind, make, holes):
        self.name, self.type, self.make, self.holes = name, kind, make, holes


def random_recipes(random, form):
    recipes, seen = [], {}
    for kind in random_types(random, form):
        number = seen[kind.kind] = seen.get(kind.kind, 0) + 1
        make = source(random, kind.kind, random.random() < 0.12)
        holes = random.choice([0, 0, 0.1, 0.3, 0.3, 1 if random.random() < 0.2 else 0.5])
        recipes.append(Recipe(f"{NAMES[kind.kind]}{number}", kind, make, holes))
    return recipes


def random_columns(random, form, rows, recipes):
    columns = []
    for recipe in recipes:
        kind = recipe.type
        # A list and a file without values do not say their type.
        values = [None if random.random() < recipe.holes else recipe.make() for _ in range(rows)]
        if form == "list" and rows and all(value is None for value in values):
            values[random.randrange(rows)] = recipe.make()
        elif kind.utc and all(value is None for value in values):
            kind = TIMESTAMP
        columns.append(Column(recipe.name, kind, values))
    return columns


def random_tables(random, names, forms, large=0.0):
    """Tables of the same columns in one of these forms: "list" or the ending of a file."""
    form = random.choice(forms)
    if random.random() < large:
        recipes = random_recipes(random, "list")
        return [large_table(random, name, recipes) for name in names]
    recipes = random_recipes(random, form)
    return [small_table(random, name, form, recipes) for name in names]


def large_table(random, name, recipes):
    base = Table(name, random_columns(random, "list", random.choice([7, 31, 100]), recipes), "list")
    rows = random.choice(LARGE)
    columns = [Column(c.name, c.type, [c.values[at * MULTIPLIER % base.rows] for at in range(rows)]) for c in base.columns]
    return Table(name, columns, "list", base)


def small_table(random, name, form, recipes):
    rows = random.choice(LONGER) if random.random() < 0.15 else random.choice(LENGTHS)
    if form == "list" and rows == 0:
        rows = 1
    return Table(name, random_columns(random, form, rows, recipes), form)
