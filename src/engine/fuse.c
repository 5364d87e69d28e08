/* Fusion by growing bundles (bundle.h).
 *
 * Tasks are visited in order. A task that reads only tasks which nobody else reads, and whose rows are its own rows,
 * joins their bundle: its code is copied onto the bundle's code with its inputs replaced by what the bundle computes. A
 * bundle is closed, and becomes one fused task, when something reads it that cannot join. Each task is copied once into
 * a bundle and once into the fused task, so time is linear in the length of the pipeline.
 */
#include "fuse.h"

#include "bundle.h"

#include <string.h>

/* A bundle of this many instructions does not grow further. Kernel compilers take time and memory beyond proportion for
 * very long functions, and some crash; storing a column every two thousand operations costs nothing in comparison. */
enum { MAX_INSTRUCTIONS = 2000 };

struct fusion {
    struct arena *arena;
    const struct queue *queue;
    struct queue *fused;
    struct bundle **bundles; /* of each task of the queue */
    size_t *readers;         /* how many tasks read each task */
    size_t *seen;            /* scratch for distinct tasks: number + 1 of the task that saw it last */
    struct task **producers; /* what the task at hand reads, in order */
    size_t producer_count;
};

static struct bundle *bundle_of(const struct fusion *fusion, const struct task *task)
{
    struct bundle *bundle = fusion->bundles[task->number];
    while (bundle->into != NULL)
        bundle = bundle->into;
    return bundle;
}

static void see_producer(struct fusion *fusion, const struct task *task, struct task *producer)
{
    if (producer == NULL || fusion->seen[producer->number] == task->number + 1)
        return;
    fusion->seen[producer->number] = task->number + 1;
    fusion->producers[fusion->producer_count++] = producer;
}

/* The distinct tasks that `task` reads values or row counts of. */
static void find_producers(struct fusion *fusion, const struct task *task)
{
    fusion->producer_count = 0;
    see_producer(fusion, task, task->rows_from);
    for (size_t k = 0; k < task->input_count; k++)
        see_producer(fusion, task, task->inputs[k].task);
    for (size_t k = 0; k < task->equal_count; k++)
        see_producer(fusion, task, task->equals[k]);
}

/* Only chooses columns, and maybe a window. */
static bool is_plain(const struct task *task)
{
    if (task->filter_count > 0 || task->sink != SINK_ROWS)
        return false;
    for (size_t k = 0; k < task->output_count; k++) {
        if (task->outputs[k].needed && task->code.at[task->outputs[k].value].op != OP_INPUT)
            return false;
    }
    return true;
}

static bool has_columns(const struct task *task)
{
    for (size_t k = 0; k < task->input_count; k++) {
        if (task->inputs[k].column != NULL)
            return true;
    }
    return false;
}

/* Columns at hand are read from the bundle's first row on, so the bundle must be as long and begin at their begin. */
static bool columns_align(const struct task *task, const struct bundle *bundle)
{
    for (size_t k = 0; k < task->input_count; k++) {
        const struct column *column = task->inputs[k].column;
        if (column != NULL && (bundle->rows != column->rows || (bundle->first != 0 && bundle->input_count > 0)))
            return false;
    }
    return true;
}

/* The bundle that says where rows begin: the first one with inputs, if any has. */
static const struct bundle *leading_bundle(const struct fusion *fusion)
{
    for (size_t i = 0; i < fusion->producer_count; i++) {
        const struct bundle *bundle = bundle_of(fusion, fusion->producers[i]);
        if (bundle->input_count > 0)
            return bundle;
    }
    return bundle_of(fusion, fusion->producers[0]);
}

/* Whether a task may join the bundles it reads. */
static bool can_join(const struct fusion *fusion, const struct task *task, bool uses_row)
{
    if (fusion->producer_count == 0 || task->first != 0 || task->limit != INT64_MAX)
        return false;
    const struct bundle *leading = leading_bundle(fusion);
    bool zipped = fusion->producer_count > 1 || has_columns(task);
    int32_t size = 0;
    for (size_t i = 0; i < fusion->producer_count; i++) {
        const struct task *producer = fusion->producers[i];
        const struct bundle *bundle = bundle_of(fusion, producer);
        if (bundle->made != NULL || fusion->readers[producer->number] != 1 || bundle->sink != SINK_ROWS)
            return false;
        if (bundle->filter_count > 0 && (uses_row || zipped))
            return false;
        if (!bundle_keeps_all(bundle) &&
            (zipped || !is_plain(task) || !windows_compose(&bundle->window, &task->window)))
            return false;
        if (!bundle_same_rows(leading, bundle) || !columns_align(task, bundle))
            return false;
        size += bundle->code.count;
    }
    return size < MAX_INSTRUCTIONS;
}

