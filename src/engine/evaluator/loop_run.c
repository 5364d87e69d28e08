/* Rows that have left the loop stay in the vectors until the rounds computed for them in vain are worth moving the
 * others together. */
#include "engine/evaluator/loop.h"

#include "base/cpu_dispatch.h"
#include "engine/evaluator/loop_tile.h"
#include "engine/evaluator/worker.h"
#include "engine/vector/selection.h"

#include <string.h>

/* to[row[i]] = from[i] for the listed i. */
static void store_elements(void *to, const uint16_t *row, const void *from, const uint16_t *list, int count,
                           size_t size)
{
    for (int k = 0; k < count && size == 1; k++)
        ((uint8_t *)to)[row[list[k]]] = ((const uint8_t *)from)[list[k]];
    for (int k = 0; k < count && size == 4; k++)
        ((int32_t *)to)[row[list[k]]] = ((const int32_t *)from)[list[k]];
    for (int k = 0; k < count && size == 8; k++)
        ((int64_t *)to)[row[list[k]]] = ((const int64_t *)from)[list[k]];
}

CPU_CLONES static void set_index(const struct loop_rows *rows, int64_t round, bool narrow, void *to)
{
    for (int i = 0; i < rows->count && narrow; i++)
        ((int32_t *)to)[i] = (int32_t)((uint64_t)rows->first[i] + (uint64_t)round);
    for (int i = 0; i < rows->count && !narrow; i++)
        ((int64_t *)to)[i] = (int64_t)((uint64_t)rows->first[i] + (uint64_t)round);
}

/* How many rounds no row can leave the loop by its range. */
CPU_CLONES static uint64_t least_rounds(const struct loop_rows *rows)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < rows->count; i++)
        least = rows->left[i] < least ? rows->left[i] : least;
    return least;
}

/* The rows that have rounds, with their states and captures. */
static void enter(struct worker *worker, const struct vector_loop *loop, struct loop_rows *rows, int count)
{
    const int64_t *first = worker->at[loop->first], *last = worker->at[loop->last];
    const uint8_t *where = worker->at[loop->where];
    int active = 0;
    for (int i = 0; i < count; i++) {
        rows->row[active] = (uint16_t)i;
        active += where[i] && first[i] <= last[i];
    }
    for (int i = 0; i < active; i++) {
        rows->first[i] = first[rows->row[i]];
        rows->left[i] = (uint64_t)last[rows->row[i]] - (uint64_t)rows->first[i];
    }
    memset(rows->goes_on, 1, (size_t)active);
    for (size_t k = 0; k < loop->state_count; k++) {
        const struct loop_state *state = &loop->states[k];
        memcpy(worker_own(worker, state->out), worker->at[state->first], (size_t)count * state->size);
        selection_pack_listed(worker_own(worker, state->state), worker->at[state->first], rows->row, active,
                              state->size);
    }
    for (size_t k = 0; k < loop->captures.count; k++) {
        const struct capture *capture = &loop->captures.at[k];
        selection_pack_listed(worker_own(worker, capture->inner), worker->at[capture->outer], rows->row, active,
                              capture->size);
    }
    rows->count = active;
    rows->gone = 0;
    rows->vain = 0;
    rows->least = least_rounds(rows);
}

static void pack(const struct loop_rows *rows, const uint16_t *list, void *vector, size_t size)
{
    pack_fn *packer = selection_packer(size);
    if (packer)
        packer(vector, vector, rows->goes_on, rows->count, &(struct ahead){0});
    else
        selection_pack_listed(vector, vector, list, rows->count - rows->gone, size);
}

/* Moves the rows that go on together. */
static void compact(struct worker *worker, const struct vector_loop *loop, struct loop_rows *rows)
{
    uint16_t list[BLOCK_ROWS];
    if (rows->gone == rows->count) {
        rows->count = 0;
        return;
    }
    selection_list(rows->goes_on, rows->count, list);
    for (size_t k = 0; k < loop->state_count; k++)
        pack(rows, list, worker_own(worker, loop->states[k].state), loop->states[k].size);
    for (size_t k = 0; k < loop->captures.count; k++)
        pack(rows, list, worker_own(worker, loop->captures.at[k].inner), loop->captures.at[k].size);
    pack(rows, list, rows->row, sizeof *rows->row);
    pack(rows, list, rows->first, sizeof *rows->first);
    pack(rows, list, rows->left, sizeof *rows->left);
    rows->count -= rows->gone;
    rows->gone = 0;
    rows->vain = 0;
    memset(rows->goes_on, 1, (size_t)rows->count);
    rows->least = least_rounds(rows);
}

