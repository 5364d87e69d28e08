"""Types and values of random tables: made, written as literals of rql, and read back from what rql prints.

A value is None where it is missing; else an int, float, bool or str; a date is its days since 1970-01-01, a timestamp its
microseconds since then, a duration its microseconds, a decimal its integer at the scale of its type.
"""

import datetime
import re
from typing import NamedTuple

DAY = 86_400_000_000
INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)
EPOCH = datetime.date(1970, 1, 1).toordinal()
FIRST_DAY = 1 - EPOCH
LAST_DAY = datetime.date(9999, 12, 31).toordinal() - EPOCH


class Type(NamedTuple):
    kind: str
    scale: int = 0
    utc: bool = False


INT = Type("int")
FLOAT = Type("float")
BOOL = Type("bool")
TEXT = Type("text")
DATE = Type("date")
TIMESTAMP = Type("timestamp")
DURATION = Type("duration")

ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


# --- random values ----------------------------------------------------------------------------------------------------

FEW = ["a", "b", "AAPL", "", "é"]
ODD = ["", " ", "a", "A", "aa", "ab", "Z", "z", "é", "日本語", "😀", 'q"q', "c,d", "NA", "null", "1", "1.5", "true", "-", "x\ty"]
ODD += ["2024-01-31", "back\\slash", "a b", "%", "_", "zz" * 20]


def text_source(random):
    """A function that makes random strings: few distinct, odd or many distinct ones."""
    style = random.choice(["few", "odd", "odd", "many"])
    if style == "many":
        return lambda: f"k{random.randrange(10**5)}"
    words = FEW if style == "few" else ODD
    return lambda: random.choice(words)


def int_source(random, extreme):
    if extreme:
        ends = [INT64_MAX, -INT64_MAX, 2**53 + 1, -(2**53) - 1, 2**31, -(2**31) - 1, 2**32, 0, 1, -1]
        return lambda: random.choice(ends)
    reach = random.choice([2, 10, 100, 1000])
    low = random.choice([0, -reach])
    return lambda: random.randint(low, reach)


def float_source(random, extreme):
    if extreme:
        ends = [float("nan"), float("inf"), float("-inf"), 1e300, -1e300, 5e-324, 0.1, 0.0, 2.0**53, 9007199254740994.0]
        return lambda: random.choice(ends)
    reach = random.choice([4, 50, 4000])
    nan = random.choice([0, 0, 0.2])
    return lambda: float("nan") if random.random() < nan else random.randint(-reach, reach) / 4


def day_source(random, extreme):
    if extreme:
        return lambda: random.choice([FIRST_DAY, LAST_DAY, -1, 0, 1, 11016, 19753])
    middle, reach = random.choice([0, 11016, 19753]), random.choice([2, 40, 1000])
    return lambda: middle + random.randint(-reach, reach)


