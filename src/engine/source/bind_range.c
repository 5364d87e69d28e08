/* range: integers, dates or timestamps in equal steps, which may be calendar months. */
#include "engine/bind/bind_internal.h"

#include "base/time/calendar.h"
#include "base/time/time_zone.h"
#include "engine/expression/zoned.h"
#include "engine/plan/calendar_code.h"

/* Two bounds and a step. */
struct range {
    int64_t from, to, step;
    int64_t months; /* the step, if it is of the calendar: then `step` is its sign */
    struct logical_type logical;
};

static const char *noun_of(struct logical_type logical)
{
    return logical.kind == LOGICAL_NUMBER ? "an integer" : logical_table[logical.kind].noun;
}

/* Binds a constant of a range; false after an error or, in a check, if unknown. */
static bool range_end(struct scope *scope, const struct expr *expr, struct scalar *scalar)
{
    const enum known known = bind_constant(scope, expr, scalar);
    if (known == KNOWN_NOTHING)
        return false;
    const enum logical logical = scalar->logical.kind;
    if (scalar->kind != KIND_INT || scalar->missing ||
        (logical != LOGICAL_NUMBER && logical != LOGICAL_DATE && logical != LOGICAL_TIMESTAMP)) {
        bind_error(scope->binder, expr->span, "for fractions, write `range 0..10 | map fst / 10.0`",
                   "the bounds of a range are integers, dates or timestamps");
        return false;
    }
    return known == KNOWN_VALUE;
}

/* from + ROW * step. In a range over more than half of all integers ROW * step may leave 64 bits though the sum does
 * not: then the step is added as two halves and a remainder. */
static value range_value(struct code *code, int64_t from, int64_t step, int64_t rows, struct span span)
{
    const value row = code_row(code, span);
    value sum = code_exact_int(code, from, span);
    int128 last = (int128)(rows > 0 ? rows - 1 : 0) * step;
    const bool whole = last >= INT64_MIN && last <= INT64_MAX;
    const int64_t parts[] = {whole ? step : step / 2, whole ? 0 : step / 2, whole ? 0 : step % 2};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i] == 0)
            continue;
        const value part = code_with(code, OP_MUL, row, parts[i], span);
        sum = code_binary(code, OP_ADD, part, sum, span);
    }
    return sum;
}

/* A calendar step as it is written, 1mo or -1q; false: it is none. */
static bool months_of(const struct expr *expr, int64_t *months)
{
    const bool negative = expr->kind == EXPR_UNARY && expr->op.unary == UNARY_NEG;
    if (negative)
        expr = expr->args[0];
    *months = expr->kind == EXPR_MONTHS ? (negative ? -expr->integer : expr->integer) : 0;
    return expr->kind == EXPR_MONTHS;
}

/* The day so many months later: the same one, or the last of a shorter month. */
static int64_t add_months(int64_t day, int64_t months)
{
    struct civil civil = civil_of_days(day);
    const int64_t number = civil.year * 12 + civil.month - 1 + months;
    civil.year = number / 12 - (number % 12 < 0);
    civil.month = (int)(number - civil.year * 12) + 1;
    const int most = days_of_month(civil.year, civil.month);
    civil.day = civil.day < most ? civil.day : most;
    return days_of_civil(civil);
}

/* How many steps of months lead from the first to the last bound, or as near as they do. */
static int64_t count_months(const struct range *range)
{
    const bool dates = range->logical.kind == LOGICAL_DATE;
    const int64_t unit = dates ? 1 : DAY_US, sign = range->months < 0 ? -1 : 1;
    const int64_t first = range->from / unit - (range->from % unit < 0), rest = range->from - first * unit;
    const int64_t last = range->to / unit - (range->to % unit < 0);
    const struct civil a = civil_of_days(first), b = civil_of_days(last);
    int64_t count = ((b.year - a.year) * 12 + b.month - a.month) / range->months;
    while (count > 0 && sign * (add_months(first, count * range->months) * unit + rest - range->to) > 0)
        count--;
    return count;
}

