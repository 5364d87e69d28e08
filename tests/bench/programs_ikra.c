/* The micro benchmarks of Ikra (Springer, Wauligmann and Masuhara, "Modular Array-Based GPU Computing in a
   Dynamically-Typed Language", 2017) as plain loops; see programs.c. */

#include "programs.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Ikra's micro benchmarks work on i by j by k by 2 integers, and read their places. */
struct place {
    int32_t at[4];
};

static struct place place_of(int64_t cell, int64_t j, int64_t k)
{
    return (struct place){
        {(int32_t)(cell / (2 * k * j)), (int32_t)(cell / (2 * k) % j), (int32_t)(cell / 2 % k), (int32_t)(cell % 2)}};
}

static int32_t chained(struct place p, int32_t by)
{
    return p.at[p.at[p.at[by % 4] % 4] % 4];
}

static int32_t first_value(struct place p)
{
    return (p.at[0] + p.at[1]) % (p.at[3] + p.at[p.at[1] % 4] + 7);
}

static int32_t mixed(struct place p, int32_t by, int32_t divisor)
{
    return (by % divisor + by / 97) % 97717 + chained(p, by) * (by % 7) % 99;
}

/* Ten maps, each with its own constant. */
void ikra_map(int64_t i, int64_t j, int64_t k, int32_t *cells)
{
#pragma omp parallel for
    for (int64_t cell = 0; cell < i * j * k * 2; cell++) {
        struct place p = place_of(cell, j, k);
        int32_t value = mixed(p, mixed(p, mixed(p, mixed(p, mixed(p, first_value(p), 938), 939), 940), 941), 942);
        cells[cell] = mixed(p, mixed(p, mixed(p, mixed(p, mixed(p, value, 943), 944), 945), 946), 947);
    }
}

void ikra_iterate(int64_t i, int64_t j, int64_t k, int64_t rounds, int32_t *cells)
{
#pragma omp parallel for
    for (int64_t cell = 0; cell < i * j * k * 2; cell++) {
        struct place p = place_of(cell, j, k);
        int32_t value = first_value(p);
        for (int64_t round = 0; round < rounds; round++)
            value = mixed(p, value, 938);
        cells[cell] = value;
    }
}

void ikra_map_simple(int64_t i, int64_t j, int64_t k, int64_t rounds, int32_t *cells)
{
#pragma omp parallel for
    for (int64_t cell = 0; cell < i * j * k * 2; cell++) {
        struct place p = place_of(cell, j, k);
        int32_t sum = p.at[0] + p.at[1] + p.at[2] + p.at[3], value = (7 + sum) % 1337;
        for (int64_t round = 0; round < rounds; round++)
            value = (value + sum) % 1337;
        cells[cell] = value;
    }
}

void ikra_iterate_simple(int64_t i, int64_t j, int64_t k, int64_t rounds, int32_t *cells)
{
#pragma omp parallel for
    for (int64_t cell = 0; cell < i * j * k * 2; cell++) {
        int32_t by = place_of(cell, j, k).at[2], value = by % 133777;
        for (int64_t round = 0; round < rounds; round++)
            value = (value + by) % 13377;
        cells[cell] = value;
    }
}

void ikra_iterate_five(int64_t i, int64_t j, int64_t k, int64_t rounds, int32_t *cells)
{
#pragma omp parallel for
    for (int64_t cell = 0; cell < i * j * k * 2; cell++) {
        struct place p = place_of(cell, j, k);
        int32_t value = p.at[2] % 133777;
        for (int64_t round = 0; round < rounds; round++) {
            value = (value + p.at[2]) % 13377;
            value = (value + p.at[1]) % 13377;
            value = (value + p.at[3]) % 1337;
            value = (value + p.at[0]) % 13377;
            value = (value + p.at[1]) % 1377;
        }
        cells[cell] = value;
    }
}

void ikra_iterate_complex(int64_t i, int64_t j, int64_t k, int64_t rounds, int32_t *cells)
{
#pragma omp parallel for
    for (int64_t cell = 0; cell < i * j * k * 2; cell++) {
        struct place p = place_of(cell, j, k);
        int32_t value = p.at[2] % 133777;
        for (int64_t round = 0; round < rounds; round++) {
            if (round % 2 == 0)
                value = round % 3 == 0 ? (value + p.at[3]) % 77689 : (value + p.at[0]) % 11799;
            else
                value = ((value + p.at[2]) % 1337 + p.at[2]) % 8888888;
            value = (value + p.at[2]) % 6678;
        }
        cells[cell] = value;
    }
}

/* Rounds of a stencil that reads the cells before and behind on the first axis, and one before on the first two; where
   one is missing the value is 37. */
void ikra_stencil(int64_t i, int64_t j, int64_t k, int64_t rounds, int32_t *cells)
{
    int64_t line = 2 * k, plane = line * j, count = plane * i;
    int32_t *other = malloc(sizeof *cells * (size_t)count), *from = cells, *to = other;
#pragma omp parallel for
    for (int64_t cell = 0; cell < count; cell++)
        from[cell] = first_value(place_of(cell, j, k));
    for (int64_t round = 0; round < rounds; round++) {
#pragma omp parallel for
        for (int64_t cell = 0; cell < count; cell++) {
            struct place p = place_of(cell, j, k);
            bool border = p.at[0] == 0 || p.at[0] == i - 1 || p.at[1] == 0;
            to[cell] = border ? 37
                              : (from[cell - plane] % 938 + from[cell] / 97) % 97717 +
                                    chained(p, from[cell + plane]) * (from[cell - plane - line] % 7) % 99;
        }
        int32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != cells)
        memcpy(cells, from, sizeof *cells * (size_t)count);
    free(other);
}

/* Ikra's host section with a condition: rounds of a stencil as long as the sum is below `bound`; their number. */
int64_t ikra_host_section(int64_t n, int64_t bound, int64_t *a)
{
    int64_t *other = malloc(sizeof *a * (size_t)n), *from = a, *to = other, round = 0;
    for (;; round++) {
        int64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
        for (int64_t i = 0; i < n; i++)
            sum += from[i];
        if (sum >= bound)
            break;
#pragma omp parallel for
        for (int64_t i = 0; i < n; i++)
            to[i] = i == 0 || i == n - 1 ? 1 : from[i - 1] - from[i] - from[i + 1] + 7;
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != a)
        memcpy(a, from, sizeof *a * (size_t)n);
    free(other);
    return round;
}
