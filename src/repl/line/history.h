/* The history file: one entry a line, oldest first, with newlines and backslashes of an entry escaped. */
#ifndef RQL_REPL_LINE_HISTORY_H
#define RQL_REPL_LINE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

enum { HISTORY_ENTRIES = 5000 }; /* loaded and kept */

struct history;

/* $XDG_STATE_HOME/rql/history or ~/.local/state/rql/history, with its directories made for the user alone. Never
 * NULL; *problem is set to what is wrong (an errno) if the file cannot be kept, else to 0. */
struct history *history_open(int *problem);
void history_close(struct history *history);

/* The file's path, or NULL if there is no place for it. */
const char *history_path(const struct history *history);

/* Hands the newest entries to `add`, oldest first and each once, where it came last; shortens a file that has grown
 * long. */
void history_load(struct history *history, void (*add)(const char *entry));

/* Appends an entry unless it is very long. Other shells may append to the same file. False if it repeats the entry
 * before: then there is nothing to remember. */
bool history_append(struct history *history, const char *entry, size_t length);

#endif
