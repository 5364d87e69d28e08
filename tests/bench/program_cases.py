"""The programs that tests/bench/programs.py measures: for each its inputs, rql's text, a function for NumPy, and the call
of the C loop in programs.c and of the Numba loop in program_loops.py.

A function of a case does all its work on fresh copies of what it changes and returns the answer: a list of numbers that
must agree. The sizes are those of the papers, or tiny ones.
"""

import numpy as np

import program_ikra as ikra
from program_case import Case, structured


def active_rounds(x, y, cx, cy, limit, bound, below):
    """How many rounds of z * z + c each point takes, at most `limit`; points that have left are dropped."""
    count = np.zeros(x.size, np.int64)
    at = np.arange(x.size)
    for _ in range(limit):
        square = x * x + y * y
        go = square < bound if below else square <= bound
        if not go.all():
            at, x, y, cx, cy = at[go], x[go], y[go], cx[go], cy[go]
        if not at.size:
            break
        x, y = x * x - y * y + cx, 2 * x * y + cy
        count[at] += 1
    return count


def mandelbrot(c, numba, size):
    n = size(1000, 40)

    def by_numpy():
        row, col = np.divmod(np.arange(n * n), n)
        zero = np.zeros(n * n)
        k = active_rounds(zero, zero, (col / n - 0.5) * 3 - 0.7, (row / n - 0.5) * 3, 257, 100, False)
        return [int((255 - (k - 1) % 256).sum())]

    grey = np.empty(n * n, np.int32)

    def by(loop):
        loop(n, grey)
        return [int(grey.sum(dtype=np.int64))]

    return Case(
        f"Mandelbrot {n}^2, 257 rounds",
        f"range 0..{n * n - 1} | shape {n} {n} | map (col / float({n}) - 0.5) * 3 - 0.7 as cx, (row / float({n}) - 0.5) * 3 as cy, "
        "0.0 as x, 0.0 as y, 0 as k | repeat 257 while x * x + y * y <= 100: derive x = x * x - y * y + cx, y = 2 * x * y + cy, "
        "k = k + 1 | map 255 - (k - 1) % 256 as grey",
        "r | sum grey", by_numpy, lambda: by(c.mandelbrot), numba and (lambda: by(numba.mandelbrot)))


def julia(c, numba, size):
    n, most = size(1200, 40), 1_000_000

    def by_numpy():
        at = np.arange(n) * 3 / (n - 1) - 1.5
        x, y = np.repeat(at, n), np.tile(at, n)
        return [int(active_rounds(x, y, np.full(n * n, 0.285), np.full(n * n, 0.01), most, 1e6, True).sum())]

    count = np.empty(n * n, np.int32)

    def by(loop):
        loop(n, 0.285, 0.01, most, count)
        return [int(count.sum(dtype=np.int64))]

    return Case(
        f"Julia {n}^2",
        f"range 0..{n * n - 1} | shape {n} {n} | map row * 3.0 / {n - 1} - 1.5 as x, col * 3.0 / {n - 1} - 1.5 as y, 0 as k "
        f"| repeat {most} while x * x + y * y < 1e6: derive x = x * x - y * y + 0.285, y = 2 * x * y + 0.01, k = k + 1 | map k",
        "r | sum", by_numpy, lambda: by(c.julia), numba and (lambda: by(numba.julia)))


def collatz(c, numba, size):
    n = size(1_000_000, 3000)

    def by_numpy():
        steps = np.zeros(n + 1, np.int64)
        at = np.arange(2, n + 1)
        a = at.copy()
        while at.size:
            a = np.where(a % 2 == 0, a, 3 * a + 1) // 2
            steps[at] += 1
            go = a != 1
            at, a = at[go], a[go]
        return [int(steps.argmax()), int(steps.max())]

    best = np.zeros(2, np.int64)

    def by(loop):
        loop(n, best)
        return best.tolist()

    return Case(
        f"Collatz {n}",
        f"range 1..{n} | map x as start, x as n, 0 as steps | repeat while n != 1: derive n = (even(n) ? n : 3 * n + 1) / 2, "
        "steps = steps + 1 | pick start, steps | top 1 by steps",
        "r", by_numpy, lambda: by(c.collatz), numba and (lambda: by(numba.collatz)))


