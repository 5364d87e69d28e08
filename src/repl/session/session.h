/* The state of a session and what every command may use. */
#ifndef RQL_REPL_SESSION_SESSION_H
#define RQL_REPL_SESSION_SESSION_H

#include "engine/run/run.h"
#include "repl/print/print.h"
#include "repl/print/render_diag.h"
#include "repl/session/options.h"
#include "repl/session/platform.h"

struct progress_bar; /* progress_bar.h */

enum { MAX_READ_DEPTH = 16, MAX_SCRIPT_BYTES = 1 << 30 };

struct session {
    const struct platform *platform;
    struct settings settings;
    struct file_cache *file_cache;
    struct runner runner;
    struct stats_collector *collector; /* runner.collector unless statistics are off */
    int opened_device;                 /* the setting that runner.device was opened for */
    struct printer out;
    bool out_terminal, out_colour; /* of standard output */
    struct output_file *output;    /* results go here, or NULL (output_file.h) */
    struct render_style errors;    /* for standard error */
    bool interactive;              /* at the prompt: errors and interrupts do not end the session */
    bool quitting;                 /* after .quit */
    bool closes;                   /* the script that is run next is the last */
    bool starting;                 /* running rqlrc, in which lines that fail are skipped */
    bool no_init;                  /* do not run rqlrc */
    size_t read_depth;             /* of nested .read */
    const char *data_name;         /* of the last data file on the command line, or NULL (data_files.h) */
    /* At the prompt: appends the newest `most` entries of its history, oldest first; else NULL. */
    void (*list_history)(struct strbuf *out, size_t most);
    struct strbuf query;    /* at the prompt: the previous entry */
    struct strbuf edited;   /* the text that .edit returned, to run next; usually empty */
    struct script *scripts; /* kept because they define functions */
    struct arena *memory;   /* lives as long as the session */
    int64_t memory_bytes;   /* that the process may use, as it started */
    const char **shown_notes;
    size_t shown_note_count;
};

/* Writes all of the text to standard error. */
void write_stderr(const struct strbuf *text);

/* Prints errors and, as the settings allow, notes. */
void session_report(struct session *session, const struct diags *diags);

/* Returns whether the next query runs after one with this outcome. */
bool session_continues(const struct session *session, enum exit_status outcome);

/* Returns the style that the settings ask for on such an output. */
struct print_style print_style_for(const struct settings *settings, bool terminal, bool colour, size_t width);

/* Returns the current style of results; settings and the terminal's size may change between queries. */
struct print_style session_print_style(const struct session *session);

/* Returns the style of tables about a run: as for results, but with headers and never tsv. */
struct print_style session_report_style(const struct session *session);

/* At a prompt with line editing: what is printed from now on goes to a pager if it exceeds the screen. */
void session_begin_page(struct session *session);

/* Writes what was printed, and waits for the pager, if there is one. A failure returns the exit status that it means.
 */
enum exit_status session_flush(struct session *session);

/* Shows progress until session_stop_progress, where standard error is a terminal and messages are wanted. */
void session_start_progress(struct session *session, struct progress_bar *bar);
void session_stop_progress(struct session *session, struct progress_bar *bar);

/* The exit status that the end of a query means. */
enum exit_status exit_status_for(enum status status);

/* Opens the device that the settings ask for, unless it is open. */
void session_choose_device(struct session *session);
void session_close_device(struct session *session);

/* Opens it, waits until it has started, and returns whether there is such a device. */
bool session_has_device(struct session *session);

/* Appends a whole file, or standard input if `path` is NULL. On failure adds an error at `span`. */
enum status session_read(const struct session *session, const char *path, struct span span, struct strbuf *text,
                         struct diags *diags);

/* show_result.c: shows a result: prints or plots it, or lets the user scroll through it. */

/* Reads the rows that are shown where columns are unread (column.h), and shows them. Reports errors at `span`; `diags`
 * is cleared first. `browse` may leave another relation in the result; *browsed_ns is how long the user scrolled. */
enum exit_status show_result(struct session *session, struct result *result, struct span span, int64_t *browsed_ns,
                             struct diags *diags);

#endif
