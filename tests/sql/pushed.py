#!/usr/bin/env python3
"""Pipelines that a server runs: the same lines on a table and on a file of the same rows, in what they print and what they say is wrong."""

import math
import os
import random
import re
import struct
import sys
import urllib.error
from fractions import Fraction

import engines
from engines import harness

IDS = ("61f0c404-5cb3-11e7-907b-a6006ad3dba0", "00000000-0000-0000-0000-000000000001")
EXTREMES = (-(2**63), 2**63 - 1, -1, 0, 1, 2**62, -(2**31), 2**31)
ROWS = 20000

VALUES = (
    "count", "sum qty", "sum big", "map any % (-9223372036854775807 - 1) as v | select v > -5 | count", "mean big", "mean qty", "min qty", "max big", "select qty > 3 | sum qty", "sum any", "min any", "max any", "mean any",
    "select qty > 1000 | sum qty", "select qty > 1000 | min qty", "select qty > 1000 | mean qty", "select false | count", "select qty > 0 | count | assert _ > 5",
    "select qty > 0 | count | assert _ < 5", "sort qty | count", "take 7 | count", "take 5 | sum qty", "map (sym == \"AAPL\" ? qty : 0) as a | sum",
    'select sym == "AAPL" && qty > 3 | count', 'select sym < "MSFT" | count', 'select sym <= "MSFT" && sym > "AA" | count', 'select sym >= "MSFT" | count',
    'select "MSFT" > sym | count', 'select "MSFT" <= sym | count', 'select sym in ["AAPL", "x"] | count', 'select sym != "a\'b\\\\" | count',
    "sum price", "mean price", "select qty > 0 | sum price", "map price * 0.1 as p | sum", "sum wild", "mean wild", "map -wild as w | sum", "select wild < 1.0 | sum wild", "select false | sum wild",
    "max price", "min wild", "max odd", "min odd", "max gap", "select qty > 3 | min price", "select false | max wild", "tail 7 | count", "tail 9 | sum qty", "select qty > 7 | tail 5 | sum qty", "take 50 | tail 4 | sum pos",
    "median qty", "median any", "median price", "quantile 0.75, near", "median odd", "median gap", "select false | median qty", "quantile 1, big", "quantile 0, any", "any qty > 3", "all qty > 3", "any price > 3.0", "all price > -1e9", "select false | any qty > 3", "select false | all qty > 3", "wmean near, pos", "group: count() | count",
    "stddev qty", "var big", "var any", "stddev near", "var gap", "var wild", "stddev price", "corr qty, big", "corr any, big", "corr near, qty", "corr price, near", "corr tie, near", "select qty > 1000 | stddev near", "select pos == 5 | var big", "stddev odd", "map 5 as c | stddev c", "corr qty, odd", "select sym == \"AAPL\" | stddev qty",
    "select false | mean wild", "map odd | sum", "select price is missing | count", "select (price is missing) == (qty > 3) | count", "select day > 2024-01-15 | count", "max day", 'select sym == "\\u{1}a" | count', 'select sym == "a" | count',
    f'select id == "{IDS[0]}" | count', f'select id != "{IDS[0]}" | count', "select at < 2024-02-01 | count",
)
FAILURES = (
    "map qty * big as v | sum", "map big / qty as v | sum", "map qty == 0 ? 0 : big / qty as v | sum", "map big % qty as v | max", "map abs(any) as v | max",
    "map -any as v | min", "map any << 3 as v | sum", "map any + big as v | sum", "map any - big as v | sum", "map big / (qty - 1) as v | count v > 3",
    "select qty > 1 && big / (qty - 1) > 5 | count", "select 1 / qty == 0 | sum pos", "assert qty > 0 | sum qty", "assert qty > -60 | sum qty",
    "assert qty > 0 | take 0", "map big // qty as v, pos | sort v | take 0", "group qty: sum(big) | take 0",
    "map big / qty as v | take 0 | count", "select big / qty > 3 | tail 0 | count", "select 1 / qty == 0 | tail 5 | map pos", "group sym: mean(price), sum(1 / qty)", "select big * 2 > 0 && 7 < 7 | count", "group qty as k: count() as n, min(pos - big) as s | select n >= s && 7 < 7 | min n", "select pos + pos >= 0 && 7 < 7 | max pos",
    "sort big, pos | skip 45 | map any % qty as v", "skip 12 | group sym: min(any - 9)", "map any + 1 as v | take 9 | sort v | count", "group sym: sum(big)", "group sym: max(big) * 4000 + stddev(qty)", "group sym: stddev(qty) / mean(qty), 1 // (count() - count())", "map big * 4 as v, qty | sort qty | take 3", "map qty, big / qty as v | group qty: max(v)",
)
RELATIONS = (
    "select qty > 40 | map pos, qty * 2 as d, sym, price | take 5", "select qty > 40 | map pos, qty > 41 as d, price | take 5", "skip 10 | take 3",
    "group sym: count(), sum(qty), max(big), mean(qty)", "group qty > 3 as k: count(), min(big)", "group sym, qty % 2 as k: count()", "group price: count() | take 3",
    "select qty == 7 | sort big desc | take 4", "top 3 by big", "map sym | distinct", "map sym, qty > 0 as up | distinct", "pick qty | distinct | sort | take 5",
    "group qty % 3 as k: count() as n | select n > 3000 | sort n", "sort sym, qty, pos | skip 10 | take 3", "pick qty | sort | distinct | count", "take 5 | select qty > 0",
    "take 100 | skip 95 | map pos, qty | sort qty", "select qty > 10 | sort price | take 3", "rename qty as q | select q > 48 | drop price | take 2",
    "select qty > 3 | map pos | scan + | take 3", "select qty > 49 | map pos | tail 3", "map upper(sym) as s | group s: count()",
    'group split(sym, "A", 1) as k: count()', 'group extract(sym, "([A-Z])[A-Z]|$", 0) as k: count()', 'select extract(sym, "M(S|x)") == "S" | count',
    'derive r = row | map pos, ((sym + "€") + id) as t | take 3',
    'map pos, replace_regex(sym, "([A-Z])([A-Z])", "<\\\\2\\\\1>") as s | select pos > 9 | take 6', 'map split(sym, "P", -1) as k, pos | sort k, pos | take 4',
    "select len(sym) > 2 | count",
    "map qty - mean(qty) as d | max", "select qty > 3 | map big * qty as v | scan +", "top 3 by qty | map big * 1000 as v", "group sym: max(price)", "select qty == 3 | map price, day, at, flag",
    "select qty > 1000 | group 5 as k: count()", "select qty > 1000 | group true as k, 7 as j: count(), max(big)", "select qty > 1000 | map 5 as k | distinct", "group 5 as k, sym: count()",
    "map true as k, pos | sort k, pos desc | take 3", "select qty == 7 | map pos, missing as t | take 2", "group id: count()", "select qty == 3 | map id | take 9",
    "group: count(), sum(qty), mean(price), min(price), max(big), mean(near)", "group: any(qty > 3), all(price > 0.0)", "select false | group: count(), sum(qty), sum(near), mean(price), min(big), any(qty > 3), all(qty > 3)", "group: sum(big)",
    "skip 7 | group: count() as n, median(qty) as d | max n", "skip 9 | take 50 | group: count() as n, distinct(qty) as d | max n",
    "group sym: median(qty), quantile(0.9, big), median(price)",
    "group sym: stddev(qty), var(big), var(any), count(), mean(near)", "group qty: var(near), stddev(price), corr(near, price), corr(any, pos)", "group pos % 5000 as k: var(tie), stddev(any), corr(tie, near)", "group: stddev(big), var(gap), corr(near, gap)", "select false | group: stddev(big), corr(near, qty)", "group qty: stddev(near) as s | sort s desc | take 3", "group sym: stddev(qty) / mean(qty) as cv", "group pos: var(near) | take 3", "group qty: var(odd), var(wild), median(near)", "group qty: median(near), quantile(0.1, wild), distinct(sym), distinct(odd), distinct(price), distinct(day)", "group pos % 5000 as k: median(any), median(tie) | tail 30", "group sym: median(day), median(at) | take 3",
    "group sym: first(qty), last(price), first(day), last(at), first(id)", "group qty: argmin(price, sym), argmax(near, id) as b, argmax(any, gap), argmin(sym, big) | take 30", "group sym: argmin(gap, pos), argmax(gap, pos), argmin(odd, pos), argmax(odd, pos), argmax(wild, flag)",
    "sort price desc, pos | group sym: first(big), last(sym), argmax(qty > 3, pos)", "sort sym desc, near desc, pos | group qty: first(pos), last(price) | tail 5", "group: first(price), last(sym), argmax(near, sym)", "select false | group: first(price), argmin(near, sym)", "group day, qty: last(gap) as l | group day: first(l), argmax(l, qty) | take 9",
    'group qty > 3 as k: first(price > 100.0 ? "dear" : "cheap"), last(len(sym)), argmin(any % 7, near * 2.0)', "tail 300 | group sym: first(pos), last(price)", "group gap: first(pos) | tail 3", "group pos % 5000 as k: last(price) as l | count l is missing",
    "select qty > 40 | describe | pick column, rows, min, distinct", "select qty > 40 | pick sym, qty, price | per sym: describe | pick sym, column, rows, max", "select qty > 40 | group qty: count() across sym", "select qty > 40 && sym != \"MSFT\" | group sym: sum(qty) across flag", "group sym, flag: count() as n | describe | pick column, max",
    "sample 0.2% | map pos, sym", "select qty > 3 | sample 3% seed 4 | group sym: count()", "sample 10 seed 3", "select qty > 3 | sample 7 | map pos, sym", "sort big desc | sample 4 seed 2 | pick pos, price", "sample 1000 | group sym: count()", "derive z = near * 2.0 | sample 20 seed 9 | tail 3", "take 50 | sample 5 | count", "group qty: sum(pos) as s | sample 6",
    "group sym, flag as up: stddev(qty) / mean(qty), count(), max(qty), sqrt(var(near)) * 2.0 as w, first(price) | describe | pick column, max", "group qty as q: q + stddev(near), quantile(0.5, big) // 2, max(qty) - min(qty) | tail 3", "group: stddev(near) / mean(qty)", "group sym: corr(near, qty) > 0.0 as up, count(qty > 3) | select up",
    "group sym: last(100 // (pos - 3)), argmax(pos, 100 // (pos - 3))", "derive v = 100 // (pos - 3) | group sym: last(v)", "select qty > 48 | map pos, qty as m | distinct | describe | drop type",
    "group gap: distinct(gap) | take 3", "group: distinct(gap), distinct(sym), distinct(id), distinct(wild)", "select false | group: distinct(sym), median(qty)", "group sym: distinct(qty > 3), median(any + 0.5)",
    "hist sym", "hist sym 2", "select qty > 40 | hist id 3", "hist qty 4", "group qty: min(sym), max(sym) | take 3", "group: max(sym), min(sym)", "select false | group: max(sym)", "group qty: max(sym) as s | select s == \"ÄÖ\" | count", "group sym: max(id)",
    "group: sum(near) as s, count() as n | map s / n as m", "tail 9 | group: sum(near), any(qty > 3)", "group odd: count()", "group gap, qty % 3 as k: count(), sum(near)", "map -odd as z | distinct", "pick odd, gap | distinct", "group wild: count() as n | sort n desc, wild | take 5", "map odd / 0.0 as z | distinct | sort z",
    "group qty: mean(any), mean(big), mean(-any) | take 40", "group pos % 5000 as k: mean(any), mean(big), mean(pos - any // 3)", "group: mean(any), mean(big)", "group pos // 3 as k: mean(any) as m | top 30 by m", "select pos == 5 | group: mean(any), sum(gap)", "group qty: sum(gap * 1e5), mean(gap)", "group qty: sum(log(qty + 10.0)), mean(near / 0.0)",
    "group sym: sum(near), mean(near)", "group qty: mean(near) as m | sort m desc | take 5", "group sym, qty: sum(near), min(near), max(gap) | tail 30", "group qty: mean(price), sum(price), min(price), max(price)",
    "group qty > 100 as k: sum(near)", "group sym: sum(near * price), mean(near / 3)", "group qty: sum(wild) | take 3", "group pos: sum(near) | take 20", "group pos % 5000 as k: sum(tie), sum(-tie), mean(tie)", "group qty: sum(gap) | take 3",
    "group sym: sum(price * qty) / sum(qty) as vwap", "group sym: min(odd), max(odd), min(gap)", "group qty: mean(near) as m | select m > 0.0 | count", "group pos % 5000 as k: sum(tie) as t | top 20 by t", "group sym: sum(odd)",
    "top 5 by near", "sort gap desc, pos | skip 19990 | pick pos, gap", "sort gap, pos | take 4 | pick pos, gap", "sort odd, pos desc | take 3 | pick pos, odd", "sort price desc, pos | skip 8000 | take 12000 | tail 3 | pick pos, price", "top 3 by price",
    "tail 3", "tail | map pos", "select qty == 7 | tail 4 | pick pos, sym", "tail 40 | select qty > 0", "tail 100 | take 3", "tail 100 | tail 2 | map pos", "take 50 | tail 3", "skip 19990 | tail 100", "tail 5 | skip 2 | map pos",
    "sort qty desc, pos | tail 3", "group sym: count() | tail 2", "select qty > 3 | map big * qty as v | tail 3", "tail 20 | sort qty, pos | take 3", "map sym | distinct | tail 2", "tail 0 | map pos", "group qty: mean(price) as m | select m is missing",
    'derive z = qty > 3 ? "b" : "a" | group z: count(), sum(qty)', 'map (qty > 30 ? "high" : qty > 3 ? "middle" : qty > -30 ? "low" : "lowest") as z, pos | group z: count(), first(pos)', 'map pos % 4 as k, pos | map (k == 0 ? "d" : k == 1 ? "b" : k == 2 ? "c" : missing) as z, pos | sort z, pos | take 5', 'map (qty > 3 ? "x" : qty > 1 ? "y" : sym) as z | group z: count()', 'map (qty > 30 ? "b" : qty > 3 ? "a" : "c") as z | select z >= "b" | count',
    'group sym ~ "^[A-Z]+$" as up, sym ~ "S|Ö" as b: count()', 'select sym ~ "^.A" && sym !~ "x{2,}" | group sym: max(pos)', 'map sym ~ "\\\\w\\\\W" as w | group w: count()', 'map qty > 3 ? "it\'s" : "ÄÖ" as z | distinct', 'map qty > 3 ? "x" : missing as z, pos | group z: count()', 'map qty > 3 ? "x" : "" as z, pos | select z == "x" | max pos', 'map qty > 3 ? "x" : sym as z | group z: count()', 'map (price > 100.0 ? "dear" : "cheap") as z, pos | sort z, pos | take 3', 'group qty > 3 ? "up" : "down" as z: max(qty > 40 ? "a" : "b")',
    "take 3 | append (rows.csv | take 2) | map pos, qty", "append (rows.csv | take 2) | count",
    "select day == 2024-01-03 | map pos, at | take 4", "group day: count() | take 3", "select qty == 1 | sum price", "select false | map qty", "select pos in 5..10 | map pos, sym",
)


