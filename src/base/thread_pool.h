/* Threads that stay: to start one takes as long as a small query. Between two calls they sleep. */
#ifndef RQL_BASE_THREAD_POOL_H
#define RQL_BASE_THREAD_POOL_H

struct thread_pool;

/* A team of so many threads, at least 1, its caller among them. The others are started when they are first needed. */
struct thread_pool *thread_pool_new(int threads);
void thread_pool_free(struct thread_pool *thread_pool); /* NULL is allowed */

int thread_pool_threads(const struct thread_pool *thread_pool);

/* Something for the team will come soon: a few who sleep get up, so that it need not wait for them. */
void thread_pool_wake(struct thread_pool *thread_pool);

/* What a member does; `member` is 0 for the caller, and less than the number asked for. */
typedef void worker_fn(void *context, int member);

/* Has up to `members` threads do it and returns when all have: fewer of them where threads are not to be had, and the
 * caller alone while the team is at something else. So the work has to be one that members take from each other. */
void thread_pool_run(struct thread_pool *thread_pool, int members, worker_fn *run, void *context);

#endif
