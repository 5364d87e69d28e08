/* Parts of a parallel loop of which each needs a carry from all parts before it, such as where its rows begin.
 *
 * A part is published as soon as what it adds to the carry is known. The thread that completes the beginning of the
 * order passes the carry on, over all parts that were published meanwhile, and no part waits until the rows of another
 * are written (after D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016). */
#ifndef RQL_BASE_ORDERED_PARTS_H
#define RQL_BASE_ORDERED_PARTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Adds to the carry what a part adds: called once for each part, in their order, by one thread at a time. */
typedef void pass_fn(void *context, int64_t part);

struct ordered_parts {
    pass_fn *pass;
    void *context;
    int64_t count;
    _Atomic bool *published; /* by part */
    _Atomic int64_t passed;  /* parts passed so far */
    _Atomic bool stopped;
    _Atomic int waiting;
    pthread_mutex_t passing, lock;
    pthread_cond_t changed;
};

void ordered_parts_init(struct ordered_parts *parts, int64_t count, pass_fn *pass, void *context);
void ordered_parts_destroy(struct ordered_parts *parts);

/* Whether all parts before this one have been passed: while it is not published, the carry stays what it needs. */
bool ordered_parts_is_next(const struct ordered_parts *parts, int64_t part);

/* Whether this one has been passed too. */
bool ordered_parts_is_passed(const struct ordered_parts *parts, int64_t part);

void ordered_parts_publish(struct ordered_parts *parts, int64_t part);

/* Waits until the part, which is published, has been passed; false if the loop was stopped. */
bool ordered_parts_wait(struct ordered_parts *parts, int64_t part);

/* Wakes all waiting threads; later waits return false. */
void ordered_parts_stop(struct ordered_parts *parts);

#endif
