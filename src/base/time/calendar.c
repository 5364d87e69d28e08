/* Reading loads eight bytes at a time and checks and converts them together; the machine is little-endian, so the first
 * character is the lowest byte. */
#include "base/time/calendar.h"

#include "base/number_text.h"
#include "base/text_words.h"

#include <string.h>

static const int64_t SECOND_US = 1000000, MINUTE_US = 60 * INT64_C(1000000);

enum {
    DATE_LENGTH = 10,    /* YYYY-MM-DD */
    CLOCK_LENGTH = 8,    /* HH:MM:SS */
    ERA_DAYS = 146097,   /* of 400 years */
    EPOCH_DAYS = 719468, /* from 0000-03-01 to 1970-01-01 */
};

int64_t days_of_civil(struct civil civil)
{
    /* Years from March, so that the day that leap years add is their last. */
    const int64_t year = civil.year - (civil.month <= 2);
    int64_t era = (year - (year < 0 ? 399 : 0)) / 400, year_of_era = year - era * 400;
    const int month = civil.month + (civil.month > 2 ? -3 : 9);
    int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + (153 * month + 2) / 5 + civil.day - 1;
    return era * ERA_DAYS + day_of_era - EPOCH_DAYS;
}

int weekday_of_days(int64_t days)
{
    const int thursday = 3; /* 1970-01-01 */
    return (int)((days % 7 + 7 + thursday) % 7);
}

struct civil civil_of_days(int64_t days)
{
    /* The era of `days` first, since days + EPOCH_DAYS may not fit. */
    int64_t rest = days % ERA_DAYS, before = rest < 0;
    int64_t era = days / ERA_DAYS - before, day = rest + before * ERA_DAYS + EPOCH_DAYS;
    era += day / ERA_DAYS;
    const uint32_t day_of_era = (uint32_t)(day % ERA_DAYS);
    const uint32_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / (ERA_DAYS - 1)) / 365;
    const uint32_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    uint32_t month = (5 * day_of_year + 2) / 153; /* from March */
    const int day_of_month = (int)(day_of_year - (153 * month + 2) / 5 + 1);
    const int64_t year = era * 400 + (int64_t)year_of_era + (month >= 10);
    return (struct civil){year, (int)(month < 10 ? month + 3 : month - 9), day_of_month};
}

int days_of_month(int64_t year, int month)
{
    static const signed char days[] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month] + (month == 2 && leap);
}

/* Loads eight characters. `form` has '0' where a digit is expected and the character itself elsewhere; `limits` then
 * has 0x76 for a digit and 0x7f elsewhere, so that adding it sets the byte's high bit if it is above 9 or 0. Returns
 * whether all are as expected, and sets byte k of *pairs to the number that digits k and k + 1 write. */
static bool read_pairs(const char *at, const char form[8], uint64_t limits, uint64_t *pairs)
{
    uint64_t text, expected;
    memcpy(&text, at, sizeof text);
    memcpy(&expected, form, sizeof expected);
    const uint64_t digits = text ^ expected;
    *pairs = digits * 10 + (digits >> 8);
    return (((digits + limits) | digits) & UINT64_C(0x8080808080808080)) == 0;
}

static uint32_t pair_at(uint64_t pairs, int byte)
{
    return (uint32_t)(pairs >> (8 * byte)) & 0xff;
}

/* The number that two digits write; 100 or more if they are not digits. */
static uint32_t two_digits(const char *at)
{
    uint32_t tens = (uint32_t)(unsigned char)at[0] - '0', ones = (uint32_t)(unsigned char)at[1] - '0';
    return tens <= 9 && ones <= 9 ? tens * 10 + ones : 100;
}

/* DATE_LENGTH characters; the days fit 32 bits. */
static bool read_date(const char *at, int64_t *days)
{
    uint64_t pairs;
    if (!read_pairs(at, "0000-00-", UINT64_C(0x7f76767f76767676), &pairs))
        return false;
    uint32_t year = pair_at(pairs, 0) * 100 + pair_at(pairs, 2), month = pair_at(pairs, 5), day = two_digits(at + 8);
    if (year == 0 || month - 1 >= 12 || day == 0 || (day > 28 && (int)day > days_of_month(year, (int)month)))
        return false;
    uint32_t from_march = year - (month <= 2), past = month > 2 ? month - 3 : month + 9;
    *days = (int64_t)(from_march * 365 + from_march / 4 - from_march / 100 + from_march / 400 + (153 * past + 2) / 5 +
                      day - 1) -
            EPOCH_DAYS;
    return true;
}

