#include "base/thread_pool.h"

#include "base/heap.h"
#include "base/thread.h"
#include "base/timing.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    PATIENCE_NS = 30000,         /* to fall asleep and be woken takes longer; what follows within it finds all awake */
    ROUSED_PATIENCE_NS = 400000, /* after a call was announced */
    MOST_ROUSED = 4              /* each costs who rouses it some microseconds */
};

/* A member but the caller. */
struct hand {
    struct thread_pool *thread_pool;
    int number;
    pthread_t thread;
    _Atomic bool called, roused, asleep;
    pthread_mutex_t lock; /* of falling asleep */
    pthread_cond_t call;
};

struct thread_pool {
    int threads, started; /* of them, with the caller */
    struct hand *hands;   /* hands[0] stays empty: the caller */
    cpu_set_t usable;
    bool placed; /* `usable` is known */
    _Atomic bool engaged, closing;

    /* What is being done, and how many hands are at it. */
    worker_fn *run;
    void *context;
    _Atomic int working;
    pthread_mutex_t lock;
    pthread_cond_t done;
};

/* Looks for a while whether it is so, letting others have the processor. */
static bool comes_soon(bool (*is_so)(const void *), const void *what, int64_t patience_ns)
{
    const int64_t end = now_ns() + patience_ns;
    bool so = is_so(what);
    while (!so && now_ns() < end) {
        sched_yield();
        so = is_so(what);
    }
    return so;
}

static bool is_called(const void *what)
{
    return ((const struct hand *)what)->called;
}

static bool is_done(const void *what)
{
    return ((const struct thread_pool *)what)->working == 0;
}

static void sleep_until_called(struct hand *hand)
{
    const struct thread_pool *thread_pool = hand->thread_pool;
    pthread_mutex_lock(&hand->lock);
    hand->asleep = true;
    while (!hand->called && !hand->roused)
        pthread_cond_wait(&hand->call, &hand->lock);
    hand->asleep = false;
    pthread_mutex_unlock(&hand->lock);
    if (thread_pool->placed) /* from here on the system may move it again */
        pthread_setaffinity_np(hand->thread, sizeof thread_pool->usable, &thread_pool->usable);
}

static void await_call(struct hand *hand)
{
    while (!comes_soon(is_called, hand, atomic_exchange(&hand->roused, false) ? ROUSED_PATIENCE_NS : PATIENCE_NS))
        sleep_until_called(hand);
}

static void *serve(void *argument)
{
    struct hand *hand = argument;
    struct thread_pool *thread_pool = hand->thread_pool;
    for (;;) {
        await_call(hand);
        if (thread_pool->closing)
            return NULL;
        hand->called = false;
        thread_pool->run(thread_pool->context, hand->number);
        if (atomic_fetch_sub(&thread_pool->working, 1) == 1) {
            pthread_mutex_lock(&thread_pool->lock);
            pthread_cond_signal(&thread_pool->done);
            pthread_mutex_unlock(&thread_pool->lock);
        }
    }
}

/* Woken where the caller is, a hand would wait until the caller's share is done: the system moves it only later. */
static void place(struct thread_pool *thread_pool, struct hand *hand)
{
    cpu_set_t elsewhere = thread_pool->usable;
    int here = sched_getcpu();
    if (!hand->asleep || !thread_pool->placed || here < 0)
        return;
    CPU_CLR((size_t)here, &elsewhere);
    if (CPU_COUNT(&elsewhere) > 0)
        pthread_setaffinity_np(hand->thread, sizeof elsewhere, &elsewhere);
}

/* Sets one of a hand's flags, and wakes it. */
static void call(struct hand *hand, _Atomic bool *flag)
{
    pthread_mutex_lock(&hand->lock);
    *flag = true;
    pthread_cond_signal(&hand->call);
    pthread_mutex_unlock(&hand->lock);
}

static void start_hands(struct thread_pool *thread_pool, int members)
{
    while (thread_pool->started < members && thread_pool->started < thread_pool->threads) {
        struct hand *hand = &thread_pool->hands[thread_pool->started];
        *hand = (struct hand){.thread_pool = thread_pool, .number = thread_pool->started};
        pthread_mutex_init(&hand->lock, NULL);
        pthread_cond_init(&hand->call, NULL);
        if (!thread_start(&hand->thread, serve, hand))
            break;
        thread_pool->started++;
    }
}

struct thread_pool *thread_pool_new(int threads)
{
    struct thread_pool *thread_pool = heap_array(1, sizeof *thread_pool);
    thread_pool->threads = threads > 1 ? threads : 1;
    thread_pool->started = 1;
    thread_pool->placed = sched_getaffinity(0, sizeof thread_pool->usable, &thread_pool->usable) == 0;
    thread_pool->hands = heap_array((size_t)thread_pool->threads, sizeof *thread_pool->hands);
    pthread_mutex_init(&thread_pool->lock, NULL);
    pthread_cond_init(&thread_pool->done, NULL);
    return thread_pool;
}

void thread_pool_free(struct thread_pool *thread_pool)
{
    if (!thread_pool)
        return;
    thread_pool->closing = true;
    for (int i = 1; i < thread_pool->started; i++) {
        struct hand *hand = &thread_pool->hands[i];
        call(hand, &hand->called);
        pthread_join(hand->thread, NULL);
        pthread_cond_destroy(&hand->call);
        pthread_mutex_destroy(&hand->lock);
    }
    pthread_cond_destroy(&thread_pool->done);
    pthread_mutex_destroy(&thread_pool->lock);
    free(thread_pool->hands);
    free(thread_pool);
}

int thread_pool_threads(const struct thread_pool *thread_pool)
{
    return thread_pool->threads;
}

void thread_pool_wake(struct thread_pool *thread_pool)
{
    for (int i = 1; i < thread_pool->started && i <= MOST_ROUSED; i++) {
        place(thread_pool, &thread_pool->hands[i]);
        call(&thread_pool->hands[i], &thread_pool->hands[i].roused);
    }
}

void thread_pool_run(struct thread_pool *thread_pool, int members, worker_fn *run, void *context)
{
    if (members <= 1 || atomic_exchange(&thread_pool->engaged, true)) {
        run(context, 0);
        return;
    }
    if (thread_pool->started < members)
        start_hands(thread_pool, members);
    members = members < thread_pool->started ? members : thread_pool->started;
    thread_pool->run = run;
    thread_pool->context = context;
    thread_pool->working = members - 1;
    for (int i = 1; i < members; i++) {
        place(thread_pool, &thread_pool->hands[i]);
        call(&thread_pool->hands[i], &thread_pool->hands[i].called);
    }
    run(context, 0);
    if (!comes_soon(is_done, thread_pool, PATIENCE_NS)) {
        pthread_mutex_lock(&thread_pool->lock);
        while (thread_pool->working > 0)
            pthread_cond_wait(&thread_pool->done, &thread_pool->lock);
        pthread_mutex_unlock(&thread_pool->lock);
    }
    thread_pool->engaged = false;
}
