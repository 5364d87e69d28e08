/* Operators: conditions in three values, comparisons, choices, lists. */
#include "engine/expression/match.h"
#include "engine/expression/texts.h"
#include "engine/expression/zoned.h"
#include "engine/lists/lists.h"

enum { OPERAND_SHOWN = 40 };

bool expr_leans_left(const struct expr *expr)
{
    return expr->kind == EXPR_BINARY || expr->kind == EXPR_IN_RANGE || expr->kind == EXPR_IN_LIST ||
           expr->kind == EXPR_IN_SOURCE;
}

/* As a bool that may be unknown; `expr` is its source text. */
static struct term as_bool(struct scope *scope, struct term term, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    if (!term_is_known(term))
        return term;
    const enum term_class which = class_of(scope->code, term);
    if (which == CLASS_BOOL)
        return term;
    const char *text = text_of_span(binder->arena, expr->span, OPERAND_SHOWN);
    if (which == CLASS_INT) {
        term.value = code_with(scope->code, OP_NE, term.value, 0, expr->span);
        return term;
    }
    return term_error(binder, expr->span,
                      which == CLASS_FLOAT ? arena_printf(binder->arena, "compare it: `%s != 0.0`", text) : NULL,
                      "a condition cannot be %s, but `%s` is one", class_noun(which), text);
}

/* Whether it holds: false where it is unknown. */
static value truth(struct scope *scope, struct term condition, struct span span)
{
    return term_is_known(condition) ? term_settled(scope->code, condition, span) : NO_VALUE;
}

value bind_condition(struct scope *scope, const struct expr *expr)
{
    return truth(scope, as_bool(scope, bind_term(scope, expr), expr), expr->span);
}

static struct term negate_condition(struct scope *scope, struct term condition, struct span span)
{
    if (!term_is_known(condition))
        return unknown_term;
    condition.value = code_unary(scope->code, OP_NOT, condition.value, span);
    condition.settled = condition.present == NO_VALUE;
    return condition;
}

struct term bind_unary(struct scope *scope, const struct expr *expr)
{
    const struct expr *operand = expr->args[0];
    struct term term = bind_term(scope, operand);
    if (!term_is_known(term))
        return unknown_term;
    switch (expr->op.unary) {
    case UNARY_NEG:
        return bind_negation(scope, term, operand, expr->span);
    case UNARY_NOT:
        return negate_condition(scope, as_bool(scope, term, operand), expr->span);
    case UNARY_BITNOT:
        if (!bind_is_integer(scope, term, operand, "`~`", "!"))
            return unknown_term;
        term.value = code_unary(scope->code, OP_BITNOT, term.value, expr->span);
        term.settled = term.present == NO_VALUE;
        return term;
    }
    return unknown_term;
}

/* Beside each other, conditions and numbers are a mistake. */
static bool fit_choice(struct scope *scope, struct term yes, const struct expr *yes_expr, struct term no,
                       const struct expr *no_expr, const char *what)
{
    enum term_class first = class_of(scope->code, yes), second = class_of(scope->code, no);
    if (!class_is_number(first) || !class_is_number(second) || (first == CLASS_BOOL) == (second == CLASS_BOOL))
        return true;
    return bind_is_number(scope, yes, yes_expr, what, NULL) && bind_is_number(scope, no, no_expr, what, NULL);
}

/* The choice between two bools of validity, where NO_VALUE is true. */
static value choose_present(struct scope *scope, value condition, value yes, value no, struct span span)
{
    if (yes == no)
        return yes;
    const value all = code_bool(scope->code, true, span);
    return code_op(scope->code, OP_SELECT, condition, yes != NO_VALUE ? yes : all, no != NO_VALUE ? no : all, span);
}

/* Of one dictionary, whose codes need no order to be chosen between. */
static bool share_texts(const struct scope *scope, struct term a, struct term b)
{
    return class_of(scope->code, a) == CLASS_TEXT && class_of(scope->code, b) == CLASS_TEXT && !a.text && !b.text &&
           a.logical.dictionary && a.logical.dictionary == b.logical.dictionary;
}

