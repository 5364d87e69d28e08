/* The built-in functions, as a table for binder, help, completion and docs. */
#ifndef RQL_ENGINE_PLAN_FUNCTIONS_H
#define RQL_ENGINE_PLAN_FUNCTIONS_H

#include "engine/plan/code.h"

/* How arguments are converted before the function is applied. */
enum signature {
    SIGNATURE_SAME,  /* int or float, all converted to float if one is; the result has the same kind */
    SIGNATURE_FLOAT, /* all converted to float; the result is a float */
    SIGNATURE_INT,   /* integers only */
    SIGNATURE_ANY    /* unconverted, bools too */
};

struct function {
    const char *name;
    int arity;
    bool more; /* takes `arity` (2) or more arguments, combined from the left */
    enum signature signature;
    enum op op;                                                             /* the operation, unless `lower` is set */
    value (*lower)(struct code *code, const value *args, struct span span); /* builds the code; args are converted */
    const char *usage;                                                      /* "clamp(x, lo, hi)" */
    const char *summary;
    const char *example; /* an expression of constants and its value: "clamp(7, 0, 5)" */
    const char *value;   /* "5" */
};

/* All functions, in the order of help. */
extern const struct function functions[];
extern const size_t function_count;

/* The function of exactly this name, or NULL. */
const struct function *function_find(const char *name);

#endif
