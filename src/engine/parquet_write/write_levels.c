#include "engine/parquet_write/write_chunk.h"

#include "engine/storage/list_store.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1 }; /* in place of a row: nothing is there */

void leaf_path_set_levels(struct leaf_path *path)
{
    path->definition = path->repetition = 0;
    for (size_t k = 0; k < path->count; k++) {
        const struct nest *nest = path->nests[k];
        path->definition += nest_is_nullable(nest);
        if (nest->is_list)
            path->definition += nest->present ? 2 : 1;
        path->repetition += nest->is_list;
    }
}

/* One more level where `present` says so; nothing is where it does not. */
static void define(struct row_levels *levels, const uint8_t *present)
{
    for (size_t i = 0; present && i < levels->count; i++) {
        if (levels->rows[i] == NONE)
            continue;
        levels->definitions[i] += present[levels->rows[i]];
        levels->rows[i] = present[levels->rows[i]] ? levels->rows[i] : NONE;
    }
}

static bool reserve(struct row_levels *levels, size_t count)
{
    levels->definitions = malloc(count + 1);
    levels->repetitions = malloc(count + 1);
    levels->rows = malloc((count + 1) * sizeof *levels->rows);
    return levels->definitions && levels->repetitions && levels->rows;
}

void row_levels_free(struct row_levels *levels)
{
    free(levels->definitions);
    free(levels->repetitions);
    free(levels->rows);
}

/* In place of each list, its elements. */
static bool enter_lists(struct row_levels *levels, const struct column *column, unsigned depth)
{
    const struct list_store *store = column->logical.lists;
    struct row_levels inner = {0};
    size_t count = 0;
    for (size_t i = 0; i < levels->count; i++) {
        int64_t length = 0;
        if (levels->rows[i] != NONE)
            length = column_get_int(store->lengths, column_get_int(column, levels->rows[i]));
        if (__builtin_add_overflow(count, length > 0 ? (size_t)length : 1, &count))
            return false;
    }
    if (count > SIZE_MAX / sizeof *inner.rows - 1 || !reserve(&inner, count)) {
        row_levels_free(&inner);
        return false;
    }
    for (size_t i = 0; i < levels->count; i++) {
        int64_t first = NONE, length = 0;
        if (levels->rows[i] != NONE) {
            const int64_t list = column_get_int(column, levels->rows[i]);
            first = column_get_int(store->starts, list);
            length = column_get_int(store->lengths, list);
        }
        for (int64_t k = 0; k < length || k == 0; k++) {
            inner.repetitions[inner.count] = k > 0 ? (uint8_t)depth : levels->repetitions[i];
            inner.definitions[inner.count] = (uint8_t)(levels->definitions[i] + (length > 0));
            inner.rows[inner.count++] = length > 0 ? first + k : NONE;
        }
    }
    row_levels_free(levels);
    *levels = inner;
    return true;
}

bool row_levels_find(const struct leaf_path *path, int64_t begin, int64_t end, struct row_levels *levels)
{
    *levels = (struct row_levels){0};
    bool reserved = reserve(levels, (size_t)(end - begin));
    unsigned depth = 0;
    for (int64_t row = begin; row < end && reserved; row++) {
        levels->definitions[levels->count] = levels->repetitions[levels->count] = 0;
        levels->rows[levels->count++] = row;
    }
    for (size_t k = 0; k < path->count && reserved; k++) {
        const struct nest *nest = path->nests[k];
        if (!nest->column || nest->column->validity)
            define(levels, nest->column ? nest->column->validity->data : nest->present);
        if (nest->is_list) {
            reserved = enter_lists(levels, nest->column, ++depth);
            if (reserved)
                define(levels, nest->present);
        }
    }
    for (size_t i = 0; i < levels->count && reserved; i++) {
        levels->rows[levels->present] = levels->rows[i];
        levels->present += levels->rows[i] != NONE;
    }
    if (!reserved)
        row_levels_free(levels);
    return reserved;
}
