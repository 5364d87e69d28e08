#include "engine/json/json.h"

#include "base/number_text.h"
#include "base/utf8.h"
#include "engine/text/scan.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The first byte in which c | 0x20 is a quote or a brace, which brackets are then, too; a few others have those bits.
 */
static const char *find_mark(const char *at, const char *end)
{
#ifdef __SSE2__
    const __m128i fold = _mm_set1_epi8(0x20), quote = _mm_set1_epi8('"');
    const __m128i open = _mm_set1_epi8('{'), close = _mm_set1_epi8('}');
    for (; end - at >= 16; at += 16) {
        const __m128i bytes = _mm_or_si128(_mm_loadu_si128((const __m128i *)(const void *)at), fold);
        const __m128i braces = _mm_or_si128(_mm_cmpeq_epi8(bytes, open), _mm_cmpeq_epi8(bytes, close));
        const int found = _mm_movemask_epi8(_mm_or_si128(braces, _mm_cmpeq_epi8(bytes, quote)));
        if (found)
            return at + __builtin_ctz((unsigned)found);
    }
#endif
    while (at < end && (*at | 0x20) != '"' && (*at | 0x20) != '{' && (*at | 0x20) != '}')
        at++;
    return at;
}

/* Skips an array or an object by counting its brackets: its content is not used. */
static const char *skip_nested(const char *at, const char *end)
{
    int64_t depth = 0;
    while (at && (at = find_mark(at, end)) < end) {
        const char c = *at++;
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (depth == 0 && (c == '}' || c == ']'))
            return at;
        if (c == '"')
            at = json_skip_string(at, end);
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
    if (json_is_number(at, end))
        return true;
    const char *word = at + (at < end && *at == '-'); /* NaN and infinities, which others write */
    return word < end && (*word | 0x20) >= 'a' && looks_like_number(at, end);
}

static const char *skip_bare(const char *at, const char *end)
{
    while (at < end && !json_is_blank(*at) && *at != ',' && *at != '}' && *at != ']')
        at++;
    return at;
}

const char *json_skip_value(const char *at, const char *end)
{
    if (at == end)
        return NULL;
    if (*at == '"')
        return json_skip_string(at + 1, end);
    if (*at == '{' || *at == '[')
        return skip_nested(at, end);
    const char *begin = at, *number = json_skip_number(at, end);
    if (number)
        return number;
    at = skip_bare(at, end);
    return is_bare_value(begin, at) ? at : NULL;
}

const char *json_scan(const char *at, const char *end, struct cell *cell)
{
    at = json_skip_blank(at, end);
    const char *begin = at;
    const bool quoted = at < end && *at == '"';
    at = json_skip_value(at, end);
    if (!at)
        return NULL;
    *cell = (struct cell){begin + quoted, at - quoted, quoted};
    at = json_skip_blank(at, end);
    return at < end && (*at == ',' || *at == '}' || *at == ']') ? at : NULL;
}

const char *json_next(const char *at, const char *end, char close, bool *more)
{
    at = json_skip_blank(at, end);
    if (at == end || (*at != ',' && *at != close))
        return NULL;
    *more = *at == ',';
    return *more ? json_skip_blank(at + 1, end) : at + 1;
}

const char *json_key(const char *at, const char *end, struct cell *key)
{
    if (at == end || *at != '"')
        return NULL;
    const char *begin = at + 1;
    at = json_skip_string(begin, end);
    if (!at)
        return NULL;
    *key = (struct cell){begin, at - 1, true};
    at = json_skip_blank(at, end);
    return at < end && *at == ':' ? json_skip_blank(at + 1, end) : NULL;
}

/* The end of a value, all of which is looked at, as far as JSON_LEVELS. NULL: it is none. */
static const char *check_value(const char *at, const char *end, int level)
{
    const char close = at < end && *at == '{' ? '}' : ']';
    struct cell key;
    if (at == end || (*at != '{' && *at != '[') || level == JSON_LEVELS)
        return json_skip_value(at, end);
    at = json_enter(at, end);
    bool more = at == end || *at != close;
    at += !more;
    while (at && more) {
        at = close == '}' ? json_key(at, end, &key) : at;
        at = at ? check_value(at, end, level + 1) : NULL;
        at = at ? json_next(at, end, close, &more) : NULL;
    }
    return at;
}

struct text json_bad_value(const char *at, const char *end)
{
    while (at && at < end) {
        const char *begin = at;
        if (*at == '"') {
            at = json_skip_string(at + 1, end);
        } else if (json_is_blank(*at) || strchr("{}[],:", *at)) {
            at++;
        } else {
            at = skip_bare(at, end);
            if (!is_bare_value(begin, at))
                return (struct text){begin, (size_t)(at - begin)};
        }
    }
    return (struct text){end, 0};
}

bool json_is_object(const char *at, const char *end)
{
    at = json_skip_blank(at, end);
    at = at < end && *at == '{' ? check_value(at, end, 0) : NULL;
    return at && json_skip_blank(at, end) == end;
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

/* Decodes an escape sequence after its backslash and moves past it; 0: there is none such. */
static uint32_t unescaped(const char **at, const char *end)
{
    static const char letters[] = "bfnrt\"\\/", meant[] = "\b\f\n\r\t\"\\/";
    const char letter = *(*at)++;
    const char *known = letter ? strchr(letters, letter) : NULL;
    if (letter != 'u')
        return (unsigned char)(known ? meant[known - letters] : '\0');
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
        if (code == 0 || is_surrogate(code))
            return (struct text){begin, (size_t)(at - begin)};
    }
    return (struct text){cell.end, 0};
}
