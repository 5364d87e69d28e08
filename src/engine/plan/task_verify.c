/* Faults of tasks and queues. */
#include "engine/plan/code_loop.h"
#include "engine/plan/combining.h"
#include "engine/plan/loop.h"
#include "engine/plan/verify.h"

#include <stdio.h>

enum { ANY_KIND = -1 };

/* Which values outside of the code a task names. */
struct naming {
    const struct task *task;
    const uint32_t *levels; /* NULL: the code has no loops */
    const char *fault;
};

static void add_fault(struct naming *naming, const char *what, size_t number, const char *fault)
{
    if (!naming->fault)
        naming->fault = arena_printf(naming->task->code.arena, "%s %zu %s", what, number, fault);
}

/* A value that the task names is there, of this kind or ANY_KIND, and computed outside of loops. */
static void check_named(struct naming *naming, const char *what, size_t number, value v, int kind)
{
    const struct code *code = &naming->task->code;
    if (v < 0 || v >= code->count)
        add_fault(naming, what, number, "names no value");
    else if (kind >= 0 && (int)code->at[v].kind != kind)
        add_fault(naming, what, number, "has a value of another kind");
    else if (naming->levels && naming->levels[v] != 0)
        add_fault(naming, what, number, "reads a value of a loop's rounds");
}

static void check_inputs(struct naming *naming)
{
    const struct task *task = naming->task;
    for (size_t k = 0; k < task->input_count; k++) {
        const struct input *input = &task->inputs[k];
        const struct task *from = input->task;
        /* Others of a join's inputs only name a column of the relation that they tell of. */
        const bool reads = input->side == JOIN_ROWS || input->side == JOIN_SOURCE;
        const enum kind kind = input->type < TYPE_COUNT ? type_table[input->type].kind : KIND_BOOL;
        if ((int)input->type < 0 || input->type >= TYPE_COUNT)
            add_fault(naming, "input", k, "has no type");
        else if (input->column && from)
            add_fault(naming, "input", k, "is both a column and an output of a task");
        else if (reads && input->column && type_table[input->column->type].kind != kind)
            add_fault(naming, "input", k, "has another type than its column");
        else if (from && input->output >= (from->output_count > 0 ? from->output_count : from->aggregate_count))
            add_fault(naming, "input", k, "reads an output that its task does not have");
        else if (reads && from && from->output_count > 0 && type_table[from->outputs[input->output].type].kind != kind)
            add_fault(naming, "input", k, "has another kind than the output that it reads");
    }
}

/* INPUTs and GATHERs read inputs of the task, as their kinds say. */
static void check_reads(struct naming *naming, const bool *live)
{
    const struct task *task = naming->task;
    for (value v = 0; v < task->code.count; v++) {
        const struct instr *instr = &task->code.at[v];
        const bool row = instr->op == OP_INPUT;
        if (!live[v] || (!row && instr->op != OP_GATHER))
            continue;
        if (instr->integer < 0 || instr->integer >= (int64_t)task->input_count) {
            add_fault(naming, "value", (size_t)v, "reads an input that its task does not have");
            continue;
        }
        const struct input *input = &task->inputs[instr->integer];
        const bool member = input->side == JOIN_MEMBER; /* of any kind, read as a bool */
        if (!member && type_table[input->type].kind != instr->kind)
            add_fault(naming, "value", (size_t)v, "has another kind than its input");
        if (!member && !row && task->code.at[instr->args[0]].kind != KIND_INT)
            add_fault(naming, "value", (size_t)v, "reads an element at no integer");
        if (row && input->whole)
            add_fault(naming, "value", (size_t)v, "reads in its own row what is read whole");
    }
}

static void check_aggregates(struct naming *naming)
{
    const struct task *task = naming->task;
    for (size_t k = 0; k < task->aggregate_count; k++) {
        const struct aggregate *aggregate = &task->aggregates[k];
        const enum aggregate_kind kind = aggregate->kind;
        if (aggregate->value != NO_VALUE)
            check_named(naming, "aggregate", k, aggregate->value, aggregate_table[kind].bits ? KIND_INT : ANY_KIND);
        if (kind == AGG_FOLD && !aggregate->reducer)
            add_fault(naming, "aggregate", k, "has no function");
        if (aggregate_table[kind].operands && aggregate->where != NO_VALUE)
            check_named(naming, "condition of aggregate", k, aggregate->where, KIND_BOOL);
        if (aggregate_table[kind].operands && aggregate->other != NO_VALUE)
            check_named(naming, "second value of aggregate", k, aggregate->other, ANY_KIND);
    }
}

/* The number of keys that an operator has, as far as its kind says; SIZE_MAX: any. */
static size_t keys_of(const struct column_operator *column_op)
{
    size_t count = 0;
    switch (column_op->kind) {
    case OPERATOR_SCAN:
    case OPERATOR_HIST:
        return 1;
    case OPERATOR_EXPAND:
        return column_op->above.elements ? 3 : 2;
    case OPERATOR_APPEND:
        return 2;
    case OPERATOR_MOVING:
        for (int k = 0; k < MOVING_KEYS; k++)
            count += column_op->moving.has[k];
        return count > 0 ? count : 1; /* without keys it reads some column, for its rows */
    case OPERATOR_COMBINE:
        return column_op->combining->reducer.count;
    default:
        return SIZE_MAX;
    }
}

