/* The rows of a file that pass a task's filters, found condition by condition: columns that are read fast and may leave
 * out many rows come first, others are then read of the rows that are left. What decides is the time that a condition
 * takes to read for each row that it may leave out (Hellerstein and Stonebraker 1993). */
#include "engine/run/provide.h"

#include "base/integer.h"
#include "engine/formats/file_cache.h"
#include "engine/plan/text_order.h"
#include "engine/task/run_task.h"

#include <math.h>

/* A condition that a row must meet. */
struct condition {
    value keep;
    bool presence; /* it only says that a value of the file is not missing: an aggregate has such a filter, which is no
                      reason to read its column first */
    bool fallible;
    bool ready;  /* all that it reads is there */
    double rank; /* unless it is ready: the least is read first; INFINITY: it cannot be read */
    bool slow;   /* it reads text that is stored string by string */
    bool taken;  /* rows are found by it */
};

struct conditions {
    const struct task *task;
    const bool *of_file; /* of each input, whether it is a column of the file */
    struct condition *at;
    size_t count, taken;
};

/* Whether the condition only says that a value of the file is not missing. */
static bool is_presence(const struct task *task, value condition, const struct file_need *need)
{
    const struct instr *instr = &task->code.at[condition];
    for (size_t i = 0; instr->op == OP_INPUT && i < need->count; i++) {
        if (need->columns[i]->validity && task->inputs[instr->integer].column == need->columns[i]->validity)
            return true;
    }
    return false;
}

/* A guess of the share of rows that the condition leaves out. */
static double share_left_out(const struct code *code, value condition)
{
    const struct instr *instr = &code->at[condition];
    const bool negated = instr->op == OP_NOT;
    const enum op op = negated ? code->at[instr->args[0]].op : instr->op;
    const double of_equal = 0.9, of_other = 2.0 / 3;
    return op == OP_NE || (negated && op == OP_EQ) ? 1 - of_equal : op == OP_EQ ? of_equal : of_other;
}

static bool *marks_of(const struct task *task, value root, struct arena *arena)
{
    bool *marks = arena_array(arena, (size_t)task->code.count + 1, sizeof *marks);
    code_mark(&task->code, root, marks);
    return marks;
}

static struct condition condition_of(const struct conditions *conditions, const struct file_need *need, value keep,
                                     struct arena *arena)
{
    const struct task *task = conditions->task;
    const bool *marks = marks_of(task, keep, arena), *read = need_inputs(task, marks, arena);
    double time = need_awaits_text(need, task, marks, true) ? INFINITY : 0;
    bool slow = false;
    for (size_t k = 0; k < task->input_count; k++) {
        const struct column *column = task->inputs[k].column;
        slow = slow || (read[k] && column && column->unread && file_cache_is_slow(column));
        if (read[k] && column && column->unread)
            time += conditions->of_file[k] ? file_cache_time_to_read(column) : INFINITY;
    }
    const bool ready = time == 0 && !need_awaits_text(need, task, marks, false);
    return (struct condition){.keep = keep,
                              .presence = is_presence(task, keep, need),
                              .fallible = task->code.at[keep].fallible,
                              .ready = ready,
                              .slow = slow,
                              .rank = time > 0 ? time / share_left_out(&task->code, keep) : INFINITY};
}

/* Takes the conditions that are ready. One that may fail is evaluated only for rows that pass those before it, and
 * hides failures behind it. */
static void take_conditions(struct conditions *conditions)
{
    bool left = false; /* one before is not taken */
    for (size_t i = 0; i < conditions->count; i++) {
        struct condition *condition = &conditions->at[i];
        condition->taken = condition->ready && !(condition->fallible && left);
        conditions->taken += condition->taken;
        left = left || !(condition->taken || condition->presence);
        if (condition->fallible && !condition->taken)
            break;
    }
}

/* Marks what is to be read next: columns of all conditions that are read fast, else those of the best slow one. To look
 * for rows takes about as long as to read a fast column. Returns the best one; NULL: there is nothing. */
static const struct condition *mark_next(const struct conditions *conditions, bool *marks)
{
    const struct condition *best = NULL;
    bool left = false, any = false;
    for (size_t i = 0; i < conditions->count; i++) {
        const struct condition *condition = &conditions->at[i];
        if (condition->taken || condition->presence)
            continue;
        if (condition->rank < INFINITY && !(condition->fallible && left)) {
            best = !best || condition->rank < best->rank ? condition : best;
            any = any || !condition->slow;
            if (!condition->slow)
                code_mark(&conditions->task->code, condition->keep, marks);
        }
        if (condition->fallible)
            break;
        left = true;
    }
    if (best && !any)
        code_mark(&conditions->task->code, best->keep, marks);
    return best;
}