struct term bind_choice(struct scope *scope, value condition, struct term yes, const struct expr *yes_expr,
                        struct term no, const struct expr *no_expr, const char *what, struct span span)
{
    if (condition == NO_VALUE || !term_is_known(yes) || !term_is_known(no))
        return unknown_term;
    /* The other one may have a dictionary that is known only later, or never, since nothing reads it. */
    if (code_is_const(scope->code, condition)) {
        const bool first = scope->code->at[condition].integer != 0;
        struct term *chosen = first ? &yes : &no, *other = first ? &no : &yes;
        if (class_of(scope->code, *other) == CLASS_TEXT && class_of(scope->code, *chosen) == CLASS_TEXT)
            return *chosen;
        if (class_of(scope->code, *other) == CLASS_TEXT && chosen->missing)
            *other = text_term(scope, (struct text){.at = "", .length = 0}, span);
    }
    if (!fit_choice(scope, yes, yes_expr, no, no_expr, what) ||
        (!share_texts(scope, yes, no) && !terms_unify(scope, &yes, yes_expr, &no, no_expr, what, span)))
        return unknown_term;
    struct term term = term_of_type(code_op(scope->code, OP_SELECT, condition, yes.value, no.value, span), yes.logical);
    term.present = choose_present(scope, condition, yes.present, no.present, span);
    term.settled = (yes.settled && no.settled) || term.present == NO_VALUE;
    term.missing = yes.missing && no.missing;
    return term;
}

/* Binds what is needed only where the condition holds. */
static struct term bind_where(struct scope *scope, value condition, const struct expr *expr)
{
    const struct needed needed = {condition, scope->needed};
    if (condition != NO_VALUE)
        scope->needed = &needed;
    const struct term term = bind_term(scope, expr);
    scope->needed = condition != NO_VALUE ? needed.outer : scope->needed;
    return term;
}

struct term bind_ternary(struct scope *scope, const struct expr *expr)
{
    const struct expr *yes_expr = expr->args[1], *no_expr = expr->args[2];
    const value condition = bind_condition(scope, expr->args[0]);
    const value otherwise = condition != NO_VALUE ? code_unary(scope->code, OP_NOT, condition, expr->span) : NO_VALUE;
    struct term yes = bind_where(scope, condition, yes_expr);
    struct term no = bind_where(scope, otherwise, no_expr);
    return bind_choice(scope, condition, yes, yes_expr, no, no_expr, "beside a number, `?:`", expr->span);
}

/* How a binary operator is lowered. */
enum lowering {
    LOWER_LOGIC,
    LOWER_COMPARE,
    LOWER_COMPARE_SWAPPED,
    LOWER_ARITHMETIC,
    LOWER_DIVISION,
    LOWER_BITS,
    LOWER_COALESCE,
    LOWER_IS,
    LOWER_TEXT
};

static const struct binary_row {
    enum lowering lowering;
    enum op op;
    const char *quoted;
} binary_rows[] = {
    [BINARY_OR] = {LOWER_LOGIC, OP_OR, "`||`"},
    [BINARY_AND] = {LOWER_LOGIC, OP_AND, "`&&`"},
    [BINARY_EQ] = {LOWER_COMPARE, OP_EQ, "`==`"},
    [BINARY_NE] = {LOWER_COMPARE, OP_NE, "`!=`"},
    [BINARY_LT] = {LOWER_COMPARE, OP_LT, "`<`"},
    [BINARY_LE] = {LOWER_COMPARE, OP_LE, "`<=`"},
    [BINARY_GT] = {LOWER_COMPARE_SWAPPED, OP_LT, "`>`"},
    [BINARY_GE] = {LOWER_COMPARE_SWAPPED, OP_LE, "`>=`"},
    [BINARY_BITOR] = {LOWER_BITS, OP_BITOR, "`|`"},
    [BINARY_BITAND] = {LOWER_BITS, OP_BITAND, "`&`"},
    [BINARY_XOR] = {LOWER_BITS, OP_XOR, "`^`"},
    [BINARY_SHL] = {LOWER_BITS, OP_SHL, "`<<`"},
    [BINARY_SHR] = {LOWER_BITS, OP_SHR, "`>>`"},
    [BINARY_ADD] = {LOWER_ARITHMETIC, OP_ADD, "`+`"},
    [BINARY_SUB] = {LOWER_ARITHMETIC, OP_SUB, "`-`"},
    [BINARY_MUL] = {LOWER_ARITHMETIC, OP_MUL, "`*`"},
    [BINARY_DIV] = {LOWER_ARITHMETIC, OP_DIV, "`/`"},
    [BINARY_MOD] = {LOWER_ARITHMETIC, OP_MOD, "`%`"},
    [BINARY_DIV_OR_MISSING] = {LOWER_DIVISION, OP_DIV, "`/?`"},
    [BINARY_INT_DIV] = {LOWER_BITS, OP_DIV, "`//`"},
    [BINARY_COALESCE] = {LOWER_COALESCE, OP_SELECT, "`??`"},
    [BINARY_IS] = {LOWER_IS, OP_EQ, "`is`"},
    [BINARY_LIKE] = {LOWER_TEXT, OP_EQ, "`like`"},
    [BINARY_MATCH] = {LOWER_TEXT, OP_EQ, "`~`"},
};

