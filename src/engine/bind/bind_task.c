/* Creating the queue's tasks, one per stage, each with its own code. */
#include "engine/bind/bind_internal.h"

enum { MARK_LENGTH = 200, FIRST_INPUTS = 4 };

struct task *task_new(struct binder *binder, const char *name, struct span span, struct flow *flow)
{
    struct task *task = queue_add(binder->queue);
    struct stage_mark *mark = arena_alloc(binder->arena, sizeof *mark);
    *mark = (struct stage_mark){.name = name, .text = text_of_span(binder->arena, span, MARK_LENGTH), .span = span};
    task->stages = mark;
    task->stage_count = 1;
    task->span = span;
    if (flow != NULL)
        flow->task = task;
    return task;
}

void task_reserve_inputs(struct binder *binder, struct task *task, size_t inputs)
{
    size_t room = FIRST_INPUTS;
    while (room < inputs)
        room *= 2;
    task->inputs = arena_array(binder->arena, room, sizeof *task->inputs);
}

void task_add_inputs(struct task *task, const struct flow *flow)
{
    for (size_t i = 0; i < flow->count; i++) {
        const struct slot *slot = &flow->columns[i];
        struct input *input = &task->inputs[task->input_count];
        *input = (struct input){.task = flow->task, .output = i, .type = slot->type, .name = slot->name};
        input_value(&task->code, (int64_t)task->input_count++, input, task->span);
    }
}

static bool same_input(const struct input *a, const struct input *b)
{
    return a->column == b->column && a->task == b->task && a->output == b->output && a->whole == b->whole;
}

size_t task_add_input(struct binder *binder, struct task *task, const struct input *input)
{
    for (size_t k = 0; k < task->input_count; k++) {
        if (same_input(&task->inputs[k], input))
            return k;
    }
    size_t count = task->input_count;
    if (task->inputs == NULL)
        task_reserve_inputs(binder, task, 0);
    /* Capacity is a power of two, so the count says when it is full. */
    if (count >= FIRST_INPUTS && (count & (count - 1)) == 0)
        task->inputs = arena_grow(binder->arena, task->inputs, count, 2 * count, sizeof *task->inputs);
    task->inputs[count] = *input;
    return task->input_count++;
}

struct task *task_reading(struct binder *binder, const char *name, struct span span, const struct flow *flow)
{
    struct task *task = task_new(binder, name, span, NULL);
    task_reserve_inputs(binder, task, flow->count);
    task_add_inputs(task, flow);
    task->rows = flow->rows;
    if (flow->rows < 0)
        task->rows_from = flow->task;
    return task;
}

struct task *task_of_stage(struct binder *binder, const struct stage *stage, const struct flow *flow)
{
    return task_reading(binder, stage->word->canonical, stage->span, flow);
}

void task_unknown(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct task *task = task_of_stage(binder, stage, flow);
    task_set_outputs(binder, task, flow, NULL, NULL, 0);
    flow->open = true;
}

struct scope scope_of_stage(struct binder *binder, struct task *task, const struct flow *flow, const struct head *head)
{
    struct scope scope = {
        .binder = binder,
        .code = &task->code,
        .task = task,
        .flow = flow,
        .head = head,
        .has_rows = true,
        .shape = flow->shape,
    };
    if (head != NULL)
        name_check_head(&scope);
    return scope;
}

/* Limits memory: a long pipeline over a wide relation has every column in every stage. */
static void count_outputs(struct binder *binder, size_t count, struct span span)
{
    binder->outputs += count;
    if (binder->outputs <= LIMIT_OUTPUTS || bind_gave_up(binder))
        return;
    bind_error(binder, span, "`pick` the columns that are needed, or split the pipeline with `let`",
               "all stages together have more than %d columns", LIMIT_OUTPUTS);
    binder->errors = LIMIT_ERRORS;
}

void task_set_outputs(struct binder *binder, struct task *task, struct flow *flow, struct slot *columns,
                      const value *values, size_t count)
{
    task->outputs = arena_array(binder->arena, count, sizeof *task->outputs);
    task->output_count = count;
    for (size_t i = 0; i < count; i++) {
        /* Unknown values are never run, but must be safe to inspect. */
        value v = values[i] != NO_VALUE ? values[i] : code_int(&task->code, 0, task->span);
        task->outputs[i] = (struct output){.value = v, .name = columns[i].name, .type = columns[i].type};
    }
    count_outputs(binder, count, task->span);
    flow->task = task;
    flow->columns = columns;
    flow->count = count;
}

void task_pass_inputs(struct binder *binder, struct task *task, struct flow *flow)
{
    value *values = arena_array(binder->arena, flow->count, sizeof *values);
    for (size_t i = 0; i < flow->count; i++) {
        const struct input *input = &task->inputs[i];
        values[i] = code_input(&task->code, (int64_t)i, type_table[input->type].kind, task->span);
    }
    task_set_outputs(binder, task, flow, flow->columns, values, flow->count);
}

bool too_many_columns(struct binder *binder, size_t count, struct span span)
{
    if (count <= LIMIT_COLUMNS)
        return false;
    bind_error(binder, span, NULL, "a relation has at most %d columns, this one would have %zu", LIMIT_COLUMNS, count);
    return true;
}

void number_duplicates(struct binder *binder, struct slot *columns, size_t count)
{
    struct name_set names;
    name_set_init(&names, binder->arena, count);
    for (size_t i = 0; i < count; i++)
        columns[i].name = name_set_add(&names, columns[i].name);
}
