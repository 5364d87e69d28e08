/* Tasks: their inputs and outputs, and which of their values are read. */
#include "engine/plan/task.h"

#include "engine/plan/combining.h"
#include "engine/plan/loop.h"

#include <assert.h>
#include <string.h>

enum { FIRST_INPUTS = 4 };

struct task *task_clone(const struct task *task, struct arena *arena)
{
    struct task *clone = arena_copy(arena, task, sizeof *clone);
    clone->inputs = arena_grow(arena, task->inputs, task->input_count, task->input_count + 1, sizeof *clone->inputs);
    clone->outputs =
        arena_grow(arena, task->outputs, task->output_count, task->output_count + 1, sizeof *clone->outputs);
    code_clone(&clone->code, &task->code, arena);
    return clone;
}

const struct task *task_writing(const struct task *task, struct column *const *columns, struct arena *arena)
{
    struct task *writing = arena_copy(arena, task, sizeof *writing);
    writing->outputs =
        arena_grow(arena, task->outputs, task->output_count, task->output_count + 1, sizeof *writing->outputs);
    for (size_t k = 0; k < task->output_count; k++)
        writing->outputs[k].needed = columns[k];
    return writing;
}

static void mark_needed(struct input *input)
{
    input->needed = true;
    if (input->task && input->output < input->task->output_count)
        input->task->outputs[input->output].needed = true;
}

/* Tasks only read earlier tasks, so one walk from the last to the first suffices. */
void queue_prune(const struct queue *queue)
{
    queue_prune_to(queue, NULL);
}

void queue_prune_to(const struct queue *queue, const bool *wanted)
{
    for (size_t t = 0; t < queue->count; t++) {
        for (size_t k = 0; k < queue->tasks[t]->output_count; k++)
            queue->tasks[t]->outputs[k].needed = t + 1 == queue->count && (!wanted || wanted[k]);
        for (size_t k = 0; k < queue->tasks[t]->input_count; k++)
            queue->tasks[t]->inputs[k].needed = false;
    }
    int32_t largest = 0;
    for (size_t t = 0; t < queue->count; t++) {
        if (queue->tasks[t]->code.count > largest)
            largest = queue->tasks[t]->code.count;
    }
    bool *live = arena_array(queue->arena, (size_t)largest + 1, sizeof *live);
    for (size_t t = queue->count; t-- > 0;) {
        const struct task *task = queue->tasks[t];
        task_mark_live(task, live);
        for (value v = 0; v < task->code.count; v++) {
            const struct instr *instr = &task->code.at[v];
            /* In a check, a `let` value that is not known yet is an input beyond all. */
            if (live[v] && reads_input(instr) && instr->integer < (int64_t)task->input_count)
                mark_needed(&task->inputs[instr->integer]);
        }
        for (size_t i = 0; task->sink == SINK_OPERATOR && i < task->column_op->key_count; i++)
            mark_needed(&task->inputs[task->column_op->keys[i]]);
        for (size_t i = 0; task->column_op && task->column_op->loop && i < LOOP_QUEUES; i++)
            queue_prune(loop_queue(task->column_op->loop, i));
    }
}

struct logical_type input_logical(const struct input *input)
{
    if (input->task)
        return input->task->outputs[input->output].logical;
    return input->column ? input->column->logical : (struct logical_type){.kind = LOGICAL_NUMBER};
}

struct column *output_column(const struct task *task, size_t k)
{
    assert(k < task->output_count);
    for (;;) {
        const struct output *output = &task->outputs[k];
        const struct instr *instr = &task->code.at[output->value];
        if (task->sink != SINK_ROWS || task->filter_count > 0 || task_has_window(task) || task->first != 0 ||
            instr->op != OP_INPUT || instr->offset != 0)
            return NULL;
        const struct input *input = &task->inputs[instr->integer];
        const struct logical_type logical = input_logical(input);
        if (input->type != output->type || !logical_is_same(&logical, &output->logical))
            return NULL;
        if (input->column || !input->task) /* in a check, neither */
            return input->column;
        task = input->task;
        k = input->output;
    }
}

enum operator_outputs operator_outputs(const struct column_operator *column_op)
{
    static const enum operator_outputs outputs_of[] = {
#define OPERATOR(kind, name, outputs, ...) [OPERATOR_##kind] = OUTPUTS_##outputs,
#include "engine/plan/operators.def"
    };
    return outputs_of[column_op->kind];
}

