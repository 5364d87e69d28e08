/* Data from pipes: named pipes, and those that rql inherits (/dev/stdin, <(...) in shells). A pipe is read to its end
 * once and its data is kept, because it cannot be read again. */
#ifndef RQL_ENGINE_STORAGE_PIPE_INPUT_H
#define RQL_ENGINE_STORAGE_PIPE_INPUT_H

#include "base/parallel.h"
#include "engine/storage/mapped_file.h"

/* All pipes read so far. */
struct pipes;
struct pipes *pipes_new(void);
void pipes_free(struct pipes *pipes);

/* Standard input supplies statements: from now on it is rejected as data. */
void pipes_reserve_stdin(struct pipes *pipes);

/* Standard input. */
#define PATH_STDIN "/dev/stdin"

/* Whether the path is a pipe, or a socket that rql inherited. */
bool path_is_pipe(const char *path);

/* Whether the path is standard input and that is reserved; records an error if so. */
bool pipes_reject(const struct pipes *pipes, const char *path, struct span span, struct diags *diags);

/* All data of the pipe, in memory; the first call waits for it. Sets *mapping to one reference. If cancelled, the next
 * call continues. */
enum status pipes_open(struct pipes *pipes, const char *path, const struct workers *workers, struct span span,
                       struct mapping **mapping, struct diags *diags);

#endif
