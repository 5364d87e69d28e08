#include "engine/evaluator/ordered_output.h"

#include <sched.h>

enum { MAX_YIELDS = 100 }; /* before sleeping, which takes longer than most turns */

void ordered_output_init(struct ordered_output *order, int64_t rows)
{
    *order = (struct ordered_output){.rows = rows};
    pthread_mutex_init(&order->lock, NULL);
    pthread_cond_init(&order->next, NULL);
}

void ordered_output_destroy(struct ordered_output *order)
{
    pthread_cond_destroy(&order->next);
    pthread_mutex_destroy(&order->lock);
}

bool ordered_output_is_next(const struct ordered_output *order, int64_t piece)
{
    return order->turn == piece;
}

/* A waiting thread counts itself before its last look at the state, and the other side changes the state before it
 * looks at the count: so one of them sees the other. */
static void wake(struct ordered_output *order)
{
    if (order->waiting == 0)
        return;
    pthread_mutex_lock(&order->lock);
    pthread_cond_broadcast(&order->next);
    pthread_mutex_unlock(&order->lock);
}

bool ordered_output_wait(struct ordered_output *order, int64_t piece)
{
    for (int look = 0; look < MAX_YIELDS && !ordered_output_is_next(order, piece) && !order->stopped; look++)
        sched_yield();
    if (!ordered_output_is_next(order, piece) && !order->stopped) {
        pthread_mutex_lock(&order->lock);
        order->waiting++;
        while (!ordered_output_is_next(order, piece) && !order->stopped)
            pthread_cond_wait(&order->next, &order->lock);
        order->waiting--;
        pthread_mutex_unlock(&order->lock);
    }
    return !order->stopped;
}

int64_t ordered_output_commit(struct ordered_output *order, int64_t rows)
{
    const int64_t first = order->rows;
    order->rows += rows;
    order->turn++;
    wake(order);
    return first;
}

void ordered_output_stop(struct ordered_output *order)
{
    order->stopped = true;
    wake(order);
}
