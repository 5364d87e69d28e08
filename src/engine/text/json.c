#include "engine/text/json.h"

#include "base/number_text.h"
#include "base/utf8.h"
#include "engine/text/scan.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *skip_blank(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* From after the opening quote, skips a string and its closing quote; NULL if it does not end on this line. */
static const char *skip_string(const char *at, const char *end)
{
    while ((at = find_any(at, end, '"', '\\', '\n')) < end) {
        if (*at != '\\')
            return *at == '"' ? at + 1 : NULL;
        at += end - at > 1 && at[1] != '\n' ? 2 : 1;
    }
    return NULL;
}

/* Skips an array or an object by counting its brackets: its content is not used. */
static const char *skip_nested(const char *at, const char *end)
{
    int64_t depth = 0;
    while (at && at < end && *at != '\n') {
        const char c = *at++;
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (depth == 0)
            return at;
        if (c == '"')
            at = skip_string(at, end);
    }
    return NULL;
}

/* Whether the text is a value that is neither a string nor nested: a number or a word. */
static bool is_bare_value(const char *at, const char *end)
{
    static const char *const words[] = {"null", "true", "false"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i]) == (size_t)(end - at) && memcmp(at, words[i], strlen(words[i])) == 0)
            return true;
    }
    return looks_like_number(at, end);
}

const char *json_scan(const char *at, const char *end, struct cell *cell)
{
    at = skip_blank(at, end);
    const char *begin = at;
    const bool quoted = at < end && *at == '"';
    const bool nested = at < end && (*at == '{' || *at == '[');
    if (quoted)
        at = skip_string(at + 1, end);
    else if (nested)
        at = skip_nested(at, end);
    else {
        while (at < end && !is_blank(*at) && *at != ',' && *at != '}' && *at != '\n')
            at++;
    }
    if (!at || (!quoted && !nested && !is_bare_value(begin, at)))
        return NULL;
    *cell = (struct cell){begin + quoted, at - quoted, quoted};
    at = skip_blank(at, end);
    return at < end && (*at == ',' || *at == '}') ? at : NULL;
}

const char *json_key(const char *at, const char *end, struct cell *key)
{
    at = skip_blank(at, end);
    if (at == end || *at != '"')
        return NULL;
    const char *begin = at + 1;
    at = skip_string(begin, end);
    if (!at)
        return NULL;
    *key = (struct cell){begin, at - 1, true};
    at = skip_blank(at, end);
    return at < end && *at == ':' ? skip_blank(at + 1, end) : NULL;
}

const char *json_open(const char *at, const char *end)
{
    at = skip_blank(at, end);
    return at < end && *at == '{' ? skip_blank(at + 1, end) : NULL;
}

const char *json_line_end(const char *at, const char *end)
{
    at = skip_blank(at, end);
    return at == end || *at == '\n' ? at : NULL;
}

static bool is_surrogate(uint32_t code)
{
    return code >= 0xd800 && code < 0xe000;
}

/* The code point of four hexadecimal digits, 0 if they are invalid. */
static uint32_t read_hex(const char *at, const char *end)
{
    uint32_t code;
    return scan_hex(at, end, 4, &code) ? code : 0;
}

/* Decodes an escape sequence after its backslash and moves past it. */
static uint32_t unescaped(const char **at, const char *end)
{
    static const char letters[] = "bfnrt", controls[] = "\b\f\n\r\t";
    const char letter = *(*at)++;
    const char *control = letter ? strchr(letters, letter) : NULL;
    if (letter != 'u')
        return (unsigned char)(control ? controls[control - letters] : letter);
    const uint32_t code = read_hex(*at, end);
    *at += end - *at < 4 ? end - *at : 4;
    if (code >= 0xd800 && code < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        const uint32_t low = read_hex(*at + 2, end);
        if (low >= 0xdc00 && low < 0xe000) {
            *at += 6;
            return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return code;
}

void json_decode(struct cell cell, struct strbuf *out)
{
    for (const char *at = cell.at; at < cell.end;) {
        const char *mark = memchr(at, '\\', (size_t)(cell.end - at));
        if (mark != at) {
            strbuf_add(out, at, (size_t)((mark ? mark : cell.end) - at));
            at = mark ? mark : cell.end;
            continue;
        }
        char bytes[4];
        at++;
        const uint32_t code = at < cell.end ? unescaped(&at, cell.end) : 0;
        if (!is_surrogate(code)) {
            strbuf_add(out, bytes, utf8_encode(code, bytes));
            continue;
        }
        strbuf_putc(out, (char)(0xe0 | code >> 12));
        strbuf_putc(out, (char)(0x80 | (code >> 6 & 0x3f)));
        strbuf_putc(out, (char)(0x80 | (code & 0x3f)));
    }
}

struct text json_bad_escape(struct cell cell)
{
    for (const char *at = cell.at; at + 1 < cell.end;) {
        const char *begin = at++;
        if (*begin != '\\')
            continue;
        const uint32_t code = unescaped(&at, cell.end);
        if (begin[1] == 'u' && (code == 0 || is_surrogate(code)))
            return (struct text){begin, (size_t)(at - begin)};
    }
    return (struct text){cell.end, 0};
}
