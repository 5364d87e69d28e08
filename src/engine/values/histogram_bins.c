#include "engine/values/histogram_bins.h"

#include "engine/values/scalar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* An edge between floats before it is rounded to DIGITS; 0 < k < bins. */
static double float_edge(const struct histogram_bins *hist, int64_t k)
{
    double part = (double)k / (double)hist->bins, range = hist->fhi - hist->flo;
    /* If the range overflows, its half does not. */
    double edge =
        isfinite(range) ? hist->flo + range * part : 2 * (hist->flo / 2 + (hist->fhi / 2 - hist->flo / 2) * part);
    return (edge < hist->fhi ? edge : hist->fhi) + 0.0;
}

/* Whatever rounding to DIGITS may change of an edge is less. */
static double rounding_of(const struct histogram_bins *hist)
{
    return fabs(hist->flo) * 1e-14 + fabs(hist->fhi) * 1e-14;
}

/* To as many digits as are the same in all floats near, so that edges print as one would write them; if they then stay
 * far apart. */
static double rounded(const struct histogram_bins *hist, double edge)
{
    enum { DIGITS = 15 };
    char text[32];
    if (!((hist->fhi / 2 - hist->flo / 2) / (double)hist->bins > 100 * rounding_of(hist)))
        return edge;
    (void)snprintf(text, sizeof text, "%.*g", DIGITS, edge);
    return strtod(text, NULL) + 0.0;
}

double histogram_edge(const struct histogram_bins *hist, int64_t k)
{
    if (!hist->number) {
        int128 range = (int128)hist->hi - hist->lo;
        return int128_quotient((int128)hist->lo * hist->bins + range * k, hist->bins);
    }
    if (k == 0 || k == hist->bins)
        return (k == 0 ? hist->flo : hist->fhi) + 0.0;
    return rounded(hist, float_edge(hist, k));
}

/* Whether the number is below edge k; 0 < k < bins. Only near the edge its rounding counts. */
static bool is_below(const struct histogram_bins *hist, double number, int64_t k)
{
    double edge = float_edge(hist, k), margin = rounding_of(hist);
    if (number < edge - margin || number > edge + margin)
        return number < edge;
    return number < histogram_edge(hist, k);
}

int64_t histogram_bin_of_int(const struct histogram_bins *hist, int64_t integer)
{
    uint64_t range = (uint64_t)hist->hi - (uint64_t)hist->lo, distance = (uint64_t)integer - (uint64_t)hist->lo;
    if (distance == range)
        return hist->bins - 1;
    uint64_t scaled;
    if (!__builtin_mul_overflow(distance, (uint64_t)hist->bins, &scaled))
        return (int64_t)(scaled / range);
    return (int64_t)((uint128)distance * (uint64_t)hist->bins / range);
}

int64_t histogram_bin_of_float(const struct histogram_bins *hist, double number)
{
    const int64_t last = hist->bins - 1;
    int64_t bin = histogram_guess(hist, number);
    while (bin > 0 && is_below(hist, number, bin))
        bin--;
    while (bin < last && !is_below(hist, number, bin + 1))
        bin++;
    return bin;
}
