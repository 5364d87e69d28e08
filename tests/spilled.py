#!/usr/bin/env python3
"""Sorts, groups, ranks, rows within groups, distinct rows and joins of more than memory holds, which are divided on the disk: skewed keys, equal ones, few,
wide and several of them, NaN and both zeros, texts. The reference is NumPy, and the same without a limit.

    spilled.py [--count N] [--seed SEED] [--kinds sort,group,rank,per,distinct,join]"""

import argparse
import os
import random
import sys

import numpy as np

import harness

ROWS = 400_000
MOST_PAIRS = 3_000_000
TEXTS = ["", "a", "b c", "Zürich", "zz"] + [f"text {i}" for i in range(300)]


def columns(numbers, rng):
    """Columns of all kinds of keys: how they are written, and numbers in their order."""
    n = ROWS
    wide = numbers.integers(-(2**62), 2**62, n)
    wide[numbers.random(n) < 0.001] = rng.choice([-(2**63), 2**63 - 1])
    floats = np.where(numbers.random(n) < 0.5, numbers.normal(size=n), np.round(numbers.normal(size=n)) * 1e300)
    floats[numbers.random(n) < 0.01] = np.nan
    floats[numbers.random(n) < 0.01] = -0.0
    texts = numbers.integers(0, len(TEXTS), n)
    rank = np.argsort(np.argsort(np.array([t.encode() for t in TEXTS], dtype=object), kind="stable"))
    return {
        "w": (wide, wide),
        "f": (floats, np.where(np.isnan(floats), np.inf, floats)),
        "few": (numbers.integers(0, 3, n, dtype=np.int8),) * 2,
        "one": (np.full(n, -5, dtype=np.int32),) * 2,
        "skew": (np.where(numbers.random(n) < 0.95, 77, numbers.integers(0, 1 << 30, n)),) * 2,
        "near": (np.where(numbers.random(n) < 0.5, numbers.integers(0, 1000, n), numbers.integers(2**50, 2**50 + 9, n)),) * 2,
        "id": (numbers.permutation(n).astype(np.int32),) * 2,
        "zipf": (np.minimum(numbers.zipf(1.3, n), 2**40),) * 2,
        "t": (np.array(TEXTS, dtype=object)[texts], rank[texts]),
    }


def codes(orders, descending):
    """A number of each row for its keys, in their order."""
    code = np.zeros(ROWS, dtype=np.int64)
    for order, down in zip(orders, descending):
        ranks = np.unique(order, return_inverse=True)[1].astype(np.int64)
        if down and order.dtype.kind == "f":
            last = order == np.inf
            ranks = np.where(last, ranks, -ranks)  # NaN are last
            ranks -= ranks.min()
        elif down:
            ranks = ranks.max() - ranks
        code = np.unique(code * (int(ranks.max()) + 1) + ranks, return_inverse=True)[1].astype(np.int64)
    return code


