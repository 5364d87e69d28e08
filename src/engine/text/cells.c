#include "engine/text/cells.h"

#include "engine/text/json.h"
#include "engine/text/scan.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Skips white space other than the delimiter. */
static const char *skip_blank(const char *at, const char *end, char delimiter)
{
    while (at < end && is_blank(*at) && *at != delimiter)
        at++;
    return at;
}

static const char *quoted_cell(const char *at, const char *end, char delimiter, struct piece *piece)
{
    *piece = (struct piece){.at = ++at, .quoted = true};
    for (;;) {
        at = at < end ? memchr(at, '"', (size_t)(end - at)) : NULL;
        if (!at)
            return NULL;
        if (at + 1 == end || at[1] != '"')
            break;
        at += 2;
    }
    piece->end = at;
    at = skip_return(skip_blank(at + 1, end, delimiter), end);
    return at == end || *at == delimiter || *at == '\n' ? at : NULL;
}

/* Removes the quotes of a cell that they surround, if those within are doubled: in dialects whose lines are never
 * quoted, but whose cells may be. */
static void strip_quotes(struct piece *piece)
{
    const char *at = piece->at + 1, *end = piece->end - 1;
    if (end < at || *piece->at != '"' || *end != '"')
        return;
    for (; at < end; at++) {
        if (*at == '"' && (++at == end || *at != '"'))
            return;
    }
    *piece = (struct piece){piece->at + 1, end, true};
}

/* Scans a cell; `bare` keeps the white space around one without quotes. */
static inline const char *scan(const struct dialect *dialect, const char *at, const char *end, bool bare,
                               struct piece *piece)
{
    const char delimiter = dialect->delimiter;
    const char *raw = at;
    at = skip_blank(at, end, delimiter);
    if (dialect->quotes && at < end && *at == '"')
        return quoted_cell(at, end, delimiter, piece);
    const char *begin = bare ? raw : at;
    at = find_any(begin, end, delimiter, '\n', '\n');
    const char *last = without_return(begin, at, end);
    while (!bare && last > begin && is_blank(last[-1]))
        last--;
    *piece = (struct piece){begin, last, false};
    if (dialect->escapes)
        strip_quotes(piece);
    return at;
}

const char *cell_scan(const struct dialect *dialect, const char *at, const char *end, struct piece *piece)
{
    return dialect->json ? json_scan(at, end, piece) : scan(dialect, at, end, false, piece);
}

const char *cell_scan_text(const struct dialect *dialect, const char *at, const char *end, struct piece *piece)
{
    return dialect->json ? json_scan(at, end, piece) : scan(dialect, at, end, true, piece);
}

const char *cells_skip(const struct dialect *dialect, const char *at, const char *end, size_t count,
                       enum problem_kind *problem)
{
    const uint64_t delimiters = repeat_character(dialect->delimiter), newlines = repeat_character('\n');
    const uint64_t quotes = dialect->quotes ? repeat_character('"') : newlines;
    const char *cell = at;
    while (count > 0) {
        if (end - at >= 8) {
            const uint64_t word = load_word(at);
            const uint64_t stops = zero_bytes(word ^ newlines) | zero_bytes(word ^ quotes);
            uint64_t found = zero_bytes(word ^ delimiters);
            found &= stops ? (stops & (0 - stops)) - 1 : found;
            for (; found; found &= found - 1) {
                cell = at + first_byte(found) + 1;
                if (--count == 0)
                    return cell;
            }
            if (!stops) {
                at += 8;
                continue;
            }
        }
        struct piece piece;
        at = scan(dialect, cell, end, false, &piece);
        *problem = at ? PROBLEM_COUNT : PROBLEM_QUOTE;
        if (!at || at == end || *at == '\n')
            return NULL;
        cell = ++at;
        count--;
    }
    return cell;
}

static char unescaped(char c)
{
    return c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
}

struct text cell_text(const struct dialect *dialect, struct piece piece, struct strbuf *scratch)
{
    bool quotes = piece.quoted && !dialect->json, escapes = dialect->escapes || (piece.quoted && dialect->json);
    const char quote = quotes ? '"' : '\\', escape = escapes ? '\\' : '"';
    if ((!quotes && !escapes) || find_any(piece.at, piece.end, quote, escape, escape) == piece.end)
        return (struct text){piece.at, (size_t)(piece.end - piece.at)};
    strbuf_clear(scratch);
    if (dialect->json) {
        json_decode(piece, scratch);
    } else {
        /* No longer than the piece: a mark and what follows it are one character. */
        char *to = strbuf_reserve(scratch, (size_t)(piece.end - piece.at)), *first = to;
        for (const char *from = piece.at; from < piece.end; from++) {
            bool doubled = quotes && *from == '"', escaped = escapes && *from == '\\';
            const bool marked = (doubled || escaped) && from + 1 < piece.end;
            from += marked;
            *to++ = marked && escaped ? unescaped(*from) : *from;
        }
        strbuf_commit(scratch, (size_t)(to - first));
    }
    return (struct text){scratch->text, scratch->length};
}
