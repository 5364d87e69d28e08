#include "repl/plot/time_label.h"

#include "base/time/calendar.h"
#include "base/time/time_zone.h"

#include <math.h>

int64_t time_of_number(double number)
{
    const double limit = 9223372036854774784.0; /* the largest double below 2^63 */
    return (int64_t)(number < -limit ? -limit : number > limit ? limit : number);
}

/* The integer, rounded down to a multiple of the unit. */
static int64_t rounded_down(double number, int64_t unit)
{
    int64_t integer = time_of_number(floor(number)), rest = integer % unit;
    return integer - rest - (rest < 0 && integer - rest >= INT64_MIN + unit ? unit : 0);
}

void add_time_label(struct strbuf *out, struct logical_type logical, double number, double step)
{
    enum { MINUTE_US = 60000000, SECOND_US = 1000000, TIME_TEXT = 9, SECONDS_TEXT = 3 };
    char text[CALENDAR_TEXT], *end;
    const int64_t unit = step >= (double)DAY_US ? DAY_US
                         : step >= MINUTE_US    ? MINUTE_US
                         : step >= SECOND_US    ? SECOND_US
                                                : 1;
    if (logical.kind == LOGICAL_DATE) {
        end = date_text(text, time_of_number(floor(number)));
    } else if (logical.kind == LOGICAL_DURATION) {
        end = duration_text(text, rounded_down(number, unit));
    } else {
        if (logical.zone) /* as clocks show it: an axis has one zone */
            number += (double)time_zone_offset(logical.zone, time_of_number(number));
        end = timestamp_text(text, rounded_down(number, unit), NULL);
        end -= unit == DAY_US ? TIME_TEXT : unit == MINUTE_US ? SECONDS_TEXT : 0; /* T00:00:00, :00 */
    }
    strbuf_add(out, text, (size_t)(end - text));
}
