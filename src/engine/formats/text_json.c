/* JSON lines as a table: one object per line, with the keys of the first in the same order. Format: RFC 8259. */
#include "engine/formats/text_table.h"

#include "base/utf8.h"

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
    for (; at < end && *at != '\n'; at++) {
        if (*at == '"')
            return at + 1;
        at += *at == '\\' && at + 1 < end;
    }
    return NULL;
}

/* Skips an array or an object by counting its brackets: its content is not used. */
static const char *skip_nested(const char *at, const char *end)
{
    int64_t depth = 0;
    while (at && at < end && *at != '\n') {
        char c = *at++;
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (depth == 0)
            return at;
        if (c == '"')
            at = skip_string(at, end);
    }
    return NULL;
}

const char *table_json_value(const char *at, const char *end, struct piece *piece)
{
    at = skip_blank(at, end);
    const char *begin = at;
    bool quoted = at < end && *at == '"';
    if (quoted)
        at = skip_string(at + 1, end);
    else if (at < end && (*at == '{' || *at == '['))
        at = skip_nested(at, end);
    else
        while (at < end && !is_blank(*at) && *at != ',' && *at != '}' && *at != '\n')
            at++;
    if (!at)
        return NULL;
    *piece = (struct piece){begin + quoted, at - quoted, quoted};
    at = skip_blank(at, end);
    return at < end && (*at == ',' || *at == '}') ? at : NULL;
}

/* Skips a key and its colon; `key` is the text between its quotes. NULL: none. */
static const char *read_key(const char *at, const char *end, struct piece *key)
{
    at = skip_blank(at, end);
    if (at == end || *at != '"')
        return NULL;
    const char *begin = at + 1;
    at = skip_string(begin, end);
    if (!at)
        return NULL;
    *key = (struct piece){begin, at - 1, true};
    at = skip_blank(at, end);
    return at < end && *at == ':' ? skip_blank(at + 1, end) : NULL;
}

static const char *open_object(const char *at, const char *end)
{
    at = skip_blank(at, end);
    return at < end && *at == '{' ? at + 1 : NULL;
}

const char *table_json_key(const struct table *table, const char *at, const char *end, size_t k)
{
    const struct piece *wanted = &table->columns[k].key;
    struct piece key;
    if (k == 0)
        at = open_object(at, end);
    at = at ? read_key(at, end, &key) : NULL;
    size_t length = (size_t)(wanted->end - wanted->at);
    bool same = at && (size_t)(key.end - key.at) == length && memcmp(key.at, wanted->at, length) == 0;
    return same ? at : NULL;
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
    char letter = *(*at)++;
    const char *control = letter ? strchr(letters, letter) : NULL;
    if (letter != 'u')
        return (unsigned char)(control ? controls[control - letters] : letter);
    uint32_t code = read_hex(*at, end);
    *at += end - *at < 4 ? end - *at : 4;
    if (code >= 0xd800 && code < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        uint32_t low = read_hex(*at + 2, end);
        if (low >= 0xdc00 && low < 0xe000) {
            *at += 6;
            return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return code;
}

const char *table_json_name(struct piece key, struct arena *arena)
{
    struct strbuf name = {0};
    for (const char *at = key.at; at < key.end;) {
        char bytes[4];
        if (*at != '\\') {
            strbuf_putc(&name, *at++);
            continue;
        }
        at++;
        uint32_t code = at < key.end ? unescaped(&at, key.end) : 0;
        strbuf_add(&name, bytes, utf8_encode(code ? code : 0xfffd, bytes));
    }
    const char *copy = arena_text(arena, name.text ? name.text : "", name.length);
    strbuf_free(&name);
    return copy;
}

size_t table_json_keys(const struct table *table, struct piece *keys, size_t most)
{
    const char *end = table->end;
    const char *at = open_object(table->begin, end);
    for (size_t count = 0; at && count < most; count++) {
        struct piece value, key = {0};
        at = read_key(at, end, &key);
        at = at ? table_json_value(at, end, &value) : NULL;
        if (!at)
            return 0;
        if (keys)
            keys[count] = key;
        if (*at++ == '}')
            return count + 1;
    }
    return 0;
}
