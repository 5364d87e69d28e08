/* What a sort, a group or a distinct may divide on the disk, and what joins do, as far as row counts are known. */
#include "base/buffer_pool.h"
#include "engine/explain/explain_task.h"

enum { ELEMENT_BYTES = 16 /* a key and what goes with it, at most where keys have one word */ };

static int64_t moved_bytes(const struct task *task)
{
    int64_t bytes = 0;
    for (size_t k = 0; k < task->input_count; k++)
        bytes += (int64_t)type_table[task->inputs[k].type].size;
    return bytes;
}

static int64_t result_bytes(const struct task *task)
{
    int64_t bytes = 0;
    for (size_t k = 0; k < task->output_count; k++)
        bytes += task->outputs[k].needed ? (int64_t)type_table[task->outputs[k].type].size : 0;
    return bytes;
}

/* "unless its groups are few": NULL where the rows of a task are never divided. */
static const char *condition_of(const struct task *task)
{
    const struct column_operator *column_op = task->column_op;
    if (!column_op || task->rows <= 0)
        return NULL;
    switch (column_op->kind) {
    case OPERATOR_SORT:
        return operator_selects(column_op, task->rows) ? NULL : "unless they are in order";
    case OPERATOR_GROUP:
        return column_op->key_count > 0 ? "unless their groups are few" : NULL;
    case OPERATOR_DISTINCT:
        return "unless few are distinct";
    default:
        return NULL;
    }
}

/* A match, which is there because memory has no room. */
static void explain_match(struct strbuf *out, const struct task *task)
{
    const size_t *keys = task->column_op->keys;
    const struct match_operator *match = task->column_op->match;
    int64_t left = (int64_t)sizeof(int32_t), right = 0; /* bytes of a row; of the left its number */
    for (size_t k = 0; k < task->column_op->key_count; k++) {
        const bool here = k < match->key_count * MATCH_KEY_INPUTS && k % MATCH_KEY_INPUTS < MATCH_RIGHT;
        const bool again = k < match->key_count * MATCH_KEY_INPUTS && k % 2 == 1 && keys[k] == keys[k - 1];
        *(here ? &left : &right) += again ? 0 : (int64_t)type_table[task->inputs[keys[k]].type].size;
    }
    const int64_t rows = task->inputs[keys[MATCH_RIGHT]].column->rows;
    const double bytes = (double)rows * (double)right + (task->rows > 0 ? (double)task->rows * (double)left : 0);
    strbuf_printf(out, "memory: task %zu divides %s%.3g GB of rows on the disk: an index of %lld rows does not fit\n",
                  task->number + 1, task->rows > 0 ? "" : "more than ", bytes / 1e9, (long long)rows);
}

void explain_spilled(struct strbuf *out, const struct queue *queue, struct buffer_pool *pool)
{
    const int64_t room = buffer_pool_room(pool);
    for (size_t t = 0; pool && t < queue->count; t++) {
        const struct task *task = queue->tasks[t];
        const char *condition = condition_of(task);
        int64_t needed;
        if (task->column_op && task->column_op->kind == OPERATOR_MATCH)
            explain_match(out, task);
        if (!condition || __builtin_mul_overflow(task->rows, ELEMENT_BYTES + result_bytes(task), &needed) ||
            needed <= room)
            continue;
        strbuf_printf(
            out, "memory: task %zu may take %.3g GB, and %.3g are free: %.3g GB of rows are divided on the disk, %s\n",
            t + 1, (double)needed / 1e9, (double)room / 1e9, (double)task->rows * (double)moved_bytes(task) / 1e9,
            condition);
    }
}
