/* Moving aggregates: the windows of rows, and their parts. */
#include "engine/moving/moving.h"

#include "base/heap.h"
#include "engine/operators/operator.h"

#include <stdlib.h>

enum { FEWEST_ROWS = 1 << 16, WINDOWS_A_PART = 4, PARTS_OF_ALL = 4 };

/* The last row of the group, plus 1: its size is doubled until another group begins. */
static int64_t end_of_group(const struct moving *moving, int64_t row)
{
    if (!moving->groups)
        return moving->rows;
    const int64_t group = column_get_int(moving->groups, row);
    int64_t inside = row, step = 1;
    while (inside + step < moving->rows && column_get_int(moving->groups, inside + step) == group) {
        inside += step;
        step *= 2;
    }
    int64_t outside = min_int64(inside + step, moving->rows);
    while (outside - inside > 1) {
        const int64_t middle = inside + (outside - inside) / 2;
        if (column_get_int(moving->groups, middle) == group)
            inside = middle;
        else
            outside = middle;
    }
    return inside + 1;
}

static int64_t begin_of_group(const struct moving *moving, int64_t row)
{
    if (!moving->groups)
        return 0;
    const int64_t group = column_get_int(moving->groups, row);
    int64_t outside = -1, inside = row;
    while (inside - outside > 1) {
        const int64_t middle = outside + (inside - outside) / 2;
        if (column_get_int(moving->groups, middle) == group)
            inside = middle;
        else
            outside = middle;
    }
    return inside;
}

