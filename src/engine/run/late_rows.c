/* Late materialization (Abadi et al. 2007): of `select url like "%x%" | top 10 by time` the columns beside `url` and
 * `time` are read of ten rows. Sorts are stable and windows count from an end, so the statement bound anew to the rows
 * that they have chosen chooses the same ones. */
#include "engine/run/provide.h"

#include "base/integer.h"
#include "engine/plan/text_order.h"
#include "engine/task/run_queue.h"

#include <stdlib.h>

/* How the rows of a file are chosen: the first ones of a sort, which reads columns of the file, or outputs of a task
 * that does. */
struct choice {
    const struct task *sort;
    const struct task *before; /* computes keys, or lets rows pass; NULL: none */
};

static bool is_choosing_sort(const struct task *task)
{
    return task->sink == SINK_OPERATOR && task->column_op->kind == OPERATOR_SORT && task->column_op->first > 0;
}

/* Whether a task other than these reads the file, the outputs of `before`, or as many rows as the file has. */
static bool others_depend(const struct file_need *need, const struct queue *queue, const struct choice *choice)
{
    for (size_t t = 0; t < queue->count; t++) {
        const struct task *task = queue->tasks[t];
        if (task == choice->sort || task == choice->before)
            continue;
        if (task->rows == need->rows || need_reads_file(need, task) ||
            (choice->before && task->rows_from == choice->before))
            return true;
        for (size_t k = 0; k < task->input_count; k++) {
            if (choice->before && task->inputs[k].task == choice->before)
                return true;
        }
    }
    return false;
}

/* Finds the one task whose outputs the sort reads. False: there are several. */
static bool find_before(struct choice *choice)
{
    for (size_t k = 0; k < choice->sort->input_count; k++) {
        const struct task *from = choice->sort->inputs[k].task;
        if (!from || !choice->sort->inputs[k].needed || from == choice->before)
            continue;
        if (choice->before)
            return false;
        choice->before = from;
    }
    return true;
}

static bool reads_columns(const struct task *task)
{
    bool reads = false;
    for (size_t k = 0; k < task->input_count && !reads; k++)
        reads = task->inputs[k].needed && task->inputs[k].column;
    return reads;
}

/* Whether the rows of the file that the statement depends on are those that the sort chooses. */
static bool chooses(const struct file_need *need, const struct queue *queue, struct choice *choice, struct arena *arena)
{
    const struct task *sort = choice->sort;
    if (sort->first != 0 || !find_before(choice) || !need_reads_own_rows(need, sort, choice->before, arena))
        return false;
    const struct task *before = choice->before;
    if (before && (before->sink != SINK_ROWS || before->first != 0 || before->rows != need->rows ||
                   before->window.skip != 0 || !need_reads_own_rows(need, before, NULL, arena)))
        return false;
    /* Rows of both are the same only if all pass. */
    if (before && (before->filter_count > 0 || task_has_window(before)) && reads_columns(sort))
        return false;
    return (before ? need_reads_file(need, before) : sort->rows == need->rows) && !others_depend(need, queue, choice);
}

/* Adds what input `k` of the sort is to the task in place of the one before; returns its value there. */
static value add_input(struct task *task, const struct choice *choice, size_t k, struct arena *arena)
{
    const struct input *input = &choice->sort->inputs[k];
    if (input->task)
        return choice->before->outputs[input->output].value;
    const size_t number = task_add_input(task, input, arena);
    task->inputs[number].needed = true;
    return task_read(task, input, task->span);
}

/* Adds to the queue a task that computes the keys of the sort, the row's number, and what else may fail, so that it
 * fails here, too. Its output `keys` is the number. */
static struct task *add_keys(struct queue *queue, const struct file_need *need, const struct choice *choice)
{
    struct arena *arena = queue->arena;
    const struct column_operator *by = choice->sort->column_op;
    struct task *task = queue_add(queue);
    const struct task *before = choice->before;
    const size_t old_count = before ? before->output_count : 0;
    const size_t number = task->number;
    if (before) {
        *task = *task_clone(before, arena);
        task->number = number;
    } else {
        task->span = choice->sort->span;
        code_init(&task->code, arena);
        task->rows = need->rows;
        task->sink = SINK_ROWS;
    }
    task->stage_count = 0;
    task->unlowered = NULL;
    task->outputs = arena_array(arena, by->key_count + old_count + 1, sizeof *task->outputs);
    task->output_count = 0;
    for (size_t i = 0; i < by->key_count; i++) {
        const struct input *input = &choice->sort->inputs[by->keys[i]];
        task->outputs[task->output_count++] = (struct output){.value = add_input(task, choice, by->keys[i], arena),
                                                              .name = "key",
                                                              .type = input->type,
                                                              .logical = input_logical(input),
                                                              .needed = true};
    }
    task->outputs[task->output_count++] =
        (struct output){.value = code_row(&task->code, task->span), .name = "row", .type = TYPE_I64, .needed = true};
    for (size_t k = 0; k < old_count; k++) {
        const struct output *output = &before->outputs[k];
        if (output->needed && before->code.at[output->value].fallible) {
            task->outputs[task->output_count] = *output;
            task->outputs[task->output_count++].validity = 0;
        }
    }
    return task;
}

