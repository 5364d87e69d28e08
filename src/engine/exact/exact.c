/* The exact evaluator's walk over the rows of a queue; the values themselves are exact_lazy.c's. */
#include "engine/exact/exact.h"

#include "engine/backend/user_reduce.h"
#include "engine/exact/exact_lazy.h"
#include "engine/exact/exact_operator.h"
#include "engine/exact/failure.h"
#include "engine/plan/result.h"
#include "engine/plan/row_count.h"
#include "engine/storage/residency.h"

/* What to do with a row that passed the filters and the window. */
typedef enum status keep_fn(struct exact *exact, struct lazy_task *lazy, int64_t row);

static enum status list_row(struct exact *exact, struct lazy_task *lazy, int64_t row)
{
    (void)exact;
    *(int64_t *)column_at(lazy->kept, lazy->count++) = row;
    return STATUS_OK;
}

static enum status passes(struct exact *exact, struct lazy_task *lazy, int64_t row, bool *passed)
{
    const struct task *task = lazy->task;
    *passed = true;
    for (size_t i = 0; i < task->filter_count && *passed; i++) {
        union datum keep;
        enum status status = exact_value(exact, lazy, row, task->filters[i].keep, &keep);
        if (status != STATUS_OK)
            return status;
        *passed = keep.integer != 0;
    }
    return STATUS_OK;
}

