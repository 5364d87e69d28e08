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
    struct team *team;
    int number;
    pthread_t thread;
    _Atomic bool called, roused, asleep;
    pthread_mutex_t lock; /* of falling asleep */
    pthread_cond_t call;
};

struct team {
    int threads, started; /* of them, with the caller */
    struct hand *hands;   /* hands[0] stays empty: the caller */
    cpu_set_t usable;
    bool placed; /* `usable` is known */
    _Atomic bool engaged, closing;

    /* What is being done, and how many hands are at it. */
    member_fn *run;
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
    return ((const struct team *)what)->working == 0;
}

static void sleep_until_called(struct hand *hand)
{
    const struct team *team = hand->team;
    pthread_mutex_lock(&hand->lock);
    hand->asleep = true;
    while (!hand->called && !hand->roused)
        pthread_cond_wait(&hand->call, &hand->lock);
    hand->asleep = false;
    pthread_mutex_unlock(&hand->lock);
    if (team->placed) /* from here on the system may move it again */
        pthread_setaffinity_np(hand->thread, sizeof team->usable, &team->usable);
}

static void await_call(struct hand *hand)
{
    while (!comes_soon(is_called, hand, atomic_exchange(&hand->roused, false) ? ROUSED_PATIENCE_NS : PATIENCE_NS))
        sleep_until_called(hand);
}

static void *serve(void *argument)
{
    struct hand *hand = argument;
    struct team *team = hand->team;
    for (;;) {
        await_call(hand);
        if (team->closing)
            return NULL;
        hand->called = false;
        team->run(team->context, hand->number);
        if (atomic_fetch_sub(&team->working, 1) == 1) {
            pthread_mutex_lock(&team->lock);
            pthread_cond_signal(&team->done);
            pthread_mutex_unlock(&team->lock);
        }
    }
}

/* Woken where the caller is, a hand would wait until the caller's share is done: the system moves it only later. */
static void place(struct team *team, struct hand *hand)
{
    cpu_set_t elsewhere = team->usable;
    int here = sched_getcpu();
    if (!hand->asleep || !team->placed || here < 0)
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

static void start_hands(struct team *team, int members)
{
    while (team->started < members && team->started < team->threads) {
        struct hand *hand = &team->hands[team->started];
        *hand = (struct hand){.team = team, .number = team->started};
        pthread_mutex_init(&hand->lock, NULL);
        pthread_cond_init(&hand->call, NULL);
        if (!thread_begin(&hand->thread, serve, hand))
            break;
        team->started++;
    }
}

struct team *team_new(int threads)
{
    struct team *team = heap_array(1, sizeof *team);
    team->threads = threads > 1 ? threads : 1;
    team->started = 1;
    team->placed = sched_getaffinity(0, sizeof team->usable, &team->usable) == 0;
    team->hands = heap_array((size_t)team->threads, sizeof *team->hands);
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->done, NULL);
    return team;
}

void team_free(struct team *team)
{
    if (!team)
        return;
    team->closing = true;
    for (int i = 1; i < team->started; i++) {
        struct hand *hand = &team->hands[i];
        call(hand, &hand->called);
        pthread_join(hand->thread, NULL);
        pthread_cond_destroy(&hand->call);
        pthread_mutex_destroy(&hand->lock);
    }
    pthread_cond_destroy(&team->done);
    pthread_mutex_destroy(&team->lock);
    free(team->hands);
    free(team);
}

int team_threads(const struct team *team)
{
    return team->threads;
}

void team_rouse(struct team *team)
{
    for (int i = 1; i < team->started && i <= MOST_ROUSED; i++) {
        place(team, &team->hands[i]);
        call(&team->hands[i], &team->hands[i].roused);
    }
}

void team_run(struct team *team, int members, member_fn *run, void *context)
{
    if (members <= 1 || atomic_exchange(&team->engaged, true)) {
        run(context, 0);
        return;
    }
    if (team->started < members)
        start_hands(team, members);
    members = members < team->started ? members : team->started;
    team->run = run;
    team->context = context;
    team->working = members - 1;
    for (int i = 1; i < members; i++) {
        place(team, &team->hands[i]);
        call(&team->hands[i], &team->hands[i].called);
    }
    run(context, 0);
    if (!comes_soon(is_done, team, PATIENCE_NS)) {
        pthread_mutex_lock(&team->lock);
        while (team->working > 0)
            pthread_cond_wait(&team->done, &team->lock);
        pthread_mutex_unlock(&team->lock);
    }
    team->engaged = false;
}
