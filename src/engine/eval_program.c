/* From typed code to steps: order, lanes, and where each vector lies. */
#include "eval_program.h"

#include "eval_place.h"
#include "eval_probe.h"
#include "eval_reduce.h"

#include <string.h>

enum { LANES = LANE_F64 + 1, FIRST_CAPACITY = 64 };

/* Values are computed for all rows of a block (filters), also for those but only if something failed (guards), and for
 * the rows that passed (body). A value may be computed in several of these. */
enum scope { SCOPE_FILTERS, SCOPE_GUARDS, SCOPE_BODY, SCOPE_COUNT };

struct builder {
    struct program *program;
    struct arena *arena;
    const struct task *task;
    const struct code *code;
    enum scope scope;
    bool ignore_failures;        /* in guards: what fails there is looked at elsewhere */
    reg *of[SCOPE_COUNT][LANES]; /* the vector of each value */
    reg *stored;                 /* of each INPUT, as it is stored */
    bool *wanted;
    int32_t *check_of; /* of each guard, in the scope at hand */
};

static reg *new_map(struct arena *arena, int32_t count)
{
    reg *map = arena_array(arena, (size_t)count + 1, sizeof *map);
    for (int32_t i = 0; i < count; i++)
        map[i] = NO_REGISTER;
    return map;
}

static reg new_vector(struct builder *b, size_t size)
{
    struct program *program = b->program;
    if (program->vector_count == program->vector_capacity) {
        int32_t capacity = program->vector_capacity ? 2 * program->vector_capacity : FIRST_CAPACITY;
        program->vectors = arena_grow(b->arena, program->vectors, (size_t)program->vector_count, (size_t)capacity,
                                      sizeof *program->vectors);
        program->vector_capacity = capacity;
    }
    program->vectors[program->vector_count] = (struct vector_info){.size = size, .place = SIZE_MAX};
    return program->vector_count++;
}

static reg lane_vector(struct builder *b, enum lane lane)
{
    return new_vector(b, type_table[lane_type(lane)].size);
}

static void add_step(struct builder *b, struct step step)
{
    struct program *program = b->program;
    if (program->step_count == program->step_capacity) {
        int32_t capacity = program->step_capacity ? 2 * program->step_capacity : FIRST_CAPACITY;
        program->steps =
            arena_grow(b->arena, program->steps, (size_t)program->step_count, (size_t)capacity, sizeof *program->steps);
        program->step_capacity = capacity;
    }
    program->steps[program->step_count++] = step;
}

static bool may_pick(const struct builder *b)
{
    return b->scope == SCOPE_BODY && b->task->filter_count > 0;
}

static void note_pick(struct builder *b, bool packs)
{
    b->program->picks = true;
    b->program->lists = b->program->lists || !packs;
}

/* A step that brings values to the rows at hand: `picked` only where rows may have been picked. `packs`: of those, a
 * mask will do. */
static void add_source(struct builder *b, reg out, reg from, vector_fn *dense, vector_fn *picked, bool packs)
{
    if (may_pick(b))
        note_pick(b, packs);
    add_step(b, (struct step){
                    .dense = dense,
                    .picked = may_pick(b) ? picked : NULL,
                    .op = OP_INPUT,
                    .out = out,
                    .args = {from, NO_REGISTER, NO_REGISTER},
                    .check = CHECK_NONE,
                });
}

static reg constant(struct builder *b, value v, enum lane lane)
{
    struct program *program = b->program;
    reg known = b->of[SCOPE_FILTERS][lane][v];
    if (known != NO_REGISTER)
        return known;
    reg vector = lane_vector(b, lane);
    if (program->constant_count == program->constant_capacity) {
        size_t capacity = program->constant_capacity ? 2 * program->constant_capacity : FIRST_CAPACITY;
        program->constants =
            arena_grow(b->arena, program->constants, program->constant_count, capacity, sizeof *program->constants);
        program->constant_capacity = capacity;
    }
    program->constants[program->constant_count++] =
        (struct constant_vector){.vector = vector, .lane = lane, .value = v};
    return b->of[SCOPE_FILTERS][lane][v] = vector;
}

