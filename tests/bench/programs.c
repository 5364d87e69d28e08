/* The programs of tests/bench/programs.py as plain loops on all threads: what a C programmer writes first, with tiles
   in the matrix products. A library for Python's ctypes; all arrays are the caller's.

   Loops and folds of the research systems Ikra and Parakeet, and PageRank; Ikra's micro benchmarks are in
   programs_ikra.c. Integers have the widths of the systems' own. */

#include "programs.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Points of a square of n by n; the rounds until each leaves a circle, at most 257. */
void mandelbrot(int64_t n, int32_t *grey)
{
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t row = 0; row < n; row++)
        for (int64_t col = 0; col < n; col++) {
            double cx = ((double)col / (double)n - 0.5) * 3 - 0.7, cy = ((double)row / (double)n - 0.5) * 3, x = 0,
                   y = 0;
            int k = 0;
            while (k < 257 && x * x + y * y <= 100) {
                double next = x * x - y * y + cx;
                y = 2 * x * y + cy;
                x = next;
                k++;
            }
            grey[row * n + col] = 255 - (k - 1) % 256;
        }
}

/* Rounds of z * z + c from the points of a square, at most `cutoff`. */
void julia(int64_t n, double cr, double ci, int64_t cutoff, int32_t *count)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t row = 0; row < n; row++)
        for (int64_t col = 0; col < n; col++) {
            double x = (double)row * 3 / (double)(n - 1) - 1.5, y = (double)col * 3 / (double)(n - 1) - 1.5;
            int32_t k = 0;
            while (x * x + y * y < 1e6 && k < cutoff) {
                double next = x * x - y * y + cr;
                y = 2 * x * y + ci;
                x = next;
                k++;
            }
            count[row * n + col] = k;
        }
}

/* The number up to n with the most steps to 1, and these steps. */
void collatz(int64_t n, int64_t *best)
{
    int64_t start = 1, most = 0;
#pragma omp parallel for schedule(dynamic, 4096)
    for (int64_t i = 1; i <= n; i++) {
        int64_t steps = 0;
        for (uint64_t a = (uint64_t)i; a != 1; steps++)
            a = (a % 2 == 0 ? a : 3 * a + 1) / 2;
        if (steps >= most)
#pragma omp critical
            if (steps > most || (steps == most && i < start)) {
                most = steps;
                start = i;
            }
    }
    best[0] = start;
    best[1] = most;
}

/* Rounds of u + mu * (neighbours - 4 u) on n by n points whose borders stay; the result is in u. */
void diffusion(int64_t n, int64_t rounds, double *u)
{
    double *other = malloc(sizeof *u * (size_t)(n * n)), *from = u, *to = other;
    memcpy(other, u, sizeof *u * (size_t)(n * n));
    for (int64_t round = 0; round < rounds; round++) {
#pragma omp parallel for
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = 1; j < n - 1; j++) {
                const double *p = from + i * n + j;
                to[i * n + j] = *p + 0.1 * (p[-n] + p[n] + p[-1] + p[1] - 4 * *p);
            }
        double *swap = from;
        from = to;
        to = swap;
    }
    if (from != u)
        memcpy(u, from, sizeof *u * (size_t)(n * n));
    free(other);
}

/* Rounds of the mean of four neighbours until none changes by `bound` or `most` are done; their number. */
int64_t jacobi(int64_t n, int64_t most, double bound, double *u)
{
    double *other = malloc(sizeof *u * (size_t)(n * n)), *from = u, *to = other;
    memcpy(other, u, sizeof *u * (size_t)(n * n));
    int64_t round = 0;
    for (double change = bound; round < most && change >= bound; round++) {
        change = 0;
#pragma omp parallel for reduction(max : change)
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = 1; j < n - 1; j++) {
                const double *p = from + i * n + j;
                double mean = (p[-n] + p[n] + p[-1] + p[1]) / 4, by = fabs(mean - *p);
                to[i * n + j] = mean;
                change = by > change ? by : change;
            }
        double *swap = from;
        from = to;
        to = swap;
    }
    if (from != u)
        memcpy(u, from, sizeof *u * (size_t)(n * n));
    free(other);
    return round;
}

