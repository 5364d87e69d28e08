/* Fusion by growing groups (fusion_group.h).
 *
 * Tasks are visited in order. A task that reads only tasks without other readers, row by row and with the same rows,
 * joins their group: its code is appended to the group's, with its inputs replaced by what the group computes. A group
 * that something reads without joining is closed: it becomes one fused task. Each task is copied once into a group and
 * once into the fused task, so time is linear in the length of the pipeline.
 *
 * A task that reads neighbouring rows joins too: what it reads is recomputed for each of them, where that is cheaper
 * than storing it. What is read at any position (GATHER), or by an operator, has to be a column: a task that only
 * passes columns on is read through, and disappears if it has no other reader; any other is closed. */
#include "engine/optimize/fusion_group.h"
#include "engine/optimize/passes.h"

#include <string.h>

/* A group of this many instructions does not grow further: kernel compilers take superlinear time and memory for very
 * long functions, and some crash. Storing a column every two thousand operations costs nothing in comparison. */
enum { MAX_INSTRUCTIONS = 2000 };

/* Neighbours are recomputed for each reader up to this many operations a row, about the cost of a pass over memory. */
enum { MAX_RECOMPUTED = 64 };

struct fusion_group *fusion_group_of(const struct fusion *fusion, const struct task *task)
{
    struct fusion_group *group = fusion->groups[task->number];
    while (group->into)
        group = group->into;
    return group;
}

static void add_producer(struct fusion *fusion, const struct task *task, struct task *producer)
{
    if (!producer || fusion->seen[producer->number] == task->number + 1)
        return;
    fusion->seen[producer->number] = task->number + 1;
    fusion->producers[fusion->producer_count++] = producer;
}

/* Of groups, or of all rows. */
static bool has_aggregates(const struct task *task)
{
    return task->sink == SINK_AGGREGATE || (task->sink == SINK_OPERATOR && task->column_op->kind == OPERATOR_GROUP);
}

/* The task that an input is of. Aggregates are not computed for what is passed on unread. */
static struct task *producer_of(const struct input *input)
{
    return input->task && (input->needed || !has_aggregates(input->task)) ? input->task : NULL;
}

/* The distinct tasks whose values or row counts `task` reads, row by row. */
static void find_producers(struct fusion *fusion, const struct task *task)
{
    fusion->producer_count = 0;
    add_producer(fusion, task, task->rows_from);
    for (size_t k = 0; k < task->input_count; k++) {
        if (!task->inputs[k].whole)
            add_producer(fusion, task, producer_of(&task->inputs[k]));
    }
    for (size_t k = 0; k < task->equal_count; k++)
        add_producer(fusion, task, task->equals[k]);
}

/* Whether the task only selects columns, and maybe a window. */
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
        if (task->inputs[k].column && !task->inputs[k].whole)
            return true;
    }
    return false;
}

/* Columns are read from the group's first row on, so the group must have as many rows and start at their first. */
static bool columns_align(const struct task *task, const struct fusion_group *group)
{
    for (size_t k = 0; k < task->input_count; k++) {
        const struct column *column = task->inputs[k].column;
        if (column && !task->inputs[k].whole &&
            (group->rows != column->rows || (group->first != 0 && group->input_count > 0)))
            return false;
    }
    return true;
}

/* The group that determines the first row: the first one with inputs, if any. */
static const struct fusion_group *leading_group(const struct fusion *fusion)
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
    return input->task ? fusion_group_column(fusion->groups[input->task->number], input->output) : input->column;
}

/* Whether everything that is read at any position is a column already. */
static bool wholes_are_columns(const struct fusion *fusion, const struct reading *reading)
{
    const struct task *task = reading->task;
    for (size_t k = 0; k < task->input_count; k++) {
        if (task->inputs[k].whole && reading->reads[k] && !column_read(fusion, &task->inputs[k]))
            return false;
    }
    return true;
}

/* Loops are long, and rows beyond the ends have no neighbours. */
static bool is_never_shifted(const struct instr *instr)
{
    return instr->op == OP_COUNTER || instr->op == OP_NEAR;
}

/* The number of operations that compute what the task reads of a producer. */
static int32_t operations_read(const struct fusion *fusion, const struct reading *reading, const struct task *producer)
{
    const struct fusion_group *group = fusion->groups[producer->number];
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
        operations += !live[v]                         ? 0
                      : is_never_shifted(&code->at[v]) ? MAX_RECOMPUTED + 1
                                                       : op_table[code->at[v].op].arity > 0;
    return operations;
}

/* The number of offsets at which the task reads a producer; 0 if only its own rows. */
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
        const int32_t offsets = offsets_read(fusion, reading, fusion->producers[i]);
        if (offsets > 0 && operations_read(fusion, reading, fusion->producers[i]) * offsets > MAX_RECOMPUTED)
            return false;
    }
    return true;
}

