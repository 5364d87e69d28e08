/* Expressions of other languages as this one writes them, with what is known of their values.
 *
 * A translator reads tokens once and makes phrases, from the inside out: there is no tree. A phrase without a text is
 * one that cannot be said here; the first reason that is given is told to the user (translator.h). */
#ifndef RQL_REPL_REWRITE_PHRASE_H
#define RQL_REPL_REWRITE_PHRASE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum phrase_type {
    PHRASE_UNKNOWN,
    PHRASE_INT,
    PHRASE_FLOAT,
    PHRASE_DECIMAL,
    PHRASE_BOOL,
    PHRASE_TEXT,
    PHRASE_DATE,
    PHRASE_TIMESTAMP,
    PHRASE_DURATION,
    PHRASE_MISSING
};

/* How tightly an expression's outermost operator binds, from loosest to tightest, as in grammar.y. */
enum phrase_level {
    LEVEL_CHOICE,
    LEVEL_COALESCE,
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_EQUALITY,
    LEVEL_RANGE,
    LEVEL_COMPARISON,
    LEVEL_SUM,
    LEVEL_PRODUCT,
    LEVEL_SIGN,
    LEVEL_OPERAND
};

/* The rows that a window function sees, as expressions after `per` and `sort`; NULL: none. */
struct phrase_window {
    const char *partition;
    const char *order;
};

struct phrase {
    const char *text; /* NULL: it cannot be said */
    enum phrase_level level;
    enum phrase_type type;
    bool optional;                      /* values may be missing */
    bool aggregate;                     /* it has an aggregate of the rows or of a group */
    bool other_rows;                    /* it reads other rows: running sums, shifts, ranks */
    bool original;                      /* in pandas: of a frame of which the chain has not all rows in their order */
    const struct phrase_window *window; /* of its window functions, or NULL */
    const char *raw;                    /* of a text literal: its characters; else NULL */
    const char *column;                 /* of a plain column: its name; else NULL */
    const char *root;                   /* in lines of Polars: what its column is called, or NULL */
    bool named;                         /* by an `alias` */
};

/* A phrase of a call or another operand. */
struct phrase phrase_operand(const char *text, enum phrase_type type);

/* The missing value. */
struct phrase phrase_missing(void);

/* The text, in parentheses if it binds looser than the level. */
const char *phrase_at(const struct phrase *phrase, enum phrase_level level, struct arena *arena);

/* Takes over from an operand what its result has, too: missing values, aggregates, windows. False: windows differ. */
bool phrase_inherit(struct phrase *result, const struct phrase *operand);

/* `A op B` at a level, with the parentheses that it needs. The operator has its blanks. */
struct phrase phrase_binary(const struct phrase *a, const char *op, const struct phrase *b, enum phrase_level level,
                            enum phrase_type type, struct arena *arena);

/* A literal of text. */
struct phrase phrase_text(const char *raw, struct arena *arena);

/* A name, in backquotes if it has to be. */
const char *phrase_name(const char *name, struct arena *arena);

/* The literal of a date or a timestamp that the characters write, as 2024-01-31 or 2024-01-31 09:30; of a date, as a
 * timestamp, midnight. NULL: they write none. */
const char *phrase_time_literal(const char *raw, enum phrase_type type, struct arena *arena);

/* A condition that is false where it would be missing. */
struct phrase phrase_certain(struct phrase condition, struct arena *arena);

/* A phrase with the operands in place of A, B and C, in parentheses where they need them. */
struct phrase phrase_fill(const char *form, enum phrase_level level, enum phrase_type type,
                          const struct phrase *operands, size_t count, struct arena *arena);

#endif
