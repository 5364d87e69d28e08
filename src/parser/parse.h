/* Text to syntax tree. Reentrant: all state is in the arguments. */
#ifndef RQL_PARSER_PARSE_H
#define RQL_PARSER_PARSE_H

#include "base/arena.h"
#include "base/diag.h"
#include "parser/ast.h"

/* Documented limits, each with its own error. */
enum {
    LIMIT_LOCALS = 255,     /* names that one `let` defines within an expression */
    LIMIT_NESTING = 200,    /* nested brackets, unary operators and ?: */
    LIMIT_DEPTH = 5000,     /* levels of an expression's tree: operators in a row, such as a + b + c + ... */
    LIMIT_IDENTIFIER = 255, /* bytes */
    LIMIT_TEXT = 1 << 30,   /* bytes of one source */
    LIMIT_STAGES = 50000,   /* in one pipeline */
    LIMIT_TERMS = 1000000,  /* expression nodes in one statement */
    LIMIT_ERRORS = 20       /* shown for one source */
};

enum parse_result {
    PARSE_OK,
    PARSE_INCOMPLETE, /* only with PARSE_PROMPT: the statement needs more lines */
    PARSE_FAILED      /* errors were recorded; the other statements are still returned */
};

enum parse_mode {
    PARSE_SCRIPT, /* a leading | continues the pipeline before it, across blank and comment lines */
    PARSE_EACH,   /* likewise; its statements run although others have errors, all of which are recorded */
    PARSE_PROMPT  /* a leading | at the start of the text continues the last result; text may be incomplete */
};

/* Parses a whole source. *first becomes the list of statements that parsed, possibly NULL. After an error the parser
 * continues with the next statement, but for PARSE_EACH up to LIMIT_ERRORS errors. */
enum parse_result parse(const struct source *source, enum parse_mode mode, struct arena *arena, struct diags *diags,
                        struct stmt **first);

/* Writes the open delimiters of an incomplete text, innermost last, such as "(" or "|", to `open`: at most size-1
 * bytes. For the continuation prompt. */
void parse_open_delimiters(const struct source *source, char *open, size_t size);

#endif
