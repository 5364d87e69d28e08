#include "engine/evaluator/loop_tile.h"

#include "base/cpu_dispatch.h"
#include "engine/evaluator/worker.h"
#include "engine/values/compensated_sum.h"

#include <string.h>

static int element_of(const struct loop_tile *tile, const struct step *step)
{
    for (size_t e = 0; e < tile->element_count; e++) {
        if (tile->elements[e].gather->out == step->out)
            return (int)e;
    }
    return -1;
}

struct loop_flat *loop_flat_new(const struct builder *b, const struct vector_loop *loop)
{
    const struct program *program = b->program;
    const struct loop_tile *tile = loop->tile;
    const size_t most = (size_t)(loop->body_end - loop->begin) + loop->state_count + 1;
    bool *needed = arena_array(b->arena, (size_t)program->vector_count + 1, sizeof *needed);
    struct loop_flat *flat = arena_alloc(b->arena, sizeof *flat);
    if (!tile || tile->sum_count == 0 || tile->sum_count * SUM_PARTS != loop->state_count)
        return NULL;
    flat->steps = arena_array(b->arena, most, sizeof *flat->steps);
    for (size_t k = 0; k < tile->sum_count; k++)
        needed[tile->sums[k].term] = true;
    for (int32_t s = loop->body_end - 1; s >= loop->begin; s--) {
        for (int i = 0; i < 3 && needed[program->steps[s].out]; i++) {
            if (program->steps[s].args[i] != NO_REGISTER)
                needed[program->steps[s].args[i]] = true;
        }
    }
    size_t added = 0;
    for (int32_t s = loop->begin; s < loop->body_end; s++) {
        const struct step *step = &program->steps[s];
        if (!needed[step->out])
            continue;
        const int element = element_of(tile, step);
        flat->steps[flat->step_count++] =
            (struct flat_step){.step = step, .sum = -1, .moves_on = element >= 0 && tile->elements[element].step == 1};
        for (size_t k = 0; k < tile->sum_count; k++) {
            if (tile->sums[k].term == step->out) {
                flat->steps[flat->step_count++] = (struct flat_step){.sum = (int)k};
                added++;
            }
        }
    }
    return added == tile->sum_count ? flat : NULL; /* else a term is the same in all rounds */
}

/* The terms of a block: which rows' they are, and where those of each end. */
struct block_of_terms {
    uint16_t rows[BLOCK_ROWS], ends[BLOCK_ROWS];
    int runs, count;
    int indexed;   /* of so many terms the index is in its vector, */
    int64_t index; /* and of the next one it is this */
};

/* Writes the indices of the terms that have none yet, which are side by side. */
CPU_CLONES static void write_indices(const struct worker *worker, const struct vector_loop *loop,
                                     struct block_of_terms *terms)
{
    void *indices = worker->memory + worker->program->vectors[loop->index].place;
    const uint64_t first = (uint64_t)terms->index - (uint64_t)terms->indexed;
    for (int i = terms->indexed; i < terms->count && loop->narrow; i++)
        ((int32_t *)indices)[i] = (int32_t)(first + (uint64_t)i);
    for (int i = terms->indexed; i < terms->count && !loop->narrow; i++)
        ((int64_t *)indices)[i] = (int64_t)(first + (uint64_t)i);
    terms->indexed = terms->count;
}

/* Whether the positions are side by side. */
CPU_CLONES static bool are_side_by_side(const int64_t *position, int count)
{
    int64_t differs = 0;
    for (int i = 0; i < count; i++)
        differs |= (position[i] - position[0]) ^ i;
    return differs == 0;
}

/* Reads elements that are side by side; false: they are not, or not all inside. */
static bool read_run(struct worker *worker, const struct step *step, int count)
{
    const struct column *column = step->whole;
    const int64_t *position = worker->at[step->args[0]];
    const enum type store = column->store;
    if (position[0] < 0 || position[0] > column->rows - count || !are_side_by_side(position, count))
        return false;
    const size_t size = worker->program->vectors[step->out].size;
    const enum type type = type_table[store].kind == KIND_FLOAT ? TYPE_F64
                           : size == sizeof(int64_t)            ? TYPE_I64
                                                                : TYPE_I32;
    if (!vector_move(store, type) || step->dense != vector_gather(store, type))
        return false;
    void *own = worker->memory + worker->program->vectors[step->out].place;
    const struct operands operands = {.out = own,
                                      .a = (const char *)column->data + (size_t)position[0] * type_table[store].size};
    vector_move(store, type)(&operands, count);
    worker->at[step->out] = own;
    return true;
}

