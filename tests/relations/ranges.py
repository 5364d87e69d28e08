#!/usr/bin/env python3
"""Random ranges of dates and timestamps, by days, durations and months, against Python's datetime.

    ranges.py [--count N] [--seed SEED] [--modes M,...]"""

import calendar
import datetime
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from harness import ALL_MODES, random_cases, run  # noqa: E402

SPAN = 400  # steps at most


def month_later(start, months):
    number = start.year * 12 + start.month - 1 + months
    year, month = divmod(number, 12)
    day = min(start.day, calendar.monthrange(year, month + 1)[1])
    return start.replace(year=year, month=month + 1, day=day)


def random_range(rng):
    """A range as it is written, and its values."""
    timed = rng.random() < 0.5
    start = datetime.datetime(rng.randint(1900, 2100), rng.randint(1, 12), 1) + datetime.timedelta(days=rng.randint(0, 30))
    if timed:
        start += datetime.timedelta(minutes=rng.randint(0, 1439))
    sign = rng.choice([1, 1, 1, -1])
    size = rng.randint(1, 30)
    if rng.random() < 0.5:
        unit, months = rng.choice([("mo", 1), ("q", 3), ("y", 12)])
        size = rng.randint(1, 5)
        step, move = f"{size}{unit}", lambda k: month_later(start, sign * k * size * months)
        most = 300 // (size * months) + 1
    else:
        unit, length = rng.choice([("h", 3600), ("min", 60), ("d", 86400), ("w", 604800)][0 if timed else 2:])
        step, move = f"{size}{unit}", lambda k: start + datetime.timedelta(seconds=sign * k * size * length)
        most = SPAN
    count = rng.randint(0, most)
    end = move(count) + datetime.timedelta(**{"minutes" if timed else "days": rng.randint(-2, 2)})
    values = []
    for k in range(most + 3):
        value = move(k)
        if (value > end) if sign > 0 else (value < end):
            break
        values.append(value)
    form = "%Y-%m-%dT%H:%M" if timed else "%Y-%m-%d"
    text = f"range {start.strftime(form)}..{end.strftime(form)} by {'-' if sign < 0 else ''}{step}"
    return text, [value.strftime(form) + (":00" if timed else "") for value in values]


def check(rng, sandbox, mode, _number):
    text, values = random_range(rng)
    result = run(ALL_MODES[mode] + ["-c", text], sandbox.here, sandbox.home)
    got = result.out.decode().split()
    return "" if got == values else (f"{text}\nexpected {values[:3]} ... {values[-2:]}, {len(values)}\n"
                                     f"got {got[:3]} ... {got[-2:]}, {len(got)}\n{result.err.decode()}")


if __name__ == "__main__":
    sys.exit(random_cases("ranges", 200, check))
