/* Sets of columns in a stage: `*`, `feature_*`, `a..b`, `* of text`, `* but (x, y)`.
 *
 * An item with a set becomes one for each of its columns, in which the column's position stands for the set and for
 * `_`. That is done before the stage is bound: binders see single columns only. */
#include "engine/bind/bind_internal.h"
#include "engine/expression/names_unknown.h"

#include <string.h>

enum { SET_SHOWN = 40, LISTED = 6 };

/* A local name whose definition has been copied. */
struct replaced {
    const struct expr *from, *to;
    const struct replaced *before;
};

struct expansion {
    struct binder *binder;
    const struct stage *stage;
    const struct flow *flow;
    bool *keys;  /* columns that no set has: keys, within `per` and in aggregates of a group */
    bool *named; /* columns that the stage names otherwise, which sets leave out where `once` */
    bool once;
    bool *left_out; /* by `*` in an aggregate, since it has no meaning for their types */
    const struct replaced *replaced;
    struct item *items; /* the result */
    size_t count, capacity;
};

/* ---- which columns a set has ---- */

static bool fits_pattern(const char *pattern, const char *name)
{
    const char *star = NULL, *again = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            again = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            name = ++again;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

static enum term_class class_of_slot(const struct expansion *x, size_t k)
{
    struct code code;
    code_init(&code, x->binder->arena);
    return class_of(&code, term_of_column(&code, x->flow, k, x->stage->span));
}

static const struct set_type {
    const char *word;
    unsigned classes; /* bits, of enum term_class */
} set_types[] = {
    {"numeric", 1u << CLASS_INT | 1u << CLASS_FLOAT | 1u << CLASS_DECIMAL},
    {"int", 1u << CLASS_INT},
    {"float", 1u << CLASS_FLOAT},
    {"decimal", 1u << CLASS_DECIMAL},
    {"bool", 1u << CLASS_BOOL},
    {"text", 1u << CLASS_TEXT},
    {"date", 1u << CLASS_DATE},
    {"timestamp", 1u << CLASS_TIMESTAMP},
    {"time", 1u << CLASS_DATE | 1u << CLASS_TIMESTAMP},
    {"duration", 1u << CLASS_DURATION},
};

static const struct set_type *find_type(struct binder *binder, const struct name *name)
{
    const char *listed = NULL;
    for (size_t i = 0; i < sizeof set_types / sizeof *set_types; i++) {
        if (strcmp(set_types[i].word, name->text) == 0)
            return &set_types[i];
        listed = listed ? arena_printf(binder->arena, "%s %s", listed, set_types[i].word) : set_types[i].word;
    }
    bind_error(binder, name->span, arena_printf(binder->arena, "types are %s", listed), "unknown type `%s`",
               name->text);
    return NULL;
}

static const char *shown(const struct expansion *x, const struct expr *set)
{
    return text_of_span(x->binder->arena, set->span, SET_SHOWN);
}

/* Reports a pattern that no name fits: similar names are those of what is around its stars. */
static void nothing_fits(struct expansion *x, const struct expr *set)
{
    struct binder *binder = x->binder;
    const struct name *pattern = &set->set->pattern;
    char *letters = arena_text(binder->arena, pattern->text, strlen(pattern->text));
    size_t count = 0;
    for (const char *at = pattern->text; *at; at++) {
        if (*at != '*')
            letters[count++] = *at;
    }
    letters[count] = '\0';
    struct candidates names = candidates_new(binder->arena, x->flow->count);
    candidates_add_columns(&names, x->flow);
    struct scope scope = {.binder = binder, .flow = x->flow};
    bind_error(binder, pattern->span, name_hint_of_columns(&scope), "no column fits `%s`%s", pattern->text,
               did_you_mean(binder->arena, letters, names.at, names.count));
}

static bool mark_set(struct expansion *x, const struct expr *expr, const bool *except, bool *marks);

static bool mark_member(struct expansion *x, const struct expr *member, bool *marks)
{
    struct scope scope = {.binder = x->binder, .flow = x->flow};
    size_t index;
    const struct expr *fields = fields_of(x->binder->arena, x->flow, member);
    if (fields || member->kind == EXPR_SET)
        return mark_set(x, fields ? fields : member, NULL, marks);
    if (!name_resolve_column(&scope, member, &index))
        return false;
    marks[index] = true;
    return true;
}

static bool mark_span(struct expansion *x, const struct expr *expr, bool *marks)
{
    struct scope scope = {.binder = x->binder, .flow = x->flow};
    const struct column_set *set = expr->set;
    struct arena *arena = x->binder->arena;
    size_t first, last;
    if (!name_resolve_column(&scope, set->first, &first) || !name_resolve_column(&scope, set->last, &last))
        return false;
    if (first > last) {
        bind_error(x->binder, expr->span,
                   arena_printf(arena, "write `%s..%s`", text_of_span(arena, set->last->span, SET_SHOWN),
                                text_of_span(arena, set->first->span, SET_SHOWN)),
                   "`%s` comes after `%s` in the order of columns", x->flow->columns[first].name,
                   x->flow->columns[last].name);
        return false;
    }
    for (size_t k = first; k <= last; k++)
        marks[k] = true;
    return true;
}

static bool any_marked(const struct expansion *x, const bool *marks)
{
    bool any = false;
    for (size_t k = 0; k < x->flow->count && !any; k++)
        any = marks[k];
    return any;
}

/* Unmarks the columns of other types. False if a type is not known yet. */
static bool keep_type(struct expansion *x, const struct set_type *type, bool *marks)
{
    for (size_t k = 0; k < x->flow->count; k++) {
        if (marks[k] && !x->flow->columns[k].known)
            return false;
        if (marks[k])
            marks[k] = type->classes >> class_of_slot(x, k) & 1u;
    }
    return true;
}

/* Marks the columns of the set, all but those of `except` (NULL: none). False after an error, or if they are not known.
 */
static bool mark_set(struct expansion *x, const struct expr *expr, const bool *except, bool *marks)
{
    const struct column_set *set = expr->set;
    const size_t count = x->flow->count;
    bool *own = arena_array(x->binder->arena, count + 1, sizeof *own);
    bool *without = arena_array(x->binder->arena, count + 1, sizeof *without);
    for (size_t k = 0; set->pattern.text && k < count; k++)
        own[k] = fits_pattern(set->pattern.text, x->flow->columns[k].name);
    if (set->pattern.text && !any_marked(x, own)) {
        nothing_fits(x, expr);
        return false;
    }
    if (!set->pattern.text && !mark_span(x, expr, own))
        return false;
    const struct set_type *type = set->type.text ? find_type(x->binder, &set->type) : NULL;
    if (set->type.text && (!type || !keep_type(x, type, own)))
        return false;
    for (size_t i = 0; set->without && i < set->without->count; i++) {
        if (!mark_member(x, set->without->at[i], without))
            return false;
    }
    for (size_t k = 0; k < count; k++)
        own[k] = own[k] && !without[k] && !(except && except[k]);
    if (!any_marked(x, own)) {
        struct scope scope = {.binder = x->binder, .flow = x->flow};
        bind_error(x->binder, expr->span, name_hint_of_columns(&scope), "no column is left of `%s`", shown(x, expr));
        return false;
    }
    for (size_t k = 0; k < count; k++)
        marks[k] = marks[k] || own[k];
    return true;
}

/* ---- the expression of one column ---- */

static const struct expr *find_set(const struct expr *expr)
{
    const struct expr *found = expr->kind == EXPR_SET ? expr : NULL;
    for (size_t i = 0; i < expr->arg_count && !found; i++)
        found = expr->args[i] ? find_set(expr->args[i]) : NULL;
    return found;
}

static bool same_text(const struct expr *a, const struct expr *b)
{
    const uint32_t length = a->span.end - a->span.begin;
    return length == b->span.end - b->span.begin &&
           memcmp(a->span.source->text + a->span.begin, b->span.source->text + b->span.begin, length) == 0;
}

/* Reports another set than `set`: which of its columns belongs to which of the others, nothing would tell. */
static bool has_one_set(struct expansion *x, const struct expr *expr, const struct expr *set)
{
    bool one = true;
    for (size_t i = 0; i < expr->arg_count && one; i++)
        one = !expr->args[i] || has_one_set(x, expr->args[i], set);
    if (!one || expr->kind != EXPR_SET || same_text(expr, set))
        return one;
    bind_error_second(x->binder, expr->span, set->span, "the first one",
                      "`_` is the column of the set, as in `max(a_*) - min(_)`",
                      "an expression has the columns of one set, this is another one");
    return false;
}

static const struct expr *replacement(const struct expansion *x, const struct expr *definition)
{
    for (const struct replaced *replaced = x->replaced; replaced; replaced = replaced->before) {
        if (replaced->from == definition)
            return replaced->to;
    }
    return definition;
}

/* The expression with the column for the set and `_`; what has neither is shared. */
static struct expr *substitute(struct expansion *x, struct expr *expr, const struct expr *column)
{
    if (expr->kind == EXPR_SET ||
        (expr->kind == EXPR_NAME && !expr->definition && strcmp(expr->name.text, ENV_LAST) == 0)) {
        struct expr *here = arena_copy(x->binder->arena, column, sizeof *here);
        here->span = here->name.span = expr->span;
        return here;
    }
    struct expr changed = *expr;
    changed.definition = expr->definition ? replacement(x, expr->definition) : NULL;
    bool differs = changed.definition != expr->definition;
    changed.args = arena_array(x->binder->arena, expr->arg_count + 1, sizeof *changed.args);
    for (size_t i = 0; i < expr->arg_count; i++) {
        changed.args[i] = expr->args[i] ? substitute(x, expr->args[i], column) : NULL;
        if (changed.args[i] == expr->args[i])
            continue;
        differs = true;
        struct replaced *replaced = arena_alloc(x->binder->arena, sizeof *replaced);
        *replaced = (struct replaced){expr->args[i], changed.args[i], x->replaced};
        if (expr->kind == EXPR_LET || expr->kind == EXPR_FOLD)
            x->replaced = replaced;
    }
    if (!differs)
        return expr;
    return arena_copy(x->binder->arena, &changed, sizeof changed);
}

/* Whether each aggregate of the set has a meaning for column k. */
static bool has_meaning(const struct expansion *x, const struct expr *expr, size_t k)
{
    const struct aggregate_function *function = aggregate_of_call(x->binder, expr);
    for (size_t i = 0; i < expr->arg_count; i++) {
        const struct expr *argument = expr->args[i];
        if (function && argument->kind == EXPR_SET &&
            !aggregate_takes(function->kind, class_of_slot(x, k), x->flow->columns[k].logical.kind))
            return false;
        if (argument && !has_meaning(x, argument, k))
            return false;
    }
    return true;
}

/* ---- names ---- */

/* The part of the name that the pattern's star matches; the whole name unless there is exactly one star. */
static const char *part_of_star(struct arena *arena, const char *pattern, const char *name)
{
    const char *star = pattern ? strchr(pattern, '*') : NULL;
    if (!star || strchr(star + 1, '*'))
        return name;
    return arena_text(arena, name + (star - pattern), strlen(name) - strlen(pattern) + 1);
}

/* Replaces each star of the template by the part. */
static const char *fill(struct arena *arena, const char *template, const char *part)
{
    const char *text = "";
    for (const char *star; (star = strchr(template, '*')); template = star + 1)
        text = arena_printf(arena, "%s%.*s%s", text, (int)(star - template), template, part);
    return arena_printf(arena, "%s%s", text, template);
}

/* The name of an item, for column k of the set. */
static struct name name_of(const struct expansion *x, const struct item *item, const struct expr *set, size_t k)
{
    struct arena *arena = x->binder->arena;
    const char *column = x->flow->columns[k].name;
    const struct aggregate_function *function = aggregate_of_call(x->binder, item->expr);
    struct name name = item->name;
    if (item->columns)
        name = item->columns == set ? (struct name){column, set->span} : item->columns->set->pattern;
    if (item->pattern || (item->columns && item->columns != set))
        name.text = fill(arena, name.text, part_of_star(arena, set->set->pattern.text, column));
    if (name.text || item->expr->kind == EXPR_SET)
        return name;
    name.span = item->span;
    name.text = function ? arena_printf(arena, "%s_%s", function->canonical, column) : column;
    return name;
}

static bool can_name(struct expansion *x, const struct item *item, const struct expr *set, size_t columns)
{
    struct binder *binder = x->binder;
    if (item->columns && item->columns != set &&
        (item->columns->set->span.source || !item->columns->set->pattern.text)) {
        bind_error_second(binder, item->columns->span, set->span, "their columns",
                          "`half_* = feature_* / 2`, or `feature_* = _ / 2` for the same names",
                          "beside a set on the right, this can only be a pattern for names");
        return false;
    }
    if (!item->name.text || item->pattern || columns < 2)
        return true;
    bind_error(binder, item->name.span,
               arena_printf(binder->arena, "write `%s_*`: the `*` is that of the set", item->name.text),
               "`%s` is one name, but `%s` has %zu columns", item->name.text, shown(x, set), columns);
    return false;
}

/* ---- items ---- */

static void add_item(struct expansion *x, struct item item)
{
    *ARENA_PUSH(x->binder->arena, x->items, x->count, x->capacity) = item;
}

static bool expand_item(struct expansion *x, const struct item *item)
{
    const struct expr *set = find_set(item->expr);
    struct arena *arena = x->binder->arena;
    bool *marks = arena_array(arena, x->flow->count + 1, sizeof *marks);
    size_t columns = 0;
    set = set ? set : item->columns;
    if (!set) {
        add_item(x, *item);
        return true;
    }
    if (!has_one_set(x, item->expr, set) || !mark_set(x, set, x->keys, marks))
        return false;
    const bool all = set->set->pattern.text && strcmp(set->set->pattern.text, "*") == 0 && !set->set->type.text;
    for (size_t k = 0; k < x->flow->count; k++) {
        marks[k] = marks[k] && !(x->once && x->named[k]);
        if (marks[k] && all && x->flow->columns[k].known && !has_meaning(x, item->expr, k))
            x->left_out[k] = !(marks[k] = false);
        columns += marks[k];
    }
    if (!can_name(x, item, set, columns))
        return false;
    for (size_t k = 0; k < x->flow->count; k++) {
        if (!marks[k])
            continue;
        const struct expr column = {
            .kind = EXPR_POSITION, .integer = (int64_t)k + 1, .name = {.text = x->flow->columns[k].name}, .depth = 1};
        struct item one = *item;
        one.expr = substitute(x, item->expr, &column);
        one.name = name_of(x, item, set, k);
        one.pattern = false;
        one.columns = NULL;
        add_item(x, one);
        x->named[k] = true;
    }
    if (columns > 0 || x->once)
        return true;
    bind_error(x->binder, item->span, "`.schema` shows the types of columns",
               "no column of `%s` has a type for which `%s` has a meaning", shown(x, set),
               text_of_span(arena, item->expr->span, SET_SHOWN));
    return false;
}

/* Marks the columns that the items name by themselves; errors are found later. */
static void mark_named(const struct expansion *x, const struct item *items, size_t count, bool *marks)
{
    struct binder silent = *x->binder;
    struct diags diags;
    diags_init(&diags, x->binder->arena);
    silent.diags = &diags;
    struct scope scope = {.binder = &silent, .flow = x->flow};
    for (size_t i = 0; i < count; i++) {
        const enum expr_kind kind = items[i].expr->kind;
        size_t index;
        if ((kind == EXPR_NAME || kind == EXPR_POSITION) && name_resolve_column(&scope, items[i].expr, &index))
            marks[index] = true;
    }
}

static bool expand_items(struct expansion *x, struct item **items, size_t *count)
{
    bool good = true;
    x->items = NULL;
    x->count = x->capacity = 0;
    if (x->once)
        mark_named(x, *items, *count, x->named);
    for (size_t i = 0; i < *count; i++)
        good = expand_item(x, &(*items)[i]) && good;
    *items = x->items;
    *count = x->count;
    return good;
}

/* "`a`, `b` and 3 more": what `*` has left out. */
static void note_left_out(const struct expansion *x)
{
    struct arena *arena = x->binder->arena;
    const char *names = "";
    size_t count = 0;
    for (size_t k = 0; k < x->flow->count; k++) {
        if (x->left_out[k] && count++ < LISTED)
            names = arena_printf(arena, "%s%s`%s`", names, count > 1 ? ", " : "", x->flow->columns[k].name);
    }
    if (count > LISTED)
        names = arena_printf(arena, "%s and %zu more", names, count - LISTED);
    if (count > 0 && !x->binder->checking)
        diag_note(x->binder->diags, x->stage->span, "`*` leaves out %s: of another type", names);
}

static bool has_set(const struct item *items, size_t count)
{
    bool found = false;
    for (size_t i = 0; i < count && !found; i++)
        found = items[i].columns || find_set(items[i].expr);
    return found;
}

const struct stage *stage_of_columns(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    const enum stage_kind kind = stage->word->stage;
    if (!stage_does(kind, TAKES_SETS) || flow->scalar)
        return stage;
    struct stage *expanded = arena_copy(binder->arena, stage, sizeof *expanded);
    struct expansion x = {.binder = binder, .stage = stage, .flow = flow};
    x.once = kind == STAGE_PICK || kind == STAGE_DROP || kind == STAGE_RENAME || kind == STAGE_UNPIVOT;
    items_of_fields(binder->arena, flow, kind, &expanded->items, expanded->item_count);
    if (!has_set(expanded->items, stage->item_count) && !has_set(stage->aggregates, stage->aggregate_count))
        return stage;
    x.keys = arena_array(binder->arena, flow->count + 1, sizeof *x.keys);
    x.named = arena_array(binder->arena, flow->count + 1, sizeof *x.named);
    x.left_out = arena_array(binder->arena, flow->count + 1, sizeof *x.left_out);
    for (size_t k = 0; k < flow->count; k++)
        x.keys[k] = flow->columns[k].key != 0;
    bool good = !flow->open && expand_items(&x, &expanded->items, &expanded->item_count);
    if (good && kind == STAGE_GROUP) {
        mark_named(&x, expanded->items, expanded->item_count, x.keys);
        good = expand_items(&x, &expanded->aggregates, &expanded->aggregate_count);
    }
    if (good) {
        note_left_out(&x);
        return expanded;
    }
    task_unknown(binder, stage, flow);
    return NULL;
}
