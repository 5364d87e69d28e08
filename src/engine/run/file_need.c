#include "engine/run/provide.h"

#include "engine/expression/row_text.h"
#include "engine/optimize/optimize.h"
#include "engine/plan/loop.h"
#include "engine/task/run_task.h"

/* Where more than one row in this many passes, nearly every cache line of a column has one: it is read as a whole. */
enum { LEAST_ROWS_FOR_ONE = 8 };

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
    bool *live = arena_array(arena, (size_t)task->code.count + 1, sizeof *live);
    task_mark_live(task, live);
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
        if (marks[v] && (instr->op == OP_INPUT || instr->op == OP_GATHER))
            read[instr->integer] = true;
    }
    return read;
}

static void add_rows(struct row_set *set, const struct column *numbers)
{
    int64_t begin = 0, end = 0; /* of the last range */
    for (int64_t i = 0; i < numbers->rows; i++) {
        const int64_t row = numbers->store == TYPE_I64   ? ((const int64_t *)numbers->data)[i]
                            : numbers->store == TYPE_I32 ? ((const int32_t *)numbers->data)[i]
                                                         : column_get_int(numbers, i);
        if (row != end) {
            row_set_add(set, begin, end);
            begin = row;
        }
        end = row + 1;
    }
    row_set_add(set, begin, end);
}

struct runner need_host_runner(const struct runner *runner)
{
    struct runner host = *runner;
    host.device = NULL;
    host.chooser = NULL;
    host.trace = NULL;
    return host;
}

/* The rows that pass of which the window keeps some: those that it skips are needed to skip as many. */
static struct window window_with_skipped(struct window window)
{
    if (window.tail < 0 && window.take != INT64_MAX)
        window.take = window.skip > INT64_MAX - window.take ? INT64_MAX : window.skip + window.take;
    window.skip = 0;
    return window;
}

/* Runs the filters on the host. What fails is found again when the statement runs. */
static enum status run_filters(const struct runner *runner, struct file_need *need, struct task *filter,
                               const bool *read, struct arena *arena)
{
    const struct runner host = need_host_runner(runner);
    filter->sink = SINK_ROWS;
    filter->aggregate_count = 0;
    filter->outputs = arena_array(arena, 1, sizeof *filter->outputs);
    filter->output_count = 1;
    filter->outputs[0] = (struct output){
        .value = code_row(&filter->code, filter->span), .name = "row", .type = TYPE_I64, .needed = true};
    struct column **inputs = arena_array(arena, filter->input_count + 1, sizeof(struct column *));
    for (size_t k = 0; k < filter->input_count; k++) {
        filter->inputs[k].needed = read[k];
        inputs[k] = read[k] ? filter->inputs[k].column : NULL;
    }
    struct outcome outcome;
    struct diags dropped;
    diags_init(&dropped, arena);
    const enum status status = run_task(&host, filter, inputs, need->rows, DEFER_NEVER, arena, &outcome, &dropped);
    if (status == STATUS_CANCELLED)
        return status;
    if (status != STATUS_OK || outcome.flagged)
        return STATUS_OK;
    need->found = outcome.rows <= need->rows / LEAST_ROWS_FOR_ONE;
    if (need->found)
        add_rows(&need->found_rows, outcome.columns[0]);
    outcome_release(&outcome, filter);
    return STATUS_OK;
}

/* Whether the condition only says that a value of the file is not missing. */
static bool is_presence(const struct task *task, value condition, const struct file_need *need)
{
    const struct instr *instr = &task->code.at[condition];
    for (size_t i = 0; instr->op == OP_INPUT && i < need->count; i++) {
        if (need->columns[i]->validity && task->inputs[instr->integer].column == need->columns[i]->validity)
            return true;
    }
    return false;
}

/* A copy of the task with the conditions to find rows by. An aggregate leaves out missing values by a filter: that
 * would read its column first. */
static struct task *with_conditions(const struct task *task, const struct file_need *need, struct arena *arena)
{
    struct task *copy = task_clone(task, arena);
    size_t count;
    const value *conditions = task_conditions(copy, arena, &count);
    copy->filters = arena_array(arena, count + 1, sizeof *copy->filters);
    copy->filter_count = 0;
    copy->window = window_with_skipped(task->window);
    for (size_t i = 0; i < count; i++) {
        if (!is_presence(task, conditions[i], need))
            copy->filters[copy->filter_count++] = (struct filter){.keep = conditions[i], .span = task->span};
    }
    if (copy->filter_count < count)
        copy->window = (struct window){.take = INT64_MAX, .tail = -1};
    return copy;
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

void need_read_first(struct file_need *need, const struct task *task, const bool *read, struct arena *arena)
{
    need->first = arena_array(arena, need->count + 1, sizeof *need->first);
    for (size_t i = 0; i < need->count; i++) {
        const struct column *column = need->columns[i];
        for (size_t k = 0; k < task->input_count; k++)
            need->first[i] =
                need->first[i] || (read[k] && task->inputs[k].column &&
                                   (task->inputs[k].column == column || task->inputs[k].column == column->validity));
    }
}

/* Finds the rows once what the filters read is there. */
static enum status find_by_values(const struct runner *runner, struct file_need *need, const struct task *reader,
                                  const bool *of_file, struct arena *arena)
{
    struct task *task = with_conditions(reader, need, arena);
    bool *marks = arena_array(arena, (size_t)task->code.count + 1, sizeof *marks);
    for (size_t i = 0; i < task->filter_count; i++)
        code_mark(&task->code, task->filters[i].keep, marks);
    const bool *read = need_inputs(task, marks, arena);
    if (task->filter_count == 0 || need_awaits_text(need, task, marks, true))
        return STATUS_OK;
    bool lacks = false, more = false;
    for (size_t k = 0; k < task->input_count; k++) {
        const struct column *column = task->inputs[k].column;
        const bool unread = task->inputs[k].needed && column && column->unread;
        if (unread && !of_file[k])
            return STATUS_OK;
        lacks = lacks || (unread && read[k]);
        more = more || (unread && !read[k]);
    }
    if (!lacks)
        return more && !need_awaits_text(need, task, marks, false) ? run_filters(runner, need, task, read, arena)
                                                                   : STATUS_OK;
    need_read_first(need, task, read, arena);
    return STATUS_OK;
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
            status = find_by_values(runner, need, task, of_file, arena);
    }
    queue_release(&fused);
    return status;
}
