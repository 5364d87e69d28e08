/* `explain passes PIPELINE`: the queue and the typed code of its tasks between the passes of the optimizer. */
#include "engine/explain/explain.h"

#include "engine/explain/dry_run.h"
#include "engine/explain/explain_task.h"
#include "engine/optimize/optimize.h"

#include <string.h>

/* What was shown last, so that a pass that changes nothing is not. */
struct passes {
    struct strbuf *out;
    struct strbuf shown;
};

/* Appends the text under the heading, unless it is what was shown last. Takes over its memory. */
static void show(struct passes *passes, const char *pass, struct strbuf text)
{
    if (text.length == passes->shown.length && memcmp(text.text, passes->shown.text, text.length) == 0) {
        strbuf_free(&text);
        return;
    }
    strbuf_printf(passes->out, "after %s\n", pass);
    strbuf_add(passes->out, text.text, text.length);
    strbuf_free(&passes->shown);
    passes->shown = text;
}

static void show_queue(void *context, const char *pass, const struct queue *queue)
{
    struct strbuf text = {0};
    explain_tasks(&text, queue, "");
    show(context, pass, text);
}

static void show_task(void *context, const char *pass, const struct task *task)
{
    struct strbuf text = {0};
    explain_code(&text, task);
    if (text.length > 0)
        show(context, pass, text);
}

/* Runs the passes over one task as a run would, on a copy. */
static enum status explain_task(const struct pass_watch *watch, const struct runner *runner, struct dry_run *dry_run,
                                const struct task *planned, struct diags *diags)
{
    struct passes *passes = watch->context;
    struct column *const *named, *const *columns;
    const struct task *special = dry_run_task(dry_run, runner, planned, &named, &columns);
    if (planned->sink != SINK_OPERATOR) {
        struct task *task = task_clone(planned, dry_run->queue->arena);
        for (size_t k = 0; k < task->input_count; k++)
            task->inputs[k] = special->inputs[k]; /* with the ranges that statistics know */
        strbuf_printf(passes->out, "\n// task %zu: ", planned->number + 1);
        task_title(passes->out, planned);
        strbuf_putc(passes->out, '\n');
        strbuf_free(&passes->shown);
        optimize_task_watched(task, columns, dry_run->most[planned->number], watch);
        derive_sums(task, watch);
    }
    return dry_run_outputs(dry_run, special, columns, diags);
}

enum status explain_passes(struct strbuf *out, struct runner *runner, const struct queue *queue, struct arena *arena,
                           struct diags *diags)
{
    struct passes passes = {.out = out};
    const struct pass_watch watch = {show_queue, show_task, &passes};
    struct queue fused, folded;
    queue_init(&fused, arena);
    queue_init(&folded, arena);
    optimize_queue_watched(queue, &fused, &watch);
    optimize_local(&fused, &watch);
    const bool folds = fold_axes(&fused, &folded);
    const struct queue *runs = folds ? &folded : &fused;
    if (folds)
        show_queue(&passes, "fold_axes", &folded);
    struct dry_run dry_run;
    dry_run_init(&dry_run, runs);
    enum status status = STATUS_OK;
    for (size_t t = 0; t < runs->count && status == STATUS_OK; t++)
        status = explain_task(&watch, runner, &dry_run, runs->tasks[t], diags);
    dry_run_release(&dry_run);
    strbuf_free(&passes.shown);
    queue_release(&folded);
    queue_release(&fused);
    return status;
}
