#include "engine/task/input_columns.h"

#include "engine/backend/backend_choice.h"
#include "engine/optimize/optimize.h"
#include "engine/storage/column_stats.h"

/* Whether a device has the column but would have to upload the copy. */
static bool has_wide_only(struct backend *backend, const struct column *column, const struct column *copy)
{
    int64_t (*absent)(struct backend *, const struct column *, int64_t, int64_t) = backend->ops->absent;
    return absent && absent(backend, column, 0, column->rows) == 0 && absent(backend, copy, 0, copy->rows) > 0;
}

static struct column *choose(const struct runner *runner, struct column *column)
{
    struct column *copy = column ? column_narrow(column) : NULL;
    if (!copy)
        return column;
    for (size_t k = 0; runner->chooser && k < chooser_count(runner->chooser); k++) {
        if (has_wide_only(chooser_backend(runner->chooser, k), column, copy))
            return column;
    }
    return copy;
}

/* The range may be narrower than the narrowest type: the sum of two 30-bit elements fits in 31 bits. */
static void note_range(struct input *input, const struct column *column)
{
    const struct zonemap *zones = column ? column_zones(column) : NULL;
    if (!zones || type_table[column->store].kind != KIND_INT || zones->all.lo > zones->all.hi)
        return;
    input->range_known = true;
    input->lo = zones->all.lo;
    input->hi = zones->all.hi;
}

/* Returns the columns to read in place of `inputs`, and sets the ranges of the task's inputs that the statistics know.
 * Returns `inputs` where the user has named a device, which has copies of the columns themselves. */
static struct column *const *narrow(const struct runner *runner, struct task *task, struct column *const *inputs,
                                    struct arena *arena)
{
    if (!runner->collector)
        return inputs;
    const bool keeps = runner->device && !stats_collector_is_eager(runner->collector);
    struct column **chosen = arena_array(arena, task->input_count, sizeof(struct column *));
    for (size_t k = 0; k < task->input_count; k++) {
        chosen[k] = keeps ? inputs[k] : choose(runner, inputs[k]);
        note_range(&task->inputs[k], inputs[k]);
    }
    return chosen;
}

const struct task *task_specialise(const struct runner *runner, const struct task *task, struct column *const *inputs,
                                   int64_t rows, struct arena *arena, struct column *const **columns)
{
    struct task *special = task_clone(task, arena);
    *columns = narrow(runner, special, inputs, arena);
    if (special->sink != SINK_OPERATOR)
        optimize_task(special, *columns, rows);
    derive_sums(special, NULL);
    return special;
}

void inputs_collect_stats(const struct runner *runner, const struct task *task, struct column *const *inputs,
                          int64_t rows)
{
    for (size_t k = 0; k < task->input_count; k++) {
        struct column *column = task->inputs[k].task ? NULL : inputs[k];
        if (column && rows >= column->rows - column->rows / 2)
            stats_collector_add(runner->collector, column);
    }
}
