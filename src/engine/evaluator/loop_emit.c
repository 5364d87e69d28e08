#include "engine/evaluator/loop.h"
#include "engine/plan/code_loop.h"

/* What a LOOP computes in a round, and what it reads from outside. */
struct loop_values {
    bool *body;
    bool *outer;
    struct carry *carries;
    size_t carry_count;
    value index;
};

/* Inside of a loop is what depends on it, or on a loop within it. */
static bool is_inside(const uint32_t *levels, value v, value loop)
{
    return (levels[v] & ~levels[loop]) != 0;
}

/* Adds a value that is read inside; returns whether it is inside itself and new. */
static bool add_read(struct loop_values *values, const uint32_t *levels, value v, value loop)
{
    const bool inside = is_inside(levels, v, loop), found = inside && !values->body[v];
    values->body[v] = values->body[v] || inside;
    values->outer[v] = values->outer[v] || !inside;
    return found;
}

static void find_values(const struct builder *b, value loop, struct loop_values *values)
{
    const struct code *code = b->code;
    const size_t count = (size_t)code->count;
    const uint32_t *levels = code_levels(code, b->arena);
    *values = (struct loop_values){
        .body = arena_array(b->arena, count, sizeof *values->body),
        .outer = arena_array(b->arena, count, sizeof *values->outer),
        .carries = arena_array(b->arena, LOOP_STATES, sizeof *values->carries),
        .index = loop_index(code, loop),
    };
    values->carry_count = loop_carries(code, loop, values->carries);
    for (size_t k = 0; k < values->carry_count; k++)
        add_read(values, levels, values->carries[k].next, loop);
    add_read(values, levels, code->at[loop].args[1], loop);
    /* To a fixed point: guards may follow what they guard. */
    for (bool changed = true; changed;) {
        changed = false;
        for (value v = code->count - 1; v >= 0; v--) {
            const struct instr *instr = &code->at[v];
            if (!values->body[v] || v == values->index)
                continue;
            if (instr->checked && instr->guard != NO_VALUE && add_read(values, levels, instr->guard, loop))
                changed = true;
            for (int i = 0; i < op_table[instr->op].arity; i++)
                (void)add_read(values, levels, instr->args[i], loop);
        }
    }
}

void loop_want_arguments(struct builder *b, value v)
{
    struct loop_values values;
    find_values(b, v, &values);
    for (value u = 0; u < b->code->count; u++)
        b->wanted[u] = b->wanted[u] || (values.outer[u] && u < v);
    for (size_t k = 0; k < values.carry_count; k++)
        b->wanted[values.carries[k].first] = true;
    for (int i = 0; i < 3; i++)
        b->wanted[b->code->at[values.index].args[i]] = true;
}

static size_t lane_size(enum lane lane)
{
    return type_table[lane_type(lane)].size;
}

static void capture(struct builder *b, struct builder *inside, struct vector_loop *loop, value v)
{
    const struct instr *instr = &b->code->at[v];
    if (instr->op == OP_CONST || instr->op == OP_ROWS)
        return;
    const reg inner = builder_lane_vector(b, instr->lane);
    loop->captures[loop->capture_count++] =
        (struct loop_capture){builder_vector(b, v, instr->lane), inner, lane_size(instr->lane)};
    inside->of[inside->scope][instr->lane][v] = inner;
}

static value state_of(const struct builder *b, const struct loop_values *values, value loop, size_t k)
{
    for (value v = 0; v < b->code->count; v++) {
        const struct instr *instr = &b->code->at[v];
        if (values->body[v] && instr->op == OP_STATE && instr->integer == b->code->at[loop].integer &&
            (size_t)instr->offset == k)
            return v;
    }
    return NO_VALUE;
}

/* The lane of a state's vectors: of a STATE that nothing reads, the one its values fit in. */
static enum lane state_lane(const struct builder *b, value state, struct carry carry)
{
    const enum lane first = b->code->at[carry.first].lane, next = b->code->at[carry.next].lane;
    if (state != NO_VALUE)
        return b->code->at[state].lane;
    return first > next ? first : next;
}

static void want_inside(struct builder *inside, const struct loop_values *values, value v)
{
    if (values->body[v])
        inside->wanted[v] = true;
}

static void add_move(struct builder *b, reg out, reg from, enum lane to, enum lane lane)
{
    builder_add_step(b, (struct step){
                            .dense = vector_move(lane_type(lane), lane_type(to)),
                            .op = OP_INPUT,
                            .out = out,
                            .args = {from, NO_REGISTER, NO_REGISTER},
                            .check = CHECK_NONE,
                        });
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
        add_move(b, moved, out, instr->lane, lane);
        b->of[b->scope][instr->lane][v] = moved;
    }
}

void loop_emit(struct builder *b, value v)
{
    const struct code *code = b->code;
    struct program *program = b->program;
    struct loop_values values;
    find_values(b, v, &values);
    struct builder inside = builder_of_loop(b);
    inside.scope = SCOPE_FILTERS;
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
        .captures = arena_array(b->arena, (size_t)code->count, sizeof *loop->captures),
        .condition = NO_REGISTER,
    };
    inside.of[inside.scope][index->lane][values.index] = loop->index;
    for (size_t k = 0; k < count; k++) {
        const value state = state_of(b, &values, v, k);
        const enum lane lane = lanes[k] = state_lane(b, state, values.carries[k]);
        loop->states[k] = (struct loop_state){
            .state = builder_lane_vector(b, lane),
            .first = builder_vector(b, values.carries[k].first, lane),
            .out = builder_lane_vector(b, lane),
            .size = lane_size(lane),
        };
        if (state != NO_VALUE)
            inside.of[inside.scope][lane][state] = loop->states[k].state;
        want_inside(&inside, &values, values.carries[k].next);
    }
    for (value u = 0; u < v; u++) {
        if (values.outer[u])
            capture(b, &inside, loop, u);
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
    if (!code_is_const(code, holds))
        loop->condition = builder_vector(&inside, holds, LANE_BOOL);
    for (size_t k = 0; k < count; k++)
        loop->states[k].next = builder_vector(&inside, values.carries[k].next, lanes[k]);
    loop->body_end = program->step_count;
    builder_emit_guards(&inside);
    loop->end = program->step_count;
    loop->checks_end = program->check_count;
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
    for (size_t k = 0; k < loop->capture_count; k++) {
        use(context, loop->captures[k].inner, true);
        use(context, loop->captures[k].outer, false);
    }
}
