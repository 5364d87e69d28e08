#include "engine/run/provide.h"

#include "engine/expression/row_text.h"
#include "engine/optimize/optimize.h"
#include "engine/plan/loop.h"
#include "engine/task/run_task.h"

bool need_is_of_file(const struct file_need *need, const struct column *column)
{
    for (size_t k = 0; k < need->count; k++) {
        if (need->columns[k] == column || (need->columns[k]->validity && need->columns[k]->validity == column))
            return true;
    }
    return false;
}

static bool queue_reads_file(const struct file_need *need, const struct queue *queue);

bool need_reads_file(const struct file_need *need, const struct task *task)
{
    struct loop *loop = task->sink == SINK_OPERATOR ? task->column_op->loop : NULL;
    bool reads = false;
    for (size_t k = 0; k < task->input_count && !reads; k++)
        reads = task->inputs[k].needed && task->inputs[k].column && need_is_of_file(need, task->inputs[k].column);
    for (size_t q = 0; q < LOOP_QUEUES && loop && !reads; q++)
        reads = queue_reads_file(need, loop_queue(loop, q));
    return reads;
}

static bool queue_reads_file(const struct file_need *need, const struct queue *queue)
{
    bool reads = false;
    for (size_t t = 0; t < queue->count && !reads; t++)
        reads = need_reads_file(need, queue->tasks[t]);
    return reads;
}

bool need_reads_own_rows(const struct file_need *need, const struct task *task, const struct task *from,
                         struct arena *arena)
{
    if (task->equal_count > 0)
        return false;
    const bool *live = task_live(task, arena);
    for (value v = 0; v < task->code.count; v++) {
        const struct instr *instr = &task->code.at[v];
        if (live[v] && (instr->op == OP_ROW || instr->op == OP_ROWS || instr->shift != 0 ||
                        (instr->op == OP_INPUT && instr->offset != 0)))
            return false;
    }
    for (size_t k = 0; k < task->input_count; k++) {
        const struct input *input = &task->inputs[k];
        const bool of_file = input->column && need_is_of_file(need, input->column);
        if (!input->needed || (from && input->task == from && !input->whole))
            continue;
        if (input->task || of_file == input->whole)
            return false;
        if (input->column && (input->column->residency || input->column->lost))
            return false;
    }
    return true;
}

/* The only task that reads the file, if it has filters and what it computes of a row depends on that row alone. */
static const struct task *find_reader(const struct file_need *need, const struct queue *queue, struct arena *arena)
{
    const struct task *reader = NULL;
    for (size_t t = 0; t < queue->count; t++) {
        if (!need_reads_file(need, queue->tasks[t]))
            continue;
        if (reader)
            return NULL;
        reader = queue->tasks[t];
    }
    return reader && reader->filter_count > 0 && reader->first == 0 && reader->rows == need->rows &&
                   need_reads_own_rows(need, reader, NULL, arena)
               ? reader
               : NULL;
}

bool *need_inputs(const struct task *task, const bool *marks, struct arena *arena)
{
    bool *read = arena_array(arena, task->input_count + 1, sizeof *read);
    for (value v = 0; v < task->code.count; v++) {
        const struct instr *instr = &task->code.at[v];
        if (marks[v] && reads_input(instr))
            read[instr->integer] = true;
    }
    return read;
}

struct runner need_host_runner(const struct runner *runner)
{
    struct runner host = *runner;
    host.device = NULL;
    host.chooser = NULL;
    host.trace = NULL;
    host.timing = NULL; /* it is of the phase that finds rows */
    return host;
}

bool need_awaits_text(const struct file_need *need, const struct task *task, const bool *marks, bool of_rows)
{
    bool found = false;
    for (value v = 0; v < task->code.count && !found; v++) {
        const struct instr *instr = &task->code.at[v];
        found = marks[v] && instr->op == OP_TEXT &&
                (!of_rows || is_row_text(&need->queue->text_applications[instr->integer]));
    }
    return found;
}

void need_read_first(struct file_need *need, const struct task *task, const bool *read, const bool *ordered,
                     struct arena *arena)
{
    need->first = arena_array(arena, need->count + 1, sizeof *need->first);
    need->first_ordered = arena_array(arena, need->count + 1, sizeof *need->first_ordered);
    for (size_t i = 0; i < need->count; i++) {
        const struct column *column = need->columns[i];
        for (size_t k = 0; k < task->input_count; k++) {
            const struct column *input = read[k] ? task->inputs[k].column : NULL;
            if (input && (input == column || input == column->validity)) {
                need->first[i] = true;
                need->first_ordered[i] = need->first_ordered[i] || ordered[k];
            }
        }
    }
}

enum status find_needed_rows(const struct runner *runner, struct file_need *need, struct arena *arena)
{
    struct queue fused;
    queue_init(&fused, arena);
    optimize_queue(need->queue, &fused);
    queue_prune(&fused);
    row_set_init(&need->found_rows, arena);
    const struct task *task = need->search != SEARCH_LATE ? find_reader(need, &fused, arena) : NULL;
    enum status status = STATUS_OK;
    if (need->search == SEARCH_LATE)
        status = find_late_rows(runner, need, &fused, arena);
    if (task) {
        bool *of_file = arena_array(arena, task->input_count + 1, sizeof *of_file);
        for (size_t k = 0; k < task->input_count; k++)
            of_file[k] = task->inputs[k].column && need_is_of_file(need, task->inputs[k].column);
        if (need->search == SEARCH_BOUNDS)
            need->found = rows_within_bounds(runner->env, need->queue, task, of_file, &need->found_rows, arena) &&
                          need->found_rows.rows < need->rows;
        else
            status = find_filtered_rows(runner, need, task, of_file, arena);
    }
    queue_release(&fused);
    return status;
}