/* The rows that pass of which the window keeps some: those that it skips are needed to skip as many. */
static struct window window_with_skipped(struct window window)
{
    if (window.tail < 0 && window.take != INT64_MAX)
        window.take = window.skip > INT64_MAX - window.take ? INT64_MAX : window.skip + window.take;
    window.skip = 0;
    return window;
}

/* A copy of the task with the conditions that are taken. More rows than can be left are not looked for. */
static struct task *task_of_conditions(const struct conditions *conditions, const struct file_need *need,
                                       struct arena *arena)
{
    struct task *copy = task_clone(conditions->task, arena);
    copy->filters = arena_array(arena, conditions->count + 1, sizeof *copy->filters);
    copy->filter_count = 0;
    copy->window = conditions->taken == conditions->count ? window_with_skipped(conditions->task->window)
                                                          : (struct window){.take = INT64_MAX, .tail = -1};
    if (copy->window.tail < 0)
        copy->window.take = min_int64(copy->window.take, need->most_rows + 1);
    for (size_t i = 0; i < conditions->count; i++) {
        if (conditions->at[i].taken)
            copy->filters[copy->filter_count++] = (struct filter){.keep = conditions->at[i].keep, .span = copy->span};
    }
    return copy;
}

/* Runs the filters on the host. What fails is found again when the statement runs. */
static enum status run_filters(const struct runner *runner, struct file_need *need, struct task *filter,
                               struct arena *arena)
{
    const struct runner host = need_host_runner(runner);
    bool *marks = arena_array(arena, (size_t)filter->code.count + 1, sizeof *marks);
    for (size_t i = 0; i < filter->filter_count; i++)
        code_mark(&filter->code, filter->filters[i].keep, marks);
    const bool *read = need_inputs(filter, marks, arena);
    filter->sink = SINK_ROWS;
    filter->aggregate_count = 0;
    filter->outputs = arena_array(arena, 1, sizeof *filter->outputs);
    filter->output_count = 1;
    filter->outputs[0] = (struct output){
        .value = code_row(&filter->code, filter->span), .name = "row", .type = TYPE_I64, .needed = true};
    struct column **inputs = arena_array(arena, filter->input_count + 1, sizeof(struct column *));
    for (size_t k = 0; k < filter->input_count; k++) {
        filter->inputs[k].needed = read[k];
        inputs[k] = read[k] ? filter->inputs[k].column : NULL;
    }
    struct outcome outcome;
    struct diags dropped;
    diags_init(&dropped, arena);
    const enum status status = run_task(&host, filter, inputs, need->rows, DEFER_NEVER, arena, &outcome, &dropped);
    if (status == STATUS_CANCELLED)
        return status;
    if (status != STATUS_OK || outcome.flagged)
        return STATUS_OK;
    const struct workers workers = {.threads = parallel_threads(), .cancel = runner->cancel};
    need->found = outcome.rows <= need->most_rows;
    const bool cancelled = need->found && !row_set_add_listed(&need->found_rows, outcome.columns[0], &workers);
    outcome_release(&outcome, filter);
    return cancelled ? STATUS_CANCELLED : STATUS_OK;
}

enum status find_filtered_rows(const struct runner *runner, struct file_need *need, const struct task *task,
                               const bool *of_file, struct arena *arena)
{
    struct conditions conditions = {.task = task, .of_file = of_file};
    const value *values = task_conditions(task, arena, &conditions.count);
    conditions.at = arena_array(arena, conditions.count + 1, sizeof *conditions.at);
    for (size_t i = 0; i < conditions.count; i++)
        conditions.at[i] = condition_of(&conditions, need, values[i], arena);
    take_conditions(&conditions);
    enum status status = STATUS_OK;
    if (conditions.taken > need->tried) {
        need->tried = conditions.taken;
        status = run_filters(runner, need, task_of_conditions(&conditions, need, arena), arena);
    }
    bool *marks = arena_array(arena, (size_t)task->code.count + 1, sizeof *marks);
    const struct condition *next = status == STATUS_OK && !need->found ? mark_next(&conditions, marks) : NULL;
    if (next && next->slow)
        status = find_rows_in_batches(runner, need, task, next->keep, arena);
    if (next && status == STATUS_OK && !need->found) {
        const double most = 0.5; /* of the rows: else all texts are put in order at once */
        const bool *read = need_inputs(task, marks, arena);
        bool *ordered = arena_array(arena, task->input_count + 1, sizeof *ordered);
        text_order_of_code(need->queue, task, marks, ordered);
        need_read_first(need, task, read, share_left_out(&task->code, next->keep) < most ? read : ordered, arena);
    }
    return status;
}