def field(n):
    """Some values with borders of 0."""
    u = (np.arange(n)[:, None] * 7 + np.arange(n) * 3) % 11 / 2
    u[0] = u[-1] = u[:, 0] = u[:, -1] = 0
    return u


def diffusion(n, rounds):
    def make(c, numba, size):
        side, count = size((n, rounds), (21, 30))
        start = field(side)

        def by_numpy():
            u, to = start.copy(), start.copy()
            for _ in range(count):
                here = u[1:-1, 1:-1]
                to[1:-1, 1:-1] = here + 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * here)
                u, to = to, u
            return [float((u * u).sum())]

        def by(loop):
            u = start.copy()
            loop(side, count, u)
            return [float((u * u).sum())]

        return Case(
            f"diffusion {side}^2, {count} rounds",
            f"u | repeat {count}: stencil [-1..1, -1..1] else 0.0: u + 0.1 * (at(-1, 0) + at(1, 0) + at(0, -1) + at(0, 1) - 4 * u) as u",
            "r | sum u * u", by_numpy, lambda: by(c.diffusion), numba and (lambda: by(numba.diffusion)), {"u": start}, ticks=count)

    return make


def jacobi(c, numba, size):
    n, bound = size((256, 1e-5), (16, 1e-4))
    start = np.zeros((n, n))
    start[0] = 1

    def by_numpy():
        u = start.copy()
        for rounds in range(1, 10_001):
            mean = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
            change = np.abs(mean - u[1:-1, 1:-1]).max()
            u[1:-1, 1:-1] = mean
            if change < bound:
                break
        return [float(u.sum())]

    def by(loop):
        u = start.copy()
        loop(n, 10_000, bound, u)
        return [float(u.sum())]

    return Case(
        f"Jacobi {n}^2 until < {bound}",
        f"u | repeat 10_000 until max(abs(u - before(u))) < {bound}: stencil [-1..1, -1..1] else u: "
        "(at(-1, 0) + at(1, 0) + at(0, -1) + at(0, 1)) / 4 as u",
        "r | sum u", by_numpy, lambda: by(c.jacobi), numba and (lambda: by(numba.jacobi)), {"u": start})


def life(c, numba, size):
    n, rounds = size((1000, 100), (20, 10))
    start = ((np.arange(n)[:, None] * 7 + np.arange(n) * 3) % 5 < 2).astype(np.uint8)
    start &= (np.add.outer(np.arange(n), np.arange(n)) % 3 > 0).astype(np.uint8)
    weight = np.arange(n * n).reshape(n, n)

    def by_numpy():
        u = start.copy()
        for _ in range(rounds):
            three = np.roll(u, 1, 0) + u + np.roll(u, -1, 0)
            around = three + np.roll(three, 1, 1) + np.roll(three, -1, 1) - u
            u = ((around == 3) | (around == 2) & (u == 1)).astype(np.uint8)
        return [int((u * weight).sum())]

    def by(loop):
        u = start.copy()
        loop(n, rounds, u)
        return [int((u * weight).sum())]

    return Case(
        f"Life {n}^2, {rounds} rounds",
        f"board | repeat {rounds}: life",
        f"r | sum cell * (row * {n} + col)", by_numpy, lambda: by(c.life), numba and (lambda: by(numba.life)),
        {"board": structured(cell=start.ravel())}, [f"let board = board | shape {n} {n}",
         "def life = | stencil [-1..1, -1..1] wrap: cell, sum(a in -1..1, b in -1..1: at(cell, a, b)) - cell as n | map int(n == 3 || n == 2 && cell == 1) as cell"], ticks=rounds)


