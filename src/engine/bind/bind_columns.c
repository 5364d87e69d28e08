/* Stages that compute or choose columns: map, braid, derive, nth, pick. */
#include "engine/bind/bind_internal.h"

#include <string.h>

/* Binds an item as a column: a bare column keeps its type and, without `as`, its name. The caller chooses a name where
 * slot->name is NULL. */
static struct term bind_item(struct scope *scope, const struct item *item, struct slot *slot)
{
    size_t index;
    struct term term = term_as_column(scope->binder, bind_term(scope, item->expr));
    *slot = slot_of_term(scope, term);
    slot->name = item->name.text;
    if (!bind_is_column(scope, item->expr, term, &index))
        return term;
    const struct slot *column = &scope->flow->columns[index];
    if (slot->name == NULL || strcmp(slot->name, column->name) == 0) {
        slot->name = column->name;
        slot->key = column->key;
    }
    slot->origin = column->origin;
    return term;
}

static bool is_bare(const struct item *item)
{
    return item->name.text == NULL && (item->expr->kind == EXPR_NAME || item->expr->kind == EXPR_POSITION);
}

void bind_map(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    size_t count = stage->item_count;
    if (stage_expr(binder, stage) == NULL || too_many_columns(binder, count, stage->span)) {
        flow->open = true;
        return;
    }
    struct task *task = task_of_stage(binder, stage, flow);
    struct scope scope = scope_of_stage(binder, task, flow, stage->head);
    struct slot *columns = arena_array(binder->arena, count, sizeof *columns);
    struct term *terms = arena_array(binder->arena, count, sizeof *terms);
    bool open = false;
    scope.given = stage->items;
    for (size_t i = 0; i < count; i++) {
        scope.given_count = i;
        terms[i] = bind_item(&scope, &stage->items[i], &columns[i]);
        open = open || (!term_is_known(terms[i]) && is_bare(&stage->items[i])); /* its full name is not known */
    }
    name_columns(binder, columns, count);
    task_set_outputs(binder, task, flow, columns, terms, count);
    flow->open = open;
}

/* Finds the column's place: that of the column of its name, or after the last. False if this stage derived it already.
 * */
static bool place_column(struct binder *binder, const struct item *item, const struct slot *columns, size_t count,
                         const struct item **given, size_t *place)
{
    size_t at = 0;
    while (at < count && strcmp(columns[at].name, item->name.text) != 0)
        at++;
    if (at < count && given[at] != NULL) {
        bind_error_second(binder, item->name.span, given[at]->name.span, "here first", NULL, "`%s` is derived twice",
                          item->name.text);
        return false;
    }
    if (at < count && columns[at].key != 0) {
        bind_error(binder, item->name.span, "give the derived column another name",
                   "`%s` is a key of `per`, which stays as it is", item->name.text);
        return false;
    }
    given[at] = item;
    *place = at;
    return true;
}

void bind_derive(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    size_t count = flow->count;
    size_t most = count + stage->item_count;
    if (stage_expr(binder, stage) == NULL || too_many_columns(binder, most, stage->span)) {
        flow->open = true;
        return;
    }
    struct task *task = task_of_stage(binder, stage, flow);
    struct scope scope = scope_of_stage(binder, task, flow, stage->head);
    struct slot *columns = arena_grow(binder->arena, flow->columns, count, most, sizeof *columns);
    struct term *terms = arena_array(binder->arena, most, sizeof *terms);
    const struct item **given = arena_array(binder->arena, most, sizeof(const struct item *));
    for (size_t i = 0; i < count; i++)
        terms[i] = term_of_column(&task->code, flow, i, stage->span);
    scope.given = stage->items;
    for (size_t i = 0; i < stage->item_count; i++) {
        const struct item *item = &stage->items[i];
        struct slot slot;
        size_t place;
        scope.given_count = i;
        struct term term = bind_item(&scope, item, &slot);
        if (item->name.text == NULL) {
            bind_error(binder, item->span, "write `NAME = EXPRESSION`", "a derived column needs a name");
            continue;
        }
        if (!place_column(binder, item, columns, count, given, &place))
            continue;
        columns[place] = slot;
        terms[place] = term;
        if (place == count)
            count++;
    }
    task_set_outputs(binder, task, flow, columns, terms, count);
}

static void keep_columns(struct binder *binder, const struct stage *stage, struct flow *flow, const size_t *indices,
                         size_t count)
{
    struct task *task = task_of_stage(binder, stage, flow);
    struct slot *columns = arena_array(binder->arena, count, sizeof *columns);
    struct term *terms = arena_array(binder->arena, count, sizeof *terms);
    for (size_t i = 0; i < count; i++) {
        columns[i] = flow->columns[indices[i]];
        terms[i] = term_of_column(&task->code, flow, indices[i], stage->span);
    }
    number_duplicates(binder, columns, count);
    task_set_outputs(binder, task, flow, columns, terms, count);
    flow->open = false;
}

/* fsts, snds and nth K (1-based) */
void bind_nth(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    int64_t position = stage->word->stage == STAGE_FSTS ? 1 : 2;
    size_t index;
    bool known = true;
    if (stage->word->stage == STAGE_NTH)
        known = stage_number(binder, stage, 1, &position);
    struct scope scope = {.binder = binder, .flow = flow};
    if (known && name_position(&scope, position, stage->span, &index))
        keep_columns(binder, stage, flow, &index, 1);
    else
        task_unknown(binder, stage, flow);
}

static bool has_new_names(const struct stage *stage)
{
    for (size_t i = 0; i < stage->item_count; i++) {
        if (stage->items[i].name.text != NULL)
            return true;
    }
    return false;
}

void bind_pick(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    if (has_new_names(stage)) {
        bind_rename(binder, stage, flow);
        return;
    }
    size_t count = stage->item_count;
    struct scope scope = {.binder = binder, .flow = flow};
    bool known = stage_expr(binder, stage) != NULL && !too_many_columns(binder, count, stage->span);
    if (!known)
        count = 0;
    size_t *indices = arena_array(binder->arena, count, sizeof *indices);
    for (size_t i = 0; i < count; i++)
        known = name_resolve_column(&scope, stage->items[i].expr, &indices[i]) && known;
    if (known)
        keep_columns(binder, stage, flow, indices, count);
    else
        task_unknown(binder, stage, flow);
}
