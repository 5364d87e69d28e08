/* Folds over an index: sum(k in A..B: E). */
#include "engine/expression/expression.h"
#include "engine/plan/code_loop.h"

enum { OPERAND_SHOWN = 40, LIMIT_FOLDS = 8 };

/* What becomes of the values. */
struct fold {
    struct scope *scope;
    const struct expr *expr;
    value *indices; /* COUNTERs, the outermost first */
    size_t count;
};

static const struct expr *body_of(const struct fold *fold)
{
    return fold->expr->args[fold->expr->arg_count - 1];
}

/* A fold of `body` over all indices. */
static value fold_of(const struct fold *fold, enum aggregate_kind kind, value body)
{
    for (size_t i = fold->count; i-- > 0;)
        body = code_fold(fold->scope->code, kind, fold->indices[i], body, i > 0, fold->expr->span);
    return body;
}

static struct term refuse(const struct fold *fold, const char *needs, const char *hint, struct term term)
{
    struct binder *binder = fold->scope->binder;
    return term_error(binder, body_of(fold)->span, hint, "`%s` over an index needs %s, but `%s` is %s",
                      fold->expr->name.text, needs, text_of_span(binder->arena, body_of(fold)->span, OPERAND_SHOWN),
                      class_noun(class_of(fold->scope->code, term)));
}

/* The body's value, which every index needs to have. */
static value required(const struct fold *fold, struct term term)
{
    return term_required(fold->scope->code, term, body_of(fold)->span);
}

static struct term sum(const struct fold *fold, enum aggregate_kind kind, struct term term)
{
    struct code *code = fold->scope->code;
    const enum term_class which = class_of(code, term);
    if (which != CLASS_INT && which != CLASS_FLOAT && !logical_table[term.logical.kind].adds)
        return refuse(fold, "numbers", which == CLASS_BOOL ? "`count` counts the rounds in which it holds" : NULL,
                      term);
    return term_of_type(fold_of(fold, kind, term_settled(code, term, fold->expr->span)), term.logical);
}

static struct term product(const struct fold *fold, enum aggregate_kind kind, struct term term)
{
    const enum term_class which = class_of(fold->scope->code, term);
    if (which != CLASS_INT && which != CLASS_FLOAT)
        return refuse(fold, "numbers", NULL, term);
    return term_of(fold_of(fold, kind, required(fold, term)));
}

static struct term mean(const struct fold *fold, enum aggregate_kind kind, struct term term)
{
    (void)kind;
    struct code *code = fold->scope->code;
    const struct span span = fold->expr->span;
    const enum term_class which = class_of(code, term);
    if (which != CLASS_INT && which != CLASS_FLOAT)
        return refuse(fold, "numbers", NULL, term);
    value total = fold_of(fold, AGG_SUM, required(fold, term));
    if (which == CLASS_INT)
        total = code_unary(code, OP_TO_FLOAT, total, span);
    value rounds = fold_of(fold, AGG_ROUNDS, code_exact_int(code, 1, span));
    rounds = code_unary(code, OP_TO_FLOAT, rounds, span);
    return term_of(code_binary(code, OP_DIV, total, rounds, span));
}

static struct term extreme(const struct fold *fold, enum aggregate_kind kind, struct term term)
{
    const enum term_class which = class_of(fold->scope->code, term);
    if (which == CLASS_BOOL || which == CLASS_TEXT || which == CLASS_MONTHS || which == CLASS_MISSING)
        return refuse(fold, "numbers or times", which == CLASS_BOOL ? "use `any` or `all` for conditions" : NULL, term);
    const bool position = kind == AGG_ARGMIN || kind == AGG_ARGMAX;
    if (position && fold->count > 1)
        return term_error(fold->scope->binder, fold->expr->span, "it gives one index", "`%s` has one index only",
                          fold->expr->name.text);
    const value v = fold_of(fold, kind, required(fold, term));
    return position ? term_of(v) : term_of_type(v, term.logical);
}

static struct term count_rounds(const struct fold *fold, enum aggregate_kind kind, struct term term)
{
    (void)kind;
    struct code *code = fold->scope->code;
    const struct span span = fold->expr->span;
    value counts = term.present != NO_VALUE ? term.present : code_bool(code, true, span);
    if (class_of(code, term) == CLASS_BOOL)
        counts = bind_condition(fold->scope, body_of(fold));
    if (counts == NO_VALUE)
        return unknown_term;
    return term_of(fold_of(fold, AGG_SUM, code_unary(code, OP_BOOL_TO_INT, counts, span)));
}

