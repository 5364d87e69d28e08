/* The tables of a join index: which rows have an id. */
#include "engine/join_index/join_keys.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ID_PART = 1 << 16 };

struct tables {
    const struct index_build *build;
    uint8_t *members;
    _Atomic int32_t *row_of, *starts;
    _Atomic int64_t doubles;
    _Atomic bool disordered;
};

/* Without sorting them, the rows of an id are in the order in which threads came to them. */
static void member_part(void *context, struct part part)
{
    const struct tables *tables = context;
    const struct index_build *build = tables->build;
    for (int64_t row = part.begin; row < part.end && join_goes_on(build, row); row++) {
        if (build->ids[row] >= 0)
            tables->members[build->ids[row]] = 1;
    }
}

static void single_part(void *context, struct part part)
{
    struct tables *tables = context;
    const struct index_build *build = tables->build;
    bool in_order = true, twice = false;
    for (int64_t row = part.begin; row < part.end && join_goes_on(build, row); row++) {
        const int32_t id = build->ids[row];
        int32_t none = -1;
        in_order = in_order && id == row;
        if (id >= 0 && !atomic_compare_exchange_strong_explicit(&tables->row_of[id], &none, (int32_t)row,
                                                                memory_order_relaxed, memory_order_relaxed))
            twice = true;
    }
    if (!in_order)
        tables->disordered = true;
    if (twice)
        tables->doubles = 1;
}

static void count_part(void *context, struct part part)
{
    const struct tables *tables = context;
    const struct index_build *build = tables->build;
    for (int64_t row = part.begin; row < part.end && join_goes_on(build, row); row++) {
        if (build->ids[row] >= 0)
            atomic_fetch_add_explicit(&tables->starts[build->ids[row] + 1], 1, memory_order_relaxed);
    }
}

/* starts[id + 1] becomes where the rows of the id begin. */
static void place_ids(struct tables *tables)
{
    const int64_t ids = tables->build->index->ids;
    int32_t at = 0;
    int64_t doubles = 0;
    for (int64_t id = 0; id < ids && join_goes_on(tables->build, id); id++) {
        const int32_t count = tables->starts[id + 1];
        tables->starts[id + 1] = at;
        at += count;
        doubles += count > 1;
    }
    tables->starts[ids + 1] = at;
    tables->doubles = doubles;
}

/* starts[id + 1] becomes where they end. */
static void list_part(void *context, struct part part)
{
    const struct tables *tables = context;
    const struct index_build *build = tables->build;
    for (int64_t row = part.begin; row < part.end && join_goes_on(build, row); row++) {
        if (build->ids[row] < 0)
            continue;
        const int32_t at = atomic_fetch_add_explicit(&tables->starts[build->ids[row] + 1], 1, memory_order_relaxed);
        tables->row_of[at] = (int32_t)row;
    }
}

static int compare_rows(const void *a, const void *b)
{
    const int32_t first = *(const int32_t *)a, second = *(const int32_t *)b;
    return (first > second) - (first < second);
}

static void order_part(void *context, struct part part)
{
    struct tables *tables = context;
    int32_t *rows = (int32_t *)tables->row_of;
    bool in_order = true;
    for (int64_t id = part.begin; id < part.end && join_goes_on(tables->build, id); id++) {
        const int32_t begin = tables->starts[id], end = tables->starts[id + 1];
        bool sorted = true;
        for (int32_t i = begin + 1; i < end; i++)
            sorted = sorted && rows[i - 1] < rows[i];
        if (!sorted)
            qsort(rows + begin, (size_t)(end - begin), sizeof *rows, compare_rows);
        for (int32_t i = begin; i < end; i++)
            in_order = in_order && rows[i] == i;
    }
    if (!in_order)
        tables->disordered = true;
}

/* A column of i32; NULL: no memory. */
static struct column *table_of(int64_t rows, int64_t lo, int64_t hi)
{
    struct column *column = column_reserve(TYPE_I32, TYPE_I32, rows);
    if (!column)
        return NULL;
    column->range_known = true;
    column->lo = lo;
    column->hi = hi;
    return column;
}