def bits(number):
    return struct.unpack("<q", struct.pack("<d", number))[0]


def make_table(rig, server):
    rng = random.Random(7)
    rows = []
    for k in range(ROWS):
        price = rng.choice([None, rng.randrange(1000) / 4])
        rows.append((k, rng.choice(["AAPL", "MSFT", "ÄÖ", "", "a'b\\", "\x01a"]), price, rng.randrange(-50, 50), rng.randrange(2**40, 2**62), rng.choice(EXTREMES), rng.randrange(60), rng.randrange(10**6), rng.choice((*IDS, None))))
    columns = "pos Int64, sym String, price Nullable(Float64), qty Int16, big Int64, any Int64, day Date, at DateTime, flag UInt8, id Nullable(UUID)"
    floats = ("wild", "odd", "near", "gap", "tie")
    server.ask(f"CREATE TABLE rows ({columns}, {', '.join(name + ' Float64' for name in floats)}) ENGINE = MergeTree ORDER BY qty")
    server.ask(f"CREATE TABLE sent ({columns}, {', '.join(name + ' Int64' for name in floats)}) ENGINE = Memory")  # 18.16 reads the text of floats inexactly
    data = []
    with open(rig.sandbox.path("rows.csv"), "w", encoding="utf-8") as file:
        file.write("pos,sym,price,qty,big,any,day,at,flag,id,wild,odd,near,gap,tie\n")
        for pos, sym, price, qty, big, extreme, day, second, id in rows:
            wild = rng.choice((1, -1)) * rng.random() * 2.0 ** rng.choice((-1074, -1022, -500, -50, -1, 0, 1, 52, 300, 800))
            odd = rng.choice((0.0, -0.0)) if pos != 77 else 1e308
            near = rng.choice((rng.uniform(-1, 1), rng.gauss(0, 1e9), rng.randrange(-1000, 1000) / 10, 1e-9 * rng.random(), -0.0, 1e13 * rng.random()))
            gap = math.nan if rng.random() < 0.1 else near
            # What is added in groups of pos % 5000 lies near the middle between two floats.
            tie = rng.choice((1, -1)) * 2.0 ** (pos * 7919 % 5000 % 78 - 24 + rng.choice((0, 0, 1, -1, -52, -53, -54, -60, -70)))
            date = f"2024-{1 + day // 31:02d}-{1 + day % 31 if day // 31 == 0 else 1 + day % 29:02d}"
            clock = f"{second % 24:02d}:{second % 60:02d}:{second % 59:02d}"
            escaped = sym.replace("\\", "\\\\")
            data.append(f"{pos}\t{escaped}\t{chr(92) + 'N' if price is None else price}\t{qty}\t{big}\t{extreme}\t{date}\t{date} {clock}\t{pos % 2}\t{id or chr(92) + 'N'}\t" + "\t".join(str(bits(number)) for number in (wild, odd, near, gap, tie)))
            file.write(f'{pos},"{sym}",{"" if price is None else price},{qty},{big},{extreme},{date},{date}T{clock}Z,{pos % 2},{id or ""},{wild!r},{odd!r},{near!r},{gap!r},{tie!r}\n')
    server.ask("INSERT INTO sent FORMAT TabSeparated\n" + "\n".join(data) + "\n")
    doubles = ", ".join(f"reinterpretAsFloat64(reinterpretAsString({name}))" for name in floats)
    server.ask(f"INSERT INTO rows SELECT pos, sym, price, qty, big, any, day, at, flag, id, {doubles} FROM sent")


