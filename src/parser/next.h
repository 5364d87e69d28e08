/* Completion: what may follow a text being typed, and which parts of it are whole pipelines. */
#ifndef RQL_PARSER_NEXT_H
#define RQL_PARSER_NEXT_H

#include "base/arena.h"
#include "parser/parse.h"

/* What may follow the text; several kinds may. */
enum next_kind {
    NEXT_STATEMENT = 1 << 0,  /* at the start of a statement */
    NEXT_EXPRESSION = 1 << 1, /* an expression */
    NEXT_COLUMN = 1 << 2,     /* a column name only */
    NEXT_SOURCE = 1 << 3,     /* a relation name */
    NEXT_PATH = 1 << 4,       /* a file */
    NEXT_FORMAT = 1 << 5,     /* the format of the file before */
    NEXT_COMBINER = 1 << 6,   /* an operator of scan or reduce */
    NEXT_AXIS = 1 << 7,       /* rows or cols */
    NEXT_AGGREGATE = 1 << 8,  /* an aggregate of group */
    NEXT_STAGE = 1 << 9,      /* a stage that the user has defined */
    NEXT_DIALECT = 1 << 10,   /* --dialect NAME */
    NEXT_CLAUSE = 1 << 11     /* a clause of the file before (clauses.h) */
};

struct next {
    unsigned kinds;
    const struct word **words; /* of the word table, aliases included */
    size_t word_count;
};

/* Sets *next to what may follow `text`, which is parsed as at the prompt and ends where a word may begin. Returns false
 * if it has an error before its end. Everything is allocated in the arena. */
bool next_after(const struct source *text, struct arena *arena, struct next *next);

/* Writes at most `max` parts of `text` that may be pipelines without the stage being typed: what precedes a `|`, from
 * the start or from an open bracket. The likeliest come first. Returns their number. */
size_t next_pipelines(const struct source *text, struct span *parts, size_t max);

#endif
