/* Groups rows as they are computed: each thread writes the rows of a piece to columns that stay in its cache. */
#ifndef RQL_ENGINE_EVALUATOR_GROUP_ROWS_H
#define RQL_ENGINE_EVALUATOR_GROUP_ROWS_H

#include "base/thread_pool.h"
#include "engine/backend/backend.h"
#include "engine/operators/group_stream.h"

/* A stream for the threads of the pool; NULL for the reasons of group_stream_open. */
struct group_stream *group_rows_open(const struct operator_job *job, struct thread_pool *thread_pool);

/* Adds the rows of the job's range that pass its filters to the stream. *flagged: a checked operation may have failed,
 * and the stream is worthless. Statuses: OK and CANCELLED. */
enum status group_rows_run(const struct job *job, struct group_stream *stream, struct thread_pool *thread_pool,
                           bool *flagged);

#endif
