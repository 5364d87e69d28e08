#include "engine/backend/deferred_rows.h"

#include "base/integer.h"
#include "engine/backend/memory_limit.h"
#include "engine/optimize/optimize.h"
#include "engine/storage/file_changed.h"
#include "engine/storage/residency.h"

enum {
    FEW_ROWS = 1 << 12, /* are made alone; the last ones are looked for in so many first, and then in more */
    GROWTH = 8
};

/* Why rows could not be made. */
enum failure { NOTHING_FAILED, INTERRUPTED, NO_ROOM, FILE_CHANGED, NOT_AS_BEFORE };

struct later;

/* Of one column. */
struct rest {
    struct residency residency; /* first, so that it is found from there */
    struct later *defer;
    struct column *column; /* NULL: it has all, or is gone */
};

struct later {
    struct arena *arena;
    size_t users;              /* rests that have a column */
    struct backend *evaluator; /* makes them, */
    int64_t memory;            /* and how much memory there is, */
    const atomic_int *cancel;  /* and whether the user has interrupted */
    struct task task;          /* analysed. A reference is held to each input's column, */
    struct column **read;      /* and to what is read in its place */
    struct deferred_rows left; /* as it was at first, */
    int64_t missing;           /* but that results from here on have been made since */
    struct rest *rests;        /* of each output */
    enum failure failure;      /* of what was tried last */
};

/* The first input whose file has changed, or NULL. */
static const struct column *damaged_input(const struct later *defer)
{
    const struct column *damaged = NULL;
    for (size_t k = 0; k < defer->task.input_count && !damaged; k++)
        damaged = changed_column(&defer->task.inputs[k].column, 1);
    return damaged;
}

static enum failure failure_of(const struct later *defer, enum status status, bool as_before)
{
    if (damaged_input(defer))
        return FILE_CHANGED;
    if (status == STATUS_CANCELLED)
        return INTERRUPTED;
    return status == STATUS_OK && as_before ? NOTHING_FAILED : NOT_AS_BEFORE;
}

/* Runs the task on its rows begin .. end-1. Results are written from row *at on, or only counted; *at is moved on. */
static bool run_rows(struct later *defer, int64_t begin, int64_t end, bool write, int64_t *at)
{
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    const struct task *task = &defer->task;
    struct row_sink sink = {.columns = arena_array(arena, task->output_count + 1, sizeof *sink.columns), .rows = *at};
    for (size_t k = 0; k < task->output_count && write; k++)
        sink.columns[k] = defer->rests[k].column;
    const struct job job = {
        .task = task_writing(task, sink.columns, arena),
        .columns = defer->read,
        .rows = task->rows,
        .begin = begin,
        .end = end,
        .cancel = defer->cancel,
        .diags = &diags,
    };
    bool flagged = false;
    enum status status = defer->evaluator->ops->rows(defer->evaluator, &job, &sink, &flagged);
    *at = sink.rows;
    defer->failure = failure_of(defer, status, !flagged);
    arena_free(arena);
    return defer->failure == NOTHING_FAILED;
}

/* Makes the results from row `at` on, which are `rows` and come from rows begin .. end-1 of the task. Of filtered ones,
 * what is behind them is written over. */
static bool make(struct later *defer, int64_t begin, int64_t end, int64_t at, int64_t rows)
{
    const int64_t behind = at + rows;
    if (!run_rows(defer, begin, end, true, &at))
        return false;
    if (at != behind)
        defer->failure = NOT_AS_BEFORE;
    return at == behind;
}

static int64_t row_bytes(const struct later *defer)
{
    int64_t bytes = 0;
    for (size_t k = 0; k < defer->task.output_count; k++) {
        const struct column *column = defer->rests[k].column;
        bytes += column ? (int64_t)type_table[column->store].size : 0;
    }
    return bytes;
}

static enum status check_room(const struct later *defer, struct span span, struct diags *diags)
{
    const struct deferred_rows *left = &defer->left;
    return memory_limit_check(defer->memory, left->rows, left->rows - left->made, row_bytes(defer), span, diags);
}

/* The last rows too, if they have been made before. */
static bool make_all(struct later *defer)
{
    struct deferred_rows *left = &defer->left;
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    const bool room = check_room(defer, defer->task.span, &diags) == STATUS_OK;
    arena_free(arena);
    if (!room) {
        defer->failure = NO_ROOM;
        return false;
    }
    if (!make(defer, left->begin, left->end, left->made, left->rows - left->made))
        return false;
    left->made = left->rows;
    return true;
}

/* Makes the last `wanted` results, or some more. Where they come from is looked for backwards, in more and more rows at
 * once, and then by halves. */