def timestamp_source(random, extreme):
    day = day_source(random, extreme)
    step = random.choice([1, 1000, 10**6, 60 * 10**6, 3600 * 10**6])
    whole = random.choice([0, 0.3])
    return lambda: day() * DAY + (0 if random.random() < whole else random.randrange(DAY // step) * step)


def duration_source(random, extreme):
    if extreme:
        return lambda: random.choice([0, 1, -1, DAY, -DAY, 10**15, -(10**15)])
    step = random.choice([1, 10**6, 60 * 10**6, DAY])
    return lambda: random.randint(-20, 20) * step


def decimal_source(random, extreme):
    if extreme:
        return lambda: random.choice([10**12, -(10**12), 0, 1, -1])
    reach = random.choice([20, 500, 20000])
    return lambda: random.randint(-reach, reach)


def source(random, kind, extreme):
    """A function that makes random values of this kind."""
    if kind == "text":
        return text_source(random)
    if kind == "bool":
        return lambda: random.random() < 0.5
    makers = {
        "int": int_source,
        "float": float_source,
        "date": day_source,
        "timestamp": timestamp_source,
        "duration": duration_source,
        "decimal": decimal_source,
    }
    return makers[kind](random, extreme)


# --- written ----------------------------------------------------------------------------------------------------------


def write_date(days):
    return datetime.date.fromordinal(days + EPOCH).isoformat()


def write_timestamp(value, utc, between="T"):
    seconds, fraction = divmod(value % DAY, 10**6)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if fraction:
        clock += f".{fraction:06}"
    return write_date(value // DAY) + between + clock + ("Z" if utc else "")


def write_decimal(value, scale):
    digits = f"{abs(value):0{scale + 1}}"
    return ("-" if value < 0 else "") + (f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits)


def literal(kind, value):
    """The value as rql's source text, in parentheses where it needs them."""
    if value is None:
        return "missing"
    if kind.kind == "text":
        return '"' + "".join(ESCAPES.get(each, each) for each in value) + '"'
    if kind.kind == "bool":
        return "true" if value else "false"
    if kind.kind == "date":
        return write_date(value)
    if kind.kind == "timestamp":
        return write_timestamp(value, kind.utc)
    if kind.kind == "float":
        if value != value:
            return "(0 / 0.0)"
        if value in (float("inf"), float("-inf")):
            return "(1 / 0.0)" if value > 0 else "(-1 / 0.0)"
        text = repr(value)
    elif kind.kind == "duration":
        unit = next(unit for unit in UNITS if value % unit[1] == 0)
        text = f"{value // unit[1]}{unit[0]}"
    elif kind.kind == "decimal":
        text = write_decimal(value, kind.scale)
    else:
        text = str(value)
    return f"({text})" if text.startswith("-") else text


UNITS = [("w", 7 * DAY), ("d", DAY), ("h", 3600 * 10**6), ("min", 60 * 10**6), ("s", 10**6), ("ms", 1000), ("us", 1)]


# --- read -------------------------------------------------------------------------------------------------------------


def read_date(text):
    """The days of a date of any year: one of four digits, or one with a sign."""
    year, month, day = map(int, re.fullmatch(r"([+-]?\d+)-(\d\d)-(\d\d)", text).groups())
    cycles = (year - 1) // 400  # of 146 097 days
    return datetime.date(year - 400 * cycles, month, day).toordinal() + 146_097 * cycles - EPOCH


def read_clock(text):
    hours, minutes, seconds = text.split(":")
    whole, _, fraction = seconds.partition(".")
    return (int(hours) * 3600 + int(minutes) * 60 + int(whole)) * 10**6 + int(fraction.ljust(6, "0") or 0)


FORMS = {
    "int": r"-?\d+",
    "bool": r"true|false",
    "float": r"-?(inf|nan|\d.*[.e].*)",
    "date": r"(\d{4}|[+-]\d{4,})-\d\d-\d\d",
    "timestamp": r"(\d{4}|[+-]\d{4,})-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z?",
    "duration": r"-?(\d+d )?\d\d:\d\d:\d\d(\.\d+)?",
}


def read(kind, text):
    """The value that rql printed as this text; ValueError if it is not of this type."""
    if kind.kind == "text":
        return text
    form = FORMS.get(kind.kind) or (rf"-?\d+\.\d{{{kind.scale}}}" if kind.scale else r"-?\d+")
    if not re.fullmatch(form, text):
        raise ValueError(f"{text!r} is not of type {kind.kind}")
    if kind.kind == "date":
        return read_date(text)
    if kind.kind == "timestamp":
        if text.endswith("Z") != kind.utc:
            raise ValueError(f"{text!r}: expected it {'' if kind.utc else 'not '}to be in UTC")
        day, _, clock = text.rstrip("Z").partition("T")
        return read_date(day) * DAY + read_clock(clock)
    if kind.kind == "duration":
        days, _, clock = text.lstrip("-").rpartition("d ")
        value = int(days or 0) * DAY + read_clock(clock)
        return -value if text.startswith("-") else value
    if kind.kind == "float":
        return float(text)
    if kind.kind == "bool":
        return text == "true"
    return int(text.replace(".", ""))
