#include "engine/parquet/reader.h"

#include "base/integer.h"
#include "engine/parquet/convert.h"

#include <math.h>
#include <string.h>

/* Whether the order of stored values is that of the elements. The order of INT96 was never specified. */
static bool is_ordered(const struct leaf *leaf)
{
    switch (leaf->conversion) {
    case CONVERT_BITS:
    case CONVERT_TEXT:
    case CONVERT_UUID:
    case CONVERT_INT96:
        return false;
    case CONVERT_BIG_ENDIAN:
        return leaf->physical == PHYSICAL_FIXED;
    default:
        return leaf->width > 0;
    }
}

/* The zone of one stored value; false if it is none of the column. */
static bool zone_of_value(const struct leaf *leaf, struct text value, struct zone *zone)
{
    int64_t element = 0; /* of any type: as many of its bytes as that has */
    if (value.length != leaf->width || convert_values(leaf, value.at, 1, &element).bad >= 0)
        return false;
    *zone = zone_of_elements(leaf->type, &element, 0, 1);
    return !zone->nan;
}

static bool zone_of_bools(const struct chunk_statistics *statistics, struct zone *zone)
{
    if (statistics->least.length != 1 || statistics->most.length != 1)
        return false;
    *zone = (struct zone){
        .lo = *statistics->least.at != 0, .hi = *statistics->most.at != 0, .low = INFINITY, .high = -INFINITY};
    return zone->lo <= zone->hi;
}

/* Bounds of the values that are not missing. */
static bool zone_of_statistics(const struct leaf *leaf, const struct chunk_statistics *statistics, struct zone *zone)
{
    struct zone most;
    if (leaf->conversion == CONVERT_BITS)
        return zone_of_bools(statistics, zone);
    if (!is_ordered(leaf) || !zone_of_value(leaf, statistics->least, zone) ||
        !zone_of_value(leaf, statistics->most, &most))
        return false;
    zone->hi = most.hi;
    zone->high = most.high;
    zone->nan = type_table[leaf->type].kind == KIND_FLOAT; /* which is not counted among the values */
    return type_table[leaf->type].kind == KIND_FLOAT ? zone->low <= zone->high : zone->lo <= zone->hi;
}

/* Missing values are 0. */
static void include_zero(struct zone *zone)
{
    zone->lo = min_int64(zone->lo, 0);
    zone->hi = max_int64(zone->hi, 0);
    zone->low = fmin(zone->low, 0);
    zone->high = fmax(zone->high, 0);
}

void parquet_bounds(const struct file_reader *base, size_t group, size_t k, struct group_bounds *bounds)
{
    const struct parquet_reader *reader = (const struct parquet_reader *)base;
    const struct leaf *leaf = reader->fields.at[k].leaf;
    const struct row_group *row_group = &reader->footer.groups[group];
    if (!leaf) { /* lists */
        *bounds = (struct group_bounds){.missing = reader->fields.at[k].nullable, .present = true};
        return;
    }
    const struct chunk_statistics *statistics = &row_group->chunks[leaf->index].statistics;
    *bounds = (struct group_bounds){.missing = leaf->definition > 0 && statistics->missing != 0,
                                    .present = statistics->missing != row_group->rows || leaf->definition == 0};
    if (!bounds->present) {
        bounds->has_zone = true; /* of zeroes */
        return;
    }
    if (!statistics->has_least || !statistics->has_most)
        return;
    bounds->has_zone = leaf->conversion == CONVERT_TEXT;
    if (bounds->has_zone) {
        bounds->least = statistics->least;
        bounds->most = statistics->most;
    } else {
        bounds->has_zone = zone_of_statistics(leaf, statistics, &bounds->zone);
    }
    if (bounds->has_zone && bounds->missing)
        include_zero(&bounds->zone);
}

void parquet_list_groups(struct parquet_reader *reader)
{
    const struct footer *footer = &reader->footer;
    int64_t *begins = arena_array(reader->arena, footer->group_count + 1, sizeof *begins);
    for (size_t i = 0; i < footer->group_count; i++)
        begins[i + 1] = begins[i] + footer->groups[i].rows;
    reader->base.group_count = footer->group_count;
    reader->base.group_begins = begins;
}