def told(result):
    """The output, and messages without their places. Either zero may stand for both, which are equal."""
    errors = [re.sub(r"^-c:[0-9:]+ ", "", line) for line in result.err.decode().split("\n")]
    out = re.sub(r"(^|\t)-0\.0(?=\t|$)", r"\g<1>0.0", result.out.decode(), flags=re.MULTILINE)
    return result.status, out, [line for line in errors if line.startswith(("error: ", "hint: "))]


def same(rig, url, title, lines):
    for line in lines:
        here, there = (rig.run(f"{source} | {line}") for source in ("rows.csv", f"load {url}"))
        expected, got = told(here), told(there)
        # A hint may repeat the line itself, with its source.
        problem = "" if expected[:2] == got[:2] and expected[2][:1] == got[2][:1] else f"expected {expected}, got {got}"
        rig.tally.check(f"{title}: {line}", problem)


def little_comes(rig, url):
    """The server runs these: no more than some rows of answers come over."""
    for title, before, source in (("load", (), f"load {url}"), ("let", (f"let t = load {url}",), "t")):
        for line in ("sum qty", "select qty > 3 && sym == \"AAPL\" | mean big", "group sym: count()", "top 3 by big", "select qty == 3 | take 5 | map pos | scan +", "derive v = qty * 2 | sort v, pos | take 4",
                     "group sym: mean(price)", "group sym: sum(near), max(near), min(gap)", "max price", "top 3 by price", "sample 20 seed 3", "sample 0.1% | map pos", "group sym: stddev(near) / mean(qty)", "tail 3", "select qty > 3 | tail 2", "any price > 3.0", "group: sum(near), any(qty > 3)", "group odd: count()", "map -odd as z | distinct", "group sym: distinct(id), median(big)", "group sym: first(price), last(sym), argmax(near, id)", "sort big desc | group sym: first(pos)", "median near", "stddev near", "corr big, near", "var any", "group sym: stddev(qty), corr(big, near)", "group sym: var(price) as v | sort v | take 2", 'derive z = qty > 3 ? "b" : "a" | group z: count()', 'derive z = qty > 3 ? "b" : qty > 1 ? "a" : "c" | group z: count()', 'select sym ~ "^A.*L$" | count', "group sym: sum(price * qty) / sum(qty)", "group pos % 5000 as k: sum(tie) as t | top 20 by t"):
            result = harness.run(["--device", "host", "--timing", *(part for text in (*before, f"{source} | {line}") for part in ("-c", text))], rig.sandbox.here, rig.sandbox.home)
            rows = [int(number) for number in re.findall(r"(\d+) rows? and \d+ bytes came over", result.err.decode())]
            rig.tally.check(f"{title}: little comes of {line}", "" if rows and max(rows) < 100 else result.text())


