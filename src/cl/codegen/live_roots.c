#include "cl/codegen/live_roots.h"

size_t live_roots_count(const struct task *task)
{
    return task->filter_count + task->output_count + task->aggregate_count;
}

value live_roots_value(const struct task *task, size_t root)
{
    if (root < task->filter_count)
        return task->filters[root].keep;
    root -= task->filter_count;
    if (root < task->output_count)
        return task->sink == SINK_ROWS && task->outputs[root].needed ? task->outputs[root].value : NO_VALUE;
    root -= task->output_count;
    return task->sink != SINK_OPERATOR ? task->aggregates[root].value : NO_VALUE;
}

/* To a fixed point: a guard may follow what it guards. */
void live_roots_close(const struct code *code, bool *live)
{
    for (bool changed = true; changed;) {
        changed = false;
        code_mark_all(code, live);
        for (value v = 0; v < code->count; v++) {
            const struct instr *instr = &code->at[v];
            if (live[v] && instr->checked && instr->guard != NO_VALUE && !live[instr->guard])
                live[instr->guard] = changed = true;
        }
    }
}

void live_roots_mark(const struct task *task, struct live_roots needs, bool *live)
{
    for (size_t root = 0; root < live_roots_count(task); root++) {
        const bool wanted = root < task->filter_count                        ? needs.filters
                            : root < task->filter_count + task->output_count ? needs.outputs
                                                                             : needs.aggregates;
        if (wanted && live_roots_value(task, root) != NO_VALUE)
            live[live_roots_value(task, root)] = true;
    }
    live_roots_close(&task->code, live);
}
