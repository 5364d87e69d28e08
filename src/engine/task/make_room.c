/* Columns of files that are kept for later statements are dropped before anything is spilled. */
#include "base/buffer_pool.h"
#include "base/integer.h"
#include "engine/env/env.h"
#include "engine/formats/file_cache.h"
#include "engine/task/run_task.h"

enum { ELEMENT_BYTES = 16 /* of an operator's rows, about */ };

/* At most about what a task stores. */
static int64_t task_bytes(const struct task *task, int64_t rows)
{
    int64_t row_bytes = task->sink == SINK_OPERATOR ? ELEMENT_BYTES : 0, bytes;
    for (size_t k = 0; k < task->output_count; k++)
        row_bytes += task->outputs[k].needed ? (int64_t)type_table[task->outputs[k].type].size : 0;
    return __builtin_mul_overflow(rows, row_bytes, &bytes) ? INT64_MAX : bytes;
}

void make_room(const struct runner *runner, const struct task *task, int64_t rows)
{
    struct file_cache *file_cache = runner->env ? runner->env->file_cache : NULL;
    const int64_t bytes = task_bytes(task, rows);
    if (!runner->pool || !file_cache || buffer_pool_has(runner->pool, bytes))
        return;
    const int64_t missing = bytes - buffer_pool_room(runner->pool);
    file_cache_shrink(file_cache, max_int64(file_cache_columns(file_cache).bytes - missing, 0));
}
