#include "engine/storage/zonemap.h"

#include <math.h>
#include <stdlib.h>

static const struct zone empty_zone = {.lo = INT64_MAX, .hi = INT64_MIN, .low = INFINITY, .high = -INFINITY};

/* One loop per stored type, for compilers to vectorise. */
#define INTEGER_TYPE(name, c_type, ...)                                                                                \
    static struct zone zone_##name(const void *data, int64_t begin, int64_t end)                                       \
    {                                                                                                                  \
        const c_type *restrict at = data;                                                                              \
        c_type lo = at[begin], hi = at[begin];                                                                         \
        for (int64_t i = begin; i < end; i++) {                                                                        \
            lo = at[i] < lo ? at[i] : lo;                                                                              \
            hi = at[i] > hi ? at[i] : hi;                                                                              \
        }                                                                                                              \
        return (struct zone){.lo = lo, .hi = hi, .low = INFINITY, .high = -INFINITY};                                  \
    }
#define FLOAT_TYPE(name, c_type, ...)                                                                                  \
    static struct zone zone_##name(const void *data, int64_t begin, int64_t end)                                       \
    {                                                                                                                  \
        const c_type *restrict at = data;                                                                              \
        c_type low = (c_type)INFINITY, high = (c_type)-INFINITY;                                                       \
        int nan = 0;                                                                                                   \
        for (int64_t i = begin; i < end; i++) { /* comparisons with NaN are false */                                   \
            low = at[i] < low ? at[i] : low;                                                                           \
            high = at[i] > high ? at[i] : high;                                                                        \
            nan |= at[i] != at[i];                                                                                     \
        }                                                                                                              \
        return (struct zone){                                                                                          \
            .lo = INT64_MAX, .hi = INT64_MIN, .low = (double)low, .high = (double)high, .nan = nan != 0};              \
    }
#include "engine/values/types.def"

typedef struct zone zone_fn(const void *data, int64_t begin, int64_t end);

static zone_fn *const zone_table[TYPE_COUNT] = {
#define INTEGER_TYPE(name, ...) [TYPE_##name] = zone_##name,
#define FLOAT_TYPE(name, ...)   [TYPE_##name] = zone_##name,
#include "engine/values/types.def"
};

struct zone zone_of_elements(enum type type, const void *elements, int64_t begin, int64_t end)
{
    return zone_table[type](elements, begin, end);
}

static struct zone zone_join(struct zone a, struct zone b)
{
    return (struct zone){
        .lo = a.lo < b.lo ? a.lo : b.lo,
        .hi = a.hi > b.hi ? a.hi : b.hi,
        .low = a.low < b.low ? a.low : b.low,
        .high = a.high > b.high ? a.high : b.high,
        .nan = a.nan || b.nan,
    };
}

struct zonemap *zonemap_new(const struct column *column, int64_t zone_rows, const atomic_bool *stop)
{
    const int64_t count = column->rows > 0 ? (column->rows - 1) / zone_rows + 1 : 0;
    struct zonemap *zones = calloc(1, sizeof *zones + (size_t)count * sizeof *zones->at);
    if (!zones)
        return NULL;
    *zones = (struct zonemap){.rows = zone_rows, .count = count, .all = empty_zone};
    for (int64_t i = 0; i < count; i++) {
        if (stop && *stop) {
            free(zones);
            return NULL;
        }
        const int64_t begin = i * zone_rows;
        const int64_t end = column->rows - begin > zone_rows ? begin + zone_rows : column->rows;
        zones->at[i] = zone_of_elements(column->store, column->data, begin, end);
        zones->all = zone_join(zones->all, zones->at[i]);
    }
    return zones;
}

void zonemap_free(struct zonemap *zones)
{
    free(zones);
}

struct zone zonemap_over(const struct zonemap *zones, int64_t begin, int64_t end)
{
    struct zone result = empty_zone;
    if (begin >= end)
        return result;
    for (int64_t i = begin / zones->rows; i < zones->count && i <= (end - 1) / zones->rows; i++)
        result = zone_join(result, zones->at[i]);
    return result;
}

struct zone zone_unknown(const struct column *column)
{
    const struct type_info *info = &type_table[column->store];
    if (info->kind == KIND_FLOAT)
        return (struct zone){.lo = INT64_MAX, .hi = INT64_MIN, .low = -INFINITY, .high = INFINITY, .nan = true};
    struct zone zone = {.lo = info->lo, .hi = info->hi, .low = INFINITY, .high = -INFINITY};
    if (column->range_known && column->rows > 0) {
        zone.lo = column->lo;
        zone.hi = column->hi;
    }
    return zone;
}
