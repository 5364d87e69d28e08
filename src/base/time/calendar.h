/* Dates, timestamps and durations as text.
 *
 * The calendar is the proleptic Gregorian one (ISO 8601); years 0001 to 9999 are read, others are printed with a sign.
 * Days from civil dates as in Howard Hinnant, "chrono-compatible low-level date algorithms" (2013). */
#ifndef RQL_BASE_TIME_CALENDAR_H
#define RQL_BASE_TIME_CALENDAR_H

#include "base/time/time_zone.h"

#include <stdbool.h>
#include <stdint.h>

enum { CALENDAR_TEXT = 48 }; /* bytes that the functions below write at most */

static const int64_t DAY_US = INT64_C(86400000000);
/* 0001-01-01 and 9999-12-31, as days from 1970-01-01. */
static const int64_t FIRST_DAY = -719162, LAST_DAY = 2932896;

struct civil {
    int64_t year;
    int month, day; /* from 1 */
};

int64_t days_of_civil(struct civil civil); /* since 1970-01-01 */
struct civil civil_of_days(int64_t days);
int days_of_month(int64_t year, int month);
int weekday_of_days(int64_t days); /* 0: Monday */

/* Whether begin..end is exactly a date, YYYY-MM-DD; its days since 1970-01-01. */
bool date_read(const char *begin, const char *end, int64_t *days);

/* Whether a time is within the years 1 to 9999. */
bool is_in_years(int64_t microseconds);

/* Whether begin..end is exactly a timestamp: a date, `T` or one space, HH:MM, optionally :SS and a fraction of at least
 * one digit, optionally `Z`, +HH:MM, +HHMM or +HH. Sets the microseconds since 1970-01-01T00:00:00, in UTC if it has a
 * zone, with which it has to be within the years 1 to 9999; digits beyond microseconds are cut, and *cut says whether
 * any was not zero. `zoned` and `cut` are not NULL. */
bool timestamp_read(const char *begin, const char *end, int64_t *microseconds, bool *zoned, bool *cut);

/* Whether begin..end is exactly a time of day, HH:MM, optionally :SS and a fraction; its microseconds. `cut` as above.
 */
bool clock_read(const char *begin, const char *end, int64_t *microseconds, bool *cut);

/* Write the text without a NUL; return its end. 2024-01-31; 2024-01-31T09:30:00 with as many digits of a fraction as
 * needed of 3 or 6; of a zone the local time with its offset, Z in UTC, +01:00 elsewhere, or +00:53:28; 2d 03:15:00,
 * -00:00:01.5. */
char *date_text(char *at, int64_t days);
char *timestamp_text(char *at, int64_t microseconds, const struct time_zone *zone);
char *duration_text(char *at, int64_t microseconds);

/* Whether begin..end is a duration as duration_text writes it; its fraction may end in zeros. */
bool duration_read(const char *begin, const char *end, int64_t *microseconds);

#endif
