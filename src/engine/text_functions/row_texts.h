/* Functions of text that read several columns, or columns other than text: computed for each row, or for each
 * combination of values where there are fewer. */
#ifndef RQL_ENGINE_TEXT_FUNCTIONS_ROW_TEXTS_H
#define RQL_ENGINE_TEXT_FUNCTIONS_ROW_TEXTS_H

#include "engine/text_functions/text_format.h"
#include "engine/text_functions/text_functions.h"

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
    const struct text *separator; /* not NULL: the texts of argument 0 in the rows that have the same integer, from 0
                                     on, as argument 1, with this between them; missing where none of them has one */
    bool any_order;               /* the results may have an unsorted dictionary, as of struct text_items */
};

/* An element: a float, or an integer or code. */
union row_element {
    int64_t integer;
    double number;
};
void row_argument_elements(const struct row_argument *argument, int64_t begin, int64_t count,
                           union row_element *elements);
/* A value of the argument: its constant, or what an element is set to. */
struct scalar row_argument_value(const struct row_argument *argument);
void row_element_set(const struct row_argument *argument, union row_element element, struct scalar *value);
bool row_argument_missing(const struct row_argument *argument, int64_t row);

/* Sets the texts of a batch, which are one behind the other from `at` on. */
void row_texts_set(struct text_batch *batch, int64_t count, const char *at, const size_t *ends);

/* What a format makes is the result as it is. */
extern const struct text_function text_as_made;

/* row_lists.c: of a call with a separator. */
enum status row_lists_make(const struct row_call *call, const struct workers *workers, struct span span,
                           struct diags *diags, struct text_lookup *results);

/* The result of each row, on all threads; `workers` may be NULL. Errors as of text_function_apply. */
enum status row_texts_make(const struct row_call *call, const struct workers *workers, struct span span,
                           struct diags *diags, struct text_lookup *results);

#endif