bool operator_carries(const struct column_operator *column_op)
{
    return operator_outputs(column_op) == OUTPUTS_MOVED;
}

int64_t operator_result_rows(const struct column_operator *column_op, int64_t rows)
{
    switch (column_op->kind) {
#define OPERATOR(kind, name, outputs, result, ...)                                                                     \
    case OPERATOR_##kind:                                                                                              \
        return result;
#include "engine/plan/operators.def"
    case OPERATOR_KINDS:
        break;
    }
    return -1;
}

size_t moving_input(const struct column_operator *column_op, enum moving_key key)
{
    size_t before = 0;
    for (int k = 0; k < (int)key; k++)
        before += column_op->moving.has[k];
    return column_op->moving.has[key] ? column_op->keys[before] : SIZE_MAX;
}

bool operator_selects(const struct column_operator *column_op, int64_t rows)
{
    enum { SHARE = 16, MOST = 1 << 20 };
    return column_op->kind == OPERATOR_SORT && column_op->key_count > 0 && column_op->first > 0 &&
           column_op->first <= MOST && column_op->first <= rows / SHARE;
}

static bool output_can_fail(const struct task *task, size_t output)
{
    const bool checked = task->sink == SINK_OPERATOR && operator_outputs(task->column_op) == OUTPUTS_CHECKED;
    return checked || task->code.at[task->outputs[output].value].fallible;
}

/* Whether what the input reads can fail. */
static bool input_can_fail(const struct input *input)
{
    const struct task *from = input->task;
    return from && input->output < from->output_count && output_can_fail(from, input->output);
}

value input_value_at(struct code *code, int64_t number, int64_t offset, const struct input *input, struct span span)
{
    const value v = code_input_at(code, number, offset, type_table[input->type].kind, span);
    code->at[v].fallible = code->at[v].fallible || input_can_fail(input);
    return v;
}

value task_element(struct task *task, const struct input *input, value position, bool inside, struct arena *arena)
{
    const int64_t number = (int64_t)task_add_input(task, input, arena);
    const enum kind kind = type_table[input->type].kind;
    const value v = inside ? code_lookup(&task->code, number, kind, position, task->span)
                           : code_gather(&task->code, number, kind, position, task->span);
    task->code.at[v].fallible = task->code.at[v].fallible || input_can_fail(input);
    return v;
}

value task_read(struct task *task, const struct input *input, struct span span)
{
    return input_value(&task->code, (int64_t)task_add_input(task, input, task->code.arena), input, span);
}

struct input input_of_output(struct task *from, size_t k)
{
    return (struct input){.task = from, .output = k, .type = from->outputs[k].type, .name = from->outputs[k].name};
}

value input_value(struct code *code, int64_t number, const struct input *input, struct span span)
{
    return input_value_at(code, number, 0, input, span);
}

bool task_is_scalar(const struct task *task)
{
    return task->sink == SINK_AGGREGATE && task->output_count == 0;
}

bool task_aggregates_axis(const struct task *task)
{
    const struct column_operator *column_op = task->column_op;
    return task->sink == SINK_OPERATOR && column_op->kind == OPERATOR_GROUP && column_op->key &&
           task->aggregate_count == 1 && task->output_count == 2 && !task->outputs[0].needed &&
           task->aggregates[0].value != NO_VALUE;
}

bool task_refers(const struct task *task, const struct task *to)
{
    bool refers = task->rows_from == to;
    for (size_t k = 0; k < task->input_count; k++)
        refers = refers || task->inputs[k].task == to;
    for (size_t k = 0; k < task->equal_count; k++)
        refers = refers || task->equals[k] == to;
    return refers;
}

bool task_has_window(const struct task *task)
{
    return task->window.skip != 0 || task->window.take != INT64_MAX || task->window.tail >= 0;
}

bool aggregate_in_order(const struct aggregate *aggregate, const struct code *code)
{
    const bool ordered = aggregate->kind == AGG_PRODUCT || aggregate->kind == AGG_FOLD;
    return ordered && code->at[aggregate->value].kind == KIND_FLOAT;
}

