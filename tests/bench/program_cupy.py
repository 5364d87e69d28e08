"""The programs of tests/bench/program_cases.py in CuPy, and the calls of the CUDA loops in programs.cu.

    PEERS[KEY](cp, cuda, case, size) gives {contestant: (run, answer)}

where run() does all the work on fresh copies of what it changes, and leaves it on the device, and answer(result) is the list
of numbers that must agree with rql's. cuda is None where there is no library. CuPy's forms are its fastest: one elementwise
kernel a round, in which a loop of each row stays; reductions, sparse and dense products are the library's.
"""

import numpy as np


def address(array):
    return array.data.ptr


def mandelbrot(cp, cuda, case, size):
    n = size(1000, 40)
    kernel = cp.ElementwiseKernel("int64 n", "int32 grey", """
        double cx = ((double)(i % n) / n - 0.5) * 3 - 0.7, cy = ((double)(i / n) / n - 0.5) * 3, x = 0, y = 0;
        int k = 0;
        while (k < 257 && x * x + y * y <= 100) {
            double next = x * x - y * y + cx;
            y = 2 * x * y + cy;
            x = next;
            k++;
        }
        grey = 255 - (k - 1) % 256;""", "mandelbrot")
    grey = cp.empty(n * n, np.int32)

    def by_cuda():
        cuda.mandelbrot(n, address(grey))
        return grey

    return {"CuPy": (lambda: kernel(n, grey), lambda r: [int(r.sum(dtype=np.int64))]),
            "CUDA": (by_cuda, lambda r: [int(r.sum(dtype=np.int64))])}


def julia(cp, _, case, size):
    n = size(1200, 40)
    kernel = cp.ElementwiseKernel("int64 n", "int32 count", """
        double x = (double)(i / n) * 3 / (n - 1) - 1.5, y = (double)(i % n) * 3 / (n - 1) - 1.5;
        int k = 0;
        while (x * x + y * y < 1e6 && k < 1000000) {
            double next = x * x - y * y + 0.285;
            y = 2 * x * y + 0.01;
            x = next;
            k++;
        }
        count = k;""", "julia")
    count = cp.empty(n * n, np.int32)
    return {"CuPy": (lambda: kernel(n, count), lambda r: [int(r.sum(dtype=np.int64))])}


def collatz(cp, cuda, case, size):
    n = size(1_000_000, 3000)
    kernel = cp.ElementwiseKernel("", "int32 steps", """
        int k = 0;
        for (unsigned long long a = i + 1; a != 1; k++)
            a = (a & 1 ? 3 * a + 1 : a) >> 1;
        steps = k;""", "collatz")
    steps, best = cp.empty(n, np.int32), cp.empty(1, np.uint64)

    def by_cupy():
        kernel(steps)
        at = steps.argmax()
        return at, steps[at]

    def by_cuda():
        cuda.collatz(n, address(best))
        return best

    return {"CuPy": (by_cupy, lambda r: [int(r[0]) + 1, int(r[1])]),
            "CUDA": (by_cuda, lambda r: [n - (int(r[0]) & 0xFFFFFFFF), int(r[0]) >> 32])}


def diffusion(n, rounds):
    def make(cp, cuda, case, size):
        side, count = size((n, rounds), (21, 30))
        start = cp.asarray(case.tables["u"])
        kernel = cp.ElementwiseKernel("float64 u, float64 a, float64 b, float64 c, float64 d", "float64 to",
                                      "to = u + 0.1 * (a + b + c + d - 4 * u)", "diffusion")

        def parts(u):
            return u[1:-1, 1:-1], u[:-2, 1:-1], u[2:, 1:-1], u[1:-1, :-2], u[1:-1, 2:]

        def by_cupy():
            u, to = start.copy(), start.copy()
            here, there = parts(u), parts(to)
            for k in range(count):
                if k % 2 == 0:
                    kernel(*here, there[0])
                else:
                    kernel(*there, here[0])
            return to if count % 2 else u

        def by_cuda():
            u, to = start.copy(), start.copy()
            cuda.diffusion(side, count, address(u), address(to))
            return u

        def by_group():
            u = start.copy()
            cuda.diffusion_group(side, count, address(u))
            return u

        def answer(u):
            return [float((u * u).sum())]

        return {"CuPy": (by_cupy, answer), "CUDA": (by_cuda, answer), **({"CUDA, one group": (by_group, answer)} if side < 115 else {})}

    return make


