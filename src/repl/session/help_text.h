/* Help that is prose: topics that explain by examples, and what operators mean. */
#ifndef RQL_REPL_SESSION_HELP_TEXT_H
#define RQL_REPL_SESSION_HELP_TEXT_H

#include <stddef.h>

/* A topic. Lines that begin with two spaces are typed one after another where the sample data is; two spaces or more
 * end what is typed. */
struct help_text {
    const char *title;
    const char *summary;
    const char *text;
};
extern const struct help_text help_texts[];
extern const size_t help_text_count;

struct operator_help {
    const char *name;
    const char *usage;
    const char *summary;
    const char *example; /* of constants */
    const char *value;   /* what that prints */
};

/* All operators, from the loosest to the tightest, as docs/language.md has them. */
extern const struct operator_help operator_table[];
extern const size_t operator_count;

#endif
