#include "engine/evaluator/loop.h"
#include "engine/evaluator/worker.h"

#include <string.h>

/* to[i] = from[index[i]], or to[index[i]] = from[i]; `index` increases, so a vector may be packed in place. */
static void pack(void *to, const void *from, const uint16_t *index, int count, size_t size)
{
    for (int i = 0; i < count && size == 1; i++)
        ((uint8_t *)to)[i] = ((const uint8_t *)from)[index[i]];
    for (int i = 0; i < count && size == 4; i++)
        ((int32_t *)to)[i] = ((const int32_t *)from)[index[i]];
    for (int i = 0; i < count && size == 8; i++)
        ((int64_t *)to)[i] = ((const int64_t *)from)[index[i]];
}

static void store_element(void *to, int at, const void *from, int i, size_t size)
{
    memcpy((unsigned char *)to + (size_t)at * size, (const unsigned char *)from + (size_t)i * size, size);
}

static void *own(struct worker *worker, reg vector)
{
    void *at = worker->memory + worker->program->vectors[vector].place;
    worker->at[vector] = at;
    return at;
}

static void set_index(struct worker *worker, const struct vector_loop *loop, const struct loop_rows *rows, int count)
{
    void *at = own(worker, loop->index);
    if (!loop->narrow)
        memcpy(at, rows->index, (size_t)count * sizeof(int64_t));
    for (int i = 0; i < count && loop->narrow; i++)
        ((int32_t *)at)[i] = (int32_t)rows->index[i];
}

/* The rows that have rounds, with their states and captures; returns how many. */
static int enter(struct worker *worker, const struct vector_loop *loop, struct loop_rows *rows, int count)
{
    const int64_t *first = worker->at[loop->first], *last = worker->at[loop->last];
    const uint8_t *where = worker->at[loop->where];
    int active = 0;
    for (int i = 0; i < count; i++) {
        rows->row[active] = (uint16_t)i;
        active += where[i] && first[i] <= last[i];
    }
    for (int i = 0; i < active; i++) {
        rows->index[i] = first[rows->row[i]];
        rows->last[i] = last[rows->row[i]];
    }
    for (size_t k = 0; k < loop->state_count; k++) {
        const struct loop_state *state = &loop->states[k];
        memcpy(own(worker, state->out), worker->at[state->first], (size_t)count * state->size);
        pack(own(worker, state->state), worker->at[state->first], rows->row, active, state->size);
    }
    for (size_t k = 0; k < loop->capture_count; k++) {
        const struct loop_capture *capture = &loop->captures[k];
        pack(own(worker, capture->inner), worker->at[capture->outer], rows->row, active, capture->size);
    }
    return active;
}

/* Runs the round's steps; failures count where their guards hold. */
static void run_round(struct worker *worker, const struct vector_loop *loop, int32_t begin, int count)
{
    if (!worker_run_steps(worker, begin, loop->body_end, count))
        return;
    worker_run_steps(worker, loop->body_end, loop->end, count);
    worker_settle_failures(worker, loop->checks, loop->checks_end, count);
}

/* How many rounds no row can leave the loop by its range. */
static int64_t common_rounds(const struct loop_rows *rows, int count)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < count; i++) {
        const uint64_t left = (uint64_t)rows->last[i] - (uint64_t)rows->index[i];
        least = left < least ? left : least;
    }
    return least > INT64_MAX ? INT64_MAX : (int64_t)least;
}

/* After a round: writes the states of rows that leave, and moves those of the others together, and to the next round.
 * Rows for which the condition does not hold had no round. Returns how many stay. */
static int leave(struct worker *worker, const struct vector_loop *loop, struct loop_rows *rows, int count)
{
    const uint8_t *holds = loop->condition != NO_REGISTER ? worker->at[loop->condition] : NULL;
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const bool round = !holds || holds[i];
        const bool stays = round && rows->index[i] < rows->last[i];
        rows->kept[kept] = (uint16_t)i;
        kept += stays;
        for (size_t k = 0; k < loop->state_count && !stays; k++) {
            const struct loop_state *state = &loop->states[k];
            store_element(own(worker, state->out), rows->row[i], worker->at[round ? state->next : state->state], i,
                          state->size);
        }
    }
    return kept;
}

static void keep(struct worker *worker, const struct vector_loop *loop, struct loop_rows *rows, int kept)
{
    for (int i = 0; i < kept; i++) {
        rows->row[i] = rows->row[rows->kept[i]];
        rows->index[i] = rows->index[rows->kept[i]];
        rows->last[i] = rows->last[rows->kept[i]];
    }
    for (size_t k = 0; k < loop->capture_count; k++) {
        void *at = own(worker, loop->captures[k].inner);
        pack(at, at, rows->kept, kept, loop->captures[k].size);
    }
}

/* The states of the next round. A next value may be another state, so all are read before they are written. */
static void advance(struct worker *worker, const struct vector_loop *loop, const uint16_t *kept, int count)
{
    bool aliased = false;
    for (size_t k = 0; k < loop->state_count; k++) {
        for (size_t other = 0; other < loop->state_count; other++)
            aliased = aliased || (other != k && loop->states[k].next == loop->states[other].state);
    }
    unsigned char *copy = aliased ? worker->staged_states : NULL;
    for (size_t k = 0; k < loop->state_count; k++) {
        const struct loop_state *state = &loop->states[k];
        void *to = aliased ? copy + k * BLOCK_ROWS * sizeof(int64_t) : own(worker, state->state);
        const void *from = worker->at[state->next];
        if (kept)
            pack(to, from, kept, count, state->size);
        else if (to != from)
            memcpy(to, from, (size_t)count * state->size);
    }
    for (size_t k = 0; k < loop->state_count && aliased; k++)
        memcpy(own(worker, loop->states[k].state), copy + k * BLOCK_ROWS * sizeof(int64_t),
               (size_t)count * loop->states[k].size);
}

static bool is_cancelled(const struct worker *worker)
{
    const atomic_int *cancel = worker->program->job->cancel;
    return cancel && *cancel;
}

void loop_run(struct worker *worker, const struct vector_loop *loop, int count)
{
    struct loop_rows *rows = worker->loops[loop->number];
    const int32_t begin = loop->begin;
    int active = enter(worker, loop, rows, count);
    int64_t common = common_rounds(rows, active);
    while (active > 0 && !worker->flagged && !is_cancelled(worker)) {
        set_index(worker, loop, rows, active);
        run_round(worker, loop, begin, active);
        const uint8_t *holds = loop->condition != NO_REGISTER ? worker->at[loop->condition] : NULL;
        const bool all = common > 0 && (!holds || memchr(holds, 0, (size_t)active) == NULL);
        const int kept = all ? active : leave(worker, loop, rows, active);
        advance(worker, loop, kept < active ? rows->kept : NULL, kept);
        if (kept < active)
            keep(worker, loop, rows, kept);
        for (int i = 0; i < kept; i++)
            rows->index[i]++;
        common = kept == active && common > 0 ? common - 1 : common_rounds(rows, kept);
        active = kept;
    }
}
