/* Backend choice in `explain PIPELINE`: the expected times of each task on each backend. */
#include "engine/explain/explain.h"

#include "engine/backend/backend_choice.h"
#include "engine/explain/dry_run.h"

#include <string.h>

static void add_time(struct strbuf *out, double ns)
{
    const double ms = ns / 1e6;
    strbuf_printf(out, ms < 0.1 ? "%.3f ms" : ms < 10 ? "%.2f ms" : "%.0f ms", ms);
}

static void add_estimate(struct strbuf *out, const struct estimate *estimate)
{
    strbuf_add_visible(out, estimate->name, strlen(estimate->name));
    strbuf_puts(out, ": ");
    if (!estimate->able) {
        strbuf_puts(out, "not supported");
        return;
    }
    strbuf_puts(out, estimate->tried ? "" : "about ");
    add_time(out, estimate->ns);
    if (estimate->move_ns > 0) {
        strbuf_puts(out, " including transfers of ");
        add_time(out, estimate->move_ns);
    }
}

/* Expected times, the chosen backend first. */
static void add_choice(struct strbuf *out, struct chooser *chooser, const struct cost_features *work)
{
    struct estimate estimates[MOST_CANDIDATES] = {0};
    chooser_estimate(chooser, work, true, estimates);
    const struct backend *chosen = chooser_pick(chooser, work);
    const size_t count = chooser_count(chooser);
    size_t first = 0;
    while (first + 1 < count && estimates[first].backend != chosen)
        first++;
    strbuf_printf(out, "%3zu on ", work->task->number + 1);
    add_estimate(out, &estimates[first]);
    for (size_t k = 0; k < count; k++) {
        if (k == first || estimates[k].hidden)
            continue;
        strbuf_puts(out, "; ");
        add_estimate(out, &estimates[k]);
    }
}

/* Narrow copies and skipped zones. */
static void add_narrowing(struct strbuf *out, const struct cost_features *work, struct column *const *named,
                          const struct row_ranges *ranges)
{
    const struct task *task = work->task;
    for (size_t k = 0; k < task->input_count; k++) {
        if (work->reads[k] && work->columns[k] != named[k])
            strbuf_printf(out, "; %s as %s", task->inputs[k].name, type_table[work->columns[k]->store].name);
    }
    if (ranges->skipped > 0)
        strbuf_printf(out, "; skips %lld of %lld zones", (long long)ranges->skipped, (long long)ranges->zones);
}

/* A task of at most `rows` rows; it reads `columns` in place of `named`. */
static void explain_task(struct strbuf *out, const struct runner *runner, const struct task *task,
                         struct column *const *named, struct column *const *columns, int64_t rows, struct diags *diags)
{
    struct cost_features work;
    struct row_ranges ranges = {0};
    if (task->sink == SINK_OPERATOR) {
        const struct operator_job job = {.task = task, .inputs = columns, .rows = rows, .diags = diags};
        cost_features_of_operator(&work, &job);
    } else {
        struct job job = {.task = task, .columns = named, .rows = rows, .end = rows, .diags = diags};
        zone_prune(&ranges, &job, runner->collector, diags->arena);
        job.columns = columns;
        cost_features_of_job(&work, &job, &ranges);
    }
    add_choice(out, runner->chooser, &work);
    if (task->sink != SINK_OPERATOR)
        add_narrowing(out, &work, named, &ranges);
    strbuf_putc(out, '\n');
}

enum status explain_choice(struct strbuf *out, const struct runner *runner, const struct queue *queue,
                           struct diags *diags)
{
    struct dry_run dry_run;
    dry_run_init(&dry_run, queue);
    strbuf_puts(out, "backend choice: expected times, the chosen backend first\n");
    enum status status = STATUS_OK;
    for (size_t t = 0; t < queue->count && status == STATUS_OK; t++) {
        struct column *const *named, *const *columns;
        const struct task *task = dry_run_task(&dry_run, runner, queue->tasks[t], &named, &columns);
        if (dry_run.most[t] < INT64_MAX)
            explain_task(out, runner, task, named, columns, dry_run.most[t], diags);
        status = dry_run_outputs(&dry_run, task, columns, diags);
    }
    dry_run_release(&dry_run);
    return status;
}
