/* Help texts, and the table of operators. */
#ifndef RQL_REPL_SESSION_HELP_TEXT_H
#define RQL_REPL_SESSION_HELP_TEXT_H

#include <stddef.h>

/* A text. Lines that begin with two spaces are examples, run in this order in the directory of the sample data; two or
 * more spaces end an example. */
struct help_text {
    const char *title;
    const char *summary;
    const char *text;
};
extern const struct help_text help_texts[];
extern const size_t help_text_count;

/* help_recipes.c: some of these texts. */
extern const char help_recipes[], help_from_sql[], help_from_pandas[], help_from_q[], help_from_dplyr[],
    help_from_kql[];

struct operator_help {
    const char *name;
    const char *usage;
    const char *summary;
    const char *example; /* of constants */
    const char *value;   /* its output */
};

/* All operators, loosest first, as in docs/language.md. */
extern const struct operator_help operator_table[];
extern const size_t operator_count;

/* Names that have a value of their own in expressions. */
struct name_help {
    const char *name;
    const char *usage;
    const char *summary;
    const char *example; /* a query */
};
extern const struct name_help name_table[];
extern const size_t name_count;

#endif