static bool is_order(enum binary_op op)
{
    return op >= BINARY_LT && op <= BINARY_GE;
}

static bool is_equality(enum binary_op op)
{
    return op == BINARY_EQ || op == BINARY_NE;
}

/* 1 < x < 5 would compare a condition with 5, as in C: an error. `a < b == c < d` compares two conditions and is
 * allowed. */
static bool is_chained_comparison(const struct expr *expr)
{
    const struct expr *left = expr->args[0];
    if (expr->kind != EXPR_BINARY || left->kind != EXPR_BINARY || left->span.begin < left->args[0]->span.begin)
        return false;
    return (is_order(expr->op.binary) && is_order(left->op.binary)) ||
           (is_equality(expr->op.binary) && is_equality(left->op.binary));
}

/* The logical operator that corresponds to an operator on bits; NULL for shifts. */
static const char *logical_of(enum op op)
{
    switch (op) {
    case OP_BITAND:
        return "&&";
    case OP_BITOR:
        return "||";
    case OP_XOR:
        return "!=";
    default:
        return NULL;
    }
}

static void refuse_chained_comparison(struct scope *scope, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    const struct expr *left = expr->args[0];
    const char *middle = text_of_span(binder->arena, left->args[1]->span, OPERAND_SHOWN);
    const char *first = text_of_span(binder->arena, left->span, 2 * OPERAND_SHOWN);
    const char *rest = text_of_span(binder->arena, span_join(expr->op_span, expr->args[1]->span), OPERAND_SHOWN);
    const char *hint = arena_printf(binder->arena, "write `%s && %s %s`", first, middle, rest);
    const struct expr *between = left->args[1];
    const char *logical = between->kind == EXPR_BINARY ? logical_of(binary_rows[between->op.binary].op) : NULL;
    if (logical)
        hint = arena_printf(binder->arena, "join conditions with `%s`; %s works on the bits of numbers", logical,
                            binary_rows[between->op.binary].quoted);
    bind_error(binder, expr->span, hint, "comparisons do not chain: this would compare a condition");
}

/* a /? b: missing where b is 0. */
static struct term bind_division(struct scope *scope, struct term a, const struct expr *a_expr, struct term b,
                                 const struct expr *b_expr, const char *quoted, struct span span)
{
    struct code *code = scope->code;
    struct term quotient = bind_arithmetic(scope, OP_DIV, a, a_expr, b, b_expr, quoted, span);
    if (!term_is_known(quotient))
        return unknown_term;
    const value divisor = bind_number(code, b.value, span);
    const bool number = code->at[divisor].kind == KIND_FLOAT;
    const value zero = number ? code_float(code, 0, span) : code_exact_int(code, 0, span);
    const value is_zero = code_binary(scope->code, OP_EQ, divisor, zero, span);
    const value none =
        code->at[quotient.value].kind == KIND_FLOAT ? code_float(code, 0, span) : code_exact_int(code, 0, span);
    quotient.present = present_both(code, quotient.present, code_unary(scope->code, OP_NOT, is_zero, span), span);
    quotient.value = code_op(code, OP_SELECT, is_zero, none, quotient.value, span);
    quotient.settled = false;
    return quotient;
}

