/* Text of other languages as words, numbers, quoted text and signs. Nothing is an error, unlike in the lexer of
 * queries: `t.head()` and `1,000` must be readable to be answered. Private to the room. */
#ifndef RQL_REPL_HABITS_HABIT_TOKENS_H
#define RQL_REPL_HABITS_HABIT_TOKENS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum habit_token_kind {
    HABIT_WORD,
    HABIT_NUMBER,
    HABIT_QUOTED, /* with its quotes: "...", '...' or `...` */
    HABIT_SIGN,
    HABIT_END /* after the last token */
};

struct habit_token {
    enum habit_token_kind kind;
    size_t begin, end; /* bytes of the text */
    bool adjacent;     /* no blank before it */
};

struct habit_text {
    const char *text;
    size_t length;
    struct habit_token *tokens; /* the last one is HABIT_END */
    size_t count;               /* without it */
};

/* The tokens of the text, which the result refers to, in the arena. Comments are left out. */
struct habit_text habit_tokenize(const char *text, size_t length, struct arena *arena);

/* Whether the token is this sign, this number or, in any case, this word. */
bool habit_token_is(const struct habit_text *text, size_t token, const char *expected, size_t length);

#endif
