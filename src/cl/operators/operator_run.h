/* The kernels of an operator, launched one after another.
 *
 * Failures are kept in the accelerator and turn all later calls into no-ops, so an operator is written as straight-line
 * code and checks the status once, at the end. */
#ifndef RQL_CL_OPERATORS_OPERATOR_RUN_H
#define RQL_CL_OPERATORS_OPERATOR_RUN_H

#include "cl/compile/program.h"
#include "cl/memory/memory.h"

#include "engine/backend/backend.h"

struct operator_buffer {
    cl_mem buffer;
    size_t bytes;
};

/* A kernel that has been enqueued. */
struct operator_launch {
    cl_event event;
    const char *what; /* in the timing */
    int64_t bytes;    /* that it moves */
};

struct operator_run {
    struct accelerator *accelerator;
    const struct operator_job *job;
    struct program *program;
    const char *title;               /* of the operator, for timing */
    struct operator_buffer *buffers; /* from operator_buffer */
    size_t buffer_count, buffer_capacity;
    struct operator_launch *launches; /* not waited for yet */
    size_t launch_count, launch_capacity;
    bool uploading; /* operator_upload was last */
    bool unable;    /* reported by a note */
};

/* Begins a run with the program of `text`, building it if it is new. Kernels are launched by their index in `names`. */
struct operator_run operator_begin(struct accelerator *accelerator, const struct operator_job *job, const char *text,
                                   const char *const *names, size_t count);

/* Ends a run and releases its buffers and the views of columns. Returns STATUS_OK, STATUS_UNABLE with a note, or
 * STATUS_CANCELLED. */
enum status operator_end(struct operator_run *run);

/* Whether the run has failed or was interrupted. */
bool operator_stopped(const struct operator_run *run);

/* Returns device memory that is valid until operator_end, evicting cached columns if needed. */
cl_mem operator_buffer(struct operator_run *run, size_t bytes);

/* Kernel arguments in order; values are copied. */
struct arguments {
    struct arena *arena;
    struct operator_argument *at;
    size_t count, capacity;
};

void argument_add(struct arguments *arguments, size_t size, const void *bytes); /* NULL: local memory */
void argument_buffer(struct arguments *arguments, cl_mem buffer);
void argument_view(struct arguments *arguments, const struct view *view); /* its buffer and its first element */
void argument_uint(struct arguments *arguments, uint64_t number);
void argument_ulong(struct arguments *arguments, uint64_t number);
struct arguments arguments_copy(const struct arguments *arguments); /* to which others may be added */

/* Runs a kernel over groups * local work-items, to its end. `what` names it in the timing; `bytes` is what it moves. */
void operator_run(struct operator_run *run, size_t kernel, size_t groups, size_t local,
                  const struct arguments *arguments, const char *what, int64_t bytes);

/* The same for a kernel whose results only later kernels of the run read. On a device with its own memory it is only
 * enqueued: the next operator_run waits for it too, as does operator_end. Elsewhere kernels take long enough for an
 * interrupt to be looked for after each. */
void operator_enqueue(struct operator_run *run, size_t kernel, size_t groups, size_t local,
                      const struct arguments *arguments, const char *what, int64_t bytes);

/* Copy between a buffer and the host, synchronously. */
void operator_read(struct operator_run *run, cl_mem buffer, size_t bytes, void *host);
void operator_write(struct operator_run *run, cl_mem buffer, size_t bytes, const void *host);

/* Replaces `count` numbers in a buffer by their exclusive sums; returns the total, 0 if the run has stopped. */
uint32_t operator_sum_exclusive(struct operator_run *run, cl_mem buffer, size_t count);

/* Copies to the start of a buffer without waiting: `host` has to stay as it is until operator_end. */
void operator_upload(struct operator_run *run, cl_mem buffer, size_t bytes, const void *host);

/* Whether kernels have raised memory_flag, after waiting for them; clears it. */
bool operator_raised(struct operator_run *run, cl_mem flag);

#endif
