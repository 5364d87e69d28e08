/* Sorting more rows than memory has room for. */
#include "engine/sorting/sort_rows.h"

#include "base/heap.h"
#include "engine/sorting/row_parts.h"

#include <stdlib.h>

/* The keys and columns of a part, and where its rows go. */
struct part_sort {
    struct key *at;
    struct carried *carried;
    struct column *to; /* stretches of the results */
};

static void set_part(const struct part_sort *sort, const struct keys *keys, const struct row_parts *parts, int64_t part,
                     const struct carried *carried, size_t count)
{
    for (size_t i = 0; i < keys->count; i++)
        sort->at[i] =
            (struct key){.column = row_parts_column(parts, keys->at[i].column), .descending = keys->at[i].descending};
    for (size_t k = 0; k < count; k++) {
        struct column *to = carried[k].to;
        const size_t before = (size_t)parts->begins[part] * type_table[to->store].size;
        sort->to[k] = (struct column){.type = to->type,
                                      .store = to->store,
                                      .data = (const char *)to->data + before,
                                      .reserved = to->reserved - before,
                                      .refs = 1};
        sort->carried[k] = (struct carried){.from = row_parts_column(parts, carried[k].from), .to = &sort->to[k]};
    }
}

enum status sort_columns_in_parts(const struct keys *keys, int64_t rows, int64_t row_bytes,
                                  const struct workers *workers, const struct carried *carried, size_t carried_count)
{
    const struct column **columns = heap_array(keys->count + carried_count, sizeof *columns);
    for (size_t i = 0; i < keys->count; i++)
        columns[i] = keys->at[i].column;
    for (size_t k = 0; k < carried_count; k++)
        columns[keys->count + k] = carried[k].from;
    struct part_sort sort = {.at = heap_array(keys->count, sizeof *sort.at),
                             .carried = heap_array(carried_count, sizeof *sort.carried),
                             .to = heap_array(carried_count, sizeof *sort.to)};
    struct row_parts parts;
    enum status status =
        row_parts_make(&parts, keys, rows, row_bytes, workers, columns, keys->count + carried_count, false);
    for (int64_t part = 0; part < parts.count && status == STATUS_OK; part++) {
        const int64_t count = row_parts_open(&parts, part);
        struct keys own;
        if (count == 0)
            continue;
        set_part(&sort, keys, &parts, part, carried, carried_count);
        if (keys_init(&own, sort.at, keys->count, count, workers))
            status = sort_columns_by(&own, count, workers, sort.carried, carried_count);
        else
            status = STATUS_CANCELLED;
        keys_free(&own);
    }
    row_parts_free(&parts);
    free(sort.at);
    free(sort.carried);
    free(sort.to);
    free(columns);
    return status;
}
