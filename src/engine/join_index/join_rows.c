/* The tables of a join index: which rows have an id. */
#include "base/heap.h"
#include "base/integer.h"
#include "engine/join_index/join_keys.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ID_PART = 1 << 16 };

struct tables {
    const struct index_build *build;
    uint8_t *members;
    _Atomic int32_t *row_of, *starts;
    struct parts id_parts;
    int64_t *begins; /* of each part of ids: rows, then where they begin */
    _Atomic int64_t doubles;
    _Atomic int64_t double_row; /* the first row whose id an earlier row has */
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

static void sum_ids(void *context, struct part part)
{
    const struct tables *tables = context;
    int64_t rows = 0;
    for (int64_t id = part.begin; id < part.end; id++)
        rows += tables->starts[id + 1];
    tables->begins[part.number] = rows;
}

/* starts[id + 1] becomes where the rows of the id begin. */
static void place_ids(void *context, struct part part)
{
    struct tables *tables = context;
    int32_t at = (int32_t)tables->begins[part.number];
    int64_t doubles = 0;
    for (int64_t id = part.begin; id < part.end; id++) {
        const int32_t count = tables->starts[id + 1];
        tables->starts[id + 1] = at;
        at += count;
        doubles += count > 1;
    }
    tables->doubles += doubles;
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
            qsort(rows + begin, (size_t)(end - begin), sizeof *rows, compare_int32);
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
    column_set_range(column, true, lo, hi);
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

static bool list_rows(struct tables *tables)
{
    const struct index_build *build = tables->build;
    const struct workers *workers = build->workers;
    if (!workers_run_parts(workers, &build->parts, count_part, tables) ||
        !workers_run_parts(workers, &tables->id_parts, sum_ids, tables))
        return false;
    tables->starts[build->index->ids + 1] = (int32_t)begins_of_counts(tables->begins, tables->id_parts.count);
    tables->disordered = false;
    return workers_run_parts(workers, &tables->id_parts, place_ids, tables) &&
           workers_run_parts(workers, &build->parts, list_part, tables) &&
           workers_run_parts(workers, &tables->id_parts, order_part, tables);
}

/* ---- rows that are in the order of their ids already ---- */

static void check_part(void *context, struct part part)
{
    struct tables *tables = context;
    const int32_t *ids = tables->build->ids;
    int32_t before = part.begin > 0 ? ids[part.begin - 1] : 0;
    bool in_order = !tables->disordered;
    for (int64_t row = part.begin; row < part.end && in_order; row++) {
        in_order = ids[row] >= before;
        before = ids[row];
    }
    if (!in_order)
        tables->disordered = true;
}

/* starts[id] is the first row of this or a greater id. */
static void sorted_part(void *context, struct part part)
{
    struct tables *tables = context;
    const int32_t *ids = tables->build->ids;
    int64_t doubles = 0;
    for (int64_t row = part.begin; row < part.end; row++) {
        const int32_t before = row > 0 ? ids[row - 1] : -1;
        tables->row_of[row] = (int32_t)row;
        for (int32_t id = before + 1; id <= ids[row]; id++)
            tables->starts[id] = (int32_t)row;
        doubles += ids[row] == before && (row < 2 || ids[row - 2] != before);
    }
    tables->doubles += doubles;
}

static bool list_sorted(struct tables *tables)
{
    const struct index_build *build = tables->build;
    const int64_t rows = build->index->rows;
    for (int64_t id = build->ids[rows - 1] + 1; id <= build->index->ids + 1; id++)
        tables->starts[id] = (int32_t)rows;
    return workers_run_parts(build->workers, &build->parts, sorted_part, tables);
}

/* ---- */

static void double_part(void *context, struct part part)
{
    struct tables *tables = context;
    int64_t first = INT64_MAX;
    for (int64_t id = part.begin; id < part.end; id++) {
        if (tables->starts[id + 1] - tables->starts[id] > 1)
            first = min_int64(first, tables->row_of[tables->starts[id] + 1]);
    }
    join_lower(&tables->double_row, first);
}

/* Finds the first row whose id an earlier row has. */
static bool find_double(struct tables *tables)
{
    const struct index_build *build = tables->build;
    struct join_index *index = build->index;
    tables->double_row = INT64_MAX;
    if (!workers_run_parts(build->workers, &tables->id_parts, double_part, tables))
        return false;
    index->double_rows[0] = tables->double_row;
    if (tables->double_row < INT64_MAX)
        index->double_rows[1] = tables->row_of[tables->starts[build->ids[tables->double_row]]];
    return true;
}

/* All rows in the order of their ids. */
static enum status build_lists(struct tables *tables)
{
    struct join_index *index = tables->build->index;
    const struct workers *workers = tables->build->workers;
    column_unref(index->row_of);
    index->row_of = table_of(index->rows, 0, index->rows - 1);
    index->starts = table_of(index->ids + 2, 0, index->rows);
    if (!index->row_of || !index->starts)
        return STATUS_FAILED;
    tables->row_of = column_at(index->row_of, 0);
    tables->starts = column_at(index->starts, 0);
    tables->id_parts = partition_rows(workers, index->ids, ID_PART);
    tables->begins = heap_array((size_t)tables->id_parts.count + 1, sizeof *tables->begins);
    tables->doubles = 0;
    tables->disordered = index->rows == 0;
    bool done = workers_run_parts(workers, &tables->build->parts, check_part, tables);
    if (done)
        done = (tables->disordered ? list_rows(tables) : list_sorted(tables)) && find_double(tables);
    free(tables->begins);
    column_finish(index->row_of, index->rows);
    column_finish(index->starts, index->ids + 2);
    index->in_order = !tables->disordered;
    index->doubles = tables->doubles;
    return done ? STATUS_OK : STATUS_CANCELLED;
}

enum status join_rows_build(struct index_build *build, bool members_only)
{
    struct tables tables = {.build = build};
    if (members_only)
        return build_members(&tables);
    const enum status status = build->order ? build_lists(&tables) : build_single(&tables);
    return status == STATUS_OK && !build->order && tables.doubles > 0 ? build_lists(&tables) : status;
}
