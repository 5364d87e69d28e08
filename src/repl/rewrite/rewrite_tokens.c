#include "repl/rewrite/rewrite_tokens.h"

#include "base/text.h"

#include <string.h>
#include <strings.h>

static bool is_letter(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || (unsigned char)c >= 0x80;
}

/* Skips white space and comments. */
static size_t skip(const char *text, size_t length, size_t at)
{
    while (at < length && (is_white(text[at]) || text[at] == '#')) {
        if (text[at] == '#') {
            const char *line = memchr(text + at, '\n', length - at);
            at = line ? (size_t)(line - text) : length;
        } else {
            at++;
        }
    }
    return at;
}

static size_t word_end(const char *text, size_t length, size_t at)
{
    while (at < length && (is_letter(text[at]) || is_digit(text[at])))
        at++;
    return at;
}

/* Digits, then `.` and digits, an exponent or a unit. */
static size_t number_end(const char *text, size_t length, size_t at)
{
    at = word_end(text, length, at);
    if (at + 1 < length && text[at] == '.' && is_digit(text[at + 1]))
        at = word_end(text, length, at + 1);
    if (at + 1 < length && (text[at] == '-' || text[at] == '+') && text[at - 1] == 'e' && is_digit(text[at + 1]))
        at = word_end(text, length, at + 1);
    return at;
}

/* A quote that is not closed is a sign. */
static size_t quoted_end(const char *text, size_t length, size_t at)
{
    const char *close = memchr(text + at + 1, text[at], length - at - 1);
    const char *line = memchr(text + at, '\n', length - at);
    return close && (!line || close < line) ? (size_t)(close - text) + 1 : at + 1;
}

static size_t sign_end(const char *text, size_t length, size_t at)
{
    static const char *const signs[] = {"===", "!==", "..", "==", "!=", "<=", ">=", "=>", "->", "<-", "<>", "&&",
                                        "||",  "??",  "::", "//", "**", "|>", ":=", "!~", "=~", "=<", "^=", "%>"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const size_t size = strlen(signs[i]);
        if (length - at >= size && memcmp(text + at, signs[i], size) == 0)
            return at + size;
    }
    return at + 1;
}

static struct rewrite_token token_at(const char *text, size_t length, size_t at)
{
    struct rewrite_token token = {.begin = at};
    if (is_letter(text[at])) {
        token.kind = REWRITE_WORD;
        token.end = word_end(text, length, at);
    } else if (is_digit(text[at])) {
        token.kind = REWRITE_NUMBER;
        token.end = number_end(text, length, at);
    } else if (text[at] == '"' || text[at] == '\'' || text[at] == '`') {
        token.end = quoted_end(text, length, at);
        token.kind = token.end > at + 1 ? REWRITE_QUOTED : REWRITE_SIGN;
    } else {
        token.kind = REWRITE_SIGN;
        token.end = sign_end(text, length, at);
    }
    return token;
}

struct rewrite_text rewrite_tokenize(const char *text, size_t length, struct arena *arena)
{
    struct rewrite_text result = {.text = text, .length = length};
    size_t before = 0, capacity = 0;
    for (size_t at = skip(text, length, 0);; at = skip(text, length, before)) {
        result.tokens = arena_reserve(arena, result.tokens, result.count, &capacity, sizeof *result.tokens);
        struct rewrite_token *token = &result.tokens[result.count];
        *token = at < length ? token_at(text, length, at) : (struct rewrite_token){REWRITE_END, before, before, false};
        token->adjacent = result.count > 0 && at == before;
        before = token->end;
        if (token->kind == REWRITE_END)
            return result;
        result.count++;
    }
}

bool rewrite_token_is(const struct rewrite_text *text, size_t token, const char *expected, size_t length)
{
    const struct rewrite_token *found = &text->tokens[token];
    const bool comparable = found->kind != REWRITE_QUOTED && found->kind != REWRITE_END;
    return comparable && found->end - found->begin == length &&
           strncasecmp(text->text + found->begin, expected, length) == 0;
}
