/* Columns of text, dates and other logical types, with missing values. */
#ifndef RQL_TESTS_TYPED_COLUMNS_H
#define RQL_TESTS_TYPED_COLUMNS_H

#include "engine/storage/column.h"
#include "engine/values/dictionary.h"

#include <stdlib.h>
#include <string.h>

/* Makes the rows missing in which `present` is 0. */
static inline void set_present(struct column *column, const unsigned char *present)
{
    struct column *validity = column_reserve(TYPE_BOOL, TYPE_BOOL, column->rows);
    for (int64_t row = 0; row < column->rows; row++)
        *(unsigned char *)column_at(validity, row) = present[row];
    column_finish(validity, column->rows);
    column_set_validity(column, validity);
}

/* A column of integers of a logical type; `present` NULL: no value is missing. */
static inline struct column *logical_column(enum type type, struct logical_type logical, const int64_t *values,
                                            const unsigned char *present, int64_t rows)
{
    struct column *column = column_reserve(type, type, rows);
    for (int64_t row = 0; row < rows; row++) {
        int64_t number = present && !present[row] ? 0 : values[row];
        memcpy(column_at(column, row), &number, type_table[type].size);
    }
    column_finish(column, rows);
    column_set_logical(column, logical);
    if (present)
        set_present(column, present);
    return column;
}

/* A column of text; NULL is a missing value. */
static inline struct column *text_column(const char *const *strings, int64_t rows)
{
    struct interner *interner = interner_new();
    int64_t *codes = calloc((size_t)rows + 1, sizeof *codes);
    unsigned char *present = calloc((size_t)rows + 1, 1);
    uint32_t *map;
    bool whole = true;
    for (int64_t row = 0; row < rows; row++) {
        present[row] = strings[row] != NULL;
        whole = whole && strings[row];
        if (strings[row])
            codes[row] = interner_add(interner, (struct text){strings[row], strlen(strings[row])});
    }
    const struct workers workers = {.threads = 1};
    struct dictionary *dictionary = dictionary_of_interners(&interner, 1, &map, &workers);
    for (int64_t row = 0; row < rows; row++)
        codes[row] = present[row] ? map[codes[row]] : 0;
    struct column *column = logical_column(dictionary_code_type(dictionary->count),
                                           (struct logical_type){.kind = LOGICAL_TEXT, .dictionary = dictionary}, codes,
                                           whole ? NULL : present, rows);
    dictionary_unref(dictionary);
    interner_free(interner);
    free(map);
    free(present);
    free(codes);
    return column;
}

#endif
