"""The answer of a case, computed by DuckDB: SQL built beside the pipeline.

Where rql's rules differ from SQL's by decision, the SQL is written for rql's: `reject` keeps what is unknown, a sum of nothing
is 0, missing values sort last in both directions and NaN before them, a timestamp meets a date by its date, `/` of integers
truncates, NaN equals nothing. Each stage is a query with a column `rn` by which its rows are in order. Durations are
integers of microseconds.
"""

import math

import duckdb
import pyarrow

import functions
import reference
from expressions import Node
from pipelines import result_type
from reference import Answer, Failed
from values import DAY, TEXT, write_date, write_timestamp

ARROW = {
    "int": pyarrow.int64(),
    "float": pyarrow.float64(),
    "bool": pyarrow.bool_(),
    "text": pyarrow.string(),
    "duration": pyarrow.int64(),
}
NULLS = {"int": "BIGINT", "float": "DOUBLE", "bool": "BOOLEAN", "text": "VARCHAR", "date": "DATE", "timestamp": "TIMESTAMP"}
NULLS["duration"] = "BIGINT"
BEYOND = (duckdb.OutOfRangeException, duckdb.ConversionException, duckdb.InvalidInputException)


def sql_type(kind):
    return f"DECIMAL(18,{kind.scale})" if kind.kind == "decimal" else NULLS[kind.kind]


def literal(kind, value):
    if value is None:
        return f"NULL::{sql_type(kind)}"
    if kind.kind == "text":
        quoted = value.replace("'", "''")
        return f"'{quoted}'"
    if kind.kind == "bool":
        return "true" if value else "false"
    if kind.kind == "float":
        return f"'{value!r}'::DOUBLE"
    if kind.kind == "date":
        return f"DATE '{write_date(value)}'"
    if kind.kind == "timestamp":
        return f"TIMESTAMP '{write_timestamp(value, False, ' ')}'"
    if kind.kind == "decimal":
        return f"(({value})::DECIMAL(38,0) / 1)" if kind.scale == 0 else f"{decimal_text(value, kind.scale)}::DECIMAL(18,{kind.scale})"
    return f"({value})::BIGINT"


def decimal_text(value, scale):
    digits = f"{abs(value):0{scale + 1}}"
    return f"('{'-' if value < 0 else ''}{digits[:-scale]}.{digits[-scale:]}')"


def null_if_missing(args, result):
    """The result, missing where an operand is."""
    return f"CASE WHEN {' OR '.join(f'{arg} IS NULL' for arg in args)} THEN NULL ELSE {result} END"


# --- comparisons ------------------------------------------------------------------------------------------------------

SYMBOLS = {"==": "=", "!=": "<>"}


def compared(op, a, first, b, second):
    kinds = {first.kind, second.kind}
    symbol = SYMBOLS.get(op, op)
    if kinds == {"date", "timestamp"}:
        a, b = f"({a})::DATE", f"({b})::DATE"
    if "float" in kinds:
        a, b = f"({a})::DOUBLE", f"({b})::DOUBLE"
        nan = "true" if op == "!=" else "false"
        return null_if_missing([a, b], f"CASE WHEN isnan({a}) OR isnan({b}) THEN {nan} ELSE {a} {symbol} {b} END")
    if "decimal" in kinds:
        a, b = wide(a), wide(b)
    return f"({a} {symbol} {b})"


def wide(text):
    return f"({text})::DECIMAL(38,9)"


# --- expressions ------------------------------------------------------------------------------------------------------


def to(text, kind, wanted):
    """An operand as a part of an expression of another type."""
    if kind.kind == "date" and wanted.kind == "timestamp":
        return f"({text})::TIMESTAMP"
    if wanted.kind in ("decimal", "float") and kind != wanted:
        return f"({text})::{sql_type(wanted)}"
    return text


def micros(text, kind):
    return f"epoch_us(({text})::TIMESTAMP)" if kind.kind == "date" else f"epoch_us({text})"


