/* A session: its state, and what every command of it may use. */
#ifndef RQL_REPL_SESSION_SESSION_H
#define RQL_REPL_SESSION_SESSION_H

#include "repl/print/print.h"
#include "repl/print/printer.h"
#include "repl/print/render_diag.h"
#include "repl/session/options.h"
#include "repl/session/platform.h"
#include "repl/session/script.h"

enum { READ_DEPTH = 16, SCRIPT_BYTES = 1 << 30 };

struct shell {
    const struct platform *platform;
    struct settings settings;
    struct file_cache *file_cache;
    struct runner runner;
    struct stats_collector *collector; /* runner.keeper, if the settings allow it */
    int opened_device;                 /* the setting that runner.device was opened for */
    struct printer out;
    bool out_terminal, out_colour; /* of standard output */
    struct output_file *output;    /* the file that results go to, or NULL (output.c) */
    struct render_style errors;    /* how standard error likes them */
    bool prompting;                /* a person types: errors and interrupts do not end the shell */
    bool leaving;                  /* .quit was said */
    bool no_init;                  /* rqlrc is not wanted */
    size_t read_depth;             /* scripts reading scripts */
    struct strbuf query;           /* at the prompt: the entry before this one */
    struct strbuf edited;          /* what .edit made of it, to be run next; usually empty */
    struct script *kept;           /* sources that functions were defined in */
    struct arena *memory;          /* lives as long as the shell */
    const char **told;             /* notes given already */
    size_t told_count;
};

/* Writes text to standard error, whole. */
void shell_complain(const struct strbuf *text);

/* Reports errors and, as the settings allow, notes. */
void shell_report(struct shell *shell, const struct diags *diags);

/* Whether the next query follows one that ended like this. */
bool shell_goes_on(const struct shell *shell, enum exit_status outcome);

/* The style that the settings ask for on this kind of output. */
struct print_style print_style_for(const struct settings *settings, bool terminal, bool colour, size_t width);

/* The style for results now: settings and the terminal's width may have changed. */
struct print_style shell_print_style(const struct shell *shell);

/* Writes what was printed. EXIT_FINE, or what the failure to write means for the shell. */
enum exit_status shell_flush(struct shell *shell);

/* Sends results from now on to a new file, or if `path` is NULL to standard output; completes the file before (all of
 * output.c). Errors are told at `span`. */
enum status output_to(struct shell *shell, const char *path, struct span span, struct diags *diags);

/* What is printed next, until out.file is NULL again, goes where results go. */
void output_begin(struct shell *shell);

/* The format of a file's ending. There is one. */
enum print_format output_format(const struct shell *shell);

/* Gives up a file that could not be written, with an error. */
enum exit_status output_fail(struct shell *shell);

/* Completes the file when the shell ends; one of a script that failed is not kept. The outcome, or that of the file if
 * it is worse. */
enum exit_status output_end(struct shell *shell, enum exit_status outcome);

/* Makes runner.device what the settings ask for. */
void shell_choose_device(struct shell *shell);
void shell_close_device(struct shell *shell);

/* Reads a whole file or, if path is NULL, standard input. On failure adds an error at `span`. */
enum status shell_read(const struct shell *shell, const char *path, struct span span, struct strbuf *text,
                       struct diags *diags);

/* Runs what the user keeps to be run before the prompt (startup.c): $XDG_CONFIG_HOME/rql/rqlrc or ~/.config/rql/rqlrc,
 * if there is one. */
void startup_run(struct shell *shell);

/* Has the user edit a text in $VISUAL or $EDITOR (edit.c); what comes of it goes to `edited`, without blank lines at
 * its end. On failure adds an error at `span`. */
enum status edit_text(const char *text, struct span span, struct strbuf *edited, struct diags *diags);

/* Runs the pipeline of an `explain run` and adds to the output what its tasks took (explain_run.c). */
enum status explain_run(struct shell *shell, const struct stmt *stmt, struct arena *arena, struct diags *diags);

/* Runs a query so many times and appends the least and the median time, building apart (repeat.c). */
enum status repeat_query(struct shell *shell, const struct stmt *stmt, int times, struct strbuf *report,
                         struct diags *diags);

/* Runs a pipeline on every backend, and adds to the output how they compare (compare_backends.c). */
enum status race(struct shell *shell, const struct stmt *stmt, struct arena *arena, struct diags *diags);

#endif
