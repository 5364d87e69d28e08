/* join and lookup: rows of another relation, found by their keys.
 *
 * The right side is evaluated before (evaluated.h), and its keys indexed. Where each key has one row, the columns of
 * the right are read at the place that the index gives: a join is typed code that fuses with what is around it. Else
 * there is an operator between: for each row of the left it has as many rows as match. */
#include "engine/join/join.h"

#include "base/text.h"
#include "engine/bind/facts.h"
#include "engine/join/join_stages.h"
#include "engine/source/bind_source.h"

#include <string.h>

static enum join_kind kind_of(const struct stage *stage)
{
    static const struct row {
        const char *word;
        enum join_kind kind;
    } kinds[] = {{"left", JOIN_LEFT}, {"semi", JOIN_SEMI}, {"anti", JOIN_ANTI},
                 {"full", JOIN_FULL}, {"asof", JOIN_ASOF}, {"cross", JOIN_CROSS}};
    if (stage->word->stage == STAGE_LOOKUP)
        return JOIN_LOOKUP;
    const struct row *row = stage->kind.text ? TABLE_ROW(kinds, stage->kind.text) : NULL;
    return row ? row->kind : JOIN_INNER;
}

bool join_takes_columns(const struct join *join)
{
    return join->kind != JOIN_SEMI && join->kind != JOIN_ANTI;
}

bool join_keeps_left(const struct join *join)
{
    return join->kind == JOIN_LEFT || join->kind == JOIN_FULL || join->kind == JOIN_ASOF || join->kind == JOIN_LOOKUP;
}

const char *join_source_text(const struct join *join)
{
    const struct source_node *source = &join->stage->sources[0];
    struct arena *arena = join->binder->arena;
    switch (source->kind) {
    case SOURCE_NAME:
        return text_of_span(arena, source->name.span, 40);
    case SOURCE_LOAD:
        return text_of_span(arena, source->paths[0].path.span, 40);
    case SOURCE_PIPELINE:
        return arena_printf(arena, "(%s)", text_of_span(arena, source->pipeline->span, 40));
    default:
        return text_of_span(arena, source->span, 40);
    }
}

/* Finds the right side, or binds and requests it. */
static void bind_right(struct join *join)
{
    struct binder *binder = join->binder;
    const struct source_node *source = &join->stage->sources[0];
    if (binder->facts->remote) {
        bind_source(binder, source, &join->unevaluated);
        /* Rows that go up are looked at for double keys. */
        join->right = join->kind == JOIN_LOOKUP ? evaluated_find(binder, source) : NULL;
        if (!join->right || !join->right->relation)
            join->right = evaluated_never(binder, &join->unevaluated);
        return;
    }
    join->right = evaluated_find(binder, source);
    if (join->right && join->right->relation)
        return;
    bind_source(binder, source, &join->unevaluated);
    join->right =
        evaluated_request(binder, source, pipeline_of_source(binder->arena, source), &join->unevaluated, NULL);
}

/* The right's column of a key: of its own name, or of the left's. */
static bool right_key(const struct join *join, const struct item *item, size_t *index)
{
    struct arena *arena = join->binder->arena;
    const struct flow right = {
        .columns = join->right->columns, .count = join->right->count, .open = join->unevaluated.open};
    struct scope scope = {.binder = join->binder, .flow = &right};
    const struct expr *expr = item->expr;
    if (item->name.text) {
        struct expr *name = arena_alloc(arena, sizeof *name);
        *name = (struct expr){.kind = EXPR_NAME, .span = item->name.span, .name = item->name};
        expr = name;
    }
    return name_resolve_column(&scope, expr, index);
}

static bool has_column(const struct slot *columns, size_t count, const char *name)
{
    return ROW_NAMED(columns, count, name);
}

/* `on first <= day`, where `first` is of the right: an error. */
static bool is_turned(const struct join *join, const struct item *item)
{
    static const char *const turned[] = {[BINARY_LT] = ">", [BINARY_LE] = ">=", [BINARY_GT] = "<", [BINARY_GE] = "<="};
    const struct evaluated *right = join->right;
    if (!item->compared || item->expr->kind != EXPR_NAME)
        return false;
    const char *first = item->expr->name.text, *second = item->name.text;
    if (has_column(join->left.columns, join->left.count, first) || !has_column(right->columns, right->count, first) ||
        !has_column(join->left.columns, join->left.count, second))
        return false;
    bind_error(join->binder, item->expr->span,
               arena_printf(join->binder->arena, "the column of the rows before comes first: `%s %s %s`", second,
                            turned[item->compared], first),
               "`%s` is a column of `%s`", first, join_source_text(join));
    return true;
}

