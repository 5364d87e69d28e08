/* What commands share that are in files of their own; for them only. */
#ifndef RQL_REPL_SESSION_COMMAND_CALL_H
#define RQL_REPL_SESSION_COMMAND_CALL_H

#include "repl/session/commands.h"
#include "repl/session/session.h"

/* A command being run or checked. */
struct command_call {
    struct shell *shell;
    struct env *env; /* the shell's, or the copy that is checked against */
    const struct command *command;
    struct name *words; /* the command's own word first */
    size_t count;
    struct arena *arena;
    struct diags *diags;
};

/* Where results go, and where paths begin (command_files.c). */
enum exit_status run_output(struct command_call *call);
void check_output(struct command_call *call, struct checking *checking);
enum exit_status run_cd(struct command_call *call);
void check_cd(struct command_call *call, struct checking *checking);

/* What has been named (tables.c). */
enum exit_status run_tables(struct command_call *call);

#endif
