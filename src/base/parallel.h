/* Data-parallel loops over a thread pool. */
#ifndef RQL_BASE_PARALLEL_H
#define RQL_BASE_PARALLEL_H

#include "base/progress.h"
#include "base/thread_pool.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The threads of a parallel loop, and its cancellation and progress. */
struct workers {
    int threads;               /* at least 1 */
    const atomic_int *cancel;  /* when non-zero, no further part is started; may be NULL */
    struct progress *progress; /* receives `whole` after parts; may be NULL */
    struct progress_step whole;
    struct buffer_pool *pool;        /* for large temporary buffers; may be NULL */
    struct thread_pool *thread_pool; /* NULL: threads are started for each call */
};

bool workers_cancelled(const struct workers *workers);

/* The number of processors this process may use, at most 64. */
int parallel_threads(void);

/* Runs one part. `member` (0..threads-1) identifies the thread: data owned by a member needs no lock. */
typedef void part_fn(void *context, int member, int64_t part);

/* Runs parts 0..parts-1, each taken by the next idle thread; the caller is member 0. Returns false if cancelled: parts
 * may then be missing, and a long part may have ended early at workers_cancelled. */
bool workers_run(const struct workers *workers, int64_t parts, part_fn *run, void *context);

/* Rows divided into parts of equal size, the last one possibly smaller. */
struct parts {
    int64_t rows, size, count;
};

/* Divides `rows` into parts of about `min_rows` or more, several for each thread so that a slow thread delays nobody.
 * No rows give no parts. */
struct parts partition_rows(const struct workers *workers, int64_t rows, int64_t min_rows);
int64_t part_begin(const struct parts *parts, int64_t part); /* part == count: rows */

/* Makes of how many results each part has where they begin among all; returns the number of all. */
int64_t begins_of_counts(int64_t *counts, int64_t parts);

/* One of the parts: its number, its rows begin .. end-1, and who runs it. */
struct part {
    int member;
    int64_t number, begin, end;
};

/* workers_run of these parts. */
typedef void rows_fn(void *context, struct part part);
bool workers_run_parts(const struct workers *workers, const struct parts *parts, rows_fn *run, void *context);

/* The same of the parts that partition_rows makes. */
bool workers_run_rows(const struct workers *workers, int64_t rows, int64_t min_rows, rows_fn *run, void *context);

#endif
