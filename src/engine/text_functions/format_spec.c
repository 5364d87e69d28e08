/* Specs of fields, as Python's format specification mini-language. Where that goes through floats, integers and
 * decimals stay exact. */
#include "engine/text_functions/text_format.h"

#include "engine/text_functions/text_call.h"

#include "base/heap.h"
#include "base/number_text.h"
#include "base/text.h"
#include "base/time/calendar.h"
#include "base/time/time_format.h"
#include "base/time/time_zone.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WIDTH = 10000, MOST_PRECISION = 100, NUMBER_BYTES = 512 };

static bool is_align(char c)
{
    return c == '<' || c == '>' || c == '^' || c == '=';
}

/* A number below `most`; -1 if there is none. */
static bool read_number(const char **at, const char *end, int most, int *number)
{
    const char *first = *at;
    int value = 0;
    for (; *at < end && **at >= '0' && **at <= '9' && value <= most; (*at)++)
        value = value * 10 + (**at - '0');
    *number = *at > first ? value : -1;
    return value <= most;
}

/* Which types a value has, for messages; what they are. */
static const char *types_of(const struct format_argument *argument, const char **noun)
{
    switch (argument->logical.kind) {
    case LOGICAL_TEXT:
        *noun = "text";
        return "s";
    case LOGICAL_DATE:
    case LOGICAL_TIMESTAMP:
    case LOGICAL_DURATION:
        *noun = "a date or time, which has formats such as {:%Y-%m-%d}";
        return "s";
    case LOGICAL_DECIMAL:
        *noun = "a decimal";
        return "feEFgG%";
    case LOGICAL_LIST:
        *noun = "a list";
        return "s";
    case LOGICAL_NUMBER:
        break;
    }
    *noun = argument->kind == KIND_FLOAT ? "a float" : argument->kind == KIND_BOOL ? "a condition" : "an integer";
    return argument->kind == KIND_FLOAT ? "feEFgG%" : argument->kind == KIND_BOOL ? "sdxXob" : "dxXobfeEFgG%";
}

/* Whether the value is written as text: aligned to the left, and cut. */
static bool is_textual(const struct format_argument *argument, const struct format_spec *spec)
{
    return argument->logical.kind == LOGICAL_TEXT || logical_is_time(argument->logical) ||
           (argument->kind == KIND_BOOL && !is_among("dxXob", spec->type));
}

static const char *check(const struct format_argument *argument, const struct format_spec *spec, struct arena *arena)
{
    const char *noun, *types = types_of(argument, &noun);
    const bool textual = is_textual(argument, spec);
    const bool whole = argument->kind == KIND_INT && argument->logical.kind == LOGICAL_NUMBER &&
                       (spec->type == '\0' || is_among("dxXob", spec->type));
    if (spec->type != '\0' && !is_among(types, spec->type))
        return arena_printf(arena, "type `%c` does not fit %s", spec->type, noun);
    if (textual && (spec->align == '=' || spec->sign != '\0' || spec->grouping != '\0' || spec->alternate))
        return arena_printf(arena, "a sign, `=`, `#` and `,` are for numbers, not for %s", noun);
    if (whole && spec->precision >= 0)
        return "a precision is for floats, decimals and text; `{:.2f}` writes an integer with decimals";
    if (is_among("xXob", spec->type) && spec->grouping == ',')
        return "hexadecimal, octal and binary digits are grouped by `_`";
    return NULL;
}

