/* Aggregates of one pass. */
#include "engine/lower/aggregate_functions.h"
#include "engine/expression/names_unknown.h"
#include "engine/expression/texts.h"
#include "engine/plan/code_loop.h"

#include <math.h>

enum { OPERAND_SHOWN = 40, HALF_BITS = 32 };

const char *operand_shown(const struct scope *scope, const struct expr *expr, struct span span)
{
    const struct flow *flow = scope->flow;
    const size_t place = !expr ? 1 : expr->kind == EXPR_POSITION ? (size_t)expr->integer : 0;
    if (flow && place > 0 && place <= flow->count && (expr || flow->count == 1) && !flow->nameless)
        return name_written(flow->columns[place - 1].name, scope->binder->arena);
    return text_of_span(scope->binder->arena, expr ? expr->span : span, OPERAND_SHOWN);
}

bool aggregate_takes(enum aggregate_kind kind, enum term_class which, enum logical logical)
{
    if (which == CLASS_MONTHS || which == CLASS_MISSING)
        return false;
    switch (aggregate_table[kind].takes) {
    case TAKES_NUMBERS:
        return class_is_number(which) || (aggregate_table[kind].sums && logical_table[logical].adds);
    case TAKES_DECIMALS:
        return class_is_number(which) || which == CLASS_DECIMAL;
    case TAKES_TRUTHS:
        return which == CLASS_BOOL || which == CLASS_INT;
    case TAKES_ALL:
        return which != CLASS_LIST || kind == AGG_COUNT || kind == AGG_FIRST || kind == AGG_LAST || kind == AGG_COLLECT;
    }
    return false;
}

bool bind_aggregated(struct scope *scope, enum aggregate_kind kind, struct term *term, const struct expr *expr,
                     const char *what, struct span span)
{
    const enum term_class which = class_of(scope->code, *term);
    const bool nearest = kind == AGG_FIRST || kind == AGG_LAST || kind == AGG_COLLECT;
    if (!aggregate_takes(kind, which, term->logical.kind)) {
        const char *text = operand_shown(scope, expr, span);
        const char *hint = NULL;
        if (which == CLASS_TEXT)
            hint = arena_printf(
                scope->binder->arena,
                "of text there are `min`, `max`, `first`, `last` and `count`; `float(%s)` is the number that it writes",
                text);
        else if (which == CLASS_LIST && expr && expr->kind == EXPR_NAME)
            hint = arena_printf(scope->binder->arena, "`unnest %s` gives each element a row", text);
        else if (which == CLASS_DECIMAL)
            hint = arena_printf(scope->binder->arena, "`float(%s)` is a float", text);
        const char *column = name_hint_of_text(scope->binder, expr, scope->flow);
        hint = column ? column : hint;
        return bind_error(scope->binder, expr ? expr->span : span, hint, "`%s` needs numbers, but `%s` is %s", what,
                          text, class_noun(which));
    }
    *term = term_as_column(scope->binder, *term);
    if (!nearest && !aggregate_table[kind].extreme)
        term->value = bind_number(scope->code, term->value, span);
    return true;
}

enum type type_of_aggregate(enum aggregate_kind aggregate, enum kind kind)
{
    if (aggregate == AGG_COUNT)
        return TYPE_I64;
    return aggregate == AGG_MEAN ? TYPE_F64 : type_of_kind(kind);
}

static struct scope *scope_of(struct lowering *lowering)
{
    return &lowering->first.operands.scope;
}

struct term aggregate_argument(struct lowering *lowering, struct aggregate_call *call, enum aggregate_kind kind,
                               size_t k)
{
    struct scope *scope = scope_of(lowering);
    struct term term = bind_term(scope, call->expr->args[k]);
    call->known = term_is_known(term) &&
                  bind_aggregated(scope, kind, &term, call->expr->args[k], call->function->canonical, call->expr->span);
    return term;
}

struct slot slot_of_aggregate(const struct scope *scope, enum aggregate_kind kind, struct term term)
{
    struct slot slot = {.type = TYPE_I64, .known = true};
    if (kind == AGG_COUNT)
        return slot;
    slot.logical = term.logical;
    slot.type = term.logical.kind != LOGICAL_NUMBER && !aggregate_table[kind].sums
                    ? slot_of_term(scope, term).type
                    : type_of_aggregate(kind, scope->code->at[term.value].kind);
    return slot;
}

