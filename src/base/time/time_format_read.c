/* Reading dates and times by a format. */
#include "base/time/time_format.h"

#include "base/time/calendar.h"

#include <string.h>
#include <strings.h>

static const int64_t SECOND_US = 1000000, MINUTE_US = 60 * INT64_C(1000000);

/* What has been read so far; numbers are -1 until they are. */
struct reader {
    const char *at, *end;
    int64_t seconds;
    int year, month, day, of_year, iso_year, iso_week, weekday, hour, hour12, half, minute, second, fraction;
    bool has_seconds;
    struct time_read *read;
};

/* What is read twice has to be the same. */
static bool keep(int *part, int number)
{
    const bool good = *part < 0 || *part == number;
    *part = number;
    return good;
}

/* A number of `least` to `most` digits. */
static bool read_digits(struct reader *reader, int least, int most, int *number)
{
    int count = 0, value = 0;
    for (; count < most && reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'; count++)
        value = value * 10 + (*reader->at++ - '0');
    *number = value;
    return count >= least;
}

static bool read_number(struct reader *reader, int most, int lo, int hi, int *part)
{
    int number;
    return read_digits(reader, 1, most, &number) && number >= lo && number <= hi && keep(part, number);
}

/* One of the names, or its first three letters; its number from 0. */
static bool read_name(struct reader *reader, const char *const *names, int count, bool whole, int *number)
{
    const size_t left = (size_t)(reader->end - reader->at);
    for (int k = 0; k < count; k++) {
        const size_t length = whole ? strlen(names[k]) : 3;
        if (left < length || strncasecmp(reader->at, names[k], length) != 0)
            continue;
        reader->at += length;
        *number = k;
        return true;
    }
    return false;
}

static bool read_year(struct reader *reader, int *year)
{
    int number;
    return read_digits(reader, 4, 4, &number) && number > 0 && keep(year, number);
}

/* Seconds since 1970, in UTC. */
static bool read_seconds(struct reader *reader)
{
    enum { MOST_DIGITS = 12 };
    const bool negative = reader->at < reader->end && *reader->at == '-';
    int64_t number = 0;
    int count = 0;
    reader->at += negative;
    for (; count < MOST_DIGITS && reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'; count++)
        number = number * 10 + (*reader->at++ - '0');
    reader->seconds = negative ? -number : number;
    reader->has_seconds = reader->read->zoned = true;
    return count > 0;
}

/* Digits beyond microseconds are cut. */
static bool read_fraction(struct reader *reader)
{
    const char *first = reader->at;
    int fraction;
    if (!read_digits(reader, 1, 6, &fraction))
        return false;
    for (int64_t count = reader->at - first; count < 6; count++)
        fraction *= 10;
    for (; reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'; reader->at++)
        reader->read->cut = reader->read->cut || *reader->at != '0';
    return keep(&reader->fraction, fraction);
}

/* Z, +HH:MM, +HHMM or +HH. */
static bool read_zone(struct reader *reader)
{
    int hour, minute = 0;
    reader->read->zoned = true;
    if (reader->at == reader->end)
        return false;
    const char sign = *reader->at++;
    if (sign == 'Z')
        return true;
    if ((sign != '+' && sign != '-') || !read_digits(reader, 2, 2, &hour) || hour > 23)
        return false;
    const bool colon = reader->at < reader->end && *reader->at == ':';
    const char *before = reader->at;
    reader->at += colon;
    if (!read_digits(reader, 2, 2, &minute)) {
        if (colon || reader->at != before)
            return false;
        minute = 0;
    }
    reader->read->ahead = (int64_t)(hour * 60 + minute) * (sign == '-' ? -MINUTE_US : MINUTE_US);
    return minute <= 59;
}

/* UTC, GMT or Z. */
static bool read_zone_name(struct reader *reader)
{
    static const char *const names[] = {"UTC", "GMT"};
    int which;
    reader->read->zoned = true;
    if (reader->at < reader->end && *reader->at == 'Z') {
        reader->at++;
        return true;
    }
    return read_name(reader, names, 2, true, &which);
}

static bool read_half(struct reader *reader)
{
    if (reader->end - reader->at < 2 || (reader->at[1] | 0x20) != 'm')
        return false;
    const char half = (char)(*reader->at | 0x20);
    reader->at += 2;
    return (half == 'a' || half == 'p') && keep(&reader->half, half == 'p');
}

static void skip_blanks(struct reader *reader)
{
    while (reader->at < reader->end && (*reader->at == ' ' || (*reader->at >= '\t' && *reader->at <= '\r')))
        reader->at++;
}

static bool read_code(struct reader *reader, char code)
{
    int number = 0;
    bool good;
    switch (code) {
    case 'Y':
        return read_year(reader, &reader->year);
    case 'y':
        good = read_digits(reader, 2, 2, &number);
        return good && keep(&reader->year, number + (number < 69 ? 2000 : 1900));
    case 'm':
        return read_number(reader, 2, 1, 12, &reader->month);
    case 'd':
    case 'e':
        if (code == 'e')
            skip_blanks(reader);
        return read_number(reader, 2, 1, 31, &reader->day);
    case 'j':
        return read_number(reader, 3, 1, 366, &reader->of_year);
    case 'b':
    case 'h':
    case 'B':
        good = read_name(reader, month_names, 12, code == 'B', &number);
        return good && keep(&reader->month, number + 1);
    case 'a':
    case 'A':
        good = read_name(reader, day_names, 7, code == 'A', &number);
        return good && keep(&reader->weekday, number + 1);
    case 'u':
        return read_number(reader, 1, 1, 7, &reader->weekday);
    case 'G':
        return read_year(reader, &reader->iso_year);
    case 'V':
        return read_number(reader, 2, 1, 53, &reader->iso_week);
    case 'H':
        return read_number(reader, 2, 0, 23, &reader->hour);
    case 'I':
        return read_number(reader, 2, 1, 12, &reader->hour12);
    case 'M':
        return read_number(reader, 2, 0, 59, &reader->minute);
    case 'S':
        return read_number(reader, 2, 0, 59, &reader->second);
    case 'f':
        return read_fraction(reader);
    case 'p':
        return read_half(reader);
    case 's':
        return read_seconds(reader);
    case 'z':
        return read_zone(reader);
    case 'Z':
        return read_zone_name(reader);
    default:
        break;
    }
    const char literal = (char)(code == 'n' ? '\n' : code == 't' ? '\t' : code);
    return reader->at < reader->end && *reader->at++ == literal;
}

static bool read_all(struct reader *reader, const char *format, size_t length)
{
    bool good = true;
    for (size_t k = 0; k < length && good; k++) {
        const char c = format[k];
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            const char *before = reader->at;
            skip_blanks(reader);
            good = reader->at > before;
        } else if (c != '%') {
            good = reader->at < reader->end && *reader->at++ == c;
        } else {
            k += 1 + (size_t)(format[k + 1] == '-'); /* it has been checked that a code follows */
            const char *parts = time_format_composite(format[k]);
            good = parts ? read_all(reader, parts, strlen(parts)) : read_code(reader, format[k]);
        }
    }
    return good;
}

/* The days of what was read; of a time of day 0. */
static int64_t find_day(const struct reader *reader)
{
    if (reader->iso_year >= 0) {
        const int64_t fourth = days_of_civil((struct civil){reader->iso_year, 1, 4});
        const int64_t monday = fourth - weekday_of_days(fourth);
        return monday + (int64_t)(reader->iso_week - 1) * 7 + reader->weekday - 1;
    }
    if (reader->year < 0)
        return 0;
    if (reader->of_year >= 0)
        return days_of_civil((struct civil){reader->year, 1, 1}) + reader->of_year - 1;
    const int month = reader->month < 0 ? 1 : reader->month, day = reader->day < 0 ? 1 : reader->day;
    return days_of_civil((struct civil){reader->year, month, day});
}

static bool agrees(int part, int64_t number)
{
    return part < 0 || part == number;
}

/* Whether all that was read is of that day. It is not where there is no such day, either. */
static bool is_of_day(const struct reader *reader, int64_t days)
{
    const struct civil civil = civil_of_days(days);
    const int weekday = weekday_of_days(days) + 1;
    /* A week is of the year of its Thursday. */
    return agrees(reader->iso_year, civil_of_days(days - weekday + 4).year) && agrees(reader->year, civil.year) &&
           agrees(reader->month, civil.month) && agrees(reader->day, civil.day) &&
           agrees(reader->of_year, days - days_of_civil((struct civil){civil.year, 1, 1}) + 1) &&
           agrees(reader->weekday, weekday);
}

static int or_none(int part)
{
    return part < 0 ? 0 : part;
}

static bool read_text(struct text format, struct text text, struct time_read *read)
{
    struct reader reader = {.at = text.at,
                            .end = text.at + text.length,
                            .year = -1,
                            .month = -1,
                            .day = -1,
                            .of_year = -1,
                            .iso_year = -1,
                            .iso_week = -1,
                            .weekday = -1,
                            .hour = -1,
                            .hour12 = -1,
                            .half = -1,
                            .minute = -1,
                            .second = -1,
                            .fraction = -1,
                            .read = read};
    *read = (struct time_read){0};
    if (!read_all(&reader, format.at, format.length) || reader.at != reader.end)
        return false;
    const int fraction = or_none(reader.fraction);
    if (reader.has_seconds) {
        const int64_t of_day = ((reader.seconds % 86400) + 86400) % 86400;
        read->days = (reader.seconds - of_day) / 86400;
        read->clock = of_day * SECOND_US + fraction;
        return true;
    }
    const int hour = reader.hour12 > 0 ? reader.hour12 % 12 + 12 * reader.half : or_none(reader.hour);
    read->clock = (int64_t)(hour * 3600 + or_none(reader.minute) * 60 + or_none(reader.second)) * SECOND_US + fraction;
    read->days = find_day(&reader);
    return (reader.year < 0 && reader.iso_year < 0) || is_of_day(&reader, read->days);
}

/* Behind the bytes of a text: the digits of parts that a format does not have. */
enum { OF_FIRST = PATTERN_BYTES, OF_ZERO = OF_FIRST + 2, ALL_BYTES = PATTERN_BYTES + 16 };

static const struct {
    char code;
    uint8_t digits;
    enum time_part part;
} fixed_parts[] = {{'Y', 4, PART_YEAR}, {'y', 2, PART_YEAR},   {'m', 2, PART_MONTH},  {'d', 2, PART_DAY},
                   {'H', 2, PART_HOUR}, {'M', 2, PART_MINUTE}, {'S', 2, PART_SECOND}, {'f', 6, PART_FRACTION}};

/* Adds bytes to the texts of the pattern. */
static bool add_bytes(struct time_pattern *pattern, size_t count, char least, uint8_t above)
{
    if (pattern->length + count > PATTERN_BYTES)
        return false;
    memset(pattern->least + pattern->length, least, count);
    memset(pattern->above + pattern->length, above, count);
    pattern->length += count;
    return true;
}

static bool add_part(struct time_pattern *pattern, char code)
{
    for (size_t k = 0; k < sizeof fixed_parts / sizeof *fixed_parts; k++) {
        uint8_t *place = &pattern->places[fixed_parts[k].part];
        if (fixed_parts[k].code != code)
            continue;
        if (*place < PATTERN_BYTES) /* twice */
            return false;
        *place = (uint8_t)pattern->length;
        pattern->short_year = pattern->short_year || code == 'y';
        return add_bytes(pattern, fixed_parts[k].digits, '0', 9);
    }
    return false;
}

/* False: the format has something of no fixed width. */
static bool add_parts(struct time_pattern *pattern, struct text format)
{
    bool fixed = true;
    char last = '\0';
    for (size_t k = 0; k < format.length && fixed; k++) {
        char c = format.at[k];
        if (c == '%') {
            c = format.at[++k];
            const char *parts = time_format_composite(c);
            fixed = last != 'f' && /* which takes all digits that follow */
                    (parts ? add_parts(pattern, (struct text){parts, strlen(parts)}) : add_part(pattern, c));
            last = c;
        } else {
            fixed = (c == ' ' ? last != ' ' : c > ' ') && !(last == 'f' && c >= '0' && c <= '9') &&
                    add_bytes(pattern, 1, c, 0);
            last = c == ' ' ? ' ' : '\0';
        }
    }
    return fixed;
}

struct time_pattern time_pattern_of(struct text format)
{
    struct time_pattern pattern = {.format = format};
    memset(pattern.places, OF_ZERO, sizeof pattern.places);
    pattern.places[PART_MONTH] = pattern.places[PART_DAY] = OF_FIRST;
    if (!add_parts(&pattern, format))
        pattern.length = 0;
    memset(pattern.above + pattern.length, UINT8_MAX, PATTERN_BYTES - pattern.length);
    return pattern;
}

typedef uint8_t byte_lanes __attribute__((vector_size(16))); /* which every processor here compares at once */

/* The bytes above the least ones; false if one is above the most. */
static bool load_digits(const struct time_pattern *pattern, const char *at, uint8_t digits[ALL_BYTES])
{
    static const uint8_t others[ALL_BYTES - PATTERN_BYTES] = {0, 1};
    enum { LANES = sizeof(byte_lanes) };
    uint8_t bytes[PATTERN_BYTES] = {0};
    uint64_t wrong = 0;
    const size_t length = pattern->length;
    if (length >= LANES) { /* two halves that may overlap */
        memcpy(bytes, at, LANES);
        memcpy(bytes + length - LANES, at + length - LANES, LANES);
    } else if (length >= LANES / 2) {
        memcpy(bytes, at, LANES / 2);
        memcpy(bytes + length - LANES / 2, at + length - LANES / 2, LANES / 2);
    } else {
        memcpy(bytes, at, length);
    }
    for (size_t k = 0; k < PATTERN_BYTES; k += LANES) {
        byte_lanes lanes, least, above;
        uint64_t words[2];
        memcpy(&lanes, bytes + k, LANES);
        memcpy(&least, pattern->least + k, LANES);
        memcpy(&above, pattern->above + k, LANES);
        lanes -= least;
        memcpy(digits + k, &lanes, LANES);
        lanes = (byte_lanes)(lanes > above);
        memcpy(words, &lanes, LANES);
        wrong |= words[0] | words[1];
    }
    memcpy(digits + PATTERN_BYTES, others, sizeof others);
    return wrong == 0;
}

static inline int two_of(const uint8_t *digits)
{
    return 10 * digits[0] + digits[1];
}

/* False: it is to be read otherwise, or wrong. */
static bool read_fixed(const struct time_pattern *pattern, const char *at, struct time_read *read)
{
    uint8_t digits[ALL_BYTES];
    const uint8_t *places = pattern->places;
    if (!load_digits(pattern, at, digits))
        return false;
    const int month = two_of(digits + places[PART_MONTH]), day = two_of(digits + places[PART_DAY]);
    const int hour = two_of(digits + places[PART_HOUR]), minute = two_of(digits + places[PART_MINUTE]);
    const int second = two_of(digits + places[PART_SECOND]);
    const uint8_t *of_year = digits + places[PART_YEAR], *fraction = digits + places[PART_FRACTION];
    int year = two_of(of_year);
    year = pattern->short_year ? year + (year < 69 ? 2000 : 1900) : 100 * year + two_of(of_year + 2);
    const bool dated = places[PART_YEAR] < PATTERN_BYTES;
    if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 ||
        (dated && (year == 0 || (day > 28 && day > days_of_month(year, month)))))
        return false;
    *read = (struct time_read){.days = dated ? days_of_civil((struct civil){year, month, day}) : 0};
    read->clock = (int64_t)(3600 * hour + 60 * minute + second) * SECOND_US + 10000 * two_of(fraction) +
                  100 * two_of(fraction + 2) + two_of(fraction + 4);
    return true;
}

bool time_pattern_read(const struct time_pattern *pattern, struct text text, struct time_read *read)
{
    return (pattern->length > 0 && text.length == pattern->length && read_fixed(pattern, text.at, read)) ||
           read_text(pattern->format, text, read);
}
