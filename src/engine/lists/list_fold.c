/* Aggregates of each row's lists: `any(tags == "x")`, `sum(items.price * items.qty)`. They are folds over the positions
 * of the elements, within which a list's name stands for its element. Conditions are counted, since sums of rows with
 * different numbers of rounds are the fastest loops. */
#include "engine/lists/lists.h"

#include "engine/expression/texts.h"
#include "engine/plan/code_loop.h"
#include "engine/storage/list_store.h"

#include <string.h>

enum { OPERAND_SHOWN = 40, MOST_LISTS = 64, MOST_NESTED = 8 };

struct list_fold {
    struct scope *scope;
    const struct expr *call;
    struct turned_list lists[MOST_LISTS]; /* the different ones */
    size_t count;
    bool failed;
    value rounds, present; /* elements of the longest list; whether all lists are there */
    value index;
};

static value op(const struct list_fold *fold, enum op operation, value a, value b)
{
    return code_binary(fold->scope->code, operation, a, b, fold->call->span);
}

static value integer(const struct list_fold *fold, int64_t n)
{
    return code_exact_int(fold->scope->code, n, fold->call->span);
}

static value fold_of(const struct list_fold *fold, enum aggregate_kind kind, value body)
{
    return code_fold(fold->scope->code, kind, fold->index, body, false, fold->call->span);
}

/* In how many rounds it holds. */
static value times(const struct list_fold *fold, value holds)
{
    return fold_of(fold, AGG_SUM, op(fold, OP_BOOL_TO_INT, holds, NO_VALUE));
}

/* How many elements have a value. */
static value present_times(const struct list_fold *fold, struct term term)
{
    return term.present == NO_VALUE ? fold->rounds : times(fold, term.present);
}

static struct term refuse(const struct list_fold *fold, const char *needs, const char *hint, struct term term)
{
    const struct expr *body = fold->call->args[0];
    struct binder *binder = fold->scope->binder;
    return term_error(binder, body->span, hint, "`%s` of a list needs %s, but `%s` is %s", fold->call->name.text, needs,
                      text_of_span(binder->arena, body->span, OPERAND_SHOWN),
                      class_noun(class_of(fold->scope->code, term)));
}

static bool adds(const struct list_fold *fold, struct term term)
{
    const enum term_class which = class_of(fold->scope->code, term);
    return which == CLASS_INT || which == CLASS_FLOAT || logical_table[term.logical.kind].adds;
}

static struct term sum(const struct list_fold *fold, enum aggregate_kind kind, struct term term)
{
    if (!adds(fold, term))
        return refuse(fold, "numbers",
                      class_of(fold->scope->code, term) == CLASS_BOOL ? "`count` counts where it holds" : NULL, term);
    return term_of_type(fold_of(fold, kind, term_settled(fold->scope->code, term, fold->call->span)), term.logical);
}

/* The value, or what changes nothing where an element has none. */
static value or_none(const struct list_fold *fold, enum aggregate_kind kind, struct term term)
{
    struct code *code = fold->scope->code;
    const struct span span = fold->call->span;
    if (term.present == NO_VALUE)
        return term.value;
    return code_op(code, OP_SELECT, term.present, term.value,
                   aggregate_none(code, kind, code->at[term.value].kind, span), span);
}

static struct term product(const struct list_fold *fold, enum aggregate_kind kind, struct term term)
{
    const enum term_class which = class_of(fold->scope->code, term);
    if (which != CLASS_INT && which != CLASS_FLOAT)
        return refuse(fold, "numbers", NULL, term);
    return term_of(fold_of(fold, kind, or_none(fold, kind, term)));
}

/* `v` where there are `some` elements; else it is missing. */
static struct term where_some(const struct list_fold *fold, value some, value v, struct logical_type logical)
{
    struct term term = term_of_type(v, logical);
    term.present = op(fold, OP_LT, integer(fold, 0), some);
    term.settled = false;
    term.value = term_settled(fold->scope->code, term, fold->call->span);
    term.settled = true;
    return term;
}

