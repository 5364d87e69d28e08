#include "engine/exact/failure.h"

#include "engine/plan/code_loop.h"
#include "engine/plan/task_title.h"
#include "engine/values/scalar.h"
#include "parser/words.h"

#include "base/time/calendar.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

const char integer_is_days[] =
    "an integer is a number of days; `date(text(n), \"%Y%m%d\")` reads 20240105 as 2024-01-05";
const char integer_is_microseconds[] =
    "an integer is a number of microseconds; of seconds write `timestamp(n * 1000000)`";

/* Hints quote only short pieces of the query. */
enum { LONGEST_QUOTE = 40 };

static bool is_shift(enum op op)
{
    return op == OP_SHL || op == OP_SHR;
}

static bool divides_by_zero(const struct failure *failure)
{
    const enum op op = failure->instr->op;
    return (op == OP_DIV || op == OP_MOD) && failure->b == 0;
}

static bool shifts_too_far(const struct failure *failure)
{
    return is_shift(failure->instr->op) && (failure->b < 0 || failure->b > 63);
}

/* The operation with its values: "9223372036854775807 + 1", "abs(-9223372036854775808)". */
static const char *operation_text(const struct failure *failure, struct arena *arena)
{
    const char *sign = op_table[failure->instr->op].text;
    long long a = failure->a, b = failure->b;
    switch (failure->instr->op) {
    case OP_NEG:
        return arena_printf(arena, "-(%lld)", a);
    case OP_ABS:
        return arena_printf(arena, "abs(%lld)", a);
    case OP_TO_INT: {
        struct strbuf text = {0};
        print_float(&text, failure->number);
        const char *copy = arena_printf(arena, "int(%s)", text.text);
        strbuf_free(&text);
        return copy;
    }
    default:
        return arena_printf(arena, b < 0 ? "%lld %s (%lld)" : "%lld %s %lld", a, sign, b);
    }
}

const char *position_text(int64_t position, int64_t rows, struct arena *arena)
{
    if (rows == 0)
        return arena_printf(arena, "position %lld does not exist: there are no rows", (long long)position);
    return arena_printf(arena, "position %lld is outside 0..%lld", (long long)position, (long long)rows - 1);
}

/* Whether an integer is to be a date (*day: 1) or a timestamp (*day: microseconds), and is beyond the years 1 to 9999:
 * the condition compares with their bounds. */
static bool is_beyond_calendar(const struct failure *failure, int64_t *day, int64_t *integer)
{
    if (failure->instr->op != OP_ASSERT)
        return false;
    const struct instr *condition = &failure->code->at[failure->instr->args[0]];
    if (condition->op == OP_AND)
        condition = &failure->code->at[condition->args[0]];
    if (condition->op != OP_LE && condition->op != OP_LT)
        return false;
    for (int k = 0; k < 2; k++) {
        const struct instr *bound = &failure->code->at[condition->args[k]];
        *day = bound->integer % DAY_US == 0 ? DAY_US : 1;
        const value v = condition->args[1 - k];
        *integer = failure->values ? failure->values[v].integer : failure->code->at[v].integer;
        if (bound->op == OP_CONST && bound->integer == (k == 0 ? FIRST_DAY : LAST_DAY + 1) * *day)
            return true;
    }
    return false;
}

static const char *what_failed(const struct failure *failure, struct arena *arena)
{
    int64_t day, integer;
    if (is_beyond_calendar(failure, &day, &integer))
        return arena_printf(arena, "%lld %s from 1970-01-01 are beyond the years 1 to 9999", (long long)integer,
                            day == 1 ? "days" : "microseconds");
    if (needs_value(failure)) {
        const char *column = needed_column(failure);
        return column ? arena_printf(arena, "`%s` is missing", column) : "a value is missing";
    }
    if (failure->instr->op == OP_ASSERT)
        return "assertion failed";
    if (failure->instr->op == OP_FOLD)
        return arena_printf(arena,
                            failure->a > failure->b ? "`%s` of an empty range" : "the %s does not fit in 64 bits",
                            aggregate_table[failure->instr->integer].word);
    if (divides_by_zero(failure))
        return failure->instr->op == OP_DIV ? "division by zero" : "remainder of a division by zero";
    if (failure->instr->op == OP_GATHER)
        return position_text(failure->a, failure->rows, arena);
    if (failure->instr->op == OP_INDEX)
        return position_text(failure->a, failure->b, arena);
    if (shifts_too_far(failure))
        return arena_printf(arena, "shift count %lld is outside 0..63", (long long)failure->b);
    if (failure->instr->op == OP_TO_INT && isnan(failure->number))
        return "nan has no integer value";
    return arena_printf(arena, "%s does not fit in 64 bits", operation_text(failure, arena));
}

/* In a stencil the value may be a neighbour's: filtering rows does not help. */
static bool in_stencil(const struct failure *failure)
{
    const struct stage_mark *stage = failure->task ? stage_of_span(failure->task, failure->instr->span) : NULL;
    return stage && strcmp(stage->name, "stencil") == 0;
}

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* The name at the beginning of what failed, or at its end; NULL if there is none: a column may be from a stage before,
 * in which it had another name. */
