/* Fusion by growing bundles (fusion_group.h).
 *
 * Tasks are visited in order. A task that reads only tasks which nobody else reads, and whose rows are its own rows,
 * joins their bundle: its code is copied onto the bundle's code with its inputs replaced by what the bundle computes. A
 * bundle is closed, and becomes one fused task, when something reads it that cannot join. Each task is copied once into
 * a bundle and once into the fused task, so time is linear in the length of the pipeline.
 *
 * A task that reads its neighbours' rows joins as well: what it reads is computed once for each of them, where that is
 * cheaper than storing it. What is read at any position (GATHER), and by breakers, has to be a column: a task that only
 * passes columns on is read through, and disappears if nobody else reads it; another one is closed.
 */
#include "engine/optimize/fuse_internal.h"
#include "engine/optimize/passes.h"

#include <string.h>

/* A bundle of this many instructions does not grow further. Kernel compilers take time and memory beyond proportion for
 * very long functions, and some crash; storing a column every two thousand operations costs nothing in comparison. */
enum { MAX_INSTRUCTIONS = 2000 };

/* Neighbours are computed anew for each reader up to this many operations a row; a pass over memory costs about as
 * much. */
enum { MAX_RECOMPUTED = 64 };

struct fusion_group *fusion_group_of(const struct fusion *fusion, const struct task *task)
{
    struct fusion_group *group = fusion->bundles[task->number];
    while (group->into != NULL)
        group = group->into;
    return group;
}

static void see_producer(struct fusion *fusion, const struct task *task, struct task *producer)
{
    if (producer == NULL || fusion->seen[producer->number] == task->number + 1)
        return;
    fusion->seen[producer->number] = task->number + 1;
    fusion->producers[fusion->producer_count++] = producer;
}

/* The distinct tasks that `task` reads values or row counts of, row by row. */
static void find_producers(struct fusion *fusion, const struct task *task)
{
    fusion->producer_count = 0;
    see_producer(fusion, task, task->rows_from);
    for (size_t k = 0; k < task->input_count; k++) {
        if (!task->inputs[k].whole)
            see_producer(fusion, task, task->inputs[k].task);
    }
    for (size_t k = 0; k < task->equal_count; k++)
        see_producer(fusion, task, task->equals[k]);
}

/* Only chooses columns, and maybe a window. */
static bool is_plain(const struct task *task)
{
    if (task->filter_count > 0 || task->sink != SINK_ROWS)
        return false;
    for (size_t k = 0; k < task->output_count; k++) {
        const struct instr *instr = &task->code.at[task->outputs[k].value];
        if (task->outputs[k].needed && (instr->op != OP_INPUT || instr->offset != 0))
            return false;
    }
    return true;
}

static bool has_columns(const struct task *task)
{
    for (size_t k = 0; k < task->input_count; k++) {
        if (task->inputs[k].column != NULL && !task->inputs[k].whole)
            return true;
    }
    return false;
}

/* Columns at hand are read from the bundle's first row on, so the bundle must be as long and begin at their begin. */
static bool columns_align(const struct task *task, const struct fusion_group *group)
{
    for (size_t k = 0; k < task->input_count; k++) {
        const struct column *column = task->inputs[k].column;
        if (column != NULL && !task->inputs[k].whole &&
            (group->rows != column->rows || (group->first != 0 && group->input_count > 0)))
            return false;
    }
    return true;
}

/* The bundle that says where rows begin: the first one with inputs, if any has. */
static const struct fusion_group *leading_bundle(const struct fusion *fusion)
{
    for (size_t i = 0; i < fusion->producer_count; i++) {
        const struct fusion_group *group = fusion_group_of(fusion, fusion->producers[i]);
        if (group->input_count > 0)
            return group;
    }
    return fusion_group_of(fusion, fusion->producers[0]);
}

struct column *column_read(const struct fusion *fusion, const struct input *input)
{
    return input->task ? fusion_group_column(fusion->bundles[input->task->number], input->output) : input->column;
}

