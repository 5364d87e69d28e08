#include "engine/backend/deferred_rows.h"

#include "base/integer.h"
#include "engine/backend/memory_limit.h"
#include "engine/optimize/range_analysis.h"
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
    struct away away; /* first, so that it is found from there */
    struct later *later;
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
    struct left left;          /* as it was at first, */
    int64_t missing;           /* but that results from here on have been made since */
    struct rest *rests;        /* of each output */
    enum failure failure;      /* of what was tried last */
};

/* The first input whose file has changed, or NULL. */
static const struct column *damaged_input(const struct later *later)
{
    const struct column *damaged = NULL;
    for (size_t k = 0; k < later->task.input_count && !damaged; k++)
        damaged = damaged_column(&later->task.inputs[k].column, 1);
    return damaged;
}

static enum failure failure_of(const struct later *later, enum status status, bool as_before)
{
    if (damaged_input(later))
        return FILE_CHANGED;
    if (status == STATUS_CANCELLED)
        return INTERRUPTED;
    return status == STATUS_OK && as_before ? NOTHING_FAILED : NOT_AS_BEFORE;
}

/* Runs the task on its rows begin .. end-1. Results are written from row *at on, or only counted; *at is moved on. */
static bool run_rows(struct later *later, int64_t begin, int64_t end, bool write, int64_t *at)
{
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    struct task task = later->task;
    task.outputs = arena_grow(arena, task.outputs, task.output_count, task.output_count + 1, sizeof *task.outputs);
    struct row_sink sink = {.columns = arena_array(arena, task.output_count + 1, sizeof *sink.columns), .rows = *at};
    for (size_t k = 0; k < task.output_count; k++) {
        sink.columns[k] = write ? later->rests[k].column : NULL;
        task.outputs[k].needed = sink.columns[k] != NULL;
    }
    const struct job job = {
        .task = &task,
        .columns = later->read,
        .rows = task.rows,
        .begin = begin,
        .end = end,
        .cancel = later->cancel,
        .diags = &diags,
    };
    bool flagged = false;
    enum status status = later->evaluator->ops->rows(later->evaluator, &job, &sink, &flagged);
    *at = sink.rows;
    later->failure = failure_of(later, status, !flagged);
    arena_free(arena);
    return later->failure == NOTHING_FAILED;
}

/* Makes the results from row `at` on, which are `rows` and come from rows begin .. end-1 of the task. Of filtered ones,
 * what is behind them is written over. */
static bool make(struct later *later, int64_t begin, int64_t end, int64_t at, int64_t rows)
{
    const int64_t behind = at + rows;
    if (!run_rows(later, begin, end, true, &at))
        return false;
    if (at != behind)
        later->failure = NOT_AS_BEFORE;
    return at == behind;
}

static int64_t row_bytes(const struct later *later)
{
    int64_t bytes = 0;
    for (size_t k = 0; k < later->task.output_count; k++) {
        const struct column *column = later->rests[k].column;
        bytes += column ? (int64_t)type_table[column->store].size : 0;
    }
    return bytes;
}

static enum status check_room(const struct later *later, struct span span, struct diags *diags)
{
    const struct left *left = &later->left;
    return room_check(later->memory, left->rows, left->rows - left->made, row_bytes(later), span, diags);
}

/* The last rows too, if they have been made before. */
static bool make_all(struct later *later)
{
    struct left *left = &later->left;
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    const bool room = check_room(later, later->task.span, &diags) == STATUS_OK;
    arena_free(arena);
    if (!room) {
        later->failure = NO_ROOM;
        return false;
    }
    if (!make(later, left->begin, left->end, left->made, left->rows - left->made))
        return false;
    left->made = left->rows;
    return true;
}

/* Makes the last `wanted` results, or some more. Where they come from is looked for backwards, in more and more rows at
 * once, and then by halves. */
