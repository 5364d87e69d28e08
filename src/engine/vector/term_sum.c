#include "engine/vector/product_sum.h"

#include "base/cpu_dispatch.h"

#include <string.h>

/* One cache line, which the compiler splits into the registers that there are. */
enum { LINE_BYTES = 64, LINE = LINE_BYTES / sizeof(double) };
typedef double doubles __attribute__((vector_size(LINE_BYTES)));

/* Sums of LINE lanes from `lane`. */
static inline __attribute__((always_inline)) void add_line(const struct term_sum *sum, int lane, int rounds,
                                                           bool squares)
{
    doubles sums[TERM_SUM_ROUNDS];
    for (int r = 0; r < rounds; r++)
        sums[r] = -(doubles){0}; /* -0.0 + x is x, also where that is -0.0 */
    for (int k = 0; k < sum->terms; k++) {
        const double *y = sum->y + (size_t)k * TERM_SUM_ROUNDS;
        doubles x;
        memcpy(&x, sum->x[k] + lane, sizeof x);
#pragma GCC unroll 8
        for (int r = 0; r < rounds; r++) {
            const doubles factor = squares ? x - y[r] : x, term = squares ? factor * factor : factor * y[r];
            sums[r] += term;
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < rounds; r++)
        memcpy(sum->out + r * sum->out_round + lane, &sums[r], sizeof *sums);
}

/* Sums of whole lines; the last may begin within the one before. */
static inline __attribute__((always_inline)) void add_lines(const struct term_sum *sum, int rounds, bool squares)
{
    for (int lane = 0; lane + LINE <= sum->lanes; lane += LINE)
        add_line(sum, lane, rounds, squares);
    if (sum->lanes % LINE != 0)
        add_line(sum, sum->lanes - LINE, rounds, squares);
}

/* The compiler keeps the sums in registers where it knows the number of rounds. */
static inline __attribute__((always_inline)) void add_rounds(const struct term_sum *sum, bool squares)
{
    switch (sum->rounds) {
    case 1:
        add_lines(sum, 1, squares);
        break;
    case 2:
        add_lines(sum, 2, squares);
        break;
    case 3:
        add_lines(sum, 3, squares);
        break;
    case 4:
        add_lines(sum, 4, squares);
        break;
    case 5:
        add_lines(sum, 5, squares);
        break;
    case 6:
        add_lines(sum, 6, squares);
        break;
    case 7:
        add_lines(sum, 7, squares);
        break;
    default:
        add_lines(sum, TERM_SUM_ROUNDS, squares);
    }
}

CPU_CLONES static void add_squares(const struct term_sum *sum)
{
    add_rounds(sum, true);
}

CPU_CLONES static void add_products(const struct term_sum *sum)
{
    add_rounds(sum, false);
}

static double sum_of_lane(const struct term_sum *sum, int lane, int round)
{
    double result = -0.0;
    for (int k = 0; k < sum->terms; k++) {
        const double x = sum->x[k][lane], y = sum->y[(size_t)k * TERM_SUM_ROUNDS + (size_t)round];
        const double term = sum->squares ? (x - y) * (x - y) : x * y;
        result += term;
    }
    return result;
}

void term_sum_compute(const struct term_sum *sum)
{
    if (sum->lanes >= LINE && sum->squares) {
        add_squares(sum);
    } else if (sum->lanes >= LINE) {
        add_products(sum);
    } else {
        for (int r = 0; r < sum->rounds; r++) {
            for (int lane = 0; lane < sum->lanes; lane++)
                sum->out[r * sum->out_round + lane] = sum_of_lane(sum, lane, r);
        }
    }
}
