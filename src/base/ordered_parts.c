#include "base/ordered_parts.h"

#include "base/heap.h"

#include <sched.h>
#include <stdlib.h>

enum { MAX_YIELDS = 100 }; /* before sleeping, which takes longer than most waits */

void ordered_parts_init(struct ordered_parts *parts, int64_t count, pass_fn *pass, void *context)
{
    *parts = (struct ordered_parts){.pass = pass, .context = context, .count = count};
    parts->published = heap_array((size_t)count, sizeof *parts->published);
    pthread_mutex_init(&parts->passing, NULL);
    pthread_mutex_init(&parts->lock, NULL);
    pthread_cond_init(&parts->changed, NULL);
}

void ordered_parts_destroy(struct ordered_parts *parts)
{
    pthread_cond_destroy(&parts->changed);
    pthread_mutex_destroy(&parts->lock);
    pthread_mutex_destroy(&parts->passing);
    free(parts->published);
}

bool ordered_parts_is_next(const struct ordered_parts *parts, int64_t part)
{
    return parts->passed == part;
}

bool ordered_parts_is_passed(const struct ordered_parts *parts, int64_t part)
{
    return parts->passed > part;
}

/* A waiting thread counts itself before its last look at the state, and the other side changes the state before it
 * looks at the count: so one of them sees the other. */
static void wake(struct ordered_parts *parts)
{
    if (parts->waiting == 0)
        return;
    pthread_mutex_lock(&parts->lock);
    pthread_cond_broadcast(&parts->changed);
    pthread_mutex_unlock(&parts->lock);
}

static bool next_is_published(const struct ordered_parts *parts)
{
    const int64_t next = parts->passed;
    return next < parts->count && parts->published[next];
}

void ordered_parts_publish(struct ordered_parts *parts, int64_t part)
{
    parts->published[part] = true;
    /* Where another thread is passing, it looks once more after it has unlocked. */
    while (next_is_published(parts) && pthread_mutex_trylock(&parts->passing) == 0) {
        while (next_is_published(parts)) {
            parts->pass(parts->context, parts->passed);
            parts->passed++;
        }
        pthread_mutex_unlock(&parts->passing);
        wake(parts);
    }
}

bool ordered_parts_wait(struct ordered_parts *parts, int64_t part)
{
    for (int look = 0; look < MAX_YIELDS && !ordered_parts_is_passed(parts, part) && !parts->stopped; look++)
        sched_yield();
    if (!ordered_parts_is_passed(parts, part) && !parts->stopped) {
        pthread_mutex_lock(&parts->lock);
        parts->waiting++;
        while (!ordered_parts_is_passed(parts, part) && !parts->stopped)
            pthread_cond_wait(&parts->changed, &parts->lock);
        parts->waiting--;
        pthread_mutex_unlock(&parts->lock);
    }
    return !parts->stopped;
}

void ordered_parts_stop(struct ordered_parts *parts)
{
    parts->stopped = true;
    wake(parts);
}