def arithmetic(node, args):
    op, kind = node.op, node.type.kind
    if op == "/?":
        raise NotImplementedError
    first, second = (arg.type for arg in node.args)
    a, b = args
    if kind == "float":
        a, b = f"({a})::DOUBLE", f"({b})::DOUBLE"
        return f"({a} {op} {b})"
    if kind == "decimal":
        scale = node.type.scale
        if op == "*":
            a, b = (f"({text})::DECIMAL(18,{arg.scale})" for text, arg in zip(args, (first, second)))
        else:
            a, b = to(a, first, node.type), to(b, second, node.type)
        return f"({a} {op} {b})::DECIMAL(18,{scale})"
    if kind == "date":
        if second.kind == "date":
            return f"({b} + ({a})::INTEGER)"
        distance = f"(({b}) // {DAY})" if second.kind == "duration" else b
        return f"({a} {op} ({distance})::INTEGER)"
    if kind == "timestamp":
        return f"make_timestamp({micros(a, first)} {op} {b})"
    if kind == "int" and first.kind == "date":
        return f"({a} - {b})"
    if "timestamp" in (first.kind, second.kind):
        return f"({micros(a, first)} - {micros(b, second)})"
    return f"({a} {'//' if op == '/' else op} {b})"


def call(node, args):
    name, kind = node.extra, node.type.kind
    if name == "missing":
        return f"({args[0]} IS NULL)"
    if name in ("int", "float"):
        return f"({args[0]})::{NULLS[name]}"
    if name == "sign":
        return f"sign({args[0]})::BIGINT"
    if name in ("min", "max"):
        a, b = args
        plain = f"CASE WHEN {a} {'<' if name == 'min' else '>'} {b} THEN {a} ELSE {b} END"
        if kind == "float":
            plain = f"CASE WHEN isnan({a}) THEN {b} WHEN isnan({b}) THEN {a} ELSE {plain} END"
        return null_if_missing(args, plain)
    return f"{name}({args[0]})"


def write(node):
    op = node.op
    if op == "column":
        return node.extra
    if op in ("literal", "scalar"):
        return literal(node.type, node.extra if op == "literal" else node.extra[2])
    if op == "missing-literal":
        return literal(node.type, None)
    args = [literal(TEXT, arg.extra) if arg.op == "word" else write(arg) for arg in node.args]
    if op == "rows":
        return functions.sql_of_rows(node.extra, args)
    made = functions.sql_call(node, args, sql_type)
    if made is not None:
        return made
    types = [arg.type for arg in node.args]
    if op in ("and", "or"):
        return f"({args[0]} {op.upper()} {args[1]})"
    if op == "not":
        return f"(NOT {args[0]})"
    if op == "?:":
        yes, no = (to(arg, kind, node.type) for arg, kind in zip(args[1:], types[1:]))
        return f"CASE WHEN {args[0]} THEN {yes} ELSE {no} END"
    if op == "??":
        return f"coalesce({', '.join(to(arg, kind, node.type) for arg, kind in zip(args, types))})"
    if op == "is-missing":
        return f"({args[0]} IS {'' if node.extra else 'NOT '}NULL)"
    if op in ("is", "is not"):
        equal = compared("==", args[0], types[0], args[1], types[1])
        same = f"coalesce({equal}, {args[0]} IS NULL AND {args[1]} IS NULL)"
        return same if op == "is" else f"(NOT {same})"
    if op == "in-range":
        above = compared("<=", args[1], types[1], args[0], types[0])
        inside = f"({above} AND {compared('<=', args[0], types[0], args[2], types[2])})"
        return inside if node.extra else f"(NOT {inside})"
    if op == "in-list":
        equal = [compared("==", args[0], types[0], arg, kind) for arg, kind in zip(args[1:], types[1:])]
        inside = f"({' OR '.join(equal) or 'false'})"
        return inside if node.extra else f"(NOT {inside})"
    if op == "call":
        return call(node, args)
    if op == "neg":
        return f"(- {args[0]})"
    if op in reference.COMPARE:
        return compared(op, args[0], types[0], args[1], types[1])
    return arithmetic(node, args)


# --- stages -----------------------------------------------------------------------------------------------------------


def order(kind, text, down=False):
    """Terms of ORDER BY: missing last, NaN before them."""
    terms = [f"({text}) IS NULL"]
    if kind.kind == "float":
        terms.append(f"isnan({text})")
    return ", ".join([*terms, f"{text}{' DESC' if down else ''}"])


