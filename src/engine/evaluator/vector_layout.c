#include "engine/evaluator/program.h"

#include "engine/evaluator/arm.h"
#include "engine/evaluator/loop.h"

static void read_until(int32_t *last, reg vector, int32_t end)
{
    last[vector] = end > last[vector] ? end : last[vector];
}

/* Whether the steps after this one are run by it, and which step is behind those. */
static bool has_steps(const struct step *step)
{
    return step->loop || step->arm;
}

static int32_t end_of(const struct step *step)
{
    return step->loop ? step->loop->end : step->arm->end;
}

static void use_vectors(const struct step *step, void (*use)(void *context, reg vector, bool own), void *context)
{
    if (step->loop)
        loop_vectors(step->loop, use, context);
    else
        arm_vectors(step->arm, use, context);
}

/* Where vectors live: from the step that computes them to the last one that reads them. */
struct lives {
    const struct program *program;
    int32_t *from, *last;
    int32_t *loops; /* the steps that are loops */
    int32_t step;   /* of the loop or arm whose vectors are visited */
};

/* A loop reads what was computed before it in every round, so up to its end. */
static int32_t read_at(const struct lives *lives, reg vector, int32_t step)
{
    int32_t end = step;
    for (int32_t k = 0; k < lives->program->loop_count && lives->loops[k] < step; k++) {
        const struct vector_loop *loop = lives->program->steps[lives->loops[k]].loop;
        if (loop->end > step && lives->from[vector] < lives->loops[k] && loop->end - 1 > end)
            end = loop->end - 1;
    }
    return end;
}

static void begin_own(void *context, reg vector, bool own)
{
    struct lives *lives = context;
    if (own)
        lives->from[vector] = lives->step;
}

static void read_in_loop(void *context, reg vector, bool own)
{
    struct lives *lives = context;
    const int32_t end = end_of(&lives->program->steps[lives->step]) - 1;
    (void)own;
    read_until(lives->last, vector, read_at(lives, vector, end > lives->step ? end : lives->step));
}

static void find_begins(struct lives *lives)
{
    const struct program *program = lives->program;
    for (reg vector = 0; vector < program->vector_count; vector++)
        lives->from[vector] = -1;
    int32_t loops = 0;
    for (int32_t s = 0; s < program->step_count; s++) {
        lives->step = s;
        if (program->steps[s].loop)
            lives->loops[loops++] = s;
        if (has_steps(&program->steps[s]))
            use_vectors(&program->steps[s], begin_own, lives);
        else if (lives->from[program->steps[s].out] < 0)
            lives->from[program->steps[s].out] = s;
    }
}

/* The last step that reads each vector: a filter's mask may also be an output. */
static struct lives find_lives(const struct program *program, struct arena *arena)
{
    int32_t *last = arena_array(arena, (size_t)program->vector_count + 1, sizeof *last);
    struct lives lives = {.program = program, .last = last};
    lives.loops = arena_array(arena, (size_t)program->loop_count + 1, sizeof *lives.loops);
    lives.from = arena_array(arena, (size_t)program->vector_count + 1, sizeof *lives.from);
    find_begins(&lives);
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
    for (int32_t s = 0; s < program->step_count; s++) { /* at their ends, so before the steps within them */
        lives.step = s;
        if (has_steps(&program->steps[s]))
            use_vectors(&program->steps[s], read_in_loop, &lives);
    }
    for (int32_t s = program->step_count - 1; s >= 0; s--) {
        const struct step *step = &program->steps[s];
        read_until(last, step->out, s);
        for (int i = 0; i < 3; i++) {
            const reg arg = step->args[i];
            if (arg != NO_REGISTER)
                read_until(last, arg,
                           i == 0 && !step->dense ? last[step->out] : read_at(&lives, arg, s)); /* the alias reads it */
        }
        if (step->arm && step->arm->other != NO_REGISTER)
            read_until(last, step->arm->other, last[step->out]); /* an alias where no row takes the arm */
    }
    return lives;
}

