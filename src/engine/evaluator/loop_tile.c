#include "engine/evaluator/loop_tile.h"

#include "engine/vector/product_sum.h"

struct finding {
    const struct builder *b;
    const struct vector_loop *loop;
    const struct loop_values *values;
    const struct code *code;
    const struct program *program;
    uint32_t level; /* the loop's, as a bit */
    const uint32_t *levels;
    struct loop_tile *tile;
};

static bool varies(const struct finding *finding, value v)
{
    return (finding->levels[v] & finding->level) != 0;
}

/* Whether the value is one of the first round and `step` more each round. */
static bool moves_by(const struct finding *finding, value v, int64_t *step)
{
    const struct instr *instr = &finding->code->at[v];
    int64_t a, b;
    *step = 0;
    if (!varies(finding, v))
        return true;
    switch (instr->op) {
    case OP_COUNTER:
        *step = 1;
        return v == finding->values->index;
    case OP_INDEX:
        return moves_by(finding, instr->args[0], step);
    case OP_ADD:
    case OP_SUB:
        return !instr->checked && moves_by(finding, instr->args[0], &a) && moves_by(finding, instr->args[1], &b) &&
               int_op(instr->op, a, b, step);
    case OP_MUL:
        for (int i = 0; i < 2; i++) {
            const struct instr *factor = &finding->code->at[instr->args[1 - i]];
            if (factor->op == OP_CONST)
                return !instr->checked && moves_by(finding, instr->args[i], &a) &&
                       int_op(OP_MUL, a, factor->integer, step);
        }
        return false;
    default:
        return false;
    }
}

/* The step of the round that computes the vector; NULL: none does. */
static const struct step *step_of(const struct finding *finding, reg vector)
{
    for (int32_t s = finding->loop->begin; s < finding->loop->body_end && vector != NO_REGISTER; s++) {
        if (finding->program->steps[s].out == vector)
            return &finding->program->steps[s];
    }
    return NULL;
}

static reg vector_of(const struct finding *finding, value v, enum lane lane)
{
    return finding->b->of[finding->b->scope][lane][v];
}

/* Adds a bound; returns the vector of its positions. */
static reg add_bound(const struct finding *finding, reg computed, int64_t step, int64_t limit)
{
    struct builder b = *finding->b;
    struct loop_tile *tile = finding->tile;
    for (size_t k = 0; k < tile->bound_count; k++) {
        struct tile_bound *bound = &tile->bounds[k];
        if (bound->computed == computed && bound->step == step) {
            bound->limit = limit < bound->limit ? limit : bound->limit;
            return bound->position;
        }
    }
    const reg position = builder_lane_vector(&b, LANE_I64);
    tile->bounds[tile->bound_count++] =
        (struct tile_bound){.computed = computed, .position = position, .step = step, .limit = limit};
    return position;
}

static void find_elements(const struct finding *finding)
{
    struct loop_tile *tile = finding->tile;
    for (value v = 0; v < finding->code->count; v++) {
        const struct instr *instr = &finding->code->at[v];
        int64_t step;
        if (!finding->values->body[v] || (instr->op != OP_GATHER && instr->op != OP_INDEX) ||
            !moves_by(finding, instr->args[0], &step))
            continue;
        const enum lane lane = instr->op == OP_INDEX ? LANE_I64 : instr->lane;
        const struct step *found = step_of(finding, vector_of(finding, v, lane));
        if (!found)
            continue;
        if (instr->op == OP_GATHER) {
            const reg position = add_bound(finding, found->args[0], step, found->whole->rows);
            int same = 0;
            while (same < (int)tile->element_count && tile->elements[same].position != position)
                same++;
            tile->elements[tile->element_count++] = (struct tile_element){.gather = found,
                                                                          .column = found->whole,
                                                                          .lane = lane,
                                                                          .position = position,
                                                                          .step = step,
                                                                          .same = same};
        } else if (found->check != CHECK_NONE && finding->code->at[instr->args[1]].op == OP_CONST) {
            add_bound(finding, found->args[0], step, finding->code->at[instr->args[1]].integer);
        }
    }
}