/* Three-valued: true where the operands that are present decide it so. */
static struct term bind_logic(struct scope *scope, enum op op, struct term a, struct term b, struct span span)
{
    if (!term_is_known(a) || !term_is_known(b))
        return unknown_term;
    value first = truth(scope, a, span), second = truth(scope, b, span);
    struct term result = term_of(code_binary(scope->code, op, first, second, span));
    if (a.present == NO_VALUE && b.present == NO_VALUE)
        return result;
    /* Known where both are, or where one decides alone: false for and, true for or. */
    value known = present_both(scope->code, a.present, b.present, span);
    const struct term operands[] = {a, b};
    for (int i = 0; i < 2; i++) {
        value decides = i == 0 ? first : second;
        if (op == OP_AND) {
            decides = code_unary(scope->code, OP_NOT, operands[i].value, span);
            if (operands[i].present != NO_VALUE)
                decides = code_binary(scope->code, OP_AND, operands[i].present, decides, span);
        }
        known = code_binary(scope->code, OP_OR, known, decides, span);
    }
    result.present = known;
    return result;
}

/* Where the first operand does not decide the result of && or ||. */
static value undecided(struct scope *scope, enum op op, struct term a, struct span span)
{
    if (!term_is_known(a))
        return NO_VALUE;
    value open = op == OP_AND ? a.value : code_unary(scope->code, OP_NOT, a.value, span);
    if (a.present != NO_VALUE)
        open = code_binary(scope->code, OP_OR, code_unary(scope->code, OP_NOT, a.present, span), open, span);
    return open;
}

/* Operators on the bits of integers. */
static struct term bind_bits(struct scope *scope, const struct expr *expr, struct term a, struct term b)
{
    const struct binary_row *row = &binary_rows[expr->op.binary];
    if (!bind_is_integer(scope, a, expr->args[0], row->quoted, logical_of(row->op)) ||
        !bind_is_integer(scope, b, expr->args[1], row->quoted, logical_of(row->op)))
        return unknown_term;
    struct term result = term_of(code_binary(scope->code, row->op, a.value, b.value, expr->span));
    result.present = present_both(scope->code, a.present, b.present, expr->span);
    result.settled = result.present == NO_VALUE;
    return result;
}

/* a ?? b: b where a is missing. */
static struct term bind_coalesce(struct scope *scope, const struct expr *expr, struct term a, struct term b)
{
    const struct expr *left = expr->args[0], *right = expr->args[1];
    struct term present = a;
    if (a.present == NO_VALUE)
        present.present = code_bool(scope->code, true, expr->span);
    struct term chosen = bind_choice(scope, present.present, a, left, b, right, "`??`", expr->span);
    if (!term_is_known(chosen))
        return unknown_term;
    chosen.present = NO_VALUE;
    if (a.present != NO_VALUE && b.present != NO_VALUE)
        chosen.present = code_binary(scope->code, OP_OR, a.present, b.present, expr->span);
    chosen.settled = chosen.present == NO_VALUE;
    return chosen;
}

/* An order of conditions is a mistake; they can only be compared for equality. */
static bool fit_comparison(struct scope *scope, const struct expr *expr, struct term a, struct term b)
{
    const char *quoted = binary_rows[expr->op.binary].quoted;
    if (is_equality(expr->op.binary))
        return true;
    return (class_of(scope->code, a) != CLASS_BOOL || bind_is_number(scope, a, expr->args[0], quoted, NULL)) &&
           (class_of(scope->code, b) != CLASS_BOOL || bind_is_number(scope, b, expr->args[1], quoted, NULL));
}

/* Binds left OP right; `a` is left. */
static struct term bind_binary(struct scope *scope, const struct expr *expr, struct term a)
{
    const struct binary_row *row = &binary_rows[expr->op.binary];
    const struct expr *left = expr->args[0], *right = expr->args[1];
    if (row->lowering == LOWER_LOGIC) {
        a = as_bool(scope, a, left);
        const struct term b = bind_where(scope, undecided(scope, row->op, a, expr->span), right);
        return bind_logic(scope, row->op, a, as_bool(scope, b, right), expr->span);
    }

