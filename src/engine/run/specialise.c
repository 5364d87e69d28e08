#include "engine/run/specialise.h"

#include "engine/optimize/optimize.h"
#include "engine/run/input_columns.h"

const struct task *task_specialise(const struct runner *runner, const struct task *task, struct column *const *inputs,
                                   int64_t rows, struct arena *arena, struct column *const **columns)
{
    struct task *special = task_clone(task, arena);
    *columns = inputs_narrow(runner, special, inputs, arena);
    if (special->sink != SINK_OPERATOR)
        optimize_task(special, *columns, rows);
    return special;
}