def jacobi(cp, cuda, case, size):
    n, bound = size((256, 1e-5), (16, 1e-4))
    start = cp.asarray(case.tables["u"])
    kernel = cp.ElementwiseKernel("float64 a, float64 b, float64 c, float64 d", "float64 to", "to = (a + b + c + d) / 4", "jacobi")
    change = cp.ReductionKernel("float64 a, float64 b", "float64 most", "fabs(a - b)", "fmax(a, b)", "most = a", "0", "change")

    def by_cupy():
        u, to = start.copy(), start.copy()
        for _ in range(10_000):
            kernel(u[:-2, 1:-1], u[2:, 1:-1], u[1:-1, :-2], u[1:-1, 2:], to[1:-1, 1:-1])
            u, to = to, u
            if float(change(u, to)) < bound:
                break
        return u

    def by_cuda():
        u, to = start.copy(), start.copy()
        return to if cuda.jacobi(n, 10_000, bound, address(u), address(to)) % 2 else u

    return {"CuPy": (by_cupy, lambda u: [float(u.sum())]), "CUDA": (by_cuda, lambda u: [float(u.sum())])}


def life(cp, cuda, case, size):
    n, rounds = size((1000, 100), (20, 10))
    start = cp.asarray(case.tables["board"]["cell"].copy())
    weight = cp.arange(n * n)
    kernel = cp.ElementwiseKernel("raw uint8 u, int32 n", "uint8 to", """
        int row = (int)i / n, col = (int)i % n, up = (row == 0 ? n - 1 : row - 1) * n, here = row * n;
        int down = (row == n - 1 ? 0 : row + 1) * n, left = col == 0 ? n - 1 : col - 1, right = col == n - 1 ? 0 : col + 1;
        int around = u[up + left] + u[up + col] + u[up + right] + u[here + left] + u[here + right] + u[down + left] + u[down + col]
            + u[down + right];
        to = around == 3 || (around == 2 && u[here + col]);""", "life")

    def by_cupy():
        u, to = start.copy(), start.copy()
        for _ in range(rounds):
            kernel(u, n, to)
            u, to = to, u
        return u

    def by_cuda():
        u, to = start.copy(), start.copy()
        cuda.life(n, rounds, address(u), address(to))
        return u

    def answer(u):
        return [int((u * weight).sum())]

    return {"CuPy": (by_cupy, answer), "CUDA": (by_cuda, answer)}


PLACE = """
    int a = i / (2 * k * j), b = i / (2 * k) % j, c = i / 2 % k, d = i % 2;
    auto nth = [&](int at) { return at == 0 ? a : at == 1 ? b : at == 2 ? c : d; };
    auto mixed = [&](int v, int m) { return (v % m + v / 97) % 97717 + nth(nth(nth(v % 4) % 4) % 4) * (v % 7) % 99; };
    int first = (a + b) % (d + nth(b % 4) + 7);
    """


def ikra(body, tiny=20):
    def make(cp, _, case, size):
        i, j, k = size((20, 500, 500), (4, 5, 6))
        count = i * j * k * 2
        kernel = cp.ElementwiseKernel("int32 j, int32 k, int32 rounds", "int32 v", PLACE + body, "ikra")
        cells, at = cp.empty(count, np.int32), cp.arange(count) % 1013
        rounds = size(100, tiny)
        return {"CuPy": (lambda: kernel(j, k, rounds, cells),
                         lambda r: [int(r.sum(dtype=np.int64)), int((r * at).sum(dtype=np.int64))])}

    return make


LOOP = "for (int round = 0; round < rounds; round++) "