/* The bundle of all that the task reads: the largest grows, so that a long chain is not copied at every zip. */
static struct bundle *merge_producers(const struct fusion *fusion, const struct task *task)
{
    const struct bundle *leading = leading_bundle(fusion);
    struct bundle *base = bundle_of(fusion, fusion->producers[0]);
    for (size_t i = 1; i < fusion->producer_count; i++) {
        struct bundle *bundle = bundle_of(fusion, fusion->producers[i]);
        if (bundle->code.count > base->code.count)
            base = bundle;
    }
    if (base->input_count == 0)
        bundle_rebase(base, leading->input_count == 0 && has_columns(task) ? 0 : leading->first);
    for (size_t i = 0; i < fusion->producer_count; i++) {
        struct bundle *bundle = bundle_of(fusion, fusion->producers[i]);
        if (bundle != base)
            bundle_merge(base, bundle);
    }
    return base;
}

/* The values that the task's inputs are, in the bundle that it joins or begins. */
static value *input_values(const struct fusion *fusion, struct bundle *bundle, const struct task *task,
                           const bool *live)
{
    value *values = arena_array(fusion->arena, task->input_count + 1, sizeof *values);
    for (value v = 0; v < task->code.count; v++) {
        const struct instr *instr = &task->code.at[v];
        if (!live[v] || instr->op != OP_INPUT)
            continue;
        struct input input = task->inputs[instr->integer];
        if (input.task != NULL && bundle_of(fusion, input.task) == bundle) {
            /* The producer was the last task of its bundle, also if that was merged since. */
            values[instr->integer] = fusion->bundles[input.task->number]->outputs[input.output].value;
            continue;
        }
        if (input.task != NULL) {
            const struct bundle *from = bundle_of(fusion, input.task);
            input.task = from->made;
            input.output = from->sink == SINK_ROWS ? from->numbers[input.output] : input.output;
        }
        values[instr->integer] = bundle_input(bundle, &input, instr->span);
    }
    return values;
}

/* Appends what the task does to the bundle, whose rows are the task's rows. */
static void join(struct fusion *fusion, struct bundle *bundle, const struct task *task, const bool *live, bool uses_row)
{
    const value *inputs = input_values(fusion, bundle, task, live);
    value row = uses_row ? bundle_row(bundle) : NO_VALUE;
    value *map = inline_map(fusion->arena, &task->code);
    for (size_t i = 0; i < task->filter_count; i++) {
        struct filter filter = task->filters[i];
        filter.keep = code_inline(&bundle->code, &task->code, filter.keep, inputs, row, map);
        bundle_filter(bundle, filter);
    }
    bundle->sink = task->sink;
    bundle->output_count = task->sink == SINK_ROWS ? task->output_count : 0;
    bundle->outputs = arena_grow(fusion->arena, task->outputs, bundle->output_count, bundle->output_count + 1,
                                 sizeof *bundle->outputs);
    for (size_t k = 0; k < bundle->output_count; k++) {
        value *output = &bundle->outputs[k].value;
        *output =
            task->outputs[k].needed ? code_inline(&bundle->code, &task->code, *output, inputs, row, map) : NO_VALUE;
    }
    bundle->aggregate_count = task->aggregate_count;
    bundle->aggregates = arena_grow(fusion->arena, task->aggregates, task->aggregate_count, task->aggregate_count + 1,
                                    sizeof *bundle->aggregates);
    for (size_t k = 0; k < task->aggregate_count; k++) {
        value *aggregated = &bundle->aggregates[k].value;
        if (*aggregated != NO_VALUE)
            *aggregated = code_inline(&bundle->code, &task->code, *aggregated, inputs, row, map);
    }
    bundle_window(bundle, &task->window);
    fusion->bundles[task->number] = bundle;
}