static const char *name_at_edge(struct span span, bool last, struct arena *arena)
{
    const char *text = span.source ? span.source->text : NULL;
    size_t begin = span.begin, end = last ? span.end : span.begin;
    if (!text)
        return NULL;
    while (!last && end < span.end && in_name(text[end]))
        end++;
    for (begin = last ? end : begin; last && begin > span.begin && in_name(text[begin - 1]);)
        begin--;
    const bool alone = last ? begin > span.begin && text[begin - 1] == ' ' : end == span.end || text[end] == ' ';
    return alone && end > begin && !isdigit((unsigned char)text[begin]) ? arena_text(arena, text + begin, end - begin)
                                                                        : NULL;
}

/* The argument as written or, if it is a column, its name; `otherwise` if it cannot be quoted. */
static const char *argument_text(const struct failure *failure, int argument, const char *otherwise,
                                 struct arena *arena)
{
    const struct instr *instr = &failure->code->at[failure->instr->args[argument]];
    if (instr->op == OP_INPUT && instr->offset != 0 && in_stencil(failure))
        return arena_printf(arena, "at(%lld)", (long long)instr->offset);
    const char *edge = name_at_edge(failure->instr->span, argument > 0, arena);
    if (instr->op == OP_INPUT && failure->inputs)
        return edge ? edge : name_written(failure->inputs[instr->integer].name, arena);
    /* The argument may come from an earlier stage or a function's text. */
    struct span span = instr->span, whole = failure->instr->span;
    const bool within = span.source == whole.source && span.begin >= whole.begin && span.end <= whole.end &&
                        span.end - span.begin < whole.end - whole.begin;
    if (!span.source || !within || span.end <= span.begin || span.end - span.begin > LONGEST_QUOTE)
        return edge ? edge : otherwise;
    const char *text = span.source->text + span.begin;
    const size_t length = span.end - span.begin;
    return memchr(text, '\n', length) ? otherwise : arena_text(arena, text, length);
}

static void add_hint(const struct failure *failure, struct diags *diags)
{
    struct arena *arena = diags->arena;
    int64_t day, integer;
    if (is_beyond_calendar(failure, &day, &integer)) {
        if (day == 1)
            diag_hint(diags, "%s", integer_is_days);
        else
            diag_hint(diags, "%s", integer_is_microseconds);
    } else if (needs_value(failure)) {
        const char *column = needed_column(failure), *name = column ? name_written(column, arena) : NULL;
        if (name)
            diag_hint(diags, "`select not missing(%s)` keeps the other rows, `%s ?? VALUE` has one in each", name,
                      name);
        else
            diag_hint(diags, "`E ?? VALUE` is VALUE where E has none");
    } else if (failure->instr->op == OP_ASSERT) {
        assertion_hint(failure, diags);
    } else if (failure->instr->op == OP_FOLD) {
        diag_hint(diags,
                  failure->a > failure->b ? "the range ends at %lld, before it begins at %lld"
                                          : "`float(...)` of the values gives a rounded result",
                  (long long)failure->b, (long long)failure->a);
    } else if (divides_by_zero(failure)) {
        const char *divisor = argument_text(failure, 1, "DIVISOR", arena);
        const bool varies = failure->task && !code_is_const(failure->code, failure->instr->args[1]);
        if (varies && failure->instr->op == OP_DIV)
            diag_hint(diags, "with `/?` in place of `/`, the quotient is missing there");
        else if (varies && in_stencil(failure))
            diag_hint(diags, "guard it with `%s != 0 ? ... : 0`", divisor);
        else if (varies)
            diag_hint(diags, "filter out such rows first with `select %s != 0`, or guard it with `%s != 0 ? ... : 0`",
                      divisor, divisor);
    } else if (shifts_too_far(failure)) {
        diag_hint(diags, "`clamp(%s, 0, 63)` keeps it in range", argument_text(failure, 1, "count", arena));
    } else if (failure->instr->op == OP_GATHER || failure->instr->op == OP_INDEX) {
        diag_hint(diags, "positions count from 0; `select` filters out rows without one");
    } else if (failure->instr->op == OP_TO_INT) {
        const char *number = argument_text(failure, 0, "E", arena);
        diag_hint(diags, "filter out values that are too large, infinite or nan first with `select abs(%s) < 9e18`",
                  number);
    } else {
        diag_hint(diags, "integers have 64 bits and never wrap; `float(%s)` gives a rounded result",
                  argument_text(failure, 0, "...", arena));
    }
}

enum status fail_row(const struct task *task, struct span span, int64_t row, const char *what, struct diags *diags)
{
    const struct stage_mark *stage = stage_of_span(task, span);
    if (!stage)
        diag_error(diags, span, "%s at row %lld", what, (long long)row);
    else
        diag_error(diags, span, "%s in `%s`, row %lld", what, stage->text, (long long)row);
    diags->at[diags->count - 1].of_rows = true;
    if (stage && stage->called.source)
        diag_second(diags, stage->called, "called here");
    return STATUS_FAILED;
}

enum status fail_operation(const struct failure *failure, struct diags *diags)
{
    struct span span = failure->instr->span;
    const char *what = what_failed(failure, diags->arena);
    if (failure->task)
        fail_row(failure->task, span, failure->row, what, diags);
    else
        diag_error(diags, span, "%s", what);
    if (failure->looped) {
        struct diag *diag = &diags->at[diags->count - 1];
        diag->message = arena_printf(diags->arena, "%s, round %lld", diag->message, (long long)failure->round);
    }
    add_hint(failure, diags);
    return STATUS_FAILED;
}