def stencil(rounds, tiny):
    def make(cp, _, case, size):
        i, j, k = size((20, 500, 500), (4, 5, 6))
        total, times = i * j * k * 2, size(rounds, tiny)
        begin = cp.ElementwiseKernel("int32 j, int32 k", "int32 v", PLACE + "v = first;", "ikra_begin")
        kernel = cp.ElementwiseKernel("raw int32 from, int32 rows, int32 j, int32 k", "int32 v", PLACE + """
            int plane = 2 * k * j, line = 2 * k;
            if (a < 1 || a >= rows - 1 || i % plane < line)
                v = 37;
            else {
                int by = from[i + plane];
                v = (from[i - plane] % 938 + from[i] / 97) % 97717 + nth(nth(nth(by % 4) % 4) % 4) * (from[i - plane - line] % 7) % 99;
            }""", "ikra_stencil")
        u, to, at = cp.empty(total, np.int32), cp.empty(total, np.int32), cp.arange(total) % 1013

        def by_cupy():
            here, there = u, to
            begin(j, k, here)
            for _ in range(times):
                kernel(here, i, j, k, there)
                here, there = there, here
            return here

        return {"CuPy": (by_cupy, lambda r: [int(r.sum(dtype=np.int64)), int((r * at).sum(dtype=np.int64))])}

    return make


def host_map(cp, _, case, size):
    rounds = size(99_999, 100)

    def by_cupy():
        a = cp.arange(1, 512)
        for _ in range(rounds):
            cp.add(a, 1, out=a)
        return a

    return {"CuPy": (by_cupy, lambda a: [int(a.sum())])}


def host_stencil(cp, _, case, size):
    n, bound = size((90210, 10_000_000), (1000, 100_000))
    kernel = cp.ElementwiseKernel("int64 a, int64 b, int64 c", "int64 to", "to = a - b - c + 7", "host_stencil")

    def by_cupy():
        u, to = cp.arange(n) % 2, cp.ones(n, np.int64)
        u_sum = int(u.sum())
        first = True
        while u_sum < bound:
            kernel(u[:-2], u[1:-1], u[2:], to[1:-1])
            u, to = to, u
            if first:
                to[0] = to[-1] = 1
                first = False
            u_sum = int(u.sum())
        return u

    return {"CuPy": (by_cupy, lambda a: [int(a.sum())])}


def dot(cp, _, case, size):
    n = size(30_000_000, 1000)
    product = cp.ReductionKernel("int64 at", "int64 sum", "(at % 25000) * ((at + 101) % 25000)", "a + b", "sum = a", "0", "dot")
    return {"CuPy": (lambda: product(cp.arange(n)), lambda r: [int(r)])}


def k_means(columns, k):
    def make(cp, _, case, size):
        rounds = size(5, 3)
        points = case.tables["points"]
        data = [cp.asarray(points[name].copy()) for name in points.dtype.names]
        matrix = cp.stack(data, axis=1)
        nearest_of = cp.ElementwiseKernel("float64 x, float64 y, raw float64 c, int32 k", "int32 at", """
            double least = 1e300;
            for (int j = 0; j < k; j++) {
                double by = (x - c[2 * j]) * (x - c[2 * j]) + (y - c[2 * j + 1]) * (y - c[2 * j + 1]);
                if (by < least) { least = by; at = j; }
            }""", "nearest")

        def by_cupy():
            centroids = matrix[:k].copy()
            for _ in range(rounds):
                if columns == 2:
                    nearest = nearest_of(data[0], data[1], centroids, k)
                    sums = cp.stack([cp.bincount(nearest, values, k) for values in data], axis=1)
                else:
                    nearest = ((centroids * centroids).sum(1) - 2 * (matrix @ centroids.T)).argmin(1)
                    sums = (nearest == cp.arange(k)[:, None]).astype(np.float64) @ matrix
                centroids = sums / cp.bincount(nearest, minlength=k)[:, None]
            return centroids

        return {"CuPy": (by_cupy, lambda c: [float(abs(c).sum())])}

    return make


def product(dtype):
    def make(cp, cuda, case, size):
        n = size(512, 24)
        floats = dtype == np.float64
        narrow_a, narrow_b = cp.asarray(case.tables["a"]), cp.asarray(case.tables["b"])
        a, b = (narrow_a, narrow_b) if floats else (narrow_a.astype(np.int64), narrow_b.astype(np.int64))
        result = cp.empty((n, n), np.float64 if floats else np.int64)

        def by_cuda():
            (cuda.product_floats if floats else cuda.product_integers)(n, address(narrow_a), address(narrow_b), address(result))
            return result

        def answer(m):
            return [float(abs(m).sum())] if floats else [int(m.sum()), int((m % 1013).sum())]

        return {"CuPy": (lambda: a @ b, answer), "CUDA": (by_cuda, answer)}

    return make


