#include "engine/task/run_task.h"

#include "base/integer.h"
#include "engine/values/dictionary.h"

/* A column like an output of the task, without rows. */
static struct column *prototype(const struct job *job, const struct output *output)
{
    const struct instr *instr = &job->task->code.at[output->value];
    struct column *column = column_without_rows(output->type, output_store(job->task, output, job->columns));
    if (!column)
        return NULL;
    column_set_range(column, instr->kind == KIND_INT, instr->lo, instr->hi);
    if (output->logical.kind == LOGICAL_TEXT) { /* codes */
        column->lo = 0;
        column->hi = max_int64(output->logical.dictionary->count, 1) - 1;
    }
    return column;
}

/* Whether the task has something to do: rows that are columns as they stand are better grouped whole. */
static bool computes(const struct task *task)
{
    bool bare = task->filter_count == 0;
    for (size_t k = 0; k < task->output_count && bare; k++) {
        const struct instr *instr = &task->code.at[task->outputs[k].value];
        bare = !task->outputs[k].needed || (instr->op == OP_INPUT && instr->offset == 0);
    }
    return !bare;
}

bool grouped_rows_open(struct grouped_rows *grouped, const struct job *job, const struct task *group,
                       struct backend *backend, struct outcome *outcome)
{
    *grouped = (struct grouped_rows){0};
    if (!backend->ops->open_group || !computes(job->task))
        return false;
    grouped->inputs = arena_array(job->diags->arena, group->input_count, sizeof *grouped->inputs);
    grouped->job = (struct operator_job){
        .task = group,
        .inputs = grouped->inputs,
        .rows = job->end - job->begin,
        .results = outcome->columns,
        .result_rows = &grouped->rows,
        .timing = job->timing,
        .cancel = job->cancel,
        .diags = job->diags,
    };
    for (size_t k = 0; k < group->input_count; k++) {
        const struct input *input = &group->inputs[k];
        if (!input->needed)
            continue;
        grouped->inputs[k] = prototype(job, &job->task->outputs[input->output]);
        if (!grouped->inputs[k])
            return false;
    }
    grouped->stream = backend->ops->open_group(backend, &grouped->job);
    return grouped->stream;
}

enum status grouped_rows_finish(struct grouped_rows *grouped, int64_t *passed, struct outcome *outcome)
{
    bool flagged = false;
    const enum status status = group_stream_finish(grouped->stream, passed, &flagged);
    outcome->rows = grouped->rows;
    return status == STATUS_OK && flagged ? STATUS_UNABLE : status;
}

void grouped_rows_close(struct grouped_rows *grouped)
{
    group_stream_close(grouped->stream);
    for (size_t k = 0; grouped->inputs && k < grouped->job.task->input_count; k++)
        column_unref(grouped->inputs[k]);
}