/* Whether a task may join the groups it reads. */
static bool can_join(const struct fusion *fusion, const struct reading *reading)
{
    const struct task *task = reading->task;
    if (task->sink == SINK_OPERATOR || fusion->producer_count == 0 || task->first != 0 || task->limit != INT64_MAX)
        return false;
    if (!wholes_are_columns(fusion, reading))
        return false;
    const struct fusion_group *leading = leading_group(fusion);
    const bool zipped = fusion->producer_count > 1 || has_columns(task);
    int32_t size = 0;
    for (size_t i = 0; i < fusion->producer_count; i++) {
        const struct task *producer = fusion->producers[i];
        const struct fusion_group *group = fusion_group_of(fusion, producer);
        if (group->made || fusion->readers[producer->number] != 1 || group->sink != SINK_ROWS)
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

/* Merges the groups the task reads into the largest, so that a long chain is not copied at every zip. */
static struct fusion_group *merge_producers(const struct fusion *fusion, const struct task *task)
{
    const struct fusion_group *leading = leading_group(fusion);
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
    if (!input.task)
        return input;
    struct fusion_group *from = fusion->groups[input.task->number];
    struct column *column = input.whole ? fusion_group_column(from, input.output) : NULL;
    if (column) {
        /* A task may also read the same columns row by row, and has then joined the group that passes them on. */
        if (!from->reader && fusion_group_of(fusion, input.task) != group)
            from->reader = group;
        input.column = column;
        input.task = NULL;
    } else {
        from = fusion_group_of(fusion, input.task);
        input.task = from->made;
        input.output = from->numbers ? from->numbers[input.output] : input.output;
    }
    return input;
}

/* Maps the task's INPUTs and row numbers to the group's values in `map`; returns the table of the INPUTs that its
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
        if (!input->whole && input->task && fusion_group_of(fusion, input->task) == group) {
            /* The producer was the last task of its group, even if that has been merged since. */
            const value read = fusion->groups[input->task->number]->outputs[input->output].value;
            map[v] = fusion_group_shift(group, read, instr->offset);
            continue;
        }
        const struct input fused = fused_input(fusion, group, *input);
        const value read = fusion_group_input(group, &fused, instr->offset, instr->span);
        if (instr->op == OP_INPUT)
            map[v] = read;
        else
            wholes[instr->integer] = read;
    }
    return wholes;
}

/* Appends the task to the group, which has the same rows. */
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
    group->output_count = task->output_count;
    group->outputs =
        arena_grow(fusion->arena, task->outputs, group->output_count, group->output_count + 1, sizeof *group->outputs);
    for (size_t k = 0; k < group->output_count; k++) {
        value *output = &group->outputs[k].value;
        *output =
            task->outputs[k].needed ? code_inline(&group->code, &task->code, *output, wholes, NO_VALUE, map) : NO_VALUE;
    }
    group->aggregates = arena_array(fusion->arena, task->aggregate_count + 1, sizeof *group->aggregates);
    group->aggregate_count = 0;
    for (size_t k = 0; k < task->aggregate_count; k++) {
        if (task->output_count > 0 && !task->outputs[k].needed)
            continue;
        struct aggregate *aggregate = &group->aggregates[group->aggregate_count++];
        *aggregate = task->aggregates[k];
        if (aggregate->value != NO_VALUE)
            aggregate->value = code_inline(&group->code, &task->code, aggregate->value, wholes, NO_VALUE, map);
    }
    fusion_group_window(group, &task->window);
    fusion->groups[task->number] = group;
}

static struct task *made_of(const struct fusion *fusion, const struct task *task)
{
    return !task ? NULL : fusion_group_of(fusion, task)->made;
}

/* Closes the groups that the task needs as columns. */
static void close_wholes(const struct fusion *fusion, const struct reading *reading)
{
    const struct task *task = reading->task;
    for (size_t k = 0; k < task->input_count; k++) {
        if (task->inputs[k].whole && reading->reads[k] && !column_read(fusion, &task->inputs[k]))
            fusion_group_close(fusion_group_of(fusion, task->inputs[k].task), fusion->fused);
    }
}

/* The number of rows of a task's outputs; -1 if only known when it has run. */
static int64_t rows_produced(const struct task *task)
{
    if (task->sink == SINK_AGGREGATE)
        return 1;
    if (task->rows < 0 || task->filter_count > 0 || task_has_window(task))
        return -1;
    return task->sink == SINK_OPERATOR ? operator_result_rows(task->column_op, task->rows) : task->rows;
}

/* A new group for a task that cannot join what it reads, or reads only columns. */
static struct fusion_group *begin_group(const struct fusion *fusion, const struct reading *reading)
{
    const struct task *task = reading->task;
    close_wholes(fusion, reading);
    for (size_t i = 0; i < fusion->producer_count; i++)
        fusion_group_close(fusion_group_of(fusion, fusion->producers[i]), fusion->fused);
    struct fusion_group *group = fusion_group_new(fusion->arena, task->first, task->rows, task->limit);
    group->rows_from = made_of(fusion, task->rows_from);
    for (size_t i = 0; i < task->equal_count; i++)
        fusion_group_equal(group, made_of(fusion, task->equals[i]));

