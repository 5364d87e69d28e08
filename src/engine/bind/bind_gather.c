/* Stages that reorder rows by position: gather and reverse. They read whole inputs. */
#include "engine/bind/bind_internal.h"

/* Adds the flow's columns as whole inputs; the task has no others yet. */
static void read_whole(struct binder *binder, struct task *task, const struct flow *flow)
{
    task_reserve_inputs(task, flow->count + flow->hidden + 1, binder->arena);
    for (size_t k = 0; k < flow->count + flow->hidden; k++)
        task->inputs[task->input_count++] = flow_whole(flow, k);
}

/* Sets the outputs to the inputs' elements at this position; NO_VALUE: unknown. */
static void set_elements(struct binder *binder, struct task *task, struct flow *flow, value position)
{
    const size_t count = flow->count + flow->hidden;
    value *values = arena_array(binder->arena, count + 1, sizeof *values);
    for (size_t k = 0; k < count; k++) {
        const enum kind kind = type_table[flow->columns[k].type].kind;
        values[k] = NO_VALUE;
        if (position != NO_VALUE && flow->columns[k].known)
            values[k] = code_gather(&task->code, (int64_t)k, kind, position, task->span);
    }
    task_set_slots(binder, task, flow, flow->columns, values, flow->count, flow->hidden);
}

/* Names the column of positions unlike the flow's columns. */
static void name_positions(struct binder *binder, const struct flow *flow, struct flow *positions)
{
    struct name_set names;
    name_set_init(&names, binder->arena, flow->count + 1);
    for (size_t i = 0; i < flow->count; i++)
        name_set_add(&names, flow->columns[i].name);
    struct slot *slot = arena_copy(binder->arena, &positions->columns[0], sizeof *slot);
    slot->name = name_set_add(&names, slot->name);
    positions->columns = slot;
}

/* Makes a position that is missing an error. */
static void require_positions(struct binder *binder, const struct stage *stage, struct flow *positions)
{
    const struct span span = stage->sources[0].span;
    struct slot slot = positions->columns[0];
    struct task *task = task_reading(binder, stage->word->canonical, span, positions);
    const struct term position = term_of_column(&task->code, positions, 0, span);
    slot.validity = 0;
    task_set_slot(binder, task, positions, slot, term_required(&task->code, position, span));
}

bool bind_positions(struct binder *binder, const struct stage *stage, const struct flow *flow, struct flow *positions)
{
    const char *word = text_of_word(binder->arena, stage);
    struct span span = stage->sources[0].span;
    bind_source(binder, &stage->sources[0], positions);
    if (positions->open)
        return false;
    if (positions->count != 1)
        return bind_error(binder, span, "`pick` chooses one: `(SOURCE | pick NAME)`",
                          "`%s` takes one column of positions, not %zu", word, positions->count);
    const struct slot *column = &positions->columns[0];
    if (!column->known || (type_table[column->type].kind == KIND_INT && column->logical.kind == LOGICAL_NUMBER)) {
        if (column->validity != 0)
            require_positions(binder, stage, positions);
        name_positions(binder, flow, positions);
        return positions->columns[0].known;
    }
    return bind_error(binder, span, "positions are integers, 0 for the first row",
                      "`%s` needs integers, but `%s` is %s", word, column->name,
                      logical_type_name(column->logical, column->type));
}

void bind_gather(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct flow positions;
    const bool known = bind_positions(binder, stage, flow, &positions);
    struct task *task = task_new(binder, stage->word->canonical, stage->span, NULL);
    read_whole(binder, task, flow);
    task->rows = positions.rows;
    if (task->rows < 0)
        task->rows_from = positions.task;
    value position = NO_VALUE;
    if (known) {
        const struct input input = flow_input(&positions, 0);
        position = task_read(task, &input, stage->sources[0].span);
    }
    flow->rows = positions.rows;
    set_elements(binder, task, flow, position);
}

void bind_reverse(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct task *task = task_new(binder, stage->word->canonical, stage->span, NULL);
    struct code *code = &task->code;
    read_whole(binder, task, flow);
    task->rows = flow->rows;
    if (task->rows < 0)
        task->rows_from = flow->task;
    value rows = code_rows(code, stage->span), one = code_exact_int(code, 1, stage->span);
    const value last = code_binary(code, OP_SUB, rows, one, stage->span);
    set_elements(binder, task, flow, code_binary(code, OP_SUB, last, code_row(code, stage->span), stage->span));
}