/* Finds the columns of the keys; false after an error, or if they are unknown. */
static bool find_keys(struct join *join)
{
    struct scope scope = {.binder = join->binder, .flow = &join->left};
    bool known = true;
    if (!join_order_items(join))
        return false;
    join->left_keys = arena_array(join->binder->arena, join->key_count, sizeof *join->left_keys);
    join->right_keys = arena_array(join->binder->arena, join->key_count, sizeof *join->right_keys);
    for (size_t i = 0; i < join->key_count; i++) {
        const struct item *item = join->items[i];
        if (is_turned(join, item)) {
            known = false;
            continue;
        }
        const bool left = name_resolve_column(&scope, item->expr, &join->left_keys[i]);
        const bool named = left || item->name.text; /* else the same error twice */
        const bool right = named && right_key(join, item, &join->right_keys[i]);
        known = known && left && right;
        if (right)
            join->right->wanted[join->right_keys[i]] = true;
    }
    return known;
}

/* Checks that the keys have the same types. */
static bool check_keys(const struct join *join, struct scope *scope)
{
    bool fit = true;
    for (size_t i = 0; i < join->key_count; i++) {
        const struct item *item = join->items[i];
        const struct slot *left = &join->left.columns[join->left_keys[i]];
        const struct slot *right = &join->right->columns[join->right_keys[i]];
        struct term term = term_of_column(scope->code, &join->left, join->left_keys[i], item->span);
        const char *name = arena_printf(join->binder->arena, "%s.%s", join_source_text(join), right->name);
        fit = match_check(scope, term, left->name, right, name, item->span) && fit;
    }
    return fit;
}

/* Whether a column of the right says what one of the left does; what is compared may differ. */
static bool is_key(const struct join *join, size_t column)
{
    for (size_t i = 0; i < join->key_count - join->compared_count; i++) {
        if (join->right_keys[i] == column)
            return true;
    }
    return false;
}

/* Two columns would have the same name. */
static void refuse_names(const struct join *join, const char *const *names, size_t count)
{
    enum { SHOWN = 4 };
    struct arena *arena = join->binder->arena;
    const char *list = arena_printf(arena, "`%s`", names[0]);
    const char *renames = arena_printf(arena, "%s as ...", name_written(names[0], arena));
    for (size_t i = 1; i < count && i < SHOWN; i++) {
        list = arena_printf(arena, "%s, `%s`", list, names[i]);
        renames = arena_printf(arena, "%s, %s as ...", renames, name_written(names[i], arena));
    }
    const struct stage *stage = join->stage;
    const struct source_node *node = &stage->sources[0];
    const char *source = join_source_text(join);
    const char *inner = node->kind == SOURCE_PIPELINE ? text_of_span(arena, node->pipeline->span, 40) : source;
    bind_error(join->binder, stage->sources[0].span,
               arena_printf(arena,
                            "`%s %s as m on ...` names all columns of the right m_%s, ...; or `(%s | rename %s)`",
                            text_of_word(arena, stage), source, names[0], inner, renames),
               "both sides have %s%s", list, count > SHOWN ? ", ..." : "");
}

/* Names the columns of the result: those of the left, then those that the right adds. False after an error. */
static bool name_result(struct join *join)
{
    struct arena *arena = join->binder->arena;
    const struct evaluated *right = join->right;
    const size_t most = join->left.count + right->count;
    const char **equal = arena_array(arena, right->count + 1, sizeof *equal);
    size_t equal_count = 0, count = join->left.count;
    if (too_many_columns(join->binder, most, join->stage->span))
        return false;
    join->slots = arena_grow(arena, join->left.columns, count, most + 1, sizeof *join->slots);
    join->added = arena_array(arena, right->count + 1, sizeof *join->added);
    for (size_t k = 0; k < right->count && join_takes_columns(join); k++) {
        if (is_key(join, k))
            continue;
        struct slot *slot = &join->slots[count++];
        *slot = right->columns[k];
        if (join->stage->prefix.text)
            slot->name = arena_printf(arena, "%s_%s", join->stage->prefix.text, slot->name);
        join->added[join->added_count++] = k;
        for (size_t i = 0; i < join->left.count; i++) {
            if (strcmp(join->slots[i].name, slot->name) == 0)
                equal[equal_count++] = slot->name;
        }
    }
    if (equal_count > 0)
        refuse_names(join, equal, equal_count);
    return equal_count == 0;
}

