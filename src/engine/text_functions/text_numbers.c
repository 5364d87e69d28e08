/* Functions of text whose results are numbers or bools. */
#include "engine/text_functions/text_call.h"

#include "base/number_text.h"
#include "base/time/calendar.h"
#include "base/time/time_format.h"

#include <string.h>

size_t first_code_point(struct text text)
{
    const unsigned char lead = (unsigned char)text.at[0];
    const size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    return size < text.length ? size : text.length;
}

const char *find_text(struct text text, struct text part)
{
    return memmem(text.at, text.length, part.at, part.length);
}

int64_t count_code_points(struct text text)
{
    int64_t count = 0;
    for (size_t k = 0; k < text.length; k++)
        count += ((unsigned char)text.at[k] & 0xc0) != 0x80;
    return count;
}

bool text_len(struct text_call *call, struct text text, int64_t *number)
{
    (void)call;
    *number = count_code_points(text);
    return true;
}

bool text_bytes(struct text_call *call, struct text text, int64_t *number)
{
    (void)call;
    *number = (int64_t)text.length;
    return true;
}

bool text_int(struct text_call *call, struct text text, int64_t *number)
{
    (void)call;
    return read_int(text.at, text.at + text.length, number) == READ_INT;
}

bool text_float(struct text_call *call, struct text text, double *real)
{
    (void)call;
    return read_float(text.at, text.at + text.length, real) == READ_FLOAT;
}

/* By the format that is the argument. */
static bool read_formatted(struct text_call *call, struct text text, struct time_read *read)
{
    if (call->pattern.format.at != call->args[0].text.at)
        call->pattern = time_pattern_of(call->args[0].text);
    return time_pattern_read(&call->pattern, text, read);
}

bool text_date(struct text_call *call, struct text text, int64_t *days)
{
    struct time_read read;
    if (call->count == 0)
        return date_read(text.at, text.at + text.length, days);
    const bool good = read_formatted(call, text, &read);
    *days = read.days;
    return good;
}

/* A date is its midnight. */
static bool read_timestamp(struct text_call *call, struct text text, int64_t *microseconds, bool *zoned, bool *cut)
{
    const char *end = text.at + text.length;
    int64_t days;
    struct time_read read;
    if (call->count > 0) {
        if (!read_formatted(call, text, &read))
            return false;
        *microseconds = read.days * DAY_US + read.clock - read.ahead;
        *zoned = read.zoned;
        *cut = read.cut;
        return is_in_years(*microseconds);
    }
    if (!date_read(text.at, end, &days))
        return timestamp_read(text.at, end, microseconds, zoned, cut);
    *microseconds = days * DAY_US;
    return true;
}

bool text_timestamp(struct text_call *call, struct text text, int64_t *microseconds)
{
    bool zoned = false, cut = false;
    if (!read_timestamp(call, text, microseconds, &zoned, &cut))
        return false;
    call->zoned += zoned;
    call->unzoned += !zoned;
    if (!zoned && call->zoned_only)
        return false;
    call->cut += cut;
    return true;
}

bool text_time(struct text_call *call, struct text text, int64_t *microseconds)
{
    struct time_read read = {0};
    const bool good = call->count > 0 ? read_formatted(call, text, &read)
                                      : clock_read(text.at, text.at + text.length, &read.clock, &read.cut);
    *microseconds = read.clock;
    call->cut += good && read.cut;
    return good;
}

const char *check_date(const struct text_argument *args, int count)
{
    return count > 0 ? time_format_check_read(args[0].text, FORMAT_OF_DATE) : NULL;
}

const char *check_timestamp(const struct text_argument *args, int count)
{
    return count > 0 ? time_format_check_read(args[0].text, FORMAT_OF_TIMESTAMP) : NULL;
}

const char *check_time(const struct text_argument *args, int count)
{
    return count > 0 ? time_format_check_read(args[0].text, FORMAT_OF_CLOCK) : NULL;
}

static bool begins_with(struct text text, struct text part)
{
    return part.length <= text.length && memcmp(text.at, part.at, part.length) == 0;
}