/* Whether everything that is read at any position is a column at hand. */
static bool wholes_at_hand(const struct fusion *fusion, const struct reading *reading)
{
    const struct task *task = reading->task;
    for (size_t k = 0; k < task->input_count; k++) {
        if (task->inputs[k].whole && reading->reads[k] && !column_read(fusion, &task->inputs[k]))
            return false;
    }
    return true;
}

/* How many operations compute what the task reads of a producer. */
static int32_t operations_read(const struct fusion *fusion, const struct reading *reading, const struct task *producer)
{
    const struct fusion_group *group = fusion->bundles[producer->number];
    const struct code *code = &fusion_group_of(fusion, producer)->code;
    bool *live = arena_array(fusion->arena, (size_t)code->count + 1, sizeof *live);
    for (size_t k = 0; k < reading->task->input_count; k++) {
        const struct input *input = &reading->task->inputs[k];
        if (input->task == producer && !input->whole && reading->reads[k])
            live[group->outputs[input->output].value] = true;
    }
    code_mark_all(code, live);
    int32_t operations = 0;
    for (value v = 0; v < code->count; v++)
        operations += live[v] && op_table[code->at[v].op].arity > 0;
    return operations;
}

/* At how many offsets the task reads a producer; 0 if only its own rows. */
static int32_t offsets_read(const struct fusion *fusion, const struct reading *reading, const struct task *producer)
{
    const struct code *code = &reading->task->code;
    int64_t *offsets = arena_array(fusion->arena, (size_t)code->count + 1, sizeof *offsets);
    int32_t count = 0;
    bool shifts = false;
    for (value v = 0; v < code->count && count <= MAX_RECOMPUTED; v++) {
        const struct instr *instr = &code->at[v];
        if (!reading->live[v] || instr->op != OP_INPUT || reading->task->inputs[instr->integer].task != producer)
            continue;
        int32_t i = 0;
        while (i < count && offsets[i] != instr->offset)
            i++;
        offsets[i] = instr->offset;
        count += i == count;
        shifts = shifts || instr->offset != 0;
    }
    return shifts ? count : 0;
}

static bool worth_recomputing(const struct fusion *fusion, const struct reading *reading)
{
    for (size_t i = 0; reading->shifts && i < fusion->producer_count; i++) {
        int32_t offsets = offsets_read(fusion, reading, fusion->producers[i]);
        if (offsets > 0 && operations_read(fusion, reading, fusion->producers[i]) * offsets > MAX_RECOMPUTED)
            return false;
    }
    return true;
}

/* Whether a task may join the bundles it reads. */
static bool can_join(const struct fusion *fusion, const struct reading *reading)
{
    const struct task *task = reading->task;
    if (task->sink == SINK_OPERATOR || fusion->producer_count == 0 || task->first != 0 || task->limit != INT64_MAX)
        return false;
    if (!wholes_at_hand(fusion, reading))
        return false;
    const struct fusion_group *leading = leading_bundle(fusion);
    bool zipped = fusion->producer_count > 1 || has_columns(task);
    int32_t size = 0;
    for (size_t i = 0; i < fusion->producer_count; i++) {
        const struct task *producer = fusion->producers[i];
        const struct fusion_group *group = fusion_group_of(fusion, producer);
        if (group->made != NULL || fusion->readers[producer->number] != 1 || group->sink != SINK_ROWS)
            return false;
        if (group->filter_count > 0 && (reading->uses_rows || zipped))
            return false;
        if (!fusion_group_keeps_all(group) &&
            (zipped || !is_plain(task) || !windows_compose(&group->window, &task->window)))
            return false;
        if (!fusion_group_same_rows(leading, group) || !columns_align(task, group))
            return false;
        size += group->code.count;
    }
    return size < MAX_INSTRUCTIONS && worth_recomputing(fusion, reading);
}

