/* Combining neighbours keeps the order of rows, and that is all an associative function needs. Each level runs the
 * function's program, the same that would map it over two columns, on the left and the right of each pair. */
#include "engine/evaluator/pairwise_reduce.h"

#include "engine/evaluator/block.h"

#include <string.h>

struct pairing {
    enum type type; /* of values in the buffers */
    struct worker *worker;
    struct job job;
    struct column *columns[2]; /* the two sides, */
    unsigned char *sides[2];   /* and their data */
    unsigned char *values;     /* what is still to be combined */
};

struct pairing *pairing_new(const struct reducer *reducer, struct arena *arena)
{
    struct pairing *pairing = arena_alloc(arena, sizeof *pairing);
    pairing->type = type_of_kind(reducer->kind);
    size_t size = type_table[pairing->type].size;
    struct column **columns = reducer_columns(reducer, BLOCK_ROWS, arena);
    for (int side = 0; side < 2; side++) {
        pairing->sides[side] = arena_array(arena, BLOCK_ROWS, size);
        columns[side]->data = pairing->sides[side];
    }
    pairing->values = arena_array(arena, BLOCK_ROWS, size);
    pairing->job = (struct job){.task = reducer->body, .columns = columns, .rows = BLOCK_ROWS, .end = BLOCK_ROWS};
    struct column *result = arena_alloc(arena, sizeof *result);
    result->type = result->store = pairing->type;
    pairing->worker = worker_new(program_new(&pairing->job, &result, arena), arena);
    return pairing;
}

/* Values 0, 2, 4, ... go to the left, the others to the right. */
static void split(const struct pairing *pairing, int pairs)
{
    if (pairing->type == TYPE_BOOL) {
        for (int i = 0; i < pairs; i++) {
            pairing->sides[0][i] = pairing->values[2 * i];
            pairing->sides[1][i] = pairing->values[2 * i + 1];
        }
        return;
    }
    const int64_t *values = (const int64_t *)(const void *)pairing->values;
    int64_t *left = (int64_t *)(void *)pairing->sides[0], *right = (int64_t *)(void *)pairing->sides[1];
    for (int i = 0; i < pairs; i++) {
        left[i] = values[2 * i];
        right[i] = values[2 * i + 1];
    }
}

void pairing_fold(struct pairing *pairing, const void *values, int count, struct agg_state *state)
{
    size_t size = type_table[pairing->type].size;
    memcpy(pairing->values, values, (size_t)count * size);
    while (count > 1) {
        int pairs = count / 2;
        void *place = pairing->values;
        split(pairing, pairs);
        worker_rows(pairing->worker, 0, pairs, &place, false);
        if (worker_flagged(pairing->worker)) {
            state->failed = true;
            return;
        }
        if (count % 2 != 0) /* the last one waits for the next level */
            memmove(pairing->values + (size_t)pairs * size, pairing->values + (size_t)(count - 1) * size, size);
        count = pairs + count % 2;
    }
    if (count == 1)
        agg_add_int(state, pairing->type == TYPE_BOOL ? *pairing->values : *(int64_t *)(void *)pairing->values);
}
