#include "engine/run/provide.h"

#include "engine/backend/memory_limit.h"
#include "engine/storage/list_slices.h"
#include "engine/storage/residency.h"
#include "engine/storage/unsorted_column.h"
#include "engine/task/run_queue.h"

#include <string.h>

/* The tasks that come before the one of these calls, and a copy of that which computes their arguments. */
struct arguments {
    struct queue queue;
    struct task *task;
};

static size_t tasks_before(const struct task *task)
{
    size_t count = task->rows_from ? task->rows_from->number + 1 : 0;
    for (size_t k = 0; k < task->input_count; k++) {
        const struct task *from = task->inputs[k].task;
        count = from && from->number + 1 > count ? from->number + 1 : count;
    }
    for (size_t k = 0; k < task->equal_count; k++)
        count = task->equals[k]->number + 1 > count ? task->equals[k]->number + 1 : count;
    return count;
}

static void begin(struct arguments *arguments, const struct queue *queue, const struct task *of, size_t outputs,
                  struct arena *arena)
{
    const size_t before = tasks_before(of);
    struct task *task = task_clone(of, arena);
    task->number = before;
    task->filter_count = 0;
    task->window = (struct window){.take = INT64_MAX, .tail = -1};
    task->sink = SINK_ROWS;
    task->aggregate_count = 0;
    task->column_op = NULL;
    task->unlowered = NULL;
    task->outputs = arena_array(arena, outputs, sizeof *task->outputs);
    task->output_count = 0;
    queue_init(&arguments->queue, arena);
    arguments->queue.tasks = arena_array(arena, before + 1, sizeof(struct task *));
    if (before > 0)
        memcpy((void *)arguments->queue.tasks, (const void *)queue->tasks, before * sizeof(struct task *));
    arguments->queue.tasks[before] = task;
    arguments->queue.count = arguments->queue.capacity = before + 1;
    arguments->queue.text_applications = queue->text_applications;
    arguments->queue.text_application_count = queue->text_application_count;
    arguments->task = task;
}

static void add_output(struct arguments *arguments, value v, struct logical_type logical)
{
    struct task *task = arguments->task;
    task->outputs[task->output_count++] = (struct output){.value = v,
                                                          .name = "argument",
                                                          .type = type_of_kind(task->code.at[v].kind),
                                                          .logical = logical,
                                                          .needed = true};
}

/* Whether the values depend on a text that is not made yet. */
static bool reads_texts(const struct queue *queue, struct arena *arena)
{
    bool found = false;
    queue_prune(queue);
    for (size_t t = 0; t < queue->count && !found; t++) {
        const struct task *task = queue->tasks[t];
        const bool *live = task_live(task, arena);
        for (value v = 0; v < task->code.count && !found; v++)
            found = live[v] && task->code.at[v].op == OP_TEXT;
    }
    return found;
}

/* Bools of a column that is on the host. */
static struct row_argument argument_of_column(const struct column *column, const struct column *present)
{
    return (struct row_argument){.kind = type_table[column->type].kind,
                                 .logical = column->logical,
                                 .store = column->store,
                                 .elements = column->rows > 0 ? column->data : (const void *)"",
                                 .present = present && present->rows > 0 ? present->data : NULL};
}

static struct column *column_of_values(const struct text_lookup *results)
{
    struct column *column = column_reserve(results->type, results->type, results->count);
    if (!column)
        return NULL;
    if (results->count > 0)
        memcpy(column_at(column, 0), results->values, (size_t)results->count * type_table[results->type].size);
    column_finish(column, results->count);
    column_set_logical(column, results->logical);
    if (results->logical.dictionary) {
        column->range_known = true;
        column->hi = results->logical.dictionary->count > 0 ? results->logical.dictionary->count - 1 : 0;
    }
    return column;
}

