#include "engine/backend/deferred_rows.h"

#include "base/integer.h"
#include "engine/backend/memory_limit.h"
#include "engine/optimize/optimize.h"
#include "engine/storage/file_errors.h"
#include "engine/storage/residency.h"

enum {
    FEW_ROWS = 1 << 12, /* computed alone; the search for the last rows starts with so many and grows */
    GROWTH = 8
};

/* Why rows could not be computed. */
enum failure { NOTHING_FAILED, INTERRUPTED, NO_MEMORY, FILE_CHANGED, NOT_AS_BEFORE };

struct deferred_column {
    struct residency residency; /* first: fetch is given a pointer to it */
    struct deferred *deferred;
    struct column *column; /* NULL: it has all rows, or is gone */
};

struct deferred {
    struct arena *arena;
    size_t refs;    /* of columns with deferred rows, relations and callers */
    size_t pending; /* columns with deferred rows: while there are any, the inputs are held */
    struct backend *evaluator;
    struct buffer_pool *pool; /* one reference, or NULL */
    const atomic_int *cancel;
    struct task task;                /* analysed; a reference is held to each input's column, */
    struct column **read;            /* and to the column read in its place */
    struct deferred_range range;     /* as deferred, */
    int64_t tail;                    /* but results from here on have been computed since */
    struct deferred_column *columns; /* of each output */
    enum failure failure;            /* of the last attempt */
};

/* The first input whose file has changed, or NULL. */
static const struct column *changed_input(const struct deferred *deferred)
{
    const struct column *changed = NULL;
    for (size_t k = 0; k < deferred->task.input_count && !changed; k++)
        changed = changed_column(&deferred->task.inputs[k].column, 1);
    return changed;
}

static enum failure failure_of(const struct deferred *deferred, enum status status, bool as_before)
{
    if (changed_input(deferred))
        return FILE_CHANGED;
    if (status == STATUS_CANCELLED)
        return INTERRUPTED;
    return status == STATUS_OK && as_before ? NOTHING_FAILED : NOT_AS_BEFORE;
}

/* Runs the task on its rows begin .. end-1. Results are written from row *at on, or only counted; *at is advanced. */
static bool run_rows(struct deferred *deferred, int64_t begin, int64_t end, bool write, int64_t *at)
{
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    const struct task *task = &deferred->task;
    struct row_sink sink = {.columns = arena_array(arena, task->output_count + 1, sizeof *sink.columns), .rows = *at};
    for (size_t k = 0; k < task->output_count && write; k++)
        sink.columns[k] = deferred->columns[k].column;
    const struct job job = {
        .task = task_writing(task, sink.columns, arena),
        .columns = deferred->read,
        .rows = task->rows,
        .begin = begin,
        .end = end,
        .cancel = deferred->cancel,
        .diags = &diags,
    };
    bool flagged = false;
    const enum status status = deferred->evaluator->ops->rows(deferred->evaluator, &job, &sink, &flagged);
    *at = sink.rows;
    deferred->failure = failure_of(deferred, status, !flagged);
    arena_free(arena);
    return deferred->failure == NOTHING_FAILED;
}

/* Computes results at .. at+rows-1, which come from the task's rows begin .. end-1. */
static bool compute(struct deferred *deferred, int64_t begin, int64_t end, int64_t at, int64_t rows)
{
    const int64_t behind = at + rows;
    if (!run_rows(deferred, begin, end, true, &at))
        return false;
    if (at != behind)
        deferred->failure = NOT_AS_BEFORE;
    return at == behind;
}

static int64_t row_bytes(const struct deferred *deferred)
{
    int64_t bytes = 0;
    for (size_t k = 0; k < deferred->task.output_count; k++) {
        const struct column *column = deferred->columns[k].column;
        const bool in_memory = column && !buffer_pool_holds_spilled(column->pool, column->data);
        bytes += in_memory ? (int64_t)type_table[column->store].size : 0;
    }
    return bytes;
}

static enum status check_memory(const struct deferred *deferred, struct span span, struct diags *diags)
{
    const struct deferred_range *range = &deferred->range;
    return memory_limit_check(deferred->pool, range->rows, range->rows - range->computed, row_bytes(deferred), span,
                              diags);
}

/* Computes the last rows again if they have been computed before. */
static bool compute_all(struct deferred *deferred)
{
    struct deferred_range *range = &deferred->range;
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    const bool fits = check_memory(deferred, deferred->task.span, &diags) == STATUS_OK;
    arena_free(arena);
    if (!fits) {
        deferred->failure = NO_MEMORY;
        return false;
    }
    if (!compute(deferred, range->begin, range->end, range->computed, range->rows - range->computed))
        return false;
    range->computed = range->rows;
    return true;
}

/* Computes at least the last `wanted` results of a filter. Searches backwards for the rows that they come from, in
 * growing steps and then by bisection. */
static bool compute_last(struct deferred *deferred, int64_t wanted)
{
    const struct deferred_range *range = &deferred->range;
    int64_t low = range->begin, high = range->end; /* too few results come from `high` on, enough from `low` on: */
    int64_t behind = 0, between = range->rows - range->computed;
    bool found = false;
    for (int64_t step = FEW_ROWS; high - low > FEW_ROWS;) {
        const int64_t begin = found ? low + (high - low) / 2 : max_int64(low, high - step);
        int64_t rows = 0;
        if (!run_rows(deferred, begin, high, false, &rows))
            return false;
        if (behind + rows >= wanted) {
            found = true;
            low = begin;
            between = rows;
        } else {
            high = begin;
            behind += rows;
            between -= rows;
            step *= GROWTH;
        }
    }
    const int64_t rows = between + behind;
    if (!compute(deferred, low, range->end, range->rows - rows, rows))
        return false;
    deferred->tail = range->rows - rows;
    return true;
}