static void find_sums(const struct finding *finding)
{
    struct loop_tile *tile = finding->tile;
    for (size_t k = 0; k < finding->loop->state_count; k++) {
        const value term = finding->values->carries[k].next;
        tile->in_sum[k] = finding->values->carries[k].part != 0;
        if (finding->values->carries[k].part == 1)
            tile->sums[tile->sum_count++] = (struct tile_sum){
                .state = k,
                .term = code_is_const(finding->code, term) ? finding->b->of[SCOPE_FILTERS][LANE_F64][term]
                                                           : vector_of(finding, term, LANE_F64),
            };
    }
}

static int element_of(const struct loop_tile *tile, reg vector)
{
    for (size_t e = 0; e < tile->element_count; e++) {
        if (tile->elements[e].gather->out == vector)
            return (int)e;
    }
    return -1;
}

static void need_arguments(const struct step *step, bool *needed)
{
    for (int i = 0; i < 3; i++) {
        if (step->args[i] != NO_REGISTER)
            needed[step->args[i]] = true;
    }
}

static void copy_positions(struct loop_tile *tile, reg computed)
{
    for (size_t k = 0; k < tile->bound_count; k++) {
        if (tile->bounds[k].computed == computed)
            tile->positions[tile->position_count++] = (struct step){
                .dense = vector_move(TYPE_I64, TYPE_I64),
                .op = OP_INPUT,
                .out = tile->bounds[k].position,
                .args = {computed, NO_REGISTER, NO_REGISTER},
                .check = CHECK_NONE,
            };
    }
}

/* The steps that compute the positions of the first round. */
static void list_positions(const struct finding *finding)
{
    struct loop_tile *tile = finding->tile;
    const struct step *steps = finding->program->steps;
    const int32_t begin = finding->loop->begin, end = finding->loop->body_end;
    bool *needed = arena_array(finding->b->arena, (size_t)finding->program->vector_count + 1, sizeof *needed);
    for (size_t k = 0; k < tile->bound_count; k++)
        needed[tile->bounds[k].computed] = true;
    for (int32_t s = end - 1; s >= begin; s--) {
        if (needed[steps[s].out])
            need_arguments(&steps[s], needed);
    }
    tile->positions =
        arena_array(finding->b->arena, (size_t)(end - begin) + tile->bound_count + 1, sizeof *tile->positions);
    for (int32_t s = begin; s < end; s++) {
        if (!needed[steps[s].out])
            continue;
        tile->positions[tile->position_count++] = steps[s];
        copy_positions(tile, steps[s].out);
        needed[steps[s].out] = false;
    }
    for (reg vector = 0; vector < finding->program->vector_count; vector++) {
        if (needed[vector])
            copy_positions(tile, vector); /* they are from outside */
    }
}

static void add_sums(struct loop_tile *tile, reg term)
{
    for (size_t k = 0; k < tile->sum_count; k++) {
        if (tile->sums[k].term == term)
            tile->steps[tile->step_count++] = (struct tile_step){.element = -1, .sum = (int)k};
    }
}

/* Whether the step may read one element as its second argument. */
static bool takes_one(const struct step *step)
{
    const bool can = step->op == OP_ADD || step->op == OP_SUB || step->op == OP_MUL;
    return can && step->check == CHECK_NONE && !step->by &&
           (step->dense == vector_op(step->op, LANE_F64) || step->dense == vector_op(step->op, LANE_I32));
}

/* Finds the elements that are needed in vectors. */
static void find_fills(const struct finding *finding)
{
    struct loop_tile *tile = finding->tile;
    for (size_t s = 0; s < tile->step_count; s++) {
        struct tile_step *step = &tile->steps[s];
        step->second = -1;
        for (int i = 0; step->step && i < 3; i++) {
            const int element = step->step->args[i] == NO_REGISTER ? -1 : element_of(tile, step->step->args[i]);
            if (element < 0)
                continue;
            if (i == 1 && takes_one(step->step))
                step->second = element;
            else
                tile->elements[element].fills = true;
        }
    }
    for (size_t e = 0; e < tile->element_count; e++) {
        for (size_t k = 0; k < finding->loop->state_count; k++)
            tile->elements[e].fills |= finding->loop->states[k].next == tile->elements[e].gather->out;
        for (size_t k = 0; k < tile->sum_count; k++)
            tile->elements[e].fills |= tile->sums[k].term == tile->elements[e].gather->out;
    }
}