class Table:
    def __init__(self, rng, sandbox):
        numbers = np.random.default_rng(rng.randrange(1 << 32))
        self.rng = rng
        self.keys = columns(numbers, rng)
        self.folder, self.home = sandbox.here, sandbox.home
        self.v = numbers.integers(-100, 100, ROWS, dtype=np.int16)
        self.x = numbers.random(ROWS)
        plain = {name: values for name, (values, _) in self.keys.items() if name != "t"}
        np.savez(os.path.join(self.folder, "t.npz"), v=self.v, x=self.x, t=self.keys["t"][0].astype(str), **plain)
        self.others = columns(numbers, rng)
        plain = {name: values for name, (values, _) in self.others.items() if name != "t"}
        np.savez(os.path.join(self.folder, "s.npz"), q=np.arange(ROWS), y=self.x, t=self.others["t"][0].astype(str), **plain)

    def run(self, query, memory):
        out = os.path.join(self.folder, "out.npz")
        if os.path.exists(out):
            os.unlink(out)
        done = harness.run(["--no-init", "--device", "host", *memory, "-c", f"load t.npz | {query} | save out.npz"], self.folder, self.home)
        if done.status != 0:
            return done.text()
        with np.load(out) as arrays:
            return {name: arrays[name] for name in arrays.files}

    def sort(self):
        names = self.rng.sample(sorted(self.keys), self.rng.randrange(1, 4))
        descending = [self.rng.random() < 0.4 for _ in names]
        code = codes([self.keys[name][1] for name in names], descending)
        order = np.argsort(code, kind="stable")
        kept = self.rng.choice([["r"], ["r", "v"], ["r", "v", "x", "w", "f"]])
        words = ", ".join(name + (" desc" if down else "") for name, down in zip(names, descending))
        return f"derive r = row | sort {words} | pick {', '.join(kept)}", {"r": order, "v": self.v[order]}

    def grouped(self, names):
        code = codes([self.keys[name][1] for name in names], [False] * len(names))
        found, first, counts = np.unique(code, return_index=True, return_counts=True)
        return code, found, first, counts

    def group(self):
        names = self.rng.sample(sorted(self.keys), self.rng.randrange(1, 5))
        code, found, first, counts = self.grouped(names)
        order = np.argsort(code, kind="stable")
        starts = np.searchsorted(code[order], found)
        expected = {
            "n": counts,
            "s": np.add.reduceat(self.v.astype(np.int64)[order], starts),
            "lo": np.minimum.reduceat(self.v[order], starts),
            "r1": first,
            "hi": np.maximum.reduceat(self.x[order], starts),
        }
        written = {"n": "count()", "s": "sum(v)", "lo": "min(v)", "r1": "first(r)", "hi": "max(x)", "m": "mean(x)", "q": "median(x)", "d": "product(few % 2)"}
        chosen = self.rng.sample(sorted(written), self.rng.randrange(1, 6))
        return f"derive r = row | group {', '.join(names)}: {', '.join(f'{written[c]} as {c}' for c in chosen)} | pick {', '.join(chosen)}", expected

    def rank(self):
        """Of a key within groups by others, or of all rows; or rows of groups in the order of a key."""
        name = self.rng.choice(sorted(set(self.keys) - {"f", "t"}))
        by = self.rng.sample(sorted(set(self.keys) - {name}), self.rng.randrange(0, 3))
        value = codes([self.keys[name][1]], [False])
        group = codes([self.keys[b][1] for b in by], [False] * len(by))
        order = np.lexsort((value, group))
        if by and self.rng.random() < 0.4:
            return f"derive r = row | per {', '.join(by)}: sort {name} | sort {', '.join(by)} | pick r", {"r": order}
        starts = np.concatenate(([True], np.diff(group[order]) != 0))
        begins = starts | np.concatenate(([True], np.diff(value[order]) != 0))
        places = np.arange(ROWS)
        rank = np.empty(ROWS, dtype=np.int64)
        rank[order] = np.maximum.accumulate(np.where(begins, places, 0)) - np.maximum.accumulate(np.where(starts, places, 0)) + 1
        return f"{f'per {chr(44).join(by)}: ' if by else ''}derive k = rank({name}) | pick k", {"k": rank}

    def per(self):
        """Neighbours, and the first rows, within groups by columns, by what is computed, and by what may be missing."""
        rows, few = np.arange(ROWS), self.keys["few"][0]
        keys = {name: order for name, (_, order) in self.keys.items()}
        keys["r // 7 as key"], keys["at(few, -1) as key"] = rows // 7, np.concatenate(([3], few[:-1]))
        by = self.rng.sample(sorted(keys), self.rng.randrange(1, 3))
        while sum("key" in name for name in by) > 1:
            by = self.rng.sample(sorted(keys), 2)
        group = codes([keys[name] for name in by], [False] * len(by))
        name = self.rng.choice(["", "id", "w", "x"])
        value = {"": rows, "x": self.x}.get(name, keys.get(name))
        order = np.lexsort((value, group))
        starts = np.concatenate(([True], np.diff(group[order]) != 0))
        written = f"derive r = row | per {', '.join(by)}: (" + (f"sort {name} | " if name else "")
        if self.rng.random() < 0.4:
            most = self.rng.randrange(1, 4)
            kept = order[rows - np.maximum.accumulate(np.where(starts, rows, 0)) < most]
            kept = kept if name else np.sort(kept)
            return f"{written}take {most}) | pick r, x", {"r": kept, "x": self.x[kept]}
        before = np.where(starts, -1, np.concatenate(([0], order[:-1])))
        expected = {"r": order, "p": before, "v": self.v[order]}
        if not name:
            places = np.argsort(order)
            expected = {"r": rows, "p": before[places], "v": self.v}
        if any("key" in key for key in by) and self.rng.random() < 0.5:
            filled = keys[next(key for key in by if "key" in key)]
            return f"{written}derive p = at(r, -1) ?? -1) | map r, p, v, key ?? 3 as key", expected | {"key": filled[expected["r"]]}
        return f"{written}derive p = at(r, -1) ?? -1) | pick r, p, v", expected

    def distinct(self):
        names = self.rng.sample(sorted(self.keys), self.rng.randrange(1, 4))
        _, _, first, _ = self.grouped(names)
        rows = np.sort(first)
        return f"pick {', '.join(names)} | distinct | derive i = row | pick {', '.join(n for n in names if n != 't') or 'i'}", {
            n: self.keys[n][0][rows] for n in names if n not in ("t", "f")}

    def join(self):
        """Pairs in the order of the rows, then of those joined; all of a key that most rows have, for a few rows."""
        names = self.rng.sample(sorted(self.keys), self.rng.choice([1, 1, 2, 3]))
        rows = self.rng.choice([2, 1000, 20_000, ROWS])
        both = [np.concatenate([self.keys[name][1][:rows], self.others[name][1]]) for name in names]
        code = np.zeros(rows + ROWS, dtype=np.int64)
        for order in both:
            ranks = np.unique(order, return_inverse=True)[1]
            code = np.unique(code * (int(ranks.max()) + 1) + ranks, return_inverse=True)[1].astype(np.int64)
        left, right = code[:rows], code[rows:]
        order = np.argsort(right, kind="stable")
        starts, ends = (np.searchsorted(right[order], left, side) for side in ("left", "right"))
        counts = ends - starts
        kinds = ["semi ", "anti "] + (["", "left ", "full "] if counts.sum() < MOST_PAIRS else [])
        kind = self.rng.choice(kinds)
        source = f"derive r = row | take {rows} | {kind}join (load s.npz | pick q, y, {', '.join(names)}) on {', '.join(names)}"
        if kind in ("semi ", "anti "):
            return f"{source} | pick r", {"r": np.flatnonzero((counts > 0) == (kind == "semi "))}
        kept = np.maximum(counts, 1) if kind else counts
        row = np.repeat(np.arange(rows), kept)
        place = np.arange(len(row)) - np.repeat(np.cumsum(kept) - kept, kept) + np.repeat(starts, kept)
        found = np.repeat(counts > 0, kept)
        q = np.where(found, order[np.minimum(place, ROWS - 1)], -1)
        if kind == "full ":
            rest = np.setdiff1d(np.arange(ROWS), q)
            return f"{source} | map r ?? -1 as r, q ?? -1 as q, v ?? 0 as v", {
                "r": np.concatenate([row, np.full(len(rest), -1)]), "q": np.concatenate([q, rest]),
                "v": np.concatenate([self.v[row], np.zeros(len(rest), dtype=np.int16)])}
        return f"{source} | map r, q ?? -1 as q, y ?? -1.0 as y, v", {
            "r": row, "q": q, "y": np.where(found, self.x[q], -1.0), "v": self.v[row]}


