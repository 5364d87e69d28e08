/* What a function gives for each string of a dictionary, as tables by code. */
#ifndef RQL_ENGINE_EXPRESSION_TEXT_TABLE_H
#define RQL_ENGINE_EXPRESSION_TEXT_TABLE_H

#include "base/strbuf.h"
#include "engine/storage/kept.h"
#include "engine/text_functions/text_functions.h"

struct text_table {
    int refs;
    struct logical_type logical; /* with a reference to its dictionary */
    int64_t count;
    struct column *values;  /* at least one; NULL: bools that are true of these codes alone: */
    int64_t first, end;     /* first .. end - 1 */
    struct column *present; /* NULL: none is missing */
    int64_t missing, cut;   /* as in a lookup */
    int64_t first_missing;
};

struct text_table *text_table_new(const struct text_lookup *lookup); /* NULL: no memory */
void text_table_unref(struct text_table *table);                     /* NULL is allowed */

/* Appends what tells the function with these arguments from all others. */
void text_table_how(struct strbuf *how, const struct text_function *function, const struct text_argument *args,
                    int count);

/* Keeps it for later statements. */
void text_table_keep(struct text_table *table, struct kept *kept, const struct kept_key *key);

#endif
