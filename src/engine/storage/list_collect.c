/* Lists of the values of groups: values are put in the order of their groups by counting. */
#include "engine/storage/list_store.h"

#include "base/buffer_pool.h"
#include "base/heap.h"
#include "base/integer.h"

#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 1 << 10 };

static int64_t group_of(const struct column *ids, int64_t row)
{
    return ids ? column_get_int(ids, row) : 0;
}

/* Where the values of each group begin in their order, behind a 0, and the end. */
static int64_t *find_begins(const struct column *ids, int64_t count, int64_t *groups)
{
    *groups = count > 0 ? 1 : 0;
    for (int64_t row = 0; ids && row < count; row++)
        *groups = max_int64(*groups, column_get_int(ids, row) + 1);
    int64_t *begins = heap_array((size_t)*groups + 2, sizeof *begins);
    for (int64_t row = 0; row < count; row++)
        begins[group_of(ids, row) + 2]++;
    for (int64_t group = 0; group < *groups; group++)
        begins[group + 2] += begins[group + 1];
    return begins;
}

static void put(const struct column *from, int64_t row, const int64_t *places, int64_t count, struct column *to)
{
    const size_t size = type_table[from->store].size;
    const char *elements = (const char *)from->data + (size_t)row * size;
    char *data = column_at(to, 0);
    for (int64_t i = 0; i < count; i++)
        memcpy(data + (size_t)places[i] * size, elements + (size_t)i * size, size);
}

static struct column *reserve_like(struct buffer_pool *pool, const struct column *column)
{
    return column_reserve_like(pool, column, column->type, column->rows);
}

/* The values, with their validity, in the order of the groups. Each of `next` moves from where a group begins to where
 * it ends. */
static struct column *order_values(struct buffer_pool *pool, const struct column *values, const struct column *present,
                                   const struct column *ids, int64_t *next)
{
    struct column *to = reserve_like(pool, values), *validity = present ? reserve_like(pool, present) : NULL;
    int64_t places[AT_ONCE];
    if (!to || (present && !validity)) {
        column_unref(to);
        column_unref(validity);
        return NULL;
    }
    for (int64_t row = 0; row < values->rows; row += AT_ONCE) {
        const int64_t count = min_int64(AT_ONCE, values->rows - row);
        for (int64_t i = 0; i < count; i++)
            places[i] = next[group_of(ids, row + i)]++;
        put(values, row, places, count, to);
        if (present)
            put(present, row, places, count, validity);
    }
    column_finish(to, values->rows);
    column_set_logical(to, values->logical);
    if (present) {
        column_finish(validity, values->rows);
        column_set_validity(to, validity);
    }
    return to;
}

struct column *column_of_groups(struct buffer_pool *pool, const struct column *values, const struct column *present,
                                const struct column *ids)
{
    const int64_t count = values->rows;
    int64_t groups, *begins = find_begins(ids, count, &groups);
    struct column *elements = order_values(pool, values, present, ids, begins + 1);
    const char *name = "";
    struct relation *relation = elements ? relation_new(count, 1, &elements, &name) : NULL;
    struct list_store *store = relation ? list_store_of_offsets(begins, groups, relation, false) : NULL;
    struct column *column =
        store ? column_reserve_from(pool, TYPE_I64, groups <= INT32_MAX ? TYPE_I32 : TYPE_I64, count) : NULL;
    for (int64_t row = 0; row < count && column; row++)
        column_set_int(column, row, group_of(ids, row));
    if (column) {
        column_finish(column, count);
        column_set_logical(column, (struct logical_type){.kind = LOGICAL_LIST, .lists = store});
        column->range_known = true;
        column->hi = groups > 0 ? groups - 1 : 0;
    }
    list_store_unref(store);
    column_unref(elements);
    free(begins);
    return column;
}
