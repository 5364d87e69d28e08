#include "engine/evaluator/loop_tile.h"

#include "base/cpu_dispatch.h"
#include "engine/evaluator/worker.h"
#include "engine/vector/product_sum.h"

#include <string.h>

enum {
    LEAST_RUN = 16, /* rows that elements lie side by side for, or are one for; else each is read by its position */
    CANCEL_ROUNDS = 4096, /* between looks at whether the statement is cancelled */
};

struct rows_of_tile {
    int begin, count;
    const enum element_place *places; /* of each element */
};

static const int64_t *positions(const struct worker *worker, reg vector)
{
    return worker->at[vector];
}

bool loop_step_run(struct worker *worker, const struct step *step, bool uniform, int count)
{
    struct operands operands = {.rows = worker->rows, .fail = worker->fail, .row = worker->row};
    operands.a = step->args[0] != NO_REGISTER ? worker->at[step->args[0]] : NULL;
    if (!step->dense) {
        worker->at[step->out] = operands.a;
        return false;
    }
    operands.b = step->args[1] != NO_REGISTER ? worker->at[step->args[1]] : NULL;
    operands.c = step->args[2] != NO_REGISTER ? worker->at[step->args[2]] : NULL;
    operands.out = worker->memory + worker->program->vectors[step->out].place;
    operands.op = step->op;
    operands.whole = step->whole;
    operands.by = step->by;
    operands.compare = step->compare;
    operands.uniform = step->uniform || uniform;
    worker->at[step->out] = operands.out;
    return step->dense(&operands, count);
}

/* Whether the position stays within 0 .. limit-1 in all rounds. */
CPU_CLONES static bool stays_inside(const struct tile_bound *bound, const int64_t *position, int count, int64_t rounds)
{
    int64_t least = INT64_MAX, most = INT64_MIN, way;
    if (__builtin_mul_overflow(bound->step, rounds - 1, &way))
        return false;
    for (int i = 0; i < count; i++) {
        least = position[i] < least ? position[i] : least;
        most = position[i] > most ? position[i] : most;
    }
    if (least < 0 || most >= bound->limit)
        return false;
    return way < 0 ? least + way >= 0 : most < bound->limit - way;
}

/* Whether each position is the one before and `step` more. */
CPU_CLONES static bool are_apart(const int64_t *position, int count, int64_t step)
{
    int64_t differs = 0;
    for (int i = 1; i < count; i++)
        differs |= (position[i] - position[i - 1]) ^ step;
    return differs == 0;
}

/* For how many rows from the first on the positions are equal, or side by side. */
static int run_length(const int64_t *position, int count, enum element_place *place)
{
    const int64_t step = count > 1 ? position[1] - position[0] : 0;
    int length = 1;
    *place = step == 1 ? PLACE_SIDE_BY_SIDE : PLACE_ONE;
    if ((step == 0 || step == 1) && are_apart(position, count, step))
        return count;
    while (length < count && position[length] - position[length - 1] == step && (step == 0 || step == 1))
        length++;
    if (length >= LEAST_RUN || length == count)
        return length;
    *place = PLACE_ANYWHERE;
    return count;
}

/* The rows from `begin` on that can be computed together. */
static struct rows_of_tile next_rows(const struct worker *worker, const struct loop_tile *tile, int begin, int count,
                                     enum element_place *places)
{
    struct rows_of_tile rows = {
        .begin = begin, .count = count - begin < TILE_ROWS ? count - begin : TILE_ROWS, .places = places};
    for (size_t e = 0; e < tile->element_count; e++) {
        if (tile->elements[e].same < (int)e)
            continue;
        const int64_t *position = positions(worker, tile->elements[e].position) + begin;
        rows.count = run_length(position, rows.count, &places[e]);
    }
    for (size_t e = 0; e < tile->element_count; e++)
        places[e] = places[tile->elements[e].same];
    return rows;
}

static const char *element_at(const struct tile_element *element, int64_t position)
{
    const struct column *column = element->column;
    return (const char *)column->data + position * (int64_t)type_table[column->store].size;
}

/* Repeats the first value. */
CPU_CLONES static void fill(void *values, size_t size, int count)
{
    const int64_t wide = size == 8 ? *(const int64_t *)values : 0;
    const int32_t narrow = size == 4 ? *(const int32_t *)values : 0;
    for (int i = 1; i < count && size == 8; i++)
        ((int64_t *)values)[i] = wide;
    for (int i = 1; i < count && size == 4; i++)
        ((int32_t *)values)[i] = narrow;
    if (size == 1)
        memset(values, *(const uint8_t *)values, (size_t)count);
}