bool format_spec_read(struct text written, const struct format_argument *argument, struct format_spec *spec,
                      struct arena *arena, const char **wrong)
{
    const char *at = written.at, *end = at + written.length;
    *spec = (struct format_spec){.width = -1, .precision = -1};
    if (logical_is_time(argument->logical) && memchr(at, '%', written.length)) {
        const enum logical kind = argument->logical.kind;
        spec->time = written;
        *wrong = time_format_check_written(written, kind == LOGICAL_DATE       ? FORMAT_OF_DATE
                                                    : kind == LOGICAL_DURATION ? FORMAT_OF_CLOCK
                                                                               : FORMAT_OF_TIMESTAMP);
        return !*wrong;
    }
    const size_t first = first_code_point(written);
    if (written.length > first && is_align(at[first])) {
        memcpy(spec->fill, at, first);
        spec->fill_length = first;
        spec->align = at[first];
        at += first + 1;
    } else if (is_align(*at)) {
        spec->align = *at++;
    }
    if (at < end && (*at == '+' || *at == '-' || *at == ' ')) {
        spec->sign = *at == '-' ? '\0' : *at;
        at++;
    }
    spec->alternate = at < end && *at == '#';
    at += spec->alternate;
    if (at < end && *at == '0') { /* that is a fill of zeros behind the sign */
        if (spec->fill_length == 0) {
            spec->fill[0] = '0';
            spec->fill_length = 1;
        }
        if (spec->align == '\0' && argument->logical.kind != LOGICAL_TEXT && !logical_is_time(argument->logical))
            spec->align = '=';
        at++;
    }
    bool fits = read_number(&at, end, MOST_WIDTH, &spec->width);
    if (at < end && (*at == ',' || *at == '_'))
        spec->grouping = *at++;
    if (at < end && *at == '.') {
        at++;
        fits = read_number(&at, end, argument->logical.kind == LOGICAL_TEXT ? MOST_WIDTH : MOST_PRECISION,
                           &spec->precision) &&
               fits;
        if (spec->precision < 0) {
            *wrong = "a precision follows the point, as in {:.2f}";
            return false;
        }
    }
    if (at < end)
        spec->type = *at++;
    if (!fits)
        *wrong = arena_printf(arena, "a width is at most %d, the precision of a number %d", MOST_WIDTH, MOST_PRECISION);
    else if (at < end)
        *wrong = arena_printf(arena, "`%.*s` is no format: [[fill]align][sign][#][0][width][,][.precision][type]",
                              (int)written.length, written.at);
    else
        *wrong = check(argument, spec, arena);
    spec->whole = argument->kind == KIND_INT && argument->logical.kind == LOGICAL_NUMBER &&
                  (spec->type == '\0' || spec->type == 'd') && spec->grouping == '\0' && spec->sign == '\0' &&
                  spec->fill_length <= 1 && spec->align != '<' && spec->align != '^';
    return !*wrong;
}

static void add_fill(const struct format_spec *spec, int64_t count, struct strbuf *out)
{
    for (int64_t k = 0; k < count; k++) {
        if (spec->fill_length == 0)
            strbuf_putc(out, ' ');
        else
            strbuf_add(out, spec->fill, spec->fill_length);
    }
}

/* Appends `prefix` and `body`, which has so many code points, in the width; `align` is that of the type. */
static void add_aligned(const struct format_spec *spec, char align, struct text prefix, struct text body,
                        struct strbuf *out)
{
    const int64_t length = (int64_t)prefix.length + count_code_points(body), missing = spec->width - length;
    if (spec->align != '\0')
        align = spec->align;
    if (missing > 0 && (align == '>' || align == '^'))
        add_fill(spec, align == '^' ? missing / 2 : missing, out);
    strbuf_add(out, prefix.at, prefix.length);
    if (missing > 0 && align == '=')
        add_fill(spec, missing, out);
    strbuf_add(out, body.at, body.length);
    if (missing > 0 && (align == '<' || align == '^'))
        add_fill(spec, align == '^' ? missing - missing / 2 : missing, out);
}

/* The number of digits, zeros before them included, that fill `width` with the separators between them. */
static int64_t grouped_digits(int64_t count, int size, int64_t width)
{
    while (count + (count - 1) / size < width)
        count++;
    return count;
}

