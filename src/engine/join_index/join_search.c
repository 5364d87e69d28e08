/* A searched join index: the rows of all keys but one by address, in the order of that one. */
#include "base/integer.h"
#include "engine/join_index/join_keys.h"

#include <stdlib.h>
#include <string.h>

enum { PLACE_PART = 1 << 14, MOST_ROWS = JOIN_SEARCH_ROWS };

/* Of each row: its key, twice while the rows are put in order, and its place in that order. */
enum { ROW_BYTES = 20 };

bool join_search_key(const struct join_index *index, size_t *chosen)
{
    uint64_t least = UINT64_MAX;
    bool found = false;
    for (size_t k = 0; k < index->key_count; k++) {
        const uint64_t extent = (uint64_t)index->keys[k].hi - (uint64_t)index->keys[k].lo;
        if (join_combinations(index, k) < 0 || (found && extent >= least))
            continue;
        found = true;
        least = extent;
        *chosen = k;
    }
    return found && index->key_count > 1;
}

/* The rows are in the order of their tuples. */
struct tuples {
    struct join_index *index;
    const int32_t *places; /* where the rows of each combination of the other keys begin */
    int32_t *starts; /* where the rows of the tuple end that begins here or before, one further on; NULL: only count */
    _Atomic int64_t doubles;
};

static void tuple_part(void *context, struct part part)
{
    struct tuples *tuples = context;
    const struct column *values = tuples->index->search.values;
    int64_t doubles = 0;
    for (int64_t k = part.begin; k < part.end; k++) {
        const int32_t end = tuples->places[k + 1];
        for (int32_t first = tuples->places[k], next; first < end; first = next) {
            const int64_t value = column_get_int(values, first);
            for (next = first + 1; next < end && column_get_int(values, next) == value; next++)
                ;
            doubles += next - first > 1;
            for (int32_t i = first; i < next && tuples->starts; i++)
                tuples->starts[i + 1] = next;
        }
    }
    tuples->doubles += doubles;
}

/* The first row whose tuple an earlier row has. */
static void find_double(struct join_index *index)
{
    const int32_t *starts = index->starts->data, *rows = index->row_of->data;
    index->double_rows[0] = INT64_MAX;
    for (int64_t id = 0; id < index->ids; id++) {
        if (starts[id] == id && starts[id + 1] - id > 1 && rows[id + 1] < index->double_rows[0]) {
            index->double_rows[0] = rows[id + 1];
            index->double_rows[1] = rows[id];
        }
    }
}

/* The rows of id k, the place of a tuple's first row, are starts[k] .. starts[k + 1] - 1; other places have none. */
static enum status list_tuples(struct tuples *tuples, const struct workers *workers)
{
    struct join_index *index = tuples->index;
    index->starts = column_reserve(TYPE_I32, TYPE_I32, index->ids + 2);
    if (!index->starts)
        return STATUS_FAILED;
    tuples->starts = column_at(index->starts, 0);
    const bool done = workers_run_rows(workers, index->search.starts->rows - 2, PLACE_PART, tuple_part, tuples);
    tuples->starts[0] = 0;
    tuples->starts[index->ids + 1] = (int32_t)index->ids;
    column_set_range(index->starts, true, 0, index->ids);
    column_finish(index->starts, index->ids + 2);
    if (done)
        find_double(index);
    return done ? STATUS_OK : STATUS_CANCELLED;
}

static enum status find_doubles(struct join_index *index, const struct workers *workers)
{
    struct tuples tuples = {.index = index, .places = index->search.starts->data};
    if (!workers_run_rows(workers, index->search.starts->rows - 2, PLACE_PART, tuple_part, &tuples))
        return STATUS_CANCELLED;
    index->doubles = tuples.doubles;
    return index->doubles > 0 ? list_tuples(&tuples, workers) : STATUS_OK;
}

/* Every id has a row. */
static enum status set_members(struct join_index *index)
{
    index->members = column_reserve(TYPE_BOOL, TYPE_BOOL, index->ids + 1);
    if (!index->members)
        return STATUS_FAILED;
    memset(column_at(index->members, 0), 1, (size_t)index->ids);
    memset(column_at(index->members, index->ids), 0, 1);
    column_finish(index->members, index->ids + 1);
    return STATUS_OK;
}

/* Whether some place has too many rows, as far as a sample tells: then putting them in order would be in vain. */
static bool looks_crowded(const struct index_build *build)
{
    enum { SAMPLE = 1 << 12, FEW = 8 };
    int32_t ids[SAMPLE];
    const int64_t rows = build->index->rows;
    if (rows < SAMPLE)
        return false;
    for (int64_t i = 0; i < SAMPLE; i++)
        ids[i] = build->ids[i * rows / SAMPLE];
    qsort(ids, SAMPLE, sizeof *ids, compare_int32);
    int64_t most = 0, run = 0;
    for (int64_t i = 0; i < SAMPLE; i++) {
        run = i > 0 && ids[i] == ids[i - 1] ? run + 1 : 1;
        most = max_int64(most, ids[i] >= 0 ? run : 0); /* a missing key has no place */
    }
    return most >= FEW && most * rows / SAMPLE > 2 * MOST_ROWS;
}

/* Sorts the rows by place, and those of a place by the key. */
static enum status order_rows(struct index_build *build, size_t key)
{
    build->order = build->columns[key];
    enum status status = join_rows_build(build, false);
    if (status == STATUS_OK)
        status = join_order_build(build);
    build->order = NULL;
    return status;
}

/* Makes of the rows of each place those of the search. */
static void set_search(struct join_index *index, size_t key)
{
    const int32_t *places = index->starts->data;
    const int64_t rows = places[index->ids];
    index->search =
        (struct join_search){.key = key, .most = index->most, .starts = index->starts, .values = index->order};
    index->search.values->range_known = true;
    index->search.values->lo = min_int64(index->keys[key].lo, 0); /* a missing key may be stored as 0 */
    index->search.values->hi = max_int64(index->keys[key].hi, 0);
    index->starts = index->order = NULL;
    index->ids = rows;
    index->in_order = index->in_order && rows == index->rows;
    index->doubles = index->most = 0;
}

/* Releases what a search would be too slow in. */
static void forget_rows(struct join_index *index)
{
    column_unref(index->row_of);
    column_unref(index->starts);
    column_unref(index->order);
    index->row_of = index->starts = index->order = NULL;
    index->doubles = index->most = 0;
    index->ids = -1;
}

enum status join_search_build(struct index_build *build, bool members_only)
{
    struct join_index *index = build->index;
    size_t key = 0;
    if (!join_search_key(index, &key))
        return STATUS_OK;
    index->ids = join_combinations(index, key);
    if (!join_has_memory(index, index->rows * ROW_BYTES + index->ids * (int64_t)sizeof(int32_t)))
        return STATUS_FAILED;
    enum status status = join_places(build, key);
    if (status != STATUS_OK)
        return status;
    if (looks_crowded(build)) {
        index->ids = -1;
        return STATUS_OK;
    }
    status = order_rows(build, key);
    if (status != STATUS_OK)
        return status;
    if (index->most > MOST_ROWS) {
        forget_rows(index);
        return STATUS_OK;
    }
    index->method = JOIN_SEARCHED;
    set_search(index, key);
    return members_only ? set_members(index) : find_doubles(index, build->workers);
}