def few(rig, server):
    """A table with fewer rows than are asked for, and with places in its order that are missing or no numbers."""
    server.ask("CREATE TABLE few (pos Nullable(Float64), v Int32) ENGINE = Memory")
    server.ask("INSERT INTO few SELECT if(number = 3, NULL, if(number = 4, nan, toFloat64(number))), number * 10 FROM numbers(5)")
    with open(rig.sandbox.path("few.csv"), "w", encoding="utf-8") as file:
        file.write("v\n0\n10\n20\n40\n30\n")
    url = server.url("few", "pos")
    for line in ("tail 10", "tail 10 | take 3", "tail 3 | take 1", "take 7 | tail 2", "skip 2 | tail 10", "tail 10 | skip 4", "tail 10 | tail 2", "top 9 by v | tail 1", "tail 10 | take 7 | tail 2", "tail 2", "tail 3 | tail 10 | take 2", "tail 9 | count", "tail 10 | skip 4 | count", "take 7 | tail 9 | sum v", "skip 3 | tail 4 | product", "take 9 | tail 2 | product", "tail 8 | product", "tail 7 | max v"):
        expected, got = rig.run(f"few.csv | {line}"), rig.run(f"load {url} | pick v | {line}")
        rig.tally.check(f"few: {line}", "" if told(expected) == told(got) else f"expected {expected.text()}, got {got.text()}")


def decimals(rig, server):
    """Decimals are compared, added and grouped as here."""
    server.ask("CREATE TABLE decimals (pos Int64, d Decimal(18, 4), c Nullable(Decimal(9, 2)), w Decimal(18, 18), n Decimal(18, 0), big Decimal(38, 3), k Int8) ENGINE = Memory")
    rng = random.Random(4)
    rows = [(pos, rng.choice((10**14 - 1, -(10**14) + 1, rng.randrange(-10**6, 10**6))), rng.choice((None, rng.randrange(-10**4, 10**4))), rng.randrange(-(10**18) + 1, 10**18), rng.choice((10**18 - 1, 1 - 10**18, 0, 5)), rng.randrange(-10**15, 10**15), pos % 5) for pos in range(500)]

    def said(value, scale):
        digits = str(abs(value)).zfill(scale + 1)
        return ("-" if value < 0 else "") + (digits[:-scale] + "." + digits[-scale:] if scale else digits)

    lines = [(str(pos), said(d, 4), None if c is None else said(c, 2), said(w, 18), said(n, 0), said(big, 3), str(k)) for pos, d, c, w, n, big, k in rows]
    server.ask("INSERT INTO decimals FORMAT TabSeparated\n" + "".join("\t".join("\\N" if part is None else part for part in line) + "\n" for line in lines))
    with open(rig.sandbox.path("decimals.csv"), "w", encoding="utf-8") as file:
        file.write("pos,d,c,w,n,big,k\n" + "".join(",".join(part or "" for part in line) + "\n" for line in lines))
    source = "load decimals.csv pos i64, d decimal(4), c decimal(2), w decimal(18), n decimal(0), big decimal(3), k i8"
    for line in ("sum d", "sum w", "mean d", "max c", "min w", "select d > 12.5 | count", "select c == 3.25 || c is missing | count", "group k: sum(d), min(c), max(w)", "group k: mean(c), mean(d)", "group k: sum(c * 2)", "top 3 by d", "sort c, pos | take 4",
                 "select d < 0 | map pos, d, c, w, n | tail 3", "map c as x | distinct | sort x | take 3", "group n: count()", "stddev d", "var w", "group k: stddev(c), var(n), corr(d, w)", "map d + c as x | max", "map float(d) as x | sum", "map d * 2 as v | sum", "sum big", "select w > 0.5 && n > 0 | count", "map w + w as v | max", "sum n"):  # fmt: skip
        expected, got = told(rig.run(f"{source} | {line}")), told(rig.run(f"load {server.url('decimals', 'pos')} | {line}"))
        rig.tally.check(f"decimals: {line}", "" if expected[:2] == got[:2] and expected[2][:1] == got[2][:1] else f"expected {expected}, got {got}")
    for line in ("sum d", "group k: mean(c)", "select d > 12.5 | count"):
        result = rig.run(f"explain load {server.url('decimals', 'pos')} | {line}")
        rig.tally.check(f"decimals on the server: {line}", "" if result.out.startswith(b"on the server") else result.text())


