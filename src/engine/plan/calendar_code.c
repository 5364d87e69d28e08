/* The calendar after C. Neri, L. Schneider, "Euclidean affine functions and their application to calendar algorithms"
 * (2022): years from March, of 146 097 days in 400. Their divisions round down, ours towards zero, so a negative
 * remainder is corrected where one is possible. */
#include "engine/plan/calendar_code.h"

#include "base/text.h"

#include <string.h>

enum {
    ERA_DAYS = 146097,          /* of 400 years */
    EPOCH_DAYS = 719468,        /* from 0000-03-01 to 1970-01-01 */
    MARCH_1970 = 1970 * 12 - 2, /* months from March of the year 0 to January 1970 */
    MONDAY = 4,                 /* 1970-01-05 */
    JANUARY = 306,              /* days from March to the first of January */
    DAY_SECONDS = 86400
};

static const int64_t MICROSECONDS = 1000000;

static value number(struct code *code, int64_t n, struct span span)
{
    return code_exact_int(code, n, span);
}

static value choose(struct code *code, value condition, value yes, value no, struct span span)
{
    return code_op(code, OP_SELECT, condition, yes, no, span);
}

static value truth(struct code *code, value condition, struct span span)
{
    return code_unary(code, OP_BOOL_TO_INT, condition, span);
}

/* The quotient rounded down, and the remainder from 0 to divisor - 1. */
struct floored {
    value quotient, remainder;
};

static struct floored floored(struct code *code, value v, int64_t divisor, struct span span)
{
    const value remainder = code_with(code, OP_MOD, v, divisor, span);
    const value negative = code_with(code, OP_LT, remainder, 0, span);
    const value quotient = code_with(code, OP_DIV, v, divisor, span);
    return (struct floored){
        code_binary(code, OP_SUB, quotient, truth(code, negative, span), span),
        choose(code, negative, code_with(code, OP_ADD, remainder, divisor, span), remainder, span),
    };
}

/* A day in years from March: March is month 0, January 10, February 11. */
struct march {
    value year;
    value century_year; /* of the century from March, 0 to 99 */
    value century;      /* of the 400 years, 0 to 3 */
    value day;          /* of the year, from 0 */
    value month;
    value month_day; /* from 0 */
};

static struct march march_of(struct code *code, value days, struct span span)
{
    struct march march;
    struct floored era = floored(code, code_with(code, OP_ADD, days, EPOCH_DAYS, span), ERA_DAYS, span);
    const value quarters = code_with(code, OP_ADD, code_with(code, OP_MUL, era.remainder, 4, span), 3, span);
    march.century = code_with(code, OP_DIV, quarters, ERA_DAYS, span);
    const value in_century = code_with(code, OP_BITOR, code_with(code, OP_MOD, quarters, ERA_DAYS, span), 3, span);
    march.century_year = code_with(code, OP_DIV, in_century, 1461, span);
    march.day = code_with(code, OP_SHR, code_with(code, OP_MOD, in_century, 1461, span), 2, span);
    const value centuries =
        code_binary(code, OP_ADD, code_with(code, OP_MUL, era.quotient, 4, span), march.century, span);
    march.year = code_binary(code, OP_ADD, code_with(code, OP_MUL, centuries, 100, span), march.century_year, span);
    /* The months' lengths lie on a line of slope 2141 / 2^16. */
    const value line = code_with(code, OP_ADD, code_with(code, OP_MUL, march.day, 2141, span), 1305, span);
    march.month = code_with(code, OP_SHR, line, 16, span);
    march.month_day = code_with(code, OP_DIV, code_with(code, OP_BITAND, line, 65535, span), 2141, span);
    return march;
}

/* Whether it is January or February, which belong to the next year. */
static value in_next_year(struct code *code, const struct march *march, struct span span)
{
    return code_binary(code, OP_LE, number(code, JANUARY, span), march->day, span);
}

static value lower_year(struct code *code, value days, struct span span)
{
    struct march march = march_of(code, days, span);
    return code_binary(code, OP_ADD, march.year, truth(code, in_next_year(code, &march, span), span), span);
}

