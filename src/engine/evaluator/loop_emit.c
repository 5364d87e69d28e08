#include "engine/evaluator/arm.h"
#include "engine/evaluator/loop.h"
#include "engine/evaluator/loop_tile.h"
#include "engine/plan/code_loop.h"

void loop_want_arguments(struct builder *b, value v)
{
    struct loop_values values;
    loop_find_values(b->code, v, code_levels(b->code, b->arena), &values, b->arena);
    for (value u = 0; u < b->code->count; u++)
        b->wanted[u] = b->wanted[u] || (values.outer[u] && u < v);
    for (size_t k = 0; k < values.carry_count; k++)
        b->wanted[values.carries[k].first] = true;
    for (int i = 0; i < 3; i++)
        b->wanted[b->code->at[values.index].args[i]] = true;
}

static void want_inside(struct builder *inside, const struct loop_values *values, value v)
{
    if (values->body[v])
        inside->wanted[v] = true;
}

static reg add_operation(struct builder *b, enum op op, reg x, reg y)
{
    const reg out = builder_lane_vector(b, LANE_F64);
    builder_add_step(b, (struct step){
                            .dense = vector_op(op, LANE_F64),
                            .op = op,
                            .out = out,
                            .args = {x, y, NO_REGISTER},
                            .check = CHECK_NONE,
                        });
    return out;
}

/* The steps that add a term to the states of a float sum, as compensated_add. */
static void add_to_sum(struct builder *b, struct loop_state states[SUM_PARTS], reg term)
{
    for (int k = 0; k < 2; k++) {
        states[k].next = add_operation(b, OP_ADD, states[k].state, term);
        term = add_operation(b, OP_LOST, states[k].state, term);
    }
    states[2].next = add_operation(b, OP_ADD, states[2].state, term);
    states[3].next = add_operation(b, OP_ADD, states[3].state, add_operation(b, OP_ABS, term, NO_REGISTER));
}

/* Gives the loop's FINALs its results as their vectors. */
static void set_finals(struct builder *b, value loop, const struct vector_loop *steps, const enum lane *lanes)
{
    for (value v = loop + 1; v < b->code->count; v++) {
        const struct instr *instr = &b->code->at[v];
        if (instr->op != OP_FINAL || instr->args[0] != loop)
            continue;
        const reg out = steps->states[instr->offset].out;
        const enum lane lane = lanes[instr->offset];
        b->of[b->scope][lane][v] = out;
        if (lane == instr->lane)
            continue;
        const reg moved = builder_lane_vector(b, instr->lane);
        builder_add_move(b, moved, instr->lane, out, lane);
        b->of[b->scope][instr->lane][v] = moved;
    }
}

