#include "engine/exact/failure.h"

#include "engine/backend/datum.h"
#include "engine/plan/task_title.h"
#include "engine/values/dictionary.h"

#include <string.h>

enum { LONGEST_QUOTE = 60 };

void append_value(struct strbuf *hint, const char *text, const struct scalar *scalar)
{
    struct strbuf number = {0};
    scalar_print(&number, scalar);
    if (strcmp(text, number.text) != 0 && strlen(text) <= LONGEST_QUOTE)
        strbuf_printf(hint, "%s`%s` is %s", hint->length ? ", " : "", text, number.text);
    strbuf_free(&number);
}

static bool is_known(const struct failure *failure, value v)
{
    return failure->values && (failure->computed[v] == failure->computed_for || code_is_const(failure->code, v));
}

const char *expr_text(const struct expr *expr, struct arena *arena)
{
    return arena_text(arena, expr->span.source->text + expr->span.begin, expr->span.end - expr->span.begin);
}

bool scalar_stand_for(struct scalar *scalar, struct logical_type logical)
{
    scalar->logical = logical;
    scalar->logical.dictionary = NULL;
    if (logical.kind != LOGICAL_TEXT)
        return true;
    if (!logical.dictionary || scalar->integer < 0 || scalar->integer >= logical.dictionary->count)
        return false;
    scalar->text = dictionary_text(logical.dictionary, (int64_t)scalar->integer);
    return true;
}

/* `written` is the operand as the user wrote it, or NULL. */
static void append_operand(struct strbuf *hint, const struct failure *failure, value v, struct logical_type logical,
                           const struct expr *written)
{
    const struct instr *instr = &failure->code->at[v];
    if (!failure->task || !is_known(failure, v))
        return;
    const char **names = arena_array(failure->code->arena, failure->task->input_count + 1, sizeof *names);
    for (size_t i = 0; i < failure->task->input_count; i++)
        names[i] = failure->task->inputs[i].name;
    struct strbuf text = {0};
    union datum datum = code_is_const(failure->code, v) ? datum_of_const(instr) : failure->values[v];
    struct scalar scalar = datum_scalar(datum, instr->kind);
    /* A constant text is compared by its place among the texts. */
    const bool literal = code_is_const(failure->code, v) && logical.kind != LOGICAL_NUMBER;
    if (instr->kind == KIND_INT && (literal || !scalar_stand_for(&scalar, logical)))
        return;
    if (written)
        strbuf_puts(&text, expr_text(written, failure->code->arena));
    else
        code_print(&text, failure->code, v, names);
    append_value(hint, text.text, &scalar);
    strbuf_free(&text);
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

/* The column whose validity the condition is; NULL: it is something else. */
static const char *column_of_validity(const struct failure *failure, const struct instr *condition)
{
    static const char suffix[] = " present";
    if (!failure->task || condition->op != OP_INPUT || condition->kind != KIND_BOOL)
        return NULL;
    const char *name = failure->task->inputs[condition->integer].name;
    size_t length = strlen(name), tail = strlen(suffix);
    if (length <= tail || strcmp(name + length - tail, suffix) != 0)
        return NULL;
    return arena_text(failure->code->arena, name, length - tail);
}

/* If the condition is the validity of a column, appends that its value is missing. */
static bool append_missing(struct strbuf *hint, const struct failure *failure, const struct instr *instr)
{
    const char *name = column_of_validity(failure, instr);
    if (name)
        strbuf_printf(hint, "`%s` is missing", name);
    return name;
}

static const struct expr *written_condition(const struct failure *failure)
{
    const struct stage_mark *stage = failure->task ? stage_of_span(failure->task, failure->instr->span) : NULL;
    return stage ? stage->condition : NULL;
}

bool needs_value(const struct failure *failure)
{
    return failure->instr->op == OP_ASSERT && !written_condition(failure);
}

const char *needed_column(const struct failure *failure)
{
    return column_of_validity(failure, &failure->code->at[failure->instr->args[0]]);
}

/* Appends the operands of the comparison that decided. */
static void append_condition(struct strbuf *hint, const struct failure *failure, value condition)
{
    const struct expr *written = written_condition(failure);
    const struct instr *instr = &failure->code->at[condition];
    for (; instr->op == OP_AND; instr = &failure->code->at[condition]) {
        const value left = instr->args[0];
        const bool left_holds = is_known(failure, left) && failure->values[left].integer != 0;
        condition = left_holds ? instr->args[1] : left;
        if (is_and(written))
            written = written->args[left_holds ? 1 : 0];
        else if (!left_holds) /* else the left side says that the operands have values */
            written = NULL;
    }
    const int arity = op_table[instr->op].arity;
    const int first = first_written(written, instr->op);
    const size_t inputs = failure->task ? failure->task->input_count : 0;
    struct logical_type *logicals = arena_array(failure->code->arena, inputs + 1, sizeof *logicals);
    for (size_t k = 0; k < inputs; k++)
        logicals[k] = input_logical(&failure->task->inputs[k]);
    for (int i = 0; i < arity; i++) {
        const int operand = first == 1 ? arity - 1 - i : i;
        append_operand(hint, failure, instr->args[operand],
                       code_operand_logical(failure->code, instr, operand, logicals),
                       first < 0 ? NULL : written->args[i]);
    }
    if (arity == 0 && !append_missing(hint, failure, instr))
        append_operand(hint, failure, condition, (struct logical_type){.kind = LOGICAL_NUMBER}, NULL);
}

void assertion_hint(const struct failure *failure, struct diags *diags)
{
    struct strbuf hint = {0};
    append_condition(&hint, failure, failure->instr->args[0]);
    if (hint.length)
        diag_hint(diags, "%s", hint.text);
    strbuf_free(&hint);
}
