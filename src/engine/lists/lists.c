/* Names of lists, lengths and elements. */
#include "engine/lists/lists.h"

#include "engine/expression/texts.h"
#include "engine/formats/append_column.h"

#include "base/heap.h"

#include <string.h>

enum { OPERAND_SHOWN = 40 };

/* The column of this name, also by the names of a head. */
static bool find_column(const struct scope *scope, const char *name, size_t length, size_t *index)
{
    const struct flow *flow = scope->flow;
    for (size_t i = 0; scope->head && flow && i < scope->head->count && i < flow->count; i++) {
        *index = i;
        if (strlen(scope->head->names[i].text) == length && memcmp(scope->head->names[i].text, name, length) == 0)
            return true;
    }
    for (size_t i = 0; flow && i < flow->count; i++) {
        *index = i;
        if (strlen(flow->columns[i].name) == length && memcmp(flow->columns[i].name, name, length) == 0)
            return true;
    }
    return false;
}

/* Whether there is a parameter or column of this name; *is_list: it is one of lists. */
static bool find_named(const struct scope *scope, const char *name, size_t length, struct named_list *list,
                       bool *is_list)
{
    size_t index;
    *is_list = false;
    for (size_t i = 0; i < scope->parameter_count; i++) {
        if (strlen(scope->parameters[i].text) != length || memcmp(scope->parameters[i].text, name, length) != 0)
            continue;
        list->term = scope->arguments[i];
        list->type = list->term.logical.lists;
        *is_list = term_is_known(list->term) && list->term.logical.kind == LOGICAL_LIST;
        return true;
    }
    if (!find_column(scope, name, length, &index))
        return false;
    *is_list = scope->flow->columns[index].logical.kind == LOGICAL_LIST;
    list->type = scope->flow->columns[index].logical.lists;
    if (*is_list && scope->code)
        list->term = term_of_column(scope->code, scope->flow, index, list->span);
    return true;
}

bool list_is_unread(const struct scope *scope, struct term list)
{
    return list.logical.lists->unread || !scope->binder->queue || !scope->task;
}

bool list_find(const struct scope *scope, const struct expr *expr, struct named_list *list)
{
    *list = (struct named_list){.term = unknown_term, .span = expr->span};
    if (expr->kind == EXPR_POSITION) {
        const size_t index = (size_t)expr->integer - 1;
        if (!scope->flow || expr->integer < 1 || index >= scope->flow->count ||
            scope->flow->columns[index].logical.kind != LOGICAL_LIST)
            return false;
        list->type = scope->flow->columns[index].logical.lists;
        list->term = scope->code ? term_of_column(scope->code, scope->flow, index, expr->span) : unknown_term;
        return true;
    }
    if ((expr->kind != EXPR_NAME && expr->kind != EXPR_INDEX) || expr->definition)
        return false;
    const char *name = expr->name.text;
    if (expr->column.text)
        name = arena_printf(scope->binder->arena, "%s.%s", name, expr->column.text);
    size_t length = strlen(name);
    bool is_list = false;
    while (length > 0 && !find_named(scope, name, length, list, &is_list)) {
        while (length > 0 && name[length - 1] != '.')
            length--;
        length -= length > 0;
    }
    if (is_list && name[length] == '.')
        list->field = name + length + 1;
    if (is_list && expr->member.text)
        list->field = list->field ? arena_printf(scope->binder->arena, "%s.%s", list->field, expr->member.text)
                                  : expr->member.text;
    return is_list;
}

struct column *list_elements(const struct list_store *type, const char *field)
{
    const struct relation *elements = type->elements;
    if (!field)
        return list_store_is_plain(type) ? elements->columns[0] : NULL;
    for (size_t k = 0; k < elements->count; k++) {
        if (strcmp(elements->names[k], field) == 0)
            return elements->columns[k];
    }
    return NULL;
}

static struct input input_of(struct column *column, const char *name)
{
    return (struct input){.column = column, .type = column->type, .name = name, .whole = true};
}

/* Reads a column of the store at a position that is inside of it, or checked. */
static value read_at(struct scope *scope, struct column *column, const char *name, value position, bool inside,
                     struct span span)
{
    const struct input input = input_of(column, name);
    queue_hold(scope->binder->queue, column_ref(column));
    const int64_t number = (int64_t)task_add_input(scope->task, &input, scope->binder->arena);
    return (inside ? code_lookup : code_gather)(scope->code, number, type_table[column->type].kind, position, span);
}

/* Stands for what is read of lists that have not been read: it depends on the list, so that its column is read, and is
 * like no other value. */
