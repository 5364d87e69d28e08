/* Functions of dates and timestamps. */
#include "engine/builtin/builtin.h"

#include "base/time/calendar.h"
#include "base/time/time_zone.h"
#include "engine/bind/facts.h"
#include "engine/expression/texts.h"
#include "engine/expression/zoned.h"
#include "engine/plan/calendar_code.h"

#include <string.h>
#include <time.h>

enum { OPERAND_SHOWN = 40, UNIT_BYTES = 16 };

/* Whether argument 0 is a date or timestamp; an error if not. */
static bool is_time(const struct builtin *call, bool *timestamp)
{
    struct arena *arena = call->scope->binder->arena;
    const enum term_class which = class_of(call->scope->code, call->arguments[0]);
    const char *text = text_of_span(arena, call->expr->args[0]->span, OPERAND_SHOWN), *hint = NULL;
    *timestamp = which == CLASS_TIMESTAMP;
    if (which == CLASS_DATE || which == CLASS_TIMESTAMP)
        return true;
    if (which == CLASS_TEXT)
        hint = arena_printf(arena, "`date(%s)` and `timestamp(%s)` are what a text writes", text, text);
    else if (which == CLASS_INT)
        hint = "`date(n)` counts days since 1970, `timestamp(n)` microseconds";
    builtin_refuse(call, 0, "a date or timestamp", hint);
    return false;
}

struct term bind_part(const struct builtin *call)
{
    const struct calendar_part *part = calendar_part_find(call->function->name);
    bool timestamp;
    if (!is_time(call, &timestamp))
        return unknown_term;
    if (part->of_time && !timestamp)
        return builtin_refuse(call, 0, "a timestamp", "a date has no time of day");
    const struct term *time = &call->arguments[0];
    const value local = zoned_local(call->scope, time->value, time->logical.zone, call->expr->span);
    const value v = code_calendar_part(call->scope->code, part, local, timestamp, call->expr->span);
    return builtin_result(call, v, (struct logical_type){0});
}

bool bind_unit(struct scope *scope, const struct expr *expr, struct term *unit)
{
    if (expr->kind != EXPR_NAME)
        return false;
    const char *name = expr->name.text;
    if (calendar_unit_find(name) == CALENDAR_UNITS &&
        (name_is_taken(scope, name) || env_find(scope->binder->env, name)))
        return false;
    *unit = text_term(scope, (struct text){name, strlen(name)}, expr->span);
    return true;
}

/* The unit that argument 1 names; CALENDAR_UNITS after an error. */
static enum calendar_unit read_unit(const struct builtin *call)
{
    struct binder *binder = call->scope->binder;
    struct text text = *call->arguments[1].text;
    char name[UNIT_BYTES] = "";
    if (text.length < sizeof name && !memchr(text.at, '\0', text.length))
        memcpy(name, text.at, text.length);
    const enum calendar_unit unit = calendar_unit_find(name);
    if (unit == CALENDAR_UNITS)
        bind_error(binder, call->expr->args[1]->span, "second minute hour day week month quarter year",
                   "unknown unit `%s`%s", arena_text(binder->arena, text.at, text.length),
                   did_you_mean(binder->arena, name, calendar_unit_names, CALENDAR_UNITS));
    return unit;
}

/* The instant of `start`, where `local` began, of the time `instant`. Within a day the hour that comes twice stays two:
 * it is as long ago as clocks say, unless they have changed since. */
static value instant_of_start(const struct builtin *call, value instant, value local, value start, bool days)
{
    struct scope *scope = call->scope;
    const struct time_zone *zone = call->arguments[0].logical.zone;
    const struct span span = call->expr->span;
    struct code *code = scope->code;
    if (!zone)
        return start;
    const value first = zoned_start(scope, start, zone, span);
    if (days)
        return first;
    const value before = code_binary(code, OP_SUB, instant, code_binary(code, OP_SUB, local, start, span), span);
    const value same = code_binary(code, OP_EQ, zoned_local(scope, before, zone, span), start, span);
    return code_op(code, OP_SELECT, same, before, first, span);
}

