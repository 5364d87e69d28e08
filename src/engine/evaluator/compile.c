#include "engine/evaluator/compile.h"

#include "engine/evaluator/arm.h"
#include "engine/evaluator/loop.h"
#include "engine/vector/compare_const.h"

#include <math.h>

static reg new_vector(struct builder *b, size_t size)
{
    struct program *program = b->program;
    program->vectors = arena_reserve(b->arena, program->vectors, (size_t)program->vector_count,
                                     &program->vector_capacity, sizeof *program->vectors);
    program->vectors[program->vector_count] = (struct vector_info){.size = size, .place = SIZE_MAX};
    return program->vector_count++;
}

reg builder_lane_vector(struct builder *b, enum lane lane)
{
    return new_vector(b, type_table[lane_type(lane)].size);
}

void builder_add_step(struct builder *b, struct step step)
{
    struct program *program = b->program;
    program->steps = arena_reserve(b->arena, program->steps, (size_t)program->step_count, &program->step_capacity,
                                   sizeof *program->steps);
    program->steps[program->step_count++] = step;
}

void builder_add_move(struct builder *b, reg out, enum lane to, reg from, enum lane lane)
{
    builder_add_step(b, (struct step){
                            .dense = vector_move(lane_type(lane), lane_type(to)),
                            .op = OP_INPUT,
                            .out = out,
                            .args = {from, NO_REGISTER, NO_REGISTER},
                            .check = CHECK_NONE,
                        });
}

bool builder_selects(const struct builder *b)
{
    return b->scope == SCOPE_BODY && b->task->filter_count > 0 && !b->in_loop;
}

void builder_note_selection(struct builder *b, bool packs)
{
    b->program->reads_selection = true;
    b->program->reads_list = b->program->reads_list || !packs;
}

/* Loads values for the rows of the scope: by `selected` where a selection vector may be set. `packs`: a mask will do.
 */
static void add_selection(struct builder *b, reg out, reg from, vector_fn *dense, vector_fn *selected, bool packs)
{
    if (builder_selects(b))
        builder_note_selection(b, packs);
    builder_add_step(b, (struct step){
                            .dense = dense,
                            .selected = builder_selects(b) ? selected : NULL,
                            .op = OP_INPUT,
                            .out = out,
                            .args = {from, NO_REGISTER, NO_REGISTER},
                            .check = CHECK_NONE,
                        });
}

/* Adds a vector of a constant, or of its inverse. */
reg builder_add_constant(struct builder *b, value v, enum lane lane, bool inverse)
{
    struct program *program = b->program;
    const reg vector = builder_lane_vector(b, lane);
    *ARENA_PUSH(b->arena, program->constants, program->constant_count, program->constant_capacity) =
        (struct constant_vector){.vector = vector, .lane = lane, .value = v, .inverse = inverse};
    return vector;
}

static reg constant(struct builder *b, value v, enum lane lane)
{
    reg *known = &b->of[SCOPE_FILTERS][lane][v];
    if (*known == NO_REGISTER)
        *known = builder_add_constant(b, v, lane, false);
    return *known;
}

reg builder_vector(struct builder *b, value v, enum lane lane)
{
    const struct instr *instr = &b->code->at[v];
    if (instr->op == OP_CONST || instr->op == OP_ROWS)
        return constant(b, v, lane);
    reg *of = b->of[b->scope][lane];
    if (of[v] != NO_REGISTER)
        return of[v];
    if (lane == instr->lane) { /* computed by the filters and read by the body */
        const enum type type = lane_type(lane);
        of[v] = builder_lane_vector(b, lane);
        add_selection(b, of[v], b->of[SCOPE_FILTERS][lane][v], NULL, vector_selected_move(type, type),
                      vector_packs(type, type));
        return of[v];
    }
    const reg from = builder_vector(b, v, instr->lane);
    const reg vector = builder_lane_vector(b, lane);
    builder_add_move(b, vector, lane, from, instr->lane);
    return of[v] = vector;
}

bool builder_is_stored(const struct builder *b, value v)
{
    struct step step;
    return b->code->at[v].op == OP_INPUT || gather_order(b, v, &step);
}

/* The vector of such elements, for all rows of the block. What guards compute is not there for others. */
static reg ordered_vector(struct builder *b, value v)
{
    const struct column *whole = b->program->job->columns[b->code->at[v].integer];
    const reg vector = new_vector(b, type_table[whole->store].size);
    struct step step = {
        .dense = vector_move(whole->store, whole->store),
        .op = OP_GATHER,
        .out = vector,
        .args = {NO_REGISTER, NO_REGISTER, NO_REGISTER},
        .check = CHECK_NONE,
        .whole = whole,
    };
    gather_order(b, v, &step);
    builder_add_step(b, step);
    b->program->reads_row_numbers = true;
    if (b->scope != SCOPE_GUARDS)
        b->stored[v] = vector;
    return vector;
}