static value unread_value(struct scope *scope, struct term list, enum kind kind, struct span span)
{
    struct code *code = scope->code;
    if (scope->binder->queue)
        scope->binder->queue->unknown_values = true;
    const value v = code_binary(code, OP_XOR, list.value, code_int(code, -1 - code->count, span), span);
    if (kind == KIND_BOOL)
        return code_binary(code, OP_NE, v, code_int(code, 0, span), span);
    return kind == KIND_FLOAT ? code_unary(code, OP_TO_FLOAT, v, span) : v;
}

struct term list_length(struct scope *scope, struct term list, struct span span)
{
    struct term length = list;
    length.logical = (struct logical_type){0};
    if (list_is_unread(scope, list))
        length.value = unread_value(scope, list, KIND_INT, span);
    else
        length.value =
            read_at(scope, list.logical.lists->lengths, "length", term_settled(scope->code, list, span), true, span);
    length.settled = list.present == NO_VALUE;
    return length;
}

/* Names of the fields, for messages. */
static const char *fields_of(struct arena *arena, const struct list_store *store)
{
    enum { MOST = 12 };
    const char *names = "";
    for (size_t k = 0; k < store->elements->count && k < MOST; k++)
        names = arena_printf(arena, "%s%s`%s`", names, k > 0 ? ", " : "", store->elements->names[k]);
    return store->elements->count > MOST ? arena_printf(arena, "%s, ...", names) : names;
}

/* The column of the elements that the name means; NULL after an error. */
static struct column *column_of_elements(struct scope *scope, const struct named_list *list)
{
    struct binder *binder = scope->binder;
    const struct list_store *store = list->term.logical.lists;
    const char *written = text_of_span(binder->arena, list->span, OPERAND_SHOWN);
    struct column *column = list_elements(store, list->field);
    if (column)
        return column;
    if (!list->field)
        bind_error(binder, list->span,
                   arena_printf(binder->arena, "name a field, as in `%s.%s`: there are %s", written,
                                store->elements->names[0], fields_of(binder->arena, store)),
                   "the elements of `%s` are structs", written);
    else if (list_store_is_plain(store))
        bind_error(binder, list->span, NULL, "the elements of this list are no structs: there is no field `%s`",
                   list->field);
    else
        bind_error(binder, list->span, arena_printf(binder->arena, "there are %s", fields_of(binder->arena, store)),
                   "the elements have no field `%s`", list->field);
    return NULL;
}

value list_start(struct scope *scope, struct term list, struct span span)
{
    return read_at(scope, list.logical.lists->starts, "start", term_settled(scope->code, list, span), true, span);
}

/* The element at a place among those of all lists, which is inside of the list where `inside` holds. `checked`: where
 * it does not, nobody reads it. */
static struct term element_at(struct scope *scope, const struct named_list *list, value place, value inside,
                              bool checked)
{
    struct code *code = scope->code;
    const struct span span = list->span;
    const struct list_store *store = list->term.logical.lists;
    struct column *column = column_of_elements(scope, list);
    if (!column)
        return unknown_term;
    const enum kind kind = type_table[column->type].kind;
    struct term element = term_of_type(NO_VALUE, column->logical);
    element.present = inside;
    if (list_is_unread(scope, list->term)) {
        element.value = unread_value(scope, list->term, kind, span);
        if (column->validity)
            element.present = present_both(code, inside, unread_value(scope, list->term, KIND_BOOL, span), span);
    } else if (store->elements->rows == 0) {
        element.value = kind == KIND_FLOAT  ? code_float(code, 0, span)
                        : kind == KIND_BOOL ? code_bool(code, false, span)
                                            : code_exact_int(code, 0, span);
        element.present = code_bool(code, false, span);
    } else {
        if (!checked && inside != NO_VALUE)
            place = code_op(code, OP_SELECT, inside, place, code_exact_int(code, 0, span), span);
        element.value = read_at(scope, column, "element", place, !checked, span);
        if (column->validity)
            element.present =
                present_both(code, inside, read_at(scope, column->validity, "present", place, !checked, span), span);
    }
    element.settled = element.present == NO_VALUE;
    return element;
}

/* The place of an index; anything if the lists have not been read. */
static value place_of(struct scope *scope, const struct named_list *list, value index)
{
    if (list_is_unread(scope, list->term))
        return index;
    return code_binary(scope->code, OP_ADD, list_start(scope, list->term, list->span), index, list->span);
}

struct term list_element_inside(struct scope *scope, const struct named_list *list, value index, bool is_place,
                                value inside)
{
    return element_at(scope, list, is_place ? index : place_of(scope, list, index), inside, false);
}