/* Rounds of Conway's Life on a torus. */
void life(int64_t n, int64_t rounds, uint8_t *board)
{
    uint8_t *other = malloc((size_t)(n * n)), *from = board, *to = other;
    for (int64_t round = 0; round < rounds; round++) {
#pragma omp parallel for
        for (int64_t i = 0; i < n; i++) {
            const uint8_t *up = from + (i == 0 ? n - 1 : i - 1) * n, *here = from + i * n,
                          *down = from + (i == n - 1 ? 0 : i + 1) * n;
            for (int64_t j = 0; j < n; j++) {
                int64_t left = j == 0 ? n - 1 : j - 1, right = j == n - 1 ? 0 : j + 1;
                int around =
                    up[left] + up[j] + up[right] + here[left] + here[right] + down[left] + down[j] + down[right];
                to[i * n + j] = around == 3 || (around == 2 && here[j]);
            }
        }
        uint8_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != board)
        memcpy(board, from, (size_t)(n * n));
    free(other);
}

/* k means of n points, row by row; the centroids begin as the first k points. */
void k_means(int64_t n, int64_t columns, int64_t k, int64_t rounds, const double *points, double *centroids)
{
    memcpy(centroids, points, sizeof *points * (size_t)(k * columns));
    double *sums = malloc(sizeof *sums * (size_t)(k * (columns + 1)));
    for (int64_t round = 0; round < rounds; round++) {
        memset(sums, 0, sizeof *sums * (size_t)(k * (columns + 1)));
#pragma omp parallel for schedule(static) reduction(+ : sums[:k * (columns + 1)])
        for (int64_t i = 0; i < n; i++) {
            const double *point = points + i * columns;
            int64_t nearest = 0;
            double least = INFINITY;
            for (int64_t j = 0; j < k; j++) {
                double distance = 0;
                for (int64_t c = 0; c < columns; c++) {
                    double by = point[c] - centroids[j * columns + c];
                    distance += by * by;
                }
                if (distance < least) {
                    least = distance;
                    nearest = j;
                }
            }
            double *sum = sums + nearest * (columns + 1);
            for (int64_t c = 0; c < columns; c++)
                sum[c] += point[c];
            sum[columns]++;
        }
        for (int64_t j = 0; j < k; j++)
            for (int64_t c = 0; c < columns; c++)
                centroids[j * columns + c] = sums[j * (columns + 1) + c] / sums[j * (columns + 1) + columns];
    }
    free(sums);
}

enum { TILE = 64 };

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Products of n by n matrices. Sums of int32 have 64 bits. */
void product_integers(int64_t n, const int32_t *a, const int32_t *b, int64_t *c)
{
    memset(c, 0, sizeof *c * (size_t)(n * n));
#pragma omp parallel for
    for (int64_t rows = 0; rows < n; rows += TILE)
        for (int64_t ks = 0; ks < n; ks += TILE)
            for (int64_t cols = 0; cols < n; cols += TILE)
                for (int64_t row = rows; row < smaller(rows + TILE, n); row++)
                    for (int64_t k = ks; k < smaller(ks + TILE, n); k++)
                        for (int64_t col = cols; col < smaller(cols + TILE, n); col++)
                            c[row * n + col] += (int64_t)a[row * n + k] * b[k * n + col];
}

void product_floats(int64_t n, const double *a, const double *b, double *c)
{
    memset(c, 0, sizeof *c * (size_t)(n * n));
#pragma omp parallel for
    for (int64_t rows = 0; rows < n; rows += TILE)
        for (int64_t ks = 0; ks < n; ks += TILE)
            for (int64_t cols = 0; cols < n; cols += TILE)
                for (int64_t row = rows; row < smaller(rows + TILE, n); row++)
                    for (int64_t k = ks; k < smaller(ks + TILE, n); k++)
                        for (int64_t col = cols; col < smaller(cols + TILE, n); col++)
                            c[row * n + col] += a[row * n + k] * b[k * n + col];
}

/* The same with sums that compensate (Ogita, Rump and Oishi, "Accurate sum and dot product", 2005; the products are
 * rounded). */
void product_compensated(int64_t n, const double *a, const double *b, double *c)
{
    double *errors = calloc((size_t)(n * n), sizeof *errors);
    memset(c, 0, sizeof *c * (size_t)(n * n));
#pragma omp parallel for
    for (int64_t rows = 0; rows < n; rows += TILE)
        for (int64_t ks = 0; ks < n; ks += TILE)
            for (int64_t cols = 0; cols < n; cols += TILE)
                for (int64_t row = rows; row < smaller(rows + TILE, n); row++)
                    for (int64_t k = ks; k < smaller(ks + TILE, n); k++)
                        for (int64_t col = cols; col < smaller(cols + TILE, n); col++) {
                            double product = a[row * n + k] * b[k * n + col], before = c[row * n + col],
                                   sum = before + product;
                            double part = sum - before;
                            errors[row * n + col] += (before - (sum - part)) + (product - part);
                            c[row * n + col] = sum;
                        }
#pragma omp parallel for
    for (int64_t i = 0; i < n * n; i++)
        c[i] += errors[i];
    free(errors);
}