/* The bundle of all that the task reads: the largest grows, so that a long chain is not copied at every zip. */
static struct fusion_group *merge_producers(const struct fusion *fusion, const struct task *task)
{
    const struct fusion_group *leading = leading_bundle(fusion);
    struct fusion_group *base = fusion_group_of(fusion, fusion->producers[0]);
    for (size_t i = 1; i < fusion->producer_count; i++) {
        struct fusion_group *group = fusion_group_of(fusion, fusion->producers[i]);
        if (group->code.count > base->code.count)
            base = group;
    }
    if (base->input_count == 0)
        fusion_group_rebase(base, leading->input_count == 0 && has_columns(task) ? 0 : leading->first);
    for (size_t i = 0; i < fusion->producer_count; i++) {
        struct fusion_group *group = fusion_group_of(fusion, fusion->producers[i]);
        if (group != base)
            fusion_group_merge(base, group);
    }
    return base;
}

struct input fused_input(const struct fusion *fusion, struct fusion_group *group, struct input input)
{
    if (input.task == NULL)
        return input;
    struct fusion_group *from = fusion->bundles[input.task->number];
    struct column *column = input.whole ? fusion_group_column(from, input.output) : NULL;
    if (column != NULL) {
        /* A task may read the same columns row by row too, and then has joined what passes them on. */
        if (from->reader == NULL && fusion_group_of(fusion, input.task) != group)
            from->reader = group;
        input.column = column;
        input.task = NULL;
    } else {
        from = fusion_group_of(fusion, input.task);
        input.task = from->made;
        input.output = from->numbers != NULL ? from->numbers[input.output] : input.output;
    }
    return input;
}

/* Puts what the task's INPUTs and row numbers are in the bundle into `map`; returns the table of the INPUTs that its
 * GATHERs read. */
static value *place_leaves(const struct fusion *fusion, struct fusion_group *group, const struct reading *reading,
                           value *map)
{
    const struct task *task = reading->task;
    value *wholes = arena_array(fusion->arena, task->input_count + 1, sizeof *wholes);
    for (value v = 0; v < task->code.count; v++) {
        const struct instr *instr = &task->code.at[v];
        if (!reading->live[v])
            continue;
        if (instr->op == OP_ROW)
            map[v] = fusion_group_row(group);
        if (instr->op == OP_ROWS)
            map[v] = fusion_group_rows(group);
        if (instr->op != OP_INPUT && instr->op != OP_GATHER)
            continue;
        const struct input *input = &task->inputs[instr->integer];
        if (!input->whole && input->task != NULL && fusion_group_of(fusion, input->task) == group) {
            /* The producer was the last task of its bundle, also if that was merged since. */
            value read = fusion->bundles[input->task->number]->outputs[input->output].value;
            map[v] = fusion_group_shift(group, read, instr->offset);
            continue;
        }
        const struct input fused = fused_input(fusion, group, *input);
        value read = fusion_group_input(group, &fused, instr->offset, instr->span);
        if (instr->op == OP_INPUT)
            map[v] = read;
        else
            wholes[instr->integer] = read;
    }
    return wholes;
}

/* Appends what the task does to the bundle, whose rows are the task's rows. */
static void join(struct fusion *fusion, struct fusion_group *group, const struct reading *reading)
{
    const struct task *task = reading->task;
    value *map = code_map(fusion->arena, &task->code);
    const value *wholes = place_leaves(fusion, group, reading, map);
    for (size_t i = 0; i < task->filter_count; i++) {
        struct filter filter = task->filters[i];
        filter.keep = code_inline(&group->code, &task->code, filter.keep, wholes, NO_VALUE, map);
        fusion_group_filter(group, filter);
    }
    group->sink = task->sink;
    group->output_count = task->sink == SINK_ROWS ? task->output_count : 0;
    group->outputs =
        arena_grow(fusion->arena, task->outputs, group->output_count, group->output_count + 1, sizeof *group->outputs);
    for (size_t k = 0; k < group->output_count; k++) {
        value *output = &group->outputs[k].value;
        *output =
            task->outputs[k].needed ? code_inline(&group->code, &task->code, *output, wholes, NO_VALUE, map) : NO_VALUE;
    }
    group->aggregate_count = task->aggregate_count;
    group->aggregates = arena_grow(fusion->arena, task->aggregates, task->aggregate_count, task->aggregate_count + 1,
                                   sizeof *group->aggregates);
    for (size_t k = 0; k < task->aggregate_count; k++) {
        value *aggregated = &group->aggregates[k].value;
        if (*aggregated != NO_VALUE)
            *aggregated = code_inline(&group->code, &task->code, *aggregated, wholes, NO_VALUE, map);
    }
    fusion_group_window(group, &task->window);
    fusion->bundles[task->number] = group;
}

