#include "base/thread_pool.h"

#include "base/heap.h"
#include "base/timing.h"

#include <assert.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    SPIN_NS = 30000,        /* shorter than falling asleep and waking up: back-to-back calls find all workers awake */
    WOKEN_SPIN_NS = 400000, /* after an announced call */
    MAX_WOKEN = 4           /* waking one costs the caller some microseconds */
};

/* A thread of the pool other than the caller. */
struct worker {
    struct thread_pool *pool;
    int number;
    pthread_t thread;
    _Atomic bool called, woken, asleep;
    pthread_mutex_t lock; /* guards falling asleep */
    pthread_cond_t wake;
};

struct thread_pool {
    int threads, started;   /* running, the caller included */
    struct worker *workers; /* workers[0], the caller, is unused */
    cpu_set_t affinity;
    bool affinity_known;
    _Atomic bool busy, closing;

    /* The current call and how many workers still run it. */
    worker_fn *run;
    void *context;
    _Atomic int active;
    pthread_mutex_t lock;
    pthread_cond_t done;
};

/* Polls `condition` for up to `spin_ns`, yielding the processor. Returns whether it holds. */
static bool spin_until(bool (*condition)(const void *), const void *argument, int64_t spin_ns)
{
    const int64_t end = now_ns() + spin_ns;
    bool holds = condition(argument);
    while (!holds && now_ns() < end) {
        sched_yield();
        holds = condition(argument);
    }
    return holds;
}

static bool is_called(const void *argument)
{
    return ((const struct worker *)argument)->called;
}

static bool is_done(const void *argument)
{
    return ((const struct thread_pool *)argument)->active == 0;
}

static void sleep_until_called(struct worker *worker)
{
    const struct thread_pool *pool = worker->pool;
    pthread_mutex_lock(&worker->lock);
    worker->asleep = true;
    while (!worker->called && !worker->woken)
        pthread_cond_wait(&worker->wake, &worker->lock);
    worker->asleep = false;
    pthread_mutex_unlock(&worker->lock);
    if (pool->affinity_known) /* undo avoid_current_cpu: the scheduler may move it again */
        pthread_setaffinity_np(worker->thread, sizeof pool->affinity, &pool->affinity);
}

static void wait_for_call(struct worker *worker)
{
    while (!spin_until(is_called, worker, atomic_exchange(&worker->woken, false) ? WOKEN_SPIN_NS : SPIN_NS))
        sleep_until_called(worker);
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    struct thread_pool *pool = worker->pool;
    for (;;) {
        wait_for_call(worker);
        if (pool->closing)
            return NULL;
        worker->called = false;
        pool->run(pool->context, worker->number);
        if (atomic_fetch_sub(&pool->active, 1) == 1) {
            pthread_mutex_lock(&pool->lock);
            pthread_cond_signal(&pool->done);
            pthread_mutex_unlock(&pool->lock);
        }
    }
}

/* Keeps a sleeping worker off the caller's processor: there it would wait until the caller's share is done, because the
 * scheduler moves it late. */
static void avoid_current_cpu(struct thread_pool *pool, struct worker *worker)
{
    cpu_set_t elsewhere = pool->affinity;
    const int here = sched_getcpu();
    if (!worker->asleep || !pool->affinity_known || here < 0)
        return;
    CPU_CLR((size_t)here, &elsewhere);
    if (CPU_COUNT(&elsewhere) > 0)
        pthread_setaffinity_np(worker->thread, sizeof elsewhere, &elsewhere);
}

/* Sets a flag of the worker and wakes it. */
static void notify(struct worker *worker, _Atomic bool *flag)
{
    pthread_mutex_lock(&worker->lock);
    *flag = true;
    pthread_cond_signal(&worker->wake);
    pthread_mutex_unlock(&worker->lock);
}

static void start_workers(struct thread_pool *pool, int members)
{
    while (pool->started < members && pool->started < pool->threads) {
        struct worker *worker = &pool->workers[pool->started];
        *worker = (struct worker){.pool = pool, .number = pool->started};
        pthread_mutex_init(&worker->lock, NULL);
        pthread_cond_init(&worker->wake, NULL);
        if (!thread_start(&worker->thread, worker_main, worker))
            break;
        pool->started++;
    }
}

struct thread_pool *thread_pool_new(int threads)
{
    assert(threads >= 1);
    struct thread_pool *pool = heap_array(1, sizeof *pool);
    pool->threads = threads > 1 ? threads : 1;
    pool->started = 1;
    pool->affinity_known = sched_getaffinity(0, sizeof pool->affinity, &pool->affinity) == 0;
    pool->workers = heap_array((size_t)pool->threads, sizeof *pool->workers);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->done, NULL);
    return pool;
}

void thread_pool_free(struct thread_pool *pool)
{
    if (!pool)
        return;
    pool->closing = true;
    for (int i = 1; i < pool->started; i++) {
        struct worker *worker = &pool->workers[i];
        notify(worker, &worker->called);
        pthread_join(worker->thread, NULL);
        pthread_cond_destroy(&worker->wake);
        pthread_mutex_destroy(&worker->lock);
    }
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->lock);
    free(pool->workers);
    free(pool);
}

int thread_pool_threads(const struct thread_pool *pool)
{
    return pool->threads;
}

void thread_pool_wake(struct thread_pool *pool)
{
    for (int i = 1; i < pool->started && i <= MAX_WOKEN; i++) {
        avoid_current_cpu(pool, &pool->workers[i]);
        notify(&pool->workers[i], &pool->workers[i].woken);
    }
}

void thread_pool_run(struct thread_pool *pool, int members, worker_fn *run, void *context)
{
    if (members <= 1 || atomic_exchange(&pool->busy, true)) {
        run(context, 0);
        return;
    }
    if (pool->started < members)
        start_workers(pool, members);
    members = members < pool->started ? members : pool->started;
    pool->run = run;
    pool->context = context;
    pool->active = members - 1;
    for (int i = 1; i < members; i++) {
        avoid_current_cpu(pool, &pool->workers[i]);
        notify(&pool->workers[i], &pool->workers[i].called);
    }
    run(context, 0);
    if (!spin_until(is_done, pool, SPIN_NS)) {
        pthread_mutex_lock(&pool->lock);
        while (pool->active > 0)
            pthread_cond_wait(&pool->done, &pool->lock);
        pthread_mutex_unlock(&pool->lock);
    }
    pool->busy = false;
}

bool thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    sigset_t blocked, before;
    sigfillset(&blocked);
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGFPE);
    sigdelset(&blocked, SIGILL);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    const bool started = pthread_create(thread, NULL, run, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}
