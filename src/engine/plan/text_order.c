#include "engine/plan/text_order.h"

#include "engine/plan/loop.h"

struct search {
    const struct queue *queue;
    struct text_order found;
};

static void need_input(const struct search *search, const struct task *task, size_t k)
{
    const struct input *input = &task->inputs[k];
    search->found.inputs[task->number][k] = true;
    if (input->task && input->output < input->task->output_count)
        search->found.outputs[input->task->number][input->output] = true;
}

/* The value is an input as it is, or an element of it: its number. In a check, a `let` value that is not known yet is
 * an input beyond all. */
static bool is_input(const struct task *task, value v, size_t *number)
{
    const struct instr *instr = v == NO_VALUE ? NULL : &task->code.at[v];
    if (!instr || (instr->op != OP_INPUT && instr->op != OP_GATHER) || instr->integer >= (int64_t)task->input_count)
        return false;
    *number = (size_t)instr->integer;
    return true;
}

static void need_value(const struct search *search, const struct task *task, value v)
{
    size_t number;
    if (is_input(task, v, &number))
        need_input(search, task, number);
}

/* A text of each string, such as upper(s), is made faster once the strings differ. */
static bool makes_text(const struct queue *queue, const struct instr *instr)
{
    const struct text_function *function = queue->text_applications[instr->integer].function;
    return function && function->result == TEXT_TO_TEXT && !function->partial;
}

/* Whether an instruction only looks a text up by its code. Before its dictionary is known, a function of text is
 * OP_TEXT or OP_XOR, and a comparison with a constant string one with a stand-in for its code; afterwards it reads a
 * table, or compares the code with an interval of codes, and the binder notes all comparisons of texts itself. */
static bool looks_up(const struct queue *queue, const struct task *task, const struct instr *instr,
                     const struct input *input)
{
    bool constant = false;
    switch (instr->op) {
    case OP_TEXT:
        return !makes_text(queue, instr);
    case OP_XOR:
    case OP_GATHER:
        return true;
    case OP_LE:
    case OP_LT:
    case OP_EQ:
    case OP_NE:
        for (int i = 0; i < 2; i++)
            constant = constant || task->code.at[instr->args[i]].op == OP_CONST;
        return constant || (input_logical(input).dictionary && !input_logical(input).dictionary->unsorted);
    default:
        return false;
    }
}

void text_order_of_code(const struct queue *queue, const struct task *task, const bool *marks, bool *ordered)
{
    for (value v = 0; v < task->code.count; v++) {
        const struct instr *instr = &task->code.at[v];
        for (int i = 0; marks[v] && i < op_table[instr->op].arity; i++) {
            size_t number;
            if (is_input(task, instr->args[i], &number) && !looks_up(queue, task, instr, &task->inputs[number]))
                ordered[number] = true;
        }
    }
}

static void visit_operator(const struct search *search, const struct task *task)
{
    const struct column_operator *column_op = task->column_op;
    for (size_t i = 0; i < column_op->key_count; i++)
        need_input(search, task, column_op->keys[i]);
    for (size_t k = 0; k < task->output_count && column_op->kind == OPERATOR_DISTINCT; k++)
        need_value(search, task, task->outputs[k].value);
}

static void visit_task(const struct search *search, const struct task *task, bool *live)
{
    task_mark_live(task, live);
    bool *ordered = search->found.inputs[task->number];
    text_order_of_code(search->queue, task, live, ordered);
    for (size_t k = 0; k < task->input_count; k++) {
        if (ordered[k])
            need_input(search, task, k);
    }
    if (task->sink == SINK_OPERATOR)
        visit_operator(search, task);
    for (size_t k = 0; k < task->output_count && task->sink != SINK_AGGREGATE; k++) {
        if (search->found.outputs[task->number][k])
            need_value(search, task, task->outputs[k].value);
    }
    for (size_t k = 0; k < task->aggregate_count; k++) {
        const struct aggregate *aggregate = &task->aggregates[k];
        need_value(search, task, aggregate->value);
        if (aggregate_table[aggregate->kind].operands) {
            need_value(search, task, aggregate->other);
            need_value(search, task, aggregate->where);
        }
    }
}

struct text_order text_order_find(const struct queue *queue, const bool *leaving)
{
    struct arena *arena = queue->arena;
    struct search search = {.queue = queue,
                            .found = {.inputs = arena_array(arena, queue->count + 1, sizeof(bool *)),
                                      .outputs = arena_array(arena, queue->count + 1, sizeof(bool *))}};
    int32_t most = 0;
    for (size_t t = 0; t < queue->count; t++) {
        const struct task *task = queue->tasks[t];
        search.found.inputs[t] = arena_array(arena, task->input_count + 1, sizeof(bool));
        search.found.outputs[t] = arena_array(arena, task->output_count + 1, sizeof(bool));
        for (size_t k = 0; k < task->output_count && t + 1 == queue->count; k++)
            search.found.outputs[t][k] = !leaving || leaving[k];
        most = task->code.count > most ? task->code.count : most;
    }
    bool *live = arena_array(arena, (size_t)most + 1, sizeof *live);
    for (size_t t = queue->count; t-- > 0;)
        visit_task(&search, queue->tasks[t], live);
    return search.found;
}

bool text_order_is_kept(const struct queue *queue)
{
    const size_t leaving = queue->count > 0 ? queue->tasks[queue->count - 1]->output_count : 0;
    const bool *none = arena_array(queue->arena, leaving + 1, sizeof *none);
    bool **ordered = text_order_find(queue, none).inputs, kept = true;
    for (size_t t = 0; t < queue->count && kept; t++) {
        const struct task *task = queue->tasks[t];
        struct loop *loop = task->sink == SINK_OPERATOR ? task->column_op->loop : NULL;
        for (size_t k = 0; k < task->input_count && kept; k++) {
            const struct dictionary *dictionary = input_logical(&task->inputs[k]).dictionary;
            kept = !task->inputs[k].needed || !ordered[t][k] || !dictionary || !dictionary->unsorted;
        }
        for (size_t q = 0; q < LOOP_QUEUES && loop && kept; q++)
            kept = text_order_is_kept(loop_queue(loop, q));
    }
    return kept;
}