static bool make_last(struct later *later, int64_t wanted)
{
    const struct left *left = &later->left;
    int64_t low = left->begin, high = left->end; /* too few come from the rows behind `high`, enough from `low` on: */
    int64_t behind = 0, between = left->rows - left->made;
    bool found = false;
    for (int64_t step = FEW_ROWS; high - low > FEW_ROWS;) {
        const int64_t begin = found ? low + (high - low) / 2 : greatest(low, high - step);
        int64_t rows = 0;
        if (!run_rows(later, begin, high, false, &rows))
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
    if (!make(later, low, left->end, left->rows - rows, rows))
        return false;
    later->missing = left->rows - rows;
    return true;
}

static bool fetch(struct away *away, int64_t begin, int64_t end)
{
    struct later *later = ((struct rest *)away)->later;
    const struct left *left = &later->left;
    begin = greatest(begin, left->made);
    if (begin >= least(end, later->missing))
        return true;
    if (end - begin > FEW_ROWS)
        return make_all(later);
    if (later->task.filter_count == 0) /* a result has the number of its row, so nothing has to be noted */
        return make(later, begin, end, begin, end - begin);
    return end == left->rows ? make_last(later, end - begin) : make_all(later);
}

static enum status failure(struct away *away, struct span span, struct diags *diags)
{
    const struct later *later = ((struct rest *)away)->later;
    const struct column *damaged = damaged_input(later);
    switch (later->failure) {
    case INTERRUPTED:
        return STATUS_CANCELLED;
    case NO_ROOM:
        return check_room(later, span, diags);
    case FILE_CHANGED:
        if (damaged)
            return damage_error(damaged, span, diags);
        break;
    case NOTHING_FAILED:
    case NOT_AS_BEFORE:
        break;
    }
    diag_error(diags, span, "the rest of the result could not be computed");
    diag_hint(diags, "run the query that gave it again");
    return STATUS_FAILED;
}

static void release(struct later *later)
{
    if (--later->users > 0)
        return;
    for (size_t k = 0; k < later->task.input_count; k++) {
        column_unref(later->task.inputs[k].column);
        column_unref(later->read[k]);
    }
    arena_free(later->arena);
}

static void forget(struct away *away)
{
    struct rest *rest = (struct rest *)away;
    rest->column = NULL;
    release(rest->later);
}

/* The inputs are columns from now on, whatever gave them. */
static void hold_inputs(struct later *later, const struct job *job, struct column *const *given, const size_t *kept)
{
    struct task *task = &later->task;
    later->read = arena_array(later->arena, task->input_count + 1, sizeof(struct column *));
    for (size_t k = 0; k < task->input_count; k++) {
        task->inputs[k].task = NULL;
        task->inputs[k].column = column_ref(given[kept[k]]);
        later->read[k] = column_ref(job->columns[kept[k]]);
    }
}

void later_leave(struct backend *evaluator, int64_t memory, const struct job *job, struct column *const *given,
                 struct column *const *columns, const struct left *left)
{
    if (left->made >= left->rows)
        return;
    struct arena *arena = arena_new();
    struct later *later = arena_alloc(arena, sizeof *later);
    struct task *task = &later->task;
    size_t *kept = arena_array(arena, job->task->input_count + 1, sizeof *kept);
    *later = (struct later){
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
    hold_inputs(later, job, given, kept);
    range_analyse(task, later->read, task->rows); /* and no guards: nothing in it fails */
    later->rests = arena_array(arena, task->output_count + 1, sizeof *later->rests);
    for (size_t k = 0; k < task->output_count; k++) {
        struct rest *rest = &later->rests[k];
        if (!columns[k])
            continue;
        *rest = (struct rest){.later = later, .column = columns[k]};
        rest->away = (struct away){.begin = left->made,
                                   .end = left->rows,
                                   .fetch = fetch,
                                   .failure = failure,
                                   .drop = forget,
                                   .arrived = forget};
        away_add(columns[k], &rest->away);
        later->users++;
    }
    release(later);
}

static struct rest *rest_of(const struct column *column)
{
    for (struct away *away = column->away; away; away = away->next) {
        if (away->fetch == fetch)
            return (struct rest *)away;
    }
    return NULL;
}

bool later_has(const struct column *column)
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

const struct task *later_task(const struct relation *relation)
{
    const struct later *later = NULL;
    for (size_t k = 0; k < relation->count && !later; k++) {
        const struct rest *rest = rest_of(relation->columns[k]);
        later = rest ? rest->later : NULL;
    }
    if (!later || later->left.made >= later->left.rows || later->task.output_count != relation->count)
        return NULL;
    for (size_t k = 0; k < relation->count; k++) {
        const struct column *column = relation->columns[k];
        if (later->rests[k].column != column && !passes(&later->task, k, column))
            return NULL;
    }
    return &later->task;
}
