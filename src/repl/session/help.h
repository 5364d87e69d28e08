/* Help, made from the tables of words, functions, commands and settings. */
#ifndef RQL_REPL_SESSION_HELP_H
#define RQL_REPL_SESSION_HELP_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends what there is, by name. `width`: cells in a line. */
void help_overview(struct strbuf *out, size_t width);

/* Appends what belongs to a title: what each word of a kind (statements, stages, functions, ...) does, in lines of
 * `width` cells or, if that is 0, one a word; or a text. False if it is none. */
bool help_topic(struct strbuf *out, const char *topic, size_t width);

/* Appends the same of the words whose help tells of a text that is no word. False if none does. */
bool help_search(struct strbuf *out, const char *text, size_t width);

/* The titles, by number; NULL after the last. */
const char *help_title(size_t number);

/* Appends what is known of one word: a stage, function, command, setting, operator or format. False if it is none. */
bool help_word(struct strbuf *out, const char *word);

/* The words nearest to one that is none; as nearest_names. */
size_t help_nearest(const char *word, const char **nearest, size_t max);

#endif
