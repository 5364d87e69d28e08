/* Programs, built once a process: the text is all that tells them apart, and literals are not in it. */
#ifndef RQL_CL_COMPILE_PROGRAM_H
#define RQL_CL_COMPILE_PROGRAM_H

#include "cl/device/accelerator.h"

#include "base/diag.h"
#include "engine/backend/readiness.h"

struct program {
    char *text;
    const char **names;  /* of its kernels */
    struct order *order; /* while it is compiled elsewhere */
    cl_program program;
    cl_kernel *kernels; /* of a task's program by role, NULL for those that it has not; else in the order named */
    size_t kernel_count;
    bool made;     /* it was not in the cache; until that has been told */
    bool launched; /* drivers finish their compiling at the first launch, which is seen to before it counts */
    char *why_not; /* if it did not build: what the compiler said */
    uint64_t hash;
};

struct programs *programs_new(void);
void programs_free(struct programs *programs, struct compiler *compiler);

/* The program of this text with kernels of these names (NULL: none in this place), loaded from the cache or built if
 * the text is new; stays until programs_free. NULL, with a note, if it does not build: that is remembered too. NULL
 * without one if it is being built and the accelerator is no_wait, or the user interrupted. The names' text is borrowed
 * for good.
 */
struct program *program_of_text(struct accelerator *accelerator, const char *text, const char *const *names,
                                size_t count, struct diags *diags);

/* Has the program of a text built if it is new, without waiting, and says how far it is. */
enum readiness program_begin_text(struct accelerator *accelerator, const char *text, const char *const *names,
                                  size_t count);

/* How many programs there are, and how many of them are being built elsewhere. */
size_t programs_count(const struct programs *programs, size_t *under_way);

#endif