static value lower_month(struct code *code, value days, struct span span)
{
    struct march march = march_of(code, days, span);
    const value next = in_next_year(code, &march, span);
    return choose(code, next, code_with(code, OP_SUB, march.month, 9, span),
                  code_with(code, OP_ADD, march.month, 3, span), span);
}

static value lower_day(struct code *code, value days, struct span span)
{
    return code_with(code, OP_ADD, march_of(code, days, span).month_day, 1, span);
}

static value lower_quarter(struct code *code, value days, struct span span)
{
    /* (month + 2) / 3 as a multiplication */
    const value month = code_with(code, OP_ADD, lower_month(code, days, span), 2, span);
    return code_with(code, OP_SHR, code_with(code, OP_MUL, month, 11, span), 5, span);
}

/* Days since the last Monday. */
static value since_monday(struct code *code, value days, struct span span)
{
    const value positive = code_with(code, OP_ADD, code_with(code, OP_MOD, days, 7, span), 7 + 7 - MONDAY, span);
    return code_with(code, OP_MOD, positive, 7, span);
}

static value lower_weekday(struct code *code, value days, struct span span)
{
    return code_with(code, OP_ADD, since_monday(code, days, span), 1, span);
}

/* Days since the first of January. */
static value since_new_year(struct code *code, value days, struct span span)
{
    struct march march = march_of(code, days, span);
    /* Where March's year has a February of 29 days before it: it is that of the same civil year. */
    const value fourth = code_with(code, OP_EQ, code_with(code, OP_BITAND, march.century_year, 3, span), 0, span);
    const value full = code_binary(code, OP_OR, code_with(code, OP_NE, march.century_year, 0, span),
                                   code_with(code, OP_EQ, march.century, 0, span), span);
    const value leap = truth(code, code_binary(code, OP_AND, fourth, full, span), span);
    const value later = code_binary(code, OP_ADD, code_with(code, OP_ADD, march.day, 59, span), leap, span);
    return choose(code, in_next_year(code, &march, span), code_with(code, OP_SUB, march.day, JANUARY, span), later,
                  span);
}

/* A week belongs to the year of its Thursday. */
static value lower_week(struct code *code, value days, struct span span)
{
    const value monday = code_binary(code, OP_SUB, days, since_monday(code, days, span), span);
    const value day = since_new_year(code, code_with(code, OP_ADD, monday, 3, span), span);
    return code_with(code, OP_ADD, code_with(code, OP_DIV, day, 7, span), 1, span);
}

/* Whole seconds of a time of day, by a division that fits 32 bits. */
static value seconds_of(struct code *code, value time, struct span span)
{
    return code_with(code, OP_DIV, code_with(code, OP_SHR, time, 6, span), MICROSECONDS >> 6, span);
}

static value lower_hour(struct code *code, value time, struct span span)
{
    return code_with(code, OP_DIV, seconds_of(code, time, span), 3600, span);
}

static value lower_minute(struct code *code, value time, struct span span)
{
    const value minutes = code_with(code, OP_DIV, seconds_of(code, time, span), 60, span);
    return code_with(code, OP_MOD, minutes, 60, span);
}

static value lower_second(struct code *code, value time, struct span span)
{
    return code_with(code, OP_MOD, seconds_of(code, time, span), 60, span);
}

const struct calendar_part calendar_parts[] = {
    {"year", false, lower_year}, {"quarter", false, lower_quarter}, {"month", false, lower_month},
    {"week", false, lower_week}, {"day", false, lower_day},         {"weekday", false, lower_weekday},
    {"hour", true, lower_hour},  {"minute", true, lower_minute},    {"second", true, lower_second},
};

const size_t calendar_part_count = sizeof calendar_parts / sizeof *calendar_parts;

const struct calendar_part *calendar_part_find(const char *name)
{
    return TABLE_ROW(calendar_parts, name);
}

