"""Ikra's micro benchmarks for tests/bench/programs.py: chains of maps, stencils, host sections, a dot product."""

import numpy as np

from program_case import Case

# Ikra's micro benchmarks, all of i * j * k * 2 integers, and what their maps see: the place, by axes.
NTH = "def nth(k, a, b, c, d) = k == 0 ? a : k == 1 ? b : k == 2 ? c : d"
CHAINED = "def chained(v, a, b, c, d) = nth(nth(nth(v % 4, a, b, c, d) % 4, a, b, c, d) % 4, a, b, c, d)"
MIXED = "def mixed(v, m, a, b, c, d) = (v % m + v / 97) % 97717 + chained(v, a, b, c, d) * (v % 7) % 99"


class Cells:
    def __init__(self, size):
        self.i, self.j, self.k = size((20, 500, 500), (4, 5, 6))
        self.count = self.i * self.j * self.k * 2
        self.cells = np.empty(self.count, np.int32)

    def source(self, value):
        i, j, k = self.i, self.j, self.k
        return (f"range 0..{self.count - 1} | map x / {2 * j * k} as a, x / {2 * k} % {j} as b, x / 2 % {k} as c, x % 2 as d "
                f"| map {value} as v, a, b, c, d")

    def axes(self):
        return np.indices((self.i, self.j, self.k, 2), np.int32).reshape(4, -1)

    def answer(self, cells):
        return [int(cells.sum(dtype=np.int64)), int((cells * (np.arange(self.count) % 1013)).sum(dtype=np.int64))]

    def case(self, name, rql, by_numpy, c, numba, rounds, setup=()):
        """`c` and `numba` take the axes, the numbers of `rounds`, which may be none, and the cells."""
        def by(loop):
            loop(self.i, self.j, self.k, *rounds, self.cells)
            return self.answer(self.cells)

        return Case(f"{name}, {self.count} cells", rql, f"r | take {self.count} | group : sum(v), sum(v * (row % 1013))",
                    lambda: self.answer(by_numpy()), lambda: by(c), numba and (lambda: by(numba)), setup=setup,
                    slow=self.count > 1000 and rounds not in ((), (10,)))


def choose(axes, k):
    return np.choose(k, axes)