def float_sum(text):
    return f"CASE WHEN bool_or(NOT isfinite({text})) THEN sum({text}) ELSE fsum({text}) END"


def aggregate(word, node, grouped):
    if node is None:
        return "count(*)"
    text, kind = write(node), node.type
    if word == "count":
        return f"count(*) FILTER (WHERE {text})" if kind.kind == "bool" else f"count({text})"
    if word == "sum":
        if kind.kind == "float":
            return f"coalesce({float_sum(text)}, 0)"
        whole = sql_type(kind) if grouped else "DECIMAL(38,%d)" % kind.scale
        return f"coalesce(sum({text}), 0)::{whole}"
    if word == "mean":
        if kind.kind == "duration":
            return f"(sum({text}), count({text}))"
        text = f"({text})::DOUBLE"
        return f"({float_sum(text)} / count({text}))"
    if kind.kind == "float":
        return f"coalesce({word}({text}) FILTER (WHERE NOT isnan({text})), {word}({text}))"
    return f"{word}({text})"


def rounded_mean(total, count):
    if not count:
        return None
    whole = math.floor(abs(total) / count + 0.5) if abs(total) < 2**50 else (2 * abs(total) + count) // (2 * count)
    return -whole if total < 0 else whole


class Query:
    def __init__(self, table):
        self.steps = []
        self.name = table.name
        self.columns = {column.name: column.type for column in table.columns}

    def step(self, text, columns=None):
        self.steps.append(f"s{len(self.steps)} AS MATERIALIZED ({text})" if len(self.steps) == 0 else f"s{len(self.steps)} AS ({text})")
        self.name = f"s{len(self.steps) - 1}"
        if columns is not None:
            self.columns = columns

    def names(self):
        return ", ".join(self.columns)

    def numbered(self, by):
        self.step(f"SELECT {self.names()}, row_number() OVER (ORDER BY {by}) AS rn FROM {self.name}")

    def limited(self, condition):
        self.step(f"SELECT *, row_number() OVER (ORDER BY rn) AS k, count(*) OVER () AS n FROM {self.name}")
        self.step(f"SELECT {self.names()}, rn FROM {self.name} WHERE {condition}")

    def stage(self, stage):
        word, items = stage.word, stage.items
        if word in ("select", "reject"):
            kept = f"({write(items[0][1])}) IS {'' if word == 'select' else 'NOT '}TRUE"
            self.step(f"SELECT * FROM {self.name} WHERE {kept}")
        elif word in ("map", "derive"):
            made = {name: node.type for name, node, _ in items}
            texts = {name: write(node) for name, node, _ in items}
            old = {} if word == "map" else self.columns
            columns = {**old, **made}
            shown = ", ".join(f"{texts[name]} AS {name}" if name in texts else name for name in columns)
            self.step(f"SELECT {shown}, rn FROM {self.name}", columns)
        elif word in ("pick", "drop"):
            named = [name for name, _, _ in items]
            kept = named if word == "pick" else [name for name in self.columns if name not in named]
            self.columns = {name: self.columns[name] for name in kept}
        elif word in ("sort", "top"):
            keys = [(node, down) for _, node, down in items]
            keys = keys or [(Node("column", kind, (), name), word == "top") for name, kind in self.columns.items()]
            self.numbered(", ".join([*(order(node.type, write(node), down) for node, down in keys), "rn"]))
            if word == "top":
                self.step(f"SELECT * FROM {self.name} WHERE rn <= {stage.number}")
        elif word == "group":
            self.group(stage)
        elif word == "distinct":
            self.step(f"SELECT *, row_number() OVER (PARTITION BY {self.names()} ORDER BY rn) AS k FROM {self.name}")
            self.step(f"SELECT {self.names()}, rn FROM {self.name} WHERE k = 1")
        elif word == "reverse":
            self.step(f"SELECT {self.names()}, -rn AS rn FROM {self.name}")
        else:
            number = stage.number
            self.limited({"take": f"k <= {number}", "skip": f"k > {number}", "tail": f"k > n - {number}"}[word])

    def group(self, stage):
        keys = [(name, write(node), node.type) for name, node, _ in stage.items]
        made = {name: result_type(word, node) for name, word, node in stage.aggregates}
        columns = {**{name: kind for name, _, kind in keys}, **made}
        parts = [f"{text} AS {name}" for name, text, _ in keys]
        for name, word, node in stage.aggregates:
            text = aggregate(word, node, True)
            if word == "mean" and node.type.kind == "duration":
                raise NotImplementedError
            parts.append(f"{text} AS {name}")
        grouping = ", ".join(str(at + 1) for at in range(len(keys)))
        self.step(f"SELECT {', '.join(parts)} FROM {self.name} GROUP BY {grouping}", columns)
        self.numbered(", ".join(order(kind, name) for name, _, kind in keys))

    def text(self, shown, ordered):
        head = f"WITH {', '.join(self.steps)} " if self.steps else ""
        return f"{head}SELECT {shown} FROM {self.name}" + (" ORDER BY rn" if ordered else "")


