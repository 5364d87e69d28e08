#include "parser/literal.h"

#include "base/time/calendar.h"
#include "base/utf8.h"
#include "parser/grammar.h"

#include <string.h>
#include <strings.h>

static const char time_form[] = "a timestamp is written 2024-01-31T09:30, then :00, :00.25, Z or +01:00 as needed";

/* Digits at fixed places, which the lexer has checked. */
static int digits_at(const char *text, size_t count)
{
    int value = 0;
    for (size_t i = 0; i < count; i++)
        value = value * 10 + (text[i] - '0');
    return value;
}

static const char *month_name(int month)
{
    static const char *const names[] = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};
    return names[month - 1];
}

/* The days since 1970-01-01 of the date at the start of the lexeme. */
static bool read_days(const struct token_reader *r, int64_t *days)
{
    const struct civil civil = {digits_at(r->text, 4), digits_at(r->text + 5, 2), digits_at(r->text + 8, 2)};
    struct span span = token_reader_span(r);
    span.end = span.begin + (uint32_t)strlen("2024-01-31");

    if (civil.year < 1)
        diag_error(r->diags, span, "there is no year %04d", (int)civil.year);
    else if (civil.month < 1 || civil.month > 12)
        diag_error(r->diags, span, "there is no month %02d", civil.month);
    else if (civil.day < 1 || civil.day > days_of_month(civil.year, civil.month))
        diag_error(r->diags, span, "there is no %d %s %d", civil.day, month_name(civil.month), (int)civil.year);
    else {
        *days = days_of_civil(civil);
        return true;
    }
    diag_hint(r->diags, "dates are written 2024-01-31, year, month and day; for a subtraction write spaces");
    return false;
}

bool literal_date(const struct token_reader *r, struct token *token)
{
    return read_days(r, &token->value.integer);
}

static bool no_time(const struct token_reader *r, size_t at, size_t length, const char *most)
{
    struct span span = token_reader_span(r);
    span.begin += (uint32_t)at;
    span.end = span.begin + (uint32_t)length;
    diag_error(r->diags, span, "there is no %.*s in a timestamp: the limit is %s", (int)length, r->text + at, most);
    diag_hint(r->diags, "%s", time_form);
    return false;
}

/* The microseconds that a zone is ahead of UTC. */
static bool read_zone(const struct token_reader *r, size_t at, int64_t *ahead)
{
    enum { MINUTE_SECONDS = 60, HOUR_MINUTES = 60 };
    if (r->text[at] == 'Z')
        return true;
    int hour = digits_at(r->text + at + 1, 2), minute = digits_at(r->text + at + 4, 2);
    if (hour > 23 || minute > 59)
        return no_time(r, at, r->length - at, "+23:59");
    *ahead = INT64_C(1000000) * MINUTE_SECONDS * (hour * HOUR_MINUTES + minute);
    *ahead = r->text[at] == '-' ? -*ahead : *ahead;
    return true;
}

bool literal_timestamp(const struct token_reader *r, struct token *token)
{
    enum { TIME = 11, SECOND = 17, FRACTION = 20 };
    int64_t days;
    if (!read_days(r, &days))
        return false;

    int hour = digits_at(r->text + TIME, 2), minute = digits_at(r->text + TIME + 3, 2), second = 0;
    int64_t microseconds = 0;
    size_t at = TIME + 5;
    if (at < r->length && r->text[at] == ':') {
        second = digits_at(r->text + SECOND, 2);
        at = SECOND + 2;
    }
    if (hour > 23 || minute > 59 || second > 59)
        return no_time(r, TIME, at - TIME, "23:59:59");
    if (at < r->length && r->text[at] == '.') {
        int64_t unit = 100000;
        for (at = FRACTION; at < r->length && r->text[at] >= '0' && r->text[at] <= '9'; at++, unit /= 10)
            microseconds += unit * (r->text[at] - '0');
    }
    int64_t ahead = 0;
    token->utc = at < r->length;
    if (token->utc && !read_zone(r, at, &ahead))
        return false;
    microseconds += INT64_C(1000000) * (hour * 3600 + minute * 60 + second);
    token->value.integer = days * DAY_US + microseconds - ahead;
    return true;
}

void literal_bad_time(const struct token_reader *r)
{
    const char *time = memchr(r->text, 'T', r->length);
    diag_error(r->diags, token_reader_span(r), "`%s` is not a %s", token_reader_shown(r), time ? "timestamp" : "date");
    const char *point = time ? memchr(time, '.', r->length - (size_t)(time - r->text)) : NULL;
    if (point && strspn(point + 1, "0123456789") > 6)
        diag_hint(r->diags, "timestamps have microseconds: at most 6 digits after the point");
    else if (time)
        diag_hint(r->diags, "%s", time_form);
    else
        diag_hint(r->diags, "dates are written 2024-01-05; for a subtraction write spaces");
}

static const struct unit {
    const char *text;
    int64_t size; /* microseconds, or months */
} units[] = {
    {"us", 1},
    {"ms", 1000},
    {"s", 1000000},
    {"min", INT64_C(60) * 1000000},
    {"h", INT64_C(3600) * 1000000},
    {"d", INT64_C(86400) * 1000000},
    {"w", INT64_C(7) * 86400 * 1000000},
    {"mo", 1},
    {"q", 3},
    {"y", 12},
};