static struct deferred *deferred_of(struct residency *residency)
{
    return ((struct deferred_column *)residency)->deferred;
}

static bool fetch(struct residency *residency, int64_t begin, int64_t end)
{
    struct deferred *deferred = deferred_of(residency);
    const struct deferred_range *range = &deferred->range;
    begin = max_int64(begin, range->computed);
    if (begin >= min_int64(end, deferred->tail))
        return true;
    if (end - begin > FEW_ROWS)
        return compute_all(deferred);
    if (deferred->task.filter_count == 0) /* result i comes from row i: any rows can be computed alone */
        return compute(deferred, begin, end, begin, end - begin);
    return end == range->rows ? compute_last(deferred, end - begin) : compute_all(deferred);
}

static enum status report_failure(struct residency *residency, struct span span, struct diags *diags)
{
    const struct deferred *deferred = deferred_of(residency);
    const struct column *changed = changed_input(deferred);
    switch (deferred->failure) {
    case INTERRUPTED:
        return STATUS_CANCELLED;
    case NO_MEMORY:
        return check_memory(deferred, span, diags);
    case FILE_CHANGED:
        if (changed)
            return file_changed_error(changed, span, diags);
        break;
    case NOTHING_FAILED:
    case NOT_AS_BEFORE:
        break;
    }
    return diag_error_hint(diags, span, "run the query again", "the rest of the result could not be computed");
}

static void release_inputs(struct deferred *deferred)
{
    struct task *task = &deferred->task;
    for (size_t k = 0; k < task->input_count; k++) {
        column_unref(task->inputs[k].column);
        column_unref(deferred->read[k]);
    }
    task->input_count = 0;
}

void deferred_unref(struct deferred *deferred)
{
    if (!deferred || --deferred->refs > 0)
        return;
    release_inputs(deferred);
    buffer_pool_unref(deferred->pool);
    arena_free(deferred->arena);
}

static void drop(struct residency *residency)
{
    struct deferred *deferred = deferred_of(residency);
    ((struct deferred_column *)residency)->column = NULL;
    if (--deferred->pending == 0)
        release_inputs(deferred);
    deferred_unref(deferred);
}

/* The column has been fetched piece by piece, and each piece was written to all columns. */
static void arrived(struct residency *residency)
{
    struct deferred_range *range = &deferred_of(residency)->range;
    range->computed = range->rows;
    drop(residency);
}

/* The inputs are columns from now on, whichever task computed them. */
static void hold_inputs(struct deferred *deferred, const struct job *job, struct column *const *inputs,
                        const size_t *kept)
{
    struct task *task = &deferred->task;
    deferred->read = arena_array(deferred->arena, task->input_count + 1, sizeof(struct column *));
    for (size_t k = 0; k < task->input_count; k++) {
        task->inputs[k].task = NULL;
        task->inputs[k].column = column_ref(inputs[kept[k]]);
        deferred->read[k] = column_ref(job->columns[kept[k]]);
    }
}

static void defer_column(struct deferred *deferred, size_t output, struct column *column)
{
    struct deferred_column *entry = &deferred->columns[output];
    *entry = (struct deferred_column){.deferred = deferred, .column = column};
    entry->residency = (struct residency){.begin = deferred->range.computed,
                                          .end = deferred->range.rows,
                                          .deferred = true,
                                          .fetch = fetch,
                                          .failure = report_failure,
                                          .drop = drop,
                                          .arrived = arrived};
    residency_add(column, &entry->residency);
    deferred->pending++;
    deferred->refs++;
}

struct deferred *defer_rows(struct backend *evaluator, struct buffer_pool *pool, const struct job *job,
                            struct column *const *inputs, struct column *const *columns,
                            const struct deferred_range *range)
{
    if (range->computed >= range->rows)
        return NULL;
    struct arena *arena = arena_new();
    struct deferred *deferred = arena_alloc(arena, sizeof *deferred);
    struct task *task = &deferred->task;
    size_t *kept = arena_array(arena, job->task->input_count + 1, sizeof *kept);
    *deferred = (struct deferred){
        .arena = arena,
        .refs = 1,
        .evaluator = evaluator,
        .pool = buffer_pool_ref(pool),
        .cancel = job->cancel,
        .range = *range,
        .tail = range->rows,
    };
    code_init(&task->code, arena);
    task_copy(task, job->task, (struct span){0}, kept);
    task->rows = job->rows;
    task->limit = INT64_MAX;
    task->window = job->task->window;
    hold_inputs(deferred, job, inputs, kept);
    optimize_task(task, deferred->read, task->rows);
    deferred->columns = arena_array(arena, task->output_count + 1, sizeof *deferred->columns);
    for (size_t k = 0; k < task->output_count; k++) {
        if (columns[k])
            defer_column(deferred, k, columns[k]);
    }
    return deferred;
}

void deferred_attach(struct deferred *deferred, struct relation *relation)
{
    if (!deferred)
        return;
    deferred->refs++;
    relation->deferred = deferred;
    relation->deferred_unref = deferred_unref;
}

const struct task *deferred_task(const struct relation *relation)
{
    const struct deferred *deferred = relation->deferred;
    const bool some = deferred && deferred->pending > 0 && deferred->range.computed < deferred->range.rows;
    return some ? &deferred->task : NULL;
}
