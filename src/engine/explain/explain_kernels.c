/* `explain kernel PIPELINE`: the program of each task, for the current columns. */
#include "engine/explain/explain.h"

#include "engine/backend/backend_choice.h"
#include "engine/explain/dry_run.h"
#include "engine/explain/explain_task.h"

#include <inttypes.h>

void explain_code(struct strbuf *out, const struct task *task)
{
    const char *const *names = task_input_names(task);
    const bool *live = task_live(task, task->code.arena);
    code_list(out, &task->code, live, names);
    for (size_t i = 0; i < task->filter_count; i++)
        strbuf_printf(out, "  keep v%d\n", (int)task->filters[i].keep);
    for (size_t k = 0; k < task->output_count && task->sink == SINK_ROWS; k++) {
        if (task->outputs[k].needed)
            strbuf_printf(out, "  output v%d\n", (int)task->outputs[k].value);
    }
    for (size_t k = 0; k < task->aggregate_count; k++) {
        const struct derived_sum *derived = task->aggregates[k].derived;
        if (task->aggregates[k].value != NO_VALUE)
            strbuf_printf(out, "  aggregate v%d\n", (int)task->aggregates[k].value);
        if (derived)
            strbuf_printf(out, "  aggregate %zu is %s(%" PRId64 " * v%d + %" PRId64 ")\n", k + 1,
                          aggregate_table[derived->kind].word, derived->scale, (int)task->aggregates[derived->of].value,
                          derived->offset);
    }
}

/* An operator is a library of kernels, not a generated program. */
static void list_operator(struct strbuf *out, const struct task *task)
{
    struct strbuf part = {0};
    task_detail(&part, task);
    strbuf_puts(out, "  ");
    strbuf_add(out, part.text ? part.text : "", part.length);
    strbuf_putc(out, '\n');
    strbuf_free(&part);
}

static void add_program(struct strbuf *out, const struct runner *runner, const struct task *task,
                        struct column *const *columns, struct diags *diags)
{
    struct backend *device = runner->device;
    if (runner->chooser && chooser_count(runner->chooser) > 1)
        device = chooser_backend(runner->chooser, 1);
    const struct job job = {
        .task = task,
        .columns = columns,
        .end = task->rows >= 0 ? task->rows : 0,
        .timing = runner->timing,
        .cancel = runner->cancel,
        .diags = diags,
    };
    const char *text = device && device->ops->source ? device->ops->source(device, &job) : NULL;
    if (text)
        strbuf_puts(out, text);
    else
        explain_code(out, task);
}

static enum status explain_task(struct strbuf *out, const struct runner *runner, struct dry_run *dry_run,
                                const struct task *planned, struct diags *diags)
{
    struct column *const *named, *const *columns;
    const struct task *task = dry_run_task(dry_run, runner, planned, &named, &columns);
    if (task->number > 0)
        strbuf_putc(out, '\n');
    strbuf_printf(out, "// task %zu: ", task->number + 1);
    task_title(out, task);
    strbuf_putc(out, '\n');
    if (task->sink == SINK_OPERATOR)
        list_operator(out, task);
    else
        add_program(out, runner, task, columns, diags);
    if (out->text[out->length - 1] != '\n')
        strbuf_putc(out, '\n');
    return dry_run_outputs(dry_run, task, columns, diags);
}

enum status explain_kernels(struct strbuf *out, struct runner *runner, const struct queue *fused, struct diags *diags)
{
    struct dry_run dry_run;
    dry_run_init(&dry_run, fused);
    enum status status = STATUS_OK;
    for (size_t t = 0; t < fused->count && status == STATUS_OK; t++)
        status = explain_task(out, runner, &dry_run, fused->tasks[t], diags);
    dry_run_release(&dry_run);
    return status;
}
