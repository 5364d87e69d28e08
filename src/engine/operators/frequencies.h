/* How often each string occurs in a column of text. */
#ifndef RQL_ENGINE_OPERATORS_FREQUENCIES_H
#define RQL_ENGINE_OPERATORS_FREQUENCIES_H

#include "base/parallel.h"
#include "engine/storage/column.h"

struct frequencies {
    int64_t *counts; /* by code, malloc'd */
    int64_t codes;   /* strings of the dictionary */
    int64_t distinct, missing;
};

/* Counts the rows of each code. False, with nothing to free, if cancelled. */
bool frequencies_count(struct frequencies *frequencies, const struct column *column, const struct workers *workers);
void frequencies_free(struct frequencies *frequencies);

/* Writes the `most` most frequent codes, of equally frequent ones the first; returns their number. */
size_t frequencies_top(const struct frequencies *frequencies, int64_t *codes, size_t most);

#endif
