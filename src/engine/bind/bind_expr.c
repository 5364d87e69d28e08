/* Expressions to typed code: resolves names, checks and converts kinds. */
#include "engine/bind/bind_internal.h"

#include <string.h>

enum { OPERAND_SHOWN = 40 };

/* In a check, a `let` scalar of unknown value is an INPUT, numbered from here on: its kind can still be checked. */
static const int64_t FIRST_UNKNOWN_SCALAR = INT64_C(1) << 32;

static enum kind kind_of(const struct scope *scope, value v)
{
    return scope->code->at[v].kind;
}

static value unary(struct scope *scope, enum op op, value a, struct span span)
{
    return code_op(scope->code, op, a, NO_VALUE, NO_VALUE, span);
}

static value binary(struct scope *scope, enum op op, value a, value b, struct span span)
{
    return code_op(scope->code, op, a, b, NO_VALUE, span);
}

/* An exact constant: part of the query's shape, not a literal. */
static value own_int(struct scope *scope, int64_t integer, struct span span)
{
    return code_exact_int(scope->code, integer, span);
}

value bind_number(struct scope *scope, value v, struct span span)
{
    return kind_of(scope, v) == KIND_BOOL ? unary(scope, OP_BOOL_TO_INT, v, span) : v;
}

/* Converts both to integers or both to floats. */
static void unify(struct scope *scope, value *a, value *b, struct span span)
{
    *a = bind_number(scope, *a, span);
    *b = bind_number(scope, *b, span);
    if (kind_of(scope, *a) == kind_of(scope, *b))
        return;
    value *integer = kind_of(scope, *a) == KIND_INT ? a : b;
    *integer = unary(scope, OP_TO_FLOAT, *integer, span);
}

static bool leans_left(const struct expr *expr)
{
    return expr->kind == EXPR_BINARY || expr->kind == EXPR_IN_RANGE || expr->kind == EXPR_IN_LIST;
}

/* "int(a > b)", also if a > b is in parentheses. */
static const char *text_of_int(struct arena *arena, const struct expr *expr)
{
    bool enclosed = leans_left(expr) && expr->span.begin < expr->args[0]->span.begin;
    const char *text = text_of_span(arena, expr->span, OPERAND_SHOWN);
    return arena_printf(arena, enclosed ? "int%s" : "int(%s)", text);
}

bool bind_is_number(struct scope *scope, value v, const struct expr *expr, const char *what, const char *logical)
{
    struct binder *binder = scope->binder;
    if (kind_of(scope, v) != KIND_BOOL)
        return true;
    const char *text = text_of_span(binder->arena, expr->span, OPERAND_SHOWN);
    const char *hint = logical != NULL
                           ? arena_printf(binder->arena, "use `%s` for conditions", logical)
                           : arena_printf(binder->arena, "`%s` is 1 or 0", text_of_int(binder->arena, expr));
    bind_error(binder, expr->span, hint, "%s needs numbers, but `%s` is a condition", what, text);
    return false;
}

bool bind_is_integer(struct scope *scope, value v, const struct expr *expr, const char *what, const char *logical)
{
    struct binder *binder = scope->binder;
    if (kind_of(scope, v) != KIND_FLOAT)
        return bind_is_number(scope, v, expr, what, logical);
    const char *text = text_of_span(binder->arena, expr->span, OPERAND_SHOWN);
    const char *cut = text_of_int(binder->arena, expr);
    bind_error(binder, expr->span, arena_printf(binder->arena, "`%s` truncates it towards zero", cut),
               "%s needs integers, but `%s` is a float", what, text);
    return false;
}

/* Converts a value to a bool; `expr` is its source text. */
static value as_condition(struct scope *scope, value v, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    if (v == NO_VALUE)
        return NO_VALUE;
    switch (kind_of(scope, v)) {
    case KIND_BOOL:
        return v;
    case KIND_INT:
        return binary(scope, OP_NE, v, own_int(scope, 0, expr->span), expr->span);
    case KIND_FLOAT:
        break;
    }
    const char *text = text_of_span(binder->arena, expr->span, OPERAND_SHOWN);
    bind_error(binder, expr->span, arena_printf(binder->arena, "compare it: `%s != 0.0`", text),
               "a condition cannot be a float, but `%s` is one", text);
    return NO_VALUE;
}

value bind_condition(struct scope *scope, const struct expr *expr)
{
    return as_condition(scope, bind_value(scope, expr), expr);
}

static value column_value(struct scope *scope, size_t index, struct span span)
{
    const struct slot *slot = &scope->flow->columns[index];
    scope->reads_row = true;
    if (!slot->known)
        return NO_VALUE;
    return code_input(scope->code, (int64_t)index, type_table[slot->type].kind, span);
}

