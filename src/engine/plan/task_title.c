#include "engine/plan/task_title.h"

enum { MOST_STAGES = 12 };

static bool covers(struct span outer, struct span inner)
{
    return outer.source == inner.source && outer.begin <= inner.begin && inner.end <= outer.end;
}

/* Whether a later stage's text contains this one's, as zip contains its sources, or equals it, where a stage has
 * several tasks. */
static bool is_part_of_later(const struct task *task, size_t stage)
{
    for (size_t i = stage + 1; i < task->stage_count; i++) {
        if (covers(task->stages[i].span, task->stages[stage].span))
            return true;
    }
    return false;
}

static const char *join_stages(const struct task *task, struct arena *arena, bool names, const char *between)
{
    struct strbuf text = {0};
    size_t shown = 0, i;
    for (i = 0; i < task->stage_count && shown < MOST_STAGES; i++) {
        const struct stage_mark *stage = &task->stages[i];
        if (is_part_of_later(task, i))
            continue;
        strbuf_puts(&text, shown++ > 0 ? between : "");
        strbuf_puts(&text, names ? stage->name : stage->text);
    }
    if (i < task->stage_count)
        strbuf_printf(&text, "%s… %zu more", between, task->stage_count - i);
    return strbuf_take(&text, arena);
}

const char *stages_title(const struct task *task, struct arena *arena)
{
    return join_stages(task, arena, true, "+");
}

const char *stages_text(const struct task *task, struct arena *arena)
{
    return join_stages(task, arena, false, " | ");
}

int task_passes(const struct task *task)
{
    enum { OF_OPERATOR = 3, OF_SORT = 6 };
    if (task->sink != SINK_OPERATOR)
        return 1;
    const bool sorts = task->column_op->kind == OPERATOR_SORT || task->column_op->kind == OPERATOR_PARTITION;
    return sorts ? OF_SORT : OF_OPERATOR;
}

struct progress_step task_whole(const struct task *task, struct column *const *inputs, int64_t rows,
                                struct arena *arena)
{
    struct progress_step whole = {.what = stages_title(task, arena), .rows = rows, .passes = task_passes(task)};
    int64_t row = 0; /* bytes */
    for (size_t k = 0; k < task->input_count; k++)
        row += inputs[k] ? (int64_t)type_table[inputs[k]->store].size : 0;
    if (__builtin_mul_overflow(rows, row, &whole.bytes))
        whole.bytes = 0; /* of a table on a server, whose rows are a guess */
    return whole;
}

const struct stage_mark *stage_of_span(const struct task *task, struct span span)
{
    for (size_t i = 0; span.source && i < task->stage_count; i++) {
        if (covers(task->stages[i].span, span))
            return &task->stages[i];
    }
    return NULL;
}
