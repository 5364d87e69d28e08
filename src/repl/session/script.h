/* A source on its way through the shell: read, parsed, checked as a whole, then run statement by statement. */
#ifndef RQL_REPL_SESSION_SCRIPT_H
#define RQL_REPL_SESSION_SCRIPT_H

#include "repl/session/options.h"

#include "engine/bind/env.h"
#include "parser/parse.h"

struct shell;

struct script {
    struct arena *arena; /* the tree and the errors of parsing */
    struct source source;
    struct strbuf text;
    struct diags diags;
    enum parse_result parsed;
    int64_t parse_ns;
    struct stmt *first;
    struct script *next; /* in the list of those kept or checked */
};

/* Parses a text, which the unit takes over, under a name for errors. */
struct script *script_new(const char *name, struct strbuf *text, enum parse_mode mode);
void script_free(struct script *unit);
void script_free_list(struct script *first);

/* Reports all its errors or, if there are none, runs it up to the first statement that fails. Takes the unit over: one
 * that defines functions is kept as long as the shell. */
enum exit_status script_run(struct shell *shell, struct script *unit);

/* Names and types of a source that are checked before any of it runs. */
struct checking {
    struct shell *shell;
    struct env *env; /* a copy, in which statements define what they would */
    struct arena *arena;
    struct diags diags;
    struct script *read; /* sources that .read brings in */
    size_t depth;
    int folder; /* the folder that .cd has left meanwhile, or -1 */
};

/* Checks all statements, recording errors; for .read. */
void script_check(struct checking *checking, const struct script *unit);

#endif
