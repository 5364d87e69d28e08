/* Checking formats, and writing by them. */
#include "base/time/time_format.h"
#include "base/number_text.h"
#include "base/text.h"

#include "base/time/calendar.h"

#include <string.h>

const char *const month_names[12] = {"January", "February", "March",     "April",   "May",      "June",
                                     "July",    "August",   "September", "October", "November", "December"};
const char *const day_names[7] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

static const int64_t SECOND_US = 1000000;
static const char date_codes[] = "YCymdejbBhaAuwGVUWFD", clock_codes[] = "HIMSfpTR", zone_codes[] = "zZs";

const char *time_format_composite(char code)
{
    switch (code) {
    case 'F':
        return "%Y-%m-%d";
    case 'D':
        return "%m/%d/%y";
    case 'T':
        return "%H:%M:%S";
    case 'R':
        return "%H:%M";
    default:
        return NULL;
    }
}

/* The code behind the `%` at `*at`, which moves to it; 0 if the format ends. */
static char next_code(struct text format, size_t *at, bool *bare)
{
    size_t k = *at + 1;
    *bare = k < format.length && format.at[k] == '-';
    k += *bare;
    *at = k;
    return k < format.length ? format.at[k] : '\0';
}

const char *time_format_check_written(struct text format, enum time_format_use use)
{
    for (size_t k = 0; k < format.length; k++) {
        bool bare;
        if (format.at[k] != '%')
            continue;
        const char code = next_code(format, &k, &bare);
        if (is_among("%nt", code))
            continue;
        if (!is_among(date_codes, code) && !is_among(clock_codes, code) && !is_among(zone_codes, code))
            return "codes are %Y %C %y %m %d %e %j %b %B %a %A %u %w %G %V %U %W %H %I %M %S %f %p %s %z %Z %F %T %D "
                   "%R "
                   "%%; %-d writes no leading zero";
        if (use == FORMAT_OF_CLOCK && !is_among(clock_codes, code))
            return "a time of day has no date: codes are %H %I %M %S %f %p %T %R";
    }
    return NULL;
}

/* Which numbers a format reads. */
struct found {
    bool year, month, day, of_year, iso_year, iso_week, weekday, hour12, hour24, half, seconds, clock, fraction, zone;
};

static const char *note_code(struct found *found, char code)
{
    switch (code) {
    case 'Y':
    case 'y':
        found->year = true;
        break;
    case 'm':
    case 'b':
    case 'B':
    case 'h':
        found->month = true;
        break;
    case 'd':
    case 'e':
        found->day = true;
        break;
    case 'F':
    case 'D':
        found->year = found->month = found->day = true;
        break;
    case 'j':
        found->of_year = true;
        break;
    case 'G':
        found->iso_year = true;
        break;
    case 'V':
        found->iso_week = true;
        break;
    case 'u':
        found->weekday = true;
        break;
    case 'H':
    case 'T':
    case 'R':
        found->hour24 = found->clock = true;
        break;
    case 'I':
        found->hour12 = found->clock = true;
        break;
    case 'M':
    case 'S':
        found->clock = true;
        break;
    case 'f':
        found->fraction = true;
        break;
    case 'p':
        found->half = true;
        break;
    case 's':
        found->seconds = true;
        break;
    case 'z':
    case 'Z':
        found->zone = true;
        break;
    case 'C':
    case 'U':
    case 'W':
    case 'w':
        return "%C, %U, %W and %w can be written, but not read";
    default:
        break;
    }
    return NULL;
}