/* Adds the sort of these. */
static void add_sort(struct queue *queue, const struct choice *choice, struct task *keys)
{
    struct arena *arena = queue->arena;
    const struct column_operator *by = choice->sort->column_op;
    struct task *task = queue_add(queue);
    code_init(&task->code, arena);
    task->span = keys->span;
    task->rows = keys->filter_count > 0 || task_has_window(keys) ? -1 : keys->rows;
    task->rows_from = keys;
    task->sink = SINK_OPERATOR;
    task->column_op = arena_copy(arena, by, sizeof *by);
    task->column_op->keys = arena_array(arena, by->key_count + 1, sizeof *by->keys);
    task->inputs = arena_array(arena, by->key_count + 1, sizeof *task->inputs);
    task->input_count = by->key_count + 1;
    for (size_t i = 0; i <= by->key_count; i++) {
        task->inputs[i] = (struct input){
            .task = keys, .output = i, .type = keys->outputs[i].type, .name = keys->outputs[i].name, .needed = true};
        if (i < by->key_count)
            task->column_op->keys[i] = i;
    }
    task->outputs = arena_array(arena, 1, sizeof *task->outputs);
    task->output_count = 1;
    task->outputs[0] = (struct output){
        .value = input_value(&task->code, (int64_t)by->key_count, &task->inputs[by->key_count], task->span),
        .name = "row",
        .type = TYPE_I64,
        .needed = true};
}

static void add_rows(struct row_set *set, const struct column *numbers, struct arena *arena)
{
    int64_t *rows = arena_array(arena, (size_t)numbers->rows + 1, sizeof *rows);
    for (int64_t i = 0; i < numbers->rows; i++)
        rows[i] = column_get_int(numbers, i);
    qsort(rows, (size_t)numbers->rows, sizeof *rows, compare_int64);
    for (int64_t i = 0; i < numbers->rows; i++)
        row_set_add(set, rows[i], rows[i] + 1);
}

/* Runs the sort of keys and numbers. What fails is found again when the statement runs. */
static enum status run_choice(const struct runner *runner, struct file_need *need, const struct queue *queue,
                              struct arena *arena)
{
    struct runner host = need_host_runner(runner);
    struct column *column = NULL;
    int64_t rows = 0;
    struct diags dropped;
    diags_init(&dropped, arena);
    const enum status status = run_queue_columns(&host, queue, queue, &column, &rows, &dropped);
    if (status != STATUS_OK)
        return status == STATUS_CANCELLED ? status : STATUS_OK;
    need->found = rows <= need->most_rows;
    if (need->found)
        add_rows(&need->found_rows, column, arena);
    column_unref(column);
    return STATUS_OK;
}

/* The inputs of the task of keys whose texts are compared. */
static const bool *ordered_inputs(const struct file_need *need, const struct task *keys, size_t key_count,
                                  const bool *live, struct arena *arena)
{
    bool *ordered = arena_array(arena, keys->input_count + 1, sizeof *ordered);
    text_order_of_code(need->queue, keys, live, ordered);
    for (size_t i = 0; i < key_count; i++) {
        const struct instr *instr = &keys->code.at[keys->outputs[i].value];
        if (instr->op == OP_INPUT || instr->op == OP_GATHER)
            ordered[instr->integer] = true;
    }
    return ordered;
}

static enum status run_or_read_keys(const struct runner *runner, struct file_need *need, const struct choice *choice,
                                    struct arena *arena)
{
    struct queue queue;
    queue_init(&queue, arena);
    struct task *keys = add_keys(&queue, need, choice);
    add_sort(&queue, choice, keys);
    bool lacks = false;
    const bool *live = task_live(keys, arena), *read = need_inputs(keys, live, arena);
    const bool *ordered = ordered_inputs(need, keys, choice->sort->column_op->key_count, live, arena);
    if (need_awaits_text(need, keys, live, true))
        return STATUS_OK;
    for (size_t k = 0; k < keys->input_count; k++) {
        const struct column *column = keys->inputs[k].column;
        keys->inputs[k].needed = read[k];
        if (read[k] && column && column->unread && !need_is_of_file(need, column))
            return STATUS_OK;
        lacks = lacks || (read[k] && column && (column->unread || (ordered[k] && column_is_unsorted(column))));
    }
    if (!lacks)
        return need_awaits_text(need, keys, live, false) ? STATUS_OK : run_choice(runner, need, &queue, arena);
    need_read_first(need, keys, read, ordered, arena);
    return STATUS_OK;
}

/* Whether rows are kept by their distance from the last one, and not by that from the first. */
static bool counts_from_end(const struct queue *bound)
{
    bool tail = false, skip = false;
    for (size_t t = 0; t < bound->count; t++) {
        tail = tail || bound->tasks[t]->window.tail >= 0;
        skip = skip || bound->tasks[t]->window.skip > 0;
    }
    return tail && !skip;
}

/* Finds the first or last rows of the file, if the only task that reads it reads no others. */
static bool find_ends(struct file_need *need, const struct queue *queue, struct arena *arena)
{
    const struct task *reader = NULL;
    for (size_t t = 0; t < queue->count; t++) {
        const struct task *task = queue->tasks[t];
        if (!need_reads_file(need, task) && task->rows != need->rows)
            continue;
        if (reader || task->rows < 0 || task->first > need->rows - task->rows ||
            !need_reads_own_rows(need, task, NULL, arena))
            return false;
        reader = task;
    }
    if (!reader)
        return false;
    const int64_t end = reader->first + reader->rows;
    const int64_t begin = end == need->rows && counts_from_end(need->queue) ? reader->first : 0;
    need->found = end - begin <= need->most_rows;
    if (need->found)
        row_set_add(&need->found_rows, begin, end);
    return need->found;
}

enum status find_late_rows(const struct runner *runner, struct file_need *need, const struct queue *fused,
                           struct arena *arena)
{
    if (find_ends(need, fused, arena))
        return STATUS_OK;
    struct choice choice = {0};
    for (size_t t = 0; t < fused->count && !choice.sort; t++) {
        if (is_choosing_sort(fused->tasks[t]))
            choice.sort = fused->tasks[t];
    }
    return choice.sort && chooses(need, fused, &choice, arena) ? run_or_read_keys(runner, need, &choice, arena)
                                                               : STATUS_OK;
}