static struct task *made_of(const struct fusion *fusion, const struct task *task)
{
    return task == NULL ? NULL : bundle_of(fusion, task)->made;
}

/* A new bundle for a task that cannot join what it reads, or reads nothing but columns. */
static struct bundle *begin_bundle(const struct fusion *fusion, const struct task *task)
{
    for (size_t i = 0; i < fusion->producer_count; i++)
        bundle_close(bundle_of(fusion, fusion->producers[i]), fusion->fused);
    struct bundle *bundle = bundle_new(fusion->arena, task->first, task->rows, task->limit);
    bundle->rows_from = made_of(fusion, task->rows_from);
    for (size_t i = 0; i < task->equal_count; i++)
        bundle_equal(bundle, made_of(fusion, task->equals[i]));

    /* Fusion may know a row count that the binder could not: of a window that was folded. */
    const struct task *from = bundle->rows_from;
    if (bundle->rows < 0 && from != NULL && from->rows >= 0 && from->filter_count == 0 && !task_has_window(from)) {
        int64_t rest = from->rows > bundle->first ? from->rows - bundle->first : 0;
        bundle->rows = rest < bundle->limit ? rest : bundle->limit;
    }
    return bundle;
}

/* The stages each fused task stands for, in the order written. */
static void mark_stages(struct fusion *fusion)
{
    const struct queue *queue = fusion->queue;
    for (size_t t = 0; t < queue->count; t++) {
        struct task *made = made_of(fusion, queue->tasks[t]);
        made->stage_count += queue->tasks[t]->stage_count;
        made->span = span_join(made->span, queue->tasks[t]->span);
    }
    for (size_t t = 0; t < fusion->fused->count; t++) {
        struct task *made = fusion->fused->tasks[t];
        made->stages = arena_array(fusion->arena, made->stage_count + 1, sizeof *made->stages);
        made->stage_count = 0;
    }
    for (size_t t = 0; t < queue->count; t++) {
        const struct task *task = queue->tasks[t];
        struct task *made = made_of(fusion, task);
        for (size_t i = 0; i < task->stage_count; i++)
            made->stages[made->stage_count++] = task->stages[i];
    }
}

static void count_readers(struct fusion *fusion)
{
    for (size_t t = 0; t < fusion->queue->count; t++) {
        find_producers(fusion, fusion->queue->tasks[t]);
        for (size_t i = 0; i < fusion->producer_count; i++)
            fusion->readers[fusion->producers[i]->number]++;
    }
    memset(fusion->seen, 0, fusion->queue->count * sizeof *fusion->seen);
}

static bool reads_row(const struct code *code, const bool *live)
{
    for (value v = 0; v < code->count; v++) {
        if (live[v] && code->at[v].op == OP_ROW)
            return true;
    }
    return false;
}

void fuse(const struct queue *queue, struct queue *fused)
{
    queue_prune(queue);
    struct arena *arena = fused->arena;
    struct fusion fusion = {.arena = arena, .queue = queue, .fused = fused};
    fusion.bundles = arena_array(arena, queue->count + 1, sizeof *fusion.bundles);
    fusion.readers = arena_array(arena, queue->count + 1, sizeof *fusion.readers);
    fusion.seen = arena_array(arena, queue->count + 1, sizeof *fusion.seen);
    fusion.producers = arena_array(arena, queue->count + 1, sizeof *fusion.producers);
    count_readers(&fusion);

    for (size_t t = 0; t < queue->count; t++) {
        const struct task *task = queue->tasks[t];
        bool *live = arena_array(arena, (size_t)task->code.count + 1, sizeof *live);
        task_mark_live(task, live);
        bool uses_row = reads_row(&task->code, live);
        find_producers(&fusion, task);
        struct bundle *bundle =
            can_join(&fusion, task, uses_row) ? merge_producers(&fusion, task) : begin_bundle(&fusion, task);
        join(&fusion, bundle, task, live, uses_row);
    }
    for (size_t t = 0; t < queue->count; t++)
        bundle_close(bundle_of(&fusion, queue->tasks[t]), fused);
    mark_stages(&fusion);
    queue_prune(fused);
}