/* Filters every row of the task and keeps those that pass and lie between the window's skip and take. */
static enum status filter_rows(struct exact *exact, struct lazy_task *lazy, int64_t rows, keep_fn *keep)
{
    const struct window *window = &lazy->task->window;
    int64_t passed_rows = 0;
    for (int64_t row = 0; row < rows; row++) {
        bool passed;
        enum status status = passes(exact, lazy, row, &passed);
        if (status != STATUS_OK)
            return status;
        if (exact_cancelled(exact))
            return STATUS_CANCELLED;
        if (!passed)
            continue;
        int64_t number = passed_rows++ - window->skip;
        if (number >= 0 && number < window->take)
            status = keep(exact, lazy, row);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* Finds out which rows the task's results are, without computing them. */
static enum status map_rows(struct exact *exact, struct lazy_task *lazy, int64_t rows)
{
    const struct task *task = lazy->task;
    int64_t end;
    if (task->filter_count == 0) {
        rows_kept(&task->window, rows, &lazy->begin, &end);
        lazy->count = end - lazy->begin;
        return STATUS_OK;
    }
    lazy->kept = column_reserve(TYPE_I64, TYPE_I64, rows);
    if (!lazy->kept)
        return exact_no_memory(exact, task, rows);
    enum status status = filter_rows(exact, lazy, rows, list_row);
    if (status != STATUS_OK || task->window.tail < 0)
        return status;
    rows_kept(&task->window, lazy->count, &lazy->begin, &end);
    for (int64_t i = lazy->begin; i < end && lazy->begin > 0; i++)
        *(int64_t *)column_at(lazy->kept, i - lazy->begin) = column_get_int(lazy->kept, i);
    lazy->count = end - lazy->begin;
    return STATUS_OK;
}

static enum status give_row(struct exact *exact, struct lazy_task *lazy, int64_t row)
{
    const struct task *task = lazy->task;
    for (size_t k = 0; k < task->output_count; k++) {
        union datum datum;
        enum status status = exact_value(exact, lazy, row, task->outputs[k].value, &datum);
        if (status != STATUS_OK)
            return status;
        column_set_datum(exact->columns[k], exact->columns[k]->rows++, datum);
    }
    return STATUS_OK;
}

static enum status fold_failed(const struct exact *exact, const struct lazy_task *lazy,
                               const struct aggregate *aggregate, struct scalar left, struct scalar right, int64_t row)
{
    struct scalar unread;
    struct failure failure = {0};
    user_reduce_explain(aggregate->reducer, left, right, &unread, &failure);
    failure.task = lazy->task;
    failure.row = lazy->task->first + row;
    return fail_operation(&failure, exact->diags);
}

static enum status add_to_state(struct exact *exact, struct lazy_task *lazy, size_t i, int64_t row, union datum datum)
{
    const struct aggregate *aggregate = &lazy->task->aggregates[i];
    struct agg_state *state = &exact->states[i];
    struct scalar scalar = datum_scalar(datum, state->type);
    agg_add(state, &scalar);
    return state->failed ? fold_failed(exact, lazy, aggregate, state->folded, scalar, row) : STATUS_OK;
}

static enum status aggregate_row(struct exact *exact, struct lazy_task *lazy, int64_t row)
{
    const struct task *task = lazy->task;
    for (size_t i = 0; i < task->aggregate_count; i++) {
        value v = task->aggregates[i].value;
        union datum datum = {0};
        enum status status = v == NO_VALUE ? STATUS_OK : exact_value(exact, lazy, row, v, &datum);
        if (status != STATUS_OK)
            return status;
        status = add_to_state(exact, lazy, i, row, datum);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* Filters and uses the rows of the last task in one pass, so that the first failing row is found; a tail is only known
 * once all rows have been filtered. */
static enum status use_rows(struct exact *exact, struct lazy_task *lazy, int64_t rows, keep_fn *use)
{
    if (lazy->task->filter_count > 0 && lazy->task->window.tail < 0)
        return filter_rows(exact, lazy, rows, use);
    enum status status = map_rows(exact, lazy, rows);
    for (int64_t i = 0; i < lazy->count && status == STATUS_OK; i++) {
        status = use(exact, lazy, lazy->kept ? column_get_int(lazy->kept, i) : lazy->begin + i);
        if (exact_cancelled(exact))
            return STATUS_CANCELLED;
    }
    return status;
}

static enum status last_aggregates(struct exact *exact, struct lazy_task *lazy, int64_t rows, struct result *result)
{
    const struct task *task = lazy->task;
    exact->states = arena_array(exact->arena, task->aggregate_count, sizeof *exact->states);
    for (size_t i = 0; i < task->aggregate_count; i++)
        agg_init(&exact->states[i], &task->aggregates[i], &task->code);
    for (size_t i = 0; i < task->aggregate_count; i++)
        agg_begin(&exact->states[i], &task->aggregates[i]);
    enum status status = use_rows(exact, lazy, rows, aggregate_row);
    if (status != STATUS_OK)
        return status;
    bool certain;
    result->kind = RESULT_SCALAR;
    return agg_finish(&exact->states[0], &task->aggregates[0], &result->scalar, &certain, exact->diags);
}

/* The rows of a breaker, once it has found out which they are. */
static enum status give_broken_rows(struct exact *exact, struct lazy_task *lazy)
{
    enum status status = STATUS_OK;
    for (int64_t row = 0; row < lazy->count && status == STATUS_OK; row++) {
        for (size_t k = 0; k < lazy->task->output_count && status == STATUS_OK; k++) {
            union datum datum = {0};
            status = exact_output(exact, lazy, k, row, &datum);
            column_set_datum(exact->columns[k], exact->columns[k]->rows++, datum);
        }
        if (exact_cancelled(exact))
            return STATUS_CANCELLED;
    }
    return status;
}

static enum status last_rows(struct exact *exact, struct lazy_task *lazy, int64_t rows, struct result *result)
{
    const struct task *task = lazy->task;
    bool breaks = task->sink == SINK_OPERATOR;
    const char **names = arena_array(exact->arena, task->output_count, sizeof *names);
    exact->columns = arena_array(exact->arena, task->output_count, sizeof(struct column *));
    enum status status = breaks ? exact_break(exact, lazy) : STATUS_OK;
    int64_t most = breaks ? lazy->count : rows;
    for (size_t k = 0; k < task->output_count && status == STATUS_OK; k++) {
        names[k] = task->outputs[k].name;
        exact->columns[k] = column_reserve(task->outputs[k].type, task->outputs[k].type, most);
        if (!exact->columns[k])
            status = exact_no_memory(exact, task, most);
    }
    if (status == STATUS_OK)
        status = breaks ? give_broken_rows(exact, lazy) : use_rows(exact, lazy, rows, give_row);
    for (size_t k = 0; k < task->output_count && status == STATUS_OK; k++)
        column_finish(exact->columns[k], exact->columns[k]->rows);
    if (status == STATUS_OK) {
        int64_t given = task->output_count > 0 ? exact->columns[0]->rows : 0;
        result->kind = RESULT_RELATION;
        result->relation = relation_new(given, task->output_count, exact->columns, names);
    }
    for (size_t k = 0; k < task->output_count; k++)
        column_unref(exact->columns[k]);
    return status;
}

/* Keeps the values of outputs that are read out of order: each would else be computed for every reader of it, and what
 * it is computed from once more each. If there is no memory for that, they are. */
static void keep_jumps(struct lazy_task *lazy)
{
    const struct task *task = lazy->task;
    for (size_t k = 0; k < task->output_count; k++) {
        struct kept_values *kept = &lazy->outputs[k];
        if (!lazy->jumps[k] || kept->values || task->outputs[k].value == NO_VALUE)
            continue;
        enum type type = type_of_kind(type_table[task->outputs[k].type].kind);
        kept->values = column_reserve(type, type, lazy->count);
        kept->states = column_reserve(TYPE_U8, TYPE_U8, lazy->count);
        if (kept->values && kept->states)
            continue;
        column_unref(kept->values);
        column_unref(kept->states);
        *kept = (struct kept_values){0};
    }
}

static enum status run_task(struct exact *exact, struct lazy_task *lazy, bool last, struct result *result)
{
    int64_t rows;
    enum status status = rows_read(lazy->task, exact->given, &rows, exact->diags);
    if (status != STATUS_OK)
        return status;
    lazy->rows = rows;
    if (last && lazy->task->sink == SINK_AGGREGATE)
        status = last_aggregates(exact, lazy, rows, result);
    else if (last)
        status = last_rows(exact, lazy, rows, result);
    else if (lazy->task->sink == SINK_OPERATOR)
        status = exact_break(exact, lazy);
    else
        status = map_rows(exact, lazy, rows);
    exact->given[lazy->task->number] = lazy->count;
    if (status == STATUS_OK && !last)
        keep_jumps(lazy);
    return status;
}

/* Notes which outputs of earlier tasks a task reads at other rows than its own. */
static void find_jumps(struct exact *exact, const struct task *task)
{
    bool *live = arena_array(exact->arena, (size_t)task->code.count, sizeof *live);
    task_mark_live(task, live);
    for (value v = 0; v < task->code.count; v++) {
        const struct instr *instr = &task->code.at[v];
        if (!live[v] || !(instr->op == OP_GATHER || (instr->op == OP_INPUT && instr->offset != 0)))
            continue;
        const struct input *input = &task->inputs[instr->integer];
        if (input->task)
            exact->tasks[input->task->number].jumps[input->output] = true;
    }
}

static enum status fetch_sources(const struct queue *fused, const atomic_int *cancel, struct diags *diags)
{
    enum status status = STATUS_OK;
    for (size_t t = 0; t < fused->count; t++) {
        const struct task *task = fused->tasks[t];
        for (size_t k = 0; k < task->input_count && status == STATUS_OK; k++)
            status = columns_fetch(&task->inputs[k].column, 1, cancel, task->span, diags);
    }
    return status;
}

enum status exact_run(const struct queue *fused, struct result *result, const atomic_int *cancel, struct diags *diags)
{
    struct exact exact = {.arena = arena_new(), .cancel = cancel, .diags = diags};
    exact.tasks = arena_array(exact.arena, fused->count, sizeof *exact.tasks);
    exact.given = arena_array(exact.arena, fused->count, sizeof *exact.given);
    for (size_t t = 0; t < fused->count; t++) {
        lazy_init(&exact.tasks[t], fused->tasks[t], exact.arena);
        find_jumps(&exact, fused->tasks[t]);
    }
    enum status status = fetch_sources(fused, cancel, diags);
    for (size_t t = 0; t < fused->count && status == STATUS_OK; t++)
        status = run_task(&exact, &exact.tasks[t], t + 1 == fused->count, result);
    for (size_t t = 0; t < fused->count; t++)
        lazy_release(&exact.tasks[t]);
    arena_free(exact.arena);
    return status;
}

enum status exact_constant(const struct code *code, value root, struct scalar *result, struct diags *diags)
{
    const struct task task = {.code = *code};
    struct exact exact = {.arena = arena_new(), .diags = diags};
    struct lazy_task lazy = {0};
    lazy_init(&lazy, &task, exact.arena);
    union datum datum;
    enum status status = exact_value(&exact, &lazy, 0, root, &datum);
    arena_free(exact.arena);
    if (status != STATUS_OK)
        return status;
    *result = datum_scalar(datum, code->at[root].kind);
    return STATUS_OK;
}