struct term list_element(struct scope *scope, const struct named_list *list, struct term position)
{
    struct code *code = scope->code;
    const struct span span = list->span;
    const struct term length = list_length(scope, list->term, span);
    const value zero = code_exact_int(code, 0, span), given = term_settled(code, position, span);
    const value from_end = code_binary(code, OP_LT, given, zero, span);
    /* Far beyond the list, where adding its length would not fit. */
    const value limit = code_exact_int(code, INT64_C(1) << 62, span);
    const value near = code_binary(code, OP_MAX, given, code_unary(code, OP_NEG, limit, span), span);
    const value behind = code_binary(code, OP_ADD, near, length.value, span);
    const value index = code_op(code, OP_SELECT, from_end, behind, code_binary(code, OP_MIN, given, limit, span), span);
    value inside = code_binary(code, OP_AND, code_binary(code, OP_LE, zero, index, span),
                               code_binary(code, OP_LT, index, length.value, span), span);
    inside = present_both(code, present_both(code, list->term.present, position.present, span), inside, span);
    return element_at(scope, list, place_of(scope, list, index), inside, false);
}

/* The element at scope->elements. */
static struct term element_in_turn(struct scope *scope, const struct named_list *list)
{
    const struct element_position *at = scope->elements;
    struct code *code = scope->code;
    const struct span span = list->span;
    const value number = term_settled(code, list->term, span);
    bool known = false, only = true;
    for (size_t k = 0; k < at->count; k++) {
        known = known || at->lists[k].number == number;
        only = only && at->lists[k].number == number;
    }
    if (only && known)
        return element_at(scope, list, place_of(scope, list, at->index), NO_VALUE, true);
    const struct term length = list_length(scope, list->term, span);
    value inside = code_binary(code, OP_LT, at->index, length.value, span);
    inside = present_both(code, list->term.present, inside, span);
    return element_at(scope, list, place_of(scope, list, at->index), inside, false);
}

struct term list_value(struct scope *scope, const struct named_list *list)
{
    struct arena *arena = scope->binder->arena;
    scope->reads_row = true;
    if (!term_is_known(list->term))
        return unknown_term;
    if (scope->elements)
        return element_in_turn(scope, list);
    if (!list->field)
        return list->term;
    const char *written = text_of_span(arena, list->span, OPERAND_SHOWN);
    return column_of_elements(scope, list)
               ? term_error(
                     scope->binder, list->span,
                     arena_printf(arena, "`%s[0]` is that of one element, `sum(%s)` adds them", written, written),
                     "`%s` is a field of each element of a list", written)
               : unknown_term;
}

void list_hold(struct binder *binder, struct list_store *store)
{
    struct column *holder = column_without_rows(TYPE_I64, TYPE_I64);
    column_set_logical(holder, (struct logical_type){.kind = LOGICAL_LIST, .lists = store});
    queue_hold(binder->queue, holder);
    list_store_unref(store);
}

bool lists_unify(struct scope *scope, struct term *a, const struct expr *a_expr, struct term *b,
                 const struct expr *b_expr, const char *what, struct span span)
{
    struct binder *binder = scope->binder;
    struct list_store *both[] = {a->logical.lists, b->logical.lists};
    if (both[0] == both[1])
        return true;
    if (!lists_fit(both[0], both[1])) {
        const char *first = text_of_span(binder->arena, a_expr->span, OPERAND_SHOWN);
        return bind_error(binder, span, NULL, "%s needs lists of one type, but `%s` is a %s and `%s` is a %s", what,
                          first, both[0]->type.name, text_of_span(binder->arena, b_expr->span, OPERAND_SHOWN),
                          both[1]->type.name);
    }
    if (list_is_unread(scope, *a) || list_is_unread(scope, *b)) {
        if (binder->queue)
            binder->queue->unknown_values = true;
        b->logical.lists = a->logical.lists;
        return true;
    }
    int64_t firsts[2];
    bool too_large;
    const struct workers workers = {.threads = parallel_threads(), .cancel = env_cancel(binder->env)};
    struct list_store *joined = append_lists(both, 2, firsts, &workers, &too_large);
    if (!joined) {
        binder->cancelled = workers_cancelled(&workers);
        return binder->cancelled ? false : bind_error(binder, span, NULL, "not enough memory for the lists of both");
    }
    list_hold(binder, joined);
    a->logical.lists = b->logical.lists = joined;
    b->value = code_with(scope->code, OP_ADD, b->value, firsts[1], span);
    b->settled = b->present == NO_VALUE;
    return true;
}

bool list_refuse_key(struct binder *binder, const char *name, const char *stage, struct span span)
{
    name = name_written(name, binder->arena);
    return bind_error(
        binder, span,
        arena_printf(binder->arena, "`text(%s)` is a text of all elements, `len(%s)` their number", name, name),
        "`%s` is a list, which cannot be a key of `%s`", name, stage);
}

bool list_may_be_named(const struct scope *scope, const struct expr *expr)
{
    const struct flow *flow = scope->flow;
    size_t k;
    if (scope->binder->defining || name_is_parameter(scope, expr->name.text, &k))
        return true;
    if (flow && find_column(scope, expr->name.text, strlen(expr->name.text), &k))
        return !flow->columns[k].known;
    return flow && flow->open;
}
