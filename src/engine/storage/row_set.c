#include "engine/storage/row_set.h"

#include "base/integer.h"

#include <assert.h>
#include <string.h>

void row_set_init(struct row_set *set, struct arena *arena)
{
    *set = (struct row_set){.arena = arena};
}

void row_set_add(struct row_set *set, int64_t begin, int64_t end)
{
    assert(begin >= end || set->count == 0 || begin >= set->ends[set->count - 1]);
    if (begin >= end)
        return;
    if (set->count > 0 && set->ends[set->count - 1] == begin) {
        set->ends[set->count - 1] = end;
        set->rows += end - begin;
        return;
    }
    if (set->count == set->capacity) {
        const size_t capacity = set->capacity > 0 ? 2 * set->capacity : 16;
        set->begins = arena_grow(set->arena, set->begins, set->count, capacity, sizeof *set->begins);
        set->ends = arena_grow(set->arena, set->ends, set->count, capacity, sizeof *set->ends);
        set->places = arena_grow(set->arena, set->places, set->count, capacity, sizeof *set->places);
        set->capacity = capacity;
    }
    set->begins[set->count] = begin;
    set->ends[set->count] = end;
    set->places[set->count++] = set->rows;
    set->rows += end - begin;
}

/* Finding where ranges begin in a list of rows. */
struct listing {
    struct row_set *set;
    const struct column *numbers;
    int64_t *counts; /* of each part: how many ranges begin there; then how many before it */
};

static int64_t listed(const struct column *numbers, int64_t i)
{
    return numbers->store == TYPE_I64   ? ((const int64_t *)numbers->data)[i]
           : numbers->store == TYPE_I32 ? ((const int32_t *)numbers->data)[i]
                                        : column_get_int(numbers, i);
}

static void count_ranges(void *context, struct part part)
{
    const struct listing *listing = context;
    int64_t last = part.begin > 0 ? listed(listing->numbers, part.begin - 1) : -2, count = 0;
    for (int64_t i = part.begin; i < part.end; i++) {
        const int64_t row = listed(listing->numbers, i);
        count += row != last + 1;
        last = row;
    }
    listing->counts[part.number] = count;
}

static void list_ranges(void *context, struct part part)
{
    const struct listing *listing = context;
    const struct row_set *set = listing->set;
    int64_t last = part.begin > 0 ? listed(listing->numbers, part.begin - 1) : -2;
    int64_t range = listing->counts[part.number];
    for (int64_t i = part.begin; i < part.end; i++) {
        const int64_t row = listed(listing->numbers, i);
        if (row != last + 1) {
            set->begins[range] = row;
            set->places[range] = i;
            if (range > 0)
                set->ends[range - 1] = last + 1;
            range++;
        }
        last = row;
    }
}

bool row_set_add_listed(struct row_set *set, const struct column *numbers, const struct workers *workers)
{
    enum { LEAST_PART = 1 << 16 };
    assert(set->count == 0);
    const struct parts parts = partition_rows(workers, numbers->rows, LEAST_PART);
    struct listing listing = {set, numbers, arena_array(set->arena, (size_t)parts.count + 1, sizeof(int64_t))};
    if (numbers->rows == 0)
        return true;
    if (!workers_run_parts(workers, &parts, count_ranges, &listing))
        return false;
    set->capacity = (size_t)begins_of_counts(listing.counts, parts.count);
    set->begins = arena_array(set->arena, set->capacity, sizeof *set->begins);
    set->ends = arena_array(set->arena, set->capacity, sizeof *set->ends);
    set->places = arena_array(set->arena, set->capacity, sizeof *set->places);
    if (!workers_run_parts(workers, &parts, list_ranges, &listing))
        return false;
    set->count = set->capacity;
    set->ends[set->count - 1] = listed(numbers, numbers->rows - 1) + 1;
    set->rows = numbers->rows;
    return true;
}

size_t row_set_find(const struct row_set *set, int64_t row)
{
    size_t before = 0, after = set->count; /* the range is among these */
    while (before < after) {
        const size_t middle = before + (after - before) / 2;
        if (set->ends[middle] <= row)
            before = middle + 1;
        else
            after = middle;
    }
    return before;
}

int64_t row_set_before(const struct row_set *set, int64_t row)
{
    const size_t i = row_set_find(set, row);
    return i == set->count ? set->rows : set->places[i] + max_int64(row - set->begins[i], 0);
}

void row_set_within(struct row_set *set, const struct row_set *whole, const struct row_set *part)
{
    assert(set->count == 0 && part->rows <= whole->rows);
    size_t i = 0; /* of `whole`: the range that has the place */
    for (size_t k = 0; k < part->count; k++) {
        for (int64_t place = part->begins[k]; place < part->ends[k];) {
            while (i + 1 < whole->count && whole->places[i + 1] <= place)
                i++;
            const int64_t row = whole->begins[i] + place - whole->places[i];
            const int64_t rows = min_int64(part->ends[k] - place, whole->ends[i] - row);
            row_set_add(set, row, row + rows);
            place += rows;
        }
    }
}

static struct column *take(const struct row_set *set, const struct column *column, struct buffer_pool *pool)
{
    struct column *taken = column_reserve_like(pool, column, column->type, set->rows);
    if (!taken)
        return NULL;
    const size_t size = type_table[column->store].size;
    for (size_t i = 0; i < set->count; i++)
        memcpy(column_at(taken, set->places[i]), (const char *)column->data + (size_t)set->begins[i] * size,
               (size_t)(set->ends[i] - set->begins[i]) * size);
    column_set_logical(taken, column->logical);
    column_finish(taken, set->rows);
    return taken;
}

struct column *row_set_take(const struct row_set *set, const struct column *column, struct buffer_pool *pool)
{
    struct column *taken = take(set, column, pool);
    if (!taken || !column->validity)
        return taken;
    struct column *validity = take(set, column->validity, pool);
    if (!validity) {
        column_unref(taken);
        return NULL;
    }
    column_set_validity(taken, validity);
    return taken;
}
