/* Data files on the command line: `rql trades.csv`. */
#ifndef RQL_REPL_SESSION_DATA_FILES_H
#define RQL_REPL_SESSION_DATA_FILES_H

#include "repl/session/options.h"

struct session;

/* Whether the argument is a file to load, by its extension, or an address; else it is a script. */
bool is_data_file(const char *argument);

/* Loads each file and names it by its stem. session->data_name becomes the last one. */
enum exit_status data_files_define(struct session *session, const struct options *options);

/* Prints the head of the last one, which `_` and a line that begins with `|` then mean. */
enum exit_status data_files_show(struct session *session);

/* Adds the path as a string of the language. */
void add_quoted_path(struct strbuf *text, const char *path);

/* A text that begins with `|` continues the last one. */
void data_files_continue(const struct session *session, struct strbuf *text);

/* arguments.c: arguments of a script, `--arg` and what follows the script on the command line. */

struct session;

/* Defines each argument, NAME=VALUE or NAME:TYPE=VALUE, other text as arg1, arg2, ... by its position among all. VALUE
 * is never run: it is the literal of a number, condition, date, time stamp or duration, or a text. Reports errors and
 * then returns EXIT_USAGE. */
enum exit_status arguments_define(struct session *session, const struct options *options);

#endif