/* Runs the round's steps; failures count where their guards hold. */
static void run_round(struct worker *worker, const struct vector_loop *loop, struct loop_rows *rows, int64_t round)
{
    if (loop->reads_index)
        set_index(rows, round, loop->narrow, worker_own(worker, loop->index));
    if (!worker_run_steps(worker, loop->begin, loop->body_end, rows->count) && !worker->flagged)
        return;
    if (rows->gone > 0) { /* those may have failed, which does not count */
        worker->flagged = false;
        for (int32_t check = loop->checks; check < loop->checks_end; check++)
            worker->failing[check] = false;
        compact(worker, loop, rows);
        run_round(worker, loop, rows, round);
        return;
    }
    worker_run_steps(worker, loop->body_end, loop->end, rows->count);
    worker_settle_failures(worker, loop->checks, loop->checks_end, rows->count);
}

/* stays[i]: the row has had this round and has another one. Returns how many leave. `holds` may be NULL. */
CPU_CLONES static int find_staying(const struct loop_rows *rows, const uint8_t *restrict holds, uint64_t round,
                                   uint8_t *restrict stays)
{
    const int count = rows->count;
    int staying = 0;
    if (holds) {
        for (int i = 0; i < count; i++)
            stays[i] = rows->goes_on[i] & holds[i];
    } else {
        memcpy(stays, rows->goes_on, (size_t)count);
    }
    for (int i = 0; i < count && round >= rows->least; i++)
        stays[i] = stays[i] && rows->left[i] > round;
    staying = selection_count(stays, count);
    return count - rows->gone - staying;
}

/* Writes the states of all rows, which are all of the vectors outside. */
static void leave_together(struct worker *worker, const struct vector_loop *loop, const struct loop_rows *rows,
                           bool had_round)
{
    for (size_t k = 0; k < loop->state_count; k++) {
        const struct loop_state *state = &loop->states[k];
        memcpy(worker_own(worker, state->out), worker->at[had_round ? state->next : state->state],
               (size_t)rows->count * state->size);
    }
}

static const uint8_t no_round[BLOCK_ROWS];

/* Writes the states of the rows that leave. Rows for which the condition does not hold had no round. */
static void leave(struct worker *worker, const struct vector_loop *loop, struct loop_rows *rows, const uint8_t *holds,
                  const uint8_t *stays, int leaving)
{
    enum { AT_ONCE = 8 };
    if (leaving == rows->count && rows->row[leaving - 1] == leaving - 1 && (!holds || holds == no_round)) {
        leave_together(worker, loop, rows, !holds);
        return;
    }
    uint16_t with[BLOCK_ROWS], without[BLOCK_ROWS]; /* a round */
    int had = 0, had_none = 0;
    for (int i = 0; i < rows->count; i++) {
        if (i + AT_ONCE <= rows->count && memcmp(rows->goes_on + i, stays + i, AT_ONCE) == 0) {
            i += AT_ONCE - 1;
        } else if (rows->goes_on[i] != stays[i]) {
            with[had] = without[had_none] = (uint16_t)i;
            had += !holds || holds[i];
            had_none += holds && !holds[i];
        }
    }
    for (size_t k = 0; k < loop->state_count; k++) {
        const struct loop_state *state = &loop->states[k];
        store_elements(worker_own(worker, state->out), rows->row, worker->at[state->next], with, had, state->size);
        store_elements(worker_own(worker, state->out), rows->row, worker->at[state->state], without, had_none,
                       state->size);
    }
}

/* to[i] = from[i] in the rows that go on. */
CPU_CLONES static void copy_where(void *to, const void *from, const uint8_t *restrict goes_on, int count, size_t size)
{
    for (int i = 0; i < count && size == 1; i++)
        ((uint8_t *)to)[i] = goes_on[i] ? ((const uint8_t *)from)[i] : ((uint8_t *)to)[i];
    for (int i = 0; i < count && size == 4; i++)
        ((int32_t *)to)[i] = goes_on[i] ? ((const int32_t *)from)[i] : ((int32_t *)to)[i];
    for (int i = 0; i < count && size == 8; i++)
        ((int64_t *)to)[i] = goes_on[i] ? ((const int64_t *)from)[i] : ((int64_t *)to)[i];
}

