#!/usr/bin/env python3
"""Results that are exact, or rounded once, against Python's fractions: round(x, n) of floats,
variances and correlations of integers and decimals, variances of floats.

    exact.py [--count N] [--seed S]     N random columns, in every mode of RQL_MODES; prints the seed
"""

import argparse
import math
import random
import struct
import sys
from decimal import Decimal, localcontext
from fractions import Fraction

import harness

ROWS = 300


def text_of(value):
    """As rql prints a float."""
    if value is None:
        return ""
    if math.isnan(value) or math.isinf(value):
        return str(value)
    text = repr(float(value) + 0.0)
    mantissa, _, power = text.partition("e")
    return mantissa + (f"e{int(power)}" if power else "")


def same(text, value):
    return text == "" if value is None else text != "" and (float(text) == value or (math.isnan(value) and math.isnan(float(text))))


# --- round(x, n) ------------------------------------------------------------------------------------------------------


def rounded(x, digits):
    """The float nearest to the multiple of 10^-digits that is nearest to x, of two the one away from zero."""
    if math.isnan(x) or math.isinf(x):
        return x
    unit = 10**digits
    multiple = math.floor(abs(Fraction(x)) * unit + Fraction(1, 2))
    return math.copysign(float(Fraction(multiple, unit)), x)


def near_half(rng, digits):
    """A float near the middle between two multiples, where rounding is decided."""
    size = rng.choice([10, 10**6, 2**50, 2**52, 2**53, 2**54])
    x = float(Fraction(2 * rng.randrange(size) + 1, 2 * 10**digits))
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        x = math.nextafter(x, rng.choice([math.inf, -math.inf]))
    return x


def floats(rng, digits):
    makers = [
        lambda: near_half(rng, digits),
        lambda: near_half(rng, digits),
        lambda: rng.randrange(10**6) / 10 ** rng.randrange(7),
        lambda: struct.unpack("<d", struct.pack("<Q", rng.getrandbits(64)))[0],
        lambda: rng.randrange(2**53) * 2.0 ** rng.randrange(-60, 10),
        lambda: rng.choice([0.0, -0.0, math.inf, math.nan, 0.5, 1.005, 2.675, 5e-324, 1.7976931348623157e308, 2.0**52 + 0.5, 2.0**53]),
    ]
    return [rng.choice(makers)() * rng.choice([1, -1]) for _ in range(rng.choice([0, 1, ROWS, ROWS + 1]))]


def rounding(rng, sandbox, run):
    digits = rng.randrange(0, 19)
    values = floats(rng, digits)
    sandbox.write("x.f64", struct.pack(f"<{len(values)}d", *values))
    given = run(f"load x.f64 | map round(x, {digits}) as r")
    for x, got in zip(values, given):
        wanted = rounded(x, digits)
        if not same(got, wanted):
            return f"round({x!r}, {digits}) is {got}, should be {wanted!r}"
    return "" if len(given) == len(values) else f"{len(given)} rows of {len(values)}"


# --- variances and correlations of integers and decimals ----------------------------------------------------------------


def variance(values, scale):
    count = len(values)
    if count < 2:
        return None
    total = sum(values)
    return float(Fraction(count * sum(x * x for x in values) - total * total, count * (count - 1) * 100**scale))


def correlation(pairs):
    count, x, y = len(pairs), sum(a for a, _ in pairs), sum(b for _, b in pairs)
    if count < 2:
        return None
    xx = count * sum(a * a for a, _ in pairs) - x * x
    yy = count * sum(b * b for _, b in pairs) - y * y
    xy = count * sum(a * b for a, b in pairs) - x * y
    if xx == 0 or yy == 0:
        return math.nan
    with localcontext() as context:
        context.prec = 200
        return float(Decimal(xy) / Decimal(xx * yy).sqrt())


def integers(rng, count):
    center, spread = rng.choice([0, 7, 2**31, -(2**53), 2**62, 2**63 - 1, -(2**63)]), rng.choice([0, 1, 10, 2**31, 2**53, 2**63])
    clamp = lambda v: max(-(2**63), min(2**63 - 1, v))
    return [clamp(center + rng.randint(-spread, spread)) for _ in range(count)]


def decimal_text(value, scale):
    if value is None:
        return ""
    digits = str(abs(value)).zfill(scale + 1)
    return "-" * (value < 0) + digits[: len(digits) - scale] + ("." + digits[len(digits) - scale :] if scale else "")