/* The sum of integers as a float, which 64 bits need not hold: of the high and the low halves, each of which fits. */
static value float_sum(const struct list_fold *fold, value v)
{
    const value high = fold_of(fold, AGG_SUM, op(fold, OP_SHR, v, integer(fold, 32)));
    const value low = fold_of(fold, AGG_SUM, op(fold, OP_BITAND, v, integer(fold, UINT32_MAX)));
    const value scaled = op(fold, OP_MUL, op(fold, OP_TO_FLOAT, high, NO_VALUE),
                            code_float(fold->scope->code, 4294967296.0, fold->call->span));
    return op(fold, OP_ADD, scaled, op(fold, OP_TO_FLOAT, low, NO_VALUE));
}

static struct term mean(const struct list_fold *fold, enum aggregate_kind kind, struct term term)
{
    (void)kind;
    struct code *code = fold->scope->code;
    const struct span span = fold->call->span;
    if (!adds(fold, term) || logical_is_time(term.logical))
        return refuse(fold, "numbers", NULL, term);
    const value settled = term_settled(code, term, span), some = present_times(fold, term);
    const value total =
        code->at[settled].kind == KIND_FLOAT ? fold_of(fold, AGG_SUM, settled) : float_sum(fold, settled);
    const struct term sum_of = term_to_float(code, term_of_type(total, term.logical), span);
    const value count = op(fold, OP_TO_FLOAT, some, NO_VALUE);
    return where_some(fold, some, op(fold, OP_DIV, sum_of.value, count), (struct logical_type){0});
}

static struct term extreme(const struct list_fold *fold, enum aggregate_kind kind, struct term term)
{
    const enum term_class which = class_of(fold->scope->code, term);
    if (which == CLASS_BOOL || which == CLASS_MONTHS || which == CLASS_MISSING || which == CLASS_LIST)
        return refuse(fold, "values with an order", which == CLASS_BOOL ? "use `any` or `all` for conditions" : NULL,
                      term);
    term = term_as_column(fold->scope->binder, term);
    if (which == CLASS_TEXT && texts_need_order(fold->scope->binder, term.logical.dictionary))
        return unknown_term;
    return where_some(fold, present_times(fold, term), fold_of(fold, kind, or_none(fold, kind, term)), term.logical);
}

static struct term count(const struct list_fold *fold, enum aggregate_kind kind, struct term term)
{
    (void)kind;
    if (class_of(fold->scope->code, term) != CLASS_BOOL)
        return term_of(present_times(fold, term));
    return term_of(times(fold, term_settled(fold->scope->code, term, fold->call->span)));
}

static struct term test(const struct list_fold *fold, enum aggregate_kind kind, struct term term)
{
    struct code *code = fold->scope->code;
    const struct span span = fold->call->span;
    const enum term_class which = class_of(code, term);
    if (which != CLASS_BOOL && which != CLASS_INT)
        return refuse(fold, "a condition", NULL, term);
    value holds = term_settled(code, term, span);
    if (which == CLASS_INT)
        holds = op(fold, OP_NE, holds, integer(fold, 0));
    if (kind == AGG_ANY)
        return term_of(op(fold, OP_LT, integer(fold, 0), times(fold, holds)));
    const value fails = present_both(code, term.present, op(fold, OP_NOT, holds, NO_VALUE), span);
    return term_of(op(fold, OP_EQ, times(fold, fails), integer(fold, 0)));
}

/* The aggregates of a list. */
static struct term (*const folds[AGG_KINDS])(const struct list_fold *fold, enum aggregate_kind kind,
                                             struct term term) = {
    [AGG_COUNT] = count, [AGG_SUM] = sum,   [AGG_PRODUCT] = product, [AGG_MIN] = extreme,
    [AGG_MAX] = extreme, [AGG_MEAN] = mean, [AGG_ANY] = test,        [AGG_ALL] = test,
};

static void add_list(struct list_fold *fold, struct term list, const struct expr *part, struct span span)
{
    struct code *code = fold->scope->code;
    const value number = term_settled(code, list, span);
    size_t k = 0;
    while (k < fold->count && fold->lists[k].number != number)
        k++;
    if (k < fold->count || fold->count == MOST_LISTS)
        return;
    fold->lists[fold->count++] = (struct turned_list){number, part, list};
    const value length = list_length(fold->scope, list, span).value;
    fold->rounds = k == 0 ? length : op(fold, OP_MAX, fold->rounds, length);
    fold->present = present_both(code, fold->present, list.present, span);
}

