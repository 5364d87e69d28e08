#include "stages.h"

enum { MOST_STAGES = 12 };

static const char *join_stages(const struct task *task, struct arena *arena, bool names, const char *between)
{
    struct strbuf text = {0};
    for (size_t i = 0; i < task->stage_count && i < MOST_STAGES; i++) {
        const struct stage_mark *stage = &task->stages[i];
        strbuf_puts(&text, i > 0 ? between : "");
        strbuf_puts(&text, names ? stage->name : stage->text);
    }
    if (task->stage_count > MOST_STAGES)
        strbuf_printf(&text, "%s… %zu more", between, task->stage_count - MOST_STAGES);
    const char *copy = arena_text(arena, text.text ? text.text : "", text.length);
    strbuf_free(&text);
    return copy;
}

const char *stages_title(const struct task *task, struct arena *arena)
{
    return join_stages(task, arena, true, "+");
}

const char *stages_text(const struct task *task, struct arena *arena)
{
    return join_stages(task, arena, false, " | ");
}

const struct stage_mark *stage_of_span(const struct task *task, struct span span)
{
    for (size_t i = 0; span.source && i < task->stage_count; i++) {
        const struct span *stage = &task->stages[i].span;
        if (stage->source == span.source && stage->begin <= span.begin && span.end <= stage->end)
            return &task->stages[i];
    }
    return NULL;
}
