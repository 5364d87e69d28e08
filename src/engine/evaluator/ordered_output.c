#include "engine/evaluator/ordered_output.h"

#include <sched.h>

enum { LOOKS = 100 }; /* before falling asleep, which takes longer than most turns */

void ordered_output_init(struct ordered_output *turns, int64_t rows)
{
    *turns = (struct ordered_output){.rows = rows};
    pthread_mutex_init(&turns->lock, NULL);
    pthread_cond_init(&turns->next, NULL);
}

void ordered_output_destroy(struct ordered_output *turns)
{
    pthread_cond_destroy(&turns->next);
    pthread_mutex_destroy(&turns->lock);
}

bool ordered_output_is(const struct ordered_output *turns, int64_t piece)
{
    return turns->turn == piece;
}

/* Whoever goes to sleep counts himself before he looks for the last time; whoever changes something looks at the count
 * afterwards. So one of them sees the other. */
static void wake(struct ordered_output *turns)
{
    if (turns->sleepers == 0)
        return;
    pthread_mutex_lock(&turns->lock);
    pthread_cond_broadcast(&turns->next);
    pthread_mutex_unlock(&turns->lock);
}

bool ordered_output_await(struct ordered_output *turns, int64_t piece)
{
    for (int look = 0; look < LOOKS && !ordered_output_is(turns, piece) && !turns->stopped; look++)
        sched_yield();
    if (!ordered_output_is(turns, piece) && !turns->stopped) {
        pthread_mutex_lock(&turns->lock);
        turns->sleepers++;
        while (!ordered_output_is(turns, piece) && !turns->stopped)
            pthread_cond_wait(&turns->next, &turns->lock);
        turns->sleepers--;
        pthread_mutex_unlock(&turns->lock);
    }
    return !turns->stopped;
}

int64_t ordered_output_hand_in(struct ordered_output *turns, int64_t rows)
{
    int64_t first = turns->rows;
    turns->rows += rows;
    turns->turn++;
    wake(turns);
    return first;
}

void ordered_output_stop(struct ordered_output *turns)
{
    turns->stopped = true;
    wake(turns);
}
