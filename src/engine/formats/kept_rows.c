#include "engine/formats/kept_rows.h"

#include "base/heap.h"
#include "engine/values/dictionary.h"

#include <stdlib.h>
#include <string.h>

static bool has_rows(const struct kept_rows *kept, const struct row_set *rows)
{
    const size_t bytes = rows->count * sizeof(int64_t);
    return kept->count == rows->count && (bytes == 0 || (memcmp(kept->begins, rows->begins, bytes) == 0 &&
                                                         memcmp(kept->ends, rows->ends, bytes) == 0));
}

static int64_t *copy_of(const int64_t *from, size_t count)
{
    int64_t *copy = heap_array(count + 1, sizeof *copy);
    if (count > 0)
        memcpy(copy, from, count * sizeof *copy);
    return copy;
}

struct kept_rows *kept_rows_of(struct kept_row_sets *sets, const struct row_set *rows, size_t width, uint64_t now)
{
    struct kept_rows *kept = NULL;
    for (size_t i = 0; i < sets->count && !kept; i++)
        kept = has_rows(&sets->at[i], rows) ? &sets->at[i] : NULL;
    if (!kept) {
        kept = HEAP_PUSH(sets->at, sets->count, sets->capacity);
        *kept = (struct kept_rows){.count = rows->count,
                                   .begins = copy_of(rows->begins, rows->count),
                                   .ends = copy_of(rows->ends, rows->count),
                                   .columns = heap_array(width + 1, sizeof(struct column *))};
    }
    kept->used = now;
    return kept;
}

int64_t kept_column_bytes(const struct column *column)
{
    int64_t bytes = (int64_t)column->reserved;
    const struct dictionary *dictionary = column->logical.dictionary;
    if (column->validity)
        bytes += (int64_t)column->validity->reserved;
    return bytes + (dictionary ? dictionary_size(dictionary) : 0);
}

int64_t kept_rows_bytes(const struct kept_rows *kept, size_t width)
{
    int64_t bytes = 2 * (int64_t)(kept->count * sizeof(int64_t));
    for (size_t k = 0; k < width; k++)
        bytes += kept->columns[k] ? kept_column_bytes(kept->columns[k]) : 0;
    return bytes;
}

void kept_rows_release(struct kept_rows *kept, size_t width)
{
    columns_unref(kept->columns, width);
    free((void *)kept->columns);
    free(kept->begins);
    free(kept->ends);
}

void kept_rows_free(struct kept_row_sets *sets, size_t width)
{
    for (size_t i = 0; i < sets->count; i++)
        kept_rows_release(&sets->at[i], width);
    free(sets->at);
    *sets = (struct kept_row_sets){0};
}
