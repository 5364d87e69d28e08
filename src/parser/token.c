#include "parser/token.h"

#include "base/strbuf.h"
#include "base/utf8.h"
#include "parser/grammar.h"
#include "parser/literal.h"
#include "parser/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct span token_reader_span(const struct token_reader *r)
{
    return (struct span){r->source, r->lexeme->begin, r->lexeme->end};
}

const char *token_shown(const struct source *source, struct lexeme lexeme, struct arena *arena)
{
    enum { MAX_CELLS = 40 };
    const char *text = source->text + lexeme.begin;
    const size_t length = lexeme.end - lexeme.begin;
    size_t shown = 0;
    size_t cells = 0;
    while (shown < length && cells < MAX_CELLS) {
        uint32_t code;
        size_t size = utf8_decode(text + shown, length - shown, &code);
        size = size ? size : 1;
        cells += text_width(text + shown, size);
        shown += size;
    }

    struct strbuf visible = {0};
    strbuf_add_visible(&visible, text, shown);
    if (shown < length)
        strbuf_puts(&visible, "...");
    return strbuf_take(&visible, arena);
}

const char *token_reader_shown(const struct token_reader *r)
{
    return token_shown(r->source, *r->lexeme, r->arena);
}

/* Whether the code point is invisible in a message. */
static bool is_invisible(uint32_t code)
{
    return utf8_is_control(code) || utf8_cells(code) == 0 || code == 0xa0 || code == 0x3000 ||
           (code >= 0x2000 && code <= 0x200f) || code == 0x202f || code == 0x205f;
}

static bool bad_character(const struct token_reader *r)
{
    uint32_t code = 0;
    utf8_decode(r->text, r->length, &code);

    if (is_invisible(code))
        diag_error(r->diags, token_reader_span(r), "unexpected invisible character U+%04X", (unsigned)code);
    else
        diag_error(r->diags, token_reader_span(r), "unexpected character `%s`", token_reader_shown(r));

    if (code == 0x2018 || code == 0x2019 || code == 0x201c || code == 0x201d)
        diag_hint(r->diags, "use ' or \" as quotes");
    else if (code == '.')
        diag_hint(r->diags, "files follow `load`, `zip` or `save`, separated by commas; a path of a column has no "
                            "blanks, as in `a.b`; a number has a digit on both sides of its point");
    else if (code == '{' || code == '}')
        diag_hint(r->diags, "use ( and ) for grouping");
    else if (code >= 0x80 && !is_invisible(code))
        diag_hint(r->diags, "put names with such characters in backquotes");
    return false;
}

static bool bad_byte(const struct token_reader *r, size_t at)
{
    struct span span = {r->source, r->lexeme->begin + (uint32_t)at, r->lexeme->begin + (uint32_t)at + 1};
    const unsigned char byte = (unsigned char)r->text[at];
    if (byte == 0)
        diag_error(r->diags, span, "a query cannot contain a NUL byte");
    else
        diag_error(r->diags, span, "the byte \\x%02x is not valid UTF-8", (unsigned)byte);
    diag_hint(r->diags, "a query must be UTF-8 text");
    return false;
}

static bool bad_lexeme(const struct token_reader *r)
{
    const char *advice;
    switch (r->lexeme->kind) {
    case LEX_BAD_NUMBER:
        advice = literal_unit_advice(r->text, r->length);
        diag_error(r->diags, token_reader_span(r), "`%s` is not a number", token_reader_shown(r));
        diag_hint(r->diags, "%s", advice ? advice : "put names that begin with a digit in backquotes");
        return false;
    case LEX_BAD_TIME:
        literal_bad_time(r);
        return false;
    case LEX_BAD_STRING:
        diag_error(r->diags, token_reader_span(r), "unterminated string");
        diag_hint(r->diags, "a string ends on the same line, with the quote it begins with");
        return false;
    case LEX_BAD_QUOTED:
        diag_error(r->diags, token_reader_span(r), "unterminated name: no closing backquote on this line");
        return false;
    case LEX_BAD_POSITION:
        diag_error(r->diags, token_reader_span(r), "`%s` is not a column", token_reader_shown(r));
        diag_hint(r->diags, "columns are numbered $1, $2, ...");
        return false;
    case LEX_BAD_BYTE:
        return bad_byte(r, 0);
    default:
        return bad_character(r);
    }
}

/* The value of the digits, at most 2^63; 2^63 + 1 for anything larger. */
static uint64_t magnitude(const char *digits, const char *end, unsigned base)
{
    const uint64_t beyond = (uint64_t)INT64_MAX + 2;
    uint64_t value = 0;
    for (; digits < end; digits++) {
        if (*digits == '_')
            continue;
        unsigned digit = (unsigned char)*digits;
        digit = digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
        if (value > (beyond - digit) / base)
            return beyond;
        value = value * base + digit;
    }
    return value;
}

static bool read_integer(const struct token_reader *r, struct token *token)
{
    const char *digits = r->text;
    unsigned base = 10;
    if (r->length > 2 && digits[0] == '0' && digits[1] == 'x')
        base = 16, digits += 2;
    else if (r->length > 2 && digits[0] == '0' && digits[1] == 'b')
        base = 2, digits += 2;

    const uint64_t value = magnitude(digits, r->text + r->length, base);
    if (value <= INT64_MAX) {
        token->value.integer = (int64_t)value;
        return true;
    }
    if (value == (uint64_t)INT64_MAX + 1) {
        token->value.integer = INT64_MIN;
        r->lexeme->kind = TOKEN_INT_LIMIT;
        return true;
    }
    diag_error(r->diags, token_reader_span(r), "%s does not fit in 64 bits", token_reader_shown(r));
    diag_hint(r->diags, "integers range from -9223372036854775808 to 9223372036854775807; write 1e20 for a float");
    return false;
}

