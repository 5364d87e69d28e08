/* A thread pool: starting a thread costs as much as a small query. Idle workers sleep. */
#ifndef RQL_BASE_THREAD_POOL_H
#define RQL_BASE_THREAD_POOL_H

#include <pthread.h>
#include <stdbool.h>

struct thread_pool;

/* A pool of `threads` threads (at least 1), the caller included. Workers are started on first use. */
struct thread_pool *thread_pool_new(int threads);
void thread_pool_free(struct thread_pool *pool); /* NULL is allowed */

int thread_pool_threads(const struct thread_pool *pool);

/* Announces work: wakes a few sleeping workers so that thread_pool_run does not wait for them. */
void thread_pool_wake(struct thread_pool *pool);

/* The function run by each member: `member` is 0 for the caller and less than the number requested. */
typedef void worker_fn(void *context, int member);

/* Runs `run` on up to `members` threads and returns when all have finished. Fewer threads take part if they cannot be
 * started, and only the caller if the pool is busy, so members must share the work dynamically. */
void thread_pool_run(struct thread_pool *pool, int members, worker_fn *run, void *context);

/* Threads that receive no signals: the main thread handles them. */

/* Starts a thread with all signals blocked except those that a fault raises in the thread itself: if blocked, they
 * would end the process. Returns false if no thread can be created. */
bool thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
