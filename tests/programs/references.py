#!/usr/bin/env python3
"""What the programs of tests/seeds print, computed by NumPy or plain Python: each line of their .out files, which all modes
of rql are compared with by tests/golden.py, against a loop written independently. Floats agree to 14 digits."""

import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness

TOLERANCE = 1e-14


def remainder(a, b):
    """% of rql and C, with the sign of the dividend."""
    return np.fmod(a, b)


def rounded(x):
    """Half away from zero."""
    x = np.asarray(x)
    return (np.sign(x) * np.floor(np.abs(x) + 0.5)).astype(np.int64)


def sixth(x):
    return rounded(np.asarray(x) * 1e6)


def collatz_steps(n, halve_odd):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else (3 * n + 1) // 2 if halve_odd else 3 * n + 1
        steps += 1
    return steps


def mandelbrot_rounds(n):
    for row in range(n):
        for col in range(n):
            cx, cy, x, y, k = (col / n - 0.5) * 3 - 0.7, (row / n - 0.5) * 3, 0.0, 0.0, 0
            while k < 257 and x * x + y * y <= 100:
                x, y, k = x * x - y * y + cx, 2 * x * y + cy, k + 1
            yield k


def k_means(points, centroids):
    while True:
        nearest = [min(range(3), key=lambda j: ((x - centroids[j][0]) ** 2 + (y - centroids[j][1]) ** 2, j)) for x, y in points]
        moved = []
        for j in range(3):
            mine = [point for point, a in zip(points, nearest) if a == j]
            moved.append((math.fsum(x for x, _ in mine) / len(mine), math.fsum(y for _, y in mine) / len(mine)))
        if moved == centroids:
            return moved
        centroids = moved