value bind_unknown(struct scope *scope, int64_t number, enum kind kind, struct span span)
{
    return code_input(scope->code, FIRST_UNKNOWN_SCALAR + number, kind, span);
}

value constant_of(struct code *code, const struct scalar *scalar, struct span span)
{
    if (scalar->kind == KIND_FLOAT)
        return code_float(code, scalar->number, span);
    if (scalar->kind == KIND_BOOL)
        return code_bool(code, scalar->integer != 0, span);
    return scalar_fits(scalar) ? code_int(code, (int64_t)scalar->integer, span) : NO_VALUE;
}

static value scalar_value(struct scope *scope, const struct binding *binding, struct span span)
{
    struct binder *binder = scope->binder;
    if (binding->unknown) {
        bool is_subject = scope->subject != NULL && binding == &scope->subject->value;
        int64_t number = is_subject ? (int64_t)binder->env->count : binding - binder->env->bindings;
        return bind_unknown(scope, number, binding->scalar.kind, span);
    }
    value v = constant_of(scope->code, &binding->scalar, span);
    if (v == NO_VALUE)
        bind_error(binder, span, "it can be printed, but not used further", "the value of `%s` does not fit in 64 bits",
                   binding->name);
    return v;
}

static value bind_name(struct scope *scope, const struct name *name)
{
    struct resolved resolved = name_resolve(scope, name);
    switch (resolved.meaning) {
    case MEANS_ARGUMENT:
        return scope->arguments[resolved.index];
    case MEANS_COLUMN:
        return column_value(scope, resolved.index, name->span);
    case MEANS_SCALAR:
        return scalar_value(scope, resolved.binding, name->span);
    case MEANS_ROW:
        scope->reads_row = true;
        return shape_row(scope->code, scope->shape, name->span);
    case MEANS_COL:
        scope->reads_row = true;
        return shape_col(scope->code, scope->shape, name->span);
    case MEANS_UNKNOWN:
        break;
    }
    return NO_VALUE;
}

static value bind_unary(struct scope *scope, const struct expr *expr)
{
    value v = bind_value(scope, expr->args[0]);
    if (v == NO_VALUE)
        return NO_VALUE;
    switch (expr->op.unary) {
    case UNARY_NEG:
        return bind_is_number(scope, v, expr->args[0], "`-`", NULL) ? unary(scope, OP_NEG, v, expr->span) : NO_VALUE;
    case UNARY_NOT:
        v = as_condition(scope, v, expr->args[0]);
        return v == NO_VALUE ? NO_VALUE : unary(scope, OP_NOT, v, expr->span);
    case UNARY_BITNOT:
        return bind_is_integer(scope, v, expr->args[0], "`~`", "!") ? unary(scope, OP_BITNOT, v, expr->span) : NO_VALUE;
    }
    return NO_VALUE;
}

value bind_choice(struct scope *scope, value condition, value yes, const struct expr *yes_expr, value no,
                  const struct expr *no_expr, const char *what, struct span span)
{
    if (condition == NO_VALUE || yes == NO_VALUE || no == NO_VALUE)
        return NO_VALUE;
    if (kind_of(scope, yes) != kind_of(scope, no)) {
        if (!bind_is_number(scope, yes, yes_expr, what, NULL) || !bind_is_number(scope, no, no_expr, what, NULL))
            return NO_VALUE;
        unify(scope, &yes, &no, span);
    }
    return code_op(scope->code, OP_SELECT, condition, yes, no, span);
}

static value bind_ternary(struct scope *scope, const struct expr *expr)
{
    const struct expr *yes_expr = expr->args[1], *no_expr = expr->args[2];
    value condition = bind_condition(scope, expr->args[0]);
    value yes = bind_value(scope, yes_expr);
    value no = bind_value(scope, no_expr);
    return bind_choice(scope, condition, yes, yes_expr, no, no_expr, "beside a number, `?:`", expr->span);
}

/* How a binary operator is lowered. */
enum lowering { LOWER_LOGIC, LOWER_COMPARE, LOWER_COMPARE_SWAPPED, LOWER_ARITHMETIC, LOWER_BITS };