/* Writes `all` digits with separators between groups, zeros before those that there are; returns the end. */
static char *write_grouped(char *at, struct text digits, int64_t all, char grouping, int size)
{
    const int64_t count = (int64_t)digits.length;
    for (int64_t left = all; left > 0; left--) {
        *at++ = left > count ? '0' : digits.at[count - left];
        if (left > 1 && (left - 1) % size == 0)
            *at++ = grouping;
    }
    return at;
}

/* A number whose digits are written: `whole` before the point, and all. */
static void add_number(const struct format_spec *spec, bool negative, const char *base, struct text digits,
                       size_t whole, struct strbuf *out)
{
    char prefix[4], short_body[2 * NUMBER_BYTES], *body = short_body;
    size_t length = 0;
    if (negative || spec->sign != '\0')
        prefix[length++] = negative ? '-' : spec->sign;
    for (; *base; base++)
        prefix[length++] = *base;
    if (spec->grouping == '\0' || is_among("inIN", digits.at[0])) { /* inf and nan have no groups */
        add_aligned(spec, '>', (struct text){prefix, length}, digits, out);
        return;
    }
    const bool zeros = spec->align == '=' && spec->fill_length == 1 && spec->fill[0] == '0';
    const int size = is_among("xXob", spec->type) ? 4 : 3;
    const size_t rest = digits.length - whole;
    const int64_t width = zeros ? spec->width - (int64_t)length - (int64_t)rest : 0;
    const int64_t all = grouped_digits((int64_t)whole, size, width);
    const size_t most = (size_t)(2 * all) + rest;
    if (most > sizeof short_body)
        body = heap_array(most, 1);
    char *end = write_grouped(body, (struct text){digits.at, whole}, all, spec->grouping, size);
    memcpy(end, digits.at + whole, rest);
    add_aligned(spec, '>', (struct text){prefix, length}, (struct text){body, (size_t)(end - body) + rest}, out);
    if (body != short_body)
        free(body);
}

/* Decimal digits, to the right. */
static void write_whole(const struct format_spec *spec, int64_t value, struct strbuf *out)
{
    const bool negative = value < 0;
    const uint64_t size = negative ? 0 - (uint64_t)value : (uint64_t)value;
    const int digits = digit_count(size), filled = spec->width - digits - negative;
    char *at = strbuf_reserve(out, NUMBER_TEXT + (filled > 0 ? (size_t)filled : 0)), *begin = at;
    if (negative && spec->align == '=')
        *at++ = '-';
    if (filled > 0)
        at = (char *)memset(at, spec->fill_length > 0 ? spec->fill[0] : ' ', (size_t)filled) + filled;
    if (negative && spec->align != '=')
        *at++ = '-';
    (void)format_digits(at + digits, size);
    strbuf_commit(out, (size_t)(at + digits - begin));
}

static void write_int(const struct format_spec *spec, int64_t value, struct strbuf *out)
{
    const unsigned base = spec->type == 'x' || spec->type == 'X' ? 16
                          : spec->type == 'o'                    ? 8
                          : spec->type == 'b'                    ? 2
                                                                 : 10;
    const char *letters = spec->type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    const char *prefix = !spec->alternate ? ""
                         : base == 16     ? (spec->type == 'X' ? "0X" : "0x")
                         : base == 8      ? "0o"
                         : base == 2      ? "0b"
                                          : "";
    char digits[72];
    char *end = digits + sizeof digits, *at = end;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        *--at = letters[rest % base];
    while ((rest /= base) > 0);
    add_number(spec, value < 0, prefix, (struct text){at, (size_t)(end - at)}, (size_t)(end - at), out);
}

/* The digits of a non-negative number, of which the point is found. */
static void add_digits(const struct format_spec *spec, bool negative, const char *text, size_t length,
                       struct strbuf *out)
{
    size_t whole = 0;
    while (whole < length && text[whole] >= '0' && text[whole] <= '9')
        whole++;
    add_number(spec, negative, "", (struct text){text, length}, whole, out);
}