/* Rows that have left keep their states where others might make them fail. */
static void copy_state(const struct vector_loop *loop, const struct loop_rows *rows, void *to, const void *from,
                       size_t size)
{
    if (rows->gone > 0 && loop->keeps_states)
        copy_where(to, from, rows->goes_on, rows->count, size);
    else
        memcpy(to, from, (size_t)rows->count * size);
}

/* The states of the next round. A next value may be another state, as a vector or by an arm of ?: that no row takes
 * (arm.h), so then all are read before they are written. */
static void advance(struct worker *worker, const struct vector_loop *loop, const struct loop_rows *rows)
{
    bool aliased = false;
    for (size_t k = 0; k < loop->state_count; k++) {
        const void *next = worker->at[loop->states[k].next];
        for (size_t other = 0; other < loop->state_count; other++)
            aliased = aliased || (other != k && next == worker->at[loop->states[other].state]);
    }
    for (size_t k = 0; k < loop->state_count && aliased; k++) {
        const struct loop_state *state = &loop->states[k];
        unsigned char *copy = worker->staged_states + k * BLOCK_ROWS * sizeof(int64_t);
        memcpy(copy, worker->at[state->next], (size_t)rows->count * state->size);
    }
    for (size_t k = 0; k < loop->state_count; k++) {
        const struct loop_state *state = &loop->states[k];
        const void *from = aliased ? worker->staged_states + k * BLOCK_ROWS * sizeof(int64_t) : worker->at[state->next];
        if (from != worker_own(worker, state->state))
            copy_state(loop, rows, worker_own(worker, state->state), from, state->size);
    }
}

bool worker_is_cancelled(const struct worker *worker)
{
    const atomic_int *cancel = worker->program->job->cancel;
    return cancel && *cancel;
}

/* Runs the rounds that all rows have as a tile; *round then is the last of them. Returns whether they were run. */
static bool run_tile(struct worker *worker, const struct vector_loop *loop, struct loop_rows *rows, int64_t *round)
{
    enum { LEAST_ROUNDS = 2 };
    const uint64_t rounds = rows->least - (uint64_t)*round + 1;
    if (!loop->tile || rows->gone > 0 || rounds < LEAST_ROUNDS || rounds > INT64_MAX)
        return false;
    set_index(rows, *round, loop->narrow, worker_own(worker, loop->index));
    if (!loop_tile_run(worker, loop, rows, *round, (int64_t)rounds))
        return false;
    *round += (int64_t)rounds - 1;
    rows->gone = find_staying(rows, NULL, (uint64_t)*round, rows->stays);
    leave(worker, loop, rows, no_round, rows->stays, rows->gone); /* their states are those after the rounds */
    memcpy(rows->goes_on, rows->stays, (size_t)rows->count);
    compact(worker, loop, rows);
    return true;
}

void loop_run(struct worker *worker, const struct vector_loop *loop, int count)
{
    struct loop_rows *rows = worker->loops[loop->number];
    enter(worker, loop, rows, count);
    if (loop_flat_run(worker, loop, rows, count))
        return;
    if (loop->flat)
        enter(worker, loop, rows, count);
    bool may_tile = true;
    for (int64_t round = 0; rows->count > 0 && !worker->flagged && !worker_is_cancelled(worker); round++) {
        if (may_tile && run_tile(worker, loop, rows, &round))
            continue;
        may_tile = false;
        run_round(worker, loop, rows, round);
        const uint8_t *holds = loop->condition != NO_REGISTER ? worker->at[loop->condition] : NULL;
        const bool may_leave = (uint64_t)round >= rows->least || (holds && memchr(holds, 0, (size_t)rows->count));
        if (may_leave) {
            const int leaving = find_staying(rows, holds, (uint64_t)round, rows->stays);
            if (leaving > 0)
                leave(worker, loop, rows, holds, rows->stays, leaving);
            memcpy(rows->goes_on, rows->stays, (size_t)rows->count);
            rows->gone += leaving;
        }
        advance(worker, loop, rows);
        rows->vain += rows->gone;
        if (rows->gone == rows->count || (rows->gone > 0 && (rows->vain >= rows->count || loop->nested))) {
            compact(worker, loop, rows);
            may_tile = true;
        }
    }
}