/* Adds the lists that the expression names, but for those of aggregates within it. */
static void find_lists(struct list_fold *fold, const struct expr *expr)
{
    struct scope *scope = fold->scope;
    struct named_list list;
    if (!list_is_within(scope, expr))
        return;
    if (list_is_whole(scope, expr, &list)) {
        list_bind(scope, &list);
        fold->failed = fold->failed || !term_is_known(list.term);
        if (!fold->failed)
            add_list(fold, list.term, list.part, expr->span);
        return;
    }
    const size_t count = expr->kind == EXPR_IN_SOURCE ? 1 : expr->arg_count;
    for (size_t i = expr->kind == EXPR_ELEMENT && list_is_whole(scope, expr->args[0], &list); i < count; i++) {
        if (expr->args[i])
            find_lists(fold, expr->args[i]);
    }
}

bool list_is_aggregated(const struct scope *scope, const struct expr *call)
{
    const struct aggregate_function *function = aggregate_named(scope->binder, call);
    if (!function || !folds[function->kind] || call->arg_count != 1)
        return false;
    bool within = false;
    for (size_t i = 0; i < call->arg_count && !within; i++)
        within = list_is_within(scope, call->args[i]);
    return within;
}

/* The lists and the range of positions; a missing list has none. */
static void begin(struct list_fold *fold)
{
    struct code *code = fold->scope->code;
    const struct span span = fold->call->span;
    if (fold->present != NO_VALUE)
        fold->rounds = code_op(code, OP_SELECT, fold->present, fold->rounds, integer(fold, 0), span);
    const value last = op(fold, OP_SUB, fold->rounds, integer(fold, 1));
    fold->index = code_counter(code, fold->scope->binder->folds, integer(fold, 0), last, span);
}

static struct term end(const struct list_fold *fold, struct term result)
{
    if (!term_is_known(result) || fold->present == NO_VALUE)
        return result;
    result.present = present_both(fold->scope->code, fold->present, result.present, fold->call->span);
    result.settled = false;
    return result;
}

struct term bind_list_aggregate(struct scope *scope, const struct expr *call)
{
    struct binder *binder = scope->binder;
    const struct aggregate_function *function = aggregate_named(binder, call);
    struct list_fold fold = {.scope = scope, .call = call, .present = NO_VALUE};
    if (binder->folds == MOST_NESTED)
        return term_error(binder, call->span, NULL, "folds are nested more than %d deep", MOST_NESTED);
    scope->reads_row = true;
    find_lists(&fold, call->args[0]);
    if (fold.failed)
        return unknown_term;
    begin(&fold);
    const struct element_position position = {fold.index, fold.lists, fold.count}, *outer = scope->elements;
    scope->elements = &position;
    binder->folds++;
    const struct term body = bind_term(scope, call->args[0]);
    binder->folds--;
    scope->elements = outer;
    return term_is_known(body) ? end(&fold, folds[function->kind](&fold, function->kind, body)) : unknown_term;
}

/* contains(list, value) */
static struct term contains(struct scope *scope, const struct expr *call, const struct named_list *list,
                            struct term wanted)
{
    struct list_fold fold = {.scope = scope, .call = call, .present = NO_VALUE};
    add_list(&fold, list->term, list->part, list->span);
    begin(&fold);
    const struct element_position position = {fold.index, fold.lists, fold.count}, *outer = scope->elements;
    scope->elements = &position;
    const struct term element = list_value(scope, list);
    scope->elements = outer;
    if (!term_is_known(element))
        return unknown_term;
    const struct term equal = bind_compare(scope, OP_EQ, element, call->args[0], wanted, call->args[1], call->span);
    if (!term_is_known(equal))
        return unknown_term;
    const struct term result = test(&fold, AGG_ANY, equal);
    fold.present = present_both(scope->code, fold.present, wanted.present, call->span);
    return end(&fold, result);
}

/* In how many rounds the elements of this column are the same. */
static value same_times(struct list_fold *fold, const struct named_list *a, const struct expr *a_expr,
                        const struct named_list *b, const struct expr *b_expr)
{
    struct scope *scope = fold->scope;
    const struct element_position position = {fold->index, fold->lists, fold->count}, *outer = scope->elements;
    scope->elements = &position;
    const struct term of_a = list_value(scope, a), of_b = list_value(scope, b);
    scope->elements = outer;
    const struct term same = bind_is(scope, of_a, a_expr, of_b, b_expr, fold->call->span);
    return term_is_known(same) ? times(fold, term_settled(scope->code, same, fold->call->span)) : NO_VALUE;
}

