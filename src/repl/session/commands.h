/* Dot commands: `.help`, `.set` and others. */
#ifndef RQL_REPL_SESSION_COMMANDS_H
#define RQL_REPL_SESSION_COMMANDS_H

#include "repl/session/script.h"

#include <stddef.h>

struct command_call;

struct command {
    const char *name;    /* with the dot */
    const char *usage;   /* the arguments */
    const char *summary; /* one line for help */
    const char *example; /* for help, or NULL */
    size_t least, most;  /* number of arguments */
    enum exit_status (*run)(struct command_call *call);
    /* Checks the call before its script runs and applies its effect to checker->env; NULL: nothing to do. */
    void (*check)(struct command_call *call, struct checker *checker);
};

extern const struct command command_table[];
extern const size_t command_count;

/* Returns the command that a word without its dot stands for, as `quit` does; NULL: none. A defined name of that
 * spelling takes precedence. */
const char *command_of_plain_word(const char *word, size_t length);

/* Runs a command, which prints to session->out; errors are recorded. */
enum exit_status command_run(struct session *session, const struct stmt *stmt, struct arena *arena,
                             struct diags *diags);

/* Checks a command as part of a script. */
void command_check(struct checker *checker, const struct stmt *stmt);

/* command_aliases.c: the names that commands have in other shells. */

/* Returns the command of this name in another shell, such as ".format" for ".mode"; NULL: none. */
const char *command_of_alias(const char *word, size_t length);

#endif
