"""The answer of a case, computed row by row in Python as docs/language.md specifies.

A column is a list of values, None where one is missing and FAIL where computing it fails: such a value may be passed over, but
not be needed. Integers, decimals and times are Python's integers, means are fractions.
"""

import math
from fractions import Fraction

import functions
from pipelines import result_type
from values import DAY, INT64_MAX, INT64_MIN, Type

FAIL = object()


class Failed(Exception):
    """The query may fail: a value that cannot be computed may be needed."""


def checked(value):
    return value if INT64_MIN <= value <= INT64_MAX else FAIL


def strict(function, *columns):
    """Row by row; a missing operand makes the result missing."""
    result = []
    for values in zip(*columns):
        if None in values:
            result.append(None)
        elif FAIL in values:
            result.append(FAIL)
        else:
            result.append(function(*values))
    return result


# --- arithmetic -------------------------------------------------------------------------------------------------------


def truncated(a, b):
    if b == 0:
        return FAIL
    quotient = abs(a) // abs(b)
    return checked(quotient if (a < 0) == (b < 0) else -quotient)


def remainder(a, b):
    if b == 0:
        return FAIL
    return a - b * truncated_exact(a, b)


def truncated_exact(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def divided(a, b):
    """By nothing it is missing."""
    return truncated(a, b) if b else None


def float_divide(a, b):
    if b == 0:
        if a == 0 or a != a:
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1, b)
    return a / b


def float_times(a, b):
    return a * b


INTEGER = {
    "+": lambda a, b: checked(a + b),
    "-": lambda a, b: checked(a - b),
    "*": lambda a, b: checked(a * b),
    "/": truncated,
    "//": truncated,
    "%": remainder,
    "/?": divided,
}
REAL = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": float_times, "/": float_divide}


def rounded(value):
    """To the nearest integer, halves away from zero."""
    if not math.isfinite(value):
        return value
    whole = math.floor(abs(value))
    whole += abs(value) - whole >= 0.5
    return math.copysign(float(whole), value)


def smallest(a, b):
    return b if a != a else a if b != b else min(a, b)


def largest(a, b):
    return b if a != a else a if b != b else max(a, b)


CALLS = {
    ("abs", "int"): lambda a: checked(abs(a)),
    ("abs", "float"): abs,
    ("sign", "int"): lambda a: (a > 0) - (a < 0),
    ("int", "int"): int,
    ("float", "float"): float,
    ("floor", "float"): lambda a: float(math.floor(a)) if math.isfinite(a) else a,
    ("ceil", "float"): lambda a: float(math.ceil(a)) if math.isfinite(a) else a,
    ("round", "float"): rounded,
    ("min", "int"): min,
    ("max", "int"): max,
    ("min", "float"): smallest,
    ("max", "float"): largest,
}