bool literal_duration(const struct token_reader *r, struct token *token)
{
    int64_t value = 0;
    bool overflow = false;
    size_t at = 0;
    for (; (r->text[at] >= '0' && r->text[at] <= '9') || r->text[at] == '_'; at++) {
        if (r->text[at] == '_')
            continue;
        overflow = overflow || __builtin_mul_overflow(value, 10, &value) ||
                   __builtin_add_overflow(value, r->text[at] - '0', &value);
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].text) == r->length - at && memcmp(units[i].text, r->text + at, r->length - at) == 0)
            overflow = overflow || __builtin_mul_overflow(value, units[i].size, &value);
    }
    token->value.integer = value;
    if (!overflow)
        return true;
    diag_error(r->diags, token_reader_span(r), "the duration %s does not fit in 64 bits", token_reader_shown(r));
    diag_hint(r->diags, r->lexeme->kind == TOKEN_DURATION ? "durations are microseconds and go up to 106751991d"
                                                          : "`mo`, `q` and `y` are counted in months");
    return false;
}

const char *literal_unit_advice(const char *text, size_t length)
{
    static const char *const spelled[] = {
        "us",  "usec", "ms",       "msec",  "seconds",     "secs",         "minutes",      "mins", "hours",
        "hr",  "hrs",  "days",     "weeks", "wk",          "wks",          "months",       "qs",   "years",
        "yrs", "yr",   "quarters", "ns",    "nanoseconds", "milliseconds", "microseconds", "mos"};
    size_t begin = 0;
    while (begin < length && ((text[begin] >= '0' && text[begin] <= '9') || text[begin] == '_'))
        begin++;
    const bool fraction = begin + 1 < length && text[begin] == '.';
    if (fraction)
        begin += 1 + strspn(text + begin + 1, "0123456789_");
    size_t letters = 0;
    while (begin + letters < length && text[begin + letters] > '9')
        letters++;
    for (size_t i = 0; letters > 0 && i < sizeof spelled / sizeof *spelled; i++) {
        if (letters > strlen(spelled[i]) || strncasecmp(text + begin, spelled[i], letters) != 0)
            continue;
        if (begin + letters < length)
            return "durations are added: `1h + 30min`";
        if (fraction)
            return "durations are whole numbers: `90min`, not `1.5h`";
        return "durations are written 10us, 250ms, 90s, 15min, 4h, 2d, 1w; calendar steps 1mo, 2q, 1y";
    }
    return NULL;
}

/* Decodes the code point of \u{...}, whose `u` is at r->text[*at]; moves *at behind it. */
static bool read_code_point(const struct token_reader *r, size_t *at, char *text, size_t *length)
{
    uint32_t code = 0;
    size_t end = *at + 1;
    const bool open = r->text[end] == '{';
    for (end += open; open && code <= 0x10ffff; end++) {
        const unsigned digit = (unsigned char)r->text[end];
        const bool decimal = digit >= '0' && digit <= '9';
        if (!decimal && !((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f'))
            break;
        code = code * 16 + (decimal ? digit - '0' : (digit | 0x20) - 'a' + 10);
    }
    const bool whole = open && r->text[end] == '}' && end > *at + 2;
    const bool valid = whole && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    if (valid) {
        *length += utf8_encode(code, text + *length);
        *at = end + 1;
        return true;
    }
    struct span span = token_reader_span(r);
    span.begin += (uint32_t)*at - 1;
    span.end = span.begin + (uint32_t)(end - *at + 1 + whole);
    diag_error(r->diags, span, "this escape is not a character");
    diag_hint(r->diags, "a character by its number in hexadecimal: \\u{e9}, \\u{1f600}");
    return false;
}

static bool read_escape(const struct token_reader *r, size_t *at, char *text, size_t *length)
{
    static const char escapes[] = "\"\"\\\\n\nt\t";
    const char escape = r->text[*at];
    if (escape == 'u')
        return read_code_point(r, at, text, length);
    for (const char *pair = escapes; *pair; pair += 2) {
        if (*pair == escape) {
            text[(*length)++] = pair[1];
            ++*at;
            return true;
        }
    }
    uint32_t code;
    const size_t size = utf8_decode(r->text + *at, r->length - *at, &code);
    struct span span = token_reader_span(r);
    span.begin += (uint32_t)*at - 1;
    span.end = span.begin + 1 + (uint32_t)size;
    struct lexeme lexeme = {.begin = span.begin, .end = span.end};
    diag_error(r->diags, span, "unknown escape `%s`", token_shown(r->source, lexeme, r->arena));
    diag_hint(r->diags, "the escapes are \\\" \\\\ \\n \\t \\u{e9}; within single quotes a backslash is a character");
    return false;
}

bool literal_text(const struct token_reader *r, struct token *token)
{
    if (!token_reader_is_text(r))
        return false;
    /* An escape is never shorter than what it stands for. */
    char *text = arena_alloc(r->arena, r->length);
    size_t length = 0;
    const bool escapes = r->text[0] == '"';
    for (size_t at = 1; at + 1 < r->length;) {
        if (!escapes || r->text[at] != '\\') {
            text[length++] = r->text[at++];
            continue;
        }
        at++;
        if (!read_escape(r, &at, text, &length))
            return false;
    }
    token->value.text = text;
    token->length = (uint32_t)length;
    return true;
}

bool literal_decimal(const char *text, size_t length, int64_t *digits, uint8_t *scale)
{
    const int64_t most = INT64_C(100000000000000000); /* of 18 digits, without the last */
    bool point = false;
    *digits = 0;
    *scale = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '_')
            continue;
        if (text[i] == '.') {
            point = true;
            continue;
        }
        if (text[i] < '0' || text[i] > '9' || *digits >= most || (point && *scale == 18))
            return false;
        *digits = *digits * 10 + (text[i] - '0');
        *scale = (uint8_t)(*scale + point);
    }
    return true;
}
