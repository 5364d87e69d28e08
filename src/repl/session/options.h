/* The command line, parsed completely before anything runs. */
#ifndef RQL_REPL_SESSION_OPTIONS_H
#define RQL_REPL_SESSION_OPTIONS_H

#include "repl/session/settings.h"

enum exit_status {
    EXIT_FINE = 0,
    EXIT_QUERY = 1,         /* a query failed, or its result could not be written */
    EXIT_USAGE = 2,         /* bad options, or an unreadable script */
    EXIT_INTERRUPTED = 130, /* Ctrl-C outside the prompt */
    EXIT_PIPE = 141         /* standard output is a closed pipe */
};

enum option_action {
    OPTION_SET,
    OPTION_QUERY,
    OPTION_ARGUMENT,
    OPTION_NO_INIT,
    OPTION_SAFE,
    OPTION_HELP,
    OPTION_VERSION
};

struct option_row {
    const char *name;     /* without the dashes */
    char letter;          /* or 0 */
    const char *argument; /* placeholder in help; "": a choice of the setting; NULL: takes no argument */
    enum option_action action;
    const char *setting; /* OPTION_SET */
    const char *value;   /* OPTION_SET without an argument: the value to set */
    const char *summary;
};

extern const struct option_row option_table[];
extern const size_t option_count;

struct options {
    struct settings settings;
    const char **queries; /* -c, in order; malloc'd */
    size_t query_count;
    const char **files; /* data files, malloc'd; then there is no script */
    size_t file_count;
    const char *script;     /* a path, "-" for standard input, or NULL */
    const char **arguments; /* after the script, NAME=TEXT or TEXT; malloc'd */
    size_t argument_count;
    const char **named; /* --arg, NAME=TEXT; malloc'd */
    size_t named_count;
    bool no_init; /* do not run rqlrc */
    bool safe;    /* sandbox.h */
};

enum options_result {
    OPTIONS_RUN,   /* continue */
    OPTIONS_PRINT, /* --help, --version: print `message` and exit */
    OPTIONS_BAD    /* `message` is the error */
};

/* Parses the command line; strings still point into argv. */
enum options_result options_parse(struct options *options, int argc, char *const *argv, struct strbuf *message);
void options_free(struct options *options);

#endif
