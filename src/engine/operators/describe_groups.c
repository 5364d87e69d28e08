/* The summaries of columns of each group as a relation. */
#include "engine/operators/describe.h"

#include "base/heap.h"
#include "engine/storage/row_set.h"
#include "engine/values/dictionary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_TOGETHER = 1 << 16 /* smaller groups are read by one thread */ };

static bool is_same(const struct column *column, int64_t a, int64_t b)
{
    if (column_is_missing(column, a) || column_is_missing(column, b))
        return column_is_missing(column, a) && column_is_missing(column, b);
    if (type_table[column->type].kind != KIND_FLOAT)
        return column_get_int(column, a) == column_get_int(column, b);
    const double one = column_get_float(column, a), two = column_get_float(column, b);
    return one == two || (isnan(one) && isnan(two));
}

/* Where the groups begin, and the number of rows behind the last. */
static int64_t *find_groups(const struct relation *relation, const size_t *keys, size_t key_count, struct arena *arena,
                            size_t *groups)
{
    size_t capacity = 0, count = 0;
    int64_t *begins = NULL;
    for (int64_t row = 0; row <= relation->rows; row++) {
        bool same = row > 0 && row < relation->rows;
        for (size_t i = 0; i < key_count && same; i++)
            same = is_same(relation->columns[keys[i]], row - 1, row);
        if (!same)
            *ARENA_PUSH(arena, begins, count, capacity) = row;
    }
    *groups = count - 1;
    return begins;
}

/* A column of few rows whose dictionary has many strings, with those alone that it has. */
static struct column *without_others(struct column *column)
{
    const struct dictionary *dictionary = column->logical.kind == LOGICAL_TEXT ? column->logical.dictionary : NULL;
    if (!dictionary || dictionary->count <= column->rows)
        return column;
    struct text *texts = heap_array((size_t)column->rows + 1, sizeof *texts);
    for (int64_t row = 0; row < column->rows; row++)
        texts[row] = column_is_missing(column, row) ? (struct text){"", 0}
                                                    : dictionary_text(dictionary, column_get_int(column, row));
    struct column *own = column_of_texts(texts, (size_t)column->rows);
    if (column->validity)
        column_set_validity(own, column_ref(column->validity));
    free(texts);
    column_unref(column);
    return own;
}

/* The columns that are no keys, of the rows of a group. NULL: no memory. */
static struct relation *rows_of_group(const struct relation *relation, const bool *is_key, int64_t begin, int64_t end,
                                      struct arena *arena)
{
    struct row_set rows;
    struct column **columns = arena_array(arena, relation->count + 1, sizeof(struct column *));
    const char **names = arena_array(arena, relation->count + 1, sizeof *names);
    size_t count = 0;
    bool all = true;
    row_set_init(&rows, arena);
    row_set_add(&rows, begin, end);
    for (size_t k = 0; k < relation->count && all; k++) {
        if (is_key[k])
            continue;
        struct column *column = row_set_take(&rows, relation->columns[k], NULL);
        all = column;
        names[count] = relation->names[k];
        if (all)
            columns[count++] = without_others(column);
    }
    struct relation *part = all ? relation_new(end - begin, count, columns, names) : NULL;
    columns_unref(columns, count);
    return part;
}

/* The key of each group, once for each summary of it. */
static struct column *key_column(const struct column *key, const int64_t *begins, size_t groups, size_t times)
{
    const bool floats = type_table[key->type].kind == KIND_FLOAT;
    const int64_t rows = (int64_t)(groups * times);
    const enum type type = floats ? TYPE_F64 : key->type; /* f32 holds fewer */
    struct column *column = column_reserve(type, type, rows), *validity = NULL;
    if (key->validity)
        validity = column_reserve(TYPE_BOOL, TYPE_BOOL, rows);
    for (int64_t row = 0; column && row < rows; row++) {
        const int64_t from = begins[(size_t)row / times];
        const bool missing = column_is_missing(key, from);
        if (floats)
            *(double *)column_at(column, row) = missing ? 0 : column_get_float(key, from);
        else
            column_set_int(column, row, missing ? 0 : column_get_int(key, from));
        if (validity)
            column_set_int(validity, row, !missing);
    }
    if (!column)
        return NULL;
    column_finish(column, rows);
    column_set_logical(column, key->logical);
    if (validity) {
        column_finish(validity, rows);
        column_set_validity(column, validity);
    }
    return column;
}

static struct relation *with_keys(const struct relation *relation, const size_t *keys, size_t key_count,
                                  const int64_t *begins, size_t groups, size_t times, const struct relation *summaries,
                                  struct arena *arena)
{
    const size_t count = key_count + summaries->count;
    struct column **columns = arena_array(arena, count + 1, sizeof(struct column *));
    const char **names = arena_array(arena, count + 1, sizeof *names);
    size_t made = 0;
    for (; made < key_count; made++) {
        columns[made] = key_column(relation->columns[keys[made]], begins, groups, times);
        names[made] = relation->names[keys[made]];
        if (!columns[made])
            break;
    }
    for (size_t i = 0; made >= key_count && i < summaries->count; i++, made++) {
        columns[made] = column_ref(summaries->columns[i]);
        names[made] = summaries->names[i];
    }
    struct relation *described = made == count ? relation_new(summaries->rows, count, columns, names) : NULL;
    columns_unref(columns, made);
    return described;
}

enum status describe_groups(const struct relation *relation, const size_t *keys, size_t key_count,
                            const struct workers *workers, struct arena *arena, struct relation **described)
{
    size_t groups;
    const int64_t *begins = find_groups(relation, keys, key_count, arena, &groups);
    bool *is_key = arena_array(arena, relation->count + 1, sizeof *is_key);
    size_t others = relation->count;
    for (size_t i = 0; i < key_count; i++) {
        others -= !is_key[keys[i]];
        is_key[keys[i]] = true;
    }
    struct description all = {.rows = relation->rows, .count = groups * others};
    all.columns = arena_array(arena, all.count + 1, sizeof *all.columns);
    enum status status = STATUS_OK;
    for (size_t g = 0; g < groups && status == STATUS_OK; g++) {
        struct workers own = *workers;
        struct description *one;
        own.threads = begins[g + 1] - begins[g] < ROWS_TOGETHER ? 1 : own.threads;
        struct relation *part = rows_of_group(relation, is_key, begins[g], begins[g + 1], arena);
        status = part ? describe(part, &own, arena, &one) : STATUS_FAILED;
        relation_unref(part);
        if (status == STATUS_OK)
            memcpy(&all.columns[g * others], one->columns, others * sizeof *one->columns);
    }
    if (status != STATUS_OK)
        return status;
    struct relation *summaries = description_relation(&all, arena);
    *described = with_keys(relation, keys, key_count, begins, groups, others ? others : 1, summaries, arena);
    relation_unref(summaries);
    return *described ? STATUS_OK : STATUS_FAILED;
}