/* Agents on streets; a car drives as fast as it and the street can, a pedestrian walks by the street's dice. */
void traffic(int64_t agents, int64_t ticks, const int8_t *kind, const double *top, const double *fastest,
             const double *length, const int64_t *dice, const int64_t *first, const int64_t *degree, const int64_t *to,
             int64_t *street, double *progress)
{
    for (int64_t tick = 0; tick < ticks; tick++) {
#pragma omp parallel for
        for (int64_t i = 0; i < agents; i++) {
            int64_t s = street[i];
            double p = progress[i];
            p += (kind[i] == 0 ? fmin(top[i], fastest[s]) * 0.9 : (double)(dice[(int64_t)(p * p) % 20] % 7 - 2)) / 60;
            bool end = p >= length[s];
            street[i] = end ? to[first[s] + dice[s] % degree[s]] : s;
            progress[i] = end ? 0.0 : p;
        }
    }
}

/* PageRank by edges sorted by target, until the ranks change by less than `bound` together; the rounds. */
int64_t page_rank(int64_t n, double bound, const int64_t *first, const int32_t *from, const int32_t *degree,
                  double *rank)
{
    double *other = malloc(sizeof *rank * (size_t)n), *old = rank, *new = other, change = bound;
    int64_t round = 0;
    for (; round < 1000 && change >= bound; round++) {
        change = 0;
#pragma omp parallel for schedule(dynamic, 4096) reduction(+ : change)
        for (int64_t i = 0; i < n; i++) {
            double sum = 0;
            for (int64_t e = first[i]; e < first[i + 1]; e++)
                sum += old[from[e]] / degree[from[e]];
            new[i] = 0.15 / (double)n + 0.85 * sum;
            change += fabs(new[i] - old[i]);
        }
        double *swap = old;
        old = new;
        new = swap;
    }
    if (old != rank)
        memcpy(rank, old, sizeof *rank * (size_t)n);
    free(other);
    return round;
}

/* Bodies in a plane that attract each other; x, y, vx, vy change. */
void n_body(int64_t n, int64_t rounds, double dt, const double *m, double *state)
{
    double *x = state, *y = state + n, *vx = state + 2 * n, *vy = state + 3 * n;
    for (int64_t round = 0; round < rounds; round++) {
#pragma omp parallel for
        for (int64_t i = 0; i < n; i++) {
            double ax = 0, ay = 0;
            for (int64_t j = 0; j < n; j++) {
                double dx = x[j] - x[i], dy = y[j] - y[i], square = dx * dx + dy * dy + 0.01,
                       pull = m[j] / (square * sqrt(square));
                ax += pull * dx;
                ay += pull * dy;
            }
            vx[i] += dt * ax;
            vy[i] += dt * ay;
        }
        for (int64_t i = 0; i < n; i++) {
            x[i] += dt * vx[i];
            y[i] += dt * vy[i];
        }
    }
}

/* Shortest distances between all of n nodes. */
void shortest_paths(int64_t n, int64_t *d)
{
    for (int64_t k = 0; k < n; k++) {
#pragma omp parallel for
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                int64_t by = d[i * n + k] + d[k * n + j];
                d[i * n + j] = by < d[i * n + j] ? by : d[i * n + j];
            }
    }
}

/* Prices of options by Black and Scholes, with the polynomial for the normal distribution that Parakeet uses. */
static double normal(double x)
{
    double l = fabs(x), k = 1 / (1 + 0.2316419 * l);
    double w = 1 - 0.3989422804014327 * exp(-l * l / 2) * k *
                       (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
    return x < 0 ? 1 - w : w;
}

void black_scholes(int64_t n, const int8_t *call, const double *spot, const double *strike, const double *years,
                   double r, double v, double *price)
{
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        double d1 = ((r + v * v / 2) * years[i] + log(spot[i] / strike[i])) / (v * sqrt(years[i])),
               d2 = d1 - v * sqrt(years[i]);
        double z = exp(-r * years[i]) * strike[i];
        price[i] = call[i] ? spot[i] * normal(d1) - z * normal(d2) : z * normal(-d2) - spot[i] * normal(-d1);
    }
}

/* The sum of the products of two columns made of their places. */
int64_t dot_product(int64_t n)
{
    int64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += (i % 25000) * ((i + 101) % 25000);
    return sum;
}