/* The vector of a value in a lane, for the rows of the scope. Steps are added for what is only a matter of moving;
 * what it is computed from has been emitted before. */
static reg require(struct builder *b, value v, enum lane lane)
{
    const struct instr *instr = &b->code->at[v];
    if (instr->op == OP_CONST || instr->op == OP_ROWS)
        return constant(b, v, lane);
    reg *of = b->of[b->scope][lane];
    if (of[v] != NO_REGISTER)
        return of[v];
    if (lane == instr->lane) { /* computed with the filters, and read by the body */
        enum type type = lane_type(lane);
        of[v] = lane_vector(b, lane);
        add_source(b, of[v], b->of[SCOPE_FILTERS][lane][v], NULL, vector_picked_move(type, type),
                   vector_packs(type, type));
        return of[v];
    }
    reg from = require(b, v, instr->lane);
    reg vector = lane_vector(b, lane);
    add_step(b, (struct step){
                    .dense = vector_move(lane_type(instr->lane), lane_type(lane)),
                    .op = OP_INPUT,
                    .out = vector,
                    .args = {from, NO_REGISTER, NO_REGISTER},
                    .check = CHECK_NONE,
                });
    return of[v] = vector;
}

/* The vector of an INPUT as stored. Equal INPUTs are one, so each is asked for a few times at most. */
static reg stored_input(struct builder *b, value v)
{
    if (b->stored[v] != NO_REGISTER)
        return b->stored[v];
    struct program *program = b->program;
    const struct instr *instr = &b->code->at[v];
    size_t input = (size_t)instr->integer;
    reg vector = new_vector(b, type_table[program->job->columns[input]->store].size);
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
    if (b->check_of[guard] == CHECK_NONE)
        b->check_of[guard] = b->program->check_count++;
    return b->check_of[guard];
}

/* The lane in which an operation works: the widest of its result's and its arguments'. */
static enum lane working_lane(const struct code *code, const struct instr *instr)
{
    if (instr->checked || instr->op == OP_POPCOUNT || instr->op == OP_TO_INT)
        return LANE_I64;
    enum lane lane = instr->lane;
    for (int i = instr->op == OP_SELECT; i < op_table[instr->op].arity; i++) {
        enum lane other = code->at[instr->args[i]].lane;
        lane = other > lane ? other : lane;
    }
    return lane;
}

/* What divides by a constant, as no row can fail to; NULL: nothing does. */
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

/* Whether the rows at hand have an input's elements as they are stored. */
static bool has_stored(const struct builder *b, value v)
{
    return b->code->at[v].op == OP_INPUT && !may_pick(b);
}

/* Whether a probe gives the value: of elements as they are stored, or else of a lane's. */
static bool probed(const struct builder *b, value v, struct probe *probe)
{
    if (!probe_of(b->code, v, probe))
        return false;
    const struct instr *of = &b->code->at[probe->of];
    return probe_prepare(probe,
                         has_stored(b, probe->of) ? b->program->job->columns[of->integer]->store : lane_type(of->lane));
}

static void emit_probe(struct builder *b, value v, const struct probe *probe)
{
    struct step step = {.dense = probe->loop, .op = b->code->at[v].op, .check = CHECK_NONE};
    reg of = has_stored(b, probe->of) ? stored_input(b, probe->of) : require(b, probe->of, b->code->at[probe->of].lane);
    step.args[0] = of;
    step.args[1] = step.args[2] = NO_REGISTER;
    step.probe = arena_alloc(b->arena, sizeof *step.probe);
    *step.probe = *probe;
    step.out = lane_vector(b, LANE_BOOL);
    add_step(b, step);
    b->of[b->scope][LANE_BOOL][v] = step.out;
}

