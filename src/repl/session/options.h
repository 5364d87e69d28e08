/* The command line. All of it is read before anything runs. */
#ifndef RQL_REPL_SESSION_OPTIONS_H
#define RQL_REPL_SESSION_OPTIONS_H

#include "repl/session/settings.h"

enum exit_status {
    EXIT_FINE = 0,
    EXIT_QUERY = 1,         /* a query failed, or its result could not be written */
    EXIT_USAGE = 2,         /* bad options, or a script that cannot be read */
    EXIT_INTERRUPTED = 130, /* Ctrl-C outside the prompt */
    EXIT_PIPE = 141         /* nobody reads standard output any more */
};

enum option_action { OPTION_SET, OPTION_QUERY, OPTION_ARGUMENT, OPTION_NO_INIT, OPTION_HELP, OPTION_VERSION };

struct option_row {
    const char *name;     /* without the dashes */
    char letter;          /* or 0 */
    const char *argument; /* as shown in help, or NULL if it takes none; "" for a setting's choices */
    enum option_action action;
    const char *setting; /* OPTION_SET */
    const char *value;   /* OPTION_SET without an argument: what it is set to */
    const char *summary;
};

extern const struct option_row option_table[];
extern const size_t option_count;

struct options {
    struct settings settings;
    const char **queries; /* -c, in order; malloc'd */
    size_t query_count;
    const char *script;     /* a path, "-" for standard input, or NULL */
    const char **arguments; /* what follows the script, NAME=TEXT or TEXT; malloc'd */
    size_t argument_count;
    const char **named; /* --arg, NAME=TEXT; malloc'd */
    size_t named_count;
    bool no_init; /* the prompt does not read rqlrc */
};

enum options_result {
    OPTIONS_RUN,  /* go on */
    OPTIONS_TELL, /* --help, --version: `message` is to be printed, and that is all */
    OPTIONS_BAD   /* `message` says what is wrong */
};

/* Reads the command line; the strings stay argv's. */
enum options_result options_parse(struct options *options, int argc, char *const *argv, struct strbuf *message);
void options_free(struct options *options);

#endif