/* A new place for a vector. Places at the same page offset would alias: processors take a load to depend on a store
 * with the same low address bits. So each starts some cache lines further on. */
static size_t new_place(struct program *program, size_t size)
{
    enum { STAGGER = 13 * CACHE_LINE };
    const size_t place = program->memory;
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

/* Places of vectors, step by step. */
struct layout {
    struct program *program;
    struct lives lives;
    struct buffer_pool pools[sizeof(int64_t) + 1];
    reg *dying; /* the vectors last read by each step, as linked lists */
    reg *next;
};

static void place_vector(struct layout *layout, reg at)
{
    struct vector_info *vector = &layout->program->vectors[at];
    struct buffer_pool *pool = &layout->pools[vector->size];
    vector->place = pool->count > 0 ? pool->destinations[--pool->count] : new_place(layout->program, vector->size);
    layout->next[at] = layout->dying[layout->lives.last[at]];
    layout->dying[layout->lives.last[at]] = at;
}

static void place_own(void *context, reg vector, bool own)
{
    if (own)
        place_vector(context, vector);
}

/* The bytes of a row in all columns and vectors that a block uses; `memory`, in vectors. */
static size_t bytes_of_row(const struct program *program, size_t memory)
{
    size_t bytes = memory / BLOCK_ROWS;
    for (size_t i = 0; i < program->stored_count; i++) {
        bool again = false;
        for (size_t j = 0; j < i && !again; j++)
            again = program->stored[j].input == program->stored[i].input;
        bytes += again ? 0 : program->vectors[program->stored[i].vector].size;
    }
    return bytes + (size_t)program_row_bytes(program);
}

/* Steps cost some nanoseconds each, so blocks are not too short either. */
static void choose_block(struct program *program, size_t memory)
{
    enum { FIRST_LEVEL_BYTES = 48 << 10, LEAST_ROWS = BLOCK_ROWS / 4 };
    const size_t bytes = bytes_of_row(program, memory);
    program->block_rows = BLOCK_ROWS;
    for (size_t i = 0; i < program->aggregate_count; i++) {
        if (program->aggregates[i].reducer) /* which pairs the rows of a block */
            return;
    }
    while (program->block_rows > LEAST_ROWS && (size_t)program->block_rows * bytes > FIRST_LEVEL_BYTES)
        program->block_rows /= 2;
}

void program_layout(struct program *program, struct arena *arena)
{
    struct layout layout = {
        .program = program,
        .lives = find_lives(program, arena),
        .dying = new_heads(arena, program->step_count + 1),
        .next = new_heads(arena, program->vector_count),
    };
    for (size_t size = 1; size <= sizeof(int64_t); size *= 2)
        layout.pools[size].destinations = arena_array(arena, (size_t)program->vector_count + 1, sizeof(size_t));
    for (size_t i = 0; i < program->constant_count; i++) {
        struct vector_info *vector = &program->vectors[program->constants[i].vector];
        vector->place = new_place(program, vector->size);
    }
    for (size_t i = 0; i < program->stored_count; i++) {
        struct stored_vector *stored = &program->stored[i];
        program->before = stored->offset < program->before ? stored->offset : program->before;
        program->behind = stored->offset > program->behind ? stored->offset : program->behind;
        if (stored->offset == 0 && program->leading_columns == 0)
            continue;
        stored->place = new_place(program, program->vectors[stored->vector].size);
    }
    const size_t before_steps = program->memory;
    for (int32_t s = 0; s < program->step_count; s++) {
        const struct step *step = &program->steps[s];
        if (has_steps(step))
            use_vectors(step, place_own, &layout);
        else if ((step->dense || step->selected) && program->vectors[step->out].place == SIZE_MAX)
            place_vector(&layout, step->out);
        for (reg dead = layout.dying[s]; dead != NO_REGISTER; dead = layout.next[dead]) {
            struct buffer_pool *pool = &layout.pools[program->vectors[dead].size];
            pool->destinations[pool->count++] = program->vectors[dead].place;
        }
    }
    choose_block(program, program->memory - before_steps);
}
