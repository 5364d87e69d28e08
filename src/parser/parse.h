/* Text to syntax tree. Reentrant: all state is in the arguments. */
#ifndef RQL_PARSER_PARSE_H
#define RQL_PARSER_PARSE_H

#include "base/arena.h"
#include "base/diag.h"
#include "parser/ast.h"

/* Documented limits, each with an error of its own. */
enum {
    LIMIT_NESTING = 200,    /* brackets, unary operators and ?: within one another */
    LIMIT_DEPTH = 5000,     /* levels of an expression's tree: operators in a row, such as a + b + c + ... */
    LIMIT_IDENTIFIER = 255, /* bytes */
    LIMIT_TEXT = 1 << 30,   /* bytes of one source */
    LIMIT_STAGES = 50000,   /* in one pipeline */
    LIMIT_TERMS = 1000000,  /* expression nodes in one statement */
    LIMIT_ERRORS = 20       /* reported in one source */
};

enum parse_result {
    PARSE_OK,
    PARSE_INCOMPLETE, /* only with PARSE_PROMPT: more lines are wanted */
    PARSE_FAILED      /* errors were recorded; statements that parsed are still returned */
};

enum parse_mode {
    PARSE_SCRIPT, /* a leading | goes on with the pipeline before it, over blank and comment lines */
    PARSE_PROMPT  /* a leading | at the start of the text refines the last result; text may be incomplete */
};

/* Parses a whole source. *first is the list of statements that parsed (possibly NULL). On an error the parser
 * skips to the next statement and goes on, recording at most LIMIT_ERRORS errors. */
enum parse_result parse(const struct source *source, enum parse_mode mode, struct arena *arena, struct diags *diags,
                        struct stmt **first);

/* For an incomplete text: which delimiters are open, innermost last, as a short text such as "(" or "|"; for the
 * continuation prompt. Written to `open`, at most size-1 bytes. */
void parse_open_delimiters(const struct source *source, char *open, size_t size);

#endif