struct term bind_trunc(const struct builtin *call)
{
    struct code *code = call->scope->code;
    const struct term *time = &call->arguments[0];
    const struct span span = call->expr->span;
    bool timestamp;
    if (!is_time(call, &timestamp))
        return unknown_term;
    if (call->arguments[1].logical.kind != LOGICAL_TEXT)
        return builtin_refuse(call, 1, "a unit, as in `trunc(t, month)`", "`bucket(t, 15min)` takes a length");
    if (!call->arguments[1].text) {
        builtin_not_constant(call, 1, "the unit");
        return unknown_term;
    }
    const enum calendar_unit unit = read_unit(call);
    if (unit == CALENDAR_UNITS)
        return unknown_term;
    if (!timestamp)
        return builtin_result(call, code_date_trunc(code, time->value, unit, span), time->logical);
    const value local = zoned_local(call->scope, time->value, time->logical.zone, span);
    const value start = code_timestamp_trunc(code, local, unit, span);
    return builtin_result(call, instant_of_start(call, time->value, local, start, unit >= CALENDAR_DAY), time->logical);
}

/* The length of an interval, a constant above 0; false after an error or if unknown. */
static bool read_length(const struct builtin *call, bool timestamp, int64_t *length)
{
    const struct code *code = call->scope->code;
    struct binder *binder = call->scope->binder;
    const struct term *term = &call->arguments[1];
    const struct span span = call->expr->args[1]->span;
    const enum term_class which = class_of(code, *term);
    if (which != CLASS_DURATION && which != CLASS_MONTHS) {
        builtin_refuse(call, 1, "a length with a unit", "as in `bucket(t, 15min)`, `7d` or `1mo`");
        return false;
    }
    if (!code_is_const(code, term->value)) {
        builtin_not_constant(call, 1, "the length");
        return false;
    }
    *length = code->at[term->value].integer;
    if (*length <= 0)
        return bind_error(binder, span, NULL, "the length of an interval must be above 0");
    if (which == CLASS_DURATION && !timestamp && *length % DAY_US != 0) {
        const char *date = text_of_span(binder->arena, call->expr->args[0]->span, OPERAND_SHOWN);
        return bind_error(binder, span, arena_printf(binder->arena, "`timestamp(%s)` is its midnight", date),
                          "dates are divided into whole days, but `%s` is none",
                          text_of_span(binder->arena, span, OPERAND_SHOWN));
    }
    return true;
}

struct term bind_bucket(const struct builtin *call)
{
    struct code *code = call->scope->code;
    const struct span span = call->expr->span;
    const struct term *time = &call->arguments[0];
    bool timestamp;
    int64_t length;
    if (!is_time(call, &timestamp) || !read_length(call, timestamp, &length))
        return unknown_term;
    const bool months = call->arguments[1].months;
    if (!timestamp)
        return builtin_result(call,
                              months ? code_date_bucket_months(code, time->value, length, span)
                                     : code_date_bucket(code, time->value, length / DAY_US, span),
                              time->logical);
    const value local = zoned_local(call->scope, time->value, time->logical.zone, span);
    const value start = months ? code_timestamp_bucket_months(code, local, length, span)
                               : code_timestamp_bucket(code, local, length, span);
    return builtin_result(call, instant_of_start(call, time->value, local, start, months || length % DAY_US == 0),
                          time->logical);
}

/* The same for all bindings of a statement, which may take several. */
static int64_t time_of_statement(const struct builtin *call)
{
    struct pipeline_values *values = call->scope->binder->facts->values;
    if (values && values->now != 0)
        return values->now;
    struct timespec time;
    (void)clock_gettime(CLOCK_REALTIME, &time);
    const int64_t now = (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
    if (values)
        values->now = now;
    return now;
}

struct term bind_now(const struct builtin *call)
{
    const value v = code_int(call->scope->code, time_of_statement(call), call->expr->span);
    return term_of_type(v, (struct logical_type){.kind = LOGICAL_TIMESTAMP, .zone = &time_zone_utc});
}

struct term bind_today(const struct builtin *call)
{
    const value v = code_int(call->scope->code, time_of_statement(call) / DAY_US, call->expr->span);
    return term_of_type(v, (struct logical_type){.kind = LOGICAL_DATE});
}