reg builder_stored_vector(struct builder *b, value v)
{
    if (b->stored[v] != NO_REGISTER)
        return b->stored[v];
    struct program *program = b->program;
    const struct instr *instr = &b->code->at[v];
    if (instr->op == OP_GATHER)
        return ordered_vector(b, v);
    const size_t input = (size_t)instr->integer;
    const reg vector = new_vector(b, type_table[program->job->columns[input]->store].size);
    program->stored[program->stored_count++] =
        (struct stored_vector){.vector = vector, .input = input, .offset = instr->offset};
    return b->stored[v] = vector;
}

static int32_t check_for(struct builder *b, value guard)
{
    if (b->ignore_failures)
        return CHECK_NONE;
    if (guard == NO_VALUE)
        return CHECK_ALWAYS;
    struct program *program = b->program;
    if (b->check_of[guard] == CHECK_NONE) {
        program->checks = arena_reserve(b->arena, program->checks, (size_t)program->check_count,
                                        &program->check_capacity, sizeof *program->checks);
        b->check_of[guard] = program->check_count++;
    }
    return b->check_of[guard];
}

void builder_emit_guards(struct builder *b)
{
    bool any = false;
    for (value v = 0; v < b->code->count; v++) {
        b->wanted[v] = b->check_of[v] != CHECK_NONE;
        any = any || b->wanted[v];
    }
    if (!any)
        return;
    b->ignore_failures = true;
    builder_emit_wanted(b);
    for (value v = 0; v < b->code->count; v++) {
        if (b->check_of[v] != CHECK_NONE)
            b->program->checks[b->check_of[v]].guard = builder_vector(b, v, LANE_BOOL);
        b->check_of[v] = CHECK_NONE;
    }
    b->ignore_failures = false;
}

static reg *new_map(struct arena *arena, int32_t count)
{
    reg *map = arena_array(arena, (size_t)count + 1, sizeof *map);
    for (int32_t i = 0; i < count; i++)
        map[i] = NO_REGISTER;
    return map;
}

void builder_capture(struct builder *b, struct builder *inside, struct captures *captures, value v)
{
    const enum lane lane = b->code->at[v].lane;
    const reg inner = builder_lane_vector(b, lane), outer = builder_vector(b, v, lane);
    captures->at[captures->count++] = (struct capture){outer, inner, type_table[lane_type(lane)].size};
    inside->of[inside->scope][lane][v] = inner;
}

void captures_vectors(const struct captures *captures, void (*use)(void *context, reg vector, bool own), void *context)
{
    for (size_t k = 0; k < captures->count; k++) {
        use(context, captures->at[k].inner, true);
        use(context, captures->at[k].outer, false);
    }
}

struct builder builder_of_loop(const struct builder *b)
{
    struct builder own = *b;
    const int32_t count = b->code->count;
    for (int scope = 0; scope < SCOPE_COUNT; scope++) {
        for (int lane = 0; lane < LANES; lane++)
            own.of[scope][lane] = new_map(b->arena, count);
    }
    own.stored = new_map(b->arena, count);
    own.wanted = arena_array(b->arena, (size_t)count + 1, sizeof *own.wanted);
    own.check_of = new_map(b->arena, count);
    own.in_loop = true;
    own.arms = NULL;
    return own;
}

/* The lane an operation computes in: the widest of its result and arguments. */
static enum lane working_lane(const struct code *code, const struct instr *instr)
{
    if (instr->checked || instr->op == OP_POPCOUNT || instr->op == OP_TO_INT || instr->op == OP_FLOAT_BITS)
        return LANE_I64;
    enum lane lane = instr->lane;
    for (int i = instr->op == OP_SELECT; i < op_table[instr->op].arity; i++) {
        const enum lane other = code->at[instr->args[i]].lane;
        lane = other > lane ? other : lane;
    }
    return lane;
}

/* The reciprocal for a division by a constant that cannot fail; NULL if it is not one. */
static union reciprocal *reciprocal_of(struct builder *b, const struct instr *instr, enum lane work)
{
    if ((instr->op != OP_DIV && instr->op != OP_MOD) || instr->checked || work == LANE_F64)
        return NULL;
    const struct instr *constant = &b->code->at[instr->args[1]];
    if (constant->op != OP_CONST || constant->integer == 0)
        return NULL;
    union reciprocal *by = arena_alloc(b->arena, sizeof *by);
    if (work == LANE_I32)
        by->narrow = divisor_of((int32_t)constant->integer);
    else
        by->wide = long_divisor_of(constant->integer);
    return by;
}

