#include "engine/plan/assertion.h"

#include "engine/plan/task_title.h"
#include "engine/values/scalar.h"
#include "parser/parse.h"

#include <string.h>

/* The least count that a shift does not take. */
enum { TOO_FAR = 64 };

/* Longer ones are not worth quoting. */
enum { LONGEST_QUOTE = 60, MOST_OPERANDS = 4 };

static bool is_int(const struct code *code, value v, int64_t integer)
{
    const struct instr *instr = &code->at[v];
    return instr->op == OP_CONST && instr->kind == KIND_INT && instr->integer == integer;
}

value assertion_add(struct code *code, value condition, struct span span)
{
    value zero = code_exact_int(code, 0, span), too_far = code_exact_int(code, TOO_FAR, span);
    value one = code_exact_int(code, 1, span);
    value count = code_op(code, OP_SELECT, condition, zero, too_far, span);
    value shifted = code_op(code, OP_SHL, one, count, NO_VALUE, span);
    return code_op(code, OP_EQ, shifted, one, NO_VALUE, span);
}

/* The condition under which 1 is shifted by nothing. */
static value condition_of_shift(const struct code *code, value shift)
{
    const struct instr *instr = &code->at[shift];
    if (instr->op != OP_SHL || !is_int(code, instr->args[0], 1))
        return NO_VALUE;
    const struct instr *count = &code->at[instr->args[1]];
    bool chosen = count->op == OP_SELECT && is_int(code, count->args[1], 0) && is_int(code, count->args[2], TOO_FAR);
    return chosen ? count->args[0] : NO_VALUE;
}

value assertion_condition(const struct code *code, value filter)
{
    const struct instr *instr = &code->at[filter];
    return instr->op == OP_EQ && is_int(code, instr->args[1], 1) ? condition_of_shift(code, instr->args[0]) : NO_VALUE;
}

bool assertion_failed(const struct failure *failure)
{
    const struct stage_mark *stage = failure->task ? stage_of_span(failure->task, failure->instr->span) : NULL;
    if (!stage || strcmp(stage->name, "assert") != 0)
        return false;
    value shift = (value)(failure->instr - failure->code->at);
    return failure->instr->op == OP_SHL && (condition_of_shift(failure->code, shift) != NO_VALUE ||
                                            is_int(failure->code, failure->instr->args[1], TOO_FAR));
}

/* "x is 3" for what is not written out anyway. */
static void tell_value(struct strbuf *told, const char *text, const struct scalar *scalar)
{
    struct strbuf number = {0};
    scalar_print(&number, scalar);
    if (strcmp(text, number.text) != 0 && strlen(text) <= LONGEST_QUOTE)
        strbuf_printf(told, "%s`%s` is %s", told->length ? ", " : "", text, number.text);
    strbuf_free(&number);
}

static bool is_known(const struct failure *failure, value v)
{
    return failure->values && (failure->computed[v] == failure->computed_for || code_is_const(failure->code, v));
}

static const char *text_of(const struct expr *expr, struct arena *arena)
{
    return arena_text(arena, expr->span.source->text + expr->span.begin, expr->span.end - expr->span.begin);
}

/* `written` is the operand as the user wrote it, or NULL. */
static void tell_operand(struct strbuf *told, const struct failure *failure, value v, const struct expr *written)
{
    const struct instr *instr = &failure->code->at[v];
    if (!is_known(failure, v))
        return;
    const char **names = arena_array(failure->code->arena, failure->task->input_count + 1, sizeof *names);
    for (size_t i = 0; i < failure->task->input_count; i++)
        names[i] = failure->task->inputs[i].name;
    struct strbuf text = {0};
    union datum datum = code_is_const(failure->code, v) ? datum_of_const(instr) : failure->values[v];
    struct scalar scalar = datum_scalar(datum, instr->kind);
    if (written)
        strbuf_puts(&text, text_of(written, failure->code->arena));
    else
        code_print(&text, failure->code, v, names);
    tell_value(told, text.text, &scalar);
    strbuf_free(&text);
}

/* The assertion's text as a tree once more: after fusion its code no longer says how it was written. NULL: it is part
 * of something larger. */
static const struct expr *parse_condition(struct span span, struct arena *arena)
{
    struct source *source = arena_alloc(arena, sizeof *source);
    struct stmt *stmt;
    struct diags diags;
    diags_init(&diags, arena);
    size_t length = span.end - span.begin;
    *source = (struct source){"", arena_text(arena, span.source->text + span.begin, length), length};
    bool parsed = parse(source, PARSE_SCRIPT, arena, &diags, &stmt) == PARSE_OK && stmt;
    return parsed && stmt->kind == STMT_EXPR ? stmt->expr : NULL;
}

/* Which operand of the code's comparison is the first one written; -1: it is not that comparison. */
static int first_written(const struct expr *expr, enum op op)
{
    static const struct {
        enum binary_op written;
        enum op op;
        int first;
    } comparisons[] = {
        {BINARY_EQ, OP_EQ, 0}, {BINARY_NE, OP_NE, 0}, {BINARY_LT, OP_LT, 0},
        {BINARY_LE, OP_LE, 0}, {BINARY_GT, OP_LT, 1}, {BINARY_GE, OP_LE, 1},
    };
    for (size_t i = 0; expr && expr->kind == EXPR_BINARY && i < sizeof comparisons / sizeof *comparisons; i++) {
        if (comparisons[i].written == expr->op.binary && comparisons[i].op == op)
            return comparisons[i].first;
    }
    return -1;
}