def fetched(kind, name):
    """A column so that Python gets what values.py says."""
    if kind.kind == "date":
        return f"({name} - DATE '1970-01-01')"
    if kind.kind == "timestamp":
        return f"epoch_us({name})"
    return name


def python_value(kind, value):
    if value is None or kind.kind != "decimal":
        return value
    return int(value.scaleb(kind.scale)) if hasattr(value, "scaleb") else value * 10**kind.scale


class Reference:
    def __init__(self):
        self.connection = duckdb.connect()
        self.connection.execute("SET threads = 1")
        self.made = None

    def make_table(self, table):
        if self.made is table:
            return
        arrays = {}
        for column in table.columns:
            kind, values = column.type, column.values
            if kind.kind == "date":
                arrays[column.name] = pyarrow.array(values, pyarrow.int32()).cast(pyarrow.date32())
            elif kind.kind == "timestamp":
                arrays[column.name] = pyarrow.array(values, pyarrow.int64()).cast(pyarrow.timestamp("us"))
            elif kind.kind == "decimal":
                arrays[column.name] = pyarrow.array(values, pyarrow.int64())
            else:
                arrays[column.name] = pyarrow.array(values, ARROW[kind.kind])
        arrays["rn"] = pyarrow.array(range(table.rows), pyarrow.int64())
        given = pyarrow.table(arrays)  # noqa: F841 DuckDB finds it by its name
        shown = [
            f"(({column.name})::DECIMAL(38,{column.type.scale}) / {10**column.type.scale})::{sql_type(column.type)} AS {column.name}"
            if column.type.kind == "decimal"
            else column.name
            for column in table.columns
        ]
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {table.name} AS SELECT {', '.join(shown)}, rn FROM given")
        self.made = table

    def answer(self, case):
        self.make_table(case.table)
        query = Query(case.table)
        for stage in case.stages:
            if stage.word in reference.TERMINALS:
                return self.terminal(query, stage)
            query.stage(stage)
        shown = ", ".join(fetched(kind, name) for name, kind in query.columns.items())
        rows = self.run(query.text(shown, True))
        types = list(query.columns.values())
        rows = [tuple(python_value(kind, value) for kind, value in zip(types, row)) for row in rows]
        return Answer(list(query.columns), types, rows)

    def terminal(self, query, stage):
        kind = reference.terminal_type(stage, list(query.columns.items()))
        name, first = next(iter(query.columns.items()))
        node = stage.items[0][1] if stage.items else Node("column", first, (), name)
        if stage.value is not None:
            equal = compared("==", name, first, literal(*stage.value), stage.value[0])
            shown = f"count(*) FILTER (WHERE {equal})"
        elif stage.word == "count" and not stage.items:
            shown = "count(*)"
        else:
            shown = fetched(kind, aggregate(stage.word, node, False))
        value = self.run(query.text(shown, False))[0][0]
        if stage.word == "mean" and node.type.kind == "duration":
            value = rounded_mean(*(value.values() if isinstance(value, dict) else value))
        if value is None:
            raise Failed
        return Answer(None, [kind], [(python_value(kind, value),)])

    def run(self, text):
        try:
            return self.connection.execute(text).fetchall()
        except BEYOND:
            raise Failed from None
        except duckdb.BinderException as error:
            raise KeyError(str(error)) from None  # a case that was shrunk too far
