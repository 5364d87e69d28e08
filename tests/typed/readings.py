"""Texts that regular expressions and formats read and write, and time zones: how random calls of them are made, and what they are
in Python."""

import datetime
import os
import re
import sys

from expressions import Node
from values import DATE, DAY, DURATION, FIRST_DAY, INT, LAST_DAY, TEXT, TIMESTAMP, Type

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import zones  # noqa: E402

EPOCH = datetime.datetime(1970, 1, 1)
NEW = datetime.datetime(2000, 1, 1)
MICROSECOND = datetime.timedelta(microseconds=1)
UTC = Type("timestamp", utc=True)
REGEXES = ["[0-9]+", "([a-z]+)([0-9]*)", "a*", "", "(a|b)", "([^=;]+)=([^;]*)", r"\w+", "(x)?-(y)?", "^.", ".$", "(?i)A", "é|日"]
REGEXES += [r"\d{2,}", "(.)(.)"]
REPLACEMENTS = ["", "#", r"<\0>", "é", r"\\"]
OF_GROUPS = [r"\1", r"[\1\2]", r"\2\1"]
DATE_FORMS = ["%Y-%m-%d", "%d/%m/%Y", "%d %b %Y", "%Y %j", "%a %d %b %Y", "%F"]
CLOCK_FORMS = ["%H:%M:%S", "%I:%M:%S %p", "%H.%M.%S.%f", "%T", "%R"]
ZONES = [zones.Reference(name) for name in ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")]


# --- made -------------------------------------------------------------------------------------------------------------


def quoted(text):
    return Node("literal", TEXT, (), text)


def random_form(random, kind):
    """A format that tells all of a date, timestamp or time of day, but for the parts of its second."""
    if kind == DURATION:
        return random.choice(CLOCK_FORMS)
    clock = " " + random.choice(CLOCK_FORMS) if kind.kind == "timestamp" else ""
    return random.choice(DATE_FORMS) + clock + (" %z" if kind.utc else "")


def random_regex(random, s):
    """What a regular expression finds, or replaces."""
    regex = random.choice(REGEXES)
    groups = re.compile(regex).groups
    if random.random() < 0.5:
        group = random.choice([None, *range(groups + 1)])
        numbers = [] if group is None else [Node("literal", INT, (), group)]
        return Node("call", TEXT, [s, quoted(regex), *numbers], "extract")
    to = random.choice(REPLACEMENTS + OF_GROUPS[: 3 if groups > 1 else groups])
    return Node("call", TEXT, [s, quoted(regex), quoted(to)], "replace_regex")


def random_written(random, t, form=None):
    """The text of a date or timestamp by a format."""
    return Node("rows", TEXT, [t, quoted(form or random_form(random, t.type if random.random() < 0.9 else DATE))], "text")


def random_read(random, kind, s, t):
    """A date, timestamp or time of day that a text says, mostly that of the time t by the same format."""
    form = random_form(random, kind)
    fits = t is not None and (t.type == kind or (t.type.kind == "timestamp" and not kind.utc))
    if fits and random.random() < 0.8:
        s = random_written(random, t, form)
    return Node("call", kind, [s, quoted(form)], {"date": "date", "duration": "time"}.get(kind.kind, "timestamp"))


def random_zoned(random, t):
    """What clocks of a zone show, or say, of a date or timestamp."""
    zone, what = random.choice(ZONES), random.choice(["utc", "date", "local", "hour", "text", "hours", "days", "months"])
    kinds = {"date": DATE, "local": TIMESTAMP, "hour": INT, "text": TEXT}
    return Node("zone", kinds.get(what, UTC), [t], (zone, what, random.randint(-13, 13)))


ZONED = {
    "utc": "({} in 'UTC')",
    "date": "date({})",
    "local": "timestamp({})",
    "hour": "hour({})",
    "text": "text({}, '%d.%m.%Y %H:%M:%S')",
    "hours": "(trunc({}, hour) in 'UTC')",
    "days": "(trunc({}, day) in 'UTC')",
    "months": "(({} + {}mo) in 'UTC')",
}


def write_zoned(node, t):
    zone, what, months = node.extra
    return ZONED[what].format(f"({t} in '{zone.zone.key}')", months).replace("+ -", "- ")


# --- in Python --------------------------------------------------------------------------------------------------------


def extract(s, regex, group=None):
    match = re.search(regex, s)
    return match.group(min(match.re.groups, 1) if group is None else group) if match else None


def replace_regex(s, regex, to):
    return re.sub(regex, to.replace(r"\0", r"\g<0>"), s)


def python_format(form):
    return form.replace("%F", "%Y-%m-%d").replace("%D", "%m/%d/%y").replace("%T", "%H:%M:%S").replace("%R", "%H:%M")


def strptime(text, form):
    """The moment, None if the text is not of this form."""
    # Other digits than ASCII's are none, and literal letters are not of any case, as in Python.
    if not text.isascii() or ("T" in form.replace("%T", "") and "T" not in text) or (" at " in form and " at " not in text):
        return None
    if "%f" in form:
        text = re.sub(r"(\.[0-9]{6})[0-9]+", r"\1", text)  # more digits are cut
    try:
        moment = datetime.datetime.strptime(text, python_format(form))
    except ValueError:
        return None
    # Python passes over the day of the week, here it has to be that of the date.
    weekday = form.startswith(("%a", "%A")) and text[:3].lower()
    return None if weekday and weekday != moment.strftime("%a").lower() else moment


def read_time(what, text, form):
    """The days of a date, the microseconds of a timestamp or a time of day."""
    if what == "time":
        moment = strptime("2000-01-01|" + text, "%Y-%m-%d|" + form)
        return None if moment is None else (moment - NEW) // MICROSECOND
    moment = strptime(text, form)
    if moment is None:
        return None
    if "%j" in form and moment.year != int(text[:4]):
        return None  # day 366: Python goes on to the next year
    if moment.tzinfo:
        moment = moment.replace(tzinfo=None) - moment.utcoffset() if moment.year not in (1, 9999) else moment
        if moment.tzinfo:  # beyond Python's years
            ahead = moment.utcoffset() // MICROSECOND
            return (moment.replace(tzinfo=None) - EPOCH) // MICROSECOND - ahead
    return (moment - EPOCH) // MICROSECOND if what == "timestamp" else (moment - EPOCH).days


def zoned(kind, value, extra, functions):
    zone, what, months = extra
    micros = value * DAY if kind.kind == "date" else value
    if not (FIRST_DAY + 400) * DAY <= micros <= (LAST_DAY - 400) * DAY:
        raise functions.Beyond  # of Python's years
    seconds, fraction = divmod(micros, 10**6)
    if not kind.utc:
        seconds = zone.instant(seconds)
    local = seconds + zone.offset(seconds)
    if what == "utc":
        return seconds * 10**6 + fraction
    if what == "date":
        return local * 10**6 // DAY
    if what == "hour":
        return local // 3600 % 24
    if what == "local":
        return local * 10**6 + fraction
    if what == "months":
        moved = functions.moved(TIMESTAMP, local * 10**6, months) // 10**6
        return zone.instant(moved) * 10**6 + fraction
    if what == "text":
        return functions.strftime(TIMESTAMP, local * 10**6, "%d.%m.%Y %H:%M:%S")
    return zone.start(seconds, local, 3600 if what == "hours" else 86400) * 10**6