/* The steps of all rounds. */
static void list_steps(const struct finding *finding)
{
    struct loop_tile *tile = finding->tile;
    const struct vector_loop *loop = finding->loop;
    const struct step *steps = finding->program->steps;
    bool *needed = arena_array(finding->b->arena, (size_t)finding->program->vector_count + 1, sizeof *needed);
    bool *computed = arena_array(finding->b->arena, (size_t)finding->program->vector_count + 1, sizeof *computed);
    for (size_t k = 0; k < tile->sum_count; k++)
        needed[tile->sums[k].term] = true;
    for (size_t k = 0; k < loop->state_count; k++)
        needed[loop->states[k].next] |= !tile->in_sum[k];
    for (int32_t s = loop->body_end - 1; s >= loop->begin; s--) {
        if (needed[steps[s].out] && element_of(tile, steps[s].out) < 0)
            need_arguments(&steps[s], needed);
    }
    tile->steps = arena_array(finding->b->arena, (size_t)(loop->body_end - loop->begin) + tile->sum_count + 1,
                              sizeof *tile->steps);
    for (int32_t s = loop->begin; s < loop->body_end; s++) {
        const reg out = steps[s].out;
        if (!needed[out])
            continue;
        const int element = element_of(tile, out);
        tile->checked = tile->checked || (element < 0 && steps[s].check != CHECK_NONE);
        tile->steps[tile->step_count++] =
            (struct tile_step){.step = element < 0 ? &steps[s] : NULL, .element = element, .sum = -1};
        add_sums(tile, out);
        computed[out] = true;
    }
    for (size_t k = 0; k < tile->sum_count; k++) {
        if (!computed[tile->sums[k].term]) /* it is the same in all rounds */
            tile->steps[tile->step_count++] = (struct tile_step){.element = -1, .sum = (int)k};
    }
}

/* The element that the value is, in any lane; -1: none. */
static int element_as(const struct finding *finding, value v)
{
    const struct instr *instr = &finding->code->at[v];
    return instr->op == OP_GATHER ? element_of(finding->tile, vector_of(finding, v, instr->lane)) : -1;
}

/* The greatest magnitude of an integer element. */
static int64_t largest(const struct tile_element *element)
{
    const struct column *column = element->column;
    if (column->range_known)
        return column->lo < -INT64_MAX ? INT64_MAX : column->hi > -column->lo ? column->hi : -column->lo;
    return column->store == TYPE_I32   ? largest_i32(column->data, column->rows)
           : column->store == TYPE_I64 ? largest_i64(column->data, column->rows)
                                       : INT64_MAX;
}

/* Copies the element's column to the lane's type: factors are read where they lie. */
static void widen(const struct finding *finding, struct tile_element *element)
{
    const enum type type = lane_type(element->lane), store = element->column->store;
    struct column *copy = arena_alloc(finding->b->arena, sizeof *copy);
    if (store == type)
        return;
    const size_t size = type_table[type].size, stored = type_table[store].size;
    char *to = arena_aligned(finding->b->arena, (size_t)element->column->rows * size, CACHE_LINE);
    *copy = (struct column){.store = type,
                            .rows = element->column->rows,
                            .data = to,
                            .range_known = element->column->range_known,
                            .lo = element->column->lo,
                            .hi = element->column->hi};
    for (int64_t row = 0; row < copy->rows; row += BLOCK_ROWS) {
        const int64_t left = copy->rows - row;
        struct operands operands = {.out = to + (size_t)row * size,
                                    .a = (const char *)element->column->data + (size_t)row * stored};
        vector_move(store, type)(&operands, left < BLOCK_ROWS ? (int)left : BLOCK_ROWS);
    }
    element->column = copy;
}

/* Whether all elements can be looked at now, which takes little next to the loop. */
static bool is_short(const struct finding *finding, const struct tile_element *element)
{
    enum { MOST_BYTES = 1 << 26 };
    const struct job *job = finding->program->job;
    return !job->keeps && element->column->rows / 4 <= job->end - job->begin &&
           element->column->rows <= MOST_BYTES / (int64_t)sizeof(int64_t);
}

