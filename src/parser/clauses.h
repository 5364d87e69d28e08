/* The table of clauses of `load`, which say how a text file is written. The rows are in clauses.def. */
#ifndef RQL_PARSER_CLAUSES_H
#define RQL_PARSER_CLAUSES_H

#include <stdbool.h>
#include <stddef.h>

enum clause_kind {
#define CLAUSE(kind, ...) CLAUSE_##kind,
#include "parser/clauses.def"
    CLAUSE_KINDS
};

/* What follows the word of a clause: one of its values, of an encoding also a text. */
enum clause_form { FORM_NONE, FORM_INTEGER, FORM_TEXT, FORM_WORD };

struct clause_info {
    const char *word;
    enum clause_form form;
    const char *values; /* separated by spaces */
    const char *usage, *summary, *example;
};

extern const struct clause_info clause_table[];
extern const size_t clause_count;

/* The clause of this word, or CLAUSE_KINDS. */
enum clause_kind clause_find(const char *text, size_t length);

/* The number of the text among the clause's values, from 0; -1: it is none. */
int clause_value(enum clause_kind kind, const char *text, size_t length);

#endif
