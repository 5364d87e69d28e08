"""Functions of text, dates and timestamps: how random calls of them are made, what they are in Python, and in SQL."""

import datetime
import re

from expressions import Node
from values import BOOL, DATE, DAY, DURATION, EPOCH, INT, TEXT, TIMESTAMP, Type

FIRST, LAST = 1 - EPOCH, datetime.date.max.toordinal() - EPOCH
UNITS = ["year", "quarter", "month", "week", "day"]
CLOCK_UNITS = {"hour": 3600 * 10**6, "minute": 60 * 10**6, "second": 10**6}
WIDTHS = [15 * 60 * 10**6, 3600 * 10**6, 10**6, 90 * 10**6]
PATTERNS = ["a%", "%a", "_", "%", "__", "", "k%1", "%é%"]
EXPRESSIONS = ["^a", "a$", "^k[0-9]+5$", "b|z", ".", "^$"]


def word(text):
    return Node("word", TEXT, (), text)


def quoted(text):
    return Node("literal", TEXT, (), text)


def number(value):
    return Node("literal", INT, (), value)


# --- made -------------------------------------------------------------------------------------------------------------


def random_text(random, s):
    """Text of text."""
    name = random.choice(["upper", "lower", "trim", "substr", "replace", "split", "+", "+"])
    if name == "+":
        return Node("+", TEXT, [s, quoted(random.choice(["x", "é", " "]))])
    if name == "substr":
        numbers = [random.randint(-2, 3)] + ([random.randint(0, 3)] if random.random() < 0.6 else [])
        return Node("call", TEXT, [s, *map(number, numbers)], name)
    if name == "replace":
        return Node("call", TEXT, [s, quoted(random.choice(["a", "zz", "é", "1"])), quoted(random.choice(["", "b", "xy"]))], name)
    if name == "split":
        return Node("call", TEXT, [s, quoted(random.choice(["a", " ", ","])), number(random.randint(-1, 2))], name)
    return Node("call", TEXT, [s], name)


def random_test(random, s):
    """A condition of text."""
    name = random.choice(["starts", "ends", "contains", "like", "~"])
    if name == "like":
        return Node(name, BOOL, [s, quoted(random.choice(PATTERNS))])
    if name == "~":
        return Node(name, BOOL, [s, quoted(random.choice(EXPRESSIONS))])
    return Node("call", BOOL, [s, quoted(random.choice(["", "a", "k", "é", "1"]))], name)


def random_number_of_text(random, s):
    return Node("call", INT, [s], random.choice(["len", "len", "bytes", "int"]))


def random_part(random, t):
    """A number of a date or timestamp."""
    names = ["year", "quarter", "month", "week", "day", "weekday"]
    if t.type.kind == "timestamp":
        names += ["hour", "minute", "second"]
    return Node("call", INT, [t], random.choice([*names, "int"]))


def random_date(random, t):
    """A date of a date or timestamp."""
    if t.type.kind == "timestamp":
        return Node("call", DATE, [t], "date")
    if random.random() < 0.4:
        return Node("months", DATE, [t], random.choice([-12, -1, 1, 2, 13]))
    return Node("call", DATE, [t, word(random.choice(UNITS))], "trunc")


def random_timestamp(random, t):
    """A timestamp of a date or timestamp."""
    if t.type.kind == "date":
        return Node("call", TIMESTAMP, [t], "timestamp")
    choice = random.random()
    if choice < 0.3:
        return Node("months", t.type, [t], random.choice([-12, -1, 1, 2, 13]))
    if choice < 0.6:
        return Node("call", t.type, [t, Node("literal", DURATION, (), random.choice(WIDTHS))], "bucket")
    return Node("call", t.type, [t, word(random.choice([*UNITS, *CLOCK_UNITS]))], "trunc")


def random_round(random, p):
    scale = random.randint(0, 3)
    return Node("call", Type("decimal", min(scale, p.type.scale)), [p, number(scale)], "round")


# --- in Python --------------------------------------------------------------------------------------------------------


class Beyond(Exception):
    """A date outside of the years 1 to 9999, or a timestamp beyond 64 bits."""


def civil(days):
    if not FIRST <= days <= LAST:
        raise Beyond
    return datetime.date.fromordinal(days + EPOCH)


def days_of(date):
    return date.toordinal() - EPOCH


def substr(s, begin, count=None):
    if begin < 0:
        begin += len(s)
        if begin < 0:
            count = count if count is None else count + begin
            begin = 0
    return s[begin:] if count is None else s[begin : begin + max(count, 0)]


def split(s, separator, k):
    parts = s.split(separator)
    return parts[k] if -len(parts) <= k < len(parts) else None


def like(s, pattern):
    form = "".join(".*" if each == "%" else "." if each == "_" else re.escape(each) for each in pattern)
    return re.fullmatch(form, s, re.DOTALL) is not None


def part(name, kind, value):
    if name == "int":
        return value
    days, clock = (value, 0) if kind.kind == "date" else divmod(value, DAY)
    if name in CLOCK_UNITS:
        return clock // CLOCK_UNITS[name] % (24 if name == "hour" else 60)
    day = civil(days)
    if name == "week":
        return day.isocalendar()[1]
    if name == "weekday":
        return day.isoweekday()
    return (day.month + 2) // 3 if name == "quarter" else getattr(day, name)