def mixed(axes, v, m):
    chained = choose(axes, choose(axes, choose(axes, v % 4) % 4) % 4)
    return (v % m + v // 97) % 97717 + chained * (v % 7) % 99


def first_value(axes):
    return (axes[0] + axes[1]) % (axes[3] + choose(axes, axes[1] % 4) + 7)


FIRST = "(a + b) % (d + nth(b % 4, a, b, c, d) + 7)"


def map(c, numba, size):
    cells = Cells(size)

    def by_numpy():
        axes = cells.axes()
        v = first_value(axes)
        for m in range(938, 948):
            v = mixed(axes, v, m)
        return v

    maps = " | ".join(f"derive v = mixed(v, {m}, a, b, c, d)" for m in range(938, 948))
    return cells.case("Ikra: 10 maps", f"{cells.source(FIRST)} | {maps} | map v", by_numpy, c.ikra_map,
                      numba and numba.ikra_map, (), (NTH, CHAINED, MIXED))


def map_simple(c, numba, size):
    cells = Cells(size)

    def by_numpy():
        total = cells.axes().sum(0, dtype=np.int32)
        v = (7 + total) % 1337
        for _ in range(10):
            v = (v + total) % 1337
        return v

    maps = " | ".join(["derive v = (v + a + b + c + d) % 1337"] * 10)
    return cells.case("Ikra: 10 simple maps", f"{cells.source('(7 + a + b + c + d) % 1337')} | {maps} | map v", by_numpy,
                      c.ikra_map_simple, numba and numba.ikra_map_simple, (10,))


def iterate(c, numba, size):
    cells, rounds = Cells(size), size(100, 20)

    def by_numpy():
        axes = cells.axes()
        v = first_value(axes)
        for _ in range(rounds):
            v = mixed(axes, v, 938)
        return v

    return cells.case(f"Ikra: map, {rounds} rounds",
                      f"{cells.source(FIRST)} | repeat {rounds}: derive v = mixed(v, 938, a, b, c, d) | map v", by_numpy,
                      c.ikra_iterate, numba and numba.ikra_iterate, (rounds,), (NTH, CHAINED, MIXED))


def iterate_simple(c, numba, size):
    cells, rounds = Cells(size), size(100, 20)

    def by_numpy():
        by = cells.axes()[2]
        v = by % 133777
        for _ in range(rounds):
            v = (v + by) % 13377
        return v

    return cells.case(f"Ikra: simple map, {rounds} rounds",
                      f"{cells.source('c % 133777')} | repeat {rounds}: derive v = (v + c) % 13377 | map v", by_numpy,
                      c.ikra_iterate_simple, numba and numba.ikra_iterate_simple, (rounds,))


def iterate_five(c, numba, size):
    cells, rounds = Cells(size), size(100, 10)
    steps = [("c", 13377), ("b", 13377), ("d", 1337), ("a", 13377), ("b", 1377)]

    def by_numpy():
        axes = dict(zip("abcd", cells.axes()))
        v = axes["c"] % 133777
        for _ in range(rounds):
            for name, m in steps:
                v = (v + axes[name]) % m
        return v

    maps = " | ".join(f"derive v = (v + {name}) % {m}" for name, m in steps)
    return cells.case(f"Ikra: 5 maps, {rounds} rounds", f"{cells.source('c % 133777')} | repeat {rounds}: ({maps}) | map v",
                      by_numpy, c.ikra_iterate_five, numba and numba.ikra_iterate_five, (rounds,))


def iterate_complex(c, numba, size):
    cells, rounds = Cells(size), size(100, 12)

    def by_numpy():
        a, _, c_axis, d = cells.axes()
        v = c_axis % 133777
        for step in range(rounds):
            if step % 2 == 0:
                v = (v + d) % 77689 if step % 3 == 0 else (v + a) % 11799
            else:
                v = ((v + c_axis) % 1337 + c_axis) % 8888888
            v = (v + c_axis) % 6678
        return v

    body = ("derive v = even(step) ? (step % 3 == 0 ? (v + d) % 77689 : (v + a) % 11799) : ((v + c) % 1337 + c) % 8888888 "
            "| derive v = (v + c) % 6678")
    return cells.case(f"Ikra: map with branches, {rounds} rounds", f"{cells.source('c % 133777')} | repeat {rounds}: ({body}) | map v",
                      by_numpy, c.ikra_iterate_complex, numba and numba.ikra_iterate_complex, (rounds,))


def stencil(rounds, tiny):
    def make(c, numba, size):
        cells, count = Cells(size), size(rounds, tiny)
        i, j, k = cells.i, cells.j, cells.k

        def by_numpy():
            axes = cells.axes()
            v = first_value(axes).reshape(i, j, 2 * k)
            inner = axes.reshape(4, i, j, 2 * k)[:, 1:-1, 1:]
            for _ in range(count):
                by = v[2:, 1:] % 4
                chained = choose(inner, choose(inner, choose(inner, by) % 4) % 4)
                to = np.full_like(v, 37)
                to[1:-1, 1:] = ((v[:-2, 1:] % 938 + v[1:-1, 1:] // 97) % 97717 + chained * (v[:-2, :-1] % 7) % 99)
                v = to
            return v.ravel()

        # On two axes: one step on the second of four is a whole line of the other two.
        line = 2 * k
        places = f"row as a, col / {line} as b, col / 2 % {k} as c, col % 2 as d"
        stencil = (f"stencil [-1..1, {-line}..0] else 37: let a = row, b = col / {line}, c = col / 2 % {k}, d = col % 2: "
                   f"(at(-1, 0) % 938 + at(0, 0) / 97) % 97717 + chained(at(1, 0), a, b, c, d) * (at(-1, {-line}) % 7) % 99 as v")
        rql = (f"range 0..{cells.count - 1} | shape {i} {j * line} | map {places} | map {FIRST} as v | repeat {count}: {stencil}")
        return cells.case(f"Ikra: stencil, {count} rounds", rql, by_numpy, c.ikra_stencil, numba and numba.ikra_stencil, (count,),
                          (NTH, CHAINED))

    return make


def host_section_map(c, numba, size):
    rounds = size(99_999, 100)
    count = 511

    def by_numpy():
        a = np.arange(1, count + 1)
        for _ in range(rounds):
            a = a + 1
        return [int(a.sum())]

    return Case(f"Ikra: host section, map of {count}, {rounds} rounds", f"range 1..{count} | repeat {rounds}: map x + 1", "r | sum",
                by_numpy, None, ticks=rounds)


def host_section_stencil(c, numba, size):
    n, bound = size((90210, 10_000_000), (1000, 100_000))
    start = np.arange(n) % 2

    def by_numpy():
        a = start
        while a.sum() < bound:
            to = np.ones(n, np.int64)
            to[1:-1] = a[:-2] - a[1:-1] - a[2:] + 7
            a = to
        return [int(a.sum())]

    def by(loop):
        a = start.copy()
        loop(n, bound, a)
        return [int(a.sum())]

    return Case(f"Ikra: host section, stencil of {n}",
                f"range 0..{n - 1} | map x % 2 as a | repeat until sum(a) >= {bound}: stencil -1..1 else 1: at(-1) - at(0) - at(1) + 7 as a",
                "r | sum", by_numpy, lambda: by(c.ikra_host_section), numba and (lambda: by(numba.ikra_host_section)))


def dot_product(c, numba, size):
    n = size(30_000_000, 1000)

    def by_numpy():
        at = np.arange(n)
        return [int(((at % 25000) * ((at + 101) % 25000)).sum())]

    return Case(f"Ikra: dot product {n}", f"range 0..{n - 1} | map x % 25000 as a, (x + 101) % 25000 as b | map a * b | sum", "r",
                by_numpy, lambda: [c.dot_product(n)], numba and (lambda: [numba.dot_product(n)]))
