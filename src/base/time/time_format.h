/* Dates and times as text by a format, as of strftime and strptime: %Y-%m-%d %H:%M:%S.
 *
 * Names of months and days are English. Codes: Y C y m d e j b B h a A u w G V U W H I M S f p s z Z, F T D R for
 * %Y-%m-%d, %H:%M:%S, %m/%d/%y and %H:%M, n t %; %-d writes no leading zero or blank. */
#ifndef RQL_BASE_TIME_TIME_FORMAT_H
#define RQL_BASE_TIME_TIME_FORMAT_H

#include "base/strbuf.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* What a format is for: dates have no time of day, times of day no date. */
enum time_format_use { FORMAT_OF_DATE, FORMAT_OF_TIMESTAMP, FORMAT_OF_CLOCK };

/* What is wrong with a format that is written, or read; NULL: nothing. The text is constant. */
const char *time_format_check_written(struct text format, enum time_format_use use);
const char *time_format_check_read(struct text format, enum time_format_use use);

/* A date or time to write. */
struct time_written {
    int64_t days, clock; /* since 1970; microseconds of the day: as clocks show them */
    int64_t ahead;       /* microseconds by which they are ahead of UTC */
    const char *zone;    /* "CET"; NULL: without a zone */
};

/* Appends it by a checked format. */
void time_format_write(struct strbuf *out, struct text format, const struct time_written *time);

/* What a text says by a checked format. */
struct time_read {
    int64_t days, clock; /* since 1970; microseconds of the day. Both as written, */
    int64_t ahead;       /* microseconds by which the zone is ahead of UTC */
    bool zoned;          /* it has one */
    bool cut;            /* a digit beyond microseconds, which is not zero */
};

/* A checked format for reading many texts. Those in which each number has all of its digits are read at fixed places,
 * if the format is of such numbers: a byte there is at most `above` more than `least`. */
enum time_part { PART_YEAR, PART_MONTH, PART_DAY, PART_HOUR, PART_MINUTE, PART_SECOND, PART_FRACTION, TIME_PARTS };
enum { PATTERN_BYTES = 32 };
struct time_pattern {
    struct text format;
    size_t length; /* of such texts; 0: there are none */
    uint8_t least[PATTERN_BYTES], above[PATTERN_BYTES], places[TIME_PARTS];
    bool short_year;
};

struct time_pattern time_pattern_of(struct text format);

/* False if the text does not have this form, or there is no such day or time. As strptime does, numbers need no leading
 * zeroes and names are of any case; a blank of the format is any number of blanks. */
bool time_pattern_read(const struct time_pattern *pattern, struct text text, struct time_read *read);

/* Code k of both: the names of months (from 0) and of days, Monday first. */
extern const char *const month_names[12], *const day_names[7];

/* What a composite such as %F stands for; NULL: the code is none. */
const char *time_format_composite(char code);

#endif