static struct column *column_of_results(struct buffer_pool *pool, const struct text_lookup *results)
{
    struct column *column = results->values ? column_of_values(results)
                                            : column_of_places(pool, results->logical.dictionary, results->present);
    if (column && results->present) {
        struct column *validity = column_reserve(TYPE_BOOL, TYPE_BOOL, results->count);
        if (validity) {
            memcpy(column_at(validity, 0), results->present, (size_t)results->count);
            column_finish(validity, results->count);
        }
        column_set_validity(column, validity);
    }
    return column;
}

/* Makes the lists of a call: of the values, and the numbers of groups. */
static enum status collect(struct buffer_pool *pool, struct row_text *text, const struct relation *relation,
                           size_t *next, struct diags *diags)
{
    const struct column *values = relation->columns[(*next)++];
    const struct column *present = text->arguments[0].present == NO_VALUE ? NULL : relation->columns[(*next)++];
    const struct column *ids = text->is_constant[1] ? NULL : relation->columns[(*next)++];
    text->column = column_of_groups(pool, values, present, ids);
    return text->column ? STATUS_OK : diag_no_memory(diags, text->span, "not enough memory");
}

/* Makes the slices of a call: of a list, and the ends. */
static enum status slice(struct row_text *text, const struct relation *relation, size_t *next, struct diags *diags)
{
    struct row_value values[3] = {{0}};
    for (size_t k = 0; k < 3; k++) {
        values[k].constant = (int64_t)text->constants[k].integer;
        values[k].missing = text->is_constant[k] && text->constants[k].missing;
        values[k].column = text->is_constant[k] ? NULL : relation->columns[(*next)++];
        if (!text->is_constant[k] && text->arguments[k].present != NO_VALUE)
            values[k].present = relation->columns[(*next)++];
    }
    text->column = column_of_slices(&values[0], &values[1], &values[2]);
    return text->column ? STATUS_OK : diag_no_memory(diags, text->span, "not enough memory");
}

/* What the texts of groups take at least: a character and a separator for each row, while they are made and in the
 * dictionary, and where each row's is. */
static int64_t least_bytes(const struct row_text *text, int64_t rows)
{
    return rows * (int64_t)(2 * (1 + text->separator->length) + sizeof(int32_t) + 1);
}

/* Makes the texts of one call, whose arguments that are no constants are the columns from `next` on. */
static enum status make(struct runner *runner, struct row_text *text, const struct relation *relation, size_t *next,
                        struct arena *arena, struct diags *diags)
{
    if (text->makes == ROW_COLLECTS)
        return collect(runner->pool, text, relation, next, diags);
    if (text->makes == ROW_SLICES)
        return slice(text, relation, next, diags);
    const struct workers workers = {.threads = parallel_threads(), .cancel = runner->cancel, .pool = runner->pool};
    struct row_argument *arguments = arena_array(arena, text->count, sizeof *arguments);
    struct column **list_texts = arena_array(arena, text->count, sizeof(struct column *));
    enum status status = STATUS_OK;
    for (size_t k = 0; k < text->count; k++) {
        const struct term *term = &text->arguments[k];
        if (text->is_constant[k]) {
            arguments[k] = (struct row_argument){
                .kind = text->constants[k].kind, .logical = text->constants[k].logical, .constant = text->constants[k]};
            continue;
        }
        struct column *column = relation->columns[(*next)++];
        const struct column *present = term->present == NO_VALUE ? NULL : relation->columns[(*next)++];
        if (term->logical.kind == LOGICAL_LIST) {
            column = list_texts[k] = column_of_list_texts(column);
            if (!column) {
                status = diag_no_memory(diags, text->span, "not enough memory");
                break;
            }
        }
        arguments[k] = argument_of_column(column, present);
    }
    const struct row_call call = {text->format,   text->function,  arguments, text->count,
                                  relation->rows, text->separator, true};
    struct text_lookup results;
    if (status == STATUS_OK && text->separator)
        status = memory_held_check(runner->pool, least_bytes(text, relation->rows), text->span, diags);
    if (status == STATUS_OK)
        status = row_texts_make(&call, &workers, text->span, diags, &results);
    columns_unref(list_texts, text->count);
    if (status != STATUS_OK)
        return status;
    if (results.wrong)
        diag_note(diags, text->span, "`%s`, in some rows: %s", text->function->name, results.wrong);
    text->column = column_of_results(runner->pool, &results);
    text_lookup_free(&results);
    return text->column ? STATUS_OK : diag_no_memory(diags, text->span, "not enough memory");
}