def traffic(cp, cuda, case, size):
    ticks = size(2_000, 20)
    agents, streets = case.tables["agents"], case.tables["streets"]
    kind, top, place, progress = (cp.asarray(agents[name].copy()) for name in ("kind", "top", "street", "progress"))
    length, fastest, dice, degree = (cp.asarray(streets[name].copy()) for name in ("length", "fastest", "dice", "degree"))
    first, to = cp.asarray(case.tables["first"]), cp.asarray(case.tables["to"])
    kernel = cp.ElementwiseKernel(
        "int8 kind, float64 top, raw float64 fastest, raw float64 length, raw int64 dice, raw int64 first, raw int64 degree, raw int64 to, "
        "int32 ticks", "int64 street, float64 progress", """
        long long s = street;
        double p = progress;
        for (int tick = 0; tick < ticks; tick++) {
            p += (kind == 0 ? fmin(top, fastest[s]) * 0.9 : (double)(dice[(long long)(p * p) % 20] % 7 - 2)) / 60;
            if (p >= length[s]) {
                s = to[first[s] + dice[s] % degree[s]];
                p = 0;
            }
        }
        street = s;
        progress = p;""", "traffic")
    constants = (fastest, length, dice, first, degree, to)

    def by_cupy():
        s, p = place.copy(), progress.copy()
        kernel(kind, top, *constants, ticks, s, p)
        return s, p

    def by_ticks():  # a launch a tick, as a condition of all would need
        s, p = place.copy(), progress.copy()
        for _ in range(ticks):
            kernel(kind, top, *constants, 1, s, p)
        return s, p

    def by_cuda():
        s, p = place.copy(), progress.copy()
        cuda.traffic(len(agents), ticks, *map(address, (kind, top, fastest, length, dice, first, degree, to, s, p)))
        return s, p

    def answer(r):
        return [int(r[0].sum()), float(r[1].sum())]

    return {"CuPy": (by_cupy, answer), "CuPy, a launch a tick": (by_ticks, answer), "CUDA": (by_cuda, answer)}


def page_rank(cp, cuda, case, size):
    from cupyx.scipy import sparse

    n, bound = size((1_000_000, 1e-6), (100, 1e-6))
    first, source, degree = (cp.asarray(case.tables[name]) for name in ("first", "source", "degree"))
    links = sparse.csr_matrix((cp.ones(len(source)), source, first.astype(np.int32)), shape=(n, n))
    change = cp.ReductionKernel("float64 a, float64 b", "float64 sum", "fabs(a - b)", "a + b", "sum = a", "0", "change")
    rank_of = cp.ElementwiseKernel("float64 sum, float64 n", "float64 rank", "rank = 0.15 / n + 0.85 * sum", "rank")

    def by_cupy():
        rank = cp.full(n, 1 / n)
        for _ in range(1000):
            new = rank_of(links @ (rank / degree), float(n))
            by = float(change(new, rank))
            rank = new
            if by < bound:
                break
        return rank

    def by_cuda():
        rank, other, share = cp.full(n, 1 / n), cp.empty(n), cp.empty(n)
        odd = cuda.page_rank(n, bound, *map(address, (first, source, degree, rank, other, share))) % 2
        return other if odd else rank

    return {"CuPy": (by_cupy, lambda r: [float((r * r).sum())]), "CUDA": (by_cuda, lambda r: [float((r * r).sum())])}


def n_body(cp, _, case, size):
    rounds, dt = size((10, 0.01), (3, 0.01))
    bodies = case.tables["bodies"]
    start, m = [cp.asarray(bodies[name].copy()) for name in ("x", "y", "vx", "vy")], cp.asarray(bodies["m"].copy())
    pull = cp.ElementwiseKernel(
        "raw float64 x, raw float64 y, raw float64 m, int32 n", "float64 ax, float64 ay", """
        double sx = 0, sy = 0;
        for (int j = 0; j < n; j++) {
            double dx = x[j] - x[i], dy = y[j] - y[i], square = dx * dx + dy * dy + 0.01, by = m[j] / (square * sqrt(square));
            sx += by * dx;
            sy += by * dy;
        }
        ax = sx;
        ay = sy;""", "pull")
    n = len(bodies)
    ax, ay = cp.empty(n), cp.empty(n)

    def by_cupy():
        x, y, vx, vy = (values.copy() for values in start)
        for _ in range(rounds):
            pull(x, y, m, n, ax, ay)
            vx += dt * ax
            vy += dt * ay
            x += dt * vx
            y += dt * vy
        return x, vy

    return {"CuPy": (by_cupy, lambda r: [float(abs(r[0]).sum()), float(abs(r[1]).sum())])}