    const value lacking = row->lowering == LOWER_COALESCE && term_is_known(a) && a.present != NO_VALUE
                              ? code_unary(scope->code, OP_NOT, a.present, expr->span)
                              : NO_VALUE;
    struct term b = bind_where(scope, lacking, right);
    if (is_chained_comparison(expr)) {
        refuse_chained_comparison(scope, expr);
        return unknown_term;
    }
    if (!term_is_known(a) || !term_is_known(b))
        return unknown_term;
    switch (row->lowering) {
    case LOWER_COMPARE:
        return fit_comparison(scope, expr, a, b) ? bind_compare(scope, row->op, a, left, b, right, expr->span)
                                                 : unknown_term;
    case LOWER_COMPARE_SWAPPED:
        return fit_comparison(scope, expr, a, b) ? bind_compare(scope, row->op, b, right, a, left, expr->span)
                                                 : unknown_term;
    case LOWER_BITS:
        return bind_bits(scope, expr, a, b);
    case LOWER_COALESCE:
        return bind_coalesce(scope, expr, a, b);
    case LOWER_IS:
        return bind_is(scope, a, left, b, right, expr->span);
    case LOWER_TEXT:
        return bind_text_test(scope, expr, a, b);
    case LOWER_DIVISION:
        return bind_division(scope, a, left, b, right, row->quoted, expr->span);
    case LOWER_ARITHMETIC:
    case LOWER_LOGIC:
        break;
    }
    return bind_arithmetic(scope, row->op, a, left, b, right, row->quoted, expr->span);
}

static struct term bind_in_range(struct scope *scope, const struct expr *expr, struct term term)
{
    const struct expr *of = expr->args[0], *from_expr = expr->args[1], *to_expr = expr->args[2];
    struct term from = bind_term(scope, from_expr);
    struct term to = bind_term(scope, to_expr);
    struct term above = bind_compare(scope, OP_LE, from, from_expr, term, of, expr->span);
    struct term below = bind_compare(scope, OP_LE, term, of, to, to_expr, expr->span);
    return bind_logic(scope, OP_AND, above, below, expr->span);
}

/* Nothing is in an empty list, but computing the value may still fail. */
static struct term in_nothing(struct scope *scope, struct term term, struct span span)
{
    if (!term_is_known(term) || !scope->code->at[term.value].fallible)
        return term_of(code_bool(scope->code, false, span));
    const enum op op = scope->code->at[term.value].kind == KIND_FLOAT ? OP_LT : OP_NE;
    const value settled = term_settled(scope->code, term, span);
    return term_of(code_binary(scope->code, op, settled, settled, span));
}

static struct term bind_in_list(struct scope *scope, const struct expr *expr, struct term term)
{
    if (expr->arg_count == 1)
        return in_nothing(scope, term, expr->span);
    struct term any = term_of(code_bool(scope->code, false, expr->span));
    for (size_t i = 1; i < expr->arg_count && !bind_gave_up(scope->binder); i++) {
        struct term element = bind_term(scope, expr->args[i]);
        struct term equal =
            bind_compare(scope, OP_EQ, term, expr->args[0], element, expr->args[i], expr->args[i]->span);
        any = bind_logic(scope, OP_OR, any, equal, expr->span);
    }
    return term_is_known(term) ? any : unknown_term;
}

/* a + b + c + ... is as deep as it is long: walked by a loop, not by recursion. */
static struct term bind_in(struct scope *scope, const struct expr *expr, struct term term)
{
    struct term result;
    if (is_in_zone(scope, expr, term))
        return bind_in_zone(scope, expr, term);
    return bind_in_lists(scope, expr, term, &result) ? result : bind_in_source(scope, expr, term);
}

struct term bind_chain(struct scope *scope, const struct expr *expr)
{
    size_t length = 0;
    const struct expr *first = expr;
    for (; expr_leans_left(first); first = first->args[0])
        length++;
    const struct expr **chain = arena_array(scope->binder->arena, length, sizeof(const struct expr *));
    size_t at = length;
    for (const struct expr *link = expr; expr_leans_left(link); link = link->args[0])
        chain[--at] = link;

    struct term term = bind_term(scope, first);
    for (size_t i = 0; i < length && !bind_gave_up(scope->binder); i++) {
        if (chain[i]->kind == EXPR_BINARY)
            term = bind_binary(scope, chain[i], term);
        else if (chain[i]->kind == EXPR_IN_RANGE)
            term = bind_in_range(scope, chain[i], term);
        else if (chain[i]->kind == EXPR_IN_SOURCE)
            term = bind_in(scope, chain[i], term);
        else
            term = bind_in_list(scope, chain[i], term);
    }
    return bind_gave_up(scope->binder) ? unknown_term : term;
}
