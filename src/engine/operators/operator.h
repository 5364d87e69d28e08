/* Operators on the host, on all threads: the evaluator's, and the fallback of every device. */
#ifndef RQL_ENGINE_OPERATORS_OPERATOR_H
#define RQL_ENGINE_OPERATORS_OPERATOR_H

#include "base/parallel.h"
#include "base/thread_pool.h"
#include "engine/backend/backend.h"

/* Runs the task's operator on the job's columns, of any store types. Results reserved by the caller are filled, not
 * finished (column_finish); those reserved here are finished, and the caller's. *result_rows is set on STATUS_OK.
 *
 * *flagged is set if the results are worthless: an integer that does not fit 64 bits, a float sum whose rounding is not
 * certain, a position out of bounds or taken twice, a histogram without finite bounds, an aggregate of group other
 * than sum, count, min, max and mean. Then, and on any other status, `results` holds only columns of the caller. */
enum status host_operator_run(const struct operator_job *job, bool *flagged);

/* On at most `threads` threads, with the same results. */
enum status host_operator_run_threads(const struct operator_job *job, int threads, bool *flagged);

/* On the threads of a pool. */
enum status host_operator_run_pool(const struct operator_job *job, struct thread_pool *thread_pool, bool *flagged);

/* One function for each kind of operator. */
typedef enum status operator_fn(const struct operator_job *job, const struct workers *workers, bool *flagged);
operator_fn operator_scan, operator_sort, operator_group, operator_distinct, operator_scatter, operator_hist,
    operator_moving, operator_append, operator_expand, operator_ids, operator_partition, operator_combine,
    operator_match;

#endif
