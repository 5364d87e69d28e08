/* Stages that compute, choose, drop or name columns: map, braid, derive, nth, pick, drop, rename. */
#include "engine/bind/bind_internal.h"
#include "engine/expression/texts.h"

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
    if (!slot->name || strcmp(slot->name, column->name) == 0) {
        slot->name = column->name;
        slot->key = column->key;
    }
    slot->origin = column->origin;
    return term;
}

static bool is_bare(const struct item *item)
{
    return !item->name.text && (item->expr->kind == EXPR_NAME || item->expr->kind == EXPR_POSITION);
}

void bind_map(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    const size_t count = stage->item_count;
    if (!stage_expr(binder, stage) || too_many_columns(binder, count, stage->span)) {
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
    if (at < count && given[at])
        return bind_error_second(binder, item->name.span, given[at]->name.span, "here first", NULL,
                                 "`%s` is derived twice", item->name.text);
    if (at < count && columns[at].key != 0)
        return bind_error(binder, item->name.span, "give the derived column another name",
                          "`%s` is a key of `per`, which stays as it is", item->name.text);
    given[at] = item;
    *place = at;
    return true;
}

/* How many names of the stage are no columns yet. */
static size_t count_new(const struct stage *stage, const struct flow *flow)
{
    size_t count = stage->item_count;
    for (size_t i = 0; i < stage->item_count; i++) {
        const char *name = stage->items[i].name.text;
        count -= name && flow_column(flow, name);
    }
    return count;
}

void bind_derive(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    size_t count = flow->count;
    const size_t most = count + stage->item_count;
    if (!stage_expr(binder, stage) ||
        (most > LIMIT_COLUMNS && too_many_columns(binder, count + count_new(stage, flow), stage->span))) {
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
        size_t place = 0;
        scope.given_count = i;
        struct term term = bind_item(&scope, item, &slot);
        if (!item->name.text) {
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
        if (stage->items[i].name.text)
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
    bool known = stage_expr(binder, stage) && !too_many_columns(binder, count, stage->span);
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

/* The columns that drop, rename or pick with `as` keeps: a `map` of columns by position. */
struct kept {
    struct item *items; /* one each, of an EXPR_POSITION and its new name */
    size_t count;
};

static void keep(struct binder *binder, struct kept *kept, size_t index, const char *text, struct span span)
{
    struct expr *position = expr_of_column(binder->arena, index, span);
    kept->items[kept->count++] = (struct item){.expr = position, .name = {text, span}, .span = span};
}

/* Reports a new name that another column has. */
static bool names_differ(struct binder *binder, const struct stage *stage, const struct kept *kept)
{
    for (size_t i = 0; i < stage->item_count; i++) {
        const struct name *name = &stage->items[i].name;
        size_t same = 0;
        for (size_t k = 0; name->text && k < kept->count; k++)
            same += strcmp(kept->items[k].name.text, name->text) == 0;
        if (same < 2)
            continue;
        return bind_error(binder, name->span, "give it another name, or `drop` the other column",
                          "two columns would have the name `%s`", name->text);
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
    const enum stage_kind kind = stage->word->stage;
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
        if (!item)
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
