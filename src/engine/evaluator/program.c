/* Compiles a task to a program: filters, their guards, the body, its guards. */
#include "engine/evaluator/program.h"

#include "engine/evaluator/arm.h"
#include "engine/evaluator/block.h"
#include "engine/evaluator/compile.h"

#include <string.h>

/* Emits a condition, and the mask of it and those before it. */
static void emit_condition(struct builder *b, value keep)
{
    struct program *program = b->program;
    b->wanted[keep] = true;
    builder_emit_wanted(b);
    reg mask = builder_vector(b, keep, LANE_BOOL);
    if (program->filter_count > 0) {
        const reg both = builder_lane_vector(b, LANE_BOOL);
        builder_add_step(b, (struct step){
                                .dense = vector_op(OP_AND, LANE_BOOL),
                                .op = OP_AND,
                                .out = both,
                                .args = {program->filters[program->filter_count - 1].mask, mask, NO_REGISTER},
                                .check = CHECK_NONE,
                            });
        mask = both;
    }
    program->filters[program->filter_count++] = (struct filter_steps){.end = program->step_count, .mask = mask};
}

/* Of the steps from `first` on. */
static size_t count_loops(const struct program *program, int32_t first)
{
    size_t loops = 0;
    for (int32_t s = first; s < program->step_count; s++)
        loops += program->steps[s].dense || program->steps[s].selected;
    return loops;
}

static void emit_filters(struct builder *b)
{
    struct program *program = b->program;
    const value lead = filter_order_first(b->task);
    b->scope = SCOPE_FILTERS;
    program->filters = arena_array(b->arena, b->task->filter_count + 1, sizeof *program->filters);
    if (lead != NO_VALUE)
        emit_condition(b, lead);
    program->leading_columns = program->stored_count;
    for (size_t i = 0; i < b->task->filter_count; i++) {
        if (b->task->filters[i].keep != lead || i > 0)
            emit_condition(b, b->task->filters[i].keep);
    }
    program->filter_loops = count_loops(program, 0);
    program->filter_checks = program->check_count;

    for (int lane = 0; lane < LANES; lane++)
        memcpy(b->of[SCOPE_GUARDS][lane], b->of[SCOPE_FILTERS][lane], (size_t)b->code->count * sizeof(reg));
    b->scope = SCOPE_GUARDS;
    builder_emit_guards(b);
    program->guards_end = program->step_count;
}

/* Whether the output is an input stored in the same type: it is copied. */
static bool passes_through(const struct builder *b, value v, enum type store)
{
    const struct instr *instr = &b->code->at[v];
    return builder_is_stored(b, v) && b->program->job->columns[instr->integer]->store == store;
}

/* Whether the output is a GATHER of elements in their stored type, which is no lane's. */
static bool is_gathered(const struct builder *b, value v, enum type store)
{
    const struct instr *instr = &b->code->at[v];
    return instr->op == OP_GATHER && !builder_is_stored(b, v) &&
           b->program->job->columns[instr->integer]->store == store && store != lane_type(instr->lane);
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
        const value v = b->task->outputs[k].value;
        if (columns[k])
            want_output(b, v, columns[k]->store);
    }
    builder_emit_wanted(b);
    for (size_t k = 0; k < b->task->output_count; k++) {
        if (!columns[k])
            continue;
        const value v = b->task->outputs[k].value;
        const enum type store = columns[k]->store;
        const enum lane lane = b->code->at[v].lane;
        struct stored_output *output = &program->outputs[program->output_count++];
        *output = (struct stored_output){.output = k, .size = type_table[store].size};
        output->copied = passes_through(b, v, store) || is_gathered(b, v, store) || lane_type(lane) == store;
        if (passes_through(b, v, store)) {
            output->vector = builder_stored_vector(b, v);
            output->dense = vector_move(store, store);
            output->selected = vector_selected_move(store, store);
            if (builder_selects(b))
                builder_note_selection(b, vector_packs(store, store));
        } else if (is_gathered(b, v, store)) {
            output->vector = builder_gather_vector(b, v, store);
            output->dense = vector_move(store, store);
        } else if (b->of[SCOPE_FILTERS][lane][v] != NO_REGISTER && builder_selects(b)) {
            output->vector = b->of[SCOPE_FILTERS][lane][v];
            output->dense = vector_move(lane_type(lane), store);
            output->selected = vector_selected_move(lane_type(lane), store);
            builder_note_selection(b, vector_packs(lane_type(lane), store));
        } else {
            output->vector = builder_vector(b, v, lane);
            output->dense = vector_move(lane_type(lane), store);
            output->in_place = lane_type(lane) == store && b->task->filter_count == 0;
        }
    }
}