def types(rig, server):
    """Types whose values become others here: the same as where the columns are read."""
    modern = rig.tally.name == "clickhouse"
    moments = ", s DateTime64(3), n Nullable(DateTime64(9)), m DateTime64(6), h DateTime64(7), l Nullable(DateTime64(8))" if modern else ""
    made = ", toDateTime64('1965-03-01 00:00:00', 3) + number * 1000003 % 70000007 / 8, if(number % 5 = 0, NULL, fromUnixTimestamp64Nano(toInt64(number) * 1000000007 - 500)), toDateTime64('2024-01-01 00:00:00.000001', 6) + number, toDateTime64('1969-12-31 23:59:50.1234567', 7) + number / 7, if(number % 3 = 0, NULL, toDateTime64('2290-01-01 00:00:00.12345678', 8) + number)" if modern else ""
    server.ask(f"CREATE TABLE types (pos Int64, u UInt64, o Nullable(UInt64), w UInt64, f FixedString(4), g Nullable(FixedString(2)){moments}) ENGINE = Memory")
    server.ask(f"INSERT INTO types SELECT number, if(number % 7 = 0, toUInt64(9223372036854775807), number % 11), if(number % 3 = 0, NULL, number % 4), if(number = 300, 9223372036854775808, number), toFixedString(substring('abcdef', 1 + number % 5, number % 4), 4), if(number % 4 = 0, NULL, toFixedString('x', 2)){made} FROM numbers(500)")
    url = server.url("types", "pos")
    lines = ["sum u", "max u", "select u == 5 | count", "select u < -3 | count", "select u > 9223372036854775806 | sum pos", "group u: count(), sum(pos)", "map u + 1 as x | max", "map u % 4 * o as x | sum", "count o is missing", "group o: min(u)", "pick u, o, pos, f | sort u, pos | take 4", "pick u, g, pos | top 3 by u", "map u, o | distinct | sort u, o | take 5", "any u == 4",
             "group f: count()", 'select f == "ab" | count', 'map f + "z" as t, len(f) as n | group t, n: count()', 'select g == "x" | count', "count g is missing", 'select f like "%c%" | sum pos', "map f | distinct | sort f",
             "select w > 5 | count", "sum w", "group w % 3 as k: count()", "max w"]  # fmt: skip
    if modern:
        lines += ["max s", "min s", "group n is missing as k: max(n), min(n)", "select s < timestamp(\"1970-01-01\") | count", "map hour(m) as h | group h: count()", "pick n, pos | sort n, pos | take 3", "map m - s as d | max", "select m > timestamp(\"2024-01-01T00:05:00Z\") | count", "group s: count() | take 3", "min h", "select h < timestamp(\"1970-01-01\") | sum pos", "group l is missing as k: max(l), min(h)", "map h | distinct | sort h | take 9", "map l - h as d | select d is not missing | max d"]
    for line in lines:
        here, there = (told(rig.run(f"load {url} | {before}{line}")) for before in ("derive rql_row = row | ", ""))
        shown = rig.run(f"explain load {url} | {line}").out.decode()
        problem = "" if here[:2] == there[:2] and here[2][:1] == there[2][:1] else f"read {here}, lowered {there}\n{shown}"
        rig.tally.check(f"types: {line}", problem or ("" if shown.startswith("on the server") and "\nhere: " not in shown else shown))
    # Of rows that are sent the table's number is told, not the answer's.
    for line in ("select pos > 250 | map w | take 100", "select pos > 250 | sort pos desc | pick pos, w", f"select pos > 250 | join {url} as q on pos | map q_w as z"):
        rig.fails(f"types: {line}", "a value of `w` does not fit in 64 bits here, row 300\n", f"load {url} | {line}")
    # A skip leaves out the first rows, and not the one that fails.
    for line in (f"skip 13 | anti join (load {url} | take 6) on w = pos | sum pos", "skip 1 | sort w | take 3 | sum pos"):
        rig.fails(f"types: {line}", "a value of `w` does not fit in 64 bits here, row 300\n", f"load {url} | {line}")
    rig.answers("types: after the row that fails", "906\n", f"load {url} | skip 301 | sort w | take 3 | sum pos")
    rig.fails("types: of no order", "a value of `w` does not fit in 64 bits here\n", f"load {url.split('?', maxsplit=1)[0]} | map w | sort w")
    server.ask("CREATE TABLE large (pos Int64, n Nullable(UInt64)) ENGINE = Memory")
    server.ask("INSERT INTO large FORMAT TabSeparated\n0\t5\n1\t\\N\n2\t9223372036854775808\n3\t7\n")
    large = server.url("large", "pos")
    for line in ("pick pos, q_n", "take 3 | pick pos, q_n", "skip 1 | take 2 | pick pos, q_n"):
        rig.fails(f"types: joined, {line}", "a value of `n` does not fit in 64 bits here, row 2\n", f"load {large} | join {large} as q on pos | {line}")
    rig.answers("types: joined, before", "0\t5\n1\t\n", f"load {large} | join {large} as q on pos | take 2 | pick pos, q_n")
    rig.answers("types: joined, after", "3\t7\n", f"load {large} | join {large} as q on pos | skip 3 | pick pos, q_n")
    # In place of NULL a server may have a number that the Enum has not.
    server.ask("CREATE TABLE words (pos Int64, e Enum8('b' = -3, 'a\\'' = 1), o Nullable(Enum16('z\\' = 7' = 500, 'a' = 2))) ENGINE = Memory")
    server.ask("INSERT INTO words FORMAT TabSeparated\n1\tb\t\\N\n2\ta'\ta\n3\tb\tz' = 7\n4\tb\t\\N\n")
    words = f"load {server.url('words', 'pos')}"
    rig.answers("enums", "b\t\na'\ta\nb\tz' = 7\nb\t\n", f"{words} | pick e, o")
    rig.answers("enums on the server", "a'\ta\nb\tz' = 7\n", f"{words} | select o is not missing | pick e, o")
    rig.answers("enums are texts", "a\t1\nz' = 7\t1\n\t2\n", f"{words} | group o: count() as n | sort o")
    rig.answers("enums of no rows", "b\nb\n\n", f"{words} | select pos != 2 | full join {server.url('words', 'pos')} as q on pos | map e | tail 3")
    shown = rig.run(f"explain sql --dialect duckdb {words} | select pos > 1 | pick o").out.decode()
    rig.tally.check("enums elsewhere", "" if 'CAST("o" AS VARCHAR)' in shown else shown)
    rig.fails("types: in a column of which a value has no place here", "does not fit in 64 bits", f"load {url} | select (pos - 9223372036854775508) in (load {url} | map w) | count")


