/* Terms of text: constants, codes into dictionaries, and what is computed of them.
 *
 * A term of text is a constant (term.text) or the code of a string in term.logical.dictionary. Columns that have not
 * been read have no dictionary: their terms only say what depends on them, and the statement is bound again when they
 * have been read. */
#ifndef RQL_ENGINE_EXPRESSION_TEXTS_H
#define RQL_ENGINE_EXPRESSION_TEXTS_H

#include "engine/expression/expression.h"

/* texts.c */

/* A constant text. The text lives as long as the binder's arena. */
struct term text_term(struct scope *scope, struct text text, struct span span);

/* A constant text gets a dictionary of its own, so that it can be a column (without a pipeline it stays unknown).
 * Other terms are unchanged. */
struct term term_as_column(struct binder *binder, struct term term);

/* Gives both the same dictionary, one that has the strings of either, and translates their codes. An error if there
 * are too many strings. */
void texts_unify(struct scope *scope, struct term *a, struct term *b, struct span span);

/* A dictionary of one string, with one reference for the caller. */
struct dictionary *dictionary_of_text(struct text text);

/* What a server would make of the text of a column that has not been read, and of `other`, a text or 0. */
struct term text_of_unread(struct scope *scope, const struct text_application *application, struct term text,
                           value other, struct span span);

/* A bool: a OP b, by the order of the strings' bytes, where OP is EQ, NE, LT or LE. Neither is missing. */
value texts_compare(struct scope *scope, enum op op, struct term a, struct term b, struct span span);

/* Whether the dictionary (or NULL) is unsorted: then it is one of binder->ordered from now on. To be asked before its
 * order is used, or that its strings differ. */
bool texts_need_order(struct binder *binder, const struct dictionary *dictionary);

/* Element `code` of a column with an element for each string of the term's dictionary, which the queue takes over. */
value text_lookup(struct scope *scope, struct term term, struct column *column, const char *name, struct span span);

/* builtin_text.c */

/* a like b, a ~ b: a condition. */
struct term bind_text_test(struct scope *scope, const struct expr *expr, struct term a, struct term b);

/* a + b, of which one may be a constant. */
struct term texts_join(struct scope *scope, struct term a, const struct expr *a_expr, struct term b,
                       const struct expr *b_expr, struct span span);

#endif