static bool read_float(const struct token_reader *r, struct token *token)
{
    char *digits = arena_alloc(r->arena, r->length + 1);
    size_t count = 0;
    for (size_t i = 0; i < r->length; i++) {
        if (r->text[i] != '_')
            digits[count++] = r->text[i];
    }
    errno = 0;
    token->value.number = strtod(digits, NULL);
    if (errno == ERANGE && token->value.number > 1) {
        diag_error(r->diags, token_reader_span(r), "%s is too large for a float", token_reader_shown(r));
        diag_hint(r->diags, "floats go up to about 1.8e308");
        return false;
    }
    return true;
}

static bool read_position(const struct token_reader *r, struct token *token)
{
    const uint64_t value = magnitude(r->text + 1, r->text + r->length, 10);
    if (value == 0 || value > INT32_MAX) {
        diag_error(r->diags, token_reader_span(r), "there is no column %s", token_reader_shown(r));
        diag_hint(r->diags, "columns are numbered from $1");
        return false;
    }
    token->value.integer = (int64_t)value;
    return true;
}

/* Whether the text is UTF-8 without NUL; records an error if not. */
bool token_reader_is_text(const struct token_reader *r)
{
    for (size_t at = 0; at < r->length;) {
        uint32_t code = 0;
        const size_t size = utf8_decode(r->text + at, r->length - at, &code);
        if (!size || code == 0)
            return bad_byte(r, at);
        at += size;
    }
    return true;
}

static bool read_name(const struct token_reader *r, struct token *token)
{
    char *text = arena_alloc(r->arena, r->length + 1); /* without the backquotes of a path's parts */
    size_t length = 0;
    for (size_t i = 0; i < r->length; i++) {
        if (r->text[i] != '`')
            text[length++] = r->text[i];
    }
    text[length] = '\0';
    if (length == 0) {
        diag_error(r->diags, token_reader_span(r), "empty name");
        return false;
    }
    if (length > LIMIT_IDENTIFIER) {
        diag_error(r->diags, token_reader_span(r), "the name has %zu bytes, the limit is %d", length,
                   (int)LIMIT_IDENTIFIER);
        return false;
    }
    if (!token_reader_is_text(r))
        return false;
    token->value.text = text;
    return true;
}

/* A path may contain any bytes except NUL. Within double quotes a backslash escapes a quote or a backslash and
 * otherwise stands for itself. */
static bool read_path(const struct token_reader *r, struct token *token)
{
    const char *nul = memchr(r->text, 0, r->length);
    if (nul)
        return bad_byte(r, (size_t)(nul - r->text));

    char *text = arena_alloc(r->arena, r->length);
    size_t length = 0;
    const bool escapes = r->text[0] == '"';
    for (size_t i = 1; i + 1 < r->length; i++) {
        if (escapes && r->text[i] == '\\' && (r->text[i + 1] == '"' || r->text[i + 1] == '\\'))
            i++;
        text[length++] = r->text[i];
    }
    if (length == 0) {
        diag_error(r->diags, token_reader_span(r), "empty path");
        return false;
    }
    token->value.text = text;
    return true;
}

static bool read_command(const struct token_reader *r, struct token *token)
{
    token->value.text = arena_text(r->arena, r->text, r->length);
    return token_reader_is_text(r);
}

bool token_read(const struct source *source, struct lexeme *lexeme, struct arena *arena, struct diags *diags,
                struct token *token)
{
    const struct token_reader r = {
        source, arena, diags, lexeme, source->text + lexeme->begin, lexeme->end - lexeme->begin};
    *token = (struct token){.begin = lexeme->begin, .end = lexeme->end, .word = lexeme->word};
    if (lexeme->word) {
        token->value.text = lexeme->word->text;
        return true;
    }
    switch (lexeme->kind) {
    case TOKEN_NAME:
    case TOKEN_STAGE_NAME:
    case TOKEN_ARGUMENT:
        return read_name(&r, token);
    case TOKEN_MEMBER:
        return read_name(&(struct token_reader){source, arena, diags, lexeme, r.text + 1, r.length - 1}, token);
    case TOKEN_SET:
    case TOKEN_PATH:
        token->value.text = arena_text(arena, r.text, r.length);
        return true;
    case TOKEN_STRING:
        return read_path(&r, token);
    case TOKEN_TEXT:
        return literal_text(&r, token);
    case TOKEN_DATE:
        return literal_date(&r, token);
    case TOKEN_TIMESTAMP:
        return literal_timestamp(&r, token);
    case TOKEN_DURATION:
    case TOKEN_MONTHS:
        return literal_duration(&r, token);
    case TOKEN_INT:
        return read_integer(&r, token);
    case TOKEN_FLOAT:
        return read_float(&r, token);
    case TOKEN_POSITION:
        return read_position(&r, token);
    case LEX_COMMAND:
        return read_command(&r, token);
    default:
        return lexeme->kind < LEX_BAD_NUMBER || bad_lexeme(&r);
    }
}
