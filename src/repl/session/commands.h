/* Dot commands: what is said to the shell rather than asked of the data. */
#ifndef RQL_REPL_SESSION_COMMANDS_H
#define RQL_REPL_SESSION_COMMANDS_H

#include "repl/session/script.h"

#include <stddef.h>

struct command_call;

struct command {
    const char *name;    /* with the dot */
    const char *usage;   /* what may follow it */
    const char *summary; /* one line for help */
    const char *example; /* for help, or NULL where its name says it all */
    size_t least, most;  /* words after it */
    enum exit_status (*run)(struct command_call *call);
    /* Checks it before the source it is in runs, and changes checking->env as it would; NULL: nothing to do. */
    void (*check)(struct command_call *call, struct checking *checking);
};

extern const struct command command_table[];
extern const size_t command_count;

/* The command that people mean by a word who know nothing of dots, as `quit`; NULL if they mean none. It is one only
 * where nothing has that name. */
const char *command_of_plain_word(const char *word, size_t length);

/* Runs a command, adding to the shell's output; errors are recorded. */
enum exit_status command_run(struct shell *shell, const struct stmt *stmt, struct arena *arena, struct diags *diags);

/* Checks one as part of a source. */
void command_check(struct checking *checking, const struct stmt *stmt);

#endif