/* A column of the call's result. */
static struct slot slot_of(const struct lowering *lowering, const struct aggregate_call *call, enum aggregate_kind kind,
                           struct term term)
{
    struct slot slot = {.type = TYPE_I64};
    if (call->known)
        slot = slot_of_aggregate(&lowering->first.operands.scope, kind, term);
    slot.name = call->function->canonical;
    return slot;
}

/* The call's value is an aggregate of the term as it is. */
static void add_plain(struct lowering *lowering, struct aggregate_call *call, enum aggregate_kind kind,
                      struct term term)
{
    call->slot = slot_of(lowering, call, kind, term);
    call->plain = true;
    call->pass = &lowering->first;
    call->partial[0] =
        pass_add(&lowering->first, kind, call->known ? term.value : NO_VALUE, call->slot, call->expr->span);
}

/* Whether there may be nothing to aggregate. */
static bool may_lack(const struct lowering *lowering, struct term term)
{
    return term.present != NO_VALUE || aggregation_is_whole(lowering->of);
}

void aggregate_count_values(struct lowering *lowering, struct aggregate_call *call, struct term term)
{
    call->lacks = call->known && may_lack(lowering, term);
    if (call->lacks)
        call->partial[1] = pass_add_count(&lowering->first, term.present, call->expr->span);
}

value any_counted(struct reader *reader, const struct aggregate_call *call)
{
    struct code *code = reader->scope.code;
    const struct span span = call->expr->span;
    if (!call->lacks)
        return NO_VALUE;
    const value count = reader_value(reader, call->pass, call->partial[1], span);
    return code_binary(code, OP_LT, code_exact_int(code, 0, span), count, span);
}

value aggregate_settled(struct code *code, enum aggregate_kind kind, struct term term, struct span span)
{
    if (term.present == NO_VALUE || aggregate_table[kind].none == 0)
        return term_settled(code, term, span);
    const value none = aggregate_none(code, kind, code->at[term.value].kind, span);
    return code_op(code, OP_SELECT, term.present, term.value, none, span);
}

/* Sums and products, which have a value of nothing. */
static void begin_joined(struct lowering *lowering, struct aggregate_call *call)
{
    const enum aggregate_kind kind = call->function->kind;
    struct term term = aggregate_argument(lowering, call, kind, 0);
    if (call->known)
        term.value = aggregate_settled(scope_of(lowering)->code, kind, term, call->expr->span);
    add_plain(lowering, call, kind, term);
}

value counted_rows(struct scope *scope, struct term term, struct span span)
{
    return class_of(scope->code, term) == CLASS_BOOL ? term_settled(scope->code, term, span) : term.present;
}

/* count() counts all rows, count(CONDITION) those for which it holds, and count(E) those where E is present. */
static void begin_count(struct lowering *lowering, struct aggregate_call *call)
{
    struct scope *scope = scope_of(lowering);
    value where = NO_VALUE;
    call->known = true;
    if (call->expr->arg_count == 1) {
        const struct expr *arg = call->expr->args[0];
        const struct aggregate_function *inner = aggregate_of_call(scope->binder, arg);
        struct term term = bind_term(scope, arg);
        if (inner && inner->kind == AGG_DISTINCT) {
            const char *text = operand_shown(scope, arg, arg->span);
            term = unknown_term;
            bind_error(scope->binder, call->expr->span,
                       arena_printf(scope->binder->arena, "write `%s`, the number of different values", text),
                       "`%s` is one number: to count it counts the rows", text);
        }
        call->known = term_is_known(term);
        if (call->known)
            where = counted_rows(scope, term, call->expr->span);
    }
    call->slot = (struct slot){.name = "count", .type = TYPE_I64, .known = true};
    call->plain = true;
    call->pass = &lowering->first;
    call->partial[0] = pass_add_count(&lowering->first, where, call->expr->span);
}

void add_extreme(struct lowering *lowering, struct aggregate_call *call, enum aggregate_kind kind, struct term term)
{
    struct code *code = scope_of(lowering)->code;
    call->truth = call->known && code->at[term.value].kind == KIND_BOOL;
    if (call->known) {
        term.value = bind_number(code, term.value, call->expr->span);
        term.value = aggregate_settled(code, kind, term, call->expr->span);
    }
    add_plain(lowering, call, kind, term);
    aggregate_count_values(lowering, call, term);
    call->plain = !call->lacks && !call->truth;
}