def check(tally, table, query, expected):
    free = table.run(query, [])
    problem = free if isinstance(free, str) else ""
    for name, values in expected.items():
        if not problem and name in free and not np.array_equal(free[name], values):
            problem = f"{name} is {free[name][:5]}, not {values[:5]}"
    tally.check(query, problem)
    limit = f"{table.rng.choice([8, 12, 16, 24, 40])}MB"
    less = table.run(query, ["--memory", limit])
    if isinstance(less, str):
        tally.check(f"{query}, {limit}", less)
        return
    differ = [name for name in free if not np.array_equal(free[name].view(np.uint8), less[name].view(np.uint8))] if not problem else []
    tally.check(f"{query}, {limit}", f"{differ} differ" if differ else "")


def main(sandbox):
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default="sort,group,rank,per,distinct,join")
    options = parser.parse_args()
    tally = harness.Tally("spilled")
    rng = random.Random(options.seed)
    for i in range(options.count):
        if i % 20 == 0:
            table = Table(rng, sandbox)
        check(tally, table, *getattr(table, rng.choice(options.kinds.split(",")))())
    told = harness.run(["--no-init", "--device", "host", "--memory", "8MB", "-c",
                        "explain load t.npz | join (load s.npz | pick w, q) on w | sum q"], table.folder, table.home).text()
    tally.check("explain of a join", "" if "in parts on the disk by w" in told and "memory: task" in told else told)
    return tally.finish()


if __name__ == "__main__":
    harness.main_program(main)
