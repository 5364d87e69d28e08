/* The rows of each id of a join index in the order of a column. */
#include "base/heap.h"
#include "base/integer.h"
#include "base/zeroed.h"
#include "engine/join_index/join_keys.h"

#include <stdlib.h>

enum { ID_PART = 1 << 14, FEW_ROWS = 16 };

struct entry {
    int64_t value;
    int32_t row;
};

struct ordering {
    struct index_build *build;
    int64_t *values; /* of each row */
    _Atomic int64_t lo, hi;
    int32_t *rows, *starts;
    struct column *order;
    _Atomic int64_t most;
    _Atomic bool disordered;
};

static void read_part(void *context, int member, int64_t part)
{
    (void)member;
    struct ordering *ordering = context;
    const struct index_build *build = ordering->build;
    const int64_t end = part_begin(&build->parts, part + 1);
    int64_t lo = INT64_MAX, hi = INT64_MIN;
    for (int64_t row = part_begin(&build->parts, part); row < end && !workers_cancelled(build->workers);
         row += JOIN_BLOCK) {
        const int count = (int)min_int64(end - row, JOIN_BLOCK);
        int64_t *values = &ordering->values[row];
        if (build->order == build->asked->order)
            join_order_values(build->order, row, count, values);
        else /* a key that is searched for */
            join_key_values(build->order, row, count, values);
        for (int i = 0; i < count; i++) {
            lo = min_int64(lo, values[i]);
            hi = max_int64(hi, values[i]);
        }
    }
    join_lower(&ordering->lo, lo);
    join_raise(&ordering->hi, hi);
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *first = a, *second = b;
    if (first->value != second->value)
        return first->value < second->value ? -1 : 1;
    return (first->row > second->row) - (first->row < second->row);
}

/* By insertion, which is stable. */
static void sort_few(const struct ordering *ordering, int32_t begin, int32_t end)
{
    int32_t *rows = ordering->rows;
    for (int32_t i = begin + 1; i < end; i++) {
        const int32_t row = rows[i];
        int32_t to = i;
        for (; to > begin && ordering->values[rows[to - 1]] > ordering->values[row]; to--)
            rows[to] = rows[to - 1];
        rows[to] = row;
    }
}

static void sort_rows(const struct ordering *ordering, int32_t begin, int32_t end)
{
    if (end - begin <= FEW_ROWS) {
        sort_few(ordering, begin, end);
        return;
    }
    struct entry *entries = heap_array((size_t)(end - begin), sizeof *entries);
    for (int32_t i = begin; i < end; i++)
        entries[i - begin] = (struct entry){ordering->values[ordering->rows[i]], ordering->rows[i]};
    qsort(entries, (size_t)(end - begin), sizeof *entries, compare_entries);
    for (int32_t i = begin; i < end; i++)
        ordering->rows[i] = entries[i - begin].row;
    free(entries);
}

/* Most tables are in the order of time already. */
static bool is_sorted(const struct ordering *ordering, int32_t begin, int32_t end)
{
    bool sorted = true;
    for (int32_t i = begin + 1; i < end && sorted; i++)
        sorted = ordering->values[ordering->rows[i - 1]] <= ordering->values[ordering->rows[i]];
    return sorted;
}

static void sort_part(void *context, struct part part)
{
    struct ordering *ordering = context;
    int64_t most = 0;
    bool in_order = true;
    for (int64_t id = part.begin; id < part.end && !workers_cancelled(ordering->build->workers); id++) {
        const int32_t begin = ordering->starts[id], end = ordering->starts[id + 1];
        if (!is_sorted(ordering, begin, end))
            sort_rows(ordering, begin, end);
        most = max_int64(most, end - begin);
        for (int32_t i = begin; i < end; i++) {
            column_set_int(ordering->order, i, ordering->values[ordering->rows[i]]);
            in_order = in_order && ordering->rows[i] == i;
        }
    }
    if (!in_order)
        ordering->disordered = true;
    join_raise(&ordering->most, most);
}

enum status join_order_build(struct index_build *build)
{
    struct join_index *index = build->index;
    const size_t size = ((size_t)index->rows + 1) * sizeof(int64_t);
    struct ordering ordering = {.build = build,
                                .values = zeroed_alloc(size),
                                .rows = column_at(index->row_of, 0),
                                .starts = column_at(index->starts, 0),
                                .lo = INT64_MAX,
                                .hi = INT64_MIN};
    if (!ordering.values)
        return STATUS_FAILED;
    bool done = workers_run(build->workers, build->parts.count, read_part, &ordering);
    const int64_t lo = min_int64(ordering.lo, 0), hi = max_int64(ordering.hi, 0);
    ordering.order = index->order = done ? join_integers(index->rows, lo, hi) : NULL;
    if (done && !ordering.order) {
        zeroed_free(ordering.values, size);
        return STATUS_FAILED;
    }
    if (done) {
        done = workers_run_rows(build->workers, index->ids, ID_PART, sort_part, &ordering);
        column_finish(ordering.order, index->rows);
    }
    index->most = ordering.most;
    index->in_order = !ordering.disordered;
    zeroed_free(ordering.values, size);
    return done ? STATUS_OK : STATUS_CANCELLED;
}