/* The first row of from..to-1 whose time is at least, or above, `time`. */
static int64_t first_at(const struct moving *moving, int64_t from, int64_t to, int128 time, bool above)
{
    while (from < to) {
        const int64_t middle = from + (to - from) / 2;
        const int64_t there = column_get_int(moving->times, middle);
        if (above ? there > time : there >= time)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

static void note_unsorted(struct moving *moving, int64_t row)
{
    int64_t seen = moving->unsorted;
    while (row < seen && !atomic_compare_exchange_weak(&moving->unsorted, &seen, row))
        continue;
}

static void check_sorted(struct moving_part *part, int64_t row)
{
    if (row > part->group_first && column_get_int(part->moving->times, row - 1) > element_integer(&part->time, row))
        note_unsorted(part->moving, row);
}

/* The window of a row by its time; the rows before it in the part have had theirs. */
static void window_by_time(struct moving_part *part, int64_t row, bool begins, int64_t *first, int64_t *last)
{
    const struct moving *moving = part->moving;
    const struct moving_operator *op = moving->op;
    const int64_t time = element_integer(&part->time, row);
    const int128 from = (int128)time + op->first, to = (int128)time + op->last; /* may be beyond all times */
    if (begins) {
        part->behind =
            op->from_first ? part->group_first : first_at(moving, part->group_first, part->group_end, from, false);
        part->ahead = op->to_last ? part->group_end : first_at(moving, part->group_first, part->group_end, to, true);
    }
    while (!op->from_first && part->behind < part->group_end &&
           element_integer(&part->time_behind, part->behind) < from)
        part->behind++;
    while (!op->to_last && part->ahead < part->group_end && element_integer(&part->time_ahead, part->ahead) <= to)
        part->ahead++;
    *first = part->behind;
    *last = max_int64(part->behind, part->ahead);
}

static void set_windows(struct moving_part *part, int64_t row, int64_t count, int64_t *first, int64_t *last)
{
    const struct moving *moving = part->moving;
    const struct moving_operator *op = moving->op;
    int64_t i = 0;
    if (!moving->times && row < part->group_end && op->from_first && !op->to_last && op->last == 0) {
        for (; i < count && row + i < part->group_end; i++) { /* the group's rows so far */
            first[i] = part->group_first;
            last[i] = row + i + 1;
        }
    }
    for (; i < count; i++) {
        const int64_t at = row + i;
        const bool begins = at >= part->group_end;
        if (begins) {
            part->group_first = at == part->begin ? begin_of_group(moving, at) : at;
            part->group_end = end_of_group(moving, at);
        }
        if (moving->times)
            check_sorted(part, at);
        if (moving->times && !op->only_sorted) {
            window_by_time(part, at, begins, &first[i], &last[i]);
            continue;
        }
        first[i] = op->from_first ? part->group_first
                                  : clamp_int64((int128)at + op->first, part->group_first, part->group_end);
        last[i] =
            op->to_last ? part->group_end : clamp_int64((int128)at + op->last + 1, part->group_first, part->group_end);
        last[i] = max_int64(first[i], last[i]);
    }
}

/* Extremes of windows that lose rows at their beginning only are those of the rows behind, which are added one by one
 * from the end. */
static bool goes_backwards(const struct moving_operator *op)
{
    return aggregate_table[op->kind].extreme && op->to_last && !op->from_first;
}

static void run_backwards(struct moving_part *part)
{
    const int64_t rows = part->end - part->begin;
    int64_t *first = heap_array((size_t)rows, sizeof *first), *last = heap_array((size_t)rows, sizeof *last);
    set_windows(part, part->begin, rows, first, last);
    moving_backwards(part, first, last);
    free(first);
    free(last);
}

static bool has_order(const struct moving_operator *op)
{
    return op->kind == AGG_QUANTILE || op->kind == AGG_DISTINCT;
}

static bool has_moments(const struct moving_operator *op)
{
    return op->kind == AGG_VAR || op->kind == AGG_CORR;
}

/* The bounds of a row's window. */
static struct moving_part *window_at(struct moving *moving, int64_t row)
{
    struct moving_part *part = heap_array(1, sizeof *part);
    part->moving = moving;
    part->begin = row;
    part->time.column = part->time_behind.column = part->time_ahead.column = moving->times;
    set_windows(part, row, 1, part->first, part->last);
    return part;
}

/* The order of the rows in the part's windows. */
static struct moving_order *order_of(const struct moving_part *part)
{
    struct moving_part *first = window_at(part->moving, part->begin), *last = window_at(part->moving, part->end - 1);
    struct moving_order *order =
        moving_order_new(part->moving, first->first[0], max_int64(first->first[0], last->last[0]));
    free(first);
    free(last);
    return order;
}

static bool gives_up(const struct moving *moving)
{
    return moving->flagged && !moving->failed;
}

struct moving_run {
    struct moving *moving;
    const struct workers *workers;
};

static void run_part(void *context, struct part rows)
{
    const struct moving_run *run = context;
    struct moving *moving = run->moving;
    struct moving_part *part = HEAP_NEW(struct moving_part, .moving = moving, .begin = rows.begin, .end = rows.end);
    part->from = part->to = part->nearest = part->exact_from = part->exact_to = -1;
    part->time.column = part->time_behind.column = part->time_ahead.column = moving->times;
    part->entering.column = part->leaving.column = moving->values;
    moving_total_init(moving, &part->total);
    part->order = has_order(moving->op) ? order_of(part) : NULL;
    part->moments = has_moments(moving->op) ? moving_moments_new(moving) : NULL;
    if (goes_backwards(moving->op)) {
        run_backwards(part);
    } else {
        for (int64_t row = part->begin; row < part->end && !gives_up(moving); row += OPERATOR_BLOCK) {
            const int count = part->end - row < OPERATOR_BLOCK ? (int)(part->end - row) : OPERATOR_BLOCK;
            if (workers_cancelled(run->workers))
                break;
            set_windows(part, row, count, part->first, part->last);
            moving_block(part, row, count);
        }
    }
    moving_order_free(part->order);
    moving_moments_free(part->moments);
    free(part->contenders);
    free(part->exact);
    free(part);
}

/* The total of a part that is within one group. */
static void find_total(void *context, struct part part)
{
    const struct moving_run *run = context;
    const struct moving *moving = run->moving;
    if (moving->groups && column_get_int(moving->groups, part.begin) != column_get_int(moving->groups, part.end - 1))
        return;
    struct element_reader *reader = heap_array(1, sizeof *reader);
    reader->column = moving->values;
    moving_total_init(moving, &moving->totals[part.number]);
    moving_total_add(moving, &moving->totals[part.number], reader, part.begin, part.end);
    moving->has_total[part.number] = true;
    free(reader);
}

static const struct column *key_of(const struct operator_job *job, enum moving_key key)
{
    const size_t input = moving_input(job->task->column_op, key);
    return input == SIZE_MAX ? NULL : job->inputs[input];
}

/* The moving averages of a group, from its first row on. An average stays what it is where a value equals it. */
static int64_t average_group(struct moving *moving, struct element_reader *reader, int64_t row)
{
    const struct moving_operator *op = moving->op;
    const int64_t end = end_of_group(moving, row);
    double *results = moving->result ? column_at(moving->result, 0) : NULL;
    const double kept = 1 - op->share;
    double mean = 0, weight = 0;
    bool any = false;
    for (; row < end; row++) {
        if (!moving->present || moving->present[row]) {
            const double number = element_number(reader, row);
            weight *= kept;
            if (!any)
                mean = number;
            else if (mean != number)
                mean = op->adjusts ? (weight * mean + number) / (weight + 1) : kept * mean + op->share * number;
            weight += 1;
            any = true;
        }
        moving_set_present(moving, row, any);
        if (results)
            results[row] = mean + 0.0;
    }
    return end;
}

/* The groups that begin in a part. */
static void average_part(void *context, struct part part)
{
    const struct moving_run *run = context;
    struct moving *moving = run->moving;
    struct element_reader *reader = heap_array(1, sizeof *reader);
    reader->column = moving->values;
    int64_t row = begin_of_group(moving, part.begin) < part.begin ? end_of_group(moving, part.begin) : part.begin;
    while (row < part.end && !workers_cancelled(run->workers))
        row = average_group(moving, reader, row);
    free(reader);
}

/* Windows without an edge may begin parts before a row and end parts after it. */
static bool needs_totals(const struct moving *moving)
{
    const struct moving_operator *op = moving->op;
    return moving->parts.count > 1 && (op->from_first || op->to_last) &&
           (aggregate_table[op->kind].sums || aggregate_table[op->kind].extreme || op->kind == AGG_COUNT);
}

/* The rows of a part: of more than a few windows, whose rows are read again where a part begins. */
static int64_t part_rows(const struct moving *moving, int threads)
{
    const struct moving_operator *op = moving->op;
    const bool open = op->from_first || op->to_last;
    if (open && (has_order(op) || has_moments(op))) /* each reads all rows before it, or behind it */
        return max_int64(FEWEST_ROWS, moving->rows / min_int64(threads, PARTS_OF_ALL));
    if (moving->times && !open)
        return max_int64(FEWEST_ROWS, moving->rows / threads);
    if (open)
        return FEWEST_ROWS;
    const int128 rows = ((int128)op->last - op->first) * WINDOWS_A_PART;
    return max_int64(FEWEST_ROWS, clamp_int64(rows, 0, moving->rows));
}

static enum status report_unsorted(const struct operator_job *job, const struct moving *moving)
{
    const int64_t row = moving->unsorted;
    const struct stage_mark *stage = &job->task->stages[job->task->stage_count - 1];
    const char *name = job->task->inputs[moving_input(job->task->column_op, MOVING_TIMES)].name;
    const int64_t shown = moving->places ? column_get_int(moving->places, row) : row;
    diag_error(job->diags, stage->span, "`%s` is not sorted%s: row %lld is before the row above it", name,
               moving->groups ? " within a group" : "", (long long)shown);
    return diag_hint(job->diags, "`sort %s` before it", name);
}

bool moving_run_parts(struct moving *moving, const struct workers *workers)
{
    const int64_t size = part_rows(moving, workers->threads);
    moving->parts = has_order(moving->op) /* parts whose order stays in a cache */
                        ? (struct parts){moving->rows, size, divide_up(moving->rows, size)}
                        : partition_rows(workers, moving->rows, size);
    struct moving_run run = {moving, workers};
    bool done = true;
    if (moving->op->kind == AGG_EWMA)
        return workers_run_parts(workers, &moving->parts, average_part, &run);
    if (needs_totals(moving)) {
        moving->totals = heap_array((size_t)moving->parts.count, sizeof *moving->totals);
        moving->has_total = heap_array((size_t)moving->parts.count, sizeof *moving->has_total);
        done = workers_run_parts(workers, &moving->parts, find_total, &run);
    }
    done = done && workers_run_parts(workers, &moving->parts, run_part, &run);
    free(moving->totals);
    free(moving->has_total);
    return done;
}

enum status moving_run(const struct operator_job *job, const struct workers *workers, uint8_t *failed, bool *flagged)
{
    struct moving moving = {
        .op = &job->task->column_op->moving,
        .workers = workers,
        .values = key_of(job, MOVING_VALUES),
        .others = key_of(job, MOVING_OTHERS),
        .groups = key_of(job, MOVING_GROUPS),
        .places = key_of(job, MOVING_PLACES),
        .times = key_of(job, MOVING_TIMES),
        .result = job->results[0],
        .failed = failed,
        .rows = job->rows,
        .unsorted = INT64_MAX,
    };
    const struct column *present = key_of(job, MOVING_PRESENT);
    *job->result_rows = job->rows;
    if (job->rows == 0)
        return STATUS_OK;
    moving.present = present ? present->data : NULL;
    moving.result_present = job->task->output_count > 1 && job->results[1] ? column_at(job->results[1], 0) : NULL;
    moving.number = moving.values && type_table[moving.values->store].kind == KIND_FLOAT;
    if (moving.op->scattered) {
        const enum status status = moving_by_group(&moving, workers);
        if (status != STATUS_OK)
            return operator_report(job, status);
    } else if (!moving_run_parts(&moving, workers)) {
        return STATUS_CANCELLED;
    }
    if (moving.unsorted != INT64_MAX)
        return report_unsorted(job, &moving);
    *flagged = *flagged || moving.flagged;
    return STATUS_OK;
}

enum status operator_moving(const struct operator_job *job, const struct workers *workers, bool *flagged)
{
    return moving_run(job, workers, NULL, flagged);
}
