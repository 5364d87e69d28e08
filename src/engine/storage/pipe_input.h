/* Data that comes through pipes: named ones, and those that rql was started with (/dev/stdin, <(...) in shells). What
 * comes through one is read to its end, once, and stays, because nothing else could give it again. */
#ifndef RQL_ENGINE_STORAGE_PIPE_INPUT_H
#define RQL_ENGINE_STORAGE_PIPE_INPUT_H

#include "base/parallel.h"
#include "engine/storage/mapped_file.h"

/* All pipes that have been read from. */
struct pipes;
struct pipes *pipes_new(void);
void pipes_free(struct pipes *pipes);

/* From now on standard input is where statements come from: it is refused as data. */
void pipes_reserve_stdin(struct pipes *pipes);

/* Whether the path names a pipe, or a socket that rql was started with. */
bool path_is_pipe(const char *path);

/* Whether the path is standard input and that is kept, which is told as an error. */
bool pipes_reject(const struct pipes *pipes, const char *path, struct span span, struct diags *diags);

/* All that comes through the pipe, in memory; the first time it waits for it. Ends early if the crew is cancelled, and
 * goes on from there the next time. */
enum status pipes_open(struct pipes *pipes, const char *path, const struct workers *workers, struct span span,
                       struct mapping **mapping, struct diags *diags);

#endif