    /* Fusion may know a row count that the binder did not: of a folded window. */
    const int64_t given = group->rows_from ? rows_produced(group->rows_from) : -1;
    if (group->rows < 0 && given >= 0) {
        const int64_t rest = given > group->first ? given - group->first : 0;
        group->rows = rest < group->limit ? rest : group->limit;
    }
    return group;
}

/* The fused task that contains a task, or reads columns through it; NULL if nothing reads it. */
static struct task *owner_of(const struct fusion *fusion, const struct task *task)
{
    const struct fusion_group *group = fusion_group_of(fusion, task);
    while (!group->made && group->reader) {
        group = group->reader;
        while (group->into)
            group = group->into;
    }
    return group->made;
}

/* Records the stages of each fused task, in the order written. */
static void mark_stages(struct fusion *fusion)
{
    const struct queue *queue = fusion->queue;
    struct task unread = {0};
    struct task **owners = arena_array(fusion->arena, queue->count + 1, sizeof(struct task *));
    for (size_t t = 0; t < queue->count; t++) {
        struct task *owner = owner_of(fusion, queue->tasks[t]);
        owners[t] = owner ? owner : &unread;
        owners[t]->stage_count += queue->tasks[t]->stage_count;
        owners[t]->span = span_join(owners[t]->span, queue->tasks[t]->span);
    }
    for (size_t t = 0; t < queue->count; t++) {
        if (!owners[t]->stages)
            owners[t]->stages = arena_array(fusion->arena, owners[t]->stage_count + 1, sizeof *owners[t]->stages);
    }
    for (size_t t = 0; t < queue->count; t++)
        owners[t]->stage_count = 0;
    for (size_t t = 0; t < queue->count; t++) {
        for (size_t i = 0; i < queue->tasks[t]->stage_count; i++)
            owners[t]->stages[owners[t]->stage_count++] = queue->tasks[t]->stages[i];
    }
}

/* Aggregates that nothing reads are left out with what is computed for them alone: steps of an aggregate, which cannot
 * fail where it is not asked for. */
static bool is_unread(const struct fusion *fusion, const struct task *task)
{
    return fusion->readers[task->number] == 0 && task->number + 1 < fusion->queue->count &&
           (has_aggregates(task) || task->sink == SINK_ROWS) && task->filter_count == 0 && task->equal_count == 0;
}

static void count_readers(struct fusion *fusion)
{
    for (size_t t = fusion->queue->count; t-- > 0;) {
        const struct task *task = fusion->queue->tasks[t];
        if (is_unread(fusion, task))
            continue;
        find_producers(fusion, task);
        for (size_t k = 0; k < task->input_count; k++)
            add_producer(fusion, task, producer_of(&task->inputs[k]));
        for (size_t i = 0; i < fusion->producer_count; i++)
            fusion->readers[fusion->producers[i]->number]++;
    }
    memset(fusion->seen, 0, fusion->queue->count * sizeof *fusion->seen);
}

static struct reading read_task(const struct fusion *fusion, const struct task *task)
{
    struct reading reading = {.task = task};
    reading.live = task_live(task, fusion->arena);
    reading.reads = arena_array(fusion->arena, task->input_count + 1, sizeof *reading.reads);
    for (value v = 0; v < task->code.count; v++) {
        const struct instr *instr = &task->code.at[v];
        if (!reading.live[v])
            continue;
        if (reads_input(instr))
            reading.reads[instr->integer] = true;
        reading.shifts = reading.shifts || instr->offset != 0;
        reading.uses_rows = reading.uses_rows || instr->op == OP_ROW || instr->op == OP_ROWS || instr->offset != 0;
    }
    return reading;
}

/* Closes the groups that may fail though nothing reads them, among the first `count` tasks; the result comes last. All
 * others have been closed by their readers, or are read through. */
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
    fusion.groups = arena_array(arena, queue->count + 1, sizeof *fusion.groups);
    fusion.readers = arena_array(arena, queue->count + 1, sizeof *fusion.readers);
    fusion.seen = arena_array(arena, queue->count + 1, sizeof *fusion.seen);
    fusion.producers = arena_array(arena, queue->count + 1, sizeof *fusion.producers);
    count_readers(&fusion);

    for (size_t t = 0; t < queue->count; t++) {
        const struct task *task = queue->tasks[t];
        const struct reading reading = read_task(&fusion, task);
        find_producers(&fusion, task);
        if (is_unread(&fusion, task)) {
            fusion.groups[t] = fusion_group_new(arena, 0, task->rows, INT64_MAX);
            continue;
        }
        if (task->sink == SINK_OPERATOR) {
            if (t + 1 == queue->count)
                close_unread(&fusion, t, NULL);
            fusion.groups[t] = fuse_operator(&fusion, &reading);
            continue;
        }
        struct fusion_group *group =
            can_join(&fusion, &reading) ? merge_producers(&fusion, task) : begin_group(&fusion, &reading);
        join(&fusion, group, &reading);
    }
    if (queue->count > 0) {
        struct fusion_group *result = fusion_group_of(&fusion, queue->tasks[queue->count - 1]);
        close_unread(&fusion, queue->count, result);
        fusion_group_close(result, fused);
    }
    mark_stages(&fusion);
}