static struct task *made_of(const struct fusion *fusion, const struct task *task)
{
    return task == NULL ? NULL : fusion_group_of(fusion, task)->made;
}

/* Closes what the task needs to be columns. */
static void close_wholes(const struct fusion *fusion, const struct reading *reading)
{
    const struct task *task = reading->task;
    for (size_t k = 0; k < task->input_count; k++) {
        if (task->inputs[k].whole && reading->reads[k] && !column_read(fusion, &task->inputs[k]))
            fusion_group_close(fusion_group_of(fusion, task->inputs[k].task), fusion->fused);
    }
}

/* How many rows a task gives; -1 if only running it will tell. */
static int64_t rows_given(const struct task *task)
{
    if (task->rows < 0 || task->filter_count > 0 || task_has_window(task))
        return -1;
    return task->sink == SINK_OPERATOR ? operator_gives(task->operator, task->rows) : task->rows;
}

/* A new bundle for a task that cannot join what it reads, or reads nothing but columns. */
static struct fusion_group *begin_bundle(const struct fusion *fusion, const struct reading *reading)
{
    const struct task *task = reading->task;
    close_wholes(fusion, reading);
    for (size_t i = 0; i < fusion->producer_count; i++)
        fusion_group_close(fusion_group_of(fusion, fusion->producers[i]), fusion->fused);
    struct fusion_group *group = fusion_group_new(fusion->arena, task->first, task->rows, task->limit);
    group->rows_from = made_of(fusion, task->rows_from);
    for (size_t i = 0; i < task->equal_count; i++)
        fusion_group_equal(group, made_of(fusion, task->equals[i]));

    /* Fusion may know a row count that the binder could not: of a window that was folded. */
    int64_t given = group->rows_from != NULL ? rows_given(group->rows_from) : -1;
    if (group->rows < 0 && given >= 0) {
        int64_t rest = given > group->first ? given - group->first : 0;
        group->rows = rest < group->limit ? rest : group->limit;
    }
    return group;
}

/* The fused task that a task is part of, or that reads columns through it; NULL if nothing reads it. */
static struct task *owner_of(const struct fusion *fusion, const struct task *task)
{
    const struct fusion_group *group = fusion_group_of(fusion, task);
    while (group->made == NULL && group->reader != NULL) {
        group = group->reader;
        while (group->into != NULL)
            group = group->into;
    }
    return group->made;
}

/* The stages each fused task stands for, in the order written. */
static void mark_stages(struct fusion *fusion)
{
    const struct queue *queue = fusion->queue;
    struct task unread = {0};
    struct task **owners = arena_array(fusion->arena, queue->count + 1, sizeof(struct task *));
    for (size_t t = 0; t < queue->count; t++) {
        struct task *owner = owner_of(fusion, queue->tasks[t]);
        owners[t] = owner != NULL ? owner : &unread;
        owners[t]->stage_count += queue->tasks[t]->stage_count;
        owners[t]->span = span_join(owners[t]->span, queue->tasks[t]->span);
    }
    for (size_t t = 0; t < queue->count; t++) {
        if (owners[t]->stages == NULL)
            owners[t]->stages = arena_array(fusion->arena, owners[t]->stage_count + 1, sizeof *owners[t]->stages);
    }
    for (size_t t = 0; t < queue->count; t++)
        owners[t]->stage_count = 0;
    for (size_t t = 0; t < queue->count; t++) {
        for (size_t i = 0; i < queue->tasks[t]->stage_count; i++)
            owners[t]->stages[owners[t]->stage_count++] = queue->tasks[t]->stages[i];
    }
}

