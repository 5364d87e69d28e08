/* Lists of the values of groups: rows are put in the order of their groups by counting. */
#include "engine/storage/list_store.h"

#include "base/heap.h"
#include "base/integer.h"

#include <stdlib.h>
#include <string.h>

/* `column` in the order of `rows`, of which the elements' column gets what the values are. */
static struct column *gathered(const struct column *column, const uint64_t *rows, int64_t count)
{
    enum { AT_ONCE = 1 << 16 };
    struct column *to = column_reserve_like(NULL, column, column->type, count);
    if (!to)
        return NULL;
    for (int64_t row = 0; row < count; row += AT_ONCE)
        column_gather(column, rows + row, (int)min_int64(AT_ONCE, count - row), column_at(to, row));
    column_finish(to, count);
    column_set_logical(to, column->logical);
    return to;
}

/* Where the rows of each group begin in their order, which `rows` becomes. */
static int64_t *order_rows(const struct column *ids, int64_t count, uint64_t *rows, int64_t *groups)
{
    *groups = count > 0 ? 1 : 0;
    for (int64_t row = 0; ids && row < count; row++)
        *groups = max_int64(*groups, column_get_int(ids, row) + 1);
    int64_t *begins = heap_array((size_t)*groups + 2, sizeof *begins);
    for (int64_t row = 0; row < count; row++)
        begins[(ids ? column_get_int(ids, row) : 0) + 2]++;
    for (int64_t group = 0; group < *groups; group++)
        begins[group + 2] += begins[group + 1];
    for (int64_t row = 0; row < count; row++)
        rows[begins[(ids ? column_get_int(ids, row) : 0) + 1]++] = (uint64_t)row;
    return begins;
}

struct column *column_of_groups(const struct column *values, const struct column *present, const struct column *ids)
{
    const int64_t count = values->rows;
    uint64_t *rows = heap_array((size_t)count + 1, sizeof *rows);
    int64_t groups, *begins = order_rows(ids, count, rows, &groups);
    struct column *elements = gathered(values, rows, count);
    if (elements && present)
        column_set_validity(elements, gathered(present, rows, count));
    const char *name = "";
    struct relation *relation = elements ? relation_new(count, 1, &elements, &name) : NULL;
    struct list_store *store = relation ? list_store_of_offsets(begins, groups, relation, false) : NULL;
    struct column *column = store ? column_reserve(TYPE_I64, groups <= INT32_MAX ? TYPE_I32 : TYPE_I64, count) : NULL;
    for (int64_t row = 0; row < count && column; row++)
        column_set_int(column, row, ids ? column_get_int(ids, row) : 0);
    if (column) {
        column_finish(column, count);
        column_set_logical(column, (struct logical_type){.kind = LOGICAL_LIST, .lists = store});
        column->range_known = true;
        column->hi = groups > 0 ? groups - 1 : 0;
    }
    list_store_unref(store);
    column_unref(elements);
    free(begins);
    free(rows);
    return column;
}
