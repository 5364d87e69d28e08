"""Functions of text, dates and timestamps: how random calls of them are made, what they are in Python, and in SQL."""

import datetime
import decimal
import re
import string
import sys

import readings
from expressions import Node
from values import BOOL, DATE, DAY, DURATION, EPOCH, INT, TEXT, TIMESTAMP, Type, write_date, write_decimal, write_timestamp

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
    if random.random() < 0.4:
        return readings.random_regex(random, s)
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


def random_of_rows(maker, depth):
    """Text that is made of several columns, or of other types."""
    random = maker.random

    def make(kind):
        made = maker.make(kind, depth - 1)
        return made if random.random() < 0.3 else maker.column_like(made)

    name = random.choice(["text", "text", "concat", "+", "substr", "replace", "split", "format", "format", "pad"])
    if name == "text":
        return Node("rows", TEXT, [make(maker.any_type(("text",)))], name)
    if name == "concat":
        return Node("rows", TEXT, [make(maker.any_type()) for _ in range(random.randint(1, 3))], name)
    if name == "+":
        return Node("rows", TEXT, [make(TEXT), make(TEXT)], name)
    if name == "substr":
        return Node("rows", TEXT, [make(TEXT), make(INT), *([make(INT)] if random.random() < 0.6 else [])], name)
    if name == "replace":
        return Node("rows", TEXT, [make(TEXT), make(TEXT), make(TEXT)], name)
    if name == "split":
        return Node("rows", TEXT, [make(TEXT), make(TEXT), make(INT)], name)
    if name == "pad":
        width = number(random.randint(-6, 6)) if random.random() < 0.7 else Node("%", INT, [make(INT), number(7)])
        return Node("rows", TEXT, [make(TEXT), width, *([quoted(random.choice("*é0"))] if random.random() < 0.6 else [])], name)
    args, pattern = [], ""
    for _ in range(random.randint(1, 3)):
        args.append(make(maker.any_type()))
        pattern += random.choice(["", "-", "{{", "é"]) + random_field(random, args[-1].type)
    return Node("rows", TEXT, [quoted(pattern), *args], "format")


FIELD_TIMES = ["%Y-%m-%d", "%y%m%d", "%j %a %A", "%d %b %B", "%G-W%V-%u", "%U %W %w", "%e.%m.", "%F", "%-d.%-m.%Y"]
FIELD_CLOCKS = ["%H:%M:%S", "%I:%M %p", "%H%M%S.%f", "%T", "%R", "%D %T %z"]


def random_field(random, kind):
    """A field of format for this type."""
    if random.random() < 0.3:
        return "{}"
    width = random.choice(["", "", "5", "12"])
    fill = random.choice(["", "", "<", ">", "^", "*<", "é^", "_>"])
    if kind.kind == "text":
        return "{:" + fill + width + random.choice(["", ".2", ".0", "s"]) + "}"
    if kind.kind == "bool":
        return random.choice(["{}", "{:d}", "{:6}", "{:>6}"])
    if kind.kind in ("date", "timestamp"):
        forms = FIELD_TIMES + (FIELD_CLOCKS if kind.kind == "timestamp" else [])
        return "{:" + random.choice(forms) + "}" if random.random() < 0.7 else "{:" + fill + width + "}"
    if kind.kind == "duration":
        return "{:" + fill + width + "}"
    sign = random.choice(["", "", "+", " ", "-"])
    zero = random.choice(["", "0"]) if width else ""
    if kind.kind == "int":
        form = random.choice(["", "", "d", ",", "_", "x", "X", "o", "b", "_x", ".2f", ",.1f", "e"])
    elif kind.kind == "float":
        form = random.choice([".0f", ".2f", ",.3f", "e", ".3e", "g", ".4g", ".3", "%", ".1%", "_.2f"])
    else:
        form = random.choice(["", ",", ".2f", ".0f", ",.1f", ".5f"])
    if "#" not in form and form.endswith(("x", "X", "o", "b")) and random.random() < 0.4:
        sign += "#"
    align = "" if zero else random.choice([fill, "=" if width else ""])
    return "{:" + align + sign + zero + width + form + "}"


def random_row_test(maker, depth):
    name = maker.random.choice(["starts", "ends", "contains", "like"])
    return Node("rows", BOOL, [maker.column_like(maker.make(TEXT, depth - 1)), maker.make(TEXT, depth - 1)], name)


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


def printed_float(value):
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    mantissa, _, exponent = repr(value + 0.0 if value else 0.0).partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent)}" if exponent else mantissa