static void count_readers(struct fusion *fusion)
{
    for (size_t t = 0; t < fusion->queue->count; t++) {
        const struct task *task = fusion->queue->tasks[t];
        find_producers(fusion, task);
        for (size_t k = 0; k < task->input_count; k++)
            see_producer(fusion, task, task->inputs[k].task);
        for (size_t i = 0; i < fusion->producer_count; i++)
            fusion->readers[fusion->producers[i]->number]++;
    }
    memset(fusion->seen, 0, fusion->queue->count * sizeof *fusion->seen);
}

static struct reading read_task(const struct fusion *fusion, const struct task *task)
{
    struct reading reading = {.task = task};
    reading.live = arena_array(fusion->arena, (size_t)task->code.count + 1, sizeof *reading.live);
    reading.reads = arena_array(fusion->arena, task->input_count + 1, sizeof *reading.reads);
    task_mark_live(task, reading.live);
    for (value v = 0; v < task->code.count; v++) {
        const struct instr *instr = &task->code.at[v];
        if (!reading.live[v])
            continue;
        if (instr->op == OP_INPUT || instr->op == OP_GATHER)
            reading.reads[instr->integer] = true;
        reading.shifts = reading.shifts || instr->offset != 0;
        reading.uses_rows = reading.uses_rows || instr->op == OP_ROW || instr->op == OP_ROWS || instr->offset != 0;
    }
    return reading;
}

/* Closes what may fail though nothing reads it, of the first `count` tasks: all but the result, which comes last. Other
 * bundles have been closed by their readers, or read through. */
static void close_unread(const struct fusion *fusion, size_t count, const struct fusion_group *result)
{
    for (size_t t = 0; t < count; t++) {
        struct fusion_group *group = fusion_group_of(fusion, fusion->queue->tasks[t]);
        if (group != result && group->sink == SINK_ROWS && (group->filter_count > 0 || group->equal_count > 0))
            fusion_group_close(group, fusion->fused);
    }
}

void fuse(const struct queue *queue, struct queue *fused)
{
    struct arena *arena = fused->arena;
    struct fusion fusion = {.arena = arena, .queue = queue, .fused = fused};
    fusion.bundles = arena_array(arena, queue->count + 1, sizeof *fusion.bundles);
    fusion.readers = arena_array(arena, queue->count + 1, sizeof *fusion.readers);
    fusion.seen = arena_array(arena, queue->count + 1, sizeof *fusion.seen);
    fusion.producers = arena_array(arena, queue->count + 1, sizeof *fusion.producers);
    count_readers(&fusion);

    for (size_t t = 0; t < queue->count; t++) {
        const struct task *task = queue->tasks[t];
        const struct reading reading = read_task(&fusion, task);
        find_producers(&fusion, task);
        if (task->sink == SINK_OPERATOR) {
            if (t + 1 == queue->count)
                close_unread(&fusion, t, NULL);
            fusion.bundles[t] = fuse_operator(&fusion, &reading);
            continue;
        }
        struct fusion_group *group =
            can_join(&fusion, &reading) ? merge_producers(&fusion, task) : begin_bundle(&fusion, &reading);
        join(&fusion, group, &reading);
    }
    if (queue->count > 0) {
        struct fusion_group *result = fusion_group_of(&fusion, queue->tasks[queue->count - 1]);
        close_unread(&fusion, queue->count, result);
        fusion_group_close(result, fused);
    }
    mark_stages(&fusion);
}
