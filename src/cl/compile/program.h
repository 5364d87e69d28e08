/* Programs, compiled once per process. A program is identified by its text, which contains no literals. */
#ifndef RQL_CL_COMPILE_PROGRAM_H
#define RQL_CL_COMPILE_PROGRAM_H

#include "cl/device/accelerator.h"

#include "base/diag.h"
#include "engine/backend/backend.h"

struct program {
    char *text;
    const char **names;      /* names of its kernels */
    struct compile_job *job; /* while the compiler process compiles it */
    cl_program program;
    cl_kernel *kernels; /* by role for a task's program, NULL for absent ones; else in the order of `names` */
    size_t kernel_count;
    bool compiled; /* it was not in the cache; reset once reported */
    bool launched; /* drivers finish compiling at the first launch, which is not timed */
    char *error;   /* why it did not build, or NULL */
    uint64_t hash;
};

struct programs *programs_new(void);
void programs_free(struct programs *programs);

/* The program of this text with kernels of these names (NULL: absent), from the cache or to be compiled; lives until
 * programs_free. Compiling is started, not waited for. The names are borrowed forever. */
struct program *program_find(struct accelerator *accelerator, const char *text, const char *const *names, size_t count);

/* The program that was remembered for these bytes, or NULL: some are forgotten. The size is a multiple of 8. */
struct program *program_recall(const struct accelerator *accelerator, const char *key, size_t size);
void program_remember(struct accelerator *accelerator, const char *key, size_t size, struct program *program);

/* The program, built. NULL with a note if it does not build, which is remembered. NULL without a note if it is being
 * compiled and the accelerator has no_wait set, or on interrupt. */
struct program *program_ready(struct accelerator *accelerator, struct program *program, struct diags *diags);

/* How far it is. */
enum readiness program_state(struct accelerator *accelerator, struct program *program);

/* program_find and then program_ready, or program_state. */
struct program *program_of_text(struct accelerator *accelerator, const char *text, const char *const *names,
                                size_t count, struct diags *diags);
enum readiness program_begin_text(struct accelerator *accelerator, const char *text, const char *const *names,
                                  size_t count);

/* The number of programs, and of those being compiled by the compiler process. */
size_t programs_count(const struct programs *programs, size_t *under_way);

#endif
