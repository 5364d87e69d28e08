/* Sorting more rows than memory has room for. Each part is sorted into memory, and written from there to its place in
 * the results, which are on the disk. */
#include "engine/sorting/sort_rows.h"

#include "base/buffer_pool.h"
#include "base/heap.h"
#include "engine/sorting/row_parts.h"

#include <stdlib.h>

enum { BUFFERS_SHARE = 4 /* of memory's room, for the sorted rows of a part */ };

/* The keys and columns of a part, and where its rows go. */
struct part_sort {
    const struct workers *workers;
    struct key *at;
    struct carried *carried;
    struct column *to; /* stretches of the results, or in memory */
    char *buffer;      /* NULL: none */
    size_t buffer_bytes;
};

static size_t size_of(const struct column *column)
{
    return type_table[column->store].size;
}

static int64_t result_bytes(const struct carried *carried, size_t count)
{
    int64_t bytes = 0;
    for (size_t k = 0; k < count; k++)
        bytes += (int64_t)size_of(carried[k].to);
    return bytes;
}

/* Where columns of a part's rows are within the buffer: at pages of their own, with one more behind each. */
static size_t buffer_stretch(const struct column *column, int64_t rows)
{
    enum { PAGE = 4096 };
    return ((size_t)rows * size_of(column) / PAGE + 2) * PAGE;
}

static bool fits_buffer(const struct part_sort *sort, int64_t rows, const struct carried *carried, size_t count)
{
    size_t bytes = 0;
    for (size_t k = 0; k < count; k++)
        bytes += buffer_stretch(carried[k].to, rows);
    return bytes <= sort->buffer_bytes;
}

static void set_part(const struct part_sort *sort, const struct keys *keys, const struct row_parts *parts, int64_t part,
                     const struct carried *carried, size_t count, bool buffered)
{
    char *buffer = sort->buffer;
    for (size_t i = 0; i < keys->count; i++)
        sort->at[i] =
            (struct key){.column = row_parts_column(parts, keys->at[i].column), .descending = keys->at[i].descending};
    for (size_t k = 0; k < count; k++) {
        struct column *to = carried[k].to;
        const size_t before = (size_t)parts->begins[part] * size_of(to);
        const size_t stretch = buffer_stretch(to, parts->begins[part + 1] - parts->begins[part]);
        sort->to[k] = (struct column){.type = to->type,
                                      .store = to->store,
                                      .data = buffered ? buffer : (const char *)to->data + before,
                                      .reserved = buffered ? stretch : to->reserved - before,
                                      .refs = 1};
        sort->carried[k] = (struct carried){.from = row_parts_column(parts, carried[k].from), .to = &sort->to[k]};
        buffer += buffered ? stretch : 0;
    }
}

static enum status sort_part(const struct part_sort *sort, const struct keys *keys, const struct row_parts *parts,
                             int64_t part, const struct carried *carried, size_t count)
{
    const int64_t begin = parts->begins[part], rows = parts->begins[part + 1] - begin;
    const bool buffered = sort->buffer && fits_buffer(sort, rows, carried, count);
    const struct workers workers = row_parts_workers(parts, part, sort->workers);
    struct keys own;
    enum status status = STATUS_CANCELLED;
    set_part(sort, keys, parts, part, carried, count, buffered);
    if (keys_init(&own, sort->at, keys->count, rows, &workers))
        status = sort_columns_by(&own, rows, &workers, sort->carried, count);
    keys_free(&own);
    for (size_t k = 0; k < count && buffered && status == STATUS_OK; k++)
        buffer_pool_write(sort->workers->pool, column_at(carried[k].to, begin), sort->to[k].data,
                          (size_t)rows * size_of(carried[k].to));
    return status;
}

enum status sort_columns_in_parts(const struct keys *keys, int64_t rows, int64_t row_bytes,
                                  const struct workers *workers, const struct carried *carried, size_t carried_count)
{
    const struct column **columns = heap_array(keys->count + carried_count, sizeof *columns);
    for (size_t i = 0; i < keys->count; i++)
        columns[i] = keys->at[i].column;
    for (size_t k = 0; k < carried_count; k++) {
        columns[keys->count + k] = carried[k].from;
        if (carried[k].to->pool)
            column_move_spilled(carried[k].to);
    }
    struct part_sort sort = {.workers = workers,
                             .at = heap_array(keys->count, sizeof *sort.at),
                             .carried = heap_array(carried_count, sizeof *sort.carried),
                             .to = heap_array(carried_count, sizeof *sort.to)};
    struct row_parts parts;
    enum status status = row_parts_make(&parts, keys, rows, row_bytes + result_bytes(carried, carried_count), workers,
                                        columns, keys->count + carried_count, false);
    const size_t most = (size_t)buffer_pool_room(workers->pool) / BUFFERS_SHARE;
    if (status == STATUS_OK && most > 0)
        sort.buffer = buffer_pool_alloc(workers->pool, most, &sort.buffer_bytes);
    for (int64_t part = 0; part < parts.count && status == STATUS_OK; part++) {
        if (row_parts_open(&parts, part) > 0)
            status = sort_part(&sort, keys, &parts, part, carried, carried_count);
    }
    buffer_pool_release(workers->pool, sort.buffer, sort.buffer_bytes);
    row_parts_free(&parts);
    free(sort.at);
    free(sort.carried);
    free(sort.to);
    free(columns);
    return status;
}