static void begin_extreme(struct lowering *lowering, struct aggregate_call *call)
{
    const enum aggregate_kind kind = call->function->kind;
    add_extreme(lowering, call, kind, aggregate_argument(lowering, call, kind, 0));
}

/* Partial 0, where partial 1 says that there is something. */
static struct term counted(struct reader *reader, const struct aggregate_call *call)
{
    struct term term = reader_partial(reader, call->pass, call->partial[0], call->expr->span);
    term.logical = call->slot.logical;
    term.present = any_counted(reader, call);
    term.settled = term.present == NO_VALUE;
    return term;
}

static struct term finish_extreme(struct reader *reader, const struct aggregate_call *call, const struct pass *second)
{
    (void)second;
    struct term term = counted(reader, call);
    if (call->truth)
        term.value = bind_truth(reader->scope.code, term.value, call->expr->span);
    return term;
}

struct term term_of_mean(struct code *code, struct term term, struct logical_type logical, struct span span)
{
    term.logical = logical;
    if (term.logical.kind == LOGICAL_DECIMAL)
        return term_to_float(code, term, span); /* after the division: 0.1 and 0.2 are no sum of floats */
    if (logical_table[term.logical.kind].means) {
        term.value = term_settled(code, term, span); /* where there is nothing, there may be a NaN */
        term.value = code_unary(code, OP_ROUND, term.value, span);
        term.value = code_unary(code, OP_TO_INT, term.value, span);
        term.settled = true;
    }
    return term;
}

/* Adds integers in two halves, so that no sum of a column exceeds 64 bits: partial 0 adds the high ones, partial 2 the
 * low.
 */
static void sum_halves(struct lowering *lowering, struct aggregate_call *call, struct term term)
{
    struct code *code = scope_of(lowering)->code;
    const struct span span = call->expr->span;
    const value low = code_with(code, OP_BITAND, term.value, UINT32_MAX, span);
    const value high = code_with(code, OP_SHR, term.value, HALF_BITS, span);
    call->pass = &lowering->first;
    call->partial[0] = pass_add_plain(&lowering->first, AGG_SUM, high, span);
    call->partial[2] = pass_add_plain(&lowering->first, AGG_SUM, low, span);
    call->slot = slot_of(lowering, call, AGG_MEAN, term);
}

/* The sum of the halves, rounded once: the high one is exact below 2^53, and so is its product by a power of two. */
static value join_halves(struct reader *reader, const struct aggregate_call *call, value high)
{
    struct code *code = reader->scope.code;
    const struct span span = call->expr->span;
    value low = reader_value(reader, call->pass, call->partial[2], span);
    const value carry = code_with(code, OP_SHR, low, HALF_BITS, span);
    high = code_binary(code, OP_ADD, high, carry, span);
    low = code_with(code, OP_BITAND, low, UINT32_MAX, span);
    high = code_unary(code, OP_TO_FLOAT, high, span);
    high = code_binary(code, OP_MUL, high, code_float(code, (double)(INT64_C(1) << HALF_BITS), span), span);
    low = code_unary(code, OP_TO_FLOAT, low, span);
    return code_binary(code, OP_ADD, high, low, span);
}

static void begin_mean(struct lowering *lowering, struct aggregate_call *call)
{
    struct code *code = scope_of(lowering)->code;
    struct term term = aggregate_argument(lowering, call, AGG_MEAN, 0);
    const struct logical_type logical = term.logical;
    const struct span span = call->expr->span;
    term.logical = (struct logical_type){0};
    call->summed = call->known && term.present != NO_VALUE;
    if (call->summed) {
        term.value = bind_number(code, term.value, span);
        term.value = term_settled(code, term, span);
    }
    call->halved = call->summed && code->at[term.value].kind == KIND_INT;
    if (call->halved)
        sum_halves(lowering, call, term);
    else
        add_plain(lowering, call, call->summed ? AGG_SUM : AGG_MEAN, term);
    aggregate_count_values(lowering, call, term);
    call->slot.logical = logical;
    call->plain = !call->lacks && logical.kind == LOGICAL_NUMBER;
}

