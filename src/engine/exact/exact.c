/* The exact evaluator's walk over the tasks of a queue. */
#include "engine/exact/exact.h"

#include "engine/exact/exact_lazy.h"
#include "engine/exact/exact_operator.h"
#include "engine/plan/result.h"
#include "engine/plan/row_count.h"
#include "engine/storage/residency.h"

static enum status add_aggregates(struct exact *exact, struct lazy_task *lazy)
{
    const struct task *task = lazy->task;
    exact->states = arena_array(exact->arena, task->aggregate_count, sizeof *exact->states);
    for (size_t i = 0; i < task->aggregate_count; i++) {
        agg_init(&exact->states[i], &task->aggregates[i], &task->code);
        agg_begin(&exact->states[i], &task->aggregates[i]);
    }
    return exact_add_rows(exact, lazy);
}

static enum status last_aggregates(struct exact *exact, struct lazy_task *lazy, struct result *result)
{
    const struct task *task = lazy->task;
    const enum status status = add_aggregates(exact, lazy);
    if (status != STATUS_OK)
        return status;
    bool certain;
    result->kind = RESULT_SCALAR;
    return agg_finish(&exact->states[0], &task->aggregates[0], &result->scalar, &certain, exact->diags);
}

/* Aggregates that become the columns of one row. */
static enum status row_of_aggregates(struct exact *exact, struct lazy_task *lazy)
{
    const struct task *task = lazy->task;
    enum status status = add_aggregates(exact, lazy);
    lazy->count = 1;
    for (size_t k = 0; k < task->output_count && status == STATUS_OK; k++) {
        struct scalar scalar;
        bool certain;
        status = exact_reserve_output(exact, lazy, k, 1);
        if (status == STATUS_OK)
            status = agg_element(&exact->states[k], &task->aggregates[k], &scalar, &certain, exact->diags);
        if (status == STATUS_OK)
            exact_set_output(lazy, k, 0, &scalar, true);
    }
    return status;
}

static enum status write_found_row(struct exact *exact, struct lazy_task *lazy, int64_t row, const void *context)
{
    (void)context;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < lazy->task->output_count && status == STATUS_OK; k++) {
        union datum datum = {0};
        status = exact_output(exact, lazy, k, row, &datum);
        if (status == STATUS_OK)
            column_set_datum(exact->columns[k], row, datum);
    }
    return status;
}

/* Writes the result rows of an operator, or of aggregates, once they have been found. */
static enum status write_found_rows(struct exact *exact, struct lazy_task *lazy)
{
    const struct task *task = lazy->task;
    enum status status =
        exact_check_memory(exact, task, lazy->count, lazy->count, exact_row_bytes(exact->columns, task->output_count));
    return status == STATUS_OK ? exact_for_rows(exact, lazy, 0, lazy->count, write_found_row, NULL) : status;
}

/* Finds the rows of a task whose outputs are not computed row by row. */
static enum status find_rows(struct exact *exact, struct lazy_task *lazy)
{
    return lazy->task->sink == SINK_OPERATOR ? exact_run_operator(exact, lazy) : row_of_aggregates(exact, lazy);
}

static enum status last_rows(struct exact *exact, struct lazy_task *lazy, struct result *result)
{
    const struct task *task = lazy->task;
    const bool finds = task->sink != SINK_ROWS;
    exact->columns = arena_array(exact->arena, task->output_count, sizeof(struct column *));
    enum status status = finds ? find_rows(exact, lazy) : STATUS_OK;
    const int64_t capacity = finds ? lazy->count : lazy->rows;
    for (size_t k = 0; k < task->output_count && status == STATUS_OK; k++) {
        exact->columns[k] = exact_reserve(exact, task->outputs[k].type, capacity);
        if (!exact->columns[k])
            status = exact_no_memory(exact, task, capacity);
    }
    if (status == STATUS_OK)
        status = finds ? write_found_rows(exact, lazy) : exact_write_rows(exact, lazy);
    for (size_t k = 0; k < task->output_count && status == STATUS_OK; k++)
        column_finish(exact->columns[k], lazy->count);
    if (status == STATUS_OK) {
        result->kind = RESULT_RELATION;
        result->relation = relation_of_outputs(task, task->output_count > 0 ? lazy->count : 0, exact->columns);
    }
    columns_unref(exact->columns, task->output_count);
    return status;
}

/* Caches the values of outputs that are read out of order. Without a cache every reader computes them again, and
 * each further stage of this kind multiplies the cost. */