def explained(rig, url):
    """Where the border is."""
    where = "on the server: " + url + "\n"
    for line, shown in (
        ("count", "  SELECT toInt64(count()) AS rql_0, toUInt8(0) AS rql_1, toInt64(toInt64(count())) AS rql_2 FROM `default`.`rows`\n"),
        ("select qty > 3 | map pos | scan +", "  SELECT `pos` AS rql_0 FROM `default`.`rows` WHERE (3 < `qty`) ORDER BY `pos`\nhere: scan +\n"),
    ):
        result = rig.run(f"explain load {url} | {line}")
        rig.tally.check(f"explain {line}", "" if result.out.decode().startswith(where + shown) else result.text())
    for line in ('select sym ~ "(A+)+" | count', "map int(sym) as n | max", 'select sym like "A%" | map pad(upper(sym), 9) as s | group s: count()'):
        result = rig.run(f"explain load {url} | {line}")
        rig.tally.check(f"explain text that stays here: {line}", "" if result.out.startswith(b"fetched: ") or b"here: map pad" in result.out else result.text())
    for line in ("reverse", "gather [1, 2]", "per sym: take 1", "with m = mean(qty) | select qty > m", f"zip (range 1..{ROWS} as k)", f"map qty | shape {ROWS // 10} 10 | sum"):
        result = rig.run(f"explain load {url} | {line}")
        rig.tally.check(f"explain what is fetched: {line}", "" if result.status == 0 and result.out.startswith(b"fetched: ") else result.text())
    result = rig.run(f"explain load {url} | map qty | scan +")
    rig.tally.check("explain what runs here", "" if result.out.startswith(b"fetched: ") and b"queue: 3 tasks" in result.out else result.text())


def elsewhere(rig, server, url):
    """What `explain sql` shows gives the same when it is run by hand, also where a name of a column is used for another one."""
    for line in ("select qty > 3 | map qty * 2 as qty, pos | take 5", "map -pos as pos, qty | take 4", "map pos as qty, qty as pos | take 3", "group qty % 3 as qty: sum(pos) as sym", "pick pos, qty, big | rename pos as big, big as qty, qty as pos | take 2", "select qty > 3 | map big // qty as fails, pos | take 3"):
        shown = rig.run(f"explain sql --dialect clickhouse load {url} | {line}").out.decode().split("\n")
        expected = rig.run(f"rows.csv | {line}").out.decode()
        try:
            got = server.ask(shown[1].strip() + " FORMAT TabSeparated")
        except urllib.error.HTTPError as problem:
            got = problem.read().decode()
        cut = [text.rsplit("\t", 1)[0] if "AS fails" in shown[1] or "AS `fails`" in shown[1] else text for text in got.split("\n")]
        rig.tally.check(f"elsewhere: {line}", "" if "\n".join(cut) == expected else f"expected {expected!r}, got {got!r}, {shown}")


def unordered(rig, server):
    """Without ?by= what needs no order runs, and the rest is refused."""
    url = f"clickhouse://127.0.0.1:{server.port}/default/rows"
    same(rig, url, "unordered", ("count", "sum qty", "group sym: count(), sum(qty)", "map sym | distinct | count", "pick sym, qty | distinct | sort qty, sym | take 4", "pick qty | sort | take 5", "pick qty, pos | sort qty, pos", "pick qty, near, sym, price | describe | drop type", "hist near 5", "select qty > 3 | hist any 7", "select qty > 3 | pick qty, near, sym, big, day | describe | drop type"))
    for line in ("map big / qty as v | sum", "group sym: sum(big)", "map big * big as v | group v: count()"):
        rig.fails(f"unordered: {line}", "what is computed of some row of `rows` has no result", f"load {url} | {line}")
    rig.fails("unordered: of no rows", "max of no rows", f"load {url} | select false | max qty")
    rig.fails("unordered: in the rest", 'division by zero in `map pad(sym, 9) as v, 1 // (t - t) as w`, row 0', f'load {url} | group sym: sum(qty) as t | map pad(sym, 9) as v, 1 // (t - t) as w')
    for line, answer in (("take 5 | count", "5"), ("select qty > 3 | take 7 | map qty > 3 as b | distinct", "true"), ("take 100 | skip 95 | count", "5"), ("take 50 | select qty > 100 | count", "0"), ("take 9 | group: count() as n", "9"), ("take 20 | map qty * 0 as z | scan + | max", "0")):
        result = rig.run(f"load {url} | {line}")
        rig.tally.check(f"unordered: any rows: {line}", "" if result.out.decode() == answer + "\n" and "have no order, so that any of them are taken" in result.err.decode() else result.text())
    for line in ("tail 5", "map qty | scan + ", "sort qty | tail 2", "select qty > 3", "map sym | distinct"):
        rig.fails(f"unordered: {line}", "the rows of `rows` have no order", f"load {url} | {line}")


