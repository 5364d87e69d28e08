/* Work shared out among threads for one call: what runs in parallel is seen in the text of its caller. */
#ifndef RQL_BASE_PARALLEL_H
#define RQL_BASE_PARALLEL_H

#include "base/progress.h"
#include "base/thread_pool.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who works, and who may stop it. */
struct workers {
    int threads;               /* at least 1 */
    const atomic_int *cancel;  /* non-zero: no further part is begun; may be NULL */
    struct progress *progress; /* told after parts, as of `whole`; may be NULL */
    struct progress_step whole;
    struct buffer_pool *pool;        /* for large memory that is used meanwhile, or NULL */
    struct thread_pool *thread_pool; /* whose threads these are; NULL: threads that live for one call */
};

bool workers_cancelled(const struct workers *workers);

/* As many threads as this process may use processors. */
int parallel_threads(void);

/* One part of the work. `member` (0..threads-1) is the thread that does it: what a member owns needs no lock. */
typedef void part_fn(void *context, int member, int64_t part);

/* Runs parts 0..parts-1, taken in that order by whoever is idle; one part alone is run by the caller. False if
 * cancelled before all were begun. */
bool workers_run(const struct workers *workers, int64_t parts, part_fn *run, void *context);

/* Rows cut into parts of equal size but for the last. */
struct parts {
    int64_t rows, size, count;
};

/* Parts of at least `least` rows, several for each thread so that a slow one holds up nobody. No parts of no rows. */
struct parts partition_rows(const struct workers *workers, int64_t rows, int64_t least);
int64_t part_begin(const struct parts *parts, int64_t part); /* part == count: rows */

/* Zeroed memory for whole columns, which costs nothing until it is touched; NULL: there is none. */
void *pages_alloc(size_t size);
void pages_free(void *memory, size_t size); /* NULL is allowed */

#endif