static const struct binary_row {
    enum lowering lowering;
    enum op op;
    const char *quoted;
} binary_rows[] = {
    [BINARY_OR] = {LOWER_LOGIC, OP_OR, "`||`"},          [BINARY_AND] = {LOWER_LOGIC, OP_AND, "`&&`"},
    [BINARY_EQ] = {LOWER_COMPARE, OP_EQ, "`==`"},        [BINARY_NE] = {LOWER_COMPARE, OP_NE, "`!=`"},
    [BINARY_LT] = {LOWER_COMPARE, OP_LT, "`<`"},         [BINARY_LE] = {LOWER_COMPARE, OP_LE, "`<=`"},
    [BINARY_GT] = {LOWER_COMPARE_SWAPPED, OP_LT, "`>`"}, [BINARY_GE] = {LOWER_COMPARE_SWAPPED, OP_LE, "`>=`"},
    [BINARY_BITOR] = {LOWER_BITS, OP_BITOR, "`|`"},      [BINARY_BITAND] = {LOWER_BITS, OP_BITAND, "`&`"},
    [BINARY_XOR] = {LOWER_BITS, OP_XOR, "`^`"},          [BINARY_SHL] = {LOWER_BITS, OP_SHL, "`<<`"},
    [BINARY_SHR] = {LOWER_BITS, OP_SHR, "`>>`"},         [BINARY_ADD] = {LOWER_ARITHMETIC, OP_ADD, "`+`"},
    [BINARY_SUB] = {LOWER_ARITHMETIC, OP_SUB, "`-`"},    [BINARY_MUL] = {LOWER_ARITHMETIC, OP_MUL, "`*`"},
    [BINARY_INT_DIV] = {LOWER_BITS, OP_DIV, "`//`"},     [BINARY_DIV] = {LOWER_ARITHMETIC, OP_DIV, "`/`"},
    [BINARY_MOD] = {LOWER_ARITHMETIC, OP_MOD, "`%`"},
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
    if (logical != NULL)
        hint = arena_printf(binder->arena, "join conditions with `%s`; %s works on the bits of numbers", logical,
                            binary_rows[between->op.binary].quoted);
    bind_error(binder, expr->span, hint, "comparisons do not chain: this would compare a condition");
}

/* Checks the operands' kinds. Conditions can only be compared for equality. */
static bool fit_operands(struct scope *scope, const struct expr *expr, value a, value b)
{
    const struct binary_row *row = &binary_rows[expr->op.binary];
    const struct expr *left = expr->args[0], *right = expr->args[1];
    if (is_equality(expr->op.binary))
        return true;
    if (row->lowering == LOWER_BITS)
        return bind_is_integer(scope, a, left, row->quoted, logical_of(row->op)) &&
               bind_is_integer(scope, b, right, row->quoted, logical_of(row->op));
    return bind_is_number(scope, a, left, row->quoted, NULL) && bind_is_number(scope, b, right, row->quoted, NULL);
}

static value not_yet(struct scope *scope, struct span span, const char *what)
{
    bind_error(scope->binder, span, NULL, "%s not supported yet", what);
    return NO_VALUE;
}

/* Binds left OP right; `a` is the value of left. */
static value bind_binary(struct scope *scope, const struct expr *expr, value a)
{
    if (expr->op.binary == BINARY_COALESCE || (expr->op.binary >= BINARY_IS && expr->op.binary <= BINARY_MATCH))
        return not_yet(scope, expr->op_span, "this operator is");
    const struct binary_row *row = &binary_rows[expr->op.binary];
    const struct expr *left = expr->args[0], *right = expr->args[1];
    if (row->lowering == LOWER_LOGIC) {
        a = as_condition(scope, a, left);
        value b = bind_condition(scope, right);
        return a == NO_VALUE || b == NO_VALUE ? NO_VALUE : binary(scope, row->op, a, b, expr->span);
    }

    value b = bind_value(scope, right);
    if (is_chained_comparison(expr)) {
        refuse_chained_comparison(scope, expr);
        return NO_VALUE;
    }
    if (a == NO_VALUE || b == NO_VALUE || !fit_operands(scope, expr, a, b))
        return NO_VALUE;
    switch (row->lowering) {
    case LOWER_COMPARE:
        return bind_compare(scope, row->op, a, b, expr->span);
    case LOWER_COMPARE_SWAPPED:
        return bind_compare(scope, row->op, b, a, expr->span);
    case LOWER_BITS:
        return binary(scope, row->op, a, b, expr->span);
    case LOWER_ARITHMETIC:
    case LOWER_LOGIC:
        break;
    }
    unify(scope, &a, &b, expr->span);
    return binary(scope, row->op, a, b, expr->span);
}

static value bind_in_range(struct scope *scope, const struct expr *expr, value v)
{
    value from = bind_value(scope, expr->args[1]);
    value to = bind_value(scope, expr->args[2]);
    if (v == NO_VALUE || from == NO_VALUE || to == NO_VALUE)
        return NO_VALUE;
    value above = bind_compare(scope, OP_LE, from, v, expr->span);
    value below = bind_compare(scope, OP_LE, v, to, expr->span);
    return binary(scope, OP_AND, above, below, expr->span);
}