def k_means(points, columns, k, tiny):
    def make(c, numba, size):
        n, rounds = size((points, 5), (tiny, 3))
        data = np.random.default_rng(7).normal(size=(n, columns))
        names = [f"p{i}" for i in range(columns)]

        def by_numpy():
            centroids = data[:k].copy()
            for _ in range(rounds):
                if columns < 10:
                    distance = sum((data[:, d, None] - centroids[:, d]) ** 2 for d in range(columns))
                else:  # |p|^2 is the same for all centroids
                    distance = (centroids * centroids).sum(1) - 2 * (data @ centroids.T)
                nearest = distance.argmin(1)
                sums = [np.bincount(nearest, data[:, d], k) for d in range(columns)]
                centroids = (np.array(sums) / np.bincount(nearest, minlength=k)).T
            return [float(np.abs(centroids).sum())]

        centroids = np.empty((k, columns))

        def by(loop):
            loop(n, columns, k, rounds, data, centroids)
            return [float(np.abs(centroids).sum())]

        near = " + ".join(f"({name} - c.{name}[j]) * ({name} - c.{name}[j])" for name in names)
        means = ", ".join(f"mean({name}) as {name}" for name in names)
        return Case(
            f"K-Means {n} x {columns}, k = {k}, {rounds} rounds",
            f"points | take {k} | repeat {rounds} as c: (points | derive a = argmin(j in 0..{k - 1}: {near}) | group a: {means} "
            f"| pick {', '.join(names)})",
            "r | sum " + " + ".join(f"abs({name})" for name in names), by_numpy, lambda: by(c.k_means),
            numba and (lambda: by(numba.k_means)), {"points": structured(**{name: data[:, d] for d, name in enumerate(names)})})

    return make


def product(dtype):
    def make(c, numba, size):
        n = size(512, 24)
        random = np.random.default_rng(3)
        floats = dtype == np.float64
        a, b = ((random.normal(size=(n, n)) if floats else random.integers(-1000, 1000, (n, n))).astype(dtype) for _ in "ab")
        result = np.empty((n, n), np.float64 if floats else np.int64)

        def answer(m):
            return [float(np.abs(m).sum())] if floats else [int(m.sum()), int((m % 1013).sum())]

        def by(loop):
            loop(n, a, b, result)
            return answer(result)

        def by_numpy():
            return answer(a @ b if floats else a.astype(np.int64) @ b.astype(np.int64))

        main = c.product_compensated if floats else c.product_integers
        loop = numba and (numba.product_floats if floats else numba.product_integers)
        return Case(
            f"matrix product {n}, {'f64' if floats else 'i32'}",
            f"range 0..{n * n - 1} | shape {n} {n} | map sum(k in 0..{n - 1}: a[row, k] * b[k, col]) as v",
            "r | sum abs(v)" if floats else "r | group : sum(v), sum((v % 1013 + 1013) % 1013)", by_numpy, lambda: by(main),
            numba and (lambda: by(loop)), {"a": a, "b": b}, more={"C, rounding": lambda: by(c.product_floats)} if floats else {})

    return make


def traffic(c, numba, size):
    agents, ticks = size((20_480, 2_000), (200, 20))
    random = np.random.default_rng(5)
    n = 1000
    degree = random.integers(1, 5, n)
    first = np.concatenate(([0], np.cumsum(degree)[:-1]))
    to = random.integers(0, n, int(degree.sum()))
    length, fastest, dice = random.uniform(0.2, 5, n), random.choice([30.0, 50.0, 80.0, 120.0], n), random.integers(0, 1000, n)
    kind = (random.random(agents) < 0.25).astype(np.int8)
    top, place, progress = random.uniform(30, 160, agents), random.integers(0, n, agents), random.uniform(0, 0.2, agents)

    def answer(street, at):
        return [int(street.sum()), float(at.sum())]

    def by_numpy():
        street, at = place.copy(), progress.copy()
        for _ in range(ticks):
            walk = dice[(at * at).astype(np.int64) % 20] % 7 - 2
            at = at + np.where(kind == 0, np.minimum(top, fastest[street]) * 0.9, walk) / 60
            end = at >= length[street]
            street = np.where(end, to[first[street] + dice[street] % degree[street]], street)
            at = np.where(end, 0.0, at)
        return answer(street, at)

    def by(loop):
        street, at = place.copy(), progress.copy()
        loop(agents, ticks, kind, top, fastest, length, dice, first, degree, to, street, at)
        return answer(street, at)

    return Case(
        f"traffic, {agents} agents, {ticks} ticks", f"agents | repeat {ticks}: tick", "r | group : sum(street), sum(progress)",
        by_numpy, lambda: by(c.traffic), numba and (lambda: by(numba.traffic)),
        {"agents": structured(kind=kind, top=top, street=place, progress=progress),
         "streets": structured(length=length, fastest=fastest, dice=dice, degree=degree), "first": first, "to": to},
        ["def speed(kind, top, street, p) = kind == 0 ? min(top, streets.fastest[street]) * 0.9 "
         ": float(streets.dice[int(p * p) % 20] % 7 - 2)",
         "def tick = | derive progress = progress + speed(kind, top, street, progress) / 60 "
         "| derive street = progress >= streets.length[street] ? to[first[street] + streets.dice[street] % streets.degree[street]] "
         ": street, progress = progress >= streets.length[street] ? 0.0 : progress"], ticks=ticks)