/* Microseconds since midnight. MIN says so to range analysis. */
static value time_of(struct code *code, value microseconds, struct span span)
{
    const int64_t day = DAY_SECONDS * MICROSECONDS;
    return code_with(code, OP_MIN, floored(code, microseconds, day, span).remainder, day - 1, span);
}

/* 64-bit divisions are slow, so there is one: a shift rounds down too, and takes the divisor's factor of 2^13; then
 * ~(~v / d) rounds a negative v / d down. */
value code_day_of(struct code *code, value microseconds, struct span span)
{
    value v = code_with(code, OP_SHR, microseconds, 13, span), sign = code_with(code, OP_SHR, v, 63, span);
    const value quotient =
        code_with(code, OP_DIV, code_binary(code, OP_XOR, v, sign, span), DAY_SECONDS * MICROSECONDS >> 13, span);
    return code_binary(code, OP_XOR, quotient, sign, span);
}

value code_calendar_part(struct code *code, const struct calendar_part *part, value v, bool timestamp, struct span span)
{
    if (timestamp && part->of_time)
        v = time_of(code, v, span);
    else if (timestamp)
        v = code_day_of(code, v, span);
    return part->lower(code, v, span);
}

const char *const calendar_unit_names[CALENDAR_UNITS] = {"second", "minute", "hour",    "day",
                                                         "week",   "month",  "quarter", "year"};

enum calendar_unit calendar_unit_find(const char *name)
{
    enum calendar_unit unit = 0;
    while (unit < CALENDAR_UNITS && strcmp(calendar_unit_names[unit], name) != 0)
        unit++;
    return unit;
}

/* Days since the first of January, April, July or October. */
static value since_quarter(struct code *code, value days, struct span span)
{
    static const int starts[] = {31, 122, 214, JANUARY}; /* of April, ... in the year from March */
    value day = march_of(code, days, span).day, since = since_new_year(code, days, span);
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        const value after = code_binary(code, OP_LE, number(code, starts[k], span), day, span);
        since = choose(code, after, code_with(code, OP_SUB, day, starts[k], span), since, span);
    }
    return since;
}

value code_date_trunc(struct code *code, value days, enum calendar_unit unit, struct span span)
{
    value since = NO_VALUE;
    if (unit == CALENDAR_WEEK)
        since = since_monday(code, days, span);
    else if (unit == CALENDAR_MONTH)
        since = march_of(code, days, span).month_day;
    else if (unit == CALENDAR_QUARTER)
        since = since_quarter(code, days, span);
    else if (unit == CALENDAR_YEAR)
        since = since_new_year(code, days, span);
    return since == NO_VALUE ? days : code_binary(code, OP_SUB, days, since, span);
}

/* Midnight of a day, and a time after it. */
static value timestamp_of(struct code *code, value days, struct span span)
{
    return code_with(code, OP_MUL, days, DAY_SECONDS * MICROSECONDS, span);
}

value code_timestamp_trunc(struct code *code, value microseconds, enum calendar_unit unit, struct span span)
{
    static const int seconds[] = {
        [CALENDAR_SECOND] = 1, [CALENDAR_MINUTE] = 60, [CALENDAR_HOUR] = 3600, [CALENDAR_DAY] = DAY_SECONDS};
    if (unit <= CALENDAR_DAY) {
        const value since = floored(code, microseconds, seconds[unit] * MICROSECONDS, span).remainder;
        return code_binary(code, OP_SUB, microseconds, since, span);
    }
    return timestamp_of(code, code_date_trunc(code, code_day_of(code, microseconds, span), unit, span), span);
}

static value bucket(struct code *code, value v, int64_t length, int64_t origin, struct span span)
{
    const value since = floored(code, code_with(code, OP_SUB, v, origin, span), length, span).remainder;
    return code_binary(code, OP_SUB, v, since, span);
}

value code_date_bucket(struct code *code, value days, int64_t length, struct span span)
{
    return bucket(code, days, length, length % 7 == 0 ? MONDAY : 0, span);
}