static const char *check_found(const struct found *found, enum time_format_use use)
{
    const bool iso = found->iso_year || found->iso_week;
    if (found->hour12 != found->half)
        return found->half ? "%p belongs to %I, the hour from 1 to 12" : "%I needs %p; %H is the hour from 0 to 23";
    if (found->hour12 && found->hour24)
        return "%H and %I are both the hour";
    if (use == FORMAT_OF_CLOCK)
        return (found->clock || found->fraction) && !found->zone && !found->seconds && !found->year && !iso
                   ? NULL
                   : "a time of day has %H, %M and %S, no date and no zone";
    if (found->seconds &&
        (found->year || found->month || found->day || found->of_year || iso || found->weekday || found->clock))
        return "%s is all of a time but its fraction";
    if (use == FORMAT_OF_DATE && (found->zone || found->seconds))
        return "in which zone is the day? `date(timestamp(s, ...))` is that in UTC";
    if (iso && (!found->iso_year || !found->iso_week || !found->weekday || found->year))
        return "weeks are read by %G, %V and %u together";
    if (!found->year && !iso && !found->seconds)
        return "the format has no year: %Y or %y";
    return NULL;
}

const char *time_format_check_read(struct text format, enum time_format_use use)
{
    struct found found = {0};
    const char *wrong = time_format_check_written(format, FORMAT_OF_TIMESTAMP);
    for (size_t k = 0; k < format.length && !wrong; k++) {
        bool bare;
        if (format.at[k] == '%')
            wrong = note_code(&found, next_code(format, &k, &bare));
    }
    return wrong ? wrong : check_found(&found, use);
}

