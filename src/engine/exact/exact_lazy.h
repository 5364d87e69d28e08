/* Lazy evaluation of a queue's values, one at a time. Private to exact*.c.
 *
 * Each task has a memo: its values at one row. A value is computed when something reads it; what it is computed from,
 * also in earlier tasks, is computed first, by way of a stack of its own: expressions and chains of tasks may be far
 * longer than the C stack is deep. Reading a value of an earlier task moves that task to the row wanted. Tasks only
 * read earlier ones, so no task is moved while it is being evaluated. */
#ifndef RQL_ENGINE_EXACT_EXACT_LAZY_H
#define RQL_ENGINE_EXACT_EXACT_LAZY_H

#include "engine/backend/backend.h"
#include "engine/backend/datum.h"

/* Values of a task's output that are kept, of all result rows: what a breaker computed, or what is read more than once
 * because later tasks look at their neighbours' rows. */
struct kept_values {
    struct column *values; /* NULL: they are not kept */
    struct column *states; /* a byte for each; NULL: all are there */
};
enum { VALUE_MISSING, VALUE_THERE, VALUE_FAILED };

struct lazy_task {
    const struct task *task;
    int64_t rows;      /* that it reads */
    int64_t row;       /* the task row whose values are being computed */
    union datum *memo; /* of each value, */
    int64_t *computed; /* and the row it was computed for, plus 1 */

    /* Result row i is task row kept[i] (-1: a row of zeroes), or begin + i. */
    struct column *kept;
    int64_t begin;
    int64_t count;
    struct kept_values *outputs; /* of each output; of breakers that do not carry their outputs there is nothing else */
    bool *jumps;                 /* which outputs are read at other rows than the reader's own */

    /* Of a scan: the column's values, which an error is about. */
    struct column *scanned;
};

struct frame {
    struct lazy_task *lazy;
    value value;
};

struct exact {
    struct arena *arena;
    struct lazy_task *tasks;
    int64_t *given; /* rows of each */
    struct frame *stack;
    size_t depth, capacity;
    uint32_t ticks;
    const atomic_int *cancel;
    struct diags *diags;

    /* The last task's results: one of these. */
    struct agg_state *states;
    struct column **columns;
};

void lazy_init(struct lazy_task *lazy, const struct task *task, struct arena *arena);
void lazy_release(struct lazy_task *lazy);

/* To be asked now and then in long loops. */
bool exact_cancelled(struct exact *exact);
enum status exact_no_memory(const struct exact *exact, const struct task *task, int64_t rows);

/* The value of a task at one of its rows. */
enum status exact_value(struct exact *exact, struct lazy_task *lazy, int64_t row, value v, union datum *result);

/* What the task's input holds at one of its rows, */
enum status exact_input(struct exact *exact, struct lazy_task *lazy, size_t input, int64_t row, union datum *result);

/* and what a task gives as its output k in a result row. */
enum status exact_output(struct exact *exact, struct lazy_task *lazy, size_t k, int64_t row, union datum *result);

#endif
