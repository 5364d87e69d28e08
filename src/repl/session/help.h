/* Help, generated from the tables of words, functions, commands and settings. */
#ifndef RQL_REPL_SESSION_HELP_H
#define RQL_REPL_SESSION_HELP_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends all names by topic. `width`: cells in a line. */
void help_overview(struct strbuf *out, size_t width);

/* Appends a topic: the usage and summary of each word (statements, stages, functions, ...) in lines of `width` cells
 * (0: unlimited), or a text. Returns false if there is no such topic. */
bool help_topic(struct strbuf *out, const char *topic, size_t width);

/* Appends usage and summary of the words whose help mentions the text. Returns false if none does. */
bool help_search(struct strbuf *out, const char *text, size_t width);

/* Returns topic titles by number; NULL after the last. */
const char *help_title(size_t number);

/* Appends the help on a stage, function, command, setting, operator or format. Returns false if it is none of them. */
bool help_word(struct strbuf *out, const char *word);

/* Finds words spelled similarly, as nearest_names. */
size_t help_nearest(const char *word, const char **nearest, size_t max);

#endif