static struct term finish_mean(struct reader *reader, const struct aggregate_call *call, const struct pass *second)
{
    (void)second;
    struct code *code = reader->scope.code;
    const struct span span = call->expr->span;
    struct term term = counted(reader, call);
    if (call->halved)
        term.value = join_halves(reader, call, term.value);
    if (call->summed) {
        const value count = reader_value(reader, call->pass, call->partial[1], span);
        const value number = code_unary(code, OP_TO_FLOAT, count, span);
        term.value = code_binary(code, OP_DIV, term.value, number, span);
    }
    return term_of_mean(code, term, term.logical, span);
}

const char quantile_hint[] = "`quantile(0.99, x)`: 99 in 100 values are below it; 0.5 is the median";

bool bind_share(struct binder *binder, const struct expr *expr, const char *hint, double *share)
{
    struct scalar scalar;
    struct scope scope = scope_without_columns(binder, NULL, "the share is the same for all rows");
    const enum known known = bind_constant(&scope, expr, &scalar);
    if (known == KNOWN_NOTHING)
        return false;
    *share = known == KNOWN_KIND ? 0.5 : scalar.kind == KIND_FLOAT ? scalar.number : (double)scalar.integer;
    if (scalar.logical.kind == LOGICAL_NUMBER && *share >= 0 && *share <= 1)
        return true;
    return bind_error(binder, expr->span, hint, "the share is a number from 0 to 1");
}

/* Numbers, decimals and durations are interpolated; of others it is the lower of two values. */
static void begin_quantile(struct lowering *lowering, struct aggregate_call *call)
{
    const struct span span = call->expr->span;
    const bool median = call->function->kind == AGG_MEDIAN;
    double share = 0.5;
    const bool known = median || bind_share(lowering->of->binder, call->expr->args[0], quantile_hint, &share);
    struct term term = aggregate_argument(lowering, call, AGG_MIN, median ? 0 : 1);
    if (call->known)
        term.value = bind_number(scope_of(lowering)->code, term.value, span);
    call->known = call->known && known;
    const bool lower = call->known && term.logical.kind != LOGICAL_NUMBER && !logical_table[term.logical.kind].adds;
    call->slot = slot_of(lowering, call, lower ? AGG_MIN : AGG_MEAN, term);
    call->pass = &lowering->first;
    struct slot slot = call->slot;
    if (!lower)
        slot.logical = (struct logical_type){0};
    call->partial[0] = pass_add_quantile(&lowering->first, call->known ? term.value : NO_VALUE,
                                         call->known ? term.present : NO_VALUE, share, lower, slot, span);
    aggregate_count_values(lowering, call, term);
    call->plain = !call->lacks && (lower || call->slot.logical.kind == LOGICAL_NUMBER);
}

static struct term finish_quantile(struct reader *reader, const struct aggregate_call *call, const struct pass *second)
{
    (void)second;
    struct term term = counted(reader, call);
    const bool interpolated = reader->scope.code->at[term.value].kind == KIND_FLOAT;
    return interpolated ? term_of_mean(reader->scope.code, term, term.logical, call->expr->span) : term;
}

/* Conditions are counted: any where they hold, all where they are known not to. */
static void begin_any(struct lowering *lowering, struct aggregate_call *call)
{
    struct scope *scope = scope_of(lowering);
    const struct span span = call->expr->span;
    const value holds = bind_condition(scope, call->expr->args[0]);
    value where = holds;
    call->known = holds != NO_VALUE;
    if (call->known && call->function->kind == AGG_ALL) {
        struct term term = bind_term(scope, call->expr->args[0]);
        where = code_unary(scope->code, OP_NOT, holds, span);
        where = present_both(scope->code, term.present, where, span);
    }
    call->slot = (struct slot){.name = call->function->canonical, .type = TYPE_BOOL, .known = call->known};
    call->pass = &lowering->first;
    call->partial[0] = pass_add_count(&lowering->first, where, span);
}

static struct term finish_any(struct reader *reader, const struct aggregate_call *call, const struct pass *second)
{
    (void)second;
    struct code *code = reader->scope.code;
    const struct span span = call->expr->span;
    value count = reader_value(reader, call->pass, call->partial[0], span), none = code_exact_int(code, 0, span);
    if (call->function->kind == AGG_ALL)
        return term_of(code_binary(code, OP_EQ, count, none, span));
    return term_of(code_binary(code, OP_LT, none, count, span));
}

