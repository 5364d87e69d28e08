#include "engine/task/kept_state.h"

#include "base/integer.h"

struct column *kept_column_new(const struct kept_rounds *kept, enum type type, enum type store, int64_t rows)
{
    struct column *column = column_reserve_from(kept->runner->pool, type, store, rows);
    if (column)
        column_finish(column, rows);
    return column;
}

static bool is_integer(const struct column *column)
{
    return type_table[column->type].kind == KIND_INT;
}

static enum type store_of_range(const struct interval_of_column *range)
{
    return range->lo >= INT32_MIN && range->hi <= INT32_MAX ? TYPE_I32 : TYPE_I64;
}

bool kept_state_make(struct kept_rounds *kept, struct column *const *inputs)
{
    for (size_t k = 0; k < kept->loop->count; k++) {
        const struct column *from = inputs[k];
        column_unref(kept->state[k]);
        column_unref(kept->after[k]);
        kept->state[k] = kept->after[k] = NULL;
        if (kept->carried[k]) {
            kept->state[k] = column_ref(inputs[k]);
            kept->after[k] = column_ref(inputs[k]);
            continue;
        }
        const enum type type = kept->loop->state[k]->type;
        const enum type store = is_integer(from) ? store_of_range(&kept->ranges[k]) : type;
        kept->state[k] = kept_column_new(kept, type, store, kept->rows);
        kept->after[k] = kept_column_new(kept, type, store, kept->rows);
        if (!kept->state[k] || !kept->after[k])
            return false;
        for (int i = 0; i < 2; i++) {
            struct column *column = i == 0 ? kept->state[k] : kept->after[k];
            column_set_logical(column, kept->loop->state[k]->logical);
            column_set_range(column, is_integer(from), kept->ranges[k].lo, kept->ranges[k].hi);
        }
    }
    return true;
}

/* Whether output k of the last task is column k of the state as it is. */
static bool is_carried(const struct kept_rounds *kept, const struct kept_task *last, size_t k)
{
    const struct instr *instr = &last->task->code.at[last->task->outputs[k].value];
    return last->task->sink == SINK_ROWS && instr->op == OP_INPUT && instr->offset == 0 && last->task->first == 0 &&
           last->columns[instr->integer] == kept->state[k];
}

bool kept_ranges_hold(struct kept_rounds *kept, int attempt)
{
    enum { UNIONS = 3, NARROW = 4 };
    const struct kept_queue *body = &kept->queues[0];
    const struct kept_task *last = &body->tasks[body->count - 1];
    bool hold = true;
    for (size_t k = 0; k < kept->loop->count; k++) {
        struct interval_of_column *range = &kept->ranges[k];
        if (is_carried(kept, last, k) != kept->carried[k]) {
            kept->carried[k] = !kept->carried[k];
            hold = false;
        }
        if (kept->carried[k] || !is_integer(kept->state[k]) || last->task->sink != SINK_ROWS)
            continue;
        const struct instr *instr = &last->task->code.at[last->task->outputs[k].value];
        if (instr->lo >= range->lo && instr->hi <= range->hi)
            continue;
        hold = false;
        range->lo = min_int64(range->lo, instr->lo);
        range->hi = max_int64(range->hi, instr->hi);
        if (attempt >= UNIONS) {
            const bool narrow = attempt < NARROW && store_of_range(range) == TYPE_I32;
            range->lo = narrow ? INT32_MIN : INT64_MIN;
            range->hi = narrow ? INT32_MAX : INT64_MAX;
        }
    }
    return hold;
}

void kept_ranges_init(struct kept_rounds *kept, struct column *const *inputs)
{
    for (size_t k = 0; k < kept->loop->count; k++) {
        const struct column *column = inputs[k];
        kept->carried[k] = kept->loop->state[k]->logical.kind == LOGICAL_TEXT; /* which cannot change */
        kept->ranges[k] = (struct interval_of_column){type_table[column->store].lo, type_table[column->store].hi};
        if (column->range_known && column->rows > 0)
            kept->ranges[k] = (struct interval_of_column){column->lo, column->hi};
    }
}