def shortest_paths(cp, cuda, case, size):
    n = size(200, 20)
    start = cp.asarray(case.tables["d"])
    kernel = cp.ElementwiseKernel("int64 a, int64 b", "int64 d", "d = min((long long)d, (long long)(a + b))", "paths")

    def by_cupy():
        d = start.copy()
        for k in range(n):
            kernel(d[:, k, None], d[k], d)
        return d

    def by_cuda():
        d = start.copy()
        cuda.shortest_paths(n, address(d))
        return d

    return {"CuPy": (by_cupy, lambda d: [int(d.sum())]), "CUDA": (by_cuda, lambda d: [int(d.sum())])}


def black_scholes(cp, _, case, size):
    options = case.tables["options"]
    call, spot, strike, years = (cp.asarray(options[name].copy()) for name in ("call", "S", "X", "T"))
    kernel = cp.ElementwiseKernel("int8 call, float64 s, float64 x, float64 t, float64 r, float64 v", "float64 price", """
        auto normal = [](double at) {
            double l = fabs(at), k = 1 / (1 + 0.2316419 * l);
            double w = 1 - 0.3989422804014327 * exp(-l * l / 2) * k *
                (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
            return at < 0 ? 1 - w : w;
        };
        double d1 = ((r + v * v / 2) * t + log(s / x)) / (v * sqrt(t)), d2 = d1 - v * sqrt(t), z = exp(-r * t) * x;
        price = call ? s * normal(d1) - z * normal(d2) : z * normal(-d2) - s * normal(-d1);""", "black_scholes")
    return {"CuPy": (lambda: kernel(call, spot, strike, years, 0.02, 0.3), lambda p: [float(p.sum())])}


PEERS = {
    "mandelbrot": mandelbrot, "julia": julia, "collatz": collatz, "diffusion": diffusion(1000, 1000),
    "diffusion101": diffusion(101, 1000), "jacobi": jacobi, "life": life,
    "map": ikra("v = mixed(mixed(mixed(mixed(mixed(first, 938), 939), 940), 941), 942);"
                "v = mixed(mixed(mixed(mixed(mixed(v, 943), 944), 945), 946), 947);"),
    "map_simple": ikra("int sum = a + b + c + d; v = (7 + sum) % 1337; for (int round = 0; round < 10; round++) v = (v + sum) % 1337;"),
    "iterate": ikra("int w = first; " + LOOP + "w = mixed(w, 938); v = w;"),
    "iterate_simple": ikra("int w = c % 133777; " + LOOP + "w = (w + c) % 13377; v = w;"),
    "iterate_five": ikra("int w = c % 133777; " + LOOP + "{ w = (w + c) % 13377; w = (w + b) % 13377; w = (w + d) % 1337; "
                         "w = (w + a) % 13377; w = (w + b) % 1377; } v = w;", 10),
    "iterate_complex": ikra("int w = c % 133777; " + LOOP + "{ w = round % 2 == 0 ? round % 3 == 0 ? (w + d) % 77689 "
                            ": (w + a) % 11799 : ((w + c) % 1337 + c) % 8888888; w = (w + c) % 6678; } v = w;", 12),
    "stencil": stencil(10, 3), "iterate_stencil": stencil(100, 7), "host_map": host_map, "host_stencil": host_stencil, "dot": dot,
    "k_means": k_means(2, 3), "k_means50": k_means(50, 25), "product_integers": product(np.int32),
    "product_floats": product(np.float64), "traffic": traffic, "page_rank": page_rank, "n_body": n_body,
    "shortest_paths": shortest_paths, "black_scholes": black_scholes,
}