/* Indexes the keys of the right; false after an error. */
static bool make_index(struct join *join)
{
    struct binder *binder = join->binder;
    struct evaluated *right = join->right;
    struct column **keys = arena_array(binder->arena, join->key_count, sizeof(struct column *));
    for (size_t i = 0; i < join->key_count; i++)
        keys[i] = evaluated_column(right, join->right_keys[i]);
    struct join_keys indexed = {.columns = keys,
                                .count = join->equal_count,
                                .order = join->kind == JOIN_ASOF ? keys[join->equal_count] : NULL,
                                .members_only = !join_takes_columns(join),
                                .rows = right->relation->rows};
    join_set_order(join, keys, &indexed);
    const enum status status = evaluated_make_index(binder, right, &indexed);
    binder->cancelled = binder->cancelled || status == STATUS_CANCELLED;
    if (status == STATUS_FAILED && right->relation->rows > INT32_MAX)
        bind_error(binder, join->stage->sources[0].span, "join in the other direction, or in parts",
                   "the source of a join has at most %d rows, not %lld", INT32_MAX, (long long)right->relation->rows);
    else if (status == STATUS_FAILED)
        match_refuse_index(binder, right->index, join->stage->sources[0].span);
    if (status != STATUS_OK) {
        join_index_unref(right->index);
        right->index = NULL; /* the statement may be bound once more */
    }
    return status == STATUS_OK;
}

/* A lookup needs distinct keys. */
static bool check_distinct(const struct join *join)
{
    const struct join_index *index = join->right->index;
    struct arena *arena = join->binder->arena;
    struct strbuf key = {0};
    if (join->kind != JOIN_LOOKUP || join->compared_count > 0 || !index || index->doubles == 0)
        return true;
    for (size_t i = 0; i < join->key_count; i++) {
        const struct scalar part =
            column_get(evaluated_column(join->right, join->right_keys[i]), index->double_rows[0]);
        strbuf_puts(&key, i > 0 ? ", " : "");
        scalar_print(&key, &part);
    }
    const char *text = strbuf_take(&key, arena);
    return bind_error(join->binder, join->stage->span,
                      "`left join` takes all of them; `distinct` or `group` before leaves one",
                      "`lookup` needs distinct keys, but rows %lld and %lld of `%s` both have %s",
                      (long long)index->double_rows[1], (long long)index->double_rows[0], join_source_text(join), text);
}

/* What a plain join leaves out, for the prompt. */
static void note_join(const struct join *join, struct flow *flow)
{
    flow->joined =
        ARENA_NEW(join->binder->arena, struct join_note, .rows = join->left.rows,
                  .doubles = join->right->index->doubles, .source = join_source_text(join), .span = join->stage->span);
}

void bind_join(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    struct join join = {.binder = binder, .stage = stage, .kind = kind_of(stage), .left = *flow};
    bind_right(&join);
    if (bind_gave_up(binder))
        return;
    if (flow->open || join.unevaluated.open || !find_keys(&join)) {
        task_unknown(binder, stage, flow);
        return;
    }
    struct task *task = task_of_stage(binder, stage, flow);
    struct scope scope = scope_of_stage(binder, task, &join.left, NULL);
    const bool named = name_result(&join), parted = join_exceeds_memory(&join);
    if (!check_keys(&join, &scope) || !join_check_order(&join, &scope) || !named ||
        (join.right->relation && !parted && !make_index(&join)) || (join.right->relation && !check_distinct(&join))) {
        task_set_slots(binder, task, flow, NULL, NULL, 0, 0);
        flow->open = true;
    } else if (binder->facts->remote) {
        join_for_server(&join, &scope, flow);
    } else if (parted) {
        join_in_parts(&join, &scope, flow);
    } else if (join.kind == JOIN_ASOF) {
        join_asof(&join, &scope, flow);
    } else if (join.compared_count > 0 && join.right->relation) {
        join_compared(&join, &scope, flow);
    } else if (!join_takes_columns(&join)) {
        join_keep_matching(&join, &scope, flow);
    } else if (join.right->relation && join.right->index->doubles > 0) {
        join_expanded(&join, &scope, flow);
    } else {
        join_single(&join, &scope, flow);
    }
    if (join.kind == JOIN_INNER && join.compared_count == 0 && !flow->open && join.right->index)
        note_join(&join, flow);
    if (join.kind == JOIN_FULL && !parted && !flow->open && !binder->facts->remote)
        join_append_rest(&join, flow);
}