/* Those of the calls that the task has. *made: they could be made. */
static enum status make_of_task(struct runner *runner, struct facts *facts, const struct queue *queue,
                                const struct row_texts *needed, const struct task *task, bool *made,
                                struct arena *arena, struct diags *diags)
{
    struct arguments arguments;
    size_t outputs = 0, next = 0;
    for (size_t i = 0; i < needed->count; i++)
        outputs += needed->at[i]->task == task ? 2 * needed->at[i]->count : 0;
    begin(&arguments, queue, task, outputs + 1, arena);
    struct row_texts ready = {0};
    for (size_t i = 0; i < needed->count; i++) {
        struct row_text *text = needed->at[i];
        const size_t before = arguments.task->output_count;
        if (text->task != task)
            continue;
        for (size_t k = 0; k < text->count; k++) {
            const struct term *term = &text->arguments[k];
            if (text->is_constant[k])
                continue;
            add_output(&arguments, term->value, term->logical);
            if (term->present != NO_VALUE)
                add_output(&arguments, term->present, (struct logical_type){0});
        }
        if (reads_texts(&arguments.queue, arena))
            arguments.task->output_count = before;
        else
            row_texts_add(&ready, text, arena);
    }
    if (ready.count == 0)
        return STATUS_OK;
    (void)reads_texts(&arguments.queue, arena); /* marks what is needed of them */
    struct result result = {0};
    enum status status = run_queue(runner, &arguments.queue, DEFER_NEVER, &result, diags);
    if (status == STATUS_OK)
        status = relation_fetch(result.relation, 0, result.relation->rows, ready.at[0]->span, diags);
    for (size_t i = 0; i < ready.count && status == STATUS_OK; i++) {
        status = make(runner, ready.at[i], result.relation, &next, arena, diags);
        if (status == STATUS_OK)
            row_texts_add(&facts->row_texts, ready.at[i], arena);
    }
    result_release(&result);
    *made = true;
    return status;
}

enum status provide_row_texts(struct runner *runner, struct facts *facts, const struct queue *queue,
                              const struct needs *needs, struct arena *arena, struct diags *diags)
{
    const struct row_texts *needed = &needs->row_texts;
    enum status status = STATUS_OK;
    bool made = false;
    for (size_t i = 0; i < needed->count && status == STATUS_OK; i++) {
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = needed->at[k]->task == needed->at[i]->task;
        if (!seen)
            status = make_of_task(runner, facts, queue, needed, needed->at[i]->task, &made, arena, diags);
    }
    if (status == STATUS_OK && !made)
        status =
            diag_error(diags, needed->at[0]->span, "this text cannot be computed here; compute it in a stage before");
    return status;
}

enum status order_texts(const struct runner *runner, struct facts *facts, struct diags *diags)
{
    const struct workers workers = {.threads = parallel_threads(), .cancel = runner->cancel, .pool = runner->pool};
    for (size_t i = 0; i < facts->row_texts.count; i++) {
        struct row_text *text = facts->row_texts.at[i];
        if (!text->ordered || !column_is_unsorted(text->column))
            continue;
        struct column *ordered = unsorted_in_order(text->column, &workers);
        if (!ordered)
            return workers_cancelled(&workers)
                       ? STATUS_CANCELLED
                       : diag_no_memory(diags, text->span, "not enough memory to put these texts in order");
        column_unref(text->column);
        text->column = ordered;
    }
    return evaluations_order(&facts->evaluations, &workers, diags);
}