def truncated(kind, value, unit):
    if unit in CLOCK_UNITS:
        return value // CLOCK_UNITS[unit] * CLOCK_UNITS[unit]
    days = value if kind.kind == "date" else value // DAY
    day = civil(days)
    if unit == "week":
        days -= day.weekday()
    elif unit != "day":
        month = {"year": 1, "quarter": (day.month - 1) // 3 * 3 + 1, "month": day.month}[unit]
        days = days_of(datetime.date(day.year, month, 1))
    return days if kind.kind == "date" else days * DAY


def timed(days):
    """Midnight of a date, which may be beyond 64 bits."""
    if not -(2**63) <= days * DAY < 2**63:
        raise Beyond
    return days * DAY


def moved(kind, value, months):
    days, clock = (value, 0) if kind.kind == "date" else divmod(value, DAY)
    day = civil(days)
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= 9998:
        raise Beyond
    last = (datetime.date(year + month // 11, (month + 1) % 12 + 1, 1) - datetime.timedelta(1)).day
    days = days_of(datetime.date(year, month + 1, min(day.day, last)))
    return days if kind.kind == "date" else days * DAY + clock


def rounded(kind, value, scale):
    if scale >= kind.scale:
        return value
    unit = 10 ** (kind.scale - scale)
    whole = (abs(value) + unit // 2) // unit
    return -whole if value < 0 else whole


TEXT_CALLS = {
    "len": len,
    "bytes": lambda s: len(s.encode()),
    "upper": str.upper,
    "lower": str.lower,
    "trim": str.strip,
    "substr": substr,
    "replace": str.replace,
    "split": split,
    "starts": str.startswith,
    "ends": str.endswith,
    "contains": lambda s, a: a in s,
    "like": like,
    "+": lambda s, x: s + x,
    "~": lambda s, pattern: re.search(pattern, s) is not None,
    "int": lambda s: int(s) if re.fullmatch(r"[+-]?\d+", s) else None,
}


def python_call(node):
    """The function of a call of one column, its other operands known; None if it is none of these."""
    kind = node.args[0].type if node.args else None
    known = [arg.extra for arg in node.args[1:]]
    name = node.op if node.op != "call" else node.extra
    if name == "months":
        return lambda value: moved(kind, value, node.extra)
    if kind is None or any(arg.op not in ("literal", "word") for arg in node.args[1:]):
        return None
    if kind.kind == "text" and name in TEXT_CALLS:
        return lambda value: TEXT_CALLS[name](value, *known)
    if kind.kind in ("date", "timestamp"):
        if name == "trunc":
            return lambda value: truncated(kind, value, known[0])
        if name == "bucket":
            return lambda value: value // known[0] * known[0]
        if name == "date":
            return lambda value: value // DAY
        if name == "timestamp":
            return timed
        if node.op == "call" and node.type == INT:
            return lambda value: part(name, kind, value)
    if kind.kind in ("decimal", "int") and name == "round":
        return lambda value: rounded(kind, value, known[0])
    return None


# --- in SQL -----------------------------------------------------------------------------------------------------------

SQL_CALLS = {
    "len": "length({0})",
    "bytes": "strlen({0})",
    "upper": "upper({0})",
    "lower": "lower({0})",
    "trim": "trim({0})",
    "replace": "replace({0}, {1}, {2})",
    "starts": "starts_with({0}, {1})",
    "ends": "suffix({0}, {1})",
    "contains": "contains({0}, {1})",
    "like": "({0} LIKE {1})",
    "+": "({0} || {1})",
    "~": "regexp_matches({0}, {1})",
}


def sql_of_text(name, args, known):
    if name == "substr":
        if known[0] < 0:
            raise NotImplementedError
        return f"substr({args[0]}, {known[0] + 1}{''.join(f', {each}' for each in known[1:])})"
    if name == "split":
        return f"string_split({args[0]}, {args[1]})[{known[1] + 1 if known[1] >= 0 else known[1]}]"
    if name == "int":
        return f"CASE WHEN regexp_full_match({args[0]}, '[+-]?[0-9]+') THEN try_cast({args[0]} AS BIGINT) END"
    return SQL_CALLS[name].format(*args)


def sql_call(node, args, sql_type):
    """The SQL of a call, its operands as SQL; None if it is none of these."""
    if python_call(node) is None:
        return None
    kind, name = node.args[0].type, node.op if node.op != "call" else node.extra
    known = [arg.extra for arg in node.args[1:]]
    back = sql_type(node.type)
    if kind.kind == "text":
        return sql_of_text(name, args, known)
    if name == "months":
        return f"({args[0]} + INTERVAL ({node.extra}) MONTH)::{back}"
    if name == "trunc":
        return f"date_trunc('{known[0]}', {args[0]})::{back}"
    if name == "bucket":
        return f"make_timestamp(epoch_us({args[0]}) - (((epoch_us({args[0]}) % {known[0]}) + {known[0]}) % {known[0]}))"
    if name in ("date", "timestamp"):
        return f"({args[0]})::{back}"
    if name == "round":
        return f"round({args[0]}, {known[0]})::{back}"
    if name == "int":
        return f"({args[0]} - DATE '1970-01-01')" if kind.kind == "date" else f"epoch_us({args[0]})"
    return f"{'isodow' if name == 'weekday' else name}({args[0]})"
