#include "engine/loop/repeat_state.h"

#include "engine/plan/code_loop.h"

/* The body's tasks while they are copied into one. */
struct copying {
    struct binder *binder;
    const struct row_loop *of;
    struct task *task;
    value *states;
    value index;
    value **outputs; /* of each task of the body, in the code of `task` */
};

static size_t place_of(const struct loop *loop, const struct column *column)
{
    size_t k = 0;
    while (k < loop->count && loop->state[k] != column)
        k++;
    return k;
}

/* Whether the task computes each row of that row and of columns from outside. */
static bool is_row_wise(const struct row_loop *of, const struct task *task)
{
    if (task->sink != SINK_ROWS || task->filter_count > 0 || task_has_window(task) || task->first != 0)
        return false;
    for (size_t k = 0; k < task->input_count; k++) {
        const struct input *input = &task->inputs[k];
        const bool row = input->task || place_of(of->loop, input->column) < of->loop->count;
        if (row == input->whole)
            return false;
    }
    for (value v = 0; v < task->code.count; v++) {
        if (task->code.at[v].op == OP_INPUT && task->code.at[v].offset != 0)
            return false;
    }
    return true;
}

static bool body_is_row_wise(const struct row_loop *of, int *level)
{
    const struct queue *body = &of->loop->body;
    *level = 0;
    for (size_t t = 0; t < body->count; t++) {
        const int free_level = code_free_level(&body->tasks[t]->code);
        if (!is_row_wise(of, body->tasks[t]))
            return false;
        *level = free_level > *level ? free_level : *level;
    }
    return *level < LOOP_LEVELS && of->loop->count > 0 && of->loop->count <= LOOP_STATES;
}

/* Whether output k of a task of the body is column `place` of the state as it is. */
static bool is_carried(const struct loop *loop, const struct task *task, size_t k, size_t place)
{
    const struct instr *instr = &task->code.at[task->outputs[k].value];
    while (instr->op == OP_INPUT && task->inputs[instr->integer].task) {
        const struct input *input = &task->inputs[instr->integer];
        task = input->task;
        instr = &task->code.at[task->outputs[input->output].value];
    }
    return instr->op == OP_INPUT && task->inputs[instr->integer].column == loop->state[place];
}

/* What an INPUT or GATHER of a task of the body is in a round; NO_VALUE: an element of a column from outside. */
static value value_of_input(const struct copying *copying, const struct task *task, const struct instr *instr)
{
    const struct input *input = &task->inputs[instr->integer];
    const struct loop *loop = copying->of->loop;
    if (input->task)
        return copying->outputs[input->task->number][input->output];
    if (input->column == loop->step)
        return copying->index;
    const size_t place = place_of(loop, input->column);
    return place < loop->count ? copying->states[place] : NO_VALUE;
}

/* The values of a task of the body: of its outputs, or of `keep` alone. */
static void copy_values(const struct copying *copying, const struct task *task, const value *roots, size_t count,
                        value *values)
{
    struct arena *arena = copying->binder->arena;
    struct code *code = &copying->task->code;
    value *map = code_map(arena, &task->code);
    value *inputs = arena_array(arena, task->input_count + 1, sizeof *inputs);
    for (size_t k = 0; k < task->input_count; k++) {
        const struct input *input = &task->inputs[k];
        inputs[k] = NO_VALUE;
        if (!input->whole || input->column == copying->of->loop->step)
            continue;
        if (input->column)
            queue_hold(copying->binder->queue, column_ref(input->column));
        const int64_t number = (int64_t)task_add_input(copying->task, input, arena);
        inputs[k] = code_input(code, number, type_table[input->type].kind, task->span);
    }
    for (value v = 0; v < task->code.count; v++) {
        const struct instr *instr = &task->code.at[v];
        if (reads_input(instr))
            map[v] = value_of_input(copying, task, instr);
    }
    for (size_t k = 0; k < count; k++)
        values[k] = code_inline(code, &task->code, roots[k], inputs, NO_VALUE, map);
}

static void copy_task(const struct copying *copying, const struct task *task)
{
    struct arena *arena = copying->binder->arena;
    value *roots = arena_array(arena, task->output_count + 1, sizeof *roots);
    for (size_t k = 0; k < task->output_count; k++)
        roots[k] = task->outputs[k].value;
    copying->outputs[task->number] = arena_array(arena, task->output_count + 1, sizeof(value));
    copy_values(copying, task, roots, task->output_count, copying->outputs[task->number]);
}

bool loop_in_rows(struct binder *binder, const struct stage *stage, const struct row_loop *row_loop, struct flow *flow)
{
    struct arena *arena = binder->arena;
    const size_t count = row_loop->loop->count;
    const struct queue *body = &row_loop->loop->body;
    const struct span span = stage->span;
    int level;
    if (binder->checking) /* scalars that are not known yet are inputs of no task */
        return false;
    if (row_loop->rounds < 1 || (row_loop->mask && row_loop->keep == NO_VALUE) || !body_is_row_wise(row_loop, &level))
        return false;
    struct copying copying = {.binder = binder, .of = row_loop};
    struct task *task = copying.task = task_reading(binder, "repeat", span, flow);
    struct code *code = &task->code;
    struct carry *carries = arena_array(arena, count + 1, sizeof *carries);
    value *finals = arena_array(arena, count + 1, sizeof *finals);
    copying.states = arena_array(arena, count + 1, sizeof *copying.states);
    copying.outputs = arena_array(arena, body->count + 1, sizeof *copying.outputs);
    size_t *slots = arena_array(arena, count + 1, sizeof *slots), states = 0;
    for (size_t k = 0; k < count; k++) {
        const enum kind kind = type_table[flow->columns[k].type].kind;
        finals[k] = copying.states[k] = code_input(code, (int64_t)k, kind, span);
        if (is_carried(row_loop->loop, row_loop->after, k, k))
            continue;
        slots[states] = k;
        carries[states].first = finals[k];
        copying.states[k] = code_state(code, level, (int64_t)states++, kind, span);
    }
    copying.index =
        code_counter(code, level, code_exact_int(code, 0, span), code_int(code, row_loop->rounds - 1, span), span);
    for (size_t t = 0; t < (row_loop->mask ? row_loop->mask->number : body->count); t++)
        copy_task(&copying, body->tasks[t]);
    value keep = code_bool(code, true, span);
    if (row_loop->mask)
        copy_values(&copying, row_loop->mask, &row_loop->keep, 1, &keep);
    for (size_t k = 0; k < states; k++)
        carries[k].next = copying.outputs[row_loop->after->number][slots[k]];
    value loop = NO_VALUE; /* where every column stays as it is */
    if (states > 0)
        loop = code_loop(code, copying.index, keep, carries, states, span);
    for (size_t k = 0; k < states; k++)
        finals[slots[k]] = code_final(code, loop, (int64_t)k, code->at[carries[k].first].kind, span);
    task_set_slots(binder, task, flow, flow->columns, finals, flow->count, flow->hidden);
    return true;
}
