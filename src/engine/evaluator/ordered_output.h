/* Turns: the order in which pieces, worked on by several threads, hand in their rows. Private to eval*.c. */
#ifndef RQL_ENGINE_EVALUATOR_ORDERED_OUTPUT_H
#define RQL_ENGINE_EVALUATOR_ORDERED_OUTPUT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ordered_output {
    _Atomic int64_t turn; /* the piece whose rows come next */
    int64_t rows;         /* handed in so far: of whoever's turn it is */
    _Atomic bool stopped;
    _Atomic int sleepers;
    pthread_mutex_t lock;
    pthread_cond_t next;
};

/* `rows`: how many there are before piece 0's. */
void ordered_output_init(struct ordered_output *turns, int64_t rows);
void ordered_output_destroy(struct ordered_output *turns);

bool ordered_output_is(const struct ordered_output *turns, int64_t piece);

/* Waits until it is the piece's turn. False: it never will be. */
bool ordered_output_await(struct ordered_output *turns, int64_t piece);

/* By whoever's turn it is: hands in so many rows, gives the number of the first, and lets the next piece have its turn.
 */
int64_t ordered_output_hand_in(struct ordered_output *turns, int64_t rows);

/* Nobody shall wait any more. */
void ordered_output_stop(struct ordered_output *turns);

#endif