/* Nothing is in an empty list, but computing the value may still fail. */
static value in_nothing(struct scope *scope, value v, struct span span)
{
    if (v == NO_VALUE || !scope->code->at[v].fallible)
        return code_bool(scope->code, false, span);
    return binary(scope, kind_of(scope, v) == KIND_FLOAT ? OP_LT : OP_NE, v, v, span);
}

static value bind_in_list(struct scope *scope, const struct expr *expr, value v)
{
    if (expr->arg_count == 1)
        return in_nothing(scope, v, expr->span);
    value any = code_bool(scope->code, false, expr->span);
    for (size_t i = 1; i < expr->arg_count && !bind_gave_up(scope->binder); i++) {
        value element = bind_value(scope, expr->args[i]);
        if (v == NO_VALUE || element == NO_VALUE || any == NO_VALUE) {
            any = NO_VALUE;
            continue;
        }
        value equal = bind_compare(scope, OP_EQ, v, element, expr->args[i]->span);
        any = binary(scope, OP_OR, any, equal, expr->span);
    }
    return v == NO_VALUE ? NO_VALUE : any;
}

/* a + b + c + ... is as deep as it is long: walked by a loop, not by recursion. */
static value bind_chain(struct scope *scope, const struct expr *expr)
{
    size_t length = 0;
    const struct expr *first = expr;
    for (; leans_left(first); first = first->args[0])
        length++;
    const struct expr **chain = arena_array(scope->binder->arena, length, sizeof(const struct expr *));
    size_t at = length;
    for (const struct expr *link = expr; leans_left(link); link = link->args[0])
        chain[--at] = link;

    value v = bind_value(scope, first);
    for (size_t i = 0; i < length && !bind_gave_up(scope->binder); i++) {
        if (chain[i]->kind == EXPR_BINARY)
            v = bind_binary(scope, chain[i], v);
        else if (chain[i]->kind == EXPR_IN_RANGE)
            v = bind_in_range(scope, chain[i], v);
        else
            v = bind_in_list(scope, chain[i], v);
    }
    return bind_gave_up(scope->binder) ? NO_VALUE : v;
}

static value bind_by_kind(struct scope *scope, const struct expr *expr)
{
    size_t index;
    switch (expr->kind) {
    case EXPR_INT:
        return code_int(scope->code, expr->integer, expr->span);
    case EXPR_FLOAT:
        return code_float(scope->code, expr->number, expr->span);
    case EXPR_BOOL:
        return code_bool(scope->code, expr->integer != 0, expr->span);
    case EXPR_TEXT:
        return not_yet(scope, expr->span, "text is");
    case EXPR_DATE:
    case EXPR_TIMESTAMP:
        return not_yet(scope, expr->span, "dates are");
    case EXPR_DURATION:
    case EXPR_MONTHS:
        return not_yet(scope, expr->span, "durations are");
    case EXPR_MISSING:
        return not_yet(scope, expr->span, "missing values are");
    case EXPR_NAME:
        return bind_name(scope, &expr->name);
    case EXPR_POSITION:
        return name_position(scope, expr->integer, expr->span, &index) ? column_value(scope, index, expr->span)
                                                                       : NO_VALUE;
    case EXPR_UNARY:
        return bind_unary(scope, expr);
    case EXPR_TERNARY:
        return bind_ternary(scope, expr);
    case EXPR_CALL:
        return bind_call(scope, expr);
    case EXPR_BINARY:
    case EXPR_IN_RANGE:
    case EXPR_IN_LIST:
        return bind_chain(scope, expr);
    case EXPR_INDEX:
        return bind_index(scope, expr);
    }
    return NO_VALUE;
}

/* The parser limits depth; nested inlining goes deeper and doubles the width at each level, so both are limited here.
 * */
static bool within_limits(struct scope *scope, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    if (bind_gave_up(binder))
        return false;
    if (binder->call == NULL)
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

value bind_value(struct scope *scope, const struct expr *expr)
{
    if (!within_limits(scope, expr))
        return NO_VALUE;
    scope->binder->depth++;
    value v = bind_by_kind(scope, expr);
    scope->binder->depth--;
    return v;
}

bool bind_is_column(const struct scope *scope, const struct expr *expr, value v, size_t *index)
{
    if (expr->kind != EXPR_NAME && expr->kind != EXPR_POSITION)
        return false;
    if (v == NO_VALUE || scope->code->at[v].op != OP_INPUT)
        return false;
    *index = (size_t)scope->code->at[v].integer;
    return scope->flow != NULL && *index < scope->flow->count;
}
