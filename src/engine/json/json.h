/* Scanning JSON. Format: RFC 8259. Newlines are white space; where each line is an object, `end` is that of the line.
 */
#ifndef RQL_ENGINE_JSON_JSON_H
#define RQL_ENGINE_JSON_JSON_H

#include "base/strbuf.h"
#include "engine/text/scan.h"
#include "engine/text/table.h"

/* How deep objects and arrays may be nested in what is read. */
enum { JSON_LEVELS = 100 };

static inline bool json_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline const char *json_skip_blank(const char *at, const char *end)
{
    while (at < end && json_is_blank(*at))
        at++;
    return at;
}

/* From after the opening quote, skips a string and its closing quote; NULL if it does not end on this line. */
static inline const char *json_skip_string(const char *at, const char *end)
{
    while ((at = find_in_string(at, end)) < end) {
        if (*at != '\\')
            return *at == '"' ? at + 1 : NULL;
        at += end - at > 1 && at[1] != '\n' ? 2 : 1;
    }
    return NULL;
}

static inline const char *json_skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* The end of a number without an exponent, such as 12 or -0.5, that begins at `at`. NULL: there is none. */
static inline const char *json_skip_plain_number(const char *at, const char *end)
{
    at += at < end && *at == '-';
    const char *digits = at;
    at = json_skip_digits(at, end);
    if (at == digits || (*digits == '0' && at > digits + 1))
        return NULL;
    if (at < end && *at == '.') {
        digits = ++at;
        at = json_skip_digits(at, end);
    }
    return at > digits ? at : NULL;
}

/* The end of such a number that a comma or a bracket follows, as almost all are. NULL: it is no such one. */
static inline const char *json_skip_number(const char *at, const char *end)
{
    at = json_skip_plain_number(at, end);
    return at && at < end && (*at == ',' || *at == '}' || *at == ']') ? at : NULL;
}

/* Whether all of at..end-1 is a number as JSON has them: without a plus sign, a zero before other digits, or a point
 * that has no digits on one side. */
static inline bool json_is_number(const char *at, const char *end)
{
    at = json_skip_plain_number(at, end);
    if (at && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '-' || *at == '+');
        const char *digits = at;
        at = json_skip_digits(at, end);
        return at > digits && at == end;
    }
    return at == end && at;
}

/* The end of the value that begins at `at`, which is not blank. NULL: it is no value. What is in objects and arrays is
 * not looked at. */
const char *json_skip_value(const char *at, const char *end);

/* cell_scan for a value: ends at a comma, a brace or a bracket. NULL: it is no JSON value that ends there. */
const char *json_scan(const char *at, const char *end, struct cell *cell);

/* From the opening brace or bracket of a value, the beginning of what is in it, or the end of that. */
static inline const char *json_enter(const char *at, const char *end)
{
    return json_skip_blank(at + 1, end);
}

/* After a member or an element, moves behind the comma, or behind the closing brace or bracket: then *more is false.
 * NULL: neither is there. */
const char *json_next(const char *at, const char *end, char close, bool *more);

/* Skips a key and its colon, to its value; `key` is the text between its quotes. NULL: none. */
const char *json_key(const char *at, const char *end, struct cell *key);

/* Where a value is, in an object or an array that is malformed, that is none of JSON: a word, or a number such as 01 or
 * .5. Empty if another thing is wrong. */
struct text json_bad_value(const char *at, const char *end);

/* Whether at..end is an object, with sound escapes, whose objects and arrays are, too, and white space. */
bool json_is_object(const char *at, const char *end);

/* Appends the text of a string with its escapes undone. Those that are no characters, as \x, \u0000 and half of a
 * surrogate pair, become what is no text either: a NUL, and three bytes that are not UTF-8. */
void json_decode(struct cell cell, struct strbuf *out);

/* The first such escape of a string; empty if there is none. */
struct text json_bad_escape(struct cell cell);

#endif
