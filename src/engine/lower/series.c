/* fill(x) and ewma(x, share): what the values of other rows make of a row's own. */
#include "engine/lower/aggregate_functions.h"
#include "engine/lower/lower.h"
#include "engine/lower/over.h"

#include <string.h>

#define FILL_USAGE "usage: fill(x), fill(x, back), fill(x, linear [, t])"
#define EWMA_USAGE "usage: ewma(x, share [, adjust])"

static value binary(struct code *code, enum op op, value a, value b, struct span span)
{
    return code_op(code, op, a, b, NO_VALUE, span);
}

/* Whether there are rows to read, and so many arguments. */
static bool check_call(struct scope *scope, const struct expr *expr, size_t least, size_t most, const char *usage)
{
    struct binder *binder = scope->binder;
    const char *word = expr->name.text;
    scope->reads_row = true;
    if (expr->arg_count < least || expr->arg_count > most)
        return bind_error(binder, expr->span, usage, "`%s` does not take %zu arguments", word, expr->arg_count);
    if (!binder->defining && (!scope->task || !scope->has_rows))
        return bind_error(binder, expr->span, scope->no_columns, "`%s` needs rows, and there are none here", word);
    return true;
}

static bool is_word(const struct expr *expr, size_t k, const char *word)
{
    return k < expr->arg_count && expr->args[k]->kind == EXPR_NAME && strcmp(expr->args[k]->name.text, word) == 0;
}

/* The nearest value up to the row, or with `onwards` from it on. */
static struct term nearest(struct scope *scope, struct term term, bool onwards, struct span span)
{
    const struct moving_operator op = {
        .kind = onwards ? AGG_FIRST : AGG_LAST, .from_first = !onwards, .to_last = onwards};
    return lower_window(scope, op, term, span);
}

/* Argument k as a float; unknown after an error. */
static struct term float_argument(struct scope *scope, const struct expr *expr, size_t k)
{
    struct term term = bind_term(scope, expr->args[k]);
    if (!term_is_known(term) ||
        !bind_aggregated(scope, AGG_VAR, &term, expr->args[k], expr->name.text, expr->args[k]->span))
        return unknown_term;
    return term_to_float(scope->code, term, expr->args[k]->span);
}

/* Where the row is, in what the line between two values is drawn over: its number, or the column t. */
static value place_of(struct scope *scope, const struct expr *expr)
{
    struct code *code = scope->code;
    if (expr->arg_count < 3)
        return scope->group != 0 ? lower_row_of_group(scope, expr->span) : code_row(code, expr->span);
    const struct expr *written = expr->args[2];
    struct term term = bind_term(scope, written);
    if (!term_is_known(term))
        return NO_VALUE;
    const enum term_class which = class_of(code, term);
    if (which == CLASS_TEXT || which == CLASS_BOOL || which == CLASS_MONTHS || which == CLASS_MISSING) {
        bind_error(scope->binder, written->span, FILL_USAGE, "there are no distances in %s", class_noun(which));
        return NO_VALUE;
    }
    return term_required(code, term, written->span);
}

/* Between two values on the line through them; missing before the first and behind the last. */
static struct term fill_linear(struct scope *scope, const struct expr *expr)
{
    struct code *code = scope->code;
    const struct span span = expr->span;
    const struct term term = float_argument(scope, expr, 0);
    struct term place = term_of(term_is_known(term) ? place_of(scope, expr) : NO_VALUE);
    if (!term_is_known(term) || place.value == NO_VALUE || term.present == NO_VALUE)
        return term;
    const value here = place.value;
    place.present = term.present;
    const struct term before = nearest(scope, term, false, span), behind = nearest(scope, term, true, span);
    const value from = nearest(scope, place, false, span).value, to = nearest(scope, place, true, span).value;
    value way = binary(code, OP_SUB, here, from, span), whole = binary(code, OP_SUB, to, from, span);
    if (code->at[here].kind == KIND_INT) {
        way = code_op(code, OP_TO_FLOAT, way, NO_VALUE, NO_VALUE, span);
        whole = code_op(code, OP_TO_FLOAT, whole, NO_VALUE, NO_VALUE, span);
    }
    const value rise = binary(code, OP_SUB, behind.value, before.value, span);
    const value step = binary(code, OP_MUL, rise, binary(code, OP_DIV, way, whole, span), span);
    struct term filled = before;
    filled.present = present_both(code, before.present, behind.present, span);
    filled.value =
        code_op(code, OP_SELECT, term.present, term.value, binary(code, OP_ADD, before.value, step, span), span);
    filled.settled = false;
    return filled;
}

struct term lower_fill(struct scope *scope, const struct expr *expr)
{
    const bool back = is_word(expr, 1, "back"), linear = is_word(expr, 1, "linear");
    if (!check_call(scope, expr, 1, 3, FILL_USAGE))
        return unknown_term;
    if (expr->arg_count > 1 && !linear && (!back || expr->arg_count > 2))
        return term_error(scope->binder, expr->args[back ? 2 : 1]->span, FILL_USAGE,
                          "after its value `fill` takes `back`, or `linear` and a column");
    if (scope->binder->defining) {
        bind_term(scope, expr->args[0]);
        return unknown_term;
    }
    if (linear)
        return fill_linear(scope, expr);
    struct term term = bind_term(scope, expr->args[0]);
    if (!term_is_known(term) || !bind_aggregated(scope, AGG_LAST, &term, expr->args[0], "fill", expr->args[0]->span) ||
        term.present == NO_VALUE)
        return term;
    return nearest(scope, term, back, expr->span);
}

struct term lower_ewma(struct scope *scope, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    struct moving_operator op = {.kind = AGG_EWMA, .from_first = true, .adjusts = is_word(expr, 2, "adjust")};
    if (!check_call(scope, expr, 2, 3, EWMA_USAGE))
        return unknown_term;
    if (expr->arg_count > 2 && !op.adjusts)
        return term_error(binder, expr->args[2]->span, EWMA_USAGE, "after its share `ewma` takes `adjust`");
    if (binder->defining) {
        bind_term(scope, expr->args[0]);
        return unknown_term;
    }
    const bool known = bind_share(binder, expr->args[1], "`ewma(x, 0.1)`: a tenth of each new value", &op.share);
    if (known && op.share == 0)
        return term_error(binder, expr->args[1]->span, "`1 / 3` of integers is 0: write `1 / 3.0`",
                          "`ewma` takes a share above 0, of which each new value counts");
    const struct term term = float_argument(scope, expr, 0);
    if (!known || !term_is_known(term))
        return unknown_term;
    if (scope->scattered) {
        binder->needs_order = true;
        return unknown_term;
    }
    return lower_window(scope, op, term, expr->span);
}
