#include "engine/vector/term_sum.h"

#include "base/cpu_dispatch.h"

#include <string.h>

/* One cache line, which the compiler splits into the registers that there are. */
enum { LINE_BYTES = 64, LINE = LINE_BYTES / sizeof(double) };
typedef double doubles __attribute__((vector_size(LINE_BYTES)));

/* Sums of LINE lanes from `lane`, in `rounds` rounds from the one numbered `first` of them. */
static inline __attribute__((always_inline)) void add_line(const struct term_sum *sum, int lane, int first, int rounds,
                                                           bool squares)
{
    doubles sums[TERM_SUM_ROUNDS];
    for (int r = 0; r < rounds; r++)
        sums[r] = -(doubles){0}; /* -0.0 + x is x, also where that is -0.0 */
    for (int k = 0; k < sum->terms; k++) {
        const int64_t way = sum->y_round[k];
        const double *y = sum->y[k] + (sum->first + first) * way;
        doubles x;
        memcpy(&x, sum->x[k] + lane, sizeof x);
#pragma GCC unroll 4
        for (int r = 0; r < rounds; r++) {
            const doubles factor = squares ? x - y[r * way] : x, term = squares ? factor * factor : factor * y[r * way];
            sums[r] += term;
        }
    }
#pragma GCC unroll 4
    for (int r = 0; r < rounds; r++)
        memcpy(sum->out + (first + r) * sum->out_round + lane, &sums[r], sizeof *sums);
}

/* Sums of whole lines; the last may begin within the one before. */
static inline __attribute__((always_inline)) void add_lines(const struct term_sum *sum, int first, int rounds,
                                                            bool squares)
{
    for (int lane = 0; lane + LINE <= sum->lanes; lane += LINE)
        add_line(sum, lane, first, rounds, squares);
    if (sum->lanes % LINE != 0)
        add_line(sum, sum->lanes - LINE, first, rounds, squares);
}

CPU_CLONES static void add_squares(const struct term_sum *sum)
{
    if (sum->rounds == TERM_SUM_ROUNDS) {
        add_lines(sum, 0, TERM_SUM_ROUNDS, true);
        return;
    }
    for (int r = 0; r < sum->rounds; r++)
        add_lines(sum, r, 1, true);
}

CPU_CLONES static void add_products(const struct term_sum *sum)
{
    if (sum->rounds == TERM_SUM_ROUNDS) {
        add_lines(sum, 0, TERM_SUM_ROUNDS, false);
        return;
    }
    for (int r = 0; r < sum->rounds; r++)
        add_lines(sum, r, 1, false);
}

static double sum_of_lane(const struct term_sum *sum, int lane, int round)
{
    double result = -0.0;
    for (int k = 0; k < sum->terms; k++) {
        const double x = sum->x[k][lane], y = sum->y[k][(sum->first + round) * sum->y_round[k]];
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
