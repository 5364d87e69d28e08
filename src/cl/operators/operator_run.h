/* Kernels outside the plan of a task: what a breaker launches, one after another.
 *
 * A run of a breaker is a struct operator_run. Failures are kept in the accelerator and make all that follows do
 * nothing, so that a run is written down straight and asked once at its end whether it went well. */
#ifndef RQL_CL_OPERATORS_OPERATOR_RUN_H
#define RQL_CL_OPERATORS_OPERATOR_RUN_H

#include "cl/compile/program.h"
#include "cl/memory/memory.h"

#include "engine/backend/backend.h"

struct operator_buffer {
    cl_mem buffer;
    size_t bytes;
};

struct operator_run {
    struct accelerator *accelerator;
    const struct operator_job *job;
    struct program *program;
    const char *title;               /* of the breaker, for timing */
    struct operator_buffer *buffers; /* all that operator_buffer has given, */
    size_t buffer_count, buffer_capacity;
    bool unable; /* a note says why */
};

/* Begins a run with the program of this text, built if it is new and launched by name's number in `names`. */
struct operator_run operator_begin(struct accelerator *accelerator, const struct operator_job *job, const char *text,
                                   const char *const *names, size_t count);

/* STATUS_OK, or STATUS_UNABLE with a note, or STATUS_CANCELLED; lets go of the buffers and of the views of columns. */
enum status operator_end(struct operator_run *run);

/* Whether there is no point in going on: a failure, or the user's interrupt. */
bool operator_stopped(const struct operator_run *run);

/* Device memory until operator_end. The memory module's cache of columns gives way when there is not enough. */
cl_mem operator_buffer(struct operator_run *run, size_t bytes);

/* An argument of a kernel: its bytes. */
struct operator_argument {
    size_t size;
    const void *bytes;
};

/* Runs kernel number `kernel` over groups * local work-items. `what` names it in the timing, `bytes` are those it
 * moves. */
void operator_run(struct operator_run *run, size_t kernel, size_t groups, size_t local,
                  const struct operator_argument *arguments, size_t count, const char *what, int64_t bytes);

/* Copies between a buffer and the host, and waits for it. */
void operator_read(struct operator_run *run, cl_mem buffer, size_t offset, size_t bytes, void *host);
void operator_write(struct operator_run *run, cl_mem buffer, size_t offset, size_t bytes, const void *host);

#endif
