/* The rule of a zone, which has one change to daylight saving time and one back in each year. */
#include "base/text.h"
#include "base/time/calendar.h"
#include "base/time/time_zone_file.h"

enum { LAST_YEAR = 9999, HOUR = 3600, DAY = 86400 };

/* A day of each year: Jn is day n from 1 where February 29 does not count, n day n from 0, and Mm.w.d day d (0: Sunday)
 * in week w of month m, of which 5 is the last. */
struct yearly {
    char form; /* 'J', 'D' or 'M' */
    int day, week, month;
    int64_t time; /* seconds after its midnight, may be negative or of later days */
};

struct rule {
    int64_t offset, saving_offset; /* seconds ahead of UTC */
    const char *name, *saving_name;
    bool saves; /* there are the two changes */
    struct yearly begin, end;
};

struct reader {
    const char *at;
    struct arena *arena;
};

static bool accept(struct reader *in, char c)
{
    if (*in->at != c)
        return false;
    in->at++;
    return true;
}

static bool read_number(struct reader *in, int most, int *number)
{
    if (!is_digit(*in->at))
        return false;
    for (*number = 0; is_digit(*in->at); in->at++) {
        *number = *number * 10 + (*in->at - '0');
        if (*number > most)
            return false;
    }
    return true;
}

/* h, h:mm or h:mm:ss with a sign. */
static bool read_time(struct reader *in, int64_t *seconds)
{
    int parts[3] = {0};
    const bool negative = accept(in, '-');
    if (!negative)
        (void)accept(in, '+');
    if (!read_number(in, 167, &parts[0]))
        return false;
    for (int k = 1; k < 3 && accept(in, ':'); k++) {
        if (!read_number(in, 59, &parts[k]))
            return false;
    }
    *seconds = parts[0] * HOUR + parts[1] * 60 + parts[2];
    if (negative)
        *seconds = -*seconds;
    return true;
}

/* CET or <+03>. */
static bool read_name(struct reader *in, const char **name)
{
    const bool quoted = accept(in, '<');
    const char *begin = in->at;
    while (quoted ? *in->at != '>' && *in->at != '\0'
                  : (*in->at >= 'A' && *in->at <= 'Z') || (*in->at >= 'a' && *in->at <= 'z'))
        in->at++;
    *name = arena_text(in->arena, begin, (size_t)(in->at - begin));
    return in->at > begin && (!quoted || accept(in, '>'));
}

static bool read_yearly(struct reader *in, struct yearly *yearly)
{
    bool read;
    if (accept(in, 'M')) {
        yearly->form = 'M';
        read = read_number(in, 12, &yearly->month) && yearly->month > 0 && accept(in, '.') &&
               read_number(in, 5, &yearly->week) && yearly->week > 0 && accept(in, '.') &&
               read_number(in, 6, &yearly->day);
    } else {
        yearly->form = accept(in, 'J') ? 'J' : 'D';
        read = read_number(in, 365, &yearly->day) && (yearly->form == 'D' || yearly->day > 0);
    }
    yearly->time = 2 * HOUR;
    return read && (!accept(in, '/') || read_time(in, &yearly->time));
}

static bool read_rule(struct reader *in, struct rule *rule)
{
    if (!read_name(in, &rule->name) || !read_time(in, &rule->offset))
        return false;
    rule->offset = -rule->offset;
    rule->saves = *in->at != '\0';
    if (!rule->saves)
        return true;
    if (!read_name(in, &rule->saving_name))
        return false;
    rule->saving_offset = rule->offset + HOUR;
    if (*in->at != ',') {
        if (!read_time(in, &rule->saving_offset))
            return false;
        rule->saving_offset = -rule->saving_offset;
    }
    return accept(in, ',') && read_yearly(in, &rule->begin) && accept(in, ',') && read_yearly(in, &rule->end) &&
           *in->at == '\0';
}

static int64_t day_in_year(const struct yearly *yearly, int64_t year)
{
    const int64_t new_year = days_of_civil((struct civil){year, 1, 1});
    if (yearly->form == 'D')
        return new_year + yearly->day;
    if (yearly->form == 'J')
        return new_year + yearly->day - 1 + (yearly->day >= 60 && days_of_month(year, 2) == 29);
    const int64_t first = days_of_civil((struct civil){year, yearly->month, 1});
    const int weekday = (int)(((first + 4) % 7 + 7) % 7); /* 1970-01-01 is a Thursday */
    int day = (yearly->day - weekday + 7) % 7 + 7 * (yearly->week - 1);
    if (day >= days_of_month(year, yearly->month))
        day -= 7;
    return first + day;
}

/* When the change is in this year: its time of day is one of clocks that show `offset`. */
static int64_t time_in_year(const struct yearly *yearly, int64_t year, int64_t offset)
{
    return day_in_year(yearly, year) * DAY + yearly->time - offset;
}

static void add_after(struct time_zone_changes *changes, int64_t begin, int64_t offset, const char *name)
{
    const struct time_zone_change *last = &changes->at[changes->count - 1];
    if (begin > last->begin)
        time_zone_add_change(changes, (struct time_zone_change){begin, offset, name});
}

bool time_zone_rule_read(const char *text, struct time_zone_changes *changes)
{
    struct reader in = {text, changes->arena};
    struct rule rule = {0};
    if (!read_rule(&in, &rule))
        return false;
    const int64_t since = changes->at[changes->count - 1].begin;
    if (!rule.saves) {
        if (since == INT64_MIN) /* nothing else is known */
            changes->at[0] = (struct time_zone_change){INT64_MIN, rule.offset, rule.name};
        return true;
    }
    const int64_t first_day = since == INT64_MIN ? FIRST_DAY : since / DAY;
    for (int64_t year = civil_of_days(first_day).year; year <= LAST_YEAR; year++) {
        const int64_t begin = time_in_year(&rule.begin, year, rule.offset);
        const int64_t end = time_in_year(&rule.end, year, rule.saving_offset);
        if (begin < end)
            add_after(changes, begin, rule.saving_offset, rule.saving_name);
        add_after(changes, end, rule.offset, rule.name);
        if (begin > end)
            add_after(changes, begin, rule.saving_offset, rule.saving_name);
    }
    return true;
}
