#!/usr/bin/env python3
"""Results that are exact, or rounded once, against Python's fractions: round(x, n) of floats.

    exact.py [--count N] [--seed S]     N random columns, in every mode of RQL_MODES; prints the seed
"""

import argparse
import math
import random
import struct
import sys
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


KINDS = {"round": rounding}


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
                    return [result.text()]
                return result.out.decode().splitlines()[1:]

            for number in range(options.count):
                kind = rng.choice(options.kinds.split(","))
                tally.check(f"{kind} {number} ({mode})", KINDS[kind](rng, sandbox, run))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
