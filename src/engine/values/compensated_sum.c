#include "engine/values/compensated_sum.h"

void compensated_sum_merge(struct compensated_sum *into, const struct compensated_sum *from)
{
    /* A partial sum that overflowed is not an infinite term: the result is uncertain. */
    if (fabs(from->high) <= DBL_MAX) {
        compensated_sum_add(into, from->high);
        compensated_sum_add(into, from->low);
        compensated_sum_add(into, from->rest);
    } else {
        into->weight = NAN;
    }
    into->count += from->count;
    into->weight += from->weight;
    into->positive_inf = into->positive_inf || from->positive_inf;
    into->negative_inf = into->negative_inf || from->negative_inf;
    into->nan = into->nan || from->nan;
}

/* Whether a + b rounds to a for every b within `bound` of `offset`. */
static bool swallows(double a, double offset, double bound)
{
    double most = offset + bound, least = offset - bound;
    /* Round outwards. */
    most += fabs(most) * 0x1p-50 + DBL_TRUE_MIN;
    least -= fabs(least) * 0x1p-50 + DBL_TRUE_MIN;
    return a + most == a && a + least == a;
}

double compensated_sum_round(const struct compensated_sum *sum, bool *uncertain)
{
    if (sum->nan || (sum->positive_inf && sum->negative_inf))
        return NAN;
    if (sum->positive_inf)
        return INFINITY;
    if (sum->negative_inf)
        return -INFINITY;
    double result = sum->high;
    double small = compensated_sum_two_sum(&result, sum->low);
    const double smaller = compensated_sum_two_sum(&small, sum->rest);
    const double offset = compensated_sum_two_sum(&result, small);
    /* n additions to the rest have an error of at most n * 2^-53 times the weight; twice that is safe. */
    const double bound = fabs(smaller) + (double)(sum->count + 4) * sum->weight * 0x1p-52;
    const bool exact = smaller == 0 && sum->weight == 0;
    if (!(fabs(result) <= DBL_MAX) || !(bound <= DBL_MAX) || (!exact && !swallows(result, offset, bound)))
        *uncertain = true;
    return result + 0.0;
}