/* Whether the sum of as many values within the instruction's interval as are folded at once fits in 64 bits. */
static bool sum_fits(const struct instr *instr)
{
    const int64_t most = INT64_MAX / FOLDED_ROWS;
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
    builder_emit_wanted(b);
    for (size_t i = 0; i < program->aggregate_count; i++) {
        const struct aggregate *aggregate = &b->task->aggregates[i];
        struct aggregate_fold *folded = &program->aggregates[i];
        if (aggregate->value == NO_VALUE) {
            *folded = (struct aggregate_fold){.fold = vector_fold(AGG_COUNT, LANE_I64, true), .vector = NO_REGISTER};
            continue;
        }
        const struct instr *instr = &b->code->at[aggregate->value];
        enum lane lane = instr->lane == LANE_BOOL ? LANE_I32 : instr->lane;
        if (aggregate->kind == AGG_FOLD && instr->kind != KIND_FLOAT) {
            lane = instr->kind == KIND_BOOL ? LANE_BOOL : LANE_I64;
            folded->reducer = aggregate->reducer;
            user_reduce_prepare(folded->reducer);
        }
        folded->fold = vector_fold(aggregate->kind, lane, sum_fits(instr));
        folded->prefetches = lane == LANE_F64 && aggregate_table[aggregate->kind].sums;
        folded->vector = builder_vector(b, aggregate->value, lane);
    }
}

/* Whether gathering saves reading some columns, and no step needs the rows' positions. */
static bool can_gather(const struct program *program)
{
    bool can = program->leading_columns < program->stored_count && !program->reads_row_numbers;
    for (size_t i = 0; i < program->stored_count; i++)
        can = can && program->stored[i].offset == 0;
    return can;
}

static bool is_stored(const struct program *program, reg vector)
{
    for (size_t i = 0; i < program->stored_count; i++) {
        if (program->stored[i].vector == vector)
            return program->stored[i].offset == 0;
    }
    return false;
}

/* Whether all steps only pass on stored vectors, and all aggregates are folds of these in any order. */
static bool folds_stored(const struct program *program)
{
    const struct task *task = program->job->task;
    bool folds = program->filter_count == 0;
    for (int32_t s = 0; s < program->step_count && folds; s++) {
        const struct step *step = &program->steps[s];
        folds = !step->dense && !step->loop && !step->arm && !step->border && step->progression.by == 0 &&
                is_stored(program, step->args[0]);
    }
    for (size_t i = 0; i < program->aggregate_count && folds; i++) {
        const struct aggregate_fold *aggregate = &program->aggregates[i];
        bool passed_on = aggregate->vector == NO_REGISTER;
        for (int32_t s = 0; s < program->step_count; s++)
            passed_on = passed_on || program->steps[s].out == aggregate->vector;
        folds =
            passed_on && task->aggregates[i].kind != AGG_FOLD && !aggregate_in_order(&task->aggregates[i], &task->code);
    }
    return folds;
}

/* Marks values that a single operation reads, and nothing else. */
static bool *find_read_once(const struct task *task, struct arena *arena)
{
    const struct code *code = &task->code;
    const size_t size = (size_t)code->count + 1;
    bool *once = arena_array(arena, size, sizeof *once);
    const bool *live = task_live(task, arena);
    int *reads = arena_array(arena, size, sizeof *reads);
    for (value v = 0; v < code->count; v++) {
        for (int i = 0; i < op_table[code->at[v].op].arity && live[v]; i++)
            reads[code->at[v].args[i]]++;
        if (code->at[v].guard != NO_VALUE)
            reads[code->at[v].guard] += 2;
    }
    for (size_t i = 0; i < task->filter_count; i++)
        reads[task->filters[i].keep] += 2;
    for (size_t k = 0; k < task->output_count; k++)
        reads[task->outputs[k].value] += 2;
    for (size_t i = 0; i < task->aggregate_count; i++) {
        const struct aggregate *aggregate = &task->aggregates[i];
        if (aggregate->value != NO_VALUE)
            reads[aggregate->value] += 2;
        if (aggregate_table[aggregate->kind].operands) {
            reads[aggregate->other] += 2;
            reads[aggregate->where] += 2;
        }
    }
    for (value v = 0; v < code->count; v++)
        once[v] = reads[v] == 1;
    return once;
}

struct program *program_new(const struct job *job, struct column *const *columns, struct arena *arena)
{
    const struct task *task = job->task;
    struct program *program = arena_alloc(arena, sizeof *program);
    program->job = job;
    program->stored = arena_array(arena, (size_t)task->code.count, sizeof *program->stored);
    struct builder task_builder = {.program = program,
                                   .arena = arena,
                                   .task = task,
                                   .code = &task->code,
                                   .read_once = find_read_once(task, arena)};
    struct builder b = builder_of_loop(&task_builder);
    b.in_loop = false;
    b.arms = arms_find(task, arena);

    emit_filters(&b);
    b.scope = SCOPE_BODY;
    if (columns)
        emit_outputs(&b, columns);
    else
        emit_aggregates(&b);
    program->body_end = program->step_count;
    program->body_loops = count_loops(program, program->guards_end);
    builder_emit_guards(&b);
    if (!can_gather(program))
        program->leading_columns = 0;
    program->folds_stored = folds_stored(program);
    program_layout(program, arena);
    return program;
}

int64_t program_bytes_read(const struct program *program)
{
    const struct job *job = program->job;
    int64_t bytes = 0;
    for (size_t i = 0; i < program->stored_count; i++) {
        const size_t input = program->stored[i].input;
        bool again = false;
        for (size_t j = 0; j < i && !again; j++)
            again = program->stored[j].input == input;
        if (!again)
            bytes += (int64_t)type_table[job->columns[input]->store].size * (job->end - job->begin);
    }
    return bytes;
}

int64_t program_row_bytes(const struct program *program)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < program->output_count; i++)
        bytes += (int64_t)program->outputs[i].size;
    return bytes;
}