def moments(rng, sandbox, run):
    """Of all rows, of groups, and of rows that have both; stored narrow or wide, with missing values."""
    count = rng.choice([0, 1, 2, 3, ROWS, ROWS + 1])
    scale = rng.choice([0, 0, 1, 4, 18])
    gaps = rng.choice([0, 0.3])
    x, y = integers(rng, count), integers(rng, count)
    if rng.random() < 0.2:
        y = [max(-(2**63), min(2**63 - 1, 2 * v - 1)) for v in x]
    x, y = ([None if rng.random() < gaps else v for v in column] for column in (x, y))
    keys = [rng.randrange(3) for _ in range(count)]
    rows = "".join(f"{k},{decimal_text(a, scale)},{decimal_text(b, 0)}\n" for k, a, b in zip(keys, x, y))
    sandbox.write("x.csv", ("k,x,y\n" + rows).encode())
    kind = f"decimal({scale})" if scale else "i64"
    load = f"load x.csv k i64, x {kind}, y i64"
    wanted = []
    for key in sorted(set(keys)):
        pairs = [(a, b) for k, a, b in zip(keys, x, y) if k == key and a is not None and b is not None]
        given = variance([a for k, a in zip(keys, x) if k == key and a is not None], scale)
        wanted.append((given, given and math.sqrt(given), correlation(pairs)))
    of_groups = [row.split(",") for row in run(load + " | group k: var(x), stddev(x), corr(x, y) | drop k")]
    given = variance([a for a in x if a is not None], scale)
    wanted.append((given, given and math.sqrt(given), correlation([(a, b) for a, b in zip(x, y) if a is not None and b is not None])))
    of_all = [row.split(",") for row in run(load + " | group : var(x), stddev(x), corr(x, y)")]
    for got, row in zip(of_groups + of_all, wanted):
        if not all(same(text, value) for text, value in zip(got, row)):
            return f"{got}, should be {row}\n{load}\n{rows[:1000]}"
    return "" if len(of_groups) + len(of_all) == len(wanted) else f"{of_groups} {of_all}, should be {wanted}"


def squares(rng, sandbox, run):
    """Variances of floats of all rows, so many that they are added in lanes: the difference of the sums is rounded once,
    and so are its quotients."""
    count = rng.choice([2, 63, 64, 65, ROWS, 4099])
    gaps, spread = rng.choice([0, 0.3]), rng.choice([0, 3, 60])
    middle = rng.choice([0, 1e8, -(2.0**40)])
    values = [None if rng.random() < gaps else middle + rng.uniform(-1, 1) * 2.0 ** rng.randint(-spread, spread) for _ in range(count)]
    if rng.random() < 0.1:
        values[rng.randrange(count)] = rng.choice([math.nan, math.inf])
    sandbox.write("x.csv", ("x,y\n" + "".join(f"{text_of(v)},1\n" for v in values)).encode())
    got = run("load x.csv x f64, y i64 | group : var(x), count(x)")[0].split(",")
    there = [v for v in values if v is not None]
    if len(there) < 2:
        return "" if got == ["", str(len(there))] else f"{got} of {values}"
    if not all(map(math.isfinite, there)):
        return "" if got[0].lower() == "nan" else f"{got} of {values[:1000]}"
    wanted = variance([Fraction(v) for v in there], 0)
    near = abs(float(got[0]) - wanted) <= 2 * math.ulp(wanted)
    return "" if near and int(got[1]) == len(there) else f"{got}, should be {wanted}\n{values[:1000]}"


KINDS = {"round": rounding, "moments": moments, "squares": squares}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    print(f"exact: seed {options.seed}", flush=True)
    tally = harness.Tally("exact")
    for mode, flags in harness.MODES.items():
        rng = random.Random(options.seed)
        with harness.Sandbox() as sandbox:

            def run(query):
                result = harness.run([*flags, "--quiet", "--format", "csv", "-c", query], sandbox.here, sandbox.home)
                if result.status != 0:
                    raise AssertionError(result.text())
                return result.out.decode().splitlines()[1:]

            for number in range(options.count):
                kind = rng.choice(options.kinds.split(","))
                try:
                    problem = KINDS[kind](rng, sandbox, run)
                except AssertionError as error:
                    problem = str(error)
                tally.check(f"{kind} {number} ({mode})", problem)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