def page_rank(c, numba, size):
    n, edges, bound = size((1_000_000, 10_000_000, 1e-6), (100, 1000, 1e-6))
    random = np.random.default_rng(11)
    # Popular targets; each node has an edge out.
    source = np.concatenate((np.arange(n), random.integers(0, n, edges - n)))
    target = (n * random.random(edges) ** 3).astype(np.int64)
    order = np.argsort(target, kind="stable")
    source, target = source[order].astype(np.int32), target[order]
    degree = np.bincount(source, minlength=n).astype(np.int32)
    first = np.concatenate(([0], np.cumsum(np.bincount(target, minlength=n))))

    def by_numpy():
        rank = np.full(n, 1 / n)
        for _ in range(1000):
            new = 0.15 / n + 0.85 * np.bincount(target, (rank / degree)[source], n)
            change = np.abs(new - rank).sum()
            rank = new
            if change < bound:
                break
        return [float((rank * rank).sum())]

    def by(loop):
        rank = np.full(n, 1 / n)
        loop(n, bound, first, source, degree, rank)
        return [float((rank * rank).sum())]

    return Case(
        f"PageRank, {n} nodes, {edges} edges",
        f"range 0..{n - 1} | map 1.0 / {n} as r | repeat 1000 until sum(abs(r - before(r))) < {bound}: "
        f"map 0.15 / {n} + 0.85 * sum(e in first[row]..first[row + 1] - 1: r[source[e]] / degree[source[e]]) as r",
        "r | sum r * r", by_numpy, lambda: by(c.page_rank), numba and (lambda: by(numba.page_rank)),
        {"first": first, "source": source, "degree": degree})


def n_body(c, numba, size):
    n, rounds, dt = size((1000, 10, 0.01), (20, 3, 0.01))
    random = np.random.default_rng(13)
    start, m = random.normal(size=(4, n)), random.uniform(0.5, 2, n)

    def by_numpy():
        x, y, vx, vy = start.copy()
        for _ in range(rounds):
            dx, dy = x - x[:, None], y - y[:, None]
            square = dx * dx + dy * dy + 0.01
            pull = m / (square * np.sqrt(square))
            vx = vx + dt * (pull * dx).sum(1)
            vy = vy + dt * (pull * dy).sum(1)
            x, y = x + dt * vx, y + dt * vy
        return [float(np.abs(x).sum()), float(np.abs(vy).sum())]

    def by(loop):
        state = start.copy()
        loop(n, rounds, dt, m, state)
        return [float(np.abs(state[0]).sum()), float(np.abs(state[3]).sum())]

    force = "sum(j in 0..{0}: pull(m[j], x[j] - x, y[j] - y) * ({1}[j] - {1}))"
    return Case(
        f"n-body {n}, {rounds} rounds",
        f"bodies | repeat {rounds}: (derive ax = {force.format(n - 1, 'x')}, ay = {force.format(n - 1, 'y')} "
        f"| derive vx = vx + {dt} * ax, vy = vy + {dt} * ay | map x + {dt} * vx as x, y + {dt} * vy as y, vx, vy, m)",
        "r | group : sum(abs(x)), sum(abs(vy))", by_numpy, lambda: by(c.n_body), numba and (lambda: by(numba.n_body)),
        {"bodies": structured(x=start[0], y=start[1], vx=start[2], vy=start[3], m=m)},
        ["def pull(m, dx, dy) = let square = dx * dx + dy * dy + 0.01: m / (square * sqrt(square))"], ticks=rounds)


