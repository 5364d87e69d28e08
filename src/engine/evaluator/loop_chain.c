#include "engine/evaluator/loop_tile.h"

#include "engine/evaluator/worker.h"
#include "engine/vector/product_sum.h"

struct chaining {
    struct loop_tile *tile;
    const struct vector_loop *loop;
    size_t *writer; /* of each vector, the tile's step; SIZE_MAX: none */
    int *readers;   /* and how many steps and states read it */
    size_t *covered;
    size_t covered_count; /* steps of the chain that is being found */
};

static bool is_step(const struct tile_step *tile, vector_fn *dense)
{
    const struct step *step = tile->step;
    return step && step->dense == dense && step->check == CHECK_NONE && !step->by;
}

/* The step that computes the vector for the chain alone; NULL: there is none. */
static const struct tile_step *only_for(const struct chaining *chaining, reg vector)
{
    const size_t writer = chaining->writer[vector];
    return writer != SIZE_MAX && chaining->readers[vector] == 1 ? &chaining->tile->steps[writer] : NULL;
}

static void cover(struct chaining *chaining, reg vector)
{
    chaining->covered[chaining->covered_count++] = chaining->writer[vector];
}

static bool is_capture(const struct chaining *chaining, reg vector)
{
    for (size_t k = 0; k < chaining->loop->captures.count; k++) {
        if (chaining->loop->captures.at[k].inner == vector)
            return true;
    }
    return false;
}

/* Whether one argument is a capture and the other an element. */
static bool find_factors(struct chaining *chaining, const struct step *step, struct chain_term *term)
{
    for (int i = 0; i < 2; i++) {
        const reg row = step->args[i], vector = step->args[1 - i];
        const size_t writer = chaining->writer[vector];
        if (!is_capture(chaining, row) || writer == SIZE_MAX || chaining->tile->steps[writer].element < 0)
            continue;
        *term = (struct chain_term){row, chaining->tile->steps[writer].element};
        if (only_for(chaining, vector))
            cover(chaining, vector);
        return true;
    }
    return false;
}

/* Finds the term that a step multiplies; a square's factor is a difference. */
static bool find_term(struct chaining *chaining, const struct step *step, struct chain_term *term, bool *squares)
{
    const struct tile_step *factor = only_for(chaining, step->args[0]);
    *squares = step->args[0] == step->args[1];
    if (!*squares)
        return find_factors(chaining, step, term);
    if (!factor || !is_step(factor, vector_op(OP_SUB, LANE_F64)))
        return false;
    cover(chaining, step->args[0]);
    return find_factors(chaining, factor->step, term);
}

/* Finds the chain whose last addition is step `last`. */
static bool find_chain(struct chaining *chaining, size_t last, struct tile_chain *chain)
{
    const struct tile_step *at = &chaining->tile->steps[last];
    bool squares, begins = false;
    *chain = (struct tile_chain){.terms = chain->terms, .last = last};
    chaining->covered_count = 0;
    while (at && !begins) {
        begins = is_step(at, vector_op(OP_MUL, LANE_F64));
        if ((!begins && !is_step(at, vector_float_pair(OP_MUL, OP_ADD, false))) ||
            !find_term(chaining, at->step, &chain->terms[chain->term_count], &squares) ||
            (chain->term_count > 0 && squares != chain->squares))
            return false;
        chain->squares = squares;
        chain->term_count++;
        cover(chaining, at->step->out);
        at = begins ? NULL : only_for(chaining, at->step->args[2]);
    }
    return begins && chain->term_count > 1;
}

/* Terms are found from the last. */
static void turn_round(struct tile_chain *chain)
{
    for (int low = 0, high = chain->term_count - 1; low < high; low++, high--) {
        const struct chain_term term = chain->terms[low];
        chain->terms[low] = chain->terms[high];
        chain->terms[high] = term;
    }
}

static void count_readers(struct chaining *chaining)
{
    const struct loop_tile *tile = chaining->tile;
    for (size_t s = 0; s < tile->step_count; s++) {
        const struct tile_step *at = &tile->steps[s];
        const reg *args = at->step ? at->step->args : NULL;
        if (at->step || at->element >= 0)
            chaining->writer[at->step ? at->step->out : tile->elements[at->element].gather->out] = s;
        for (int i = 0; i < 3 && args; i++) {
            if (args[i] != NO_REGISTER && (i == 0 || args[i] != args[i - 1]))
                chaining->readers[args[i]]++;
        }
    }
    for (size_t k = 0; k < chaining->loop->state_count; k++)
        chaining->readers[chaining->loop->states[k].next]++;
    for (size_t k = 0; k < tile->sum_count; k++)
        chaining->readers[tile->sums[k].term]++;
}