def printed(kind, value):
    """A value as rql prints it."""
    if kind.kind == "text":
        return value
    if kind.kind == "bool":
        return "true" if value else "false"
    if kind.kind == "float":
        return printed_float(value)
    if kind.kind == "decimal":
        return write_decimal(value, kind.scale)
    if kind.kind == "duration":
        days, clock = divmod(abs(value), DAY)
        seconds, fraction = divmod(clock, 10**6)
        text = f"{days}d " if days else ""
        text += f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        return ("-" if value < 0 else "") + text + (f".{fraction:06}".rstrip("0") if fraction else "")
    if kind.kind == "date":
        civil(value)
        return write_date(value)
    if kind.kind == "timestamp":
        civil(value // DAY)
        text = write_timestamp(value, False)
        whole, point, fraction = text.partition(".")
        if fraction.endswith("000"):
            text = whole + point + fraction[:3]
        return text + ("Z" if kind.utc else "")
    return str(value)


def half_away(value, scale):
    whole = (abs(value) * 2 + 10**scale) // (2 * 10**scale)
    return -whole if value < 0 else whole


def exact_field(spec, value, scale):
    """A field of an integer or decimal that has a precision: of all its digits."""
    precision = int(re.search(r"\.(\d+)f", spec).group(1))
    digits = value * 10 ** (precision - scale) if precision >= scale else half_away(value, scale - precision)
    number = decimal.Decimal(digits).scaleb(-precision, decimal.Context(prec=60))
    if value < 0:
        number = number.copy_sign(decimal.Decimal(-1))
    return format(number, spec)


def padded(text, spec):
    match = re.fullmatch(r"(.?[<>^])?(0?)(\d*)(?:\.(\d+))?s?", spec)
    align = match.group(1) or "<"
    fill = align[:-1] or match.group(2) or " "
    if match.group(4) is not None:
        text = text[: int(match.group(4))]
    return format(text, f"{fill}{align[-1]}{match.group(3)}")


def strftime(kind, value, form):
    days, clock = (value, 0) if kind.kind == "date" else divmod(value, DAY)
    day = civil(days)
    moment = datetime.datetime(day.year, day.month, day.day, tzinfo=datetime.timezone.utc if kind.utc else None)
    moment += datetime.timedelta(microseconds=clock)
    # Four digits, also of years before 1000.
    form = form.replace("%F", "%Y-%m-%d").replace("%Y", f"{day.year:04}").replace("%G", f"{day.isocalendar()[0]:04}")
    return moment.strftime(form)


def field(spec, kind, value):
    if not spec:
        return printed(kind, value)
    if kind.kind in ("date", "timestamp") and "%" in spec:
        return strftime(kind, value, spec)
    if kind.kind == "bool" and spec == "d":
        return str(int(value))
    if kind.kind in ("text", "date", "timestamp", "duration", "bool"):
        return padded(printed(kind, value), spec)
    if kind.kind in ("int", "decimal") and spec.endswith("f"):
        return exact_field(spec, value, kind.scale)
    if kind.kind == "decimal":
        return format(decimal.Decimal(value).scaleb(-kind.scale, decimal.Context(prec=60)), spec)
    if kind.kind == "float" and value == 0:
        value = 0.0  # rql has one zero
    return format(value, spec)


def formatted(kinds, pattern, *values):
    """Python's own fields, of one value each."""
    kinds, values, made = list(kinds[1:]), list(values), []
    for literal, name, spec, _ in string.Formatter().parse(pattern):
        made.append(literal)
        if name is not None:
            made.append(field(spec, kinds.pop(0), values.pop(0)))
    return "".join(made)


def pad(s, width, fill=" "):
    return s.ljust(-width, fill) if width < 0 else s.rjust(width, fill)


ROW_CALLS = {
    "text": lambda kinds, value, form=None: strftime(kinds[0], value, form) if form else printed(kinds[0], value),
    "concat": lambda kinds, *values: "".join(map(printed, kinds, values)),
    "+": lambda kinds, a, b: a + b,
    "substr": lambda kinds, *args: substr(*args),
    "replace": lambda kinds, s, a, b: s.replace(a, b) if a else s,
    "split": lambda kinds, s, a, k: split(s, a, k) if a else None,
    "starts": lambda kinds, s, a: s.startswith(a),
    "ends": lambda kinds, s, a: s.endswith(a),
    "contains": lambda kinds, s, a: a in s,
    "like": lambda kinds, s, pattern: like_of_row(s, pattern),
    "format": formatted,
    "pad": lambda kinds, *args: pad(*args),
}


def like_of_row(s, pattern):
    form, at = "", 0
    while at < len(pattern):
        each = pattern[at]
        if each == "\\":
            at += 1
            if at == len(pattern):
                return False
            form += re.escape(pattern[at])
        else:
            form += ".*" if each == "%" else "." if each == "_" else re.escape(each)
        at += 1
    return re.fullmatch(form, s, re.DOTALL) is not None


def row_call(node):
    """The function of the values of one row."""
    kinds = [arg.type for arg in node.args]
    return lambda *values: ROW_CALLS[node.extra](kinds, *values)


def are_wrong(name, constants):
    """Whether arguments are an error, also where there are no rows; None stands for those that are no constants."""
    if name == "substr":
        return len(constants) == 3 and constants[2] is not None and constants[2] < 0
    return name in ("replace", "split") and constants[1] == ""


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
    "extract": readings.extract,
    "replace_regex": readings.replace_regex,
    **{name: lambda s, form, name=name: readings.read_time(name, s, form) for name in ("date", "timestamp", "time")},
}


def python_call(node):
    """The function of a call of one column, its other operands known; None if it is none of these."""
    kind = node.args[0].type if node.args else None
    known = [arg.extra for arg in node.args[1:]]
    name = node.op if node.op != "call" else node.extra
    if name == "months":
        return lambda value: moved(kind, value, node.extra)
    if name == "zone":
        return lambda value: readings.zoned(kind, value, node.extra, sys.modules[__name__])
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
    if name not in SQL_CALLS:
        raise NotImplementedError
    return SQL_CALLS[name].format(*args)


def sql_of_rows(name, args):
    if name not in ("+", "starts", "ends", "contains"):
        raise NotImplementedError
    return SQL_CALLS[name].format(*args)


def sql_call(node, args, sql_type):
    """The SQL of a call, its operands as SQL; None if it is none of these."""
    if python_call(node) is None:
        return None
    kind, name = node.args[0].type, node.op if node.op != "call" else node.extra
    known = [arg.extra for arg in node.args[1:]]
    back = sql_type(node.type)
    if name == "zone":
        raise NotImplementedError
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