void find_elements(struct lowering *lowering, struct aggregate_call *call, size_t k)
{
    struct binder *binder = lowering->of->binder;
    const struct flow *flow = lowering->of->flow;
    const struct expr *expr = call->expr->args[k];
    struct task *task = task_reading(binder, "map", call->expr->span, flow);
    struct scope scope = scope_of_stage(binder, task, flow, NULL);
    scope.head = lowering->of->stage->head;
    struct term term = term_as_column(binder, bind_term(&scope, expr));
    call->known = call->known && term_is_known(term);
    call->slot = slot_of_term(&scope, term);
    call->slot.name = call->function->canonical;
    call->at = *flow;
    if (bind_is_column(&scope, expr, term, &call->at_column)) {
        queue_remove(binder->queue, task); /* nothing is computed */
        return;
    }
    call->at_column = 0;
    task_set_outputs(binder, task, &call->at, &call->slot, &term, 1);
}

/* An element at a row that exists where `any` is true. */
static value element_of(struct scope *scope, const struct flow *flow, size_t column, value row, value any,
                        struct span span)
{
    const struct input input = flow_whole(flow, column);
    const int64_t number = (int64_t)task_add_input(scope->task, &input, scope->binder->arena);
    struct term term = term_of(code_gather(scope->code, number, type_table[input.type].kind, row, span));
    term.present = any;
    term.settled = false;
    return term_settled(scope->code, term, span);
}

struct term element_at(struct reader *reader, const struct aggregate_call *call, value row)
{
    struct scope *scope = &reader->scope;
    const struct span span = call->expr->span;
    const struct slot *slot = &call->at.columns[call->at_column];
    const value any = any_counted(reader, call);
    if (any == NO_VALUE)
        return term_at(scope, &call->at, call->at_column, row, span);
    struct term term = term_of_type(element_of(scope, &call->at, call->at_column, row, any, span), slot->logical);
    value present = NO_VALUE;
    if (slot->validity != 0)
        present = element_of(scope, &call->at, slot->validity, row, any, span);
    term.present = present_both(scope->code, any, present, span);
    return term;
}

/* The least or greatest number of a row that has the value. */
static void begin_first(struct lowering *lowering, struct aggregate_call *call)
{
    struct scope *scope = scope_of(lowering);
    const struct span span = call->expr->span;
    const bool first = call->function->kind == AGG_FIRST;
    struct term term = bind_term(scope, call->expr->args[0]);
    call->known = term_is_known(term);
    call->pass = &lowering->first;
    value row = code_row(scope->code, span);
    if (call->known && term.present != NO_VALUE)
        row = code_op(scope->code, OP_SELECT, term.present, row,
                      code_exact_int(scope->code, first ? INT64_MAX : -1, span), span);
    call->partial[0] = pass_add_plain(&lowering->first, first ? AGG_MIN : AGG_MAX, row, span);
    aggregate_count_values(lowering, call, term);
    find_elements(lowering, call, 0);
}

static struct term finish_first(struct reader *reader, const struct aggregate_call *call, const struct pass *second)
{
    (void)second;
    return element_at(reader, call, reader_value(reader, call->pass, call->partial[0], call->expr->span));
}

static const struct aggregate_recipe recipe_joined = {.begin = begin_joined}, recipe_count = {.begin = begin_count},
                                     recipe_extreme = {.begin = begin_extreme, .finish = finish_extreme},
                                     recipe_mean = {.begin = begin_mean, .finish = finish_mean},
                                     recipe_quantile = {.begin = begin_quantile, .finish = finish_quantile},
                                     recipe_any = {.begin = begin_any, .finish = finish_any},
                                     recipe_first = {.begin = begin_first, .finish = finish_first};

const struct aggregate_recipe *aggregate_recipe_of(const struct aggregate_function *function)
{
    static const struct aggregate_recipe *const recipes[AGG_KINDS] = {
#define AGGREGATE_FUNCTION(name, kind, recipe, ...) [AGG_##kind] = &recipe_##recipe,
#include "engine/plan/aggregates.def"
    };
    return recipes[function->kind];
}