static void emit_operation(struct builder *b, value v)
{
    const struct instr *instr = &b->code->at[v];
    enum lane work = working_lane(b->code, instr);
    enum lane result = instr->kind == KIND_BOOL ? LANE_BOOL : work;
    enum lane lanes[3] = {work, work, work};
    struct step step = {.op = instr->op, .args = {NO_REGISTER, NO_REGISTER, NO_REGISTER}, .check = CHECK_NONE};
    switch (instr->op) {
    case OP_SELECT:
        lanes[0] = LANE_BOOL;
        break;
    case OP_TO_INT:
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
    for (int i = 0; i < (step.by ? 1 : op_table[instr->op].arity); i++)
        step.args[i] = require(b, instr->args[i], lanes[i]);
    if (step.by) {
        step.dense = vector_division(instr->op, work);
    } else if (instr->op == OP_TO_FLOAT || instr->op == OP_BOOL_TO_INT) {
        step.dense = vector_move(lane_type(lanes[0]), lane_type(result));
    } else if (instr->checked) {
        step.dense = vector_checked_op(instr->op);
        step.check = check_for(b, instr->guard);
    } else {
        step.dense = vector_op(instr->op, work);
    }
    step.out = lane_vector(b, result);
    add_step(b, step);
    b->of[b->scope][result][v] = step.out;
    if (result == instr->lane)
        return;
    reg narrow = lane_vector(b, instr->lane);
    add_step(b, (struct step){
                    .dense = vector_move(lane_type(result), lane_type(instr->lane)),
                    .op = OP_INPUT,
                    .out = narrow,
                    .args = {step.out, NO_REGISTER, NO_REGISTER},
                    .check = CHECK_NONE,
                });
    b->of[b->scope][instr->lane][v] = narrow;
}

/* The elements at the positions of a GATHER, as values of the type. */
static reg add_gather(struct builder *b, value v, enum type type)
{
    const struct instr *instr = &b->code->at[v];
    const struct column *whole = b->program->job->columns[instr->integer];
    reg positions = require(b, instr->args[0], LANE_I64);
    reg out = new_vector(b, type_table[type].size);
    add_step(b, (struct step){
                    .dense = vector_gather(whole->store, type),
                    .op = OP_GATHER,
                    .out = out,
                    .args = {positions, NO_REGISTER, NO_REGISTER},
                    .check = check_for(b, instr->guard),
                    .whole = whole,
                });
    return out;
}

static void emit(struct builder *b, value v)
{
    const struct instr *instr = &b->code->at[v];
    enum type type = lane_type(instr->lane);
    reg *of = b->of[b->scope][instr->lane];
    struct probe probe;
    if (probed(b, v, &probe)) {
        emit_probe(b, v, &probe);
    } else if (instr->op == OP_INPUT) {
        reg from = stored_input(b, v);
        enum type store = b->program->job->columns[instr->integer]->store;
        of[v] = lane_vector(b, instr->lane);
        add_source(b, of[v], from, store == type ? NULL : vector_move(store, type), vector_picked_move(store, type),
                   vector_packs(store, type));
    } else if (instr->op == OP_ROW) {
        of[v] = lane_vector(b, instr->lane);
        add_source(b, of[v], NO_REGISTER, vector_row(instr->lane), vector_picked_row(instr->lane), false);
    } else if (instr->op == OP_GATHER) {
        of[v] = add_gather(b, v, type);
    } else if (instr->op != OP_CONST && instr->op != OP_ROWS) {
        emit_operation(b, v);
    }
}

/* Whether the value is there already, or can be had by picking. */
static bool is_computed(const struct builder *b, value v)
{
    enum lane lane = b->code->at[v].lane;
    return b->of[b->scope][lane][v] != NO_REGISTER ||
           (b->scope == SCOPE_BODY && b->of[SCOPE_FILTERS][lane][v] != NO_REGISTER);
}

static void want_arguments(struct builder *b, value v)
{
    struct probe probe;
    if (probed(b, v, &probe)) {
        b->wanted[probe.of] = b->wanted[probe.of] || !has_stored(b, probe.of);
        return;
    }
    for (int i = 0; i < op_table[b->code->at[v].op].arity; i++)
        b->wanted[b->code->at[v].args[i]] = true;
}

/* Emits what is marked as wanted and everything it is computed from, arguments first; forgets the marks. */
static void emit_wanted(struct builder *b)
{
    for (value v = b->code->count - 1; v >= 0; v--) {
        b->wanted[v] = b->wanted[v] && !is_computed(b, v);
        if (b->wanted[v])
            want_arguments(b, v);
    }
    for (value v = 0; v < b->code->count; v++) {
        if (b->wanted[v])
            emit(b, v);
        b->wanted[v] = false;
    }
}

/* Steps for the guards of the checks from `first` on. */
static void emit_guards(struct builder *b, int32_t first)
{
    struct program *program = b->program;
    if (program->check_count == first)
        return;
    program->checks =
        arena_grow(b->arena, program->checks, (size_t)first, (size_t)program->check_count, sizeof *program->checks);
    for (value v = 0; v < b->code->count; v++)
        b->wanted[v] = b->check_of[v] != CHECK_NONE;
    b->ignore_failures = true;
    emit_wanted(b);
    for (value v = 0; v < b->code->count; v++) {
        if (b->check_of[v] != CHECK_NONE)
            program->checks[b->check_of[v]].guard = require(b, v, LANE_BOOL);
        b->check_of[v] = CHECK_NONE;
    }
    b->ignore_failures = false;
}

static void emit_filters(struct builder *b)
{
    struct program *program = b->program;
    b->scope = SCOPE_FILTERS;
    program->filter_count = b->task->filter_count;
    program->filters = arena_array(b->arena, program->filter_count, sizeof *program->filters);
    reg mask = NO_REGISTER;
    for (size_t i = 0; i < program->filter_count; i++) {
        value keep = b->task->filters[i].keep;
        b->wanted[keep] = true;
        emit_wanted(b);
        reg passed = require(b, keep, LANE_BOOL);
        if (mask != NO_REGISTER) {
            reg both = lane_vector(b, LANE_BOOL);
            add_step(b, (struct step){
                            .dense = vector_op(OP_AND, LANE_BOOL),
                            .op = OP_AND,
                            .out = both,
                            .args = {mask, passed, NO_REGISTER},
                            .check = CHECK_NONE,
                        });
            passed = both;
        }
        mask = passed;
        program->filters[i] = (struct filter_steps){.end = program->step_count, .mask = mask};
    }
    program->filters_end = program->step_count;
    program->filter_checks = program->check_count;

    for (int lane = 0; lane < LANES; lane++)
        memcpy(b->of[SCOPE_GUARDS][lane], b->of[SCOPE_FILTERS][lane], (size_t)b->code->count * sizeof(reg));
    b->scope = SCOPE_GUARDS;
    emit_guards(b, 0);
    program->guards_end = program->step_count;
}

/* An input stored as the output is to be needs no computing. */
static bool passes_through(const struct builder *b, value v, enum type store)
{
    const struct instr *instr = &b->code->at[v];
    return instr->op == OP_INPUT && b->program->job->columns[instr->integer]->store == store;
}

/* Nor does an element of a whole column: no lane has its type. */
static bool is_gathered(const struct builder *b, value v, enum type store)
{
    const struct instr *instr = &b->code->at[v];
    return instr->op == OP_GATHER && b->program->job->columns[instr->integer]->store == store &&
           store != lane_type(instr->lane);
}

static void want_output(struct builder *b, value v, enum type store)
{
    if (is_gathered(b, v, store))
        b->wanted[b->code->at[v].args[0]] = true;
    else if (!passes_through(b, v, store))
        b->wanted[v] = true;
}

static void emit_outputs(struct builder *b, struct column *const *columns)
{
    struct program *program = b->program;
    program->outputs = arena_array(b->arena, b->task->output_count, sizeof *program->outputs);
    for (size_t k = 0; k < b->task->output_count; k++) {
        value v = b->task->outputs[k].value;
        if (columns[k])
            want_output(b, v, columns[k]->store);
    }
    emit_wanted(b);
    for (size_t k = 0; k < b->task->output_count; k++) {
        if (!columns[k])
            continue;
        value v = b->task->outputs[k].value;
        enum type store = columns[k]->store;
        enum lane lane = b->code->at[v].lane;
        struct stored_output *output = &program->outputs[program->output_count++];
        *output = (struct stored_output){.output = k, .size = type_table[store].size};
        if (passes_through(b, v, store)) {
            output->vector = stored_input(b, v);
            output->dense = vector_move(store, store);
            output->picked = vector_picked_move(store, store);
            if (may_pick(b))
                note_pick(b, vector_packs(store, store));
        } else if (is_gathered(b, v, store)) {
            output->vector = add_gather(b, v, store);
            output->dense = vector_move(store, store);
        } else if (b->of[SCOPE_FILTERS][lane][v] != NO_REGISTER && may_pick(b)) {
            output->vector = b->of[SCOPE_FILTERS][lane][v];
            output->dense = vector_move(lane_type(lane), store);
            output->picked = vector_picked_move(lane_type(lane), store);
            note_pick(b, vector_packs(lane_type(lane), store));
        } else {
            output->vector = require(b, v, lane);
            output->dense = vector_move(lane_type(lane), store);
        }
    }
}

/* Whether the sum of a block of values within the instruction's range cannot leave 64 bits. */
static bool block_fits(const struct instr *instr)
{
    const int64_t most = INT64_MAX / BLOCK_ROWS;
    return instr->lo >= -most && instr->hi <= most;
}

static void emit_aggregates(struct builder *b)
{
    struct program *program = b->program;
    program->aggregate_count = b->task->aggregate_count;
    program->aggregates = arena_array(b->arena, program->aggregate_count, sizeof *program->aggregates);
    for (size_t i = 0; i < program->aggregate_count; i++) {
        if (b->task->aggregates[i].value != NO_VALUE)
            b->wanted[b->task->aggregates[i].value] = true;
    }
    emit_wanted(b);
    for (size_t i = 0; i < program->aggregate_count; i++) {
        const struct aggregate *aggregate = &b->task->aggregates[i];
        struct folded_aggregate *folded = &program->aggregates[i];
        if (aggregate->value == NO_VALUE) {
            *folded = (struct folded_aggregate){.fold = vector_fold(AGG_COUNT, LANE_I64, true), .vector = NO_REGISTER};
            continue;
        }
        const struct instr *instr = &b->code->at[aggregate->value];
        enum lane lane = instr->lane == LANE_BOOL ? LANE_I32 : instr->lane;
        if (aggregate->kind == AGG_FOLD && instr->kind != KIND_FLOAT) {
            lane = instr->kind == KIND_BOOL ? LANE_BOOL : LANE_I64;
            folded->reducer = aggregate->reducer;
            reducer_prepare(folded->reducer);
        }
        folded->fold = vector_fold(aggregate->kind, lane, block_fits(instr));
        folded->vector = require(b, aggregate->value, lane);
    }
}

struct program *program_new(const struct job *job, struct column *const *columns, struct arena *arena)
{
    const struct task *task = job->task;
    struct program *program = arena_alloc(arena, sizeof *program);
    program->job = job;
    program->stored = arena_array(arena, (size_t)task->code.count, sizeof *program->stored);
    struct builder b = {.program = program, .arena = arena, .task = task, .code = &task->code};
    for (int scope = 0; scope < SCOPE_COUNT; scope++) {
        for (int lane = 0; lane < LANES; lane++)
            b.of[scope][lane] = new_map(arena, task->code.count);
    }
    b.stored = new_map(arena, task->code.count);
    b.wanted = arena_array(arena, (size_t)task->code.count + 1, sizeof *b.wanted);
    b.check_of = new_map(arena, task->code.count);

    emit_filters(&b);
    b.scope = SCOPE_BODY;
    if (columns)
        emit_outputs(&b, columns);
    else
        emit_aggregates(&b);
    program->body_end = program->step_count;
    emit_guards(&b, program->filter_checks);
    program_place(program, arena);
    return program;
}