void tile_find_chains(struct loop_tile *tile, const struct vector_loop *loop, struct program *program,
                      struct arena *arena)
{
    const size_t vectors = (size_t)program->vector_count + 1;
    struct chaining chaining = {
        .tile = tile,
        .loop = loop,
        .writer = arena_array(arena, vectors, sizeof *chaining.writer),
        .readers = arena_array(arena, vectors, sizeof *chaining.readers),
        .covered = arena_array(arena, 3 * tile->step_count + 1, sizeof *chaining.covered),
    };
    for (size_t k = 0; k < vectors; k++)
        chaining.writer[k] = SIZE_MAX;
    for (size_t s = 0; s < tile->step_count; s++)
        tile->steps[s].chain = -1;
    tile->chains = arena_array(arena, tile->step_count, sizeof *tile->chains);
    count_readers(&chaining);
    struct chain_term *terms = arena_array(arena, tile->step_count, sizeof *terms);
    for (size_t s = tile->step_count; s-- > 0;) {
        struct tile_chain chain = {.terms = terms};
        if (tile->steps[s].chain >= 0 || !is_step(&tile->steps[s], vector_float_pair(OP_MUL, OP_ADD, false)) ||
            !find_chain(&chaining, s, &chain))
            continue;
        turn_round(&chain);
        for (size_t k = 0; k < chaining.covered_count; k++)
            tile->steps[chaining.covered[k]].chain = (int)tile->chain_count;
        terms += chain.term_count;
        program->most_chain_terms =
            chain.term_count > program->most_chain_terms ? chain.term_count : program->most_chain_terms;
        tile->chains[tile->chain_count++] = chain;
    }
    if (tile->chain_count > program->most_chains)
        program->most_chains = tile->chain_count;
    for (size_t s = tile->step_count; s-- > 0;) {
        const struct tile_step *next = s + 1 < tile->step_count ? &tile->steps[s + 1] : NULL;
        const int chain = tile->steps[s].chain;
        const bool goes_on = next && chain >= 0 && next->chain == chain && tile->chains[chain].last != s + 1;
        tile->steps[s].behind = goes_on ? next->behind : s + 1;
    }
}

struct chain_run *chain_runs_new(const struct program *program, struct arena *arena)
{
    struct chain_run *runs = arena_array(arena, program->most_chains, sizeof *runs);
    const size_t terms = (size_t)program->most_chain_terms;
    for (size_t k = 0; k < program->most_chains; k++)
        runs[k] = (struct chain_run){
            .x = arena_array(arena, terms, sizeof *runs->x),
            .y = arena_array(arena, terms, sizeof *runs->y),
            .factors = arena_array(arena, terms * TERM_SUM_ROUNDS, sizeof *runs->factors),
            .sums = arena_aligned(arena, (size_t)TERM_SUM_ROUNDS * TILE_ROWS * sizeof *runs->sums, CACHE_LINE),
        };
    return runs;
}

void chains_begin(struct worker *worker, const struct loop_tile *tile, const enum element_place *places, int begin)
{
    for (size_t c = 0; c < tile->chain_count; c++) {
        const struct tile_chain *chain = &tile->chains[c];
        struct chain_run *run = &worker->chains[c];
        run->runs = true;
        run->first = run->end = 0;
        for (int k = 0; k < chain->term_count && run->runs; k++) {
            const struct chain_term *term = &chain->terms[k];
            const struct tile_element *element = &tile->elements[term->element];
            run->runs = places[term->element] == PLACE_ONE && element->column->store == TYPE_F64;
            if (!run->runs)
                continue;
            const int64_t *position = worker->at[element->position];
            run->x[k] = worker->at[term->row];
            run->y[k] = (const double *)element->column->data + position[begin];
        }
    }
}

static void read_factors(const struct chain_run *run, const struct loop_tile *tile, const struct tile_chain *of)
{
    for (int k = 0; k < of->term_count; k++) {
        const int64_t step = tile->elements[of->terms[k].element].step;
        for (int64_t round = run->first; round < run->end; round++)
            run->factors[k * TERM_SUM_ROUNDS + (round - run->first)] = run->y[k][round * step];
    }
}

void chain_run_round(struct worker *worker, const struct loop_tile *tile, int chain, int64_t round, int64_t rounds,
                     int count)
{
    const struct tile_chain *of = &tile->chains[chain];
    struct chain_run *run = &worker->chains[chain];
    if (round >= run->end) {
        const int64_t left = rounds - round, parts = (left + TERM_SUM_ROUNDS - 1) / TERM_SUM_ROUNDS;
        run->first = round;
        run->end = round + (left + parts - 1) / parts;
        read_factors(run, tile, of);
        term_sum_compute(&(struct term_sum){
            .squares = of->squares,
            .terms = of->term_count,
            .lanes = count,
            .rounds = (int)(run->end - round),
            .x = run->x,
            .y = run->factors,
            .out = run->sums,
            .out_round = TILE_ROWS,
        });
    }
    worker->at[tile->steps[of->last].step->out] = run->sums + (round - run->first) * TILE_ROWS;
}
