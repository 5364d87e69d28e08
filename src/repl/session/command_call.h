/* What the implementations of commands share. */
#ifndef RQL_REPL_SESSION_COMMAND_CALL_H
#define RQL_REPL_SESSION_COMMAND_CALL_H

#include "base/diag.h"
#include "base/strbuf.h"
#include "repl/session/commands.h"
#include "repl/session/session.h"

/* A command being run or checked. */
struct command_call {
    struct session *session;
    struct env *env; /* the session's or, in a check, a copy */
    const struct command *command;
    struct name *words; /* the command's name first */
    size_t count;
    struct arena *arena;
    struct diags *diags;
};

/* command_files.c */
enum exit_status run_output(struct command_call *call);
void check_output(struct command_call *call, struct checker *checker);
enum exit_status run_cd(struct command_call *call);
void check_cd(struct command_call *call, struct checker *checker);

/* command_cache.c */
enum exit_status run_cache(struct command_call *call);
void check_cache(struct command_call *call, struct checker *checker);

/* command_schema.c */
enum exit_status run_schema(struct command_call *call);

/* command_connections.c */
enum exit_status run_connections(struct command_call *call);

/* command_tables.c */
enum exit_status run_tables(struct command_call *call);

/* external_editor.c: editing text in the user's editor. */

/* Opens the text in $VISUAL or $EDITOR and appends the result to `edited`, without trailing white space. On failure
 * adds an error at `span`. */
enum status external_editor_run(const char *text, struct span span, struct strbuf *edited, struct diags *diags);

#endif