static enum status cache_outputs(const struct exact *exact, struct lazy_task *lazy)
{
    const struct task *task = lazy->task;
    int64_t row_bytes = 0;
    for (size_t k = 0; k < task->output_count; k++) {
        struct output_values *output = &lazy->outputs[k];
        if (!lazy->random_access[k] || output->values || task->outputs[k].value == NO_VALUE)
            continue;
        const enum type type = type_of_kind(type_table[task->outputs[k].type].kind);
        output->values = exact_reserve(exact, type, lazy->count);
        output->states = exact_reserve(exact, TYPE_U8, lazy->count);
        if (!output->values || !output->states)
            return exact_no_memory(exact, task, lazy->count);
        row_bytes += (int64_t)type_table[type].size + 1;
    }
    return exact_check_memory(exact, task, lazy->count, lazy->count, row_bytes);
}

static enum status run_task(struct exact *exact, struct lazy_task *lazy, bool last, struct result *result)
{
    enum status status = rows_read(lazy->task, exact->row_counts, &lazy->rows, exact->diags);
    if (status != STATUS_OK)
        return status;
    if (last && task_is_scalar(lazy->task))
        status = last_aggregates(exact, lazy, result);
    else if (last)
        status = last_rows(exact, lazy, result);
    else
        status = lazy->task->sink == SINK_ROWS ? exact_list_rows(exact, lazy) : find_rows(exact, lazy);
    exact->row_counts[lazy->task->number] = lazy->count;
    return status == STATUS_OK && !last ? cache_outputs(exact, lazy) : status;
}

/* Records which outputs of earlier tasks a task reads at rows other than its own. */
static void find_random_access(struct exact *exact, const struct lazy_task *lazy)
{
    const struct task *task = lazy->task;
    const bool *live = task_live(task, exact->arena);
    for (value v = 0; v < task->code.count; v++) {
        const struct instr *instr = &task->code.at[v];
        if (!live[v] || !(instr->op == OP_GATHER || (instr->op == OP_INPUT && instr->offset != 0)))
            continue;
        const struct input *input = &task->inputs[instr->integer];
        if (!lazy->columns[instr->integer])
            exact->tasks[input->task->number].random_access[input->output] = true;
    }
}

/* The columns that a task reads: those of its inputs, and those of tasks that are done. */
static struct column **find_columns(const struct task *task, const struct exact_done *done, struct arena *arena)
{
    struct column **columns = arena_array(arena, task->input_count, sizeof(struct column *));
    for (size_t k = 0; k < task->input_count; k++) {
        const struct input *input = &task->inputs[k];
        columns[k] = input->column;
        if (!input->column && input->task->number < done->count)
            columns[k] = done->columns[input->task->number][input->output];
    }
    return columns;
}

enum status exact_run(const struct queue *fused, const struct exact_done *done, const struct exact_options *options,
                      struct result *result, struct diags *diags)
{
    static const struct exact_done none = {0};
    struct exact exact;
    exact_init(&exact, fused->count, options, diags);
    done = done ? done : &none;
    for (size_t t = 0; t < done->count; t++)
        exact.row_counts[t] = done->rows[t];
    enum status status = STATUS_OK;
    for (size_t t = done->count; t < fused->count && status == STATUS_OK; t++) {
        const struct task *task = fused->tasks[t];
        lazy_init(&exact.tasks[t], task, find_columns(task, done, exact.arena), exact.arena);
        find_random_access(&exact, &exact.tasks[t]);
        status = columns_fetch(exact.tasks[t].columns, task->input_count, exact.cancel, task->span, diags);
    }
    for (size_t t = done->count; t < fused->count && status == STATUS_OK; t++)
        status = run_task(&exact, &exact.tasks[t], t + 1 == fused->count, result);
    exact_free(&exact);
    return status;
}

enum status exact_constant(const struct code *code, value root, const atomic_int *cancel, struct scalar *result,
                           struct diags *diags)
{
    const struct task task = {.code = *code};
    struct exact exact;
    exact_init(&exact, 1, NULL, diags);
    exact.cancel = cancel;
    lazy_init(&exact.tasks[0], &task, NULL, exact.arena);
    union datum datum;
    const enum status status = exact_value(&exact, &exact.tasks[0], 0, root, &datum);
    exact_free(&exact);
    if (status != STATUS_OK)
        return status;
    *result = datum_scalar(datum, code->at[root].kind);
    return STATUS_OK;
}
