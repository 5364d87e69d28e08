/* Functions of text whose results are text. A result may be a part of the argument, or lie in the call's buffer. */
#include "engine/text_functions/text_call.h"

#include "base/heap.h"
#include "base/utf8.h"

#include <string.h>

/* At least `size` bytes, until the next call for the same thread. NULL: no memory. */
char *text_call_buffer(struct text_call *call, size_t size)
{
    if (size > call->buffer_size) {
        call->buffer_size = size + size / 2;
        call->buffer = heap_resize(call->buffer, call->buffer_size, 1);
    }
    return call->buffer;
}

/* Whether an argument, which may be a column's, is wrong. */
static bool is_wrong(struct text_call *call, const char *(*check)(const struct text_argument *args, int count))
{
    const char *wrong = check(call->args, call->count);
    call->wrong = wrong ? wrong : call->wrong;
    return wrong;
}

/* A code point's other case takes at most one byte more than itself: from two bytes to three. */
static struct text change_case(struct text_call *call, struct text text, uint32_t (*change)(uint32_t))
{
    char *buffer = text_call_buffer(call, text.length + text.length / 2 + 1), *at = buffer;
    for (size_t k = 0; k < text.length;) {
        uint32_t code = (unsigned char)text.at[k];
        if (code < 0x80) {
            *at++ = (char)change(code);
            k++;
            continue;
        }
        const size_t size = utf8_decode(text.at + k, text.length - k, &code);
        if (size == 0) { /* not UTF-8: left as it is */
            *at++ = text.at[k++];
            continue;
        }
        at += utf8_encode(change(code), at);
        k += size;
    }
    return (struct text){buffer, (size_t)(at - buffer)};
}

bool text_upper(struct text_call *call, struct text text, struct text *result)
{
    *result = change_case(call, text, case_upper);
    return true;
}

bool text_lower(struct text_call *call, struct text text, struct text *result)
{
    *result = change_case(call, text, case_lower);
    return true;
}

