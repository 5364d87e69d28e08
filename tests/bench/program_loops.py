"""The loops of programs.c for Numba, with the same arguments."""

import math

import numpy as np
from numba import njit, prange

parallel = njit(parallel=True, error_model="numpy")


@parallel
def mandelbrot(n, grey):
    for row in prange(n):
        for col in range(n):
            cx, cy = (col / n - 0.5) * 3 - 0.7, (row / n - 0.5) * 3
            x, y, k = 0.0, 0.0, 0
            while k < 257 and x * x + y * y <= 100:
                x, y = x * x - y * y + cx, 2 * x * y + cy
                k += 1
            grey[row * n + col] = 255 - (k - 1) % 256


@parallel
def julia(n, cr, ci, cutoff, count):
    for row in prange(n):
        for col in range(n):
            x, y, k = row * 3 / (n - 1) - 1.5, col * 3 / (n - 1) - 1.5, 0
            while x * x + y * y < 1e6 and k < cutoff:
                x, y = x * x - y * y + cr, 2 * x * y + ci
                k += 1
            count[row * n + col] = k


@parallel
def steps_of(n, steps):
    for i in prange(1, n + 1):
        a, k = np.uint64(i), 0
        while a != 1:
            a = (a if a % np.uint64(2) == 0 else np.uint64(3) * a + np.uint64(1)) // np.uint64(2)
            k += 1
        steps[i] = k


def collatz(n, best):
    steps = np.zeros(n + 1, np.int32)
    steps_of(n, steps)
    best[0] = steps.argmax()
    best[1] = steps[best[0]]


@parallel
def diffusion(n, rounds, u):
    old, to = u, u.copy()
    for _ in range(rounds):
        for i in prange(1, n - 1):
            for j in range(1, n - 1):
                to[i, j] = old[i, j] + 0.1 * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1] - 4 * old[i, j])
        old, to = to, old
    u[:] = old


@parallel
def jacobi(n, most, bound, u):
    old, to = u, u.copy()
    for _ in range(most):
        change = 0.0
        for i in prange(1, n - 1):
            by = 0.0
            for j in range(1, n - 1):
                mean = (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1]) / 4
                by = max(by, abs(mean - old[i, j]))
                to[i, j] = mean
            change = max(change, by)
        old, to = to, old
        if change < bound:
            break
    u[:] = old


@parallel
def life(n, rounds, board):
    old, to = board, board.copy()
    for _ in range(rounds):
        for i in prange(n):
            up, down = (i - 1) % n, (i + 1) % n
            for j in range(n):
                left, right = (j - 1) % n, (j + 1) % n
                around = (old[up, left] + old[up, j] + old[up, right] + old[i, left] + old[i, right] + old[down, left]
                          + old[down, j] + old[down, right])
                to[i, j] = 1 if around == 3 or (around == 2 and old[i, j]) else 0
        old, to = to, old
    board[:] = old


@njit(inline="always")
def nth(k, a, b, c, d):
    return a if k == 0 else b if k == 1 else c if k == 2 else d


