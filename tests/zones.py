#!/usr/bin/env python3
"""Time zones against Python's zoneinfo: instants to local times and back, parts, starts of hours and days, printed times.

    tests/zones.py [--days N] [ZONE...]

Every day from 1900 to 2100, or every N-th, and every half hour for more than a day around each change of the clocks.
"""

import argparse
import datetime
import sys
import zoneinfo

import harness
import numpy as np

ZONES = """Europe/Berlin Europe/Dublin America/New_York America/Sao_Paulo America/Havana Australia/Lord_Howe Asia/Kolkata
Africa/Casablanca Pacific/Apia Antarctica/Troll""".split()
EPOCH = datetime.datetime(1970, 1, 1)
SECOND = datetime.timedelta(seconds=1)
FIRST, LAST = [int((datetime.datetime(year, 1, 1) - EPOCH).total_seconds()) for year in (1900, 2101)]
DAY, HOUR = 86400, 3600


class Reference:
    """A zone of Python, in seconds since 1970."""

    def __init__(self, name):
        self.zone = zoneinfo.ZoneInfo(name)

    def offset(self, time):
        aware = self.zone.fromutc((EPOCH + time * SECOND).replace(tzinfo=self.zone))
        return int(aware.utcoffset().total_seconds())

    def instant(self, local, fold=0):
        """The first of two, and forward by the gap, as fold=0 has it."""
        aware = (EPOCH + local * SECOND).replace(tzinfo=self.zone, fold=fold)
        return local - int(aware.utcoffset().total_seconds())

    def change(self, begin, end):
        """The second within begin..end from which on the offset is that of the end."""
        last = self.offset(end)
        while end - begin > 1:
            middle = (begin + end) // 2
            begin, end = (begin, middle) if self.offset(middle) == last else (middle, end)
        return end

    def changes(self):
        days = range(FIRST, LAST, DAY // 2)
        offsets = [self.offset(day) for day in days]
        pairs = zip(zip(days, days[1:]), zip(offsets, offsets[1:]))
        return [self.change(*ends) for ends, (before, after) in pairs if before != after]

    def start(self, time, local, unit):
        """When the hour or day began that clocks show: the last time before of an hour, the first one of a day."""
        start = local - local % unit
        for fold in (1, 0) if unit == HOUR else (0,):
            instant = self.instant(start, fold)
            if instant <= time and instant + self.offset(instant) == start:
                return instant
        return self.change(time - 2 * DAY if unit == DAY else time - 3 * HOUR, time)


def times_of(zone, step):
    """Times in UTC, and local ones."""
    regular = range(FIRST + 12345, LAST, step * DAY)
    times, locals_ = set(regular), {time + 777 for time in regular}
    for change in zone.changes():
        near = [*range(change - 30 * HOUR, change + 30 * HOUR, HOUR // 2), change - 1, change + 1]
        times.update(near)
        locals_.update(time + zone.offset(change - 1) for time in near)
        locals_.update(time + zone.offset(change) for time in near)
    return sorted(times), sorted(locals_)


def isoformat(zone, time):
    return zone.zone.fromutc((EPOCH + time * SECOND).replace(tzinfo=zone.zone)).isoformat()


def expected(zone, times, locals_):
    local = [time + zone.offset(time) for time in times]
    pairs = list(zip(times, local))
    return {
        "local": local,
        "instant": [zone.instant(time) for time in locals_],
        "day": [time // DAY for time in local],
        "hour": [time // HOUR % 24 for time in local],
        "hour_start": [zone.start(time, here, HOUR) for time, here in pairs],
        "day_start": [zone.start(time, here, DAY) for time, here in pairs],
    }


def queries(name):
    return f"""load t.i64 | derive b = timestamp(t * 1000000) in "UTC" in "{name}"
  | derive t = int(timestamp(b)) / 1000000, day = int(date(b)), hour = hour(b), hour_start = int(trunc(b, hour)) / 1000000,
           day_start = int(trunc(b, day)) / 1000000
  | map t as local, day, hour, hour_start, day_start | save times.npz
load w.i64 | map int(timestamp(w * 1000000) in "{name}") / 1000000 as instant | save locals.npz
""".replace("/ 1000000", "// 1000000")


def problem_of(sandbox, name, mode, wanted, times, locals_):
    result = harness.run([*harness.MODES[mode], "-c", queries(name)], sandbox.here, sandbox.home)
    if result.status != 0 or result.err:
        return result.text()
    got = {}
    for file in ("times", "locals"):
        with np.load(f"{sandbox.here}/{file}.npz") as columns:
            got.update({key: columns[key] for key in columns.files})
    for key, values in wanted.items():
        wrong = np.flatnonzero(got[key] != np.array(values))
        if len(wrong):
            at = wrong[0]
            of = (locals_ if key == "instant" else times)[at]
            return f"{len(wrong)} values of {key}: of {EPOCH + of * SECOND} it is {got[key][at]}, not {values[at]}"
    return ""


def printed_problem(sandbox, zone, name, times):
    some = times[:: max(1, len(times) // 2000)]
    np.array(some).tofile(f"{sandbox.here}/some.i64")
    query = f'load some.i64 | map timestamp(some * 1000000) in "UTC" in "{name}" as t'
    result = harness.run(["--device", "host", "-c", query], sandbox.here, sandbox.home)
    return harness.difference("\n".join(isoformat(zone, time) for time in some) + "\n", result.out.decode(), "printed")


def argument_problem(sandbox):
    """Zones, and files, that arguments of the program name."""
    file = f"{sandbox.here}/arguments.csv"
    with open(file, "w", encoding="utf-8") as out:
        out.write("1\n2\n")
    instant = '[2024-07-01T00:00] as t | derive t = t in "UTC" in $at'
    cases = (
        ("Europe/Berlin", instant, "2024-07-01T02:00:00+02:00"),
        ("+05:30", instant, "2024-07-01T05:30:00+05:30"),
        ("Europe/Berlim", instant, "unknown time zone `Europe/Berlim`; did you mean `Europe/Berlin`"),
        ("arguments.csv", "range 1..3 | select x in $at | count", "2"),
        ("Europe/Berlin", "range 1..3 | select x in $at | count", "no such file: `Europe/Berlin`"),
    )
    problems = []
    for value, query, wanted in cases:
        result = harness.run(["--arg", f"at={value}", "-c", query], sandbox.here, sandbox.home)
        if wanted not in result.text():
            problems.append(f"{value}: {query}\n{result.text()}")
    shown = harness.run(["-c", f"let t = {instant.replace('$at', chr(34) + 'Europe/Berlin' + chr(34))}", "-c", ".schema t"], sandbox.here, sandbox.home)
    if shown.out.decode() != "t # t timestamp in Europe/Berlin\n":
        problems.append(shown.text())
    return "\n".join(problems)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=1)
    parser.add_argument("zones", nargs="*", default=ZONES)
    args = parser.parse_args()
    tally = harness.Tally("zones")
    with harness.Sandbox() as sandbox:
        tally.check("arguments", argument_problem(sandbox))
        for name in args.zones:
            zone = Reference(name)
            times, locals_ = times_of(zone, args.days)
            wanted = expected(zone, times, locals_)
            np.array(times).tofile(f"{sandbox.here}/t.i64")
            np.array(locals_).tofile(f"{sandbox.here}/w.i64")
            for mode in harness.MODES:
                problem = problem_of(sandbox, name, mode, wanted, times, locals_)
                tally.check(f"{name} {mode} {len(times)} times", problem)
            tally.check(f"{name} printed", printed_problem(sandbox, zone, name, times))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
