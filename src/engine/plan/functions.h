/* The built-in functions, as a table for binder, help, completion and docs. */
#ifndef RQL_ENGINE_PLAN_FUNCTIONS_H
#define RQL_ENGINE_PLAN_FUNCTIONS_H

#include "engine/plan/code.h"

/* What a function takes and gives. If an argument is missing, so is the result, except of SIGNATURE_MISSING. */
enum signature {
    SIGNATURE_SAME,      /* a number, decimal or duration; the result has its type, of OP_SIGN it is an integer */
    SIGNATURE_ORDERED,   /* values of one type that has an order; the result has that type */
    SIGNATURE_FLOAT,     /* numbers, converted to float; the result is a float */
    SIGNATURE_FLOAT_INT, /* a number, converted to float, and an integer; the result is a float */
    SIGNATURE_INT,       /* integers; the result is an integer or bool */
    SIGNATURE_TEXT,      /* text, then constants: the text_function of this name */
    SIGNATURE_PART,      /* a date or timestamp: the calendar_part of this name */

    /* Of several types, each in its own way. */
    SIGNATURE_TO_INT,
    SIGNATURE_TO_FLOAT,
    SIGNATURE_TO_DATE,
    SIGNATURE_TO_TIMESTAMP,
    SIGNATURE_ROUND,
    SIGNATURE_DIV,
    SIGNATURE_TRUNC,
    SIGNATURE_BUCKET,
    SIGNATURE_TO_TEXT, /* anything, to text */
    SIGNATURE_TO_TIME, /* a timestamp or text; the result is a duration */
    SIGNATURE_NOW,
    SIGNATURE_TODAY,
    SIGNATURE_FORMAT,
    SIGNATURE_CONCAT,
    SIGNATURE_MISSING,
    SIGNATURE_RANDOM,
    SIGNATURE_ROWS /* reads other rows: bound by its name */
};

enum { MANY_ARGUMENTS = 255 }; /* `most` of a function of any number, which are combined from the left */

struct function {
    const char *name;
    int least, most; /* arguments */
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