bool date_read(const char *begin, const char *end, int64_t *days)
{
    return end - begin == DATE_LENGTH && read_date(begin, days);
}

/* Reads HH:MM, and :SS if there is a second colon. Returns its end, or NULL. */
static const char *read_clock(const char *at, const char *end, int64_t *microseconds)
{
    uint32_t hour, minute, second = 0;
    const bool seconds = end - at > 5 && at[5] == ':';
    if (seconds) {
        uint64_t pairs;
        if (end - at < CLOCK_LENGTH || !read_pairs(at, "00:00:00", UINT64_C(0x76767f76767f7676), &pairs))
            return NULL;
        hour = pair_at(pairs, 0);
        minute = pair_at(pairs, 3);
        second = pair_at(pairs, 6);
    } else {
        if (end - at < 5 || at[2] != ':')
            return NULL;
        hour = two_digits(at);
        minute = two_digits(at + 3);
    }
    if (hour > 23 || minute > 59 || second > 59)
        return NULL;
    *microseconds = (int64_t)(hour * 3600 + minute * 60 + second) * SECOND_US;
    return at + (seconds ? CLOCK_LENGTH : 5);
}

/* Reads a point and digits, and adds the microseconds. Returns their end, or NULL if there is a point only. */
static const char *read_fraction(const char *at, const char *end, int64_t *microseconds, bool *cut)
{
    if (at == end || *at != '.')
        return at;
    static const int32_t units[] = {0, 100000, 10000, 1000, 100, 10, 1};
    const char *first = ++at, *last = end - at > 6 ? at + 6 : end;
    uint64_t number = 0;
    if (last - at == 6 && eight_digits(load_digits(last, 6), &number))
        at = last; /* a clock is before them */
    else
        number = 0;
    for (; at < last && *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    *microseconds += (int64_t)number * units[at - first];
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        *cut = *cut || *at != '0';
    return at > first ? at : NULL;
}

/* Whether at..end is a zone; the microseconds by which it is ahead of UTC. */
static bool read_zone(const char *at, const char *end, int64_t *ahead)
{
    *ahead = 0;
    if (end - at == 1 && *at == 'Z')
        return true;
    if (end - at < 3 || (*at != '+' && *at != '-'))
        return false;
    uint32_t hour = two_digits(at + 1), minute = 0;
    const bool colon = end - at == 6 && at[3] == ':';
    if (end - at == 5 || colon)
        minute = two_digits(end - 2);
    else if (end - at != 3)
        return false;
    *ahead = (int64_t)(hour * 60 + minute) * (*at == '-' ? -MINUTE_US : MINUTE_US);
    return hour <= 23 && minute <= 59;
}

bool is_in_years(int64_t microseconds)
{
    return microseconds >= FIRST_DAY * DAY_US && microseconds < (LAST_DAY + 1) * DAY_US;
}

bool timestamp_read(const char *begin, const char *end, int64_t *microseconds, bool *zoned, bool *cut)
{
    int64_t days, clock, ahead = 0;
    *zoned = *cut = false;
    if (end - begin <= DATE_LENGTH || (begin[DATE_LENGTH] != 'T' && begin[DATE_LENGTH] != ' ') ||
        !read_date(begin, &days))
        return false;
    const char *time = begin + DATE_LENGTH + 1, *at = read_clock(time, end, &clock);
    if (at && at - time == CLOCK_LENGTH)
        at = read_fraction(at, end, &clock, cut);
    if (!at)
        return false;
    *zoned = at < end;
    if (*zoned && !read_zone(at, end, &ahead))
        return false;
    *microseconds = days * DAY_US + clock - ahead;
    return !*zoned || is_in_years(*microseconds);
}

bool clock_read(const char *begin, const char *end, int64_t *microseconds, bool *cut)
{
    *cut = false;
    const char *at = read_clock(begin, end, microseconds);
    if (at && at - begin == CLOCK_LENGTH)
        at = read_fraction(at, end, microseconds, cut);
    return at == end;
}

static char *write_number(char *at, uint64_t number)
{
    char *end = at + digit_count(number);
    (void)format_digits(end, number);
    return end;
}

/* `count` digits. */
static char *write_padded(char *at, uint32_t number, int count)
{
    for (int i = count; i-- > 0; number /= 10)
        at[i] = (char)('0' + number % 10);
    return at + count;
}

char *date_text(char *at, int64_t days)
{
    struct civil civil = civil_of_days(days);
    const uint64_t year = civil.year < 0 ? 0 - (uint64_t)civil.year : (uint64_t)civil.year;
    if (civil.year < 1 || civil.year > 9999)
        *at++ = civil.year < 0 ? '-' : '+';
    if (year > 9999)
        at = write_number(at, year);
    else
        at = write_padded(at, (uint32_t)year, 4);
    *at++ = '-';
    at = write_pair(at, (uint32_t)civil.month);
    *at++ = '-';
    return write_pair(at, (uint32_t)civil.day);
}

/* HH:MM:SS of the microseconds of a day. */
static char *write_clock(char *at, uint64_t microseconds)
{
    const uint32_t seconds = (uint32_t)(microseconds / (uint64_t)SECOND_US);
    at = write_pair(at, seconds / 3600);
    *at++ = ':';
    at = write_pair(at, seconds / 60 % 60);
    *at++ = ':';
    return write_pair(at, seconds % 60);
}

/* +01:00, or with seconds, as local mean times have them. */
static char *write_offset(char *at, int64_t ahead)
{
    const uint64_t seconds = (uint64_t)(ahead < 0 ? -ahead : ahead) / (uint64_t)SECOND_US;
    *at++ = ahead < 0 ? '-' : '+';
    char clock[CALENDAR_TEXT];
    (void)write_clock(clock, seconds * (uint64_t)SECOND_US);
    const size_t length = seconds % 60 == 0 ? CLOCK_LENGTH - 3 : CLOCK_LENGTH;
    memcpy(at, clock, length);
    return at + length;
}

char *timestamp_text(char *at, int64_t microseconds, const struct time_zone *zone)
{
    const int64_t ahead = zone ? time_zone_offset(zone, microseconds) : 0;
    int64_t local;
    if (__builtin_add_overflow(microseconds, ahead, &local))
        zone = &time_zone_utc;
    else
        microseconds = local;
    const int64_t days = microseconds / DAY_US - (microseconds % DAY_US < 0);
    const uint64_t clock = (uint64_t)microseconds - (uint64_t)days * (uint64_t)DAY_US;
    at = date_text(at, days);
    *at++ = 'T';
    at = write_clock(at, clock);
    const uint32_t fraction = (uint32_t)(clock % (uint64_t)SECOND_US);
    if (fraction != 0) {
        *at++ = '.';
        at = fraction % 1000 == 0 ? write_padded(at, fraction / 1000, 3) : write_padded(at, fraction, 6);
    }
    if (zone == &time_zone_utc)
        *at++ = 'Z';
    else if (zone)
        at = write_offset(at, ahead);
    return at;
}

char *duration_text(char *at, int64_t microseconds)
{
    const uint64_t magnitude = microseconds < 0 ? 0 - (uint64_t)microseconds : (uint64_t)microseconds;
    uint64_t days = magnitude / (uint64_t)DAY_US, clock = magnitude % (uint64_t)DAY_US;
    if (microseconds < 0)
        *at++ = '-';
    if (days > 0) {
        at = write_number(at, days);
        *at++ = 'd';
        *at++ = ' ';
    }
    at = write_clock(at, clock);
    const uint32_t fraction = (uint32_t)(clock % (uint64_t)SECOND_US);
    if (fraction != 0) {
        *at++ = '.';
        at = write_padded(at, fraction, 6);
        while (at[-1] == '0')
            at--;
    }
    return at;
}

/* Reads the days before `d` and a space. Returns their end, or `at` if there are none. */
static const char *read_days(const char *at, const char *end, uint64_t *days)
{
    const char *digit = at;
    *days = 0;
    for (; digit < end && digit - at < 9 && *digit >= '0' && *digit <= '9'; digit++)
        *days = *days * 10 + (uint64_t)(*digit - '0');
    const bool found = digit > at && *at != '0' && end - digit >= 2 && digit[0] == 'd' && digit[1] == ' ';
    if (!found)
        *days = 0;
    return found ? digit + 2 : at;
}

bool duration_read(const char *begin, const char *end, int64_t *microseconds)
{
    uint64_t days;
    int64_t clock;
    bool negative = begin < end && *begin == '-', cut = false;
    const char *time = read_days(begin + negative, end, &days), *at = read_clock(time, end, &clock);
    if (!at || at - time != CLOCK_LENGTH || days > INT64_MAX / (uint64_t)DAY_US)
        return false;
    const char *fraction = at;
    at = read_fraction(at, end, &clock, &cut);
    if (at != end || at - fraction > 7)
        return false;
    uint64_t magnitude = days * (uint64_t)DAY_US + (uint64_t)clock, most = (uint64_t)INT64_MAX + negative;
    if (magnitude > most || (negative && magnitude == 0))
        return false;
    *microseconds = (int64_t)(negative ? 0 - magnitude : magnitude);
    return true;
}
