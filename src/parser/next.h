/* What may come next in a text that is being typed, and which parts of it are whole pipelines: for completion. */
#ifndef RQL_PARSER_NEXT_H
#define RQL_PARSER_NEXT_H

#include "base/arena.h"
#include "parser/parse.h"

/* Kinds of what may stand at the end of the text; several may. */
enum next_kind {
    NEXT_STATEMENT = 1 << 0,  /* nothing of a statement has been said yet */
    NEXT_EXPRESSION = 1 << 1, /* an expression begins */
    NEXT_COLUMN = 1 << 2,     /* a column's name and nothing but that */
    NEXT_SOURCE = 1 << 3,     /* a relation's name */
    NEXT_PATH = 1 << 4,       /* a file */
    NEXT_FORMAT = 1 << 5,     /* the format of a file just named, such as its elements' type */
    NEXT_COMBINER = 1 << 6,   /* what scan and reduce combine by */
    NEXT_AXIS = 1 << 7,       /* rows or cols */
    NEXT_AGGREGATE = 1 << 8   /* what is computed of each group, and no other expression */
};

struct next {
    unsigned kinds;
    const struct word **words; /* of the vocabulary, aliases included */
    size_t word_count;
};

/* What may come after `text`, which is as if typed at the prompt and ends where a word may begin. False if it has an
 * error before its end. Everything is allocated in the arena. */
bool next_after(const struct source *text, struct arena *arena, struct next *next);

/* Parts of `text` that may be a pipeline complete but for the stage being typed at its end: what is before a `|`, from
 * the beginning or from a bracket that is open. The likeliest come first. Returns how many, at most `most`. */
size_t next_pipelines(const struct source *text, struct span *parts, size_t most);

#endif
