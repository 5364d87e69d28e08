/* Regular expressions that servers understand as rql does. */
#ifndef RQL_SQL_LOWER_DIALECT_REGEX_H
#define RQL_SQL_LOWER_DIALECT_REGEX_H

#include "base/arena.h"
#include "base/text.h"

#include <stdint.h>

/* In which texts both engines find the same. */
enum regex_texts {
    REGEX_OF_UTF8,    /* in all that are UTF-8, */
    REGEX_OF_CLASSES, /* in those of characters of which all know whether they are letters or digits, */
    REGEX_OF_ASCII    /* or in those of ASCII alone */
};

struct regex_translation {
    struct text pattern; /* in the words of RE2 */
    enum regex_texts texts;
    bool anchored; /* it has ^ or $ */
    bool longer;   /* a match may have a line end more there: it has $, and no group is kept */
    bool empty;    /* it may match nothing */
    bool optional; /* a match may be without the group that is kept */
};

enum { REGEX_ALL_GROUPS = -1 };

/* A pattern of PCRE2, as text_functions/regex.h compiles it, in the words of RE2. Of its groups only the one of the
 * number `kept`, from 1 on, captures there, or all do. False: it has something that the two do not have in common, or
 * that is not known here. */
bool regex_translate(struct text pattern, int64_t kept, struct arena *arena, struct regex_translation *translation);

#endif