value code_timestamp_bucket(struct code *code, value microseconds, int64_t length, struct span span)
{
    const int64_t day = DAY_SECONDS * MICROSECONDS;
    return bucket(code, microseconds, length, length % (7 * day) == 0 ? MONDAY * day : 0, span);
}

/* Whether the February that ends the year from March has 29 days. */
static value ends_in_leap_day(struct code *code, value year, struct span span)
{
    const value civil = code_with(code, OP_ADD, year, 1, span);
    const value fourth = code_with(code, OP_EQ, code_with(code, OP_BITAND, civil, 3, span), 0, span);
    const value hundredth = code_with(code, OP_EQ, code_with(code, OP_MOD, civil, 25, span), 0, span);
    const value fourhundredth = code_with(code, OP_EQ, code_with(code, OP_BITAND, civil, 15, span), 0, span);
    const value not_hundredth = code_unary(code, OP_NOT, hundredth, span);
    return code_binary(code, OP_AND, fourth, code_binary(code, OP_OR, not_hundredth, fourhundredth, span), span);
}

/* The days before month `month` of the year from March. */
static value days_before_month(struct code *code, value month, struct span span)
{
    const value line = code_with(code, OP_ADD, code_with(code, OP_MUL, month, 979, span), 18, span);
    return code_with(code, OP_SHR, line, 5, span);
}

/* A day of the month, from 0, in month `months` from March of the year 0, or the last day of that month. */
static value day_of_months(struct code *code, value months, value month_day, struct span span)
{
    struct floored split = floored(code, months, 12, span);
    value year = split.quotient, month = split.remainder;
    const value before = days_before_month(code, month, span);
    const value next = days_before_month(code, code_with(code, OP_ADD, month, 1, span), span);
    value last = code_with(code, OP_SUB, code_binary(code, OP_SUB, next, before, span), 1, span);
    const value february = code_with(code, OP_ADD, truth(code, ends_in_leap_day(code, year, span), span), 27, span);
    last = choose(code, code_with(code, OP_EQ, month, 11, span), february, last, span);
    const value day = code_binary(code, OP_ADD, before, code_binary(code, OP_MIN, month_day, last, span), span);
    const value centuries = floored(code, year, 100, span).quotient;
    value leap_days = code_binary(code, OP_SUB, code_with(code, OP_SHR, year, 2, span), centuries, span);
    leap_days = code_binary(code, OP_ADD, leap_days, code_with(code, OP_SHR, centuries, 2, span), span);
    const value days = code_binary(code, OP_ADD, code_with(code, OP_MUL, year, 365, span), leap_days, span);
    return code_with(code, OP_SUB, code_binary(code, OP_ADD, days, day, span), EPOCH_DAYS, span);
}

static value months_of(struct code *code, const struct march *march, struct span span)
{
    return code_binary(code, OP_ADD, code_with(code, OP_MUL, march->year, 12, span), march->month, span);
}

value code_date_add_months(struct code *code, value days, value months, struct span span)
{
    struct march march = march_of(code, days, span);
    const value sum = code_binary(code, OP_ADD, months_of(code, &march, span), months, span);
    return day_of_months(code, sum, march.month_day, span);
}

value code_timestamp_add_months(struct code *code, value microseconds, value months, struct span span)
{
    const value days = code_date_add_months(code, code_day_of(code, microseconds, span), months, span);
    return code_binary(code, OP_ADD, timestamp_of(code, days, span), time_of(code, microseconds, span), span);
}

value code_date_bucket_months(struct code *code, value days, int64_t months, struct span span)
{
    struct march march = march_of(code, days, span);
    const value count = months_of(code, &march, span);
    const value first = bucket(code, count, months, MARCH_1970, span);
    return day_of_months(code, first, number(code, 0, span), span);
}

value code_timestamp_bucket_months(struct code *code, value microseconds, int64_t months, struct span span)
{
    return timestamp_of(code, code_date_bucket_months(code, code_day_of(code, microseconds, span), months, span), span);
}
