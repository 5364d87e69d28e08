/* Regular expressions: PCRE2's, of code points, with Unicode's classes for \w, \d and the like. */
#ifndef RQL_ENGINE_TEXT_FUNCTIONS_REGEX_H
#define RQL_ENGINE_TEXT_FUNCTIONS_REGEX_H

#include "engine/values/dictionary.h"

/* A compiled pattern, which threads may share. */
struct regex;

enum { REGEX_MESSAGE = 256 };

/* NULL if the pattern is wrong, or this build has no PCRE2: `message` is then what is wrong, and *offset the byte of
 * the pattern at which it was found. */
struct regex *regex_new(struct text pattern, char message[REGEX_MESSAGE], size_t *offset);
void regex_free(struct regex *regex); /* NULL is allowed */

/* What one thread needs to match; it refers to the regex, which must live longer. */
struct regex_matcher;
struct regex_matcher *regex_matcher_new(const struct regex *regex);
void regex_matcher_free(struct regex_matcher *matcher); /* NULL is allowed */

enum regex_result { REGEX_NO, REGEX_YES, REGEX_TOO_LONG };

/* Whether the pattern matches somewhere in the text. REGEX_TOO_LONG: that needs too many steps or too much memory. */
enum regex_result regex_match(struct regex_matcher *matcher, struct text text);

/* The number of groups in parentheses. */
int regex_groups(const struct regex *regex);

int regex_matcher_groups(const struct regex_matcher *matcher);

/* Finds the first match at or behind byte `from`; `solid`: only one of some bytes, at `from`. */
enum regex_result regex_find(struct regex_matcher *matcher, struct text text, size_t from, bool solid);

/* What a group of that match is, 0: all of it; false: nothing. */
bool regex_group(const struct regex_matcher *matcher, int group, size_t *begin, size_t *end);

#endif