/* Unicode's White_Space. */
static bool is_space(uint32_t code)
{
    return code == ' ' || (code >= 9 && code <= 13) || code == 0x85 || code == 0xa0 || code == 0x1680 ||
           (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f ||
           code == 0x3000;
}

bool text_trim(struct text_call *call, struct text text, struct text *result)
{
    (void)call;
    uint32_t code;
    size_t size;
    while ((size = utf8_decode(text.at, text.length, &code)) > 0 && is_space(code))
        text = (struct text){text.at + size, text.length - size};
    while (text.length > 0) {
        size_t last = text.length - 1;
        while (last > 0 && ((unsigned char)text.at[last] & 0xc0) == 0x80)
            last--;
        if (utf8_decode(text.at + last, text.length - last, &code) == 0 || !is_space(code))
            break;
        text.length = last;
    }
    *result = text;
    return true;
}

/* The text after its first `count` code points. */
static struct text skip_code_points(struct text text, int64_t count)
{
    for (; count > 0 && text.length > 0; count--) {
        const size_t size = first_code_point(text);
        text = (struct text){text.at + size, text.length - size};
    }
    return text;
}

const char *check_substr(const struct text_argument *args, int count)
{
    return count > 1 && args[1].integer < 0 ? "the number of characters is negative" : NULL;
}

bool text_substr(struct text_call *call, struct text text, struct text *result)
{
    int64_t from = call->args[0].integer, count = call->count > 1 ? call->args[1].integer : INT64_MAX;
    if (is_wrong(call, check_substr))
        count = 0;
    if (from < 0) {
        from += count_code_points(text);
        if (from < 0) { /* positions before the first count, but are empty */
            count = count == INT64_MAX ? count : count + from;
            from = 0;
        }
    }
    struct text rest = skip_code_points(text, from), after = skip_code_points(rest, count);
    *result = (struct text){rest.at, rest.length - after.length};
    return true;
}

const char *check_replace(const struct text_argument *args, int count)
{
    (void)count;
    return args[0].text.length == 0 ? "the text to replace is empty" : NULL;
}

bool text_replace(struct text_call *call, struct text text, struct text *result)
{
    struct text from = call->args[0].text, to = call->args[1].text;
    const char *found = is_wrong(call, check_replace) ? NULL : find_in_run(call, text, from);
    size_t used = 0;
    *result = text;
    if (!found)
        return true;
    for (; found; found = find_in_run(call, text, from)) {
        const size_t before = (size_t)(found - text.at);
        char *at = text_call_buffer(call, used + before + to.length + 1) + used;
        memcpy(at, text.at, before);
        if (to.length > 0)
            memcpy(at + before, to.at, to.length);
        used += before + to.length;
        text = (struct text){found + from.length, text.length - before - from.length};
    }
    char *buffer = text_call_buffer(call, used + text.length + 1);
    memcpy(buffer + used, text.at, text.length);
    *result = (struct text){buffer, used + text.length};
    return true;
}

const char *check_split(const struct text_argument *args, int count)
{
    (void)count;
    return args[0].text.length == 0 ? "the separator is empty" : NULL;
}

bool text_split(struct text_call *call, struct text text, struct text *result)
{
    struct text separator = call->args[0].text, rest = text;
    int64_t part = call->args[1].integer;
    const char *found;
    if (is_wrong(call, check_split))
        return false;
    if (part < 0) {
        for (part++; (found = find_text(rest, separator)); part++)
            rest = (struct text){found + separator.length, rest.length - separator.length - (size_t)(found - rest.at)};
        if (part < 0)
            return false;
    }
    while ((found = find_text(text, separator)) && part > 0) {
        text = (struct text){found + separator.length, text.length - separator.length - (size_t)(found - text.at)};
        part--;
    }
    *result = (struct text){text.at, found ? (size_t)(found - text.at) : text.length};
    return part == 0;
}

enum { MOST_PADDED = 10000 };

const char *check_pad(const struct text_argument *args, int count)
{
    if (args[0].integer < -MOST_PADDED || args[0].integer > MOST_PADDED)
        return "at most 10000 characters are filled up to";
    return count > 1 && count_code_points(args[1].text) != 1 ? "`fill` is one character" : NULL;
}

bool text_pad(struct text_call *call, struct text text, struct text *result)
{
    const struct text blank = {" ", 1}, fill = call->count > 1 ? call->args[1].text : blank;
    const int64_t width = call->args[0].integer, most = width < 0 ? -width : width;
    if (is_wrong(call, check_pad))
        return false;
    const int64_t lacking = most - count_code_points(text);
    *result = text;
    if (lacking <= 0)
        return true;
    const size_t filled = (size_t)lacking * fill.length;
    char *buffer = text_call_buffer(call, filled + text.length + 1), *at = width < 0 ? buffer + text.length : buffer;
    for (int64_t k = 0; k < lacking; k++)
        memcpy(at + (size_t)k * fill.length, fill.at, fill.length);
    if (text.length > 0)
        memcpy(width < 0 ? buffer : buffer + filled, text.at, text.length);
    *result = (struct text){buffer, filled + text.length};
    return true;
}

static struct text joined(struct text_call *call, struct text a, struct text b)
{
    char *buffer = text_call_buffer(call, a.length + b.length + 1);
    if (a.length > 0)
        memcpy(buffer, a.at, a.length);
    if (b.length > 0)
        memcpy(buffer + a.length, b.at, b.length);
    return (struct text){buffer, a.length + b.length};
}

bool text_appended(struct text_call *call, struct text text, struct text *result)
{
    *result = joined(call, text, call->args[0].text);
    return true;
}

bool text_prepended(struct text_call *call, struct text text, struct text *result)
{
    *result = joined(call, call->args[0].text, text);
    return true;
}
