/* Stages that drop or name columns: drop, rename, and pick with `as`. Each is a `map` of columns by position. */
#include "engine/bind/bind_internal.h"

#include <string.h>

/* The columns that a stage keeps. */
struct kept {
    struct item *items; /* one each, of an EXPR_POSITION and its new name */
    size_t count;
};

static void keep(struct binder *binder, struct kept *kept, size_t index, const char *text, struct span span)
{
    struct expr *position = arena_alloc(binder->arena, sizeof *position);
    *position = (struct expr){.kind = EXPR_POSITION, .span = span, .integer = (int64_t)index + 1, .depth = 1};
    kept->items[kept->count++] = (struct item){.expr = position, .name = {text, span}, .span = span};
}

/* Reports a new name that another column has. */
static bool names_differ(struct binder *binder, const struct stage *stage, const struct kept *kept)
{
    for (size_t i = 0; i < stage->item_count; i++) {
        const struct name *name = &stage->items[i].name;
        size_t same = 0;
        for (size_t k = 0; name->text != NULL && k < kept->count; k++)
            same += strcmp(kept->items[k].name.text, name->text) == 0;
        if (same < 2)
            continue;
        bind_error(binder, name->span, "give it another name, or `drop` the other column",
                   "two columns would have the name `%s`", name->text);
        return false;
    }
    return true;
}

/* Maps to the kept columns. */
static void bind_kept(struct binder *binder, const struct stage *stage, struct flow *flow, const struct kept *kept)
{
    struct stage map = *stage;
    map.items = kept->items;
    map.item_count = kept->count;
    if (names_differ(binder, stage, kept))
        bind_map(binder, &map, flow);
    else
        task_unknown(binder, stage, flow);
}

/* Finds the column of each item. False, with an error, if there is none or one is named twice; in an open relation
 * without an error. */
static bool find_columns(struct binder *binder, const struct stage *stage, const struct flow *flow, size_t *indices,
                         bool twice)
{
    struct scope scope = {.binder = binder, .flow = flow};
    bool found = true;
    for (size_t i = 0; i < stage->item_count; i++) {
        found = name_resolve_column(&scope, stage->items[i].expr, &indices[i]) && found;
        if (found && stage->word->stage != STAGE_PICK && flow->columns[indices[i]].key != 0) {
            bind_error(binder, stage->items[i].expr->span, "keys stay columns under their names",
                       "`%s` is a key of `per`: it cannot be dropped or renamed within it",
                       flow->columns[indices[i]].name);
            found = false;
        }
        for (size_t k = 0; found && !twice && k < i; k++) {
            if (indices[k] != indices[i])
                continue;
            bind_error_second(binder, stage->items[i].expr->span, stage->items[k].expr->span, "here first", NULL,
                              "the column `%s` is named twice", flow->columns[indices[i]].name);
            found = false;
        }
    }
    return found && !flow->open;
}

void bind_rename(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    enum stage_kind kind = stage->word->stage;
    size_t *indices = arena_array(binder->arena, stage->item_count, sizeof *indices);
    if (!find_columns(binder, stage, flow, indices, kind == STAGE_PICK)) {
        task_unknown(binder, stage, flow);
        return;
    }
    struct kept kept = {arena_array(binder->arena, flow->count + stage->item_count, sizeof *kept.items), 0};
    for (size_t i = 0; kind == STAGE_PICK && i < stage->item_count; i++) {
        const struct item *item = &stage->items[i];
        const char *name = item->name.text ? item->name.text : flow->columns[indices[i]].name;
        keep(binder, &kept, indices[i], name, item->span);
    }
    for (size_t k = 0; kind != STAGE_PICK && k < flow->count; k++) {
        const struct item *item = NULL;
        for (size_t i = 0; i < stage->item_count; i++)
            item = indices[i] == k ? &stage->items[i] : item;
        if (item == NULL)
            keep(binder, &kept, k, flow->columns[k].name, stage->span);
        else if (kind == STAGE_RENAME)
            keep(binder, &kept, k, item->name.text, item->span);
    }
    if (kept.count == 0) {
        bind_error(binder, stage->span, "`count` is the number of rows", "`drop` would leave no column");
        task_unknown(binder, stage, flow);
        return;
    }
    bind_kept(binder, stage, flow, &kept);
}
