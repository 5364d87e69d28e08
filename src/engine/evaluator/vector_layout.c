#include "engine/evaluator/vector_layout.h"

static void read_until(int32_t *last, reg vector, int32_t end)
{
    last[vector] = end > last[vector] ? end : last[vector];
}

/* The last step that reads each vector: a filter's mask may also be an output. */
static int32_t *last_uses(const struct program *program, struct arena *arena)
{
    int32_t *last = arena_array(arena, (size_t)program->vector_count + 1, sizeof *last);
    for (size_t k = 0; k < program->output_count; k++)
        last[program->outputs[k].vector] = program->step_count;
    for (size_t i = 0; i < program->aggregate_count; i++) {
        if (program->aggregates[i].vector != NO_REGISTER)
            last[program->aggregates[i].vector] = program->step_count;
    }
    for (size_t i = 0; i < program->filter_count; i++)
        read_until(last, program->filters[i].mask,
                   i + 1 < program->filter_count ? program->guards_end : program->step_count);
    for (int32_t i = 0; i < program->check_count; i++)
        read_until(last, program->checks[i].guard,
                   i < program->filter_checks ? program->guards_end : program->step_count);
    for (int32_t s = program->step_count - 1; s >= 0; s--) {
        const struct step *step = &program->steps[s];
        read_until(last, step->out, s);
        for (int i = 0; i < 3; i++) {
            reg arg = step->args[i];
            if (arg != NO_REGISTER)
                read_until(last, arg, i == 0 && !step->dense ? last[step->out] : s); /* the alias reads it */
        }
    }
    return last;
}

/* A new place for a vector. Places at the same page offset would alias: processors take a load to depend on a store
 * with the same low address bits. So each starts some cache lines further on. */
static size_t new_place(struct program *program, size_t size)
{
    enum { STAGGER = 13 * CACHE_LINE };
    size_t place = program->memory;
    program->memory += size * BLOCK_ROWS + STAGGER;
    return place;
}

/* Free places of one element size. */
struct buffer_pool {
    size_t *destinations;
    size_t count;
};

/* count + 1 empty lists. */
static reg *new_heads(struct arena *arena, int32_t count)
{
    reg *lists = arena_array(arena, (size_t)count + 1, sizeof *lists);
    for (int32_t i = 0; i <= count; i++)
        lists[i] = NO_REGISTER;
    return lists;
}

void program_layout(struct program *program, struct arena *arena)
{
    int32_t *last = last_uses(program, arena);
    struct buffer_pool pools[sizeof(int64_t) + 1] = {{0}};
    for (size_t size = 1; size <= sizeof(int64_t); size *= 2)
        pools[size].destinations = arena_array(arena, (size_t)program->vector_count + 1, sizeof(size_t));
    /* The vectors last read by each step, as linked lists. */
    reg *first = new_heads(arena, program->step_count + 1);
    reg *next = new_heads(arena, program->vector_count);
    for (size_t i = 0; i < program->constant_count; i++) {
        struct vector_info *vector = &program->vectors[program->constants[i].vector];
        vector->place = new_place(program, vector->size);
    }
    for (size_t i = 0; i < program->stored_count; i++) {
        struct stored_vector *stored = &program->stored[i];
        if (stored->offset == 0 && program->leading_columns == 0)
            continue;
        stored->place = new_place(program, program->vectors[stored->vector].size);
    }
    for (int32_t s = 0; s < program->step_count; s++) {
        const struct step *step = &program->steps[s];
        struct vector_info *vector = &program->vectors[step->out];
        if (step->dense || step->selected) {
            struct buffer_pool *pool = &pools[vector->size];
            if (pool->count > 0) {
                vector->place = pool->destinations[--pool->count];
            } else {
                vector->place = new_place(program, vector->size);
            }
            next[step->out] = first[last[step->out]];
            first[last[step->out]] = step->out;
        }
        for (reg dead = first[s]; dead != NO_REGISTER; dead = next[dead]) {
            struct buffer_pool *pool = &pools[program->vectors[dead].size];
            pool->destinations[pool->count++] = program->vectors[dead].place;
        }
    }
}
