/* A script or prompt entry: parsed, checked as a whole, then run statement by statement. */
#ifndef RQL_REPL_SESSION_SCRIPT_H
#define RQL_REPL_SESSION_SCRIPT_H

#include "engine/env/env.h"
#include "parser/parse.h"
#include "repl/session/options.h"
#include "repl/session/session.h"

struct session;

struct script {
    struct arena *arena; /* of the tree and of syntax errors */
    struct source source;
    struct strbuf text;
    struct diags diags;
    enum parse_mode mode;
    enum parse_result parsed;
    int64_t parse_ns;
    struct stmt *first;
    struct script *next; /* in a list of kept or checked scripts */
};

/* Parses the text and takes ownership of it. `name` appears in errors and must outlive the script. */
struct script *script_new(const char *name, struct strbuf *text, enum parse_mode mode);
void script_free(struct script *script);

/* PARSE_EACH if the session goes on after errors. */
enum parse_mode script_mode(const struct session *session);
void script_free_list(struct script *first);

/* Reports all errors or, if there are none, runs the script up to the first statement that fails. Takes ownership; a
 * script that defines functions lives as long as the session. */
enum exit_status script_run(struct session *session, struct script *script);

/* The check of names and types before anything runs. */
struct checker {
    struct session *session;
    struct env *env; /* a copy, in which checked statements define names */
    struct arena *arena;
    struct diags diags;
    struct script *read; /* by .read */
    size_t depth;
    int directory;            /* the original one, if .cd has left it, else -1 */
    struct settings settings; /* as checked commands set them */
};

/* Has servers and caches keep to these settings. */
void set_limits(const struct session *session, const struct settings *settings);

/* Checks all statements and records errors; also for .read. */
void script_check(struct checker *checker, const struct script *script);

/* startup.c: the user's rqlrc. */

/* Runs $XDG_CONFIG_HOME/rql/rqlrc or ~/.config/rql/rqlrc if it exists, unless --no-init was given. */
void startup_run(struct session *session);

#endif
