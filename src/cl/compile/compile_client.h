/* A client of the compiler process: rql itself, run in another role (compile.h), so that a compiler that aborts or
 * hangs costs one note. There may be several processes. Each is started by its first job, or before, and exits when
 * idle; it compiles one program at a time, stores it in the cache before it answers, and finishes a job even if its
 * client has ended. Only compiler_wait blocks. */
#ifndef RQL_CL_COMPILE_COMPILE_CLIENT_H
#define RQL_CL_COMPILE_COMPILE_CLIENT_H

#include "cl/compile/program_cache.h"

#include <stdatomic.h>

struct compiler;

/* Runs `executable` with `arguments`, at most six and terminated by NULL, the first being its name, up to `processes`
 * times at once. A job that takes longer than `limit_ms` fails. */
struct compiler *compiler_new(const char *executable, const char *const *arguments, int limit_ms, size_t processes);

/* Starts so many processes before they have jobs: a driver takes seconds to start. */
void compiler_start(struct compiler *compiler, size_t processes);

/* Leaves the processes to finish their jobs. NULL is allowed. */
void compiler_free(struct compiler *compiler);

enum compile_state { COMPILE_PENDING, COMPILE_DONE, COMPILE_FAILED };

struct compile_job;

/* Submits the program of a key; the key's bytes are copied. */
struct compile_job *compiler_submit(struct compiler *compiler, const struct blob *key);

/* The state of a job. Jobs only progress while somebody polls. */
enum compile_state compiler_poll(struct compiler *compiler, struct compile_job *job);

/* Waits until the job is done or failed, or until `cancel`, which may be NULL, is set. */
enum compile_state compiler_wait(struct compiler *compiler, struct compile_job *job, const atomic_int *cancel);

/* The program of a finished job, owned by the caller; the error text of a failed one, owned by the job. */
struct blob compile_job_program(struct compile_job *job);
const char *compile_job_error(const struct compile_job *job);

/* Frees a job; its answer is ignored. */
void compile_job_free(struct compile_job *job);

/* The protocol, in native layout: a request is its size and the key; an answer is this header and `size` bytes, the
 * program or the error text. */
struct answer {
    uint32_t built; /* 1: a program, 0: an error */
    uint32_t padding;
    uint64_t size;
};

#endif
