/* Texts of rows: what functions of text give that read several columns, or columns other than text.
 *
 * A dictionary has to be known when what reads it is bound, and such a result depends on the rows. So the call is first
 * bound as a value that nobody can compute (OP_TEXT), and the values of its arguments are needed; what comes before the
 * stage runs for these, the texts are made (engine/values/row_texts.h), and the statement is bound again with a column
 * of them beside those of the stage's rows. Calls are found again by their number in the order of binding. */
#ifndef RQL_ENGINE_EXPRESSION_ROW_TEXT_H
#define RQL_ENGINE_EXPRESSION_ROW_TEXT_H

#include "engine/expression/expression.h"
#include "engine/text_functions/row_texts.h"

/* What is made of rows: a text or what a function of text gives; of a group the list of its values, beside a separator,
 * which is not used; or a slice of a list, by its first and last position. */
enum row_result { ROW_TEXT, ROW_COLLECTS, ROW_SLICES };

struct text_use; /* text_use.h */

/* A call: either a format or a function of text. */
struct row_text_use {
    struct scope *scope;
    const char *name; /* of the function, for errors */
    const struct text_format *format;
    const struct text_function *function;
    const struct term *arguments; /* all known */
    size_t count;
    struct span span;
    const struct text *separator; /* as of struct row_call */
    enum row_result makes;
};

/* The result of the call. It is computed at once of constants alone, and of one column of text whose dictionary is
 * known. */
struct term bind_row_text(const struct row_text_use *use);

/* Whether the rows of a text mostly have different ones, so that a function of it is better computed of each row than
 * of each text of the dictionary: its results then need no order, and it is computed of no others. */
bool texts_differ_by_row(const struct scope *scope, const struct term *term);

/* A function of such a text, with constants that have been checked. */
struct term bind_text_by_row(const struct text_use *of);

/* What a term is for a format. */
struct format_argument format_argument_of(const struct scope *scope, const struct term *term);

/* A call whose arguments are needed, or whose result is known. */
struct row_text {
    size_t number;
    struct span span;
    const struct text_format *format;
    const struct text_function *function;
    const struct task *task; /* whose code computes the arguments for its rows, in this binding */
    value value;             /* which stands for the result there */
    const struct term *arguments;
    const struct scalar *constants; /* of arguments[k] where is_constant[k] */
    const bool *is_constant;
    size_t count;
    const struct text *separator;
    enum row_result makes;
    struct column *column; /* the results: one reference; NULL: not known */
    bool ordered;          /* they are to be in order */
};

struct row_texts {
    struct row_text **at;
    size_t count, capacity;
};

void row_texts_add(struct row_texts *texts, struct row_text *text, struct arena *arena);
void row_texts_release(struct row_texts *texts);

/* Whether an OP_TEXT of this application stands for such a result. */
bool is_row_text(const struct text_application *application);

#endif