static void read_element(struct worker *worker, const struct tile_element *element, const struct rows_of_tile *rows,
                         enum element_place place, int64_t round)
{
    const struct step *gather = element->gather;
    const int64_t *position = positions(worker, element->position) + rows->begin;
    const enum type store = element->column->store, type = lane_type(element->lane);
    const int64_t way = round * element->step;
    void *own = worker->memory + worker->program->vectors[gather->out].place;
    struct operands operands = {.out = own, .fail = worker->fail};
    worker->at[gather->out] = own;
    if (place == PLACE_ANYWHERE) {
        struct column moved = {.store = store, .rows = INT64_MAX, .data = element_at(element, way)};
        operands.a = position;
        operands.whole = &moved;
        vector_gather(store, type)(&operands, rows->count);
        return;
    }
    operands.a = element_at(element, position[0] + way);
    if (place == PLACE_SIDE_BY_SIDE && store == type) {
        worker->at[gather->out] = operands.a;
        return;
    }
    vector_move(store, type)(&operands, place == PLACE_ONE ? 1 : rows->count);
    if (place == PLACE_ONE && element->fills)
        fill(own, type_table[type].size, rows->count);
}

static unsigned char *own_at(const struct worker *worker, reg vector, size_t size, int row)
{
    return worker->memory + worker->program->vectors[vector].place + (size_t)row * size;
}

/* Points the loop's captures and states at a row's. */
static void begin_at(struct worker *worker, const struct vector_loop *loop, int row)
{
    for (size_t k = 0; k < loop->state_count; k++)
        worker->at[loop->states[k].state] = own_at(worker, loop->states[k].state, loop->states[k].size, row);
    for (size_t k = 0; k < loop->captures.count; k++)
        worker->at[loop->captures.at[k].inner] =
            own_at(worker, loop->captures.at[k].inner, loop->captures.at[k].size, row);
}

static void set_index(struct worker *worker, const struct vector_loop *loop, const int64_t *first, int64_t round,
                      int count)
{
    void *at = worker->memory + worker->program->vectors[loop->index].place;
    for (int i = 0; i < count && loop->narrow; i++)
        ((int32_t *)at)[i] = (int32_t)((uint64_t)first[i] + (uint64_t)round);
    for (int i = 0; i < count && !loop->narrow; i++)
        ((int64_t *)at)[i] = (int64_t)((uint64_t)first[i] + (uint64_t)round);
    worker->at[loop->index] = at;
}

/* Returns whether a step failed in some row, for which it may not count. */
static bool run_round(struct worker *worker, const struct vector_loop *loop, const struct rows_of_tile *rows,
                      int64_t round, int64_t rounds)
{
    const struct loop_tile *tile = loop->tile;
    bool failed = false;
    for (size_t s = 0; s < tile->step_count; s++) {
        const struct tile_step *step = &tile->steps[s];
        if (step->chain >= 0 && worker->chains[step->chain].runs) {
            if (tile->chains[step->chain].last == s)
                chain_run_round(worker, tile, step->chain, round, rounds, rows->count);
            else
                s = step->behind - 1;
        } else if (step->element >= 0) {
            read_element(worker, &tile->elements[step->element], rows, rows->places[step->element], round);
        } else if (step->sum >= 0) {
            double *states[SUM_PARTS];
            const struct tile_sum *sum = &tile->sums[step->sum];
            for (size_t k = 0; k < SUM_PARTS; k++) {
                const struct loop_state *state = &loop->states[sum->state + k];
                states[k] = (double *)(void *)own_at(worker, state->state, state->size, rows->begin);
            }
            compensated_sums_add(states, worker->at[sum->term], rows->count);
        } else {
            failed |= loop_step_run(worker, step->step, step->second >= 0 && rows->places[step->second] == PLACE_ONE,
                                    rows->count);
        }
    }
    for (size_t k = 0; k < loop->state_count; k++) {
        const struct loop_state *state = &loop->states[k];
        if (!tile->in_sum[k] && state->next != state->state)
            memcpy(own_at(worker, state->state, state->size, rows->begin), worker->at[state->next],
                   (size_t)rows->count * state->size);
    }
    return failed;
}