def programs():
    yield max(((n, collatz_steps(n, False)) for n in range(1, 1001)), key=lambda pair: (pair[1], -pair[0]))
    yield [sum(mandelbrot_rounds(40))]
    # Life
    row, col = np.divmod(np.arange(900), 30)
    board = (((row * 7 + col * 3) % 5 < 2) & ((row + col) % 3 > 0)).astype(int).reshape(30, 30)
    for _ in range(25):
        around = sum(np.roll(np.roll(board, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1)) - board
        board = ((around == 3) | (around == 2) & (board == 1)).astype(int)
        board[0] = board[-1] = board[:, 0] = board[:, -1] = 0
    yield [int((board.ravel() * np.arange(900)).sum())]
    # Jacobi
    u = np.zeros((12, 12))
    u[0] = 1
    while True:
        old = u.copy()
        u[1:-1, 1:-1] = (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]) / 4
        if np.abs(u - old).max() < 1e-6:
            break
    yield [int(rounded(u * 1e5).sum())]
    points = [(float(i * 7 % 10), float(i * 3 % 10)) for i in range(10)]
    yield from k_means(points, points[:3])
    # n-body
    i = np.arange(4)
    x, y, vx, vy, m = (i * i % 5).astype(float), i.astype(float), 0.1 * i, np.zeros(4), 1.0 + i
    for _ in range(10):
        dx, dy = x - x[:, None], y - y[:, None]
        pull = m / (dx * dx + dy * dy + 0.01) ** 1.5
        vx, vy = vx + 0.01 * (pull * dx).sum(1), vy + 0.01 * (pull * dy).sum(1)
        x, y = x + 0.01 * vx, y + 0.01 * vy
    yield from np.transpose([sixth(x), sixth(y), sixth(vx), sixth(vy)])
    # PageRank
    first, source, degree = [0, 2, 4, 5, 7, 8, 10], [1, 2, 0, 3, 4, 5, 0, 1, 2, 3], [2, 2, 2, 2, 1, 1]
    rank = [1 / 6] * 6
    while True:
        new = [0.15 / 6 + 0.85 * math.fsum(rank[source[e]] / degree[source[e]] for e in range(first[k], first[k + 1])) for k in range(6)]
        change, rank = math.fsum(abs(a - b) for a, b in zip(new, rank)), new
        if change < 1e-9:
            break
    yield from ([v] for v in rounded(np.array(rank) * 1e9))
    # Floyd-Warshall
    d = np.array([0 if k // 12 == k % 12 else (k * 37 % 23 + 1) * 3 for k in range(144)]).reshape(12, 12)
    for k in range(12):
        d = np.minimum(d, d[:, k, None] + d[k])
    yield [d.sum()]


def sums(a):
    a = np.asarray(a).ravel()
    return [int(a.sum()), int((a * (np.arange(a.size) % 11)).sum())]


def around(a, border, compute):
    """A stencil of one place before and behind."""
    to = np.full_like(a, border)
    to[1:-1] = compute(a[:-2], a[1:-1], a[2:])
    return to


def ikra_stencils():
    a, b = np.arange(1, 1196), np.arange(1, 1196)
    index = np.arange(1, 1194) % 11
    for _ in range(9):
        a = around(a, 5, lambda p, q, r: p - q + r + 1)
        b = around(b, 5, lambda p, q, r: p - q + r + 1 + index)
    c = np.arange(100)
    for _ in range(10):
        c = around(c, 10000, lambda p, q, r: p - q + r)
    yield from (sums(a), sums(b), sums(c))
    # Until a sum is reached
    for a, bound in ((np.arange(102900) % 7, 10_000_000),):
        while a.sum() < bound:
            a = a + 1
        yield sums(a)
    for n, bound in ((902, 10_000), (90210, 10_000_000)):
        a = np.arange(n) % 2
        while a.sum() < bound:
            a = around(a, 1, lambda p, q, r: p - q - r + 7)
        yield sums(a)
    a = np.arange(100)
    while a.sum() < 5400:
        a = a + 1
    yield sums(a)


def nth(axes, k):
    return np.choose(k, axes)


def mixed(axes, v, m):
    return (v % m + v // 97) % 97717 + nth(axes, nth(axes, nth(axes, v % 4) % 4) % 4) * (v % 7) % 99


def ikra_micro():
    axes = i, j, k, l = np.indices((4, 5, 6, 2)).reshape(4, -1)
    first = (i + j) % (l + nth(axes, j % 4) + 7)
    v = first
    for m in range(938, 948):
        v = mixed(axes, v, m)
    yield sums(v)
    v = (7 + i + j + k + l) % 1337
    for _ in range(10):
        v = (v + i + j + k + l) % 1337
    yield sums(v)
    v = first
    for _ in range(500):
        v = mixed(axes, v, 938)
    yield sums(v)
    v = k % 133777
    for _ in range(500):
        v = (v + k) % 13377
    yield sums(v)
    v = k % 133777
    for _ in range(100):
        for by, m in ((k, 13377), (j, 13377), (l, 1337), (i, 13377), (j, 1377)):
            v = (v + by) % m
    yield sums(v)
    v = k % 133777
    for step in range(200):
        if step % 2 == 0:
            v = (v + l) % 77689 if step % 3 == 0 else (v + i) % 11799
        else:
            v = ((v + k) % 1337 + k) % 8888888
        v = (v + k) % 6678
    yield sums(v)
    v = first.reshape(4, 5, 12)
    inner = axes.reshape(4, 4, 5, 12)[:, 1:-1, 1:]
    for _ in range(200):
        to = np.full_like(v, 37)
        chained = nth(inner, nth(inner, nth(inner, v[2:, 1:] % 4) % 4) % 4)
        to[1:-1, 1:] = (v[:-2, 1:] % 938 + v[1:-1, 1:] // 97) % 97717 + chained * (v[:-2, :-1] % 7) % 99
        v = to
    yield sums(v)


def hue(h):
    x = 1 - abs(h % 2 - 1)
    red, green, blue = [(1, x, 0), (x, 1, 0), (0, 1, x), (0, x, 1), (x, 0, 1), (1, 0, x)][int(h)]
    return int(red * 255) * 65536 + int(green * 255) * 256 + int(blue * 255)


def ikra_loops():
    yield sums([sum(range(1, j + 1)) for j in range(100)])
    yield sums([sum(range(1, j)) for j in range(100)])
    yield sums([j * (j + 1) // 2 for j in range(100)])
    for _ in range(2):
        yield sums([55] * 100)
    integers = list(range(1, 101))
    for values in (integers, [x + 0.1 for x in integers], [x if x % 2 == 0 else x + 100.0 for x in integers]):
        yield [math.fsum(math.fsum(values[:j]) for j in range(100))]
    yield sums([-1] * 100)
    yield sums(np.arange(1, 512) + 9)
    yield sums(np.arange(1, 51101) + 999)
    yield from ikra_stencils()
    yield from ([row * 10 + col + 5 * (1000 * row + 100 * col)] for row in range(2) for col in range(3))
    row, col = np.indices((7, 5))
    a = 10 * row + col
    for _ in range(3):
        to = np.full_like(a, 10000)
        to[1:, 1:-1] = a[:-1, :-2] + a[1:, :-2] + a[1:, 2:] + a[1:, 1:-1] + (col - row)[1:, 1:-1]
        a = to
    yield from ([v] for v in a.ravel())
    x = np.arange(1, 512)
    yield sums(x + 10 + x + 100)
    yield from ikra_micro()
    x = np.arange(30000)
    yield sums((x % 25000) * ((x + 101) % 25000))
    yield sums((x % 25000) * ((x + 101) % 25000))
    yield sums([hue(col * 6.0 / 100) for _ in range(40) for col in range(100)])
    x = (np.arange(75 * 75) * 17 + 6).reshape(75, 75)
    yield sums((x % 27) @ (x % 29))


def traffic():
    n = np.arange(40)
    length, fastest, dice, degree = 0.25 + n * 7 % 11 * 0.35, 30.0 + n % 4 * 25, n * 37 % 101, 1 + n % 3
    first, to = np.concatenate(([0], np.cumsum(degree)[:-1])), np.arange(79) * 17 % 40
    n = np.arange(500)
    car, top, street, progress = n % 4 != 3, 40.0 + n % 9 * 15, n * 13 % 40, n % 5 * 0.04
    for _ in range(300):
        walk = remainder(dice[(progress * progress).astype(int) % 20], 7) - 2
        progress = progress + np.where(car, np.minimum(top, fastest[street]) * 0.9, walk) / 60
        end = progress >= length[street]
        street = np.where(end, to[first[street] + dice[street] % degree[street]], street)
        progress = np.where(end, 0.0, progress)
    for kind in (True, False):
        mine = rounded(progress[car == kind] * 1e9)
        yield [int(not kind), street[car == kind].sum(), mine.sum(), mine.size, mine.max()]
    counts = np.bincount(street)
    yield [counts.max(), np.count_nonzero(counts)]


def pulse_propagation():
    points = 100
    fourier = np.array([0.49, -1.02, 1.11, -1.57, 0.83, -0.42, 0.26, -0.16, 0.10, -0.07, 0.04, -0.03, 0.01, -0.02, 0.0, -0.01])
    angles = np.arange(1, points + 1)[:, None] * 2 * np.pi / points
    shape = (np.cos(np.arange(16) * angles) * fourier).sum(1)
    strength, phase = np.abs(shape) / np.abs(shape).max(), np.where(shape < 0, np.pi, 0.0)
    gamma = 1e6 / (1000 * 360 / 180) / ((strength * np.cos(phase)).sum() / points)
    turn = 2 * np.pi * 1e-6 * gamma * 1000 / points

    def y(b):
        return np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])

    def z(b):
        return np.array([[np.cos(b), -np.sin(b), 0], [np.sin(b), np.cos(b), 0], [0, 0, 1]])

    for x in range(20):
        offset = (-5000 + x * 500) / gamma
        product = np.eye(3)
        for a, p in zip(strength, phase):
            theta, alpha = np.arctan2(a, offset), turn * np.hypot(a, offset)
            product = z(p) @ y(theta) @ z(alpha) @ y(-theta) @ z(-p) @ product
        yield sixth(product[:, 2])


def normal(x):
    size = abs(x)
    k = 1 / (1 + 0.2316419 * size)
    w = 1 - math.exp(-size * size / 2) / math.sqrt(2 * math.pi) * (
        0.31938153 * k - 0.356563782 * k**2 + 1.781477937 * k**3 - 1.821255978 * k**4 + 1.330274429 * k**5)
    return 1 - w if x < 0 else w


def black_scholes(call, spot, strike, years, r, v):
    d1 = ((r + v * v / 2) * years + math.log(spot / strike)) / (v * math.sqrt(years))
    d2 = d1 - v * math.sqrt(years)
    z = math.exp(-r * years) * strike
    return spot * normal(d1) - z * normal(d2) if call else z * normal(-d2) - spot * normal(-d1)


def parakeet_grids():
    n = 30
    rounds = []
    for row in range(n):
        for col in range(n):
            x, y, k = row * 3 / (n - 1) - 1.5, col * 3 / (n - 1) - 1.5, 0
            while x * x + y * y < 1e6:
                x, y, k = x * x - y * y + 0.285, 2 * x * y + 0.01, k + 1
            rounds.append(k)
    yield [sum(rounds), sum(k * place for place, k in enumerate(rounds))]
    u = np.zeros((21, 21))
    u[10, 10] = 1000
    for _ in range(50):
        to = np.zeros_like(u)
        to[1:-1, 1:-1] = 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        u = to
    yield [math.fsum(np.abs(u).ravel())]
    n = 12
    grid = np.add.outer(np.arange(n) * 7, np.arange(n) * 3) % 11 * 1.0
    old = np.zeros((n, n))
    for _ in range(20):
        before, old = old, grid.copy()
        for x in range(n):
            for y in range(n):
                total = old[x + 1, y] if x + 1 < n else 0.0
                total += old[x - 1, y] if x - 1 > 0 else 0.0
                total += old[x, y + 1] if y + 1 < n else 0.0
                total += old[x, y - 1] if y - 1 > 0 else 0.0
                grid[x, y] = total / 2 - before[x, y]
    yield [math.fsum(np.abs(grid).ravel())]


def parakeet_products():
    row, col = np.indices((10, 10))
    a, b = (row * 7 + col * 3) % 11, (row * 5 + col * 2) % 13
    yield [(a[:, :, None] + b).min(1).sum()]
    shared = np.minimum(a[:, None], a).sum(2)
    yield [shared.sum(), shared.max()]
    square = ((a[:, None] - b) ** 2).sum(2)
    yield [square.sum(), square.min()]
    t = (np.arange(81) ** 2 % 7 * 1.0).reshape(3, 3, 3, 3)
    row, col = np.indices((3, 3))
    g = (row * 2 + col) % 3 + 0.5
    turned = np.einsum("pi,qj,rk,sl,pqrs->ijkl", g, g, g, g, t)
    yield [math.fsum(turned.ravel()), turned.max()]
    n = np.arange(20)
    masses = np.array([n * 0.3, n % 5 * 0.7, n % 3 * 1.1]).T
    points = np.array([[0.5 + x, x * 0.25, 2.5] for x in range(10)])
    distance = np.sqrt(((points[:, None] - masses) ** 2).sum(2))
    yield [sixth(((1.0 + n % 4) / distance).sum(1)).sum()]
    n = np.arange(8)
    phi, theta = 0.1 * n, 1.3 - 0.2 * n
    half = np.sin((theta - theta[:, None]) / 2) ** 2 + np.cos(theta) * np.cos(theta[:, None]) * np.sin((phi - phi[:, None]) / 2) ** 2
    yield [sixth(2 * np.arctan2(np.sqrt(half), np.sqrt(1 - half))).sum()]
    place = np.arange(10) * 0.43
    by = place - place[:, None]
    by[by > 2] -= 4
    by[by < -2] += 4
    yield [sixth(np.where(by == 0, -1.0, np.sqrt(3) * np.abs(by))).sum()]


def parakeet_neighbours():
    x = np.arange(100) / 100
    d = np.empty(100)
    d[1:-1] = 200 * (x[1:-1] - x[:-2] ** 2) - 400 * (x[2:] - x[1:-1] ** 2) * x[1:-1] - 2 * (1 - x[1:-1])
    d[0], d[-1] = -400 * x[0] * (x[1] - x[0] ** 2) - 2 * (1 - x[0]), 200 * (x[-1] - x[-2] ** 2)
    yield [sixth(d).sum()]
    row, col = np.indices((12, 12))
    image = (row * row + col * 5) % 9 * 1.0
    dx, dy = (image[1:] - image[:-1])[:, 1:], (image[:, 1:] - image[:, :-1])[1:]
    a, b, c = dx * dx, dy * dy, dx * dy
    yield [sixth(a * b - c * c - 0.05 * (a + b) ** 2).sum()]
    row, col = np.indices((3, 3))
    weights = row - 2.0 * col
    conv = np.zeros((12, 12))
    for i in range(3):
        for j in range(3):
            conv[1:-1, 1:-1] += image[2 - i:12 - i, 2 - j:12 - j] * weights[i, j]
    yield [conv.sum(), conv.max()]
    padded = np.pad(image, ((0, 1), (0, 1)), constant_values=-1)
    yield [np.max([padded[i:12 + i, j:12 + j] for i in (0, 1) for j in (0, 1)], 0).sum()]
    cells = [int(k == 10) for k in range(21)]
    for _ in range(10):
        wide = [0, *cells, 0]
        cells = [30 >> (4 * wide[k] + 2 * wide[k + 1] + wide[k + 2]) & 1 for k in range(21)]
    yield [sum(cell << k for k, cell in enumerate(cells))]


def parakeet_loops():
    yield from parakeet_grids()
    yield from pulse_propagation()
    for k in range(8):
        yield [sixth(black_scholes(k % 2 == 0, 10.0 + k, 10.0, 2.0, 0.1 * (k % 3), 0.3))]
    yield from parakeet_products()
    yield from parakeet_neighbours()
    x = np.arange(200) * 7 % 13 * 1.0
    smooth = x.copy()
    for k in range(1, 200):
        smooth[k] = 0.01 * x[k] + 0.99 * smooth[k - 1]
    yield [sixth(smooth).sum(), sixth(smooth[-1])]
    yield [sum(n + n * n for n in range(1, 13))]
    primes = [n for n in range(2, 61) if all(n % i for i in range(2, n - 1))]
    yield [sum(primes), len(primes)]
    x = np.arange(1000) * 7 % 1000 / 1000
    slope, offset = np.polyfit(x, 903.29 * x + 102.1, 1)
    yield [sixth(slope), sixth(offset)]
    yield [sum(v < 2 for v in (1.2, 1.4, 5, 2, 3))]
    row, col = np.indices((20, 20))
    ink = (row >= 3) & (row <= 11) & (col >= 5) & (col <= 17) & (row * col % 7 == 1)
    yield [row[ink].min(), row[ink].max(), col[ink].min(), col[ink].max()]
    yield from ([mag, 1] for mag in range(10) if mag != 5)  # label 0 is that of 5 alone, whose largest is below 6
    row, col = np.indices((5, 8))
    hidden = np.tanh(((row * 3 + col * 5) % 7 - 3) / 4 @ (np.arange(8) / 8))
    yield [sixth(np.tanh(((np.arange(5) - 1.5) * hidden).sum()))]


def himeno():
    """Himeno's benchmark, p[i][j][k], by slices."""
    i = np.arange(129.0)[:, None, None]
    p = np.broadcast_to(i * i / (128 * 128), (129, 65, 65))
    for _ in range(4):
        # The benchmark's order, since what is left of the sum is near its rounding errors.
        after = p[2:, 1:-1, 1:-1] + p[1:-1, 2:, 1:-1] + p[1:-1, 1:-1, 2:]
        sides = after + p[:-2, 1:-1, 1:-1] + p[1:-1, :-2, 1:-1] + p[1:-1, 1:-1, :-2]
        residual = sides * (1 / 6) - p[1:-1, 1:-1, 1:-1]
        p = p.copy()
        p[1:-1, 1:-1, 1:-1] += 0.8 * residual
    yield [p[100, 30, 40]]
    yield [math.fsum(p.ravel())]
    yield from ([p[n].sum(0).max()] for n in (127, 128))
    yield [math.fsum((residual * residual).ravel())]


def spread(u):
    """A step of heat: what flows over each face between two neighbours."""
    made = u.copy()
    for axis in range(3):
        flow = np.diff(u, axis=axis) / 8
        pads = [[(1, 0) if a == axis else (0, 0) for a in range(3)], [(0, 1) if a == axis else (0, 0) for a in range(3)]]
        made += np.pad(flow, pads[1]) - np.pad(flow, pads[0])
    return made


def heat():
    box = np.zeros((20, 18, 16))
    box[3, 9, 0] = 1024
    u = box
    for _ in range(10):
        u = spread(u)
    yield [u.sum()]
    yield from ([value] for value in u.max((0, 1))[:4])
    u = box
    for _ in range(500):
        before, u = u, spread(u)
        if np.abs(u - before).max() < 0.0005:
            break
    yield from ([value] for value in np.trunc(u * 1000).sum((1, 2))[:4])
    yield [u[19, 17, 15] < u[3, 9, 0]]


def neighbours(a, mode):
    """An array for each of the nine places around, the row itself among them."""
    wide = np.pad(a, 1, mode=mode)
    return [wide[1 + i : 1 + i + a.shape[0], 1 + j : 1 + j + a.shape[1]] for i in (-1, 0, 1) for j in (-1, 0, 1)]


def images():
    row, col = np.indices((30, 30))
    board = (((row * 7 + col * 3) % 5 < 2) & ((row + col) % 3 > 0)).astype(int)
    for _ in range(25):
        around_it = sum(neighbours(board, "wrap")) - board
        board = ((around_it == 3) | (around_it == 2) & (board == 1)).astype(int)
    yield [((row * 30 + col) * board).sum()]
    blur = lambda p: sum(neighbours(p, "edge")) // 9
    sharpen = lambda p: np.clip(9 * p - sum(neighbours(p, "reflect")), 0, 255)
    blend = lambda p, o, ratio: (p * (1.0 - ratio) + o * ratio).astype(int)
    told = lambda p: [p.sum(), (p.ravel() * (np.arange(p.size) % 101)).sum()]
    row, col = np.indices((30, 40))
    tokyo, sunset, forest = (row * row * 3 + col * 11) % 256, np.minimum(255, row * 8), (row * 31 + col * col) % 200
    yield told(blur(blur(blur(tokyo))))
    yield told(blend(blur(blur(tokyo)), sunset, 0.3))
    yield told(blend(sharpen(tokyo), 255 - forest, 0.25))
    # Growcut, cell by cell
    row, col = np.indices((20, 20))
    grey = np.where(row + col > 19, 200 - row, 30 + col) + (row * 5 + col) % 40
    cells = {(int(i), int(j)): (0, 0) for i, j in np.ndindex(20, 20)}
    cells[2, 3], cells[16, 15] = (1_000_000, 1), (1_000_000, 2)
    moved = True
    while moved:
        new = {(i, j): max(((256 - abs(int(grey[i, j]) - int(grey[y, x]))) * cells[y, x][0] // 256, cells[y, x][1])
                           for y in range(i - 1, i + 2) for x in range(j - 1, j + 2) if (y, x) in cells) for i, j in cells}
        moved, cells = new != cells, new
    for k in (1, 2):
        mine = [strength for strength, colony in cells.values() if colony == k]
        yield [k, len(mine), sum(mine)]


def small_seeds():
    yield "himeno", himeno()
    yield "heat", heat()
    yield "collatz", [max(((n, collatz_steps(n, True)) for n in range(1, 10001)), key=lambda pair: (pair[1], -pair[0])),
                      [sum(collatz_steps(n, True) for n in range(1, 10001))]]
    yield "mandelbrot", [[sum(255 - (k - 1) % 256 for k in mandelbrot_rounds(100))]]


def numbers_of(line):
    bools = {"true": 1, "false": 0}
    return [bools[cell] if cell in bools else float(cell) if "." in cell or "e" in cell else int(cell) for cell in line.split("\t")]


def problem_of(name, expected):
    with open(os.path.join(harness.TESTS, "seeds", name + ".out"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    lines = lines[len(lines) - len(expected):] if lines and name in ("collatz",) else lines  # after what `explain` prints
    for number, (line, want) in enumerate(zip(lines, expected), 1):
        got = numbers_of(line)
        if len(got) != len(want) or any(abs(a - b) > TOLERANCE * abs(b) * isinstance(a, float) for a, b in zip(got, want)):
            return f"line {number}: {line}, not {[v.item() if hasattr(v, 'item') else v for v in want]}"
    return "" if len(lines) == len(expected) else f"{len(lines)} lines, not {len(expected)}"


def main():
    tally = harness.Tally("references")
    seeds = [("programs", programs()), ("ikra-loops", ikra_loops()), ("traffic", traffic()), ("parakeet-loops", parakeet_loops()),
             ("images", images()),
             *small_seeds()]
    for name, expected in seeds:
        tally.check(name, problem_of(name, [list(numbers) for numbers in expected]))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
