/* Expressions to terms: names and literals; operators and calls are in other files. */
#include "engine/expression/expression.h"
#include "engine/expression/named_aggregates.h"
#include "engine/expression/pipeline_value.h"
#include "engine/expression/texts.h"
#include "engine/lists/lists.h"
#include "engine/lower/over.h"

#include "base/time/time_zone.h"

enum { OPERAND_SHOWN = 40 };

/* In a check, a `let` scalar of unknown value is an INPUT, numbered from here on: its kind can still be checked. */
static const int64_t FIRST_UNKNOWN_SCALAR = INT64_C(1) << 32;

static struct term column_term(struct scope *scope, size_t index, struct span span)
{
    scope->reads_row = true;
    return term_of_column(scope->code, scope->flow, index, span);
}

value bind_unknown(struct scope *scope, int64_t number, enum kind kind, struct span span)
{
    return code_input(scope->code, FIRST_UNKNOWN_SCALAR + number, kind, span);
}

bool bind_reads_rows(const struct scope *scope, value v)
{
    bool *live = arena_array(scope->binder->arena, (size_t)scope->code->count, sizeof *live);
    code_mark(scope->code, v, live);
    for (value i = 0; i <= v; i++) {
        const struct instr *instr = &scope->code->at[i];
        const bool reads = instr->op == OP_ROW || instr->op == OP_GATHER ||
                           (instr->op == OP_INPUT && instr->integer < FIRST_UNKNOWN_SCALAR);
        if (live[i] && reads)
            return true;
    }
    return false;
}

static struct term scalar_term(struct scope *scope, const struct binding *binding, struct span span)
{
    struct binder *binder = scope->binder;
    if (binding->unknown) {
        const bool is_subject = scope->subject && binding == &scope->subject->value;
        const int64_t number = is_subject ? (int64_t)binder->env->count : binding - binder->env->bindings;
        return term_of_type(bind_unknown(scope, number, binding->scalar.kind, span), binding->scalar.logical);
    }
    struct term term = constant_of(scope, &binding->scalar, span);
    if (!term_is_known(term))
        bind_error(binder, span, "it can be printed, but not used further", "the value of `%s` does not fit in 64 bits",
                   binding->name);
    return term;
}

static struct term bind_name(struct scope *scope, const struct expr *expr)
{
    const struct name *name = &expr->name;
    struct named_list list;
    if (expr->definition)
        return bind_local(scope, expr->definition);
    if (list_find(scope, expr, &list) && (scope->elements || list.field))
        return list_value(scope, &list);
    struct expr element;
    if (expr_of_path(expr, scope->binder->arena, &element) && !name_is_of_columns(scope, &element))
        return bind_index(scope, &element);
    struct resolved resolved = name_resolve(scope, name);
    switch (resolved.meaning) {
    case MEANS_ARGUMENT:
        return scope->arguments[resolved.index];
    case MEANS_COLUMN:
        return column_term(scope, resolved.index, name->span);
    case MEANS_SCALAR:
        return scalar_term(scope, resolved.binding, name->span);
    case MEANS_ROW:
        scope->reads_row = true;
        if (scope->group != 0)
            return term_of(lower_row_of_group(scope, name->span));
        return term_of(code_row(scope->code, name->span));
    case MEANS_AXIS:
        scope->reads_row = true;
        return term_of(axis_index(scope->code, &scope->shape, resolved.index, name->span));
    case MEANS_STEP:
        return bind_step(scope, name->span);
    case MEANS_NAMED:
        return bind_named_aggregate(scope, resolved.named, name->span);
    case MEANS_UNKNOWN:
        break;
    }
    return unknown_term;
}

/* A literal with a point also is a decimal, beside one. */
static struct term float_term(struct scope *scope, const struct expr *expr)
{
    struct term term = term_of(code_float(scope->code, expr->number, expr->span));
    term.decimal = expr->decimal;
    term.mantissa = expr->integer;
    term.scale = expr->scale;
    return term;
}

static struct term time_term(struct scope *scope, const struct expr *expr)
{
    static const enum logical kinds[] = {
#define LOGICAL_TYPE(kind, name, stored, family, adds, means, noun, unit, written, literal, ...)                       \
    [literal] = LOGICAL_##kind,
#include "engine/values/logical_types.def"
    };
    const value v = code_int(scope->code, expr->integer, expr->span);
    if (expr->kind == EXPR_MONTHS) {
        struct term months = term_of(v);
        months.months = true;
        return months;
    }
    const struct time_zone *zone = expr->utc ? &time_zone_utc : NULL;
    return term_of_type(v, (struct logical_type){.kind = kinds[expr->kind], .zone = zone});
}

