/* The pattern language of rewrites.def: patterns over tokens, and their replacements.
 *
 * In a pattern a word matches itself in any case, a sign itself, `head/tail` either word, and `\[` a bracket:
 *   N O    a name                          I J    a number                     D      three digits after a comma
 *   T      quoted text                     U V    the text within quotes       C      a type
 *   F      a function                      G      an aggregate function        R      a named relation
 *   E X Y Z  an expression, without top-level commas and `|`                   L K M  with commas
 *   A B    an operand: a name, a number, text, a call or something in brackets        Q      a stage
 *   P      a path                          S      a path or a name             W      a keyword that is not lower case
 *   H      what follows, up to the end of the statement
 * START is the start of a statement (or what follows `let NAME =` or `explain`), END the end of a stage. `@` before an
 * element: the error is there. `[...]` may be left out. A letter twice stands for the same text twice; longer runs are
 * tried last.
 *
 * In a replacement the letters stand for what they matched, J' for the number less one, @ for the word of an
 * alternative, `[...]` for what is left out if a letter within matched nothing. A type becomes the function that
 * converts to it, a keyword lower case, and a path as a source has `load` before it. */
#ifndef RQL_REPL_REWRITE_REWRITE_PATTERN_H
#define RQL_REPL_REWRITE_REWRITE_PATTERN_H

#include "repl/rewrite/rewrite_tokens.h"

#include "base/strbuf.h"
#include "engine/env/env.h"

enum { REWRITE_LETTERS = 26 };

/* Bytes of the text; the empty capture has end 0. */
struct rewrite_capture {
    size_t begin, end;
};

struct rewrite_match {
    size_t begin, end; /* bytes of the text */
    struct rewrite_capture captures[REWRITE_LETTERS], word;
};

/* Where the error is: bytes of the text. */
struct rewrite_error {
    size_t begin, end;
};

/* Finds the first match of the pattern that touches the error. */
bool rewrite_match(const struct rewrite_text *text, const char *pattern, struct rewrite_error error,
                   const struct env *env, struct arena *arena, struct rewrite_match *match);

/* Appends the replacement of a match. */
void rewrite_expand(struct strbuf *out, const struct rewrite_text *text, const struct rewrite_match *match,
                    const char *replacement);

/* Appends a message, in which {N} stands for what N matched. */
void rewrite_fill(struct strbuf *out, const struct rewrite_text *text, const struct rewrite_match *match,
                  const char *message);

#endif
