/* Turns: the order in which pieces, worked on by several threads, hand in their rows. Private to eval*.c. */
#ifndef RQL_ENGINE_EVALUATOR_ORDERED_OUTPUT_H
#define RQL_ENGINE_EVALUATOR_ORDERED_OUTPUT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct turns {
    _Atomic int64_t turn; /* the piece whose rows come next */
    int64_t rows;         /* handed in so far: of whoever's turn it is */
    _Atomic bool stopped;
    _Atomic int sleepers;
    pthread_mutex_t lock;
    pthread_cond_t next;
};

/* `rows`: how many there are before piece 0's. */
void turns_init(struct turns *turns, int64_t rows);
void turns_destroy(struct turns *turns);

bool turns_is(const struct turns *turns, int64_t piece);

/* Waits until it is the piece's turn. False: it never will be. */
bool turns_await(struct turns *turns, int64_t piece);

/* By whoever's turn it is: hands in so many rows, gives the number of the first, and lets the next piece have its turn.
 */
int64_t turns_hand_in(struct turns *turns, int64_t rows);

/* Nobody shall wait any more. */
void turns_stop(struct turns *turns);

#endif