/* value / 10^scale with `precision` digits behind the point, half away from zero, and perhaps a `%`. */
static void write_exact(const struct format_spec *spec, int128 value, int scale, int precision, struct strbuf *out)
{
    char text[NUMBER_BYTES];
    uint128 magnitude = value < 0 ? 0 - (uint128)value : (uint128)value;
    const int kept = precision < scale ? precision : scale;
    uint128 unit = 1;
    for (int k = kept; k < scale; k++)
        unit *= 10;
    magnitude = (magnitude + unit / 2) / unit;
    char *at = decimal_text(text, (int128)magnitude, kept);
    if (precision > kept && kept == 0)
        *at++ = '.';
    for (int k = kept; k < precision; k++)
        *at++ = '0';
    if (spec->alternate && precision == 0)
        *at++ = '.';
    if (spec->type == '%')
        *at++ = '%';
    add_digits(spec, value < 0, text, (size_t)(at - text), out);
}

/* As %g, but with a digit behind the point, as Python writes a float with a precision and no type. */
static size_t shortened(double number, int precision, char *text)
{
    const int digits = precision == 0 ? 1 : precision;
    int length = snprintf(text, NUMBER_BYTES, "%.*e", digits - 1, number);
    char *exponent = memchr(text, 'e', (size_t)length);
    if (!exponent)
        return (size_t)length;
    int power = 0;
    (void)sscanf(exponent + 1, "%d", &power);
    if (power + 1 <= digits - 1 && power >= -4) {
        length = snprintf(text, NUMBER_BYTES, "%.*f", digits - 1 - power, number);
        while (length > 2 && text[length - 1] == '0' && text[length - 2] != '.')
            length--;
        return (size_t)length;
    }
    char tail[16];
    const size_t tail_length = (size_t)(text + length - exponent);
    memcpy(tail, exponent, tail_length);
    while (exponent > text + 1 && exponent[-1] == '0' && memchr(text, '.', (size_t)(exponent - text)))
        exponent--;
    if (exponent[-1] == '.')
        exponent--;
    memcpy(exponent, tail, tail_length);
    return (size_t)(exponent - text) + tail_length;
}

/* number * 10^precision, rounded to nearest even as printf rounds; false if it is too large for that. */
static bool scaled_exactly(double number, int precision, uint64_t *scaled)
{
    enum { MOST_SCALE = 18, MANTISSA = 53, TINY = 115 };
    int exponent, shift;
    uint64_t unit = 1;
    if (precision > MOST_SCALE)
        return false;
    for (int k = 0; k < precision; k++)
        unit *= 10;
    if (!(number * (double)unit < 1e18))
        return false;
    const uint64_t mantissa = (uint64_t)ldexp(frexp(number, &exponent), MANTISSA);
    shift = MANTISSA - exponent;
    if (shift <= 0)
        return false;
    *scaled = 0;
    if (mantissa == 0 || shift > TINY) /* the product is below 2^113: less than a half */
        return true;
    const uint128 product = (uint128)mantissa * unit, half = (uint128)1 << (shift - 1);
    const uint128 rest = product & ((half << 1) - 1);
    *scaled = (uint64_t)(product >> shift);
    *scaled += rest > half || (rest == half && (*scaled & 1));
    return true;
}

static void write_float(const struct format_spec *spec, double number, struct strbuf *out)
{
    char text[NUMBER_BYTES], form[8] = "%";
    const bool percent = spec->type == '%', negative = signbit(number) && !isnan(number);
    double size = fabs(number);
    if (percent)
        size *= 100;
    const bool fixed = (spec->type == 'f' || percent) && !spec->alternate;
    const int precision = spec->precision < 0 ? 6 : spec->precision;
    size_t length;
    uint64_t scaled;
    if (fixed && scaled_exactly(size, precision, &scaled)) {
        length = (size_t)(decimal_text(text, (int128)scaled, precision) - text);
        if (percent)
            text[length++] = '%';
    } else if (spec->type == '\0' && spec->precision < 0) {
        length = (size_t)(float_text(text, size) - text);
    } else if (spec->type == '\0') {
        length = shortened(size, spec->precision, text);
    } else {
        size_t k = 1;
        if (spec->alternate)
            form[k++] = '#';
        form[k++] = '.';
        form[k++] = '*';
        form[k] = percent ? 'f' : spec->type;
        const char *const template = form;
        length = (size_t)snprintf(text, sizeof text - 1, template, precision, size);
        if (percent)
            text[length++] = '%';
    }
    add_digits(spec, negative, text, length, out);
}

