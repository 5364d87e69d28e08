/* Calendar functions as typed code: of dates, i32 days since 1970-01-01, and timestamps, i64 microseconds since then.
 *
 * Only integer operations; division by constants. Of days within 30 bits, as those of years 1 to 9999, everything stays
 * in 32-bit lanes and cannot fail; the results are right for all 32-bit days. A timestamp's result that leaves 64 bits
 * fails, as any sum. */
#ifndef RQL_ENGINE_PLAN_CALENDAR_CODE_H
#define RQL_ENGINE_PLAN_CALENDAR_CODE_H

#include "engine/plan/code.h"

/* A part of a date or timestamp as a number: year(d). Help on it is in functions.h. */
struct calendar_part {
    const char *name;
    bool of_time;                                                 /* of timestamps only */
    value (*lower)(struct code *code, value v, struct span span); /* of days; of_time: of the microseconds of a day */
};

extern const struct calendar_part calendar_parts[];
extern const size_t calendar_part_count;
const struct calendar_part *calendar_part_find(const char *name); /* NULL if there is none */

/* The part of a value, a timestamp if `timestamp`, else a date, which has no parts of_time. */
value code_calendar_part(struct code *code, const struct calendar_part *part, value v, bool timestamp,
                         struct span span);

/* Units of trunc, by name: trunc(d, month). */
enum calendar_unit {
    CALENDAR_SECOND,
    CALENDAR_MINUTE,
    CALENDAR_HOUR,
    CALENDAR_DAY,
    CALENDAR_WEEK, /* from Monday */
    CALENDAR_MONTH,
    CALENDAR_QUARTER,
    CALENDAR_YEAR,
    CALENDAR_UNITS
};
extern const char *const calendar_unit_names[CALENDAR_UNITS];
enum calendar_unit calendar_unit_find(const char *name); /* CALENDAR_UNITS if there is none */

/* The first day of the unit; the date itself for a day or less. */
value code_date_trunc(struct code *code, value days, enum calendar_unit unit, struct span span);
value code_timestamp_trunc(struct code *code, value microseconds, enum calendar_unit unit, struct span span);

/* The day of a timestamp. */
value code_day_of(struct code *code, value microseconds, struct span span);

/* The last multiple of `length` > 0, in days or microseconds, that is not after it: counted from 1970-01-01, whole
 * weeks from Monday, 1970-01-05. */
value code_date_bucket(struct code *code, value days, int64_t length, struct span span);
value code_timestamp_bucket(struct code *code, value microseconds, int64_t length, struct span span);

/* The begin of the interval of `months` > 0 calendar months, counted from January 1970, that has the date: 1 truncates
 * to the month, 12 to the year. Also for timestamps. */
value code_date_bucket_months(struct code *code, value days, int64_t months, struct span span);
value code_timestamp_bucket_months(struct code *code, value microseconds, int64_t months, struct span span);

/* The date `months` calendar months later, on the same day or the last day of that month. `months` may be negative. */
value code_date_add_months(struct code *code, value days, value months, struct span span);
value code_timestamp_add_months(struct code *code, value microseconds, value months, struct span span);

#endif
