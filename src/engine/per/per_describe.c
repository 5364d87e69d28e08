#include "engine/per/bind_per.h"

#include "engine/expression/evaluated.h"
#include "engine/source/bind_source.h"

#include <string.h>

/* The column that a key is; flow->count: none, and an error is recorded. */
static size_t column_of_key(struct binder *binder, const struct item *item, const struct flow *flow)
{
    const struct expr *expr = item->expr;
    if (expr->kind == EXPR_POSITION && expr->integer >= 1 && (size_t)expr->integer <= flow->count)
        return (size_t)expr->integer - 1;
    if (expr->kind != EXPR_NAME || item->name.text) {
        bind_error(binder, item->span, "`derive NAME = E` before it makes one", "keys of `describe` are columns");
        return flow->count;
    }
    const size_t k = flow_place(flow, expr->name.text);
    if (k == flow->count)
        bind_error(binder, item->span, NULL, "there is no column `%s`", expr->name.text);
    return k;
}

/* A key that is called as a column of the description would be there twice. */
static bool is_free(struct binder *binder, const struct item *item, const char *name)
{
    static const char *const titles[] = {
#define DESCRIPTION_COLUMN(what, title, store, meaning) (title),
#include "engine/plan/description.def"
    };
    return !TABLE_ROW(titles, name) ||
           bind_error(binder, item->span, "`rename` the key before it", "`describe` gives a column `%s`, too", name);
}

/* The pipeline before the stage, with its rows in the order of the keys. */
static const struct pipeline *sorted_before(struct binder *binder, const struct stage *stage)
{
    struct pipeline *pipeline = pipeline_up_to_stage(binder);
    const size_t before = pipeline->stage_count;
    struct stage *stages = arena_grow(binder->arena, pipeline->stages, before, before + 1, sizeof *stages);
    stages[before] = (struct stage){.word = word_canonical(word_find("sort", strlen("sort"))),
                                    .span = stage->span,
                                    .word_span = stage->word_span,
                                    .items = stage->items,
                                    .item_count = stage->item_count};
    pipeline->stages = stages;
    pipeline->stage_count = before + 1;
    return pipeline;
}

void per_describe(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct arena *arena = binder->arena;
    struct slot *keys = arena_array(arena, stage->item_count + 1, sizeof *keys);
    const char **names = arena_array(arena, stage->item_count + 1, sizeof *names);
    if (flow->open) {
        task_unknown(binder, stage, flow);
        return;
    }
    for (size_t i = 0; i < stage->item_count; i++) {
        const size_t k = column_of_key(binder, &stage->items[i], flow);
        if (k == flow->count || !is_free(binder, &stage->items[i], flow->columns[k].name)) {
            task_unknown(binder, stage, flow);
            return;
        }
        keys[i] = flow->columns[k];
        keys[i].validity = keys[i].key = keys[i].origin = 0;
        names[i] = keys[i].name;
    }
    struct evaluated *evaluated = evaluated_find(binder, binder->stage);
    if (!evaluated) {
        evaluated = evaluated_request(binder, binder->stage, sorted_before(binder, stage), flow, NULL);
        evaluated->described = true;
        evaluated->keys = names;
        evaluated->key_count = stage->item_count;
    }
    bind_description(binder, stage, evaluated, keys, flow);
}
