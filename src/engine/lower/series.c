/* fill(x) and ewma(x, share): what the values of other rows make of a row's own. */
#include "engine/lower/aggregate_functions.h"
#include "engine/lower/lower.h"
#include "engine/lower/over.h"

#include <string.h>

enum { NAME_SHOWN = 40 };

#define FILL_USAGE "usage: fill(x), fill(x, back), fill(x, linear [, t])"
#define EWMA_USAGE "usage: ewma(x, share [, adjust])"

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

static const struct moving_operator up_to_row = {.kind = AGG_LAST, .from_first = true};
static const struct moving_operator from_row = {.kind = AGG_FIRST, .to_last = true};

/* Argument k as a float; unknown after an error. */
static struct term float_argument(struct scope *scope, const struct expr *expr, size_t k)
{
    struct term term = bind_term(scope, expr->args[k]);
    if (!term_is_known(term) ||
        !bind_aggregated(scope, AGG_VAR, &term, expr->args[k], expr->name.text, expr->args[k]->span))
        return unknown_term;
    return term_to_float(scope->code, term, expr->args[k]->span);
}

/* Column t of fill(x, linear, t), or NO_VALUE. */
static value column_of_places(struct scope *scope, const struct expr *written)
{
    struct code *code = scope->code;
    const struct term term = bind_term(scope, written);
    if (!term_is_known(term))
        return NO_VALUE;
    const enum term_class which = class_of(code, term);
    if (which == CLASS_TEXT || which == CLASS_BOOL || which == CLASS_MONTHS || which == CLASS_MISSING) {
        bind_error(scope->binder, written->span, FILL_USAGE, "there are no distances in %s", class_noun(which));
        return NO_VALUE;
    }
    return term_required(code, term, written->span);
}

/* Integers in the order of these numbers, of which NaN is the largest. */
static struct term ordered_integers(struct code *code, value number, struct span span)
{
    if (code->at[number].kind != KIND_FLOAT)
        return term_of(number);
    const value bits = code_unary(code, OP_FLOAT_BITS, number, span);
    const value sign = code_with(code, OP_SHR, bits, 63, span);
    const value others = code_with(code, OP_BITAND, sign, INT64_MAX, span);
    return term_of(code_binary(code, OP_XOR, bits, others, span));
}

/* Between two values on the line through them; missing before the first and behind the last. */
static struct term fill_linear(struct scope *scope, const struct expr *expr)
{
    struct code *code = scope->code;
    const struct span span = expr->span;
    const struct expr *written = expr->arg_count > 2 ? expr->args[2] : NULL;
    const struct term term = float_argument(scope, expr, 0);
    if (!term_is_known(term))
        return term;
    if (written && scope->scattered) {
        scope->binder->needs_order = true;
        return unknown_term;
    }
    const value here = written             ? column_of_places(scope, written)
                       : scope->group != 0 ? lower_row_of_group(scope, span)
                                           : code_row(code, span);
    if (here == NO_VALUE || term.present == NO_VALUE)
        return term;
    struct term place = term_of(here);
    place.present = term.present;
    const struct term before = lower_window(scope, up_to_row, term, span);
    const struct term behind = lower_window(scope, from_row, term, span);
    const struct term sorted = written ? ordered_integers(code, here, written->span) : unknown_term;
    const char *name = written ? text_of_span(scope->binder->arena, written->span, NAME_SHOWN) : NULL;
    const value from = lower_sorted_window(scope, up_to_row, place, sorted, name, span).value;
    const value to = lower_window(scope, from_row, place, span).value;
    value way = code_binary(code, OP_SUB, here, from, span), whole = code_binary(code, OP_SUB, to, from, span);
    if (code->at[here].kind == KIND_INT) {
        way = code_unary(code, OP_TO_FLOAT, way, span);
        whole = code_unary(code, OP_TO_FLOAT, whole, span);
    }
    const value rise = code_binary(code, OP_SUB, behind.value, before.value, span);
    const value step = code_binary(code, OP_MUL, rise, code_binary(code, OP_DIV, way, whole, span), span);
    struct term filled = before;
    filled.present = present_both(code, before.present, behind.present, span);
    filled.value =
        code_op(code, OP_SELECT, term.present, term.value, code_binary(code, OP_ADD, before.value, step, span), span);
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
    return lower_window(scope, back ? from_row : up_to_row, term, expr->span);
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