/* Whether the element can be read where the column has it, as a factor in registers. */
static bool is_factor(const struct tile_element *element, enum element_place place)
{
    return place != PLACE_ANYWHERE && element->column->store == lane_type(element->lane);
}

/* Adds a sum of products in registers; returns whether these rows can be. */
static bool add_products(struct worker *worker, const struct vector_loop *loop, const struct rows_of_tile *rows,
                         int64_t rounds, bool *overflow)
{
    const struct tile_product *product = &loop->tile->product;
    const bool turned = product->is && rows->places[product->y] == PLACE_ONE;
    const int x = turned ? product->y : product->x, y = turned ? product->x : product->y;
    if (!product->is || rows->places[y] != PLACE_SIDE_BY_SIDE)
        return false;
    const struct tile_element *of_x = &loop->tile->elements[x], *of_y = &loop->tile->elements[y];
    if (!is_factor(of_x, rows->places[x]) || !is_factor(of_y, rows->places[y]))
        return false;
    struct product_sum sum = {
        .x_round = of_x->step,
        .y_round = of_y->step,
        .uniform = rows->places[x] == PLACE_ONE,
        .lanes = rows->count,
        .most = product->most,
    };
    const int64_t at_x = positions(worker, of_x->position)[rows->begin],
                  at_y = positions(worker, of_y->position)[rows->begin];
    for (size_t k = 0; k < loop->state_count; k++)
        sum.states[k] = own_at(worker, loop->states[k].state, loop->states[k].size, rows->begin);
    for (int64_t done = 0; done < rounds && !worker_is_cancelled(worker); done += sum.rounds) {
        sum.x = element_at(of_x, at_x + done * of_x->step);
        sum.y = element_at(of_y, at_y + done * of_y->step);
        sum.rounds = rounds - done < CANCEL_ROUNDS ? rounds - done : CANCEL_ROUNDS;
        *overflow |= product_sum_add(&sum, product->factors, product->sum);
    }
    return true;
}

/* Whether rows were run; false if the loop's own steps are needed. */
static bool run_rows(struct worker *worker, const struct vector_loop *loop, const struct rows_of_tile *rows,
                     const int64_t *index, int64_t first, int64_t rounds)
{
    bool overflow = false;
    if (add_products(worker, loop, rows, rounds, &overflow))
        return !overflow || !loop->tile->checked;
    begin_at(worker, loop, rows->begin);
    chains_begin(worker, loop->tile, rows->places, rows->begin);
    for (int64_t round = 0; round < rounds; round++) {
        if (round % CANCEL_ROUNDS == 0 && worker_is_cancelled(worker))
            break;
        if (loop->reads_index)
            set_index(worker, loop, index, first + round, rows->count);
        if (run_round(worker, loop, rows, round, rounds))
            return false;
    }
    return true;
}

/* Keeps the states, or puts those that were kept back. */
static void copy_states(struct worker *worker, const struct vector_loop *loop, int count, bool back)
{
    for (size_t k = 0; k < loop->state_count; k++) {
        unsigned char *state = own_at(worker, loop->states[k].state, loop->states[k].size, 0);
        unsigned char *kept = worker->staged_states + k * BLOCK_ROWS * sizeof(int64_t);
        memcpy(back ? state : kept, back ? kept : state, (size_t)count * loop->states[k].size);
    }
}

bool loop_tile_run(struct worker *worker, const struct vector_loop *loop, const struct loop_rows *rows, int64_t first,
                   int64_t rounds)
{
    const struct loop_tile *tile = loop->tile;
    const int count = rows->count;
    bool done = true;
    for (size_t s = 0; s < tile->position_count; s++)
        loop_step_run(worker, &tile->positions[s], false, count); /* the bounds tell what fails */
    for (size_t k = 0; k < tile->bound_count; k++) {
        if (!stays_inside(&tile->bounds[k], positions(worker, tile->bounds[k].position), count, rounds))
            return false;
    }
    if (tile->checked)
        copy_states(worker, loop, count, false);
    for (int begin = 0; begin < count && done && !worker_is_cancelled(worker);) {
        const struct rows_of_tile some = next_rows(worker, tile, begin, count, worker->element_places);
        done = run_rows(worker, loop, &some, rows->first + begin, first, rounds);
        begin += some.count;
    }
    begin_at(worker, loop, 0);
    if (!done)
        copy_states(worker, loop, count, true);
    return done;
}