static bool make_last(struct later *defer, int64_t wanted)
{
    const struct deferred_rows *left = &defer->left;
    int64_t low = left->begin, high = left->end; /* too few come from the rows behind `high`, enough from `low` on: */
    int64_t behind = 0, between = left->rows - left->made;
    bool found = false;
    for (int64_t step = FEW_ROWS; high - low > FEW_ROWS;) {
        const int64_t begin = found ? low + (high - low) / 2 : max_int64(low, high - step);
        int64_t rows = 0;
        if (!run_rows(defer, begin, high, false, &rows))
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
    if (!make(defer, low, left->end, left->rows - rows, rows))
        return false;
    defer->missing = left->rows - rows;
    return true;
}

static bool fetch(struct residency *residency, int64_t begin, int64_t end)
{
    struct later *defer = ((struct rest *)residency)->defer;
    const struct deferred_rows *left = &defer->left;
    begin = max_int64(begin, left->made);
    if (begin >= min_int64(end, defer->missing))
        return true;
    if (end - begin > FEW_ROWS)
        return make_all(defer);
    if (defer->task.filter_count == 0) /* a result has the number of its row, so nothing has to be noted */
        return make(defer, begin, end, begin, end - begin);
    return end == left->rows ? make_last(defer, end - begin) : make_all(defer);
}

static enum status failure(struct residency *residency, struct span span, struct diags *diags)
{
    const struct later *defer = ((struct rest *)residency)->defer;
    const struct column *damaged = damaged_input(defer);
    switch (defer->failure) {
    case INTERRUPTED:
        return STATUS_CANCELLED;
    case NO_ROOM:
        return check_room(defer, span, diags);
    case FILE_CHANGED:
        if (damaged)
            return file_changed_error(damaged, span, diags);
        break;
    case NOTHING_FAILED:
    case NOT_AS_BEFORE:
        break;
    }
    diag_error(diags, span, "the rest of the result could not be computed");
    diag_hint(diags, "run the query that gave it again");
    return STATUS_FAILED;
}

static void release(struct later *defer)
{
    if (--defer->users > 0)
        return;
    for (size_t k = 0; k < defer->task.input_count; k++) {
        column_unref(defer->task.inputs[k].column);
        column_unref(defer->read[k]);
    }
    arena_free(defer->arena);
}

static void forget(struct residency *residency)
{
    struct rest *rest = (struct rest *)residency;
    rest->column = NULL;
    release(rest->defer);
}

/* The inputs are columns from now on, whatever gave them. */
static void hold_inputs(struct later *defer, const struct job *job, struct column *const *given, const size_t *kept)
{
    struct task *task = &defer->task;
    defer->read = arena_array(defer->arena, task->input_count + 1, sizeof(struct column *));
    for (size_t k = 0; k < task->input_count; k++) {
        task->inputs[k].task = NULL;
        task->inputs[k].column = column_ref(given[kept[k]]);
        defer->read[k] = column_ref(job->columns[kept[k]]);
    }
}

void defer_rows(struct backend *evaluator, int64_t memory, const struct job *job, struct column *const *given,
                struct column *const *columns, const struct deferred_rows *left)
{
    if (left->made >= left->rows)
        return;
    struct arena *arena = arena_new();
    struct later *defer = arena_alloc(arena, sizeof *defer);
    struct task *task = &defer->task;
    size_t *kept = arena_array(arena, job->task->input_count + 1, sizeof *kept);
    *defer = (struct later){
        .arena = arena,
        .users = 1,
        .evaluator = evaluator,
        .memory = memory,
        .cancel = job->cancel,
        .left = *left,
        .missing = left->rows,
    };
    code_init(&task->code, arena);
    task_copy(task, job->task, (struct span){0}, kept);
    task->rows = job->rows;
    task->limit = INT64_MAX;
    task->window = job->task->window;
    hold_inputs(defer, job, given, kept);
    optimize_task(task, defer->read, task->rows);
    defer->rests = arena_array(arena, task->output_count + 1, sizeof *defer->rests);
    for (size_t k = 0; k < task->output_count; k++) {
        struct rest *rest = &defer->rests[k];
        if (!columns[k])
            continue;
        *rest = (struct rest){.defer = defer, .column = columns[k]};
        rest->residency = (struct residency){.begin = left->made,
                                             .end = left->rows,
                                             .fetch = fetch,
                                             .failure = failure,
                                             .drop = forget,
                                             .arrived = forget};
        residency_add(columns[k], &rest->residency);
        defer->users++;
    }
    release(defer);
}

static struct rest *rest_of(const struct column *column)
{
    for (struct residency *residency = column->residency; residency; residency = residency->next) {
        if (residency->fetch == fetch)
            return (struct rest *)residency;
    }
    return NULL;
}

bool column_is_deferred(const struct column *column)
{
    return rest_of(column) != NULL;
}

/* Whether the column is an output that passes an input on as it is. */
static bool passes(const struct task *task, size_t output, const struct column *column)
{
    const struct instr *instr = &task->code.at[task->outputs[output].value];
    return task->filter_count == 0 && task->first == 0 && instr->op == OP_INPUT && instr->offset == 0 &&
           task->inputs[instr->integer].column == column;
}

const struct task *deferred_task(const struct relation *relation)
{
    const struct later *defer = NULL;
    for (size_t k = 0; k < relation->count && !defer; k++) {
        const struct rest *rest = rest_of(relation->columns[k]);
        defer = rest ? rest->defer : NULL;
    }
    if (!defer || defer->left.made >= defer->left.rows || defer->task.output_count != relation->count)
        return NULL;
    for (size_t k = 0; k < relation->count; k++) {
        const struct column *column = relation->columns[k];
        if (defer->rests[k].column != column && !passes(&defer->task, k, column))
            return NULL;
    }
    return &defer->task;
}
