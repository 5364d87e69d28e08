/* `explain kernel PIPELINE`: the program of each task, for the columns as they are. */
#include "explain.h"

#include "explain_task.h"
#include "guard.h"
#include "range.h"

/* What is known of the queue's tasks before any of them has run. */
struct outlook {
    struct arena *arena;
    struct column ***columns; /* of each task's outputs: of no rows, but stored as they will be */
    int64_t *most;            /* rows each task reads at most */
};

/* The task's inputs in order. */
static struct column **input_columns(const struct outlook *outlook, const struct task *task)
{
    struct column **columns = arena_array(outlook->arena, task->input_count + 1, sizeof *columns);
    for (size_t k = 0; k < task->input_count; k++) {
        const struct input *input = &task->inputs[k];
        columns[k] = input->column != NULL ? input->column : outlook->columns[input->task->number][input->output];
    }
    return columns;
}

static int64_t most_rows(const struct outlook *outlook, const struct task *task)
{
    if (task->rows >= 0)
        return task->rows;
    int64_t most = task->rows_from != NULL ? outlook->most[task->rows_from->number] : INT64_MAX;
    most = most > task->first ? most - task->first : 0;
    return most < task->limit ? most : task->limit;
}

/* What a breaker only moves stays as it was stored. */
static enum type store_of(const struct task *task, const struct output *output, struct column *const *columns)
{
    if (task->sink != SINK_BREAK)
        return range_store(task, output, columns);
    return breaker_carries(task->breaker) ? columns[task->code.at[output->value].integer]->store : output->type;
}

static enum status expect_outputs(struct outlook *outlook, const struct task *task, struct column *const *columns,
                                  struct diags *diags)
{
    struct column **outputs = arena_array(outlook->arena, task->output_count + 1, sizeof *outputs);
    outlook->columns[task->number] = outputs;
    for (size_t k = 0; k < task->output_count && task->sink != SINK_AGGREGATE; k++) {
        const struct output *output = &task->outputs[k];
        if (!output->needed)
            continue;
        outputs[k] = column_reserve(output->type, store_of(task, output, columns), 0);
        if (outputs[k] == NULL)
            return diag_error(diags, task->span, "out of memory");
        column_finish(outputs[k], 0);
    }
    return STATUS_OK;
}

static void list_task(struct strbuf *out, const struct task *task)
{
    const char *const *names = task_input_names(task);
    bool *live = arena_array(task->code.arena, (size_t)task->code.count + 1, sizeof *live);
    task_mark_live(task, live);
    code_list(out, &task->code, live, names);
    for (size_t i = 0; i < task->filter_count; i++)
        strbuf_printf(out, "  keep v%d\n", (int)task->filters[i].keep);
    for (size_t k = 0; k < task->output_count && task->sink == SINK_ROWS; k++) {
        if (task->outputs[k].needed)
            strbuf_printf(out, "  give v%d\n", (int)task->outputs[k].value);
    }
    for (size_t k = 0; k < task->aggregate_count; k++) {
        if (task->aggregates[k].value != NO_VALUE)
            strbuf_printf(out, "  aggregate v%d\n", (int)task->aggregates[k].value);
    }
}

/* A breaker is a library of kernels, not a program of its own. */
static void list_breaker(struct strbuf *out, const struct task *task)
{
    struct strbuf part = {0};
    task_detail(&part, task);
    strbuf_puts(out, "  ");
    strbuf_add(out, part.text != NULL ? part.text : "", part.length);
    strbuf_putc(out, '\n');
    strbuf_free(&part);
}

static void add_program(struct strbuf *out, const struct runner *runner, const struct task *task,
                        struct column *const *columns, struct diags *diags)
{
    struct backend *device = runner->device;
    const struct job job = {
        .task = task,
        .columns = columns,
        .end = task->rows >= 0 ? task->rows : 0,
        .timing = runner->timing,
        .cancel = runner->cancel,
        .diags = diags,
    };
    const char *text = device != NULL && device->ops->source != NULL ? device->ops->source(device, &job) : NULL;
    if (text != NULL)
        strbuf_puts(out, text);
    else
        list_task(out, task);
}

static enum status explain_task(struct strbuf *out, const struct runner *runner, struct outlook *outlook,
                                struct task *task, struct diags *diags)
{
    struct column **columns = input_columns(outlook, task);
    outlook->most[task->number] = most_rows(outlook, task);
    bool breaks = task->sink == SINK_BREAK;
    if (!breaks) {
        range_analyse(task, columns, outlook->most[task->number]);
        guard_place(task);
    }
    if (task->number > 0)
        strbuf_putc(out, '\n');
    strbuf_printf(out, "// task %zu: ", task->number + 1);
    task_title(out, task);
    strbuf_putc(out, '\n');
    if (breaks)
        list_breaker(out, task);
    else
        add_program(out, runner, task, columns, diags);
    if (out->text[out->length - 1] != '\n')
        strbuf_putc(out, '\n');
    return expect_outputs(outlook, task, columns, diags);
}

enum status explain_kernels(struct strbuf *out, struct runner *runner, const struct queue *fused, struct diags *diags)
{
    struct outlook outlook = {.arena = fused->arena};
    outlook.columns = arena_array(fused->arena, fused->count + 1, sizeof *outlook.columns);
    outlook.most = arena_array(fused->arena, fused->count + 1, sizeof *outlook.most);
    enum status status = STATUS_OK;
    for (size_t t = 0; t < fused->count && status == STATUS_OK; t++)
        status = explain_task(out, runner, &outlook, fused->tasks[t], diags);
    for (size_t t = 0; t < fused->count; t++) {
        for (size_t k = 0; outlook.columns[t] != NULL && k < fused->tasks[t]->output_count; k++)
            column_unref(outlook.columns[t][k]);
    }
    return status;
}