static struct term missing_term(struct scope *scope, struct span span)
{
    struct term term = term_of(code_exact_int(scope->code, 0, span));
    term.present = code_bool(scope->code, false, span);
    term.missing = true;
    return term;
}

static struct term bind_by_kind(struct scope *scope, const struct expr *expr)
{
    size_t index;
    struct named_list list;
    switch (expr->kind) {
    case EXPR_INT:
        return term_of(code_int(scope->code, expr->integer, expr->span));
    case EXPR_FLOAT:
        return float_term(scope, expr);
    case EXPR_BOOL:
        return term_of(code_bool(scope->code, expr->integer != 0, expr->span));
    case EXPR_TEXT:
        return text_term(scope, (struct text){expr->text, expr->length}, expr->span);
    case EXPR_DATE:
    case EXPR_TIMESTAMP:
    case EXPR_DURATION:
    case EXPR_MONTHS:
        return time_term(scope, expr);
    case EXPR_MISSING:
        return missing_term(scope, expr->span);
    case EXPR_NAME:
        return bind_name(scope, expr);
    case EXPR_POSITION:
        if (expr->name.text)
            scope->binder->of_set = expr->name;
        if (scope->elements && list_find(scope, expr, &list))
            return list_value(scope, &list);
        return name_position(scope, expr->integer, expr->span, &index) ? column_term(scope, index, expr->span)
                                                                       : unknown_term;
    case EXPR_UNARY:
        return bind_unary(scope, expr);
    case EXPR_TERNARY:
        return bind_ternary(scope, expr);
    case EXPR_CALL:
        return bind_call(scope, expr);
    case EXPR_FOLD:
        return bind_fold(scope, expr);
    case EXPR_OVER:
        return lower_over(scope, expr);
    case EXPR_BINARY:
    case EXPR_IN_RANGE:
    case EXPR_IN_LIST:
    case EXPR_IN_SOURCE:
        return bind_chain(scope, expr);
    case EXPR_PIPELINE:
        return bind_pipeline_value(scope, expr);
    case EXPR_LET:
        return bind_let(scope, expr);
    case EXPR_INDEX:
        return bind_index(scope, expr);
    case EXPR_ELEMENT:
    case EXPR_SLICE:
        return bind_list_part(scope, expr);
    case EXPR_SET:
        bind_error(scope->binder, expr->span,
                   "sets stand in `pick drop rename unpivot map derive sort group per`; `group : max(*)` has a column "
                   "for each",
                   "`%s` is several columns, but here is one value",
                   text_of_span(scope->binder->arena, expr->span, OPERAND_SHOWN));
        return unknown_term;
    }
    return unknown_term;
}

/* The parser limits depth; nested inlining goes deeper and doubles the width at each level, so both are limited here.
 * */
static bool within_limits(struct scope *scope, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    if (bind_gave_up(binder))
        return false;
    if (!binder->call)
        return true;
    if (binder->depth < LIMIT_CALL_DEPTH && binder->inlined < LIMIT_INLINED) {
        binder->inlined++;
        return true;
    }
    bind_error(binder, expr->span, "split the expression with `derive` or `let`",
               "inlined functions exceed %d operations or a depth of %d", LIMIT_INLINED, LIMIT_CALL_DEPTH);
    binder->errors = LIMIT_ERRORS; /* reported once: every other branch would exceed it too */
    return false;
}

struct term bind_term(struct scope *scope, const struct expr *expr)
{
    if (!within_limits(scope, expr))
        return unknown_term;
    struct binder *binder = scope->binder;
    binder->depth++;
    struct term term = bind_by_kind(scope, expr);
    binder->depth--;
    if (!term.months || binder->depth > 0 || binder->defining)
        return term;
    return term_error(binder, expr->span, "months differ in length: add them to a date or timestamp, as in `d + 1mo`",
                      "`%s` is a number of months, which is no value of its own",
                      text_of_span(binder->arena, expr->span, OPERAND_SHOWN));
}

bool bind_is_column(const struct scope *scope, const struct expr *expr, struct term term, size_t *index)
{
    if (expr->kind != EXPR_NAME && expr->kind != EXPR_POSITION)
        return false;
    if (!term_is_known(term) || scope->code->at[term.value].op != OP_INPUT)
        return false;
    *index = (size_t)scope->code->at[term.value].integer;
    return scope->flow && *index < scope->flow->count;
}