/* Sets the step. False after an error or, in a check, if it is unknown. */
static bool range_step(struct scope *scope, const struct source_node *source, struct range *range)
{
    struct binder *binder = scope->binder;
    const enum logical logical = range->logical.kind;
    struct scalar scalar;
    range->step = 1;
    if (!source->by && logical == LOGICAL_TIMESTAMP) {
        bind_error(binder, source->span, "for example `by 1h`, `by 1d` or `by 1mo`",
                   "a range of timestamps needs its step");
        return false;
    }
    if (!source->by)
        return true;
    if (months_of(source->by, &range->months)) {
        range->step = range->months;
        if (logical != LOGICAL_NUMBER)
            return true;
        bind_error(binder, source->by->span, "as in `range 2024-01-01..2024-12-31 by 1mo`",
                   "integers do not step by months");
        return false;
    }
    const enum known known = bind_constant(scope, source->by, &scalar);
    if (known == KNOWN_NOTHING)
        return false;
    const bool duration = scalar.logical.kind == LOGICAL_DURATION;
    const bool fits = scalar.kind == KIND_INT && !scalar.missing &&
                      (logical == LOGICAL_NUMBER ? scalar.logical.kind == LOGICAL_NUMBER
                       : logical == LOGICAL_DATE ? duration || scalar.logical.kind == LOGICAL_NUMBER
                                                 : duration);
    if (!fits) {
        bind_error(binder, source->by->span,
                   logical == LOGICAL_NUMBER ? "for fractions, write `range 0..10 | map fst / 10.0`"
                                             : "for example `by 1d`, `by 1w` or `by 1mo`",
                   "the step of a range of %s is %s",
                   logical == LOGICAL_NUMBER ? "integers"
                                             : arena_printf(binder->arena, "%ss", logical_table[logical].name),
                   logical == LOGICAL_NUMBER ? "an integer" : "a duration or months");
        return false;
    }
    range->step = (int64_t)scalar.integer;
    if (logical != LOGICAL_DATE || !duration || known != KNOWN_VALUE)
        return known == KNOWN_VALUE;
    if (range->step % DAY_US != 0) {
        bind_error(binder, source->by->span, "a range of timestamps has steps of any length",
                   "a range of dates steps by whole days");
        return false;
    }
    range->step /= DAY_US;
    return true;
}

static bool range_rows(struct binder *binder, const struct source_node *source, const struct range *range,
                       int64_t *rows)
{
    if (range->step == 0) {
        bind_error(binder, source->by->span, "use a negative step to count down", "the step of a range cannot be 0");
        return false;
    }
    const bool up = range->step > 0;
    int128 distance = up ? (int128)range->to - range->from : (int128)range->from - range->to;
    int128 stride = up ? (int128)range->step : -(int128)range->step;
    int128 count = distance < 0 ? 0 : range->months != 0 ? (int128)count_months(range) + 1 : distance / stride + 1;
    if (count > INT64_MAX) {
        bind_error(binder, source->span, NULL, "a range has fewer than 2^63 rows");
        return false;
    }
    *rows = (int64_t)count;
    return true;
}

static value value_of_range(struct scope *scope, const struct range *range, int64_t rows, struct span span)
{
    struct code *code = scope->code;
    if (range->months == 0)
        return range_value(code, range->from, range->step, rows, span);
    const value from = code_exact_int(code, range->from, span), step = code_exact_int(code, range->months, span);
    const value months = code_binary(code, OP_MUL, code_row(code, span), step, span);
    if (range->logical.kind == LOGICAL_DATE)
        return code_date_add_months(code, from, months, span);
    return zoned_instant(scope, code_timestamp_add_months(code, from, months, span), range->logical.zone, span);
}

void bind_range(struct binder *binder, const struct source_node *source, struct flow *flow)
{
    struct scope scope = scope_without_columns(binder, NULL, "a range is the same for all rows");
    struct task *task = task_new(binder, "range", source->span, flow);
    struct scalar from = {0}, to = {0};
    struct range range = {.to = 0, .step = 1};
    bool known = range_end(&scope, source->from, &from);
    known = range_end(&scope, source->to, &to) && known;
    if (known && from.logical.kind != to.logical.kind) {
        bind_error(binder, span_join(source->from->span, source->to->span), NULL,
                   "a range goes from a value to one of its type, not from %s to %s", noun_of(from.logical),
                   noun_of(to.logical));
        known = false;
    }
    if (known) {
        range.from = (int64_t)from.integer;
        range.to = (int64_t)to.integer;
    }
    if (from.logical.kind == LOGICAL_DATE || from.logical.kind == LOGICAL_TIMESTAMP)
        range.logical = from.logical;
    known = known && range_step(&scope, source, &range);
    if (range.months != 0 && range.logical.zone) { /* months are those of clocks */
        range.from += time_zone_offset(range.logical.zone, range.from);
        range.to += time_zone_offset(range.logical.zone, range.to);
    }
    flow->rows = -1;
    if (known && range_rows(binder, source, &range, &flow->rows))
        task->rows = flow->rows;

    struct slot *slot =
        ARENA_NEW(binder->arena, struct slot, .name = "c1", .type = TYPE_I64, .known = true, .logical = range.logical);
    scope.task = task;
    scope.code = &task->code;
    value v = value_of_range(&scope, &range, flow->rows, source->span);
    flow->nameless = true;
    task_set_slots(binder, task, flow, slot, &v, 1, 0);
}
