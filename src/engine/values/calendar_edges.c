#include "engine/values/calendar_edges.h"

#include "base/heap.h"
#include "base/time/calendar.h"
#include "base/time/time_zone.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* The width of intervals and where one of them begins: in months since January 1970, or in the values' unit. */
struct step {
    bool months;
    int64_t width, origin;
};

struct choice {
    enum logical kind;
    int64_t lo, hi, about;
    struct step step; /* the best so far */
    int64_t first, count;
    double excess; /* its intervals relative to `about`, or the inverse: at least 1 */
};

static int128 floor_divide(int128 a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* The number of the interval that holds the value; the one at the origin is 0. */
static int64_t interval_of(enum logical kind, const struct step *step, int64_t value)
{
    int128 place = value;
    if (step->months) {
        struct civil civil = civil_of_days(kind == LOGICAL_DATE ? value : (int64_t)floor_divide(value, DAY_US));
        place = (civil.year - 1970) * 12 + civil.month - 1;
    }
    return (int64_t)floor_divide(place - step->origin, step->width);
}

static int64_t edge_of(enum logical kind, const struct step *step, int64_t interval)
{
    const int64_t least = kind == LOGICAL_DATE ? INT32_MIN : INT64_MIN;
    const int64_t most = kind == LOGICAL_DATE ? INT32_MAX : INT64_MAX;
    int128 edge = (int128)interval * step->width + step->origin;
    if (step->months) {
        int64_t month = (int64_t)edge, year = (int64_t)floor_divide(month, 12);
        edge = days_of_civil((struct civil){.year = 1970 + year, .month = (int)(month - 12 * year) + 1, .day = 1});
        edge *= kind == LOGICAL_DATE ? 1 : DAY_US;
    }
    return edge < least ? least : edge > most ? most : (int64_t)edge;
}

static void consider(struct choice *choice, struct step step)
{
    int64_t first = interval_of(choice->kind, &step, choice->lo), last = interval_of(choice->kind, &step, choice->hi);
    double count = (double)last - (double)first + 1, about = (double)choice->about;
    const double excess = count > about ? count / about : about / count;
    if (excess >= choice->excess)
        return;
    choice->step = step;
    choice->first = first;
    choice->count = (int64_t)((uint64_t)last - (uint64_t)first) + 1;
    choice->excess = excess;
}

/* 1, 2 and 5 times powers of ten of a unit, below `end` units. */
static void consider_decades(struct choice *choice, struct step unit, int64_t end)
{
    for (int64_t ten = 1; ten < end; ten *= 10) {
        static const int64_t factors[] = {1, 2, 5};
        for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
            consider(choice, (struct step){unit.months, unit.width * ten * factors[i], unit.origin});
    }
}

static void consider_times(struct choice *choice)
{
    static const int64_t seconds[] = {1,   2,   5,    10,   15,   30,    60,    120,   300,
                                      600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
    enum { SECOND_US = 1000000 };
    consider_decades(choice, (struct step){false, 1, 0}, SECOND_US);
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
        consider(choice, (struct step){false, seconds[i] * SECOND_US, 0});
}

static void consider_dates(struct choice *choice)
{
    enum { MONDAY = -3, MILLION = 1000000 }; /* 1969-12-29 */
    const int64_t day = choice->kind == LOGICAL_DATE ? 1 : DAY_US;
    consider(choice, (struct step){false, day, 0});
    consider(choice, (struct step){false, 7 * day, MONDAY * day});
    consider(choice, (struct step){true, 1, 0});
    consider(choice, (struct step){true, 3, 0});
    consider(choice, (struct step){true, 6, 0});
    /* The years of a step are multiples of it. */
    for (int64_t ten = 1; ten <= MILLION; ten *= 10) {
        static const int64_t factors[] = {1, 2, 5};
        for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
            consider(choice, (struct step){true, 12 * ten * factors[i], -12 * (1970 % (ten * factors[i]))});
    }
}

int64_t calendar_edges(enum logical kind, int64_t lo, int64_t hi, int64_t about, int64_t **edges)
{
    enum { MANY_DAYS = 100000000 }; /* nearly as many as 64 bits of microseconds are, at either side of 0 */
    struct choice choice = {.kind = kind, .lo = lo, .hi = hi, .about = about, .excess = INFINITY};
    if (kind != LOGICAL_DATE)
        consider_times(&choice);
    if (kind == LOGICAL_DURATION)
        consider_decades(&choice, (struct step){false, DAY_US, 0}, MANY_DAYS);
    else
        consider_dates(&choice);
    *edges = heap_array((size_t)choice.count + 1, sizeof **edges);
    for (int64_t k = 0; k <= choice.count; k++)
        (*edges)[k] = edge_of(kind, &choice.step, choice.first + k);
    return choice.count;
}

/* Converts the edges of local times to instants; those that are one instant become one. Returns the intervals that are
 * left. */
static int64_t edges_in_zone(const struct time_zone *zone, int64_t *edges, int64_t intervals)
{
    int64_t left = -1;
    for (int64_t k = 0; k <= intervals; k++) {
        int64_t edge;
        const int64_t next = zone->utc.begins[time_interval(&zone->local, edges[k]) + 1];
        if (!time_zone_instant(zone, edges[k], &edge))
            return 0;
        edge = edge < next ? edge : next; /* what is left out begins after the gap */
        if (left < 0 || edge > edges[left])
            edges[++left] = edge;
    }
    return left;
}

int64_t calendar_edges_of(struct logical_type logical, int64_t lo, int64_t hi, int64_t about, int64_t **edges)
{
    const struct time_zone *zone = logical.zone;
    int64_t first, last;
    if (zone && !__builtin_add_overflow(lo, time_zone_offset(zone, lo), &first) &&
        !__builtin_add_overflow(hi, time_zone_offset(zone, hi), &last) && first <= last) {
        int64_t intervals = calendar_edges(logical.kind, first, last, about, edges);
        intervals = edges_in_zone(zone, *edges, intervals);
        /* Clocks that are set back within the last interval may show its end before its last time. */
        if (intervals > 0 && (*edges)[0] <= lo && hi < (*edges)[intervals])
            return intervals;
        free(*edges);
    }
    return calendar_edges(logical.kind, lo, hi, about, edges);
}

int64_t calendar_interval(const int64_t *edges, int64_t intervals, int64_t value)
{
    int64_t low = 0, high = intervals; /* edges[low] <= value */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (edges[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}
