/* Combining neighbours keeps the order of rows, which is all an associative function needs. Each level runs the
 * function's program on the left and the right value of each pair, as if mapped over two columns. */

#include "engine/evaluator/block.h"

#include <string.h>

struct pairwise {
    enum type type;
    struct worker *worker;
    struct job job;
    struct column *columns[2]; /* left and right,  */
    unsigned char *sides[2];   /* and their elements */
    unsigned char *values;     /* left to combine */
};

struct pairwise *pairwise_new(const struct user_reduce *reducer, struct arena *arena)
{
    struct pairwise *pairwise = arena_alloc(arena, sizeof *pairwise);
    pairwise->type = type_of_kind(reducer->kind);
    const size_t size = type_table[pairwise->type].size;
    struct column **columns = user_reduce_columns(reducer, BLOCK_ROWS, arena);
    for (int side = 0; side < 2; side++) {
        pairwise->sides[side] = arena_array(arena, BLOCK_ROWS, size);
        columns[side]->data = pairwise->sides[side];
    }
    pairwise->values = arena_array(arena, BLOCK_ROWS, size);
    pairwise->job = (struct job){.task = reducer->body, .columns = columns, .rows = BLOCK_ROWS, .end = BLOCK_ROWS};
    struct column *result = arena_alloc(arena, sizeof *result);
    result->type = result->store = pairwise->type;
    pairwise->worker = worker_new(program_new(&pairwise->job, &result, arena), arena);
    return pairwise;
}

/* Even values go to the left, odd ones to the right. */
static void split(const struct pairwise *pairwise, int pairs)
{
    if (pairwise->type == TYPE_BOOL) {
        for (int i = 0; i < pairs; i++) {
            pairwise->sides[0][i] = pairwise->values[2 * i];
            pairwise->sides[1][i] = pairwise->values[2 * i + 1];
        }
        return;
    }
    const int64_t *values = (const int64_t *)(const void *)pairwise->values;
    int64_t *left = (int64_t *)(void *)pairwise->sides[0], *right = (int64_t *)(void *)pairwise->sides[1];
    for (int i = 0; i < pairs; i++) {
        left[i] = values[2 * i];
        right[i] = values[2 * i + 1];
    }
}

void pairwise_fold(struct pairwise *pairwise, const void *values, int count, struct agg_state *state)
{
    const size_t size = type_table[pairwise->type].size;
    memcpy(pairwise->values, values, (size_t)count * size);
    while (count > 1) {
        const int pairs = count / 2;
        void *place = pairwise->values;
        split(pairwise, pairs);
        worker_rows(pairwise->worker, 0, pairs, &place);
        if (worker_flagged(pairwise->worker)) {
            state->failed = true;
            return;
        }
        if (count % 2 != 0) /* an odd one goes to the next level */
            memmove(pairwise->values + (size_t)pairs * size, pairwise->values + (size_t)(count - 1) * size, size);
        count = pairs + count % 2;
    }
    if (count == 1)
        agg_add_int(state, pairwise->type == TYPE_BOOL ? *pairwise->values : *(int64_t *)(void *)pairwise->values);
}
