/* A function of one text with constant arguments. */
#ifndef RQL_ENGINE_EXPRESSION_TEXT_USE_H
#define RQL_ENGINE_EXPRESSION_TEXT_USE_H

#include "base/strbuf.h"
#include "engine/expression/expression.h"
#include "engine/storage/kept.h"
#include "engine/text_functions/text_functions.h"

struct text_use {
    struct scope *scope;
    const struct text_function *function;
    struct text_argument args[TEXT_ARGUMENTS];
    int count;
    struct term text;
    const struct expr *text_expr;
    struct span span;
};

/* The result of the use. Records errors, and notes texts that have no result. */
struct term text_use_apply(const struct text_use *use);

/* The result in each row, by the codes of use->text: `lookup` has an element for each string of its dictionary. */
struct term text_use_lookup(const struct text_use *use, const struct text_lookup *lookup);

/* The result of a constant: `lookup` has one element. */
struct term text_use_constant(const struct text_use *use, const struct text_lookup *lookup);

struct logical_type text_result_logical(enum text_result result);

/* Stands for a result that cannot be computed yet: in a check, or before the column `text` is read. It depends on the
 * text, so that the column is read, and is like no other value. */
struct term text_unknown(struct scope *scope, enum text_result result, struct term text, struct span span);

/* text_table.c: what a function gives for each string of a dictionary, as tables by code. */

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