bool text_starts(struct text_call *call, struct text text, int64_t *truth)
{
    *truth = begins_with(text, call->args[0].text);
    return true;
}

bool text_ends(struct text_call *call, struct text text, int64_t *truth)
{
    struct text part = call->args[0].text;
    if (part.length <= text.length)
        text = (struct text){text.at + text.length - part.length, part.length};
    *truth = begins_with(text, part);
    return true;
}

bool text_contains(struct text_call *call, struct text text, int64_t *truth)
{
    *truth = find_text(text, call->args[0].text) ? 1 : 0;
    return true;
}

const char *check_like(const struct text_argument *args, int count)
{
    (void)count;
    struct text pattern = args[0].text;
    for (size_t k = 0; k < pattern.length; k++) {
        if (pattern.at[k] == '\\' && ++k == pattern.length)
            return "the pattern ends in a backslash; `\\\\` is a backslash";
    }
    return NULL;
}

/* The rest of `text` after what the pattern's first element, not `%`, matches; its length is above that of `text` if it
 * does not match. *used receives the bytes of the element. */
static struct text match_element(struct text text, struct text pattern, size_t *used)
{
    static const struct text none = {NULL, SIZE_MAX};
    const bool escaped = pattern.at[0] == '\\';
    size_t size = 1;
    *used = 1 + (size_t)escaped;
    if (pattern.at[0] == '_')
        size = first_code_point(text);
    else if (text.at[0] != pattern.at[escaped])
        return none;
    return (struct text){text.at + size, text.length - size};
}

/* The bytes with which the pattern begins that stand for themselves. */
static struct text literal_part(struct text pattern)
{
    size_t length = 0;
    while (length < pattern.length && !memchr("%_\\", pattern.at[length], 3))
        length++;
    return (struct text){pattern.at, length};
}

/* Moves on to the first place of `part`; false if there is none. */
static bool skip_to(struct text *text, struct text part)
{
    const char *at = find_text(*text, part);
    if (!at)
        return false;
    *text = (struct text){at, text->length - (size_t)(at - text->at)};
    return true;
}

bool text_equals(struct text_call *call, struct text text, int64_t *truth)
{
    const struct text other = call->args[0].text;
    *truth = text.length == other.length && memcmp(text.at, other.at, text.length) == 0;
    return true;
}

bool text_is_less(struct text_call *call, struct text text, int64_t *truth)
{
    *truth = text_compare(text, call->args[0].text) < 0;
    return true;
}

bool text_is_at_most(struct text_call *call, struct text text, int64_t *truth)
{
    *truth = text_compare(text, call->args[0].text) <= 0;
    return true;
}

/* Where an element after a `%` does not match, that `%` takes one code point more, or as many as it takes to reach the
 * literal part after it: only the last one need be tried again, since those before it have taken the least they can. */
bool text_like(struct text_call *call, struct text text, int64_t *truth)
{
    struct text pattern = call->args[0].text, retry = {NULL, 0}, after_percent = {NULL, 0}, literal = {NULL, 0};
    *truth = false;
    while (text.length > 0) {
        struct text rest = {NULL, SIZE_MAX};
        size_t used = 0;
        if (pattern.length > 0 && pattern.at[0] == '%') {
            after_percent = pattern = (struct text){pattern.at + 1, pattern.length - 1};
            literal = literal_part(after_percent);
            if (!skip_to(&text, literal))
                return true;
            retry = text;
            continue;
        }
        if (pattern.length > 0)
            rest = match_element(text, pattern, &used);
        if (rest.length <= text.length) {
            text = rest;
            pattern = (struct text){pattern.at + used, pattern.length - used};
            continue;
        }
        if (!after_percent.at)
            return true;
        const size_t size = first_code_point(retry);
        text = (struct text){retry.at + size, retry.length - size};
        if (!skip_to(&text, literal))
            return true;
        retry = text;
        pattern = after_percent;
    }
    while (pattern.length > 0 && pattern.at[0] == '%')
        pattern = (struct text){pattern.at + 1, pattern.length - 1};
    *truth = pattern.length == 0;
    return true;
}
