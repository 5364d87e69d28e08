/* The order in which pieces, run by several threads, write their rows. */
#ifndef RQL_ENGINE_EVALUATOR_ORDERED_OUTPUT_H
#define RQL_ENGINE_EVALUATOR_ORDERED_OUTPUT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ordered_output {
    _Atomic int64_t turn; /* the next piece to write */
    int64_t rows;         /* written so far; owned by the piece whose turn it is */
    _Atomic bool stopped;
    _Atomic int waiting;
    pthread_mutex_t lock;
    pthread_cond_t next;
};

/* `rows`: the number of rows before those of piece 0. */
void ordered_output_init(struct ordered_output *order, int64_t rows);
void ordered_output_destroy(struct ordered_output *order);

bool ordered_output_is_next(const struct ordered_output *order, int64_t piece);

/* Waits for the piece's turn; false if the run was stopped. */
bool ordered_output_wait(struct ordered_output *order, int64_t piece);

/* Ends the turn of the calling piece, which has `rows` rows; returns the number of its first row. */
int64_t ordered_output_commit(struct ordered_output *order, int64_t rows);

/* Wakes all waiting threads; later waits return false. */
void ordered_output_stop(struct ordered_output *order);

#endif