enum type output_store(const struct task *task, const struct output *output, struct column *const *columns)
{
    const struct instr *instr = &task->code.at[output->value];
    if (reads_input(instr)) {
        const struct column *column = columns[instr->integer];
        if (column && column->type == output->type)
            return column->store;
    }
    if (instr->kind == KIND_INT && instr->lane == LANE_I32)
        return TYPE_I32;
    return type_of_kind(instr->kind);
}

/* Marks the needed values that an operator carries or aggregates. Its keys are always needed; they are numbers of
 * inputs and not values, but their INPUTs are marked for passes that only look at code. */
static void mark_operator(const struct task *task, bool *live)
{
    const struct column_operator *column_op = task->column_op;
    const bool groups = column_op->kind == OPERATOR_GROUP;
    for (size_t k = 0; k < task->output_count; k++) {
        const value v = task->outputs[k].value;
        if (operator_carries(column_op) && (task->outputs[k].needed || column_op->kind == OPERATOR_DISTINCT))
            live[v] = true;
    }
    for (size_t i = 0; i < task->aggregate_count; i++) {
        const bool needed = !groups || task->outputs[column_op->key_count + i].needed;
        if (needed && task->aggregates[i].value != NO_VALUE)
            live[task->aggregates[i].value] = true;
        const struct aggregate *aggregate = &task->aggregates[i];
        const bool operands = needed && aggregate_table[aggregate->kind].operands;
        if (operands && aggregate->where != NO_VALUE)
            live[aggregate->where] = true;
        if (operands && aggregate->other != NO_VALUE)
            live[aggregate->other] = true;
    }
    for (value v = 0; v < task->code.count; v++) {
        for (size_t i = 0; i < column_op->key_count; i++)
            live[v] = live[v] || task->code.at[v].integer == (int64_t)column_op->keys[i];
    }
}

void task_mark_live(const struct task *task, bool *live)
{
    const struct code *code = &task->code;
    memset(live, 0, (size_t)code->count * sizeof *live);
    if (task->sink == SINK_OPERATOR) {
        mark_operator(task, live);
        return;
    }
    for (size_t i = 0; i < task->filter_count; i++)
        live[task->filters[i].keep] = true;
    for (size_t i = 0; i < task->output_count && task->sink == SINK_ROWS; i++) {
        if (task->outputs[i].needed)
            live[task->outputs[i].value] = true;
    }
    for (size_t i = 0; i < task->aggregate_count; i++) {
        if (task->aggregates[i].value != NO_VALUE)
            live[task->aggregates[i].value] = true;
    }
    code_mark_all(code, live);

    bool guarded = false;
    for (value v = 0; v < code->count; v++) {
        if (live[v] && code->at[v].checked && code->at[v].guard != NO_VALUE)
            guarded = live[code->at[v].guard] = true;
    }
    if (guarded)
        code_mark_all(code, live);
}

bool *task_live(const struct task *task, struct arena *arena)
{
    bool *live = arena_array(arena, (size_t)task->code.count + 1, sizeof *live);
    task_mark_live(task, live);
    return live;
}

value *task_conditions(const struct task *task, struct arena *arena, size_t *count)
{
    const struct code *code = &task->code;
    value *conditions = arena_array(arena, (size_t)code->count + 1, sizeof *conditions);
    value *pending = arena_array(arena, 2 * (size_t)code->count + 1, sizeof *pending); /* a stack */
    bool *visited = arena_array(arena, (size_t)code->count + 1, sizeof *visited);
    *count = 0;
    for (size_t i = 0; i < task->filter_count; i++) {
        size_t pending_count = 0;
        pending[pending_count++] = task->filters[i].keep;
        while (pending_count > 0) {
            const value v = pending[--pending_count];
            const struct instr *instr = &code->at[v];
            if (visited[v] || instr->op == OP_CONST)
                continue;
            visited[v] = true;
            if (instr->op == OP_AND) {
                pending[pending_count++] = instr->args[1];
                pending[pending_count++] = instr->args[0];
            } else {
                conditions[(*count)++] = v;
            }
        }
    }
    return conditions;
}