static void check_operator(struct naming *naming)
{
    const struct task *task = naming->task;
    const struct column_operator *column_op = task->column_op;
    if (!column_op) {
        add_fault(naming, "operator", 0, "is missing");
        return;
    }
    if (task->filter_count > 0 || task_has_window(task))
        add_fault(naming, "operator", column_op->kind, "has filters or a window");
    for (size_t i = 0; i < column_op->key_count; i++) {
        if (column_op->keys[i] >= task->input_count)
            add_fault(naming, "key", i, "is an input that the operator does not have");
    }
    const size_t keys = keys_of(column_op);
    if (keys != SIZE_MAX && keys != column_op->key_count)
        add_fault(naming, "operator", column_op->kind, "has another number of keys than it reads");
    if (column_op->kind == OPERATOR_SORT && column_op->key_count > 0 && !column_op->descending)
        add_fault(naming, "operator", column_op->kind, "sorts in no direction");
    if (column_op->kind == OPERATOR_GROUP && task->output_count != column_op->key_count + task->aggregate_count)
        add_fault(naming, "operator", column_op->kind, "has outputs beside its keys and aggregates");
    if (column_op->kind == OPERATOR_REPEAT && !column_op->loop)
        add_fault(naming, "operator", column_op->kind, "has no loop");
    for (value v = 0; v < task->code.count; v++) {
        if (task->code.at[v].op != OP_INPUT)
            add_fault(naming, "value", (size_t)v, "is computed by an operator");
    }
    for (size_t k = 0; k < task->output_count && operator_carries(column_op); k++) {
        if (task->outputs[k].needed)
            check_named(naming, "output", k, task->outputs[k].value, (int)type_table[task->outputs[k].type].kind);
    }
}

static void check_sink(struct naming *naming)
{
    const struct task *task = naming->task;
    for (size_t i = 0; i < task->filter_count; i++)
        check_named(naming, "filter", i, task->filters[i].keep, KIND_BOOL);
    for (size_t k = 0; k < task->output_count; k++) {
        const struct output *output = &task->outputs[k];
        if (task->sink == SINK_ROWS && output->needed)
            check_named(naming, "output", k, output->value, (int)type_table[output->type].kind);
    }
    check_aggregates(naming);
    if (task->sink == SINK_AGGREGATE && task->output_count > 0 && task->aggregate_count != task->output_count)
        add_fault(naming, "sink", task->sink, "has another number of aggregates than of outputs");
    if (task->sink == SINK_OPERATOR)
        check_operator(naming);
    const struct window *window = &task->window;
    if (window->skip < 0 || window->take < 0 || (window->tail >= 0 && (window->skip > 0 || window->take != INT64_MAX)))
        add_fault(naming, "window", 0, "keeps no rows that can be told");
}

const char *task_fault(const struct task *task, enum code_phase phase)
{
    const struct code *code = &task->code;
    const char *fault = code_fault(code, phase);
    if (fault)
        return fault;
    struct naming naming = {.task = task, .levels = code_has_loops(code) ? code_levels(code, code->arena) : NULL};
    bool *live = arena_array(code->arena, (size_t)code->count + 1, sizeof *live);
    check_inputs(&naming);
    check_sink(&naming);
    if (!naming.fault) {
        task_mark_live(task, live);
        check_reads(&naming, live);
    }
    return naming.fault;
}

/* Whether a task is one of the queue's before number `end`. */
static bool is_earlier(const struct queue *queue, const struct task *task, size_t end)
{
    return task->number < end && queue->tasks[task->number] == task;
}

static const char *order_fault(const struct queue *queue, const struct task *task, size_t t)
{
    if (task->number != t)
        return "has another number than its place";
    bool earlier = !task->rows_from || is_earlier(queue, task->rows_from, t);
    for (size_t k = 0; k < task->input_count; k++)
        earlier = earlier && (!task->inputs[k].task || is_earlier(queue, task->inputs[k].task, t));
    for (size_t i = 0; i < task->equal_count; i++)
        earlier = earlier && is_earlier(queue, task->equals[i], t);
    /* Only of the result does anything ask where values are. */
    for (size_t k = 0; k < task->output_count && t + 1 == queue->count; k++) {
        if (task->outputs[k].validity >= task->output_count && task->outputs[k].validity != 0)
            return "has a column whose validity is no output";
    }
    return earlier ? NULL : "reads a task that does not run before it";
}

const char *queue_fault(const struct queue *queue)
{
    const char *fault = NULL;
    for (size_t t = 0; t < queue->count && !fault; t++) {
        const struct task *task = queue->tasks[t];
        fault = order_fault(queue, task, t);
        fault = fault ? fault : task_fault(task, CODE_BUILT);
        for (size_t i = 0; !fault && task->column_op && task->column_op->loop && i < LOOP_QUEUES; i++)
            fault = queue_fault(loop_queue(task->column_op->loop, i));
        if (fault)
            fault = arena_printf(queue->arena, "task %zu: %s", t, fault);
    }
    return fault;
}

static bool report(const char *pass, const char *fault)
{
    if (fault)
        fprintf(stderr, "rql: after %s: %s\n", pass, fault);
    return !fault;
}

bool task_is_valid(const struct task *task, enum code_phase phase, const char *pass)
{
    return report(pass, task_fault(task, phase));
}

bool queue_is_valid(const struct queue *queue, const char *pass)
{
    return report(pass, queue_fault(queue));
}
