#include "engine/explain/explain_task.h"

#include "engine/optimize/optimize.h"
#include "engine/plan/code_loop.h"
#include "engine/task/kept_rounds.h"

/* Why programs cannot be made once; NULL: they can. */
static const char *why_anew(const struct task *task)
{
    if (task->sink == SINK_OPERATOR)
        return "an operator";
    if (task->filter_count > 0)
        return "a filter";
    return task_has_window(task) ? "a number of rows" : "a value of all rows";
}

/* Whether a device computes the aggregates of the task without the host, except that it may have no form for it. */
static bool combines(const struct task *task)
{
    for (size_t k = 0; k < task->aggregate_count; k++) {
        const struct aggregate *aggregate = &task->aggregates[k];
        const bool sum = aggregate->kind == AGG_SUM && task->code.at[aggregate->value].kind == KIND_FLOAT;
        if (sum || aggregate->kind == AGG_MEAN || aggregate->kind == AGG_PRODUCT || aggregate->kind == AGG_FOLD ||
            aggregate->has_initial)
            return false;
    }
    return true;
}

const char *rounds_form(const struct loop *loop, const struct queue *const *queues, struct arena *arena)
{
    bool alone = true, groups = false;
    for (size_t q = 0; q < LOOP_QUEUES; q++) {
        for (size_t t = 0; t < queues[q]->count; t++) {
            const struct task *task = queues[q]->tasks[t];
            const bool group = q == 0 && t + 1 < queues[q]->count && kept_rounds_may_keep_group(task);
            groups = groups || group;
            if (!kept_rounds_may_keep(task) && !group)
                return arena_printf(arena, "each round is planned anew, because of %s", why_anew(task));
            alone = alone && combines(task);
        }
    }
    if (groups)
        return "each round is planned anew, because of a group; a device runs rounds in batches while there is a group "
               "for each row of the state";
    if (!alone)
        return "programs are made once; the host starts each round on a device, because of a sum of floats, a mean or "
               "a product";
    const struct task *last = queues[0]->tasks[queues[0]->count - 1];
    const bool fuses =
        queues[2]->count > 1 && !code_has_loops(&last->code) && fuse_until(loop, last, queues[2]->tasks[0], arena);
    return arena_printf(arena, "programs are made once; a device runs rounds in batches%s",
                        fuses ? ", and `until` in the pass of its round" : "");
}
