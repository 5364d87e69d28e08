/* The history file: one entry per line, oldest first, with newlines and backslashes escaped. */
#ifndef RQL_REPL_LINE_HISTORY_H
#define RQL_REPL_LINE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

enum { HISTORY_ENTRIES = 5000 }; /* loaded, and kept when the file is shortened */

struct history;

/* Opens $XDG_STATE_HOME/rql/history or ~/.local/state/rql/history and creates missing directories, private to the user.
 * Never returns NULL; *problem is 0, or an errno if the file cannot be written. */
struct history *history_open(int *problem);
void history_close(struct history *history);

/* Returns the file's path, or NULL if the environment has none. */
const char *history_path(const struct history *history);

/* Passes the newest entries to `add`, oldest first, without repetitions; shortens a long file. */
void history_load(struct history *history, void (*add)(const char *entry));

/* Appends an entry unless it is very long or holds a password or a signature in an address; several sessions may share
 * the file. Returns false if it repeats the last entry. */
bool history_append(struct history *history, const char *entry, size_t length);

#endif