struct term bind_list_equal(struct scope *scope, struct term a, const struct expr *a_expr, struct term b,
                            const struct expr *b_expr, struct span span)
{
    const struct expr at = {.span = span};
    struct list_fold fold = {.scope = scope, .call = &at, .present = NO_VALUE};
    struct named_list lists[] = {{.term = a, .span = a_expr->span}, {.term = b, .span = b_expr->span}};
    const struct relation *of_a = a.logical.lists->elements, *of_b = b.logical.lists->elements;
    bool fields = of_a->count == of_b->count;
    for (size_t k = 0; k < of_a->count && fields; k++)
        fields = list_elements(b.logical.lists, of_a->names[k][0] ? of_a->names[k] : NULL);
    if (!fields)
        return term_error(scope->binder, span, "`text(...)` of both can be compared",
                          "the elements of the lists have different fields");
    add_list(&fold, a, NULL, a_expr->span);
    add_list(&fold, b, NULL, b_expr->span);
    const value lengths = op(&fold, OP_EQ, list_length(scope, a, span).value, list_length(scope, b, span).value);
    fold.present = present_both(scope->code, fold.present, lengths, span);
    begin(&fold);
    struct term result = term_of(lengths);
    for (size_t k = 0; k < of_a->count; k++) {
        lists[0].field = lists[1].field = of_a->names[k][0] ? of_a->names[k] : NULL;
        scope->binder->folds++;
        const value same = same_times(&fold, &lists[0], a_expr, &lists[1], b_expr);
        scope->binder->folds--;
        if (same == NO_VALUE)
            return unknown_term;
        result.value = op(&fold, OP_AND, result.value, op(&fold, OP_EQ, same, fold.rounds));
    }
    result.present = present_both(scope->code, a.present, b.present, span);
    result.settled = false;
    return result;
}

struct term list_entry(struct scope *scope, const struct expr *expr, const struct named_list *map, struct term key)
{
    struct code *code = scope->code;
    const struct span span = expr->span;
    struct list_fold fold = {.scope = scope, .call = expr, .present = NO_VALUE};
    add_list(&fold, map->term, map->part, span);
    begin(&fold);
    const struct named_list keys = {.term = map->term, .span = span, .field = "key"};
    const struct element_position position = {fold.index, fold.lists, fold.count}, *outer = scope->elements;
    scope->elements = &position;
    const struct term own = list_value(scope, &keys);
    scope->elements = outer;
    if (!term_is_known(own))
        return unknown_term;
    const struct term equal = bind_compare(scope, OP_EQ, own, expr, key, expr->args[expr->arg_count - 1], span);
    if (!term_is_known(equal))
        return unknown_term;
    const value none = integer(&fold, -1);
    const value here = code_op(code, OP_SELECT, term_settled(code, equal, span), fold.index, none, span);
    const value some = op(&fold, OP_LT, integer(&fold, 0), fold.rounds);
    const value place = code_op(code, OP_SELECT, some, fold_of(&fold, AGG_MAX, here), none, span);
    value found = op(&fold, OP_LE, integer(&fold, 0), place);
    found = present_both(code, present_both(code, fold.present, key.present, span), found, span);
    const char *field = map->field ? arena_printf(scope->binder->arena, "value.%s", map->field) : "value";
    const struct named_list values = {.term = map->term, .span = span, .field = field};
    return list_element_inside(scope, &values, place, false, found);
}

struct term list_function(struct scope *scope, const struct expr *call, const struct named_list *list,
                          struct term wanted)
{
    scope->reads_row = true;
    if (!term_is_known(list->term))
        return unknown_term;
    if (call->arg_count == 1)
        return list_length(scope, list->term, call->span);
    return term_is_known(wanted) ? contains(scope, call, list, wanted) : unknown_term;
}

bool bind_list_function(struct scope *scope, const struct expr *call, struct term *result)
{
    struct named_list list;
    const bool is_len = strcmp(call->name.text, "len") == 0 && call->arg_count == 1;
    const bool is_contains = strcmp(call->name.text, "contains") == 0 && call->arg_count == 2;
    if ((!is_len && !is_contains) || !list_is_whole(scope, call->args[0], &list))
        return false;
    list_bind(scope, &list);
    *result = list_function(scope, call, &list, is_contains ? bind_term(scope, call->args[1]) : unknown_term);
    return true;
}
