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
    STAGE_ZIP,
    STAGE_SELECT,
    STAGE_REJECT,
    STAGE_ASSERT,
    STAGE_MAP,
    STAGE_DERIVE,
    STAGE_WITH,
    STAGE_BRAID,
    STAGE_FSTS,
    STAGE_SNDS,
    STAGE_NTH,
    STAGE_PICK,
    STAGE_DROP,
    STAGE_RENAME,
    STAGE_COUNT,
    STAGE_SUM,
    STAGE_PRODUCT,
    STAGE_MIN,
    STAGE_MAX,
    STAGE_MEAN,
    STAGE_AGGREGATE, /* another aggregate function, of the word's name */
    STAGE_TAKE,
    STAGE_SKIP,
    STAGE_TAIL,
    STAGE_SCAN,
    STAGE_REDUCE,
    STAGE_SORT,
    STAGE_TOP,
    STAGE_GROUP,
    STAGE_PER,
    STAGE_DISTINCT,
    STAGE_JOIN,
    STAGE_LOOKUP,
    STAGE_APPEND,
    STAGE_UNPIVOT,
    STAGE_SAMPLE,
    STAGE_REVERSE,
    STAGE_STENCIL,
    STAGE_GATHER,
    STAGE_SCATTER,
    STAGE_SHAPE,
    STAGE_HIST,
    STAGE_DESCRIBE,
    STAGE_PLOT,
    STAGE_SHOW,
    STAGE_SAVE,
    STAGE_REPEAT,
    STAGE_CALL /* one that the user has defined; no word of the table */
};

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