/* Adds the terms, run by run, to the sums of their rows. */
static void add_runs(double *const states[SUM_PARTS], const double *terms, const struct block_of_terms *block)
{
    for (int run = 0, i = 0; run < block->runs; run++) {
        const uint16_t row = block->rows[run];
        double high = states[0][row], low = states[1][row], rest = states[2][row], weight = states[3][row];
        for (; i < block->ends[run]; i++)
            compensated_add(&high, &low, &rest, &weight, terms[i]);
        states[0][row] = high;
        states[1][row] = low;
        states[2][row] = rest;
        states[3][row] = weight;
    }
}

/* Computes the terms and adds them, and begins another block; false: some failed. */
static bool add_terms(struct worker *worker, const struct vector_loop *loop, struct block_of_terms *terms)
{
    const struct loop_flat *flat = loop->flat;
    write_indices(worker, loop, terms);
    for (size_t s = 0; s < flat->step_count; s++) {
        const struct flat_step *step = &flat->steps[s];
        if (step->sum >= 0) {
            const struct tile_sum *sum = &loop->tile->sums[step->sum];
            double *states[SUM_PARTS];
            for (size_t k = 0; k < SUM_PARTS; k++)
                states[k] = (double *)(void *)(worker->memory +
                                               worker->program->vectors[loop->states[sum->state + k].out].place);
            add_runs(states, worker->at[sum->term], terms);
        } else if (step->moves_on && read_run(worker, step->step, terms->count)) {
            continue;
        } else if (loop_step_run(worker, step->step, false, terms->count)) {
            return false;
        }
    }
    terms->runs = terms->count = terms->indexed = 0;
    return true;
}

static void repeat_element(void *to, int at, int count, const void *from, int i, size_t size)
{
    for (int k = at; k < at + count && size == 1; k++)
        ((uint8_t *)to)[k] = ((const uint8_t *)from)[i];
    for (int k = at; k < at + count && size == 4; k++)
        ((int32_t *)to)[k] = ((const int32_t *)from)[i];
    for (int k = at; k < at + count && size == 8; k++)
        ((int64_t *)to)[k] = ((const int64_t *)from)[i];
}

/* Adds `count` rounds of a row, of which the first has this index, to the block. */
static void add_rounds(const struct worker *worker, const struct vector_loop *loop, struct block_of_terms *terms,
                       uint16_t row, int64_t index, int count)
{
    const int at = terms->count;
    if ((uint64_t)terms->index + (uint64_t)(at - terms->indexed) != (uint64_t)index) {
        write_indices(worker, loop, terms);
        terms->index = index;
    }
    for (size_t k = 0; k < loop->captures.count; k++) {
        const struct capture *capture = &loop->captures.at[k];
        repeat_element(worker->memory + worker->program->vectors[capture->inner].place, at, count,
                       worker->at[capture->outer], row, capture->size);
    }
    terms->count += count;
    terms->rows[terms->runs] = row;
    terms->ends[terms->runs++] = (uint16_t)terms->count;
}

/* Whether rounds of all rows together would be many more than what the rows have. */
static bool is_ragged(const struct loop_rows *rows)
{
    const uint64_t most_rounds = (uint64_t)1 << 40;
    uint64_t rounds = 0;
    for (int i = 0; i < rows->count; i++) {
        if (rows->left[i] >= most_rounds)
            return false;
        rounds += rows->left[i] + 1;
    }
    return (rows->least + 1) * (uint64_t)rows->count < rounds / 4 * 3;
}

bool loop_flat_run(struct worker *worker, const struct vector_loop *loop, const struct loop_rows *rows, int count)
{
    struct block_of_terms terms;
    if (!loop->flat || !is_ragged(rows))
        return false;
    terms.runs = terms.count = terms.indexed = 0;
    terms.index = 0;
    worker->at[loop->index] = worker->memory + worker->program->vectors[loop->index].place;
    bool good = true;
    for (int i = 0; i < rows->count && good; i++) {
        const int64_t rounds = (int64_t)rows->left[i] + 1;
        for (int64_t round = 0, some; round < rounds && good; round += some) {
            some = BLOCK_ROWS - terms.count < rounds - round ? BLOCK_ROWS - terms.count : rounds - round;
            add_rounds(worker, loop, &terms, rows->row[i], rows->first[i] + round, (int)some);
            if (terms.count < BLOCK_ROWS)
                continue;
            if (worker_is_cancelled(worker))
                return true;
            good = add_terms(worker, loop, &terms);
        }
    }
    good = good && (terms.count == 0 || add_terms(worker, loop, &terms));
    for (size_t k = 0; k < loop->state_count && !good; k++) {
        const struct loop_state *state = &loop->states[k];
        memcpy(worker->memory + worker->program->vectors[state->out].place, worker->at[state->first],
               (size_t)count * state->size);
    }
    return good;
}