static struct term test(const struct fold *fold, enum aggregate_kind kind, struct term term)
{
    struct code *code = fold->scope->code;
    const struct span span = fold->expr->span;
    value holds = bind_condition(fold->scope, body_of(fold));
    if (holds == NO_VALUE)
        return unknown_term;
    if (kind == AGG_ALL && term.present != NO_VALUE)
        holds = code_binary(code, OP_OR, code_unary(code, OP_NOT, term.present, span), holds, span);
    return term_of(fold_of(fold, kind, holds));
}

/* The aggregates that fold. */
static struct term (*const folds[AGG_KINDS])(const struct fold *fold, enum aggregate_kind kind, struct term term) = {
    [AGG_COUNT] = count_rounds, [AGG_SUM] = sum,        [AGG_PRODUCT] = product, [AGG_MIN] = extreme,
    [AGG_MAX] = extreme,        [AGG_MEAN] = mean,      [AGG_ANY] = test,        [AGG_ALL] = test,
    [AGG_ARGMIN] = extreme,     [AGG_ARGMAX] = extreme,
};

/* An end of a range; NO_VALUE after an error or if unknown. */
static value bind_end(const struct fold *fold, const struct expr *expr)
{
    struct term term = bind_term(fold->scope, expr);
    if (!term_is_known(term) || !bind_is_integer(fold->scope, term, expr, "a range of an index", NULL))
        return NO_VALUE;
    return term_required(fold->scope->code, term, expr->span);
}

/* Binds a range, and makes its name visible. False after an error or if it is unknown: then the name is unknown. */
static bool bind_range(struct fold *fold, const struct expr *range, struct index_name *name)
{
    struct binder *binder = fold->scope->binder;
    if (range->kind != EXPR_IN_RANGE || range->args[0]->kind != EXPR_NAME)
        return bind_error(binder, range->span,
                          arena_printf(binder->arena, "as in `%s(k in 0..9: k * k)`", fold->expr->name.text),
                          "`%s` is no index with its range", text_of_span(binder->arena, range->span, OPERAND_SHOWN));
    *name = (struct index_name){.range = range, .value = NO_VALUE, .outer = fold->scope->indices};
    const value first = bind_end(fold, range->args[1]), last = bind_end(fold, range->args[2]);
    if (first != NO_VALUE && last != NO_VALUE)
        name->value = code_counter(fold->scope->code, binder->folds, first, last, range->span);
    fold->scope->indices = name;
    fold->indices[fold->count++] = name->value;
    return name->value != NO_VALUE;
}

struct term bind_fold(struct scope *scope, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    const struct aggregate_function *function = aggregate_find(expr->name.text);
    const struct index_name *outer = scope->indices;
    const int outer_folds = binder->folds;
    const size_t ranges = expr->arg_count - 1;
    if (!function || !folds[function->kind])
        return term_error(binder, expr->name.span,
                          "these can: sum, product, min, max, mean, count, any, all, argmin and argmax",
                          "`%s` cannot be taken over an index", expr->name.text);
    struct fold fold = {.scope = scope, .expr = expr};
    fold.indices = arena_array(binder->arena, ranges, sizeof *fold.indices);
    struct index_name *names = arena_array(binder->arena, ranges, sizeof *names);
    bool known = true;
    for (size_t i = 0; i < ranges && !bind_gave_up(binder); i++) {
        if (binder->folds == LIMIT_FOLDS) {
            bind_error(binder, expr->span, NULL, "folds are nested more than %d deep", LIMIT_FOLDS);
            known = false;
            break;
        }
        known = bind_range(&fold, expr->args[i], &names[i]) && known;
        binder->folds++;
    }
    struct term term = unknown_term;
    if (fold.count == ranges)
        term = bind_term(scope, body_of(&fold)); /* also for its errors */
    term = known && term_is_known(term) ? folds[function->kind](&fold, function->kind, term) : unknown_term;
    scope->indices = outer;
    binder->folds = outer_folds;
    return term;
}

struct term bind_fold_index(struct scope *scope, const struct expr *range)
{
    for (const struct index_name *at = scope->indices; at; at = at->outer) {
        if (at->range == range)
            return at->value != NO_VALUE ? term_of(at->value) : unknown_term;
    }
    const char *name = range->args[0]->name.text;
    return term_error(
        scope->binder, range->args[0]->span, "compute it for the rows before, with `derive`; `NAME[E]` reads any row",
        "the index `%s` is not known in an aggregate, a window or a distance computed for `at` within its fold", name);
}
