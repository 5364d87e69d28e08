/* Text of other languages as words, numbers, quoted text and signs. Nothing is an error, unlike in the lexer of
 * queries: `t.head()` and `1,000` must be readable to be answered. */
#ifndef RQL_REPL_REWRITE_REWRITE_TOKENS_H
#define RQL_REPL_REWRITE_REWRITE_TOKENS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum rewrite_token_kind {
    REWRITE_WORD,
    REWRITE_NUMBER,
    REWRITE_QUOTED, /* with its quotes: "...", '...' or `...` */
    REWRITE_SIGN,
    REWRITE_END /* after the last token */
};

struct rewrite_token {
    enum rewrite_token_kind kind;
    size_t begin, end; /* bytes of the text */
    bool adjacent;     /* no blank before it */
};

struct rewrite_text {
    const char *text;
    size_t length;
    struct rewrite_token *tokens; /* the last one is REWRITE_END */
    size_t count;                 /* without it */
};

/* The tokens of the text, which the result refers to, in the arena. Comments are left out. */
struct rewrite_text rewrite_tokenize(const char *text, size_t length, struct arena *arena);

/* Whether the token is this sign, this number or, in any case, this word. */
bool rewrite_token_is(const struct rewrite_text *text, size_t token, const char *expected, size_t length);

#endif
