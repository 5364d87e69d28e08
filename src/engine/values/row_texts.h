/* Functions of text that read several columns, or columns other than text: computed for each row, or for each
 * combination of values where there are fewer. */
#ifndef RQL_ENGINE_VALUES_ROW_TEXTS_H
#define RQL_ENGINE_VALUES_ROW_TEXTS_H

#include "engine/values/text_format.h"
#include "engine/values/text_functions.h"

/* An argument: elements of a column, or a constant. */
struct row_argument {
    enum kind kind;
    struct logical_type logical; /* of text: codes into its dictionary */
    enum type store;             /* of the elements */
    const void *elements;        /* NULL: a constant */
    const uint8_t *present;      /* 1 where there is a value; NULL: everywhere */
    struct scalar constant;
};

/* What is computed: the text of a format, or a function of text of the first argument with the others, as many as it
 * takes. A result is missing where an argument is. */
struct row_call {
    const struct text_format *format;     /* or */
    const struct text_function *function; /* whose constants have been checked */
    const struct row_argument *arguments;
    size_t count;
    int64_t rows;
};

/* The result of each row, on all threads; `workers` may be NULL. Errors as of text_function_apply. */
enum status row_texts_make(const struct row_call *call, const struct workers *workers, struct span span,
                           struct diags *diags, struct text_lookup *results);

#endif
