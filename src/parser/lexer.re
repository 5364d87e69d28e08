#include "parser/lexer.h"

#include "parser/grammar.h"
#include "base/utf8.h"

#include <string.h>

void lexer_init(struct lexer *lexer, const struct source *source)
{
    static const char mark[] = "\xef\xbb\xbf";
    const unsigned char *text = (const unsigned char *)source->text;

    *lexer = (struct lexer){source, text, text + source->length};
    if (source->length >= 3 && memcmp(text, mark, 3) == 0)
        lexer->cursor += 3;
}

static struct lexeme lexeme(const struct lexer *lexer, int kind, const unsigned char *begin)
{
    const unsigned char *text = (const unsigned char *)lexer->source->text;
    return (struct lexeme){.kind = kind, .begin = (uint32_t)(begin - text), .end = (uint32_t)(lexer->cursor - text)};
}

static bool in_name(unsigned char c)
{
    return c == '_' || c >= 0x80 || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Reads the further parts of a path, each behind a point that touches it: `a.b`, `a.`$b``. False: there are none. */
static bool read_path(struct lexer *lexer)
{
    const unsigned char *begin = lexer->cursor, *at = begin, *limit = lexer->limit;
    for (; limit - at > 1 && *at == '.'; lexer->cursor = at) {
        if (*++at == '`') {
            const unsigned char *line = memchr(at, '\n', (size_t)(limit - at)), *end = line ? line : limit;
            at = end - at > 2 && at[1] != '`' ? memchr(at + 1, '`', (size_t)(end - at - 1)) : NULL;
            if (!at)
                break;
            at++;
        } else if (in_name(*at) && !(*at >= '0' && *at <= '9')) {
            while (at < limit && in_name(*at))
                at++;
        } else {
            break;
        }
    }
    return lexer->cursor > begin;
}

/* The field of an element, behind its bracket: `items[0].price`. */
static struct lexeme member(struct lexer *lexer, const unsigned char *begin)
{
    const unsigned char *text = (const unsigned char *)lexer->source->text, *after = lexer->cursor;
    lexer->cursor = begin;
    if (begin > text && begin[-1] == ']' && read_path(lexer))
        return lexeme(lexer, TOKEN_MEMBER, begin);
    lexer->cursor = after;
    return lexeme(lexer, LEX_BAD_CHARACTER, begin);
}

static struct lexeme word_or_name(struct lexer *lexer, const unsigned char *begin)
{
    const struct word *word = NULL;
    if (!read_path(lexer))
        word = word_find((const char *)begin, (size_t)(lexer->cursor - begin));
    struct lexeme found = lexeme(lexer, word ? word->token : TOKEN_NAME, begin);
    found.word = word;
    return found;
}

/* Scans to the closing quote, on the same line. Any bytes may be quoted, as in file names; token.c checks names. */
static struct lexeme quoted(struct lexer *lexer, const unsigned char *begin)
{
    unsigned char quote = *begin;
    const unsigned char *at = lexer->cursor;

    while (at < lexer->limit && *at != '\n' && *at != quote) {
        bool escape = quote == '"' && *at == '\\' && at + 1 < lexer->limit && at[1] != '\n';
        at += escape ? 2 : 1;
    }
    bool closed = at < lexer->limit && *at == quote;
    lexer->cursor = at + closed;
    if (quote == '`' && closed)
        read_path(lexer);
    if (quote == '`')
        return lexeme(lexer, closed ? TOKEN_NAME : LEX_BAD_QUOTED, begin);
    return lexeme(lexer, closed ? TOKEN_STRING : LEX_BAD_STRING, begin);
}

/* Digits that touch as a date's do: wrong if they may be a month and a day, or if letters follow, else a subtraction, of
 * which the first number is read. */
static struct lexeme almost_date(struct lexer *lexer, const unsigned char *begin)
{
    const unsigned char *at = begin + 5;
    int part[2] = {0};
    for (int i = 0; i < 2; i++) {
        for (; at < lexer->cursor && *at >= '0' && *at <= '9'; at++)
            part[i] = part[i] < 100 ? part[i] * 10 + (*at - '0') : part[i];
        at += i == 0;
    }
    bool numbers = at == lexer->cursor;
    if (!numbers || (part[0] >= 1 && part[0] <= 12 && part[1] >= 1 && part[1] <= 31))
        return lexeme(lexer, LEX_BAD_TIME, begin);
    lexer->cursor = begin + 4;
    return lexeme(lexer, TOKEN_INT, begin);
}

static void skip_comment(struct lexer *lexer)
{
    const unsigned char *newline = memchr(lexer->cursor, '\n', (size_t)(lexer->limit - lexer->cursor));
    lexer->cursor = newline ? newline : lexer->limit;
}

/* `[^]` matches a whole code point and `*` an invalid byte; a NUL is the end only at the limit. */
static struct lexeme scan(struct lexer *lexer)
{
    const unsigned char *begin;
    const unsigned char *marker;

    for (;;) {
        begin = lexer->cursor;
        /*!re2c
        re2c:define:YYCTYPE = "unsigned char";
        re2c:define:YYCURSOR = lexer->cursor;
        re2c:define:YYMARKER = marker;
        re2c:define:YYLIMIT = lexer->limit;
        re2c:yyfill:enable = 0;
        re2c:eof = 0;
        re2c:flags:utf-8 = 1;
        re2c:flags:encoding-policy = substitute;

        digit = [0-9];
        letter = [A-Za-z_]
               | [\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]
               | [\u0370-\u0373\u0376-\u0377\u037b-\u037d\u0386\u0388-\u052f]
               | [\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3];
        number = digit ("_"? digit)*;
        integer = number | "0x" [0-9A-Fa-f] ("_"? [0-9A-Fa-f])* | "0b" [01] ("_"? [01])*;
        exponent = [eE] [+-]? digit+;
        float = number "." number exponent? | number exponent;
        duration = number ("us" | "ms" | "s" | "min" | "h" | "d" | "w");
        months = number ("mo" | "q" | "y");
        date = digit{4} "-" digit{2} "-" digit{2};
        seconds = ":" digit{2} ("." digit{1,6})?;
        timestamp = date "T" digit{2} ":" digit{2} seconds? ("Z" | [+-] digit{2} ":" digit{2})?;
        rest = (digit | letter | "." digit)* ("T" (digit | letter | ":" digit | "." digit)*)?;

        $                                   { return lexeme(lexer, LEX_EOF, begin); }
        [ \t]+                              { continue; }
        "#"                                 { skip_comment(lexer); continue; }
        "\r"? "\n"                          { return lexeme(lexer, LEX_NEWLINE, begin); }
        ";"                                 { return lexeme(lexer, LEX_SEMICOLON, begin); }

        integer                             { return lexeme(lexer, TOKEN_INT, begin); }
        float                               { return lexeme(lexer, TOKEN_FLOAT, begin); }
        duration                            { return lexeme(lexer, TOKEN_DURATION, begin); }
        months                              { return lexeme(lexer, TOKEN_MONTHS, begin); }
        date                                { return lexeme(lexer, TOKEN_DATE, begin); }
        timestamp                           { return lexeme(lexer, TOKEN_TIMESTAMP, begin); }
        digit{4} "-" digit{1,2} "-" digit rest
                                            { return almost_date(lexer, begin); }
        digit (digit | letter)* ("." digit (digit | letter)*)?
                                            { return lexeme(lexer, LEX_BAD_NUMBER, begin); }
        letter (letter | digit)*            { return word_or_name(lexer, begin); }
        [`"']                               { return quoted(lexer, begin); }
        "$" digit+                          { return lexeme(lexer, TOKEN_POSITION, begin); }
        "$" letter (letter | digit)*        { return lexeme(lexer, TOKEN_ARGUMENT, begin); }
        "$" (digit | letter)*               { return lexeme(lexer, LEX_BAD_POSITION, begin); }

        "||"                                { return lexeme(lexer, TOKEN_OR, begin); }
        "|"                                 { return lexeme(lexer, TOKEN_PIPE, begin); }
        "&&"                                { return lexeme(lexer, TOKEN_AND, begin); }
        "&"                                 { return lexeme(lexer, TOKEN_BITAND, begin); }
        "^"                                 { return lexeme(lexer, TOKEN_XOR, begin); }
        "=="                                { return lexeme(lexer, TOKEN_EQ, begin); }
        "!="                                { return lexeme(lexer, TOKEN_NE, begin); }
        "="                                 { return lexeme(lexer, TOKEN_ASSIGN, begin); }
        "<="                                { return lexeme(lexer, TOKEN_LE, begin); }
        ">="                                { return lexeme(lexer, TOKEN_GE, begin); }
        "<<"                                { return lexeme(lexer, TOKEN_SHL, begin); }
        ">>"                                { return lexeme(lexer, TOKEN_SHR, begin); }
        "<"                                 { return lexeme(lexer, TOKEN_LT, begin); }
        ">"                                 { return lexeme(lexer, TOKEN_GT, begin); }
        "+"                                 { return lexeme(lexer, TOKEN_PLUS, begin); }
        "-"                                 { return lexeme(lexer, TOKEN_MINUS, begin); }
        "*"                                 { return lexeme(lexer, TOKEN_STAR, begin); }
        "//"                                { return lexeme(lexer, TOKEN_SLASH_SLASH, begin); }
        "/?"                                { return lexeme(lexer, TOKEN_SLASH_QUESTION, begin); }
        "/"                                 { return lexeme(lexer, TOKEN_SLASH, begin); }
        "%"                                 { return lexeme(lexer, TOKEN_PERCENT, begin); }
        "!~"                                { return lexeme(lexer, TOKEN_BANG_TILDE, begin); }
        "!"                                 { return lexeme(lexer, TOKEN_BANG, begin); }
        "~"                                 { return lexeme(lexer, TOKEN_TILDE, begin); }
        "??"                                { return lexeme(lexer, TOKEN_COALESCE, begin); }
        "?"                                 { return lexeme(lexer, TOKEN_QUESTION, begin); }
        ":"                                 { return lexeme(lexer, TOKEN_COLON, begin); }
        ","                                 { return lexeme(lexer, TOKEN_COMMA, begin); }
        ".."                                { return lexeme(lexer, TOKEN_DOTDOT, begin); }
        "."                                 { return member(lexer, begin); }
        "("                                 { return lexeme(lexer, TOKEN_LP, begin); }
        ")"                                 { return lexeme(lexer, TOKEN_RP, begin); }
        "["                                 { return lexeme(lexer, TOKEN_LB, begin); }
        "]"                                 { return lexeme(lexer, TOKEN_RB, begin); }

        "\x00"                              { return lexeme(lexer, LEX_BAD_BYTE, begin); }
        [^]                                 { return lexeme(lexer, LEX_BAD_CHARACTER, begin); }
        *                                   { return lexeme(lexer, LEX_BAD_BYTE, begin); }
        */
    }
}

/* Whether the lexeme may be an axis, the name after `along`: any but `along` itself, so that `sum along along i` means
 * the column of that name. */
static bool is_axis(struct lexeme lexeme)
{
    return lexeme.kind == TOKEN_NAME || (lexeme.word && !lexeme.word->reserved && lexeme.kind != TOKEN_ALONG);
}

/* Two words depend on the next one. `not in` is one operator: `not` alone never follows an operand. `along` is a name
 * unless an axis follows, so that it may be a column where a stage may end or take an expression. */
struct lexeme lexer_next(struct lexer *lexer)
{
    struct lexeme found = scan(lexer);
    if (found.kind != TOKEN_NOT && found.kind != TOKEN_ALONG)
        return found;

    const unsigned char *after = lexer->cursor;
    struct lexeme next = scan(lexer);
    if (found.kind == TOKEN_NOT && next.kind == TOKEN_IN)
        return (struct lexeme){.kind = TOKEN_NOT_IN, .begin = found.begin, .end = next.end};
    if (found.kind == TOKEN_ALONG && !is_axis(next))
        found.kind = TOKEN_NAME;
    lexer->cursor = after;
    return found;
}

static const unsigned char *skip_blanks(const struct lexer *lexer)
{
    const unsigned char *at = lexer->cursor;
    while (at < lexer->limit && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* The length of the well-formed text without control characters at the start of begin..limit. */
static size_t printable_length(const unsigned char *begin, const unsigned char *limit)
{
    const unsigned char *at = begin;
    while (at < limit) {
        uint32_t code;
        size_t size = utf8_decode((const char *)at, (size_t)(limit - at), &code);
        if (!size || utf8_is_control(code))
            break;
        at += size;
    }
    return (size_t)(at - begin);
}

/* Whether begin..end has an extension: a `.` between a character of a path and a letter, and letters or digits up to the
 * end. What is before the `.` is not a number. */
static bool has_extension(const unsigned char *begin, const unsigned char *end)
{
    const unsigned char *at = end;
    while (at > begin && ((at[-1] >= '0' && at[-1] <= '9') || ((at[-1] | 0x20) >= 'a' && (at[-1] | 0x20) <= 'z')))
        at--;
    if (at == end || (at[0] >= '0' && at[0] <= '9') || at - begin < 2 || at[-1] != '.' || at[-2] == '.')
        return false;
    while (begin < at - 1 && ((*begin >= '0' && *begin <= '9') || strchr("._-+", *begin)))
        begin++;
    return begin < at - 1;
}

/* What may follow a path that is a source: the end, a pipe, a closing bracket, or `as` or a format. */
static bool ends_source(const unsigned char *at, const unsigned char *limit)
{
    while (at < limit && (*at == ' ' || *at == '\t'))
        at++;
    bool word = at < limit && ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z');
    return at == limit || word || (strchr("\r\n|);#", *at) && !(*at == '|' && at + 1 < limit && at[1] == '|'));
}

static bool begins_directory(const unsigned char *begin, const unsigned char *end)
{
    static const char *const starts[] = {"./", "../", "/", "~/"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        size_t length = strlen(starts[i]);
        if ((size_t)(end - begin) > length && memcmp(begin, starts[i], length) == 0)
            return true;
    }
    return false;
}

/* Whether begin..end names a server, as clickhouse://... */
static bool has_scheme(const unsigned char *begin, const unsigned char *end)
{
    static const char mark[] = "://";
    const unsigned char *at = memmem(begin, (size_t)(end - begin), mark, strlen(mark));
    return at && at > begin;
}

/* Whether begin..end has the form. */
static bool has_form(const struct lexer *lexer, const unsigned char *begin, const unsigned char *end,
                     enum path_form form)
{
    size_t length = (size_t)(end - begin);
    if (form == PATH_ANY_WORD)
        return true;
    if (form == PATH_LIKE)
        return memchr(begin, '.', length) || memchr(begin, '/', length);
    bool quoted = memchr(begin, '"', length) || memchr(begin, '\'', length) || memchr(begin, '`', length);
    const bool certain = begins_directory(begin, end) || has_extension(begin, end) || has_scheme(begin, end);
    return !quoted && certain && ends_source(end, lexer->limit);
}

struct lexeme lexer_path(struct lexer *lexer, enum path_form form)
{
    const unsigned char *begin = skip_blanks(lexer);
    const unsigned char *end = begin;

    /* These begin a literal, a quoted path or a quoted name. */
    if (begin < lexer->limit && strchr("[\"'`", *begin))
        return (struct lexeme){.kind = LEX_NONE};
    while (end < lexer->limit && !strchr(" \t\r\n,;|()#", *end))
        end++;
    end = begin + printable_length(begin, end);
    if (end == begin || !has_form(lexer, begin, end, form))
        return (struct lexeme){.kind = LEX_NONE};
    lexer->cursor = end;
    return lexeme(lexer, TOKEN_PATH, begin);
}

/* Whether what follows a `*` that touches the word before it cannot be an operand: then there is no multiplication. A
 * minus with blanks on both sides is an operator, as in `a* - 1`. */
static bool ends_pattern(const struct lexer *lexer)
{
    static const int followers[] = {TOKEN_AS,  TOKEN_IN, TOKEN_NOT_IN, TOKEN_IS,   TOKEN_LIKE, TOKEN_AND,
                                TOKEN_OR,  TOKEN_OF, TOKEN_BUT,    TOKEN_DESC, TOKEN_ASC,  TOKEN_ACROSS,
                                TOKEN_ROLLUP};
    static const int operands[] = {TOKEN_INT,  TOKEN_FLOAT,     TOKEN_NAME,     TOKEN_STRING, TOKEN_POSITION,
                                   TOKEN_DATE, TOKEN_TIMESTAMP, TOKEN_DURATION, TOKEN_MONTHS, TOKEN_ARGUMENT,
                                   TOKEN_LP,   TOKEN_LB,        TOKEN_BANG,     TOKEN_TILDE,  TOKEN_INT_LIMIT};
    struct lexer ahead = *lexer;
    const struct lexeme next = lexer_next(&ahead);
    if (next.kind == TOKEN_MINUS)
        return ahead.cursor < ahead.limit && *ahead.cursor == ' ' && ahead.cursor - 1 > lexer->cursor;
    if (next.word || next.kind == TOKEN_NOT_IN) {
        for (size_t i = 0; i < sizeof followers / sizeof *followers; i++) {
            if (next.kind == followers[i])
                return true;
        }
        return false;
    }
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
        if (next.kind == operands[i])
            return false;
    }
    return true;
}

/* Whether the character is a point between the parts of a path. */
static bool in_path(const struct lexer *lexer, const unsigned char *begin, const unsigned char *at)
{
    return *at == '.' && at > begin && at[-1] != '.' && lexer->limit - at > 1 && (at[1] == '*' || in_name(at[1]));
}

struct lexeme lexer_set(struct lexer *lexer, enum set_form form)
{
    const struct lexer before = *lexer;
    const unsigned char *begin = skip_blanks(lexer), *at = begin;
    size_t stars = 0;
    if (form == SET_NONE || at == lexer->limit || (*at >= '0' && *at <= '9'))
        return (struct lexeme){.kind = LEX_NONE};
    for (; at < lexer->limit && (*at == '*' || in_name(*at) || in_path(lexer, begin, at)); at++)
        stars += *at == '*';
    lexer->cursor = at;
    const bool last = stars == 1 && at[-1] == '*', first = *begin == '*' && stars < (size_t)(at - begin);
    if (stars > 0 && (form == SET_NAME || (last && ends_pattern(lexer)) || (first && !last)))
        return lexeme(lexer, TOKEN_SET, begin);
    *lexer = before;
    return (struct lexeme){.kind = LEX_NONE};
}

struct lexeme lexer_dialect(struct lexer *lexer)
{
    static const char option[] = "--dialect";
    const size_t length = strlen(option);
    const unsigned char *begin = skip_blanks(lexer), *at = begin + length;
    if ((size_t)(lexer->limit - begin) <= length || memcmp(begin, option, length) != 0 || (*at != ' ' && *at != '\t'))
        return (struct lexeme){.kind = LEX_NONE};
    while (at < lexer->limit && (*at == ' ' || *at == '\t'))
        at++;
    const unsigned char *name = at;
    while (at < lexer->limit && (*at == '-' || (*at >= '0' && *at <= '9') || ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z')))
        at++;
    if (at == name)
        return (struct lexeme){.kind = LEX_NONE};
    lexer->cursor = at;
    return lexeme(lexer, TOKEN_DIALECT, begin);
}

struct lexeme lexer_command(struct lexer *lexer)
{
    const unsigned char *begin = skip_blanks(lexer);
    size_t left = (size_t)(lexer->limit - begin);

    if (left < 2 || begin[0] == 0 || !strchr(".:\\%", begin[0]) ||
        (begin[1] != '?' && ((begin[1] | 0x20) < 'a' || (begin[1] | 0x20) > 'z')))
        return (struct lexeme){.kind = LEX_NONE};
    const unsigned char *newline = memchr(begin, '\n', left);
    lexer->cursor = newline ? newline : lexer->limit;
    struct lexeme command = lexeme(lexer, LEX_COMMAND, begin);
    for (const unsigned char *end = lexer->cursor; end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'; end--)
        command.end--;
    return command;
}
