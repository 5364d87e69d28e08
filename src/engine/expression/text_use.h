/* A function of one text with constant arguments. */
#ifndef RQL_ENGINE_EXPRESSION_TEXT_USE_H
#define RQL_ENGINE_EXPRESSION_TEXT_USE_H

#include "engine/expression/expression.h"
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

#endif
