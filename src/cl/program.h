/* Programs, built once a process: the text is all that tells them apart, and literals are not in it. */
#ifndef RQL_CL_PROGRAM_H
#define RQL_CL_PROGRAM_H

#include "accelerator.h"
#include "text.h"

struct program {
    char *text;
    cl_program program;
    cl_kernel *kernels; /* of a task's program by role, NULL for those that it has not; else in the order named */
    size_t kernel_count;
    bool launched; /* drivers finish their compiling at the first launch, which is seen to before it counts */
    char *why_not; /* if it did not build: what the compiler said */
    uint64_t hash;
};

struct programs *programs_new(void);
void programs_free(struct programs *programs);

/* The program of this text with kernels of these names (NULL: none in this place), built if the text is new; stays
 * until programs_free. NULL, with a note, if it does not build: that is remembered too. */
struct program *program_of_text(struct accelerator *accelerator, const char *text, const char *const *names,
                                size_t count, struct diags *diags);

/* The program of a plan, its kernels by role. */
struct program *program_for(struct accelerator *accelerator, const struct plan *plan, struct diags *diags);

#endif
