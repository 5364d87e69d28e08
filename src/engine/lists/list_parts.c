/* Elements, slices and members of lists: NAME[E], LIST[E], LIST[A..B], E in LIST. A slice whose ends are constants is a
 * store that shares elements; of ends that differ from row to row the lists are made before (row_text.h). */
#include "engine/expression/row_text.h"
#include "engine/lists/lists.h"
#include "engine/storage/list_slices.h"

#include "base/heap.h"

#include <string.h>

enum { OPERAND_SHOWN = 40 };

static const char *shown(const struct scope *scope, const struct expr *expr)
{
    return text_of_span(scope->binder->arena, expr->span, OPERAND_SHOWN);
}

/* The field of the elements and then of those, as `price` and `net`; each may be NULL. */
static const char *field_within(struct arena *arena, const char *field, const char *member)
{
    return !member ? field : !field ? member : arena_printf(arena, "%s.%s", field, member);
}

bool list_is_whole(const struct scope *scope, const struct expr *expr, struct named_list *list)
{
    const bool is_element = expr->kind == EXPR_ELEMENT || (expr->kind == EXPR_INDEX && expr->arg_count > 0);
    if (!is_element && expr->kind != EXPR_SLICE)
        return list_find(scope, expr, list);
    if (!(expr->kind == EXPR_INDEX ? list_find(scope, expr, list) : list_is_whole(scope, expr->args[0], list)))
        return false;
    list->part = expr;
    list->span = expr->span;
    list->term = unknown_term;
    if (!is_element)
        return true;
    const char *field = list->field;
    if (expr->kind == EXPR_ELEMENT)
        field = field_within(scope->binder->arena, field, expr->member.text);
    if (list->type->is_map)
        field = field_within(scope->binder->arena, "value", field);
    const struct column *elements = list_elements(list->type, field);
    list->type = elements ? elements->logical.lists : NULL;
    list->field = NULL;
    return elements && elements->logical.kind == LOGICAL_LIST;
}

bool list_is_within(const struct scope *scope, const struct expr *expr)
{
    struct named_list list;
    if ((expr->kind == EXPR_NAME && expr->definition) || expr->kind == EXPR_PIPELINE)
        return false;
    if (list_is_whole(scope, expr, &list))
        return true;
    const bool whole =
        expr->kind == EXPR_CALL && (strcmp(expr->name.text, "len") == 0 || strcmp(expr->name.text, "contains") == 0);
    if (whole || aggregate_of_call(scope->binder, expr) || list_is_aggregated(scope, expr))
        return false;
    /* What an element is of, and what a value is looked for in, is taken as a whole. */
    const size_t first = expr->kind == EXPR_ELEMENT && list_is_whole(scope, expr->args[0], &list) ? 1 : 0;
    const size_t count = expr->kind == EXPR_IN_SOURCE ? 1 : expr->arg_count;
    for (size_t i = first; i < count; i++) {
        if (expr->args[i] && list_is_within(scope, expr->args[i]))
            return true;
    }
    return false;
}

struct term list_refuse_part(struct scope *scope, const struct expr *expr)
{
    const struct expr *of = expr->kind == EXPR_INDEX ? expr : expr->args[0];
    if (list_may_be_named(scope, of))
        return unknown_term;
    return term_error(scope->binder, expr->span, NULL, "`%s` is no list, of which there would be %s",
                      of == expr ? text_of_span(scope->binder->arena, expr->name.span, OPERAND_SHOWN)
                                 : shown(scope, of),
                      expr->kind == EXPR_SLICE ? "a slice" : "elements with fields");
}

struct term bind_list_index(struct scope *scope, const struct expr *expr, const struct named_list *list)
{
    struct binder *binder = scope->binder;
    const struct expr *place = expr->args[expr->arg_count - 1];
    struct named_list of = *list;
    of.span = expr->span;
    scope->reads_row = true;
    if (expr->kind == EXPR_INDEX && expr->arg_count != 1)
        return term_error(binder, expr->span, NULL, "an element of a list has one position, not %zu", expr->arg_count);
    struct term position = bind_term(scope, place);
    if (term_is_known(position) && term_is_known(list->term) && list->term.logical.lists->is_map)
        return list_entry(scope, expr, &of, position);
    const char *what = arena_printf(binder->arena, "`%s`", shown(scope, expr));
    if (!term_is_known(position) || !term_is_known(list->term) || !bind_is_integer(scope, position, place, what, NULL))
        return unknown_term;
    return list_element(scope, &of, position);
}

/* Slices of a store by constant ends that were made. */
struct list_slice {
    struct list_store *of, *made; /* the queue holds them */
    int64_t first, last;
    struct list_slice *before;
};

static struct term slice_by_constants(const struct scope *scope, struct term list, int64_t first, int64_t last)
{
    struct binder *binder = scope->binder;
    if (list_is_unread(scope, list))
        return list;
    struct list_slice *made = binder->slices;
    while (made && (made->of != list.logical.lists || made->first != first || made->last != last))
        made = made->before;
    if (!made) {
        made = arena_alloc(binder->arena, sizeof *made);
        *made = (struct list_slice){list.logical.lists, NULL, first, last, binder->slices};
        made->made = list_store_slice(made->of, first, last);
        if (!made->made)
            heap_exhausted();
        list_hold(binder, list_store_ref(made->of));
        list_hold(binder, made->made);
        binder->slices = made;
    }
    list.logical.lists = made->made;
    return list;
}

