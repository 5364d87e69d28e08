#include "engine/evaluator/ordered_output.h"

#include <sched.h>

enum { LOOKS = 100 }; /* before falling asleep, which takes longer than most turns */

void turns_init(struct turns *turns, int64_t rows)
{
    *turns = (struct turns){.rows = rows};
    pthread_mutex_init(&turns->lock, NULL);
    pthread_cond_init(&turns->next, NULL);
}

void turns_destroy(struct turns *turns)
{
    pthread_cond_destroy(&turns->next);
    pthread_mutex_destroy(&turns->lock);
}

bool turns_is(const struct turns *turns, int64_t piece)
{
    return turns->turn == piece;
}

/* Whoever goes to sleep counts himself before he looks for the last time; whoever changes something looks at the count
 * afterwards. So one of them sees the other. */
static void wake(struct turns *turns)
{
    if (turns->sleepers == 0)
        return;
    pthread_mutex_lock(&turns->lock);
    pthread_cond_broadcast(&turns->next);
    pthread_mutex_unlock(&turns->lock);
}

bool turns_await(struct turns *turns, int64_t piece)
{
    for (int look = 0; look < LOOKS && !turns_is(turns, piece) && !turns->stopped; look++)
        sched_yield();
    if (!turns_is(turns, piece) && !turns->stopped) {
        pthread_mutex_lock(&turns->lock);
        turns->sleepers++;
        while (!turns_is(turns, piece) && !turns->stopped)
            pthread_cond_wait(&turns->next, &turns->lock);
        turns->sleepers--;
        pthread_mutex_unlock(&turns->lock);
    }
    return !turns->stopped;
}

int64_t turns_hand_in(struct turns *turns, int64_t rows)
{
    int64_t first = turns->rows;
    turns->rows += rows;
    turns->turn++;
    wake(turns);
    return first;
}

void turns_stop(struct turns *turns)
{
    turns->stopped = true;
    wake(turns);
}
