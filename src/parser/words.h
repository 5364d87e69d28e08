/* The table of words: stage words with their aliases, statement words and word operators. The lexer, error messages,
 * help and completion read it. The rows are in words.def. */
#ifndef RQL_PARSER_WORDS_H
#define RQL_PARSER_WORDS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* The operation of a stage; several words may denote it. */
enum stage_kind {
    STAGE_NONE, /* not a stage word */
#define STAGE(kind, bind, in_groups, facts) STAGE_##kind,
#include "parser/stages.def"
    STAGE_CALL, /* one that the user has defined; no word of the table */
    STAGE_KINDS
};

/* What is true of a stage, beside its syntax. */
enum stage_fact {
    KEEPS_SHAPE = 1 << 0,          /* its rows have the shape of those before, or one that it sets itself */
    DROPS_ROWS = 1 << 1,           /* within `per`, and */
    ORDERS_ROWS = 1 << 2,          /* so that groups come one after another */
    IS_ROW_WISE = 1 << 3,          /* computes each row of itself: rounds of one row may hold it */
    SAYS_NOTHING_OF_ROWS = 1 << 4, /* its expressions are constants, or of groups, rounds, or two values */
    GIVES_VALUE = 1 << 5,          /* a single one, not rows */
    TAKES_VALUE = 1 << 6,          /* may follow a stage that gives one */
    RUNS_REMOTELY = 1 << 7,        /* a server may run it */
    TAKES_SETS = 1 << 8            /* its items may be of sets of columns, `feature_*` */
};

bool stage_does(enum stage_kind stage, enum stage_fact fact);

/* One word. An alias has the stage and token of its canonical word, and no usage, summary or example. */
struct word {
    const char *text;
    const char *canonical; /* the word shown in help; equals text unless this is an alias */
    int token;             /* token of the grammar, shared by words of the same syntax */
    enum stage_kind stage;
    const char *usage;   /* "select E" */
    const char *summary; /* one line for help */
    const char *example; /* a runnable example on the sample data, or NULL */
    bool reserved;       /* a name only in backquotes */
};

/* All rows, in the order of help. */
extern const struct word words[];
extern const size_t word_count;

/* The word of all stages that the user has defined. */
extern const struct word word_of_call;

/* The row of this exact text, or NULL. */
const struct word *word_find(const char *text, size_t length);

/* The row of the canonical word; the word itself unless it is an alias. */
const struct word *word_canonical(const struct word *word);

/* Whether the name needs no backquotes. */
bool name_is_plain(const char *name);

/* The name as written in a query, in backquotes if needed; allocated in the arena or `name` itself. */
const char *name_written(const char *name, struct arena *arena);

#endif