/* Whether it divides floats by a constant power of two: a multiplication gives the same and takes a fraction of the
 * time. */
bool builder_divides_by_power(const struct code *code, const struct instr *instr)
{
    if (instr->op != OP_DIV || instr->kind != KIND_FLOAT || code->at[instr->args[1]].op != OP_CONST ||
        code->at[instr->args[1]].kind != KIND_FLOAT)
        return false;
    int exponent;
    const double mantissa = frexp(code->at[instr->args[1]].number, &exponent);
    return fabs(mantissa) == 0.5 && exponent > -1000 && exponent < 1000;
}

/* Whether the scope reads an input's elements where the column stores them. */
static bool has_stored(const struct builder *b, value v)
{
    return builder_is_stored(b, v) && !builder_selects(b) && !b->in_loop;
}

static bool prepare_compare(const struct builder *b, struct compare_const *compare)
{
    const struct instr *of = &b->code->at[compare->of];
    return compare_const_prepare(compare, has_stored(b, compare->of) ? b->program->job->columns[of->integer]->store
                                                                     : lane_type(of->lane));
}

/* Whether the value is a comparison with constants (compare_const.h), of an input as stored or of a lane. Additions of
 * constants below it are folded into the constants. */
static bool find_compare(const struct builder *b, value v, struct compare_const *compare)
{
    struct compare_const deepest;
    if (!compare_const_of(b->code, v, &deepest))
        return false;
    *compare = deepest;
    bool found = prepare_compare(b, compare);
    while (compare_const_strip_sum(b->code, &deepest)) {
        struct compare_const deeper = deepest;
        if (prepare_compare(b, &deeper)) {
            *compare = deeper;
            found = true;
        }
    }
    return found;
}

static void emit_compare(struct builder *b, value v, const struct compare_const *compare)
{
    struct step step = {.dense = compare->loop, .op = b->code->at[v].op, .check = CHECK_NONE};
    const reg of = has_stored(b, compare->of) ? builder_stored_vector(b, compare->of)
                                              : builder_vector(b, compare->of, b->code->at[compare->of].lane);
    step.args[0] = of;
    step.args[1] = step.args[2] = NO_REGISTER;
    step.compare = arena_alloc(b->arena, sizeof *step.compare);
    *step.compare = *compare;
    step.out = builder_lane_vector(b, LANE_BOOL);
    builder_add_step(b, step);
    b->of[b->scope][LANE_BOOL][v] = step.out;
}

bool builder_is_constant(const struct code *code, value v)
{
    return code->at[v].op == OP_CONST || code->at[v].op == OP_ROWS;
}

/* Whether the value has a vector, or the filters have one to select from. */
bool builder_is_computed(const struct builder *b, value v)
{
    const enum lane lane = b->code->at[v].lane;
    return b->of[b->scope][lane][v] != NO_REGISTER ||
           (b->scope == SCOPE_BODY && b->of[SCOPE_FILTERS][lane][v] != NO_REGISTER);
}

static void emit_operation(struct builder *b, value v)
{
    const struct instr *instr = &b->code->at[v];
    enum lane work = working_lane(b->code, instr);
    enum lane result = instr->kind == KIND_BOOL ? LANE_BOOL : work;
    enum lane lanes[3] = {work, work, work};
    struct step step = {
        .op = instr->op, .out = NO_REGISTER, .args = {NO_REGISTER, NO_REGISTER, NO_REGISTER}, .check = CHECK_NONE};
    switch (instr->op) {
    case OP_SELECT:
    case OP_ASSERT:
        lanes[0] = LANE_BOOL;
        break;
    case OP_TO_INT:
    case OP_FLOAT_BITS:
        lanes[0] = LANE_F64;
        break;
    case OP_CMP_INT_FLOAT:
        lanes[0] = LANE_I64;
        lanes[1] = LANE_F64;
        work = result = LANE_I32;
        break;
    case OP_TO_FLOAT:
    case OP_BOOL_TO_INT:
        lanes[0] = b->code->at[instr->args[0]].lane;
        result = instr->lane;
        break;
    default:
        break;
    }
    step.by = reciprocal_of(b, instr, work);
    if (builder_divides_by_power(b->code, instr)) {
        step.op = OP_MUL;
        step.args[1] = builder_add_constant(b, instr->args[1], LANE_F64, true);
        step.uniform = true;
    }
    const bool swaps = (instr->op == OP_ADD || instr->op == OP_MUL) && builder_is_constant(b->code, instr->args[0]);
    for (int i = 0; i < (step.by || step.op != instr->op ? 1 : op_table[instr->op].arity); i++)
        step.args[i] = builder_vector(b, instr->args[swaps ? 1 - i : i], lanes[i]);
    if (op_table[instr->op].arity == 2)
        step.uniform = step.uniform || builder_is_constant(b->code, instr->args[swaps ? 0 : 1]);
    if (step.by) {
        step.dense = vector_division(instr->op, work, step.by);
    } else if (instr->op == OP_TO_FLOAT || instr->op == OP_BOOL_TO_INT) {
        step.dense = vector_move(lane_type(lanes[0]), lane_type(result));
    } else if (instr->checked) {
        step.dense = vector_checked_op(instr->op);
        step.check = check_for(b, instr->guard);
    } else {
        step.dense = vector_op(step.op, work);
    }
    step.out = builder_lane_vector(b, result);
    builder_add_step(b, step);
    b->of[b->scope][result][v] = step.out;
    if (result == instr->lane)
        return;
    const reg narrow = builder_lane_vector(b, instr->lane);
    builder_add_move(b, narrow, instr->lane, step.out, result);
    b->of[b->scope][instr->lane][v] = narrow;
}