/* At least `width` digits, with `fill` before them; a sign counts. */
static void write_number(struct strbuf *out, int64_t number, int width, char fill)
{
    char digits[24];
    if (width == 2 && number >= 0 && number < 100) { /* most are */
        char *two = strbuf_reserve(out, 2);
        two[0] = (char)(number < 10 ? fill : '0' + number / 10);
        two[1] = (char)('0' + number % 10);
        strbuf_commit(out, 2);
        return;
    }
    char *end = digits + sizeof digits;
    const char *at = format_digits(end, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
    const int sign = number < 0;
    if (sign)
        strbuf_putc(out, '-');
    for (int k = (int)(end - at) + sign; k < width; k++)
        strbuf_putc(out, fill);
    strbuf_add(out, at, (size_t)(end - at));
}

/* A day, in the ways in which formats name it. */
struct day {
    struct civil civil;
    int64_t days;
    int weekday; /* 0: Monday */
};

static struct day day_of(int64_t days)
{
    return (struct day){.civil = civil_of_days(days), .days = days, .weekday = weekday_of_days(days)};
}

/* From 0. */
static int day_of_year(const struct day *day)
{
    return (int)(day->days - days_of_civil((struct civil){day->civil.year, 1, 1}));
}

/* The week and its year, which are those of its Thursday. */
static int iso_week(const struct day *day, int64_t *year)
{
    const int64_t of_thursday = (int64_t)((uint64_t)day->days - (uint64_t)day->weekday + 3); /* may be beyond 64 bits */
    *year = civil_of_days(of_thursday).year;
    return (int)((of_thursday - days_of_civil((struct civil){*year, 1, 1})) / 7 + 1);
}

/* Years 0 to 9999 have four digits; others are as date_text writes them. */
static void write_year(struct strbuf *out, int64_t year)
{
    if (year > 9999)
        strbuf_putc(out, '+');
    write_number(out, year, year < 0 ? 5 : 4, '0');
}

/* +0100, or +005328 of a local mean time. */
static void write_offset(struct strbuf *out, int64_t ahead)
{
    const int64_t seconds = (ahead < 0 ? -ahead : ahead) / SECOND_US;
    strbuf_putc(out, ahead < 0 ? '-' : '+');
    write_number(out, seconds / 3600 * 100 + seconds / 60 % 60, 4, '0');
    if (seconds % 60 != 0)
        write_number(out, seconds % 60, 2, '0');
}

static void write_code(struct strbuf *out, char code, bool bare, const struct day *day, const struct time_written *time)
{
    const int64_t clock = time->clock, seconds = clock / SECOND_US, hour = seconds / 3600;
    const int year_of_100 = (int)(((day->civil.year % 100) + 100) % 100);
    const char zero = '0';
    int64_t iso_year;
    switch (code) {
    case 'Y':
        write_year(out, day->civil.year);
        break;
    case 'C':
        write_number(out, (day->civil.year - year_of_100) / 100, bare ? 1 : 2, zero);
        break;
    case 'y':
        write_number(out, year_of_100, bare ? 1 : 2, zero);
        break;
    case 'm':
        write_number(out, day->civil.month, bare ? 1 : 2, zero);
        break;
    case 'd':
        write_number(out, day->civil.day, bare ? 1 : 2, zero);
        break;
    case 'e':
        write_number(out, day->civil.day, bare ? 1 : 2, ' ');
        break;
    case 'j':
        write_number(out, day_of_year(day) + 1, bare ? 1 : 3, zero);
        break;
    case 'b':
    case 'h':
        strbuf_add(out, month_names[day->civil.month - 1], 3);
        break;
    case 'B':
        strbuf_puts(out, month_names[day->civil.month - 1]);
        break;
    case 'a':
        strbuf_add(out, day_names[day->weekday], 3);
        break;
    case 'A':
        strbuf_puts(out, day_names[day->weekday]);
        break;
    case 'u':
        write_number(out, day->weekday + 1, 1, zero);
        break;
    case 'w':
        write_number(out, (day->weekday + 1) % 7, 1, zero);
        break;
    case 'G':
        (void)iso_week(day, &iso_year);
        write_year(out, iso_year);
        break;
    case 'V':
        write_number(out, iso_week(day, &iso_year), bare ? 1 : 2, zero);
        break;
    case 'U':
        write_number(out, (day_of_year(day) + 7 - (day->weekday + 1) % 7) / 7, bare ? 1 : 2, zero);
        break;
    case 'W':
        write_number(out, (day_of_year(day) + 7 - day->weekday) / 7, bare ? 1 : 2, zero);
        break;
    case 'H':
        write_number(out, hour, bare ? 1 : 2, zero);
        break;
    case 'I':
        write_number(out, (hour + 11) % 12 + 1, bare ? 1 : 2, zero);
        break;
    case 'M':
        write_number(out, seconds / 60 % 60, bare ? 1 : 2, zero);
        break;
    case 'S':
        write_number(out, seconds % 60, bare ? 1 : 2, zero);
        break;
    case 'f':
        write_number(out, clock % SECOND_US, bare ? 1 : 6, zero);
        break;
    case 'p':
        strbuf_puts(out, hour < 12 ? "AM" : "PM");
        break;
    case 's':
        write_number(out, (int64_t)((uint64_t)day->days * 86400 + (uint64_t)(seconds - time->ahead / SECOND_US)), 1,
                     zero);
        break;
    case 'z':
        if (time->zone)
            write_offset(out, time->ahead);
        break;
    case 'Z':
        strbuf_puts(out, time->zone ? time->zone : "");
        break;
    case 'n':
        strbuf_putc(out, '\n');
        break;
    case 't':
        strbuf_putc(out, '\t');
        break;
    default:
        strbuf_putc(out, '%');
        break;
    }
}

static void write_all(struct strbuf *out, struct text format, const struct day *day, const struct time_written *time)
{
    for (size_t k = 0; k < format.length; k++) {
        bool bare;
        if (format.at[k] != '%') {
            strbuf_putc(out, format.at[k]);
            continue;
        }
        const char code = next_code(format, &k, &bare), *parts = time_format_composite(code);
        for (; parts && *parts; parts++) {
            if (*parts == '%')
                write_code(out, *++parts, false, day, time);
            else
                strbuf_putc(out, *parts);
        }
        if (!time_format_composite(code))
            write_code(out, code, bare, day, time);
    }
}

void time_format_write(struct strbuf *out, struct text format, const struct time_written *time)
{
    const struct day day = day_of(time->days);
    write_all(out, format, &day, time);
}