/* The first `most` code points. */
static struct text cut(struct text text, int most)
{
    size_t length = 0;
    for (int k = 0; k < most && length < text.length; k++)
        length += first_code_point((struct text){text.at + length, text.length - length});
    return (struct text){text.at, length};
}

/* Of a date, a timestamp or a duration, whose hours may be more than a day's. */
static void write_time(const struct scalar *value, struct time_writer *times, struct strbuf *out)
{
    int64_t number = (int64_t)value->integer;
    struct time_written time = {.days = number};
    if (value->logical.kind == LOGICAL_DURATION) {
        if (number < 0)
            strbuf_putc(out, '-');
        time = (struct time_written){.clock = number == INT64_MIN ? INT64_MAX : number < 0 ? -number : number};
    } else if (value->logical.kind == LOGICAL_TIMESTAMP) {
        const struct time_zone *zone = value->logical.zone;
        if (zone) {
            const int64_t interval = time_interval(&zone->utc, number);
            time.ahead = zone->offsets[interval];
            time.zone = zone->abbreviations[interval];
            if (__builtin_add_overflow(number, time.ahead, &number)) {
                number = (int64_t)value->integer;
                time.ahead = 0;
                time.zone = time_zone_utc.name;
            }
        }
        time.days = number / DAY_US - (number % DAY_US < 0);
        time.clock = ((number % DAY_US) + DAY_US) % DAY_US;
    }
    time_writer_add(times, out, &time);
}

void format_spec_write(const struct format_spec *spec, const struct scalar *value, struct time_writer *times,
                       struct strbuf *out)
{
    const struct format_argument argument = {value->kind, value->logical};
    if (spec->time.length > 0) {
        write_time(value, times, out);
    } else if (spec->whole) {
        write_whole(spec, (int64_t)value->integer, out);
    } else if (is_textual(&argument, spec)) {
        struct text body = value->text;
        char text[LOGICAL_TEXT_BYTES];
        if (value->kind == KIND_BOOL)
            body = value->integer != 0 ? (struct text){"true", 4} : (struct text){"false", 5};
        else if (value->logical.kind != LOGICAL_TEXT)
            body = (struct text){text, (size_t)(logical_text(text, value->logical, (int64_t)value->integer) - text)};
        add_aligned(spec, '<', (struct text){"", 0}, spec->precision >= 0 ? cut(body, spec->precision) : body, out);
    } else if (value->kind == KIND_FLOAT) {
        write_float(spec, value->number, out);
    } else if (spec->type == '\0' && value->logical.kind == LOGICAL_NUMBER) {
        write_int(spec, (int64_t)value->integer, out);
    } else if (is_among("dxXob", spec->type)) {
        write_int(spec, (int64_t)value->integer, out);
    } else {
        const int scale = value->logical.kind == LOGICAL_DECIMAL ? value->logical.scale : 0;
        int64_t unit = 1;
        for (int k = 0; k < scale; k++)
            unit *= 10;
        if (is_among("eEgG", spec->type)) {
            write_float(spec, int128_quotient(value->integer, unit), out);
        } else if (spec->type == '%') {
            write_exact(spec, value->integer * 100, scale, spec->precision < 0 ? 6 : spec->precision, out);
        } else {
            const int natural = spec->type == '\0' ? scale : 6;
            write_exact(spec, value->integer, scale, spec->precision < 0 ? natural : spec->precision, out);
        }
    }
}
