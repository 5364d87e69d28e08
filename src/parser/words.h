/* The vocabulary as a table: stage words with their aliases, statement words and operators spelled as words.
 * The lexer, expected-word lists, help and completion all read it. The rows are in words.def. */
#ifndef RQL_PARSER_WORDS_H
#define RQL_PARSER_WORDS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* What a stage does; several words may name one. */
enum stage_kind {
    STAGE_NONE, /* not a stage word */
    STAGE_ZIP,
    STAGE_SELECT,
    STAGE_REJECT,
    STAGE_ASSERT,
    STAGE_MAP,
    STAGE_DERIVE,
    STAGE_BRAID,
    STAGE_FSTS,
    STAGE_SNDS,
    STAGE_NTH,
    STAGE_PICK,
    STAGE_COUNT,
    STAGE_SUM,
    STAGE_PRODUCT,
    STAGE_MIN,
    STAGE_MAX,
    STAGE_MEAN,
    STAGE_TAKE,
    STAGE_SKIP,
    STAGE_TAIL,
    STAGE_SCAN,
    STAGE_REDUCE,
    STAGE_SORT,
    STAGE_TOP,
    STAGE_GROUP,
    STAGE_DISTINCT,
    STAGE_REVERSE,
    STAGE_STENCIL,
    STAGE_GATHER,
    STAGE_SCATTER,
    STAGE_SHAPE,
    STAGE_HIST,
    STAGE_DESCRIBE,
    STAGE_PLOT,
    STAGE_SHOW,
    STAGE_SAVE
};

/* One word. An alias has the same stage and token as the word it stands for, and neither usage, summary nor example. */
struct word {
    const char *text;
    const char *canonical; /* the word shown in help; equal to text unless this is an alias */
    int token;             /* the grammar's token: words of one syntax share one */
    enum stage_kind stage;
    const char *usage;   /* "select E" */
    const char *summary; /* one line for help */
    const char *example; /* one runnable line on the sample data, or NULL */
    bool reserved;       /* never a name unless backquoted */
};

/* All rows, in the order of help. */
extern const struct word words[];
extern const size_t word_count;

/* The row for exactly this text, or NULL. */
const struct word *word_find(const char *text, size_t length);

/* The row of the word that this one stands for; itself unless it is an alias. */
const struct word *word_canonical(const struct word *word);

/* Whether a name can be written without backquotes. */
bool name_is_plain(const char *name);

/* The name as it is written in a query, between backquotes if it must be. */
const char *name_written(const char *name, struct arena *arena);

#endif