@njit(inline="always")
def mixed(v, m, a, b, c, d):
    chained = nth(nth(nth(v % 4, a, b, c, d) % 4, a, b, c, d) % 4, a, b, c, d)
    return (v % m + v // 97) % 97717 + chained * (v % 7) % 99


@njit(inline="always")
def first_value(a, b, c, d):
    return (a + b) % (d + nth(b % 4, a, b, c, d) + 7)


@parallel
def ikra_map(i, j, k, cells):
    for cell in prange(i * j * k * 2):
        a, b, c, d = cell // (2 * k * j), cell // (2 * k) % j, cell // 2 % k, cell % 2
        v = first_value(a, b, c, d)
        for m in range(938, 948):
            v = mixed(v, m, a, b, c, d)
        cells[cell] = v


@parallel
def ikra_map_simple(i, j, k, rounds, cells):
    for cell in prange(i * j * k * 2):
        total = cell // (2 * k * j) + cell // (2 * k) % j + cell // 2 % k + cell % 2
        v = (7 + total) % 1337
        for _ in range(rounds):
            v = (v + total) % 1337
        cells[cell] = v


@parallel
def ikra_iterate(i, j, k, rounds, cells):
    for cell in prange(i * j * k * 2):
        a, b, c, d = cell // (2 * k * j), cell // (2 * k) % j, cell // 2 % k, cell % 2
        v = first_value(a, b, c, d)
        for _ in range(rounds):
            v = mixed(v, 938, a, b, c, d)
        cells[cell] = v


@parallel
def ikra_iterate_simple(i, j, k, rounds, cells):
    for cell in prange(i * j * k * 2):
        c = cell // 2 % k
        v = c % 133777
        for _ in range(rounds):
            v = (v + c) % 13377
        cells[cell] = v


@parallel
def ikra_iterate_five(i, j, k, rounds, cells):
    for cell in prange(i * j * k * 2):
        a, b, c, d = cell // (2 * k * j), cell // (2 * k) % j, cell // 2 % k, cell % 2
        v = c % 133777
        for _ in range(rounds):
            v = (v + c) % 13377
            v = (v + b) % 13377
            v = (v + d) % 1337
            v = (v + a) % 13377
            v = (v + b) % 1377
        cells[cell] = v


@parallel
def ikra_iterate_complex(i, j, k, rounds, cells):
    for cell in prange(i * j * k * 2):
        a, c, d = cell // (2 * k * j), cell // 2 % k, cell % 2
        v = c % 133777
        for step in range(rounds):
            if step % 2 == 0:
                v = (v + d) % 77689 if step % 3 == 0 else (v + a) % 11799
            else:
                v = ((v + c) % 1337 + c) % 8888888
            v = (v + c) % 6678
        cells[cell] = v


@parallel
def ikra_stencil(i, j, k, rounds, cells):
    line, plane, count = 2 * k, 2 * k * j, 2 * k * j * i
    for cell in prange(count):
        cells[cell] = first_value(cell // plane, cell // line % j, cell // 2 % k, cell % 2)
    old, to = cells, np.empty_like(cells)
    for _ in range(rounds):
        for cell in prange(count):
            a, b, c, d = cell // plane, cell // line % j, cell // 2 % k, cell % 2
            if a == 0 or a == i - 1 or b == 0:
                to[cell] = 37
            else:
                chained = nth(nth(nth(old[cell + plane] % 4, a, b, c, d) % 4, a, b, c, d) % 4, a, b, c, d)
                to[cell] = ((old[cell - plane] % 938 + old[cell] // 97) % 97717
                            + chained * (old[cell - plane - line] % 7) % 99)
        old, to = to, old
    cells[:] = old


@parallel
def ikra_host_section(n, bound, a):
    old, to = a, a.copy()
    while True:
        total = 0
        for i in prange(n):
            total += old[i]
        if total >= bound:
            break
        for i in prange(n):
            to[i] = 1 if i == 0 or i == n - 1 else old[i - 1] - old[i] - old[i + 1] + 7
        old, to = to, old
    a[:] = old


@parallel
def nearest_of(n, columns, k, points, centroids, nearest):
    for i in prange(n):
        least = math.inf
        for j in range(k):
            distance = 0.0
            for c in range(columns):
                by = points[i, c] - centroids[j, c]
                distance += by * by
            if distance < least:
                least = distance
                nearest[i] = j


@njit
def means_of(n, columns, k, points, centroids, nearest):
    counts = np.zeros(k)
    centroids[:] = 0
    for i in range(n):
        j = nearest[i]
        counts[j] += 1
        for c in range(columns):
            centroids[j, c] += points[i, c]
    for j in range(k):
        for c in range(columns):
            centroids[j, c] /= counts[j]


def k_means(n, columns, k, rounds, points, centroids):
    centroids[:] = points[:k]
    nearest = np.empty(n, np.int64)
    for _ in range(rounds):
        nearest_of(n, columns, k, points, centroids, nearest)
        means_of(n, columns, k, points, centroids, nearest)


@parallel
def product_integers(n, a, b, c):
    for row in prange(n):
        c[row] = 0
        for k in range(n):
            for col in range(n):
                c[row, col] += np.int64(a[row, k]) * b[k, col]


@parallel
def product_floats(n, a, b, c):
    for row in prange(n):
        c[row] = 0
        for k in range(n):
            for col in range(n):
                c[row, col] += a[row, k] * b[k, col]


@parallel
def traffic(agents, ticks, kind, top, fastest, length, dice, first, degree, to, street, progress):
    for _ in range(ticks):
        for i in prange(agents):
            s, p = street[i], progress[i]
            p += (min(top[i], fastest[s]) * 0.9 if kind[i] == 0 else float(dice[int(p * p) % 20] % 7 - 2)) / 60
            if p >= length[s]:
                street[i], p = to[first[s] + dice[s] % degree[s]], 0.0
            progress[i] = p


@parallel
def ranked(n, first, source, degree, old, new):
    change = 0.0
    for i in prange(n):
        total = 0.0
        for e in range(first[i], first[i + 1]):
            total += old[source[e]] / degree[source[e]]
        new[i] = 0.15 / n + 0.85 * total
        change += abs(new[i] - old[i])
    return change


def page_rank(n, bound, first, source, degree, rank):
    old, new = rank, rank.copy()
    for _ in range(1000):
        change = ranked(n, first, source, degree, old, new)
        old, new = new, old
        if change < bound:
            break
    rank[:] = old


@parallel
def n_body(n, rounds, dt, m, state):
    x, y, vx, vy = state[0], state[1], state[2], state[3]
    for _ in range(rounds):
        for i in prange(n):
            ax, ay = 0.0, 0.0
            for j in range(n):
                dx, dy = x[j] - x[i], y[j] - y[i]
                square = dx * dx + dy * dy + 0.01
                pull = m[j] / (square * math.sqrt(square))
                ax += pull * dx
                ay += pull * dy
            vx[i] += dt * ax
            vy[i] += dt * ay
        x += dt * vx
        y += dt * vy


@parallel
def shortest_paths(n, d):
    for k in range(n):
        for i in prange(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])


@njit(inline="always")
def normal(x):
    size = abs(x)
    k = 1 / (1 + 0.2316419 * size)
    w = 1 - 0.3989422804014327 * math.exp(-size * size / 2) * k * (
        0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    return 1 - w if x < 0 else w


@parallel
def black_scholes(n, call, spot, strike, years, r, v, price):
    for i in prange(n):
        d1 = ((r + v * v / 2) * years[i] + math.log(spot[i] / strike[i])) / (v * math.sqrt(years[i]))
        d2 = d1 - v * math.sqrt(years[i])
        z = math.exp(-r * years[i]) * strike[i]
        price[i] = spot[i] * normal(d1) - z * normal(d2) if call[i] else z * normal(-d2) - spot[i] * normal(-d1)


@parallel
def dot_product(n):
    total = 0
    for i in prange(n):
        total += (i % 25000) * ((i + 101) % 25000)
    return total
