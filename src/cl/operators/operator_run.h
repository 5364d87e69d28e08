/* Kernels outside the plan of a task: what a breaker launches, one after another.
 *
 * A run of a breaker is a struct tool. Failures are kept in the accelerator and make all that follows do nothing, so
 * that a run is written down straight and asked once at its end whether it went well. */
#ifndef RQL_CL_OPERATORS_OPERATOR_RUN_H
#define RQL_CL_OPERATORS_OPERATOR_RUN_H

#include "cl/compile/program.h"
#include "cl/memory/memory.h"

#include "engine/backend/backend.h"

struct tool_buffer {
    cl_mem buffer;
    size_t bytes;
};

struct tool {
    struct accelerator *accelerator;
    const struct break_job *job;
    struct program *program;
    const char *title;           /* of the breaker, for timing */
    struct tool_buffer *buffers; /* all that tool_buffer has given, */
    size_t buffer_count, buffer_capacity;
    bool unable; /* a note says why */
};

/* Begins a run with the program of this text, built if it is new and launched by name's number in `names`. */
struct tool tool_begin(struct accelerator *accelerator, const struct break_job *job, const char *text,
                       const char *const *names, size_t count);

/* STATUS_OK, or STATUS_UNABLE with a note, or STATUS_CANCELLED; lets go of the buffers and of the views of columns. */
enum status tool_end(struct tool *tool);

/* Whether there is no point in going on: a failure, or the user's interrupt. */
bool tool_stopped(const struct tool *tool);

/* Device memory until tool_end. The memory module's cache of columns gives way when there is not enough. */
cl_mem tool_buffer(struct tool *tool, size_t bytes);

/* An argument of a kernel: its bytes. */
struct tool_argument {
    size_t size;
    const void *bytes;
};

/* Runs kernel number `kernel` over groups * local work-items. `what` names it in the timing, `bytes` are those it
 * moves. */
void tool_run(struct tool *tool, size_t kernel, size_t groups, size_t local, const struct tool_argument *arguments,
              size_t count, const char *what, int64_t bytes);

/* Copies between a buffer and the host, and waits for it. */
void tool_read(struct tool *tool, cl_mem buffer, size_t offset, size_t bytes, void *host);
void tool_write(struct tool *tool, cl_mem buffer, size_t offset, size_t bytes, const void *host);

#endif