static void prepare_factors(const struct finding *finding, struct tile_product *product)
{
    int64_t most[2] = {INT64_MAX, INT64_MAX};
    product->most = INT64_MAX;
    for (int i = 0; i < 2; i++) {
        struct tile_element *element = &finding->tile->elements[i == 0 ? product->x : product->y];
        const bool is_read = is_short(finding, element);
        if (is_read)
            widen(finding, element);
        if (product->sum == LANE_I64 && (is_read || element->column->range_known))
            most[i] = largest(element);
    }
    if (__builtin_mul_overflow(most[0], most[1], &product->most))
        product->most = INT64_MAX;
}

/* Finds whether the loop is a sum of products, and nothing else. */
static void find_product(const struct finding *finding, value loop)
{
    struct loop_tile *tile = finding->tile;
    const struct code *code = finding->code;
    value term = NO_VALUE;
    struct tile_product product = {.is = true, .sum = LANE_F64};
    if (tile->sum_count == 1 && finding->values->carry_count == SUM_PARTS) {
        term = finding->values->carries[0].next;
    } else if (finding->values->carry_count == 1) {
        const int added = loop_term(code, loop, 0, finding->values);
        term = added < 0 ? NO_VALUE : code->at[finding->values->carries[0].next].args[added];
        product.sum = loop_state_lane(code, loop, 0, finding->values);
    }
    if (term == NO_VALUE || code->at[term].op != OP_MUL || code->at[term].checked)
        return;
    product.x = element_as(finding, code->at[term].args[0]);
    product.y = element_as(finding, code->at[term].args[1]);
    if (product.x < 0 || product.y < 0 || tile->elements[product.x].lane != tile->elements[product.y].lane)
        return;
    product.factors = tile->elements[product.x].lane;
    if (product.factors > product.sum)
        return;
    prepare_factors(finding, &product);
    tile->product = product;
}

/* Whether no loop is in a round, and all states can be computed in place. */
static bool is_simple(const struct finding *finding)
{
    for (int32_t s = finding->loop->begin; s < finding->loop->body_end; s++) {
        if (finding->program->steps[s].loop || finding->program->steps[s].arm)
            return false;
    }
    for (size_t k = 0; k < finding->loop->state_count; k++) {
        for (size_t other = 0; other < finding->loop->state_count; other++) {
            if (finding->loop->states[k].next == finding->loop->states[other].state)
                return false;
        }
    }
    return true;
}

bool loop_may_tile(const struct builder *b, value v, const struct loop_values *values)
{
    const struct finding finding = {
        .values = values,
        .code = b->code,
        .level = (uint32_t)1 << b->code->at[values->index].integer,
        .levels = code_levels(b->code, b->arena),
    };
    bool may = false;
    int64_t step;
    for (value u = 0; u < v && !may; u++)
        may = values->body[u] && b->code->at[u].op == OP_GATHER && moves_by(&finding, b->code->at[u].args[0], &step);
    for (size_t k = 0; k < values->carry_count && !may; k++)
        may = values->carries[k].part != 0;
    return may && loop_is_counted(b->code, v);
}

struct loop_tile *loop_tile_new(const struct builder *b, const struct vector_loop *loop, value v,
                                const struct loop_values *values)
{
    struct arena *arena = b->arena;
    const size_t steps = (size_t)(loop->body_end - loop->begin) + 1;
    struct loop_tile *tile = arena_alloc(arena, sizeof *tile);
    struct finding finding = {
        .b = b,
        .loop = loop,
        .values = values,
        .code = b->code,
        .program = b->program,
        .level = (uint32_t)1 << b->code->at[values->index].integer,
        .levels = code_levels(b->code, arena),
        .tile = tile,
    };
    if (loop->condition != NO_REGISTER)
        return NULL;
    tile->elements = arena_array(arena, steps, sizeof *tile->elements);
    tile->bounds = arena_array(arena, steps, sizeof *tile->bounds);
    tile->sums = arena_array(arena, loop->state_count + 1, sizeof *tile->sums);
    tile->in_sum = arena_array(arena, loop->state_count + 1, sizeof *tile->in_sum);
    find_elements(&finding);
    find_sums(&finding);
    find_product(&finding, v);
    if (tile->element_count + tile->sum_count == 0 || !is_simple(&finding))
        return NULL;
    list_positions(&finding);
    list_steps(&finding);
    find_fills(&finding);
    tile_find_chains(tile, loop, b->program, arena);
    if (tile->element_count > b->program->most_tile_elements)
        b->program->most_tile_elements = tile->element_count;
    return tile;
}