static bool is_and(const struct expr *expr)
{
    return expr && expr->kind == EXPR_BINARY && expr->op.binary == BINARY_AND;
}

/* The operands of the comparison that decided. */
static void tell_condition(struct strbuf *told, const struct failure *failure, value condition)
{
    const struct expr *written = parse_condition(failure->instr->span, failure->code->arena);
    const struct instr *instr = &failure->code->at[condition];
    for (; instr->op == OP_AND; instr = &failure->code->at[condition]) {
        value left = instr->args[0];
        bool left_holds = is_known(failure, left) && failure->values[left].integer != 0;
        condition = left_holds ? instr->args[1] : left;
        written = is_and(written) ? written->args[left_holds ? 1 : 0] : NULL;
    }
    int arity = op_table[instr->op].arity;
    int first = first_written(written, instr->op);
    for (int i = 0; i < arity; i++) {
        int operand = first == 1 ? arity - 1 - i : i;
        tell_operand(told, failure, instr->args[operand], first < 0 ? NULL : written->args[i]);
    }
    if (arity == 0)
        tell_operand(told, failure, condition, NULL);
}

void assertion_hint(const struct failure *failure, struct diags *diags)
{
    value condition = condition_of_shift(failure->code, (value)(failure->instr - failure->code->at));
    struct strbuf told = {0};
    if (condition != NO_VALUE)
        tell_condition(&told, failure, condition);
    if (told.length)
        diag_hint(diags, "%s", told.text);
    strbuf_free(&told);
}

/* A condition of an expression on its own: of a statement, or of a terminal's value. */
struct claim {
    struct env *env;
    const struct subject *subject; /* or NULL */
    struct arena *arena;
};

/* A part of the claim's expression, which is known to have a value; false if it has none by itself. */
static bool part_value(const struct claim *claim, const struct expr *expr, struct scalar *scalar)
{
    struct bound bound;
    struct diags diags;
    diags_init(&diags, claim->arena);
    if (bind_expression(claim->env, expr, claim->subject, false, claim->arena, &bound, &diags) != STATUS_OK ||
        bound.kind != BOUND_CONSTANT)
        return false;
    *scalar = bound.scalar;
    return true;
}

static bool holds(const struct scalar *scalar)
{
    return scalar->kind == KIND_FLOAT ? scalar->number != 0 : scalar->integer != 0;
}

static void tell_part(struct strbuf *told, const struct claim *claim, const struct expr *expr)
{
    struct scalar scalar;
    if (part_value(claim, expr, &scalar))
        tell_value(told, text_of(expr, claim->arena), &scalar);
}

static void tell_parts(struct strbuf *told, const struct claim *claim, const struct expr *expr)
{
    struct scalar left;
    while (expr->kind == EXPR_BINARY && expr->op.binary == BINARY_AND && part_value(claim, expr->args[0], &left))
        expr = holds(&left) ? expr->args[1] : expr->args[0];
    for (size_t i = 0; i < expr->arg_count && i < MOST_OPERANDS; i++)
        tell_part(told, claim, expr->args[i]);
    if (expr->arg_count == 0)
        tell_part(told, claim, expr);
}

enum status assertion_check(const struct expr *expr, enum kind kind, struct diags *diags)
{
    if (kind != KIND_FLOAT)
        return STATUS_OK;
    const char *text = text_of(expr, diags->arena);
    diag_error(diags, expr->span, "a condition cannot be a float, but `%s` is one", text);
    diag_hint(diags, "compare it: `%s != 0.0`", text);
    return STATUS_FAILED;
}

static enum status run_claim(const struct claim *claim, const struct expr *expr, struct span span, struct diags *diags)
{
    struct bound bound;
    enum status status = bind_expression(claim->env, expr, claim->subject, false, claim->arena, &bound, diags);
    if (status == STATUS_OK)
        status = assertion_check(expr, bound.scalar_kind, diags);
    if (status != STATUS_OK || holds(&bound.scalar))
        return status;
    struct strbuf told = {0};
    diag_error(diags, span, "assertion failed: `%s`", text_of(expr, claim->arena));
    tell_parts(&told, claim, expr);
    if (told.length)
        diag_hint(diags, "%s", told.text);
    strbuf_free(&told);
    return STATUS_FAILED;
}

enum status assertion_run(struct env *env, const struct stmt *stmt, struct arena *arena, struct diags *diags)
{
    const struct claim claim = {env, NULL, arena};
    return run_claim(&claim, stmt->expr, stmt->span, diags);
}

enum status assertion_run_checks(struct env *env, const struct bound *bound, const struct scalar *scalar,
                                 struct arena *arena, struct diags *diags)
{
    struct subject subject = {
        .value = {.name = arena_printf(arena, "%s", bound->scalar_name), .kind = BINDING_SCALAR, .scalar = *scalar}};
    const struct claim claim = {env, &subject, arena};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < bound->check_count && status == STATUS_OK; i++) {
        subject.head = bound->checks[i].head;
        status = run_claim(&claim, bound->checks[i].condition, bound->checks[i].span, diags);
    }
    return status;
}
