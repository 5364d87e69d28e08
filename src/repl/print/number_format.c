#include "repl/print/number_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MIN_GROUPED = 5 };

/* Digits between the sign and the point; 0 if it is not a plain number. */
static size_t leading_digits(const char *number, size_t length)
{
    const size_t sign = length > 0 && *number == '-';
    size_t count = 0;
    while (sign + count < length && number[sign + count] >= '0' && number[sign + count] <= '9')
        count++;
    return memchr(number, 'e', length) ? 0 : count;
}

bool number_format_are_many(const char *number, size_t length)
{
    return leading_digits(number, length) >= MIN_GROUPED;
}

void number_format_group(struct strbuf *out, const char *number, size_t length)
{
    size_t left = leading_digits(number, length);
    size_t at = length > 0 && *number == '-';
    strbuf_add(out, number, at);
    for (; left > 0; left--) {
        strbuf_putc(out, number[at++]);
        if (left > 1 && (left - 1) % 3 == 0)
            strbuf_putc(out, ',');
    }
    strbuf_add(out, number + at, length - at);
}

void number_format_group_int(struct strbuf *out, int64_t integer)
{
    char digits[32];
    const int length = snprintf(digits, sizeof digits, "%lld", (long long)integer);
    number_format_group(out, digits, (size_t)length);
}

void number_format_int(struct strbuf *out, int64_t integer, bool separators)
{
    if (separators)
        number_format_group_int(out, integer);
    else
        strbuf_printf(out, "%lld", (long long)integer);
}

void number_format_in_words(struct strbuf *out, double number)
{
    static const char *const names[] = {"million", "billion", "trillion", "quadrillion", "quintillion"};
    const double size = fabs(number);
    if (!(size >= 1e6) || size >= 1e21)
        return;
    size_t name = 0;
    double script = 1e6;
    while (size >= 999.995 * script && name + 1 < sizeof names / sizeof *names) {
        script *= 1000;
        name++;
    }
    strbuf_printf(out, "%.2f %s", number / script, names[name]);
}

void number_format_short(struct strbuf *out, double number)
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P"};
    size_t script = 0;
    while (number >= 999.5 && script + 1 < sizeof units / sizeof *units) {
        number /= 1000;
        script++;
    }
    strbuf_printf(out, script == 0 || number >= 99.95 ? "%.0f%s" : "%.1f%s", number, units[script]);
}