static enum status build_members(struct tables *tables)
{
    const struct index_build *build = tables->build;
    struct join_index *index = build->index;
    index->members = column_reserve(TYPE_BOOL, TYPE_BOOL, index->ids + 1);
    if (!index->members)
        return STATUS_FAILED;
    tables->members = column_at(index->members, 0);
    const bool done = workers_run_parts(build->workers, &build->parts, member_part, tables);
    column_finish(index->members, index->ids + 1);
    return done ? STATUS_OK : STATUS_CANCELLED;
}

static void clear_part(void *context, struct part part)
{
    const struct tables *tables = context;
    const int64_t begin = part.begin, end = part.end;
    memset((void *)&tables->row_of[begin], -1, (size_t)(end - begin) * sizeof *tables->row_of);
}

/* The row of each id, if each has at most one; sets tables->doubles if not. */
static enum status build_single(struct tables *tables)
{
    const struct index_build *build = tables->build;
    struct join_index *index = build->index;
    index->row_of = table_of(index->ids + 1, -1, index->rows - 1);
    if (!index->row_of)
        return STATUS_FAILED;
    tables->row_of = column_at(index->row_of, 0);
    const bool done = workers_run_rows(build->workers, index->ids + 1, ID_PART, clear_part, tables) &&
                      workers_run_parts(build->workers, &build->parts, single_part, tables);
    column_finish(index->row_of, index->ids + 1);
    index->in_order = !tables->disordered && index->ids == index->rows;
    return done ? STATUS_OK : STATUS_CANCELLED;
}

static enum status list_rows(struct tables *tables)
{
    const struct index_build *build = tables->build;
    const struct workers *workers = build->workers;
    if (!workers_run_parts(workers, &build->parts, count_part, tables))
        return STATUS_CANCELLED;
    place_ids(tables);
    if (!workers_run_parts(workers, &build->parts, list_part, tables))
        return STATUS_CANCELLED;
    tables->disordered = false;
    return workers_run_rows(workers, build->index->ids, ID_PART, order_part, tables) ? STATUS_OK : STATUS_CANCELLED;
}

/* Finds the first row whose id an earlier row has. */
static void find_double(const struct index_build *build)
{
    struct join_index *index = build->index;
    const int32_t *starts = index->starts->data, *rows = index->row_of->data;
    index->double_rows[0] = INT64_MAX;
    for (int64_t id = 0; id < index->ids && join_goes_on(build, id); id++) {
        if (starts[id + 1] - starts[id] > 1 && rows[starts[id] + 1] < index->double_rows[0]) {
            index->double_rows[0] = rows[starts[id] + 1];
            index->double_rows[1] = rows[starts[id]];
        }
    }
}

/* All rows in the order of their ids. */
static enum status build_lists(struct tables *tables)
{
    struct join_index *index = tables->build->index;
    column_unref(index->row_of);
    index->row_of = table_of(index->rows, 0, index->rows - 1);
    index->starts = table_of(index->ids + 2, 0, index->rows);
    if (!index->row_of || !index->starts)
        return STATUS_FAILED;
    tables->row_of = column_at(index->row_of, 0);
    tables->starts = column_at(index->starts, 0);
    const enum status status = list_rows(tables);
    column_finish(index->row_of, index->rows);
    column_finish(index->starts, index->ids + 2);
    index->in_order = !tables->disordered;
    index->doubles = tables->doubles;
    if (status == STATUS_OK)
        find_double(tables->build);
    return workers_cancelled(tables->build->workers) ? STATUS_CANCELLED : status;
}

enum status join_rows_build(struct index_build *build, bool members_only)
{
    struct tables tables = {.build = build};
    if (members_only)
        return build_members(&tables);
    const enum status status = build->order ? build_lists(&tables) : build_single(&tables);
    return status == STATUS_OK && !build->order && tables.doubles > 0 ? build_lists(&tables) : status;
}