def shortest_paths(c, numba, size):
    n = size(200, 20)
    start = np.random.default_rng(17).integers(1, 1000, (n, n))
    np.fill_diagonal(start, 0)

    def by_numpy():
        d = start.copy()
        for k in range(n):
            np.minimum(d, d[:, k, None] + d[k], out=d)
        return [int(d.sum())]

    def by(loop):
        d = start.copy()
        loop(n, d)
        return [int(d.sum())]

    return Case(f"Floyd-Warshall {n}", f"d | repeat {n}: map min(d, d[row, step] + d[step, col]) as d", "r | sum", by_numpy,
                lambda: by(c.shortest_paths), numba and (lambda: by(numba.shortest_paths)), {"d": start}, ticks=n)


def black_scholes(c, numba, size):
    n, r, v = size((1_000_000, 0.02, 0.3), (100, 0.02, 0.3))
    random = np.random.default_rng(19)
    call, spot, strike, years = (random.integers(0, 2, n).astype(np.int8), random.uniform(5, 30, n), random.uniform(1, 100, n),
                                 random.uniform(0.25, 10, n))

    def normal(x):
        size_ = np.abs(x)
        k = 1 / (1 + 0.2316419 * size_)
        w = 1 - 1 / np.sqrt(2 * np.pi) * np.exp(-size_ * size_ / 2) * k * (
            0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        return np.where(x < 0, 1 - w, w)

    def by_numpy():
        d1 = ((r + v * v / 2) * years + np.log(spot / strike)) / (v * np.sqrt(years))
        d2 = d1 - v * np.sqrt(years)
        z = np.exp(-r * years) * strike
        return [float(np.where(call == 1, spot * normal(d1) - z * normal(d2), z * normal(-d2) - spot * normal(-d1)).sum())]

    price = np.empty(n)

    def by(loop):
        loop(n, call, spot, strike, years, r, v, price)
        return [float(price.sum())]

    return Case(
        f"Black-Scholes {n}", f"options | map price(call, S, X, T, {r}, {v}) as v", "r | sum", by_numpy, lambda: by(c.black_scholes),
        numba and (lambda: by(numba.black_scholes)), {"options": structured(call=call, S=spot, X=strike, T=years)},
        ["def cnd(x) = let L = abs(x), K = 1 / (1 + 0.2316419 * L), w = 1 - 1 / sqrt(2 * pi) * exp(-L * L / 2) * K * (0.31938153 "
         "+ K * (-0.356563782 + K * (1.781477937 + K * (-1.821255978 + K * 1.330274429)))): x < 0 ? 1 - w : w",
         "def price(call, S, X, T, r, v) = let d1 = ((r + v * v / 2) * T + log(S / X)) / (v * sqrt(T)), d2 = d1 - v * sqrt(T), "
         "z = exp(-r * T) * X: call == 1 ? S * cnd(d1) - z * cnd(d2) : z * cnd(-d2) - S * cnd(-d1)"])


CASES = {
    "mandelbrot": mandelbrot, "julia": julia, "collatz": collatz, "diffusion": diffusion(1000, 1000),
    "diffusion101": diffusion(101, 1000), "jacobi": jacobi, "life": life, "map": ikra.map, "map_simple": ikra.map_simple,
    "iterate": ikra.iterate, "iterate_simple": ikra.iterate_simple, "iterate_five": ikra.iterate_five,
    "iterate_complex": ikra.iterate_complex, "stencil": ikra.stencil(10, 3), "iterate_stencil": ikra.stencil(100, 7),
    "host_map": ikra.host_section_map, "host_stencil": ikra.host_section_stencil, "dot": ikra.dot_product,
    "k_means": k_means(1_000_000, 2, 3, 200), "k_means50": k_means(10_000, 50, 25, 100),
    "product_integers": product(np.int32), "product_floats": product(np.float64), "traffic": traffic, "page_rank": page_rank,
    "n_body": n_body, "shortest_paths": shortest_paths, "black_scholes": black_scholes,
}