/* LIST[A..B], its field stays. */
static struct term slice(struct scope *scope, const struct expr *expr, struct term list)
{
    struct binder *binder = scope->binder;
    const struct code *code = scope->code;
    const char *what = arena_printf(binder->arena, "`%s`", shown(scope, expr));
    struct term arguments[3] = {list};
    bool constant = true;
    scope->reads_row = true;
    for (size_t k = 1; k < 3; k++) {
        arguments[k] = bind_term(scope, expr->args[k]);
        if (!term_is_known(arguments[k]) || !bind_is_integer(scope, arguments[k], expr->args[k], what, NULL))
            return unknown_term;
        constant = constant && arguments[k].present == NO_VALUE && code_is_const(code, arguments[k].value);
    }
    if (constant)
        return slice_by_constants(scope, list, code->at[arguments[1].value].integer,
                                  code->at[arguments[2].value].integer);
    const struct row_text_use use = {.scope = scope,
                                     .name = shown(scope, expr),
                                     .makes = ROW_SLICES,
                                     .arguments = arguments,
                                     .count = 3,
                                     .span = expr->span};
    return bind_row_text(&use);
}

/* What an element or slice is of; false after an error, or if it is not known. */
static bool find_base(struct scope *scope, const struct expr *expr, struct named_list *of)
{
    const struct expr *base = expr->args[0];
    if (list_is_whole(scope, base, of)) {
        list_bind(scope, of);
        return term_is_known(of->term);
    }
    if (base->kind == EXPR_NAME && !base->definition) {
        list_refuse_part(scope, expr);
        return false;
    }
    *of = (struct named_list){.term = bind_term(scope, base), .span = expr->span};
    if (!term_is_known(of->term))
        return false;
    of->type = of->term.logical.lists;
    return of->term.logical.kind == LOGICAL_LIST ||
           bind_error(scope->binder, expr->span, NULL, "`%s` is %s, of which there is no %s", shown(scope, base),
                      class_noun(class_of(scope->code, of->term)), expr->kind == EXPR_SLICE ? "slice" : "element");
}

static struct term value_of_part(struct scope *scope, const struct expr *expr)
{
    struct named_list of;
    if (expr->kind == EXPR_INDEX)
        return list_find(scope, expr, &of) ? bind_list_index(scope, expr, &of) : unknown_term;
    if (!find_base(scope, expr, &of))
        return unknown_term;
    if (expr->kind == EXPR_SLICE)
        return slice(scope, expr, of.term);
    of.field = field_within(scope->binder->arena, of.field, expr->member.text);
    return bind_list_index(scope, expr, &of);
}

void list_bind(struct scope *scope, struct named_list *list)
{
    const struct element_position *at = scope->elements;
    if (!list->part)
        return;
    for (size_t k = 0; at && k < at->count; k++) {
        if (at->lists[k].part == list->part) {
            list->term = at->lists[k].term;
            return;
        }
    }
    scope->elements = NULL;
    list->term = value_of_part(scope, list->part);
    scope->elements = at;
}

struct term bind_list_part(struct scope *scope, const struct expr *expr)
{
    struct named_list list;
    if (!list_is_whole(scope, expr, &list))
        return value_of_part(scope, expr);
    list_bind(scope, &list);
    return list_value(scope, &list);
}

static bool is_relation(const struct scope *scope, const struct source_node *source)
{
    return source && (name_argument(&source->name) || env_find(scope->binder->env, source->name.text));
}

/* Finds the list behind `in`; false: there is none. */
static bool find_members(struct scope *scope, const struct expr *expr, const struct expr **of, struct named_list *list)
{
    if (expr->source) {
        struct expr *name = arena_alloc(scope->binder->arena, sizeof *name);
        if (expr->source->kind != SOURCE_NAME)
            return false;
        *name = (struct expr){.kind = EXPR_NAME, .span = expr->source->span, .name = expr->source->name};
        *of = name;
    } else {
        *of = expr->args[1];
    }
    if (list_is_whole(scope, *of, list)) {
        list_bind(scope, list);
        return true;
    }
    const bool named = (*of)->kind == EXPR_NAME || (*of)->kind == EXPR_INDEX;
    if (named && list_may_be_named(scope, *of) && !is_relation(scope, expr->source)) {
        *list = (struct named_list){.term = unknown_term};
        return true;
    }
    if ((*of)->kind != EXPR_ELEMENT && (*of)->kind != EXPR_SLICE && (*of)->kind != EXPR_CALL)
        return false;
    *list = (struct named_list){.term = bind_term(scope, *of), .span = (*of)->span};
    return !term_is_known(list->term) || list->term.logical.kind == LOGICAL_LIST;
}

bool bind_in_lists(struct scope *scope, const struct expr *expr, struct term wanted, struct term *result)
{
    struct named_list list;
    const struct expr *of;
    if (!find_members(scope, expr, &of, &list))
        return false;
    struct expr *args[] = {(struct expr *)of, expr->args[0]};
    const struct expr call = {
        .kind = EXPR_CALL, .span = expr->span, .name = {"contains", expr->span}, .args = args, .arg_count = 2};
    *result = list_function(scope, &call, &list, wanted);
    return true;
}