def many(rig, server):
    """More rows than a sum of 32-bit values in 64 bits takes, by a progression: the answers are computed here."""
    if rig.tally.name != "clickhouse":
        return  # servers of 2018 take a minute for each
    count = 2_200_000_000
    server.ask(f"CREATE VIEW many AS SELECT toInt64(number) AS pos, toInt32((toInt64(number % 4) - 2) * 1000000007) AS v, toInt64(number) * 4000000001 AS w FROM numbers({count})")
    total = Fraction(4000000001 * (count * (count - 1) // 2))
    mean, url = repr(float(total / count)).replace("+", ""), server.url("many", "pos")
    rig.answers("many: sum", f"{-1000000007 * (count // 2)}\n", f"load {url} | sum v")
    rig.answers("many: wide mean", f"{mean}\n", f"load {url} | mean w")
    rig.answers("many: group", f"{count}\t{-1000000007 * (count // 2)}\t{mean}\n", f"load {url} | group: count(), sum(v), mean(w)")


def travel(rig, server):
    """How much comes over: of checks the columns' names and types, of what servers cannot run no more than is allowed and on its way."""
    proxy = engines.Proxy(server)
    url = proxy.url("rows", "pos")
    lines = [f"load {url} | {line}" for line in ("sum qty", "group sym: mean(qty)", "top 2 by big", "select qty > 40 | count", "max price")]
    result, size, statements = proxy.travel(lambda: rig.run(*lines))
    # One question for the columns, when a statement is checked or when it runs, and its own.
    rig.tally.check("travel: five questions", "" if result.status == 0 and size < 20000 and statements <= 2 * len(lines) else f"{size} bytes, {statements} statements: {result.text()}")
    named, size, statements = proxy.travel(lambda: rig.run(f"let t = load {url}", "t | sum qty", "t | group sym: mean(qty)"))
    rig.tally.check("travel: of a name", "" if named.status == 0 and size < 8000 and statements <= 3 else f"{size} bytes, {statements} statements")
    width = 8 * ROWS
    for line in ("map big | scan max", "map big as v | scan min"):
        result, size, _ = proxy.travel(lambda line=line: rig.run(".set fetch 1MB", f"load {url} | {line}"))
        rig.tally.check(f"travel: below the limit: {line}", "" if result.status == 0 and width <= size < width + 8000 else f"{size} bytes: {result.text()}")
        result, size, _ = proxy.travel(lambda line=line: rig.run(f"explain load {url} | {line}"))
        told = result.out.startswith(b"fetched: clickhouse://") and b"\nbecause the server cannot run `" in result.out and b" all rows" in result.out
        rig.tally.check(f"travel: explain {line}", "" if told and size < 4000 else f"{size} bytes: {result.text()}")
    server.ask("CREATE TABLE wide (pos Int64, a Int64, s String) ENGINE = Memory")
    server.ask("INSERT INTO wide SELECT number, number, toString(number) FROM numbers(1000000)")
    wide = proxy.url("wide", "pos")
    for line, message in (
        ("map a | scan max", "1000000 rows of 1 column of `wide` are 8 MB, more than the 1 MB that `.set fetch` allows"),
        ("map s | distinct | skip 1 | hist len(s)", "the answer of `127.0.0.1:"), ("map s | scan min", ""),
        ("select a >= 0 | map a | scan +", "is long, more than the 1 MB that `.set fetch` allows"), ("select a > 10 | derive r = row", "is long"),
    ):  # fmt: skip
        result, size, _ = proxy.travel(lambda line=line: rig.run(".set fetch 1MB", f"load {wide} | {line}"))
        rig.tally.check(f"travel: refused: {line}", "" if result.status == 1 and message in result.err.decode() and size < 8000000 and not result.out else f"{size} bytes: {result.text()}")
    wide_parts = "" if rig.tally.name != "clickhouse" else " SETTINGS min_bytes_for_wide_part = 0"  # small parts do not tell the sizes of columns
    server.ask("CREATE TABLE texts (pos Int64, s String) ENGINE = MergeTree ORDER BY pos" + wide_parts)
    server.ask("INSERT INTO texts (pos, s) SELECT number, concat('a text of some bytes ', toString(number)) FROM numbers(100000)")
    result, size, _ = proxy.travel(lambda: rig.run(".set fetch 1MB", f"load {proxy.url('texts', 'pos')} | map s | scan min"))
    rig.tally.check("travel: refused before it comes", "" if b"100000 rows of 1 column of `texts` are " in result.err and size < 8000 else f"{size} bytes: {result.text()}")
    result = rig.run(f"load {wide} | map a | scan max | count")
    told = "note: 8 MB came over, because the server cannot run this stage" in result.err.decode()
    rig.tally.check("travel: told", "" if result.status == 0 and told else result.text())
    rig.answers("travel: allowed", "1000000\n", ".set fetch 1MB", ".set fetch off", f"load {wide} | derive r = row | count")
    rig.tally.check("travel: setting", "" if rig.run(".set fetch 2500MB", ".set fetch").out.startswith(b"fetch\t2500MB") else "not shown")


def summaries(rig, server):
    """Of many rows `describe` and `hist` are questions of one row each; what they say is as of a file of the same rows, but for numbers of different values that are estimates."""
    server.ask("CREATE TABLE many_rows (pos Int64, s String, x Float64, q Int32, m Nullable(Int32), d Date, t DateTime, f UInt8, c Decimal(9, 2), w Int64, g Float32, n Nullable(Float64), u Nullable(String), none Nullable(Int64)) ENGINE = MergeTree ORDER BY pos")
    server.ask(
        "INSERT INTO many_rows SELECT number, arrayElement(['ab', 'Ünder', ' x ', 'CDé'], number % 4 + 1), if(number % 1000 = 7, nan, number / 3 - 500), number % 50 - 25, if(number % 5 = 0, NULL, number % 97), toDate('2024-01-01') + number % 300, toDateTime('2024-01-01 00:00:00') + number * 37, number % 2, "
        "toDecimal32(number % 1000, 2) / 100, number * number * 130000001 - 4611686018427387904, number / 7, if(number % 3 = 0, NULL, number % 77 / 10), if(number % 4 = 1, NULL, toString(number % 6)), NULL FROM numbers(200000)"
    )
    proxy = engines.Proxy(server)
    url = proxy.url("many_rows", "pos")
    saved = rig.run(".set fetch 100MB", f"load {url} | save many_rows.parquet")
    rig.tally.check("summaries: a file", "" if saved.status == 0 else saved.text())
    named = ("pick column, type, rows, missing, min, max, mean, nan, low, high, top", "select missing > 0 | pick column, missing")
    lines = ("describe", "select q > 3 && x < 6e4 | describe", *(f"describe | {what}" for what in named), "map w // 7 as v, q > 3 as b, d | describe", "hist w 7", "hist x", "hist t 8", "hist w 20 | select count > 10000", "select pos >= 0 | hist n 150", "hist w 51", "hist w 50", "hist pos 200", "hist pos 3 | map count | sum",
             "hist pos 1", "map x * 1e300 as y | hist y 4", "select x < 1e3 && x > -1e3 || pos > 5 | hist x 13", "map 5 as k, pos | hist k 3", "derive wide = pos * 46116860184273 | hist wide 9", "map t as t2, pos | hist t2 40")  # fmt: skip
    for line in lines:
        there, size, _ = proxy.travel(lambda line=line: rig.run(f"load {url} | {line}"))
        here = rig.run(f"load many_rows.parquet | {line}")
        numbers = [[int(number) for number in re.findall(r"~(\d+)", result.out.decode())] for result in (here, there)]
        near = len(numbers[0]) == len(numbers[1]) and all(abs(a - b) < 0.03 * a for a, b in zip(*numbers))
        same_else = re.sub(r"~\d+", "~", here.out.decode()) == re.sub(r"~\d+", "~", there.out.decode())
        rig.tally.check(f"summaries: {line}", "" if near and same_else and there.status == 0 and size < 40000 else f"{size} bytes: {here.text()} {there.text()}")
        shown = rig.run(f"explain load {url} | {line}").out.decode()
        rig.tally.check(f"summaries: explain {line}", "" if shown.startswith("on the server: ") and "\nthen how many values are in each interval" in shown else shown)
    for line, message in (("select false | hist w", "a histogram of no rows has no bounds"), ("map x / 0 as y | hist y", "a histogram cannot have"), ("map w // (pos - 199999) as v | describe", "division by zero in `map w // (pos - 199999) as v`, row 199999"),
                          ("select 64 <= pos // (pos - 7) | hist w", "division by zero in `select 64 <= pos // (pos - 7)`, row 7"), ("assert pos < 9 | distinct | hist w 4", "assertion failed in `assert pos < 9`, row 9")):
        rig.fails(f"summaries: {line}", message, ".set fetch 100MB", f"load {url} | {line}")
    result, size, asked = proxy.travel(lambda: rig.run(f"let t = load {url}", "t | hist w", "t | describe"))
    rig.tally.check("summaries: of a name", "" if result.status == 0 and size < 40000 and asked <= 12 else f"{size} bytes, {asked} questions: {result.text()}")
    few_rows = rig.run(f"load {url} | take 100 | describe"), rig.run("load many_rows.parquet | take 100 | describe")
    rig.tally.check("summaries: of few rows", "" if few_rows[0].out == few_rows[1].out else few_rows[0].text())


def failing(rig, server):
    """Of the first row that fails, one question, and one for its place: no other rows come over."""
    server.ask("CREATE TABLE failing (pos Int64, a Int64, b Int64, k Int8, u UInt64) ENGINE = Memory")
    server.ask("INSERT INTO failing SELECT number, number, if(number IN (70000, 80000), 0, number % 5 + 1), number % 10, if(number = 90000, 18446744073709551615, number) FROM numbers(100000)")
    proxy = engines.Proxy(server)
    url = proxy.url("failing", "pos")
    zero, overflow = "division by zero in `", "does not fit in 64 bits"
    for line, *told in (
        ("map a // b as v | sum", zero, "row 70000"), ("group k: sum(a // b)", zero, "row 70000"), ("select a > 75000 | map a // b as v | max", zero, "row 80000"),
        ("select a // b > 3 | stddev a", zero, "row 70000"), ("map a * 200000000000000 as v | group v % 3 as m: count()", "46117 * 200000000000000 " + overflow, "row 46117"),
        ("assert a < 40000 | count", "assertion failed", "row 40000"), ("sum u", "a value of `u` " + overflow, "row 90000"), ("select k == 3 | group k: max(a // (a - 55553))", zero, "row 55553"),
        ("select a < 0 | max a", "max of no rows"), ("select a < 0 | map a as v | mean v", "mean of no rows"), ("select a < 0 | stddev a", "`stddev` needs two rows with values"), ("select false | median a", "median of no rows"),
    ):  # fmt: skip
        result, size, _ = proxy.travel(lambda line=line: rig.run(".set fetch 1MB", f"load {url} | {line}"))
        errors = result.err.decode()
        good = result.status == 1 and all(part in errors for part in told) and errors.count("error: ") == 1 and size < 20000
        rig.tally.check(f"failing: {line}", "" if good else f"{size} bytes: {result.text()}")
    two = proxy.url("failing", "k,pos")
    rig.fails("failing: an order of two columns", "division by zero in `map a // b as v`, row 7000\n", f'load "{two}" | map a // b as v | sum')
    # What no row fails in, as a sum that is too large, is found in all rows.
    rig.fails("failing: a sum", overflow, f"load {url} | group k: sum(a * 90000000000000)")


def changing(rig, server):
    """What a table has may change: places of one statement that name it read the same rows."""
    server.ask("CREATE VIEW dice2 AS SELECT toInt64(number) AS pos, rand(number) AS a FROM numbers(1000)")
    table = f"let t = load {server.url('dice2', 'pos')}"
    rig.answers("named twice, read together", "0\n", table, "t | select a >= 0 | zip (t | map a as b) | select a != b | count")


def main():
    tally = harness.Tally("pushed")
    for _, rig, server in engines.each("pushed", tally):
        make_table(rig, server)
        url = server.url("rows", "pos")
        same(rig, url, "value", VALUES)
        same(rig, url, "failure", FAILURES)
        same(rig, url, "rows", RELATIONS)
        few(rig, server)
        decimals(rig, server)
        types(rig, server)
        little_comes(rig, url)
        explained(rig, url)
        elsewhere(rig, server, url)
        unordered(rig, server)
        summaries(rig, server)
        failing(rig, server)
        changing(rig, server)
        many(rig, server)
        travel(rig, server)
    tally.finish()
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