void loop_emit(struct builder *b, value v)
{
    const struct code *code = b->code;
    struct program *program = b->program;
    struct loop_values values;
    loop_find_values(b->code, v, code_levels(b->code, b->arena), &values, b->arena);
    struct builder inside = builder_of_loop(b);
    inside.scope = SCOPE_FILTERS;
    inside.arms = loop_may_tile(b, v, &values) ? NULL : b->arms;
    const size_t count = values.carry_count;
    const struct instr *index = &code->at[values.index];
    struct vector_loop *loop = arena_alloc(b->arena, sizeof *loop);
    program->most_states = count > program->most_states ? count : program->most_states;
    enum lane *lanes = arena_array(b->arena, count + 1, sizeof *lanes);
    *loop = (struct vector_loop){
        .number = program->loop_count++,
        .index = builder_lane_vector(b, index->lane),
        .narrow = index->lane == LANE_I32,
        .first = builder_vector(b, index->args[0], LANE_I64),
        .last = builder_vector(b, index->args[1], LANE_I64),
        .where = builder_vector(b, index->args[2], LANE_BOOL),
        .states = arena_array(b->arena, count + 1, sizeof *loop->states),
        .state_count = count,
        .captures.at = arena_array(b->arena, (size_t)code->count, sizeof *loop->captures.at),
        .condition = NO_REGISTER,
    };
    inside.of[inside.scope][index->lane][values.index] = loop->index;
    for (size_t k = 0; k < count; k++) {
        const value state = loop_state(code, v, k, &values);
        const enum lane lane = lanes[k] = loop_state_lane(code, v, k, &values);
        loop->states[k] = (struct loop_state){
            .state = builder_lane_vector(b, lane),
            .first = builder_vector(b, values.carries[k].first, lane),
            .out = builder_lane_vector(b, lane),
            .size = type_table[lane_type(lane)].size,
        };
        if (state != NO_VALUE)
            inside.of[inside.scope][lane][state] = loop->states[k].state;
        want_inside(&inside, &values, values.carries[k].next);
    }
    for (value u = 0; u < v; u++) {
        if (values.outer[u] && code->at[u].op != OP_CONST && code->at[u].op != OP_ROWS)
            builder_capture(b, &inside, &loop->captures, u);
    }
    const value holds = code->at[v].args[1];
    want_inside(&inside, &values, holds);
    builder_add_step(b, (struct step){
                            .op = OP_LOOP,
                            .out = loop->index,
                            .args = {NO_REGISTER, NO_REGISTER, NO_REGISTER},
                            .check = CHECK_NONE,
                            .loop = loop,
                        });
    loop->begin = program->step_count;
    loop->checks = program->check_count;
    builder_emit_wanted(&inside);
    if (!loop_is_counted(code, v))
        loop->condition = builder_vector(&inside, holds, LANE_BOOL);
    for (size_t k = 0; k < count; k++) {
        const reg next = builder_vector(&inside, values.carries[k].next, lanes[k]);
        if (values.carries[k].part == 1)
            add_to_sum(&inside, &loop->states[k], next);
        else if (values.carries[k].part == 0)
            loop->states[k].next = next;
    }
    loop->body_end = program->step_count;
    loop->tile = loop_tile_new(&inside, loop, v, &values);
    loop->flat = loop_flat_new(&inside, loop);
    builder_emit_guards(&inside);
    loop->end = program->step_count;
    loop->checks_end = program->check_count;
    for (int32_t s = loop->begin; s < loop->end; s++) {
        loop->nested = loop->nested || program->steps[s].loop;
        loop->keeps_states = loop->keeps_states || loop->nested || program->steps[s].check != CHECK_NONE;
        const struct arm *arm = program->steps[s].arm;
        loop->reads_index = loop->reads_index || (arm && arm->other == loop->index);
        for (size_t k = 0; arm && k < arm->captures.count; k++)
            loop->reads_index = loop->reads_index || arm->captures.at[k].outer == loop->index;
        for (int i = 0; i < 3; i++)
            loop->reads_index = loop->reads_index || program->steps[s].args[i] == loop->index;
    }
    for (size_t k = 0; k < count; k++)
        loop->reads_index = loop->reads_index || loop->states[k].next == loop->index;
    loop->reads_index = loop->reads_index || loop->nested;
    b->of[b->scope][LANE_BOOL][v] = loop->index;
    set_finals(b, v, loop, lanes);
}

void loop_vectors(const struct vector_loop *loop, void (*use)(void *context, reg vector, bool own), void *context)
{
    use(context, loop->index, true);
    use(context, loop->first, false);
    use(context, loop->last, false);
    use(context, loop->where, false);
    if (loop->condition != NO_REGISTER)
        use(context, loop->condition, false);
    for (size_t k = 0; k < loop->state_count; k++) {
        use(context, loop->states[k].state, true);
        use(context, loop->states[k].out, true);
        use(context, loop->states[k].first, false);
        use(context, loop->states[k].next, false);
    }
    captures_vectors(&loop->captures, use, context);
    for (size_t k = 0; loop->tile && k < loop->tile->bound_count; k++)
        use(context, loop->tile->bounds[k].position, true);
}
