#include "engine/values/quantile.h"

#include "base/integer.h"

#include <assert.h>
#include <math.h>

struct quantile_place quantile_place(int64_t count, double share)
{
    assert(count > 0 && share >= 0 && share <= 1);
    const double at = (double)(count - 1) * share;
    struct quantile_place place = {.lower = (int64_t)floor(at)};
    place.fraction = at - (double)place.lower;
    if (place.lower >= count - 1)
        place = (struct quantile_place){.lower = count - 1};
    return place;
}

double quantile_of_ints(int64_t a, int64_t b, double fraction)
{
    if (fraction == 0.5)
        return (double)((int128)a + b) / 2;
    return (double)a + fraction * (double)((int128)b - a);
}

double quantile_of_floats(double a, double b, double fraction)
{
    return fraction == 0 || a == b ? a + 0.0 : a + fraction * (b - a);
}