def arithmetic(node, a, b):
    op, kind = node.op, node.type
    first, second = (arg.type for arg in node.args)
    kinds = (first.kind, second.kind)
    if kind.kind == "float":
        return strict(lambda x, y: REAL[op](float(x), float(y)), a, b)
    if kind.kind == "decimal" and op != "*":
        a, b = rescaled(a, first, kind.scale), rescaled(b, second, kind.scale)
        return strict(INTEGER[op], a, b)
    if kinds == ("date", "duration"):
        if kind.kind == "date":
            return strict(lambda x, y: INTEGER[op](x, y // DAY), a, b)
        return strict(INTEGER[op], as_times(a, first), b)
    if "timestamp" in kinds and "date" in kinds:
        a, b = as_times(a, first), as_times(b, second)
    return strict(INTEGER[op], a, b)


def rescaled(column, kind, scale):
    return strict(lambda x: checked(x * 10 ** (scale - kind.scale)), column)


def as_times(column, kind):
    return strict(lambda x: checked(x * DAY), column) if kind.kind == "date" else column


# --- comparisons and conditions ---------------------------------------------------------------------------------------


def comparable(a, first, b, second):
    """Both columns so that Python's comparison is the right one."""
    kinds = {first.kind, second.kind}
    if kinds == {"date", "timestamp"}:
        # A timestamp is compared with a date by its date, or with its midnight, which may be beyond 64 bits.
        a, b = (beyond_times(column, kind) for column, kind in ((a, first), (b, second)))
        a = strict(lambda x: x // DAY, a) if first.kind == "timestamp" else a
        b = strict(lambda x: x // DAY, b) if second.kind == "timestamp" else b
    elif "decimal" in kinds and "float" in kinds:
        a, b = as_floats(a, first), as_floats(b, second)
    elif "decimal" in kinds:
        scale = max(first.scale, second.scale)
        a, b = rescaled(a, first, scale), rescaled(b, second, scale)
    elif "text" in kinds:
        a, b = (strict(lambda x: x.encode(), column) for column in (a, b))
    return a, b


def as_floats(column, kind):
    """A float that meets a decimal may be a decimal, which does not hold large ones."""
    if kind.kind == "decimal":
        return strict(lambda x: FAIL if abs(x) > 10**15 else x / 10**kind.scale, column)
    return strict(lambda x: FAIL if math.isfinite(x) and abs(x) > 10**12 else float(x), column)


def beyond_times(column, kind):
    """The dates that have a midnight."""
    return strict(lambda x: FAIL if checked(x * DAY) is FAIL else x, column) if kind.kind == "date" else column


COMPARE = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def compare(op, a, first, b, second):
    return strict(COMPARE[op], *comparable(a, first, b, second))


def logic(op, a, b):
    """Three-valued; what is decided by the left is not computed on the right."""
    decides = op == "or"
    result = []
    for x, y in zip(a, b):
        if x is FAIL or x is decides:
            result.append(x)
        elif y is FAIL or y is decides:
            result.append(y)
        else:
            result.append(None if x is None or y is None else not decides)
    return result


def negated(column):
    return strict(lambda x: not x, column)


def chosen(condition, yes, no):
    return [FAIL if c is FAIL else y if c is True else n for c, y, n in zip(condition, yes, no)]


def called(function, column):
    def call(value):
        try:
            return function(value)
        except functions.Beyond:
            return FAIL

    return strict(call, column)


def called_by_row(function, columns, rows):
    made = []
    for values in zip(*columns) if columns else [()] * rows:
        try:
            made.append(FAIL if FAIL in values else None if None in values else function(*values))
        except functions.Beyond:
            made.append(FAIL)
    return made


# --- expressions ------------------------------------------------------------------------------------------------------


def convert(column, kind, to):
    """A column as a part of an expression of another type: a date as a timestamp, a decimal of more digits."""
    if kind.kind == "date" and to.kind == "timestamp":
        return as_times(column, kind)
    if to.kind == "decimal":
        return rescaled(column, kind, to.scale)
    return column


def evaluate(node, columns, rows):
    """The column of an expression."""
    op = node.op
    if op == "column":
        return columns[node.extra][1]
    if op in ("literal", "scalar"):
        return [node.extra if op == "literal" else node.extra[2]] * rows
    if op == "missing-literal":
        return [None] * rows
    function = functions.python_call(node)
    if function is not None:
        return called(function, evaluate(node.args[0], columns, rows))
    types = [arg.type for arg in node.args]
    args = [evaluate(arg, columns, rows) for arg in node.args]
    if op == "rows":
        if functions.are_wrong(node.extra, [None if arg.reads() else evaluate(arg, columns, 1)[0] for arg in node.args]):
            raise Failed
        return called_by_row(functions.row_call(node), args, rows)
    if op in ("and", "or"):
        return logic(op, *args)
    if op == "not":
        return negated(args[0])
    if op == "?:":
        return chosen(args[0], *(convert(arg, kind, node.type) for arg, kind in zip(args[1:], types[1:])))
    if op == "??":
        a, b = (convert(arg, kind, node.type) for arg, kind in zip(args, types))
        return [y if x is None else x for x, y in zip(a, b)]
    if op == "is-missing":
        return [FAIL if x is FAIL else (x is None) == node.extra for x in args[0]]
    if op in ("is", "is not"):
        equal = compare("==", args[0], types[0], args[1], types[1])
        same = [
            FAIL if e is FAIL else x is None and y is None if e is None else e for e, x, y in zip(equal, *args)
        ]
        return same if op == "is" else negated(same)
    if op == "in-range":
        above = compare("<=", args[1], types[1], args[0], types[0])
        inside = logic("and", above, compare("<=", args[0], types[0], args[2], types[2]))
        return inside if node.extra else negated(inside)
    if op == "in-list":
        inside = [x if x is FAIL else False for x in args[0]]
        for arg, kind in zip(args[1:], types[1:]):
            inside = logic("or", inside, compare("==", args[0], types[0], arg, kind))
        return inside if node.extra else negated(inside)
    if op == "call":
        if node.extra == "missing":
            return [FAIL if x is FAIL else x is None for x in args[0]]
        return strict(CALLS[node.extra, node.type.kind], *args)
    if op == "neg":
        return strict((lambda x: -x) if node.type.kind == "float" else (lambda x: checked(-x)), args[0])
    if op in COMPARE:
        return compare(op, args[0], types[0], args[1], types[1])
    return arithmetic(node, *args)


# --- aggregates -------------------------------------------------------------------------------------------------------


def exact_sum(values):
    """The correctly rounded sum of floats."""
    if any(not math.isfinite(value) for value in values):
        return sum(value for value in values if not math.isfinite(value))
    try:
        return math.fsum(values)
    except OverflowError:
        total = sum(map(Fraction, values))
        try:
            return float(total)
        except OverflowError:
            return math.inf if total > 0 else -math.inf


def mean(values, kind):
    if kind.kind == "float":
        return exact_sum(values) / len(values)
    exact = Fraction(sum(values), len(values))
    if kind.kind == "duration":
        whole = math.floor(abs(exact) + Fraction(1, 2))
        return -whole if exact < 0 else whole
    return float(exact / 10**kind.scale)


def median(values, kind):
    """Between the two in the middle; of text, dates and timestamps the lower of them."""
    values = sorted(values, key=lambda value: rank(kind, value))
    a, b = values[(len(values) - 1) // 2], values[len(values) // 2]
    if kind.kind in ("text", "date", "timestamp"):
        return a
    if kind.kind == "float":
        return a + 0.0 if a == b or len(values) % 2 else a + 0.5 * (b - a)
    middle = float(a) if len(values) % 2 else float(a + b) / 2
    if kind.kind == "duration":
        whole = math.floor(abs(middle) + 0.5)
        return -whole if middle < 0 else whole
    return middle / 10**kind.scale


def aggregate(word, kind, values, grouped):
    """Of a list of values, less those that are missing."""
    if FAIL in values:
        raise Failed
    if word == "count":
        return sum(value is True if kind.kind == "bool" else value is not None for value in values)
    values = [value for value in values if value is not None]
    if word == "distinct":
        return len({same(value) for value in values})
    if word == "sum":
        total = exact_sum(values) if kind.kind == "float" else sum(values)
        if grouped and kind.kind != "float" and checked(total) is FAIL:
            raise Failed
        return total
    if not values:
        if grouped:
            return None
        raise Failed
    if word == "mean":
        return mean(values, kind)
    if word in ("first", "last"):
        return values[0 if word == "first" else -1]
    if word == "median":
        return median(values, kind)
    if kind.kind == "float":
        values = [value for value in values if value == value] or values
    key = str.encode if kind.kind == "text" else None
    return (min if word == "min" else max)(values, key=key)


# --- stages -----------------------------------------------------------------------------------------------------------


def rank(kind, value, down=False):
    """A key by which Python sorts as rql does: missing values last in both directions, NaN before them."""
    if value is None:
        return (2, 0)
    if value != value:
        return (1, 0)
    if kind.kind == "text":
        points = [ord(point) for point in value]
        return (0, [-point for point in points] + [1] if down else points)
    return (0, -value if down else value)


def same(value):
    """What is equal for distinct and group: NaN equals itself."""
    return "nan" if value != value else value


class Relation:
    def __init__(self, columns, rows):
        self.columns = columns  # name: (type, values)
        self.rows = rows

    def value(self, node):
        return evaluate(node, self.columns, self.rows)

    def fails(self):
        return any(FAIL in values for _, values in self.columns.values())

    def at(self, places):
        places = list(places)
        columns = {name: (kind, [values[at] for at in places]) for name, (kind, values) in self.columns.items()}
        return Relation(columns, len(places))

    def sorted(self, keys):
        """The rows in the order of these (expression, descending)."""
        ranks = []
        for node, down in keys:
            values = self.value(node)
            if FAIL in values:
                raise Failed
            ranks.append([rank(node.type, value, down) for value in values])
        return self.at(sorted(range(self.rows), key=lambda at: [each[at] for each in ranks]))


def all_keys(relation, down):
    from expressions import Node

    return [(Node("column", kind, (), name), down) for name, (kind, _) in relation.columns.items()]


def group(relation, stage):
    keys = [relation.value(node) for _, node, _ in stage.items]
    values = [relation.value(node) if node else [True] * relation.rows for _, _, node in stage.aggregates]
    if any(FAIL in key for key in keys):
        raise Failed
    groups = {}
    for at in range(relation.rows):
        groups.setdefault(tuple(same(key[at]) for key in keys), []).append(at)
    types = [node.type for _, node, _ in stage.items]
    order = sorted(groups.values(), key=lambda places: [rank(kind, key[places[0]]) for kind, key in zip(types, keys)])
    columns = {
        name: (node.type, [key[places[0]] for places in order]) for (name, node, _), key in zip(stage.items, keys)
    }
    for (name, word, node), column in zip(stage.aggregates, values):
        kind = node.type if node else Type("bool")
        made = [aggregate(word, kind, [column[at] for at in places], True) for places in order]
        columns[name] = (result_type(word, node), made)
    return Relation(columns, len(order))


def run_stage(relation, stage):
    word = stage.word
    if word in ("select", "reject"):
        kept = relation.value(stage.items[0][1])
        if FAIL in kept:
            raise Failed
        return relation.at(at for at in range(relation.rows) if (kept[at] is True) == (word == "select"))
    if word in ("map", "derive"):
        made = {name: (node.type, relation.value(node)) for name, node, _ in stage.items}
        return Relation({**(relation.columns if word == "derive" else {}), **made}, relation.rows)
    if word == "pick":
        return Relation({name: relation.columns[name] for name, _, _ in stage.items}, relation.rows)
    if word == "drop":
        dropped = {name for name, _, _ in stage.items}
        kept = {name: column for name, column in relation.columns.items() if name not in dropped}
        return Relation(kept, relation.rows)
    if word in ("sort", "top"):
        keys = [(node, down) for _, node, down in stage.items] or all_keys(relation, word == "top")
        ordered = relation.sorted(keys)
        return ordered.at(range(min(stage.number, ordered.rows))) if word == "top" else ordered
    if word == "group":
        return group(relation, stage)
    if word == "distinct":
        seen, places = set(), []
        for at in range(relation.rows):
            row = tuple(same(values[at]) for _, values in relation.columns.values())
            if FAIL in row:
                raise Failed
            if row not in seen:
                seen.add(row)
                places.append(at)
        return relation.at(places)
    if word == "reverse":
        return relation.at(range(relation.rows - 1, -1, -1))
    rows = range(relation.rows)
    number = stage.number
    return relation.at(rows[:number] if word == "take" else rows[number:] if word == "skip" else rows[max(len(rows) - number, 0) :])


def run_terminal(relation, stage):
    word = stage.word
    if word == "count" and not stage.items and stage.value is None:
        return relation.rows
    if stage.value is not None:
        kind, values = next(iter(relation.columns.values()))
        return aggregate("count", Type("bool"), compare("==", values, kind, [stage.value[1]] * relation.rows, stage.value[0]), False)
    if stage.items:
        node = stage.items[0][1]
        return aggregate(word, node.type, relation.value(node), False)
    kind, values = next(iter(relation.columns.values()))
    return aggregate(word, kind, values, False)


class Answer:
    """What a case should print: types and names of columns and rows of values; or one value."""

    def __init__(self, names, types, rows):
        self.names = names
        self.types = types
        self.rows = rows


def terminal_type(stage, columns):
    if stage.word == "count":
        return Type("int")
    node = stage.items[0][1] if stage.items else None
    if node is None:
        node = type("Column", (), {"type": columns[0][1]})
    return result_type(stage.word, node)


TERMINALS = ("count", "sum", "min", "max", "mean")


def answer(case):
    """The Answer; Failed if the query may fail."""
    table = case.table
    relation = Relation({column.name: (column.type, column.values) for column in table.columns}, table.rows)
    for number, stage in enumerate(case.stages):
        if number == case.cut and relation.fails():
            raise Failed
        if stage.word in TERMINALS:
            kind = terminal_type(stage, [(name, kind) for name, (kind, _) in relation.columns.items()])
            return Answer(None, [kind], [(run_terminal(relation, stage),)])
        relation = run_stage(relation, stage)
    if relation.fails():
        raise Failed
    columns = relation.columns.values()
    rows = list(zip(*(values for _, values in columns)))
    return Answer(list(relation.columns), [kind for kind, _ in columns], rows)
