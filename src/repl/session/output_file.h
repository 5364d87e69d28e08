/* `.output`: results go to a file. It is written beside its target and renamed when complete, as by `save`. */
#ifndef RQL_REPL_SESSION_OUTPUT_FILE_H
#define RQL_REPL_SESSION_OUTPUT_FILE_H

#include "repl/session/session.h"

/* Completes the current file, if any, and sends later results to `path` or, if that is NULL, to standard output. Adds
 * errors at `span`. */
enum status output_to(struct session *session, const char *path, struct span span, struct diags *diags);

/* Prints to the output file, if there is one, until out.file is NULL again. */
void output_redirect(struct session *session);

/* Returns the format of the file's extension. There must be a file. */
enum print_format output_format(const struct session *session);

/* The path of the file. There must be one. */
const char *output_path(const struct session *session);

/* Drops a file that could not be written and reports the error. */
enum exit_status output_fail(struct session *session);

/* Completes the file at the end of the session, or drops it if the script failed. Returns the worse of `outcome` and
 * that of the file. */
enum exit_status output_finish(struct session *session, enum exit_status outcome);

#endif