/* Copies the inputs that are read; returns the INPUTs of the copy, indexed by input of `from`. */
static value *copy_inputs(struct task *to, const struct task *from, const bool *live, struct span span, size_t *kept)
{
    struct arena *arena = to->code.arena;
    bool *reads = arena_array(arena, from->input_count + 1, sizeof *reads);
    value *inputs = arena_array(arena, from->input_count + 1, sizeof *inputs);
    for (value v = 0; v < from->code.count; v++) {
        if (live[v] && reads_input(&from->code.at[v]))
            reads[from->code.at[v].integer] = true;
    }
    to->inputs = arena_array(arena, from->input_count + 1, sizeof *to->inputs);
    to->input_count = 0;
    for (size_t k = 0; k < from->input_count; k++) {
        if (!reads[k])
            continue;
        struct input *input = &to->inputs[to->input_count];
        *input = from->inputs[k];
        input->name = input->name ? arena_text(arena, input->name, strlen(input->name)) : NULL;
        inputs[k] = input_value(&to->code, (int64_t)to->input_count, input, span);
        kept[to->input_count++] = k;
    }
    return inputs;
}

void task_copy(struct task *to, const struct task *from, struct span span, size_t *kept)
{
    assert(to->code.count == 0 && from->sink == SINK_ROWS && !task_has_window(from));
    struct arena *arena = to->code.arena;
    const bool *live = task_live(from, arena);
    const value *inputs = copy_inputs(to, from, live, span, kept);
    value *map = code_map(arena, &from->code);
    to->span = span;
    to->first = from->first;
    to->rows = from->rows;
    to->filter_count = from->filter_count;
    to->filters = arena_array(arena, from->filter_count + 1, sizeof *to->filters);
    for (size_t i = 0; i < from->filter_count; i++) {
        const value keep = code_inline(&to->code, &from->code, from->filters[i].keep, inputs, NO_VALUE, map);
        to->filters[i] = (struct filter){keep, span};
    }
    to->output_count = from->output_count;
    to->outputs = arena_array(arena, from->output_count + 1, sizeof *to->outputs);
    for (size_t k = 0; k < from->output_count; k++) {
        to->outputs[k] = from->outputs[k];
        to->outputs[k].name = arena_text(arena, from->outputs[k].name, strlen(from->outputs[k].name));
        to->outputs[k].value = code_inline(&to->code, &from->code, from->outputs[k].value, inputs, NO_VALUE, map);
    }
    for (value v = 0; v < to->code.count; v++)
        to->code.at[v].span = span;
}

void task_reserve_inputs(struct task *task, size_t inputs, struct arena *arena)
{
    assert(task->input_count == 0);
    size_t room = FIRST_INPUTS;
    while (room < inputs)
        room *= 2;
    task->inputs = arena_array(arena, room, sizeof *task->inputs);
}

static bool same_input(const struct input *a, const struct input *b)
{
    return a->column == b->column && a->task == b->task && a->output == b->output && a->whole == b->whole &&
           a->side == b->side;
}

size_t task_add_input(struct task *task, const struct input *input, struct arena *arena)
{
    for (size_t k = 0; k < task->input_count; k++) {
        if (same_input(&task->inputs[k], input))
            return k;
    }
    const size_t count = task->input_count;
    if (!task->inputs)
        task_reserve_inputs(task, 0, arena);
    /* Capacity is a power of two, so the count says when it is full. */
    if (count >= FIRST_INPUTS && (count & (count - 1)) == 0)
        task->inputs = arena_grow(arena, task->inputs, count, 2 * count, sizeof *task->inputs);
    task->inputs[count] = *input;
    return task->input_count++;
}

enum status aggregate_no_rows(const struct aggregate *aggregate, enum aggregate_kind kind, struct diags *diags)
{
    const char *word = aggregate->word ? aggregate->word : aggregate_table[kind].word;
    if (strcmp(word, "var") == 0 || strcmp(word, "stddev") == 0 || strcmp(word, "corr") == 0)
        return diag_error(diags, aggregate->span, "`%s` needs two rows with values", word);
    diag_error(diags, aggregate->span, "%s of no rows", word);
    if (aggregate->kind == AGG_FOLD)
        diag_hint(diags, "start from a value with `from VALUE`: it is also the result of no rows");
    else if (!aggregate->word && aggregate_table[aggregate->kind].extreme)
        diag_hint(diags, "`reduce %s from VALUE` returns VALUE then; `count` counts the rows", word);
    else
        diag_hint(diags, "`count` counts the rows; sum and product of no rows are 0 and 1");
    return STATUS_FAILED;
}
