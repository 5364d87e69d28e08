#include "engine/values/moments.h"

#include "base/cpu_dispatch.h"

#include <math.h>

struct moment_sum moment_sum_of(const struct exact_sum *sum)
{
    struct exact_sum left = *sum;
    struct moment_sum parts = {.count = 0};
    bool certain;
    double part = exact_sum_result(&left, &certain);
    while (part != 0 && isfinite(part) && parts.count < (int)(sizeof parts.part / sizeof *parts.part)) {
        parts.part[parts.count++] = part;
        exact_sum_add(&left, -part);
        part = exact_sum_result(&left, &certain);
    }
    if (!isfinite(part))
        parts = (struct moment_sum){.part = {part}, .count = 1};
    return parts;
}

CPU_CLONES void moment_products(const double *a, const double *b, int count, double *high, double *low)
{
    for (int i = 0; i < count; i++) {
        high[i] = a[i] * b[i];
        low[i] = __builtin_fma(a[i], b[i], -high[i]);
    }
}

static void add_product(struct exact_sum *sum, double a, double b)
{
    double high, low;
    moment_products(&a, &b, 1, &high, &low);
    exact_sum_add(sum, high);
    if (isfinite(low))
        exact_sum_add(sum, low);
}

double moment_of_floats(int64_t count, const struct moment_sum *xy, const struct moment_sum *x,
                        const struct moment_sum *y, double bound, bool *certain)
{
    struct exact_sum sum;
    exact_sum_init(&sum);
    for (int i = 0; i < xy->count; i++)
        add_product(&sum, (double)count, xy->part[i]);
    for (int i = 0; i < x->count; i++) {
        for (int k = 0; k < y->count; k++)
            add_product(&sum, -x->part[i], y->part[k]);
    }
    if (bound > 0)
        exact_sum_add_error(&sum, bound);
    return exact_sum_result(&sum, certain) + 0.0;
}

double variance_of(int64_t count, double xx)
{
    const double pairs = (double)count * (double)(count - 1);
    return (xx < 0 ? 0 : xx) / pairs;
}

double correlation_of(double xx, double xy, double yy)
{
    const double correlation = xy / (sqrt(xx) * sqrt(yy));
    return correlation > 1 ? 1 : correlation < -1 ? -1 : correlation;
}

double moment_of_exact(int64_t count, const struct exact_sum *xy, const struct exact_sum *x, const struct exact_sum *y)
{
    const struct moment_sum both = moment_sum_of(xy), first = moment_sum_of(x), second = moment_sum_of(y);
    bool certain;
    return moment_of_floats(count, &both, &first, &second, 0, &certain);
}