reg builder_gather_vector(struct builder *b, value v, enum type type)
{
    const struct instr *instr = &b->code->at[v];
    const struct column *whole = b->program->job->columns[instr->integer];
    const reg positions = builder_vector(b, instr->args[0], LANE_I64);
    const reg out = new_vector(b, type_table[type].size);
    builder_add_step(b, (struct step){
                            .dense = vector_gather(whole->store, type),
                            .op = OP_GATHER,
                            .out = out,
                            .args = {positions, NO_REGISTER, NO_REGISTER},
                            .check = check_for(b, instr->guard),
                            .uniform = builder_is_constant(b->code, instr->args[0]),
                            .whole = whole,
                        });
    return out;
}

static void emit(struct builder *b, value v)
{
    const struct instr *instr = &b->code->at[v];
    const enum type type = lane_type(instr->lane);
    reg *of = b->of[b->scope][instr->lane];
    struct compare_const compare;
    if (find_compare(b, v, &compare)) {
        emit_compare(b, v, &compare);
    } else if (builder_is_stored(b, v)) {
        const reg from = builder_stored_vector(b, v);
        const enum type store = b->program->job->columns[instr->integer]->store;
        of[v] = builder_lane_vector(b, instr->lane);
        add_selection(b, of[v], from, store == type ? NULL : vector_move(store, type),
                      vector_selected_move(store, type), vector_packs(store, type));
    } else if (instr->op == OP_ROW) {
        b->program->reads_row_numbers = true;
        of[v] = builder_lane_vector(b, instr->lane);
        add_selection(b, of[v], NO_REGISTER, vector_row(instr->lane), vector_selected_row(instr->lane), false);
    } else if (instr->op == OP_GATHER) {
        of[v] = builder_gather_vector(b, v, type);
    } else if (float_pair_argument(b, v) >= 0) {
        float_pair_emit(b, v, float_pair_argument(b, v));
    } else if (arms_has(b, v)) {
        arms_emit(b, v);
    } else if (instr->op == OP_LOOP) {
        loop_emit(b, v);
    } else if (instr->op == OP_FINAL) {
        /* by its LOOP */
    } else if (instr->op != OP_CONST && instr->op != OP_ROWS) {
        emit_operation(b, v);
    }
}

void builder_want_arguments(struct builder *b, value v)
{
    struct compare_const compare;
    if (find_compare(b, v, &compare)) {
        b->wanted[compare.of] = b->wanted[compare.of] || !has_stored(b, compare.of);
        return;
    }
    if (builder_is_stored(b, v))
        return;
    if (b->code->at[v].op == OP_LOOP) {
        loop_want_arguments(b, v);
        return;
    }
    if (arms_has(b, v)) {
        arms_want_arguments(b, v);
        return;
    }
    const int paired = float_pair_argument(b, v);
    for (int i = 0; i < op_table[b->code->at[v].op].arity; i++) {
        if (i != paired)
            b->wanted[b->code->at[v].args[i]] = true;
    }
    for (int i = 0; i < 2 && paired >= 0; i++)
        b->wanted[b->code->at[b->code->at[v].args[paired]].args[i]] = true;
}

void builder_emit_wanted(struct builder *b)
{
    for (value v = b->code->count - 1; v >= 0; v--) {
        b->wanted[v] = b->wanted[v] && !builder_is_computed(b, v);
        if (b->wanted[v])
            builder_want_arguments(b, v);
    }
    for (value v = 0; v < b->code->count; v++) {
        if (b->wanted[v])
            emit(b, v);
        b->wanted[v] = false;
    }
}
