/* Dates of any order of day, month and year, timestamps that begin with them, and times of day. */
#include "engine/text/ways.h"

#include "base/text.h"
#include "base/time/calendar.h"

#include <string.h>
#include <strings.h>

static bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

/* Reads at most four digits; returns how many there were. */
static int read_digits(struct cell *cell, int *number)
{
    int count = 0;
    for (*number = 0; cell->at < cell->end && is_digit(*cell->at) && count < 4; count++)
        *number = *number * 10 + (*cell->at++ - '0');
    return count;
}

/* The month of at least three letters of its English name. */
static int read_month(struct cell *cell)
{
    static const char names[12][10] = {"january", "february", "march",     "april",   "may",      "june",
                                       "july",    "august",   "september", "october", "november", "december"};
    const char *end = cell->at;
    while (end < cell->end && is_letter(*end))
        end++;
    const size_t length = (size_t)(end - cell->at);
    for (int i = 0; i < 12 && length >= 3; i++) {
        const bool whole = length == strlen(names[i]);
        if ((length == 3 || whole) && strncasecmp(names[i], cell->at, length) == 0) {
            cell->at = end;
            return i + 1;
        }
    }
    return 0;
}

/* The three parts of a date, in their order; of a month that is a name, `named`. */
struct date_parts {
    int number[3], digits[3];
    bool named;
};

/* Reads parts between equal signs, or around the name of a month, and moves behind them. */
static bool read_parts(struct cell *cell, struct date_parts *parts)
{
    *parts = (struct date_parts){0};
    char sign = '\0';
    for (int i = 0; i < 3; i++) {
        if (i > 0 && cell->at == cell->end)
            return false;
        const bool joined = i == 1 ? is_letter(*cell->at) : sign == '\0';
        if (i > 0 && !joined && (!strchr("/.- ", *cell->at) || (i == 2 && *cell->at != sign)))
            return false;
        if (i > 0 && !joined)
            sign = *cell->at++;
        if (i == 1 && cell->at < cell->end && !is_digit(*cell->at)) {
            parts->number[1] = read_month(cell);
            parts->digits[1] = 2;
            parts->named = true;
        } else {
            parts->digits[i] = read_digits(cell, &parts->number[i]);
        }
        if (parts->digits[i] == 0 || parts->digits[i] == 3 || (i == 1 && parts->digits[1] > 2))
            return false;
    }
    return sign != ' ' || parts->named;
}

static bool days_of(int year, int month, int day, int64_t *days)
{
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month))
        return false;
    *days = days_of_civil((struct civil){year, month, day});
    return true;
}

/* The year of two digits, which is one only where the order is stated: from 1969 to 2068, as in POSIX. */
static int year_of(int number, int digits)
{
    return digits == 4 ? number : number + (number < 69 ? 2000 : 1900);
}

/* Whether the parts are a date in this order. */
static bool is_in_order(const struct table *table, const struct date_parts *parts, unsigned way, int64_t *days)
{
    const int *number = parts->number, *digits = parts->digits, first = way == WAY_YMD ? 0 : 2;
    const bool stated = (table->ways & WAYS_OF_DATES) == way;
    if (!(digits[first] == 4 || (digits[first] == 2 && stated)) || digits[2 - first] > 2 ||
        (parts->named && way == WAY_MDY))
        return false;
    const int year = year_of(number[first], digits[first]);
    if (way == WAY_YMD)
        return days_of(year, number[1], number[2], days);
    return way == WAY_DMY ? days_of(year, number[1], number[0], days) : days_of(year, number[0], number[1], days);
}

/* The ways of parts. */
static unsigned ways_of_parts(const struct table *table, const struct date_parts *parts, bool *differ)
{
    unsigned ways = 0;
    int64_t known = 0;
    for (unsigned way = WAY_DMY; way <= WAY_YMD; way <<= 1) {
        int64_t days;
        if (!(table->ways & way) || !is_in_order(table, parts, way, &days))
            continue;
        *differ = *differ || (ways && days != known);
        known = days;
        ways |= way;
    }
    return ways;
}

bool clock_read_in(struct cell cell, int64_t *microseconds, bool *cut)
{
    char text[32];
    int hour;
    const struct cell whole = cell;
    const int digits = read_digits(&cell, &hour);
    *cut = false;
    if ((digits != 1 && digits != 2) || cell.at == cell.end || *cell.at != ':' || cell.end - cell.at > 24)
        return false;
    const size_t length = (size_t)(whole.end - whole.at);
    const bool half = length > 3 && (whole.end[-1] | 32) == 'm' && strchr("apAP", whole.end[-2]);
    if (half) {
        if (hour < 1 || hour > 12)
            return false;
        hour = hour % 12 + ((whole.end[-2] | 32) == 'p' ? 12 : 0);
        cell.end -= 2;
        cell.end -= cell.end[-1] == ' ';
    }
    text[0] = (char)('0' + hour / 10);
    text[1] = (char)('0' + hour % 10);
    memcpy(text + 2, cell.at, (size_t)(cell.end - cell.at));
    return clock_read(text, text + 2 + (cell.end - cell.at), microseconds, cut);
}

bool date_read_in(const struct table *table, struct cell cell, unsigned way, int64_t *days)
{
    struct date_parts parts;
    return read_parts(&cell, &parts) && cell.at == cell.end && is_in_order(table, &parts, way, days);
}

bool moment_read_in(const struct table *table, struct cell cell, unsigned way, int64_t *microseconds, bool *cut)
{
    struct date_parts parts;
    int64_t days, clock;
    if (!read_parts(&cell, &parts) || cell.at == cell.end || (*cell.at != ' ' && *cell.at != 'T') ||
        !is_in_order(table, &parts, way, &days))
        return false;
    cell.at++;
    if (!clock_read_in(cell, &clock, cut))
        return false;
    *microseconds = days * DAY_US + clock;
    return true;
}

struct ways ways_of_time(const struct table *table, struct cell cell)
{
    struct ways ways = {.value_class = CLASS_TEXT};
    struct date_parts parts;
    int64_t clock;
    bool cut;
    if (cell.at == cell.end || cell.end - cell.at > 64)
        return ways;
    if (clock_read_in(cell, &clock, &cut)) {
        ways.value_class = CLASS_CLOCK;
        ways.ways = ~0u;
        return ways;
    }
    if (!read_parts(&cell, &parts))
        return ways;
    const bool date = cell.at == cell.end;
    if (!date && *cell.at != ' ' && *cell.at != 'T')
        return ways;
    cell.at += !date;
    if (!date && !clock_read_in(cell, &clock, &cut))
        return ways;
    ways.ways = ways_of_parts(table, &parts, &ways.differ);
    if (ways.ways)
        ways.value_class = date ? CLASS_ORDERED : CLASS_MOMENT;
    return ways;
}
