#include "engine/text/cells.h"

#include "engine/json/json.h"
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

static const char *quoted_cell(const char *at, const char *end, char delimiter, struct cell *cell)
{
    *cell = (struct cell){.at = ++at, .quoted = true};
    for (;;) {
        at = at < end ? memchr(at, '"', (size_t)(end - at)) : NULL;
        if (!at)
            return NULL;
        if (at + 1 == end || at[1] != '"')
            break;
        at += 2;
    }
    cell->end = at;
    at = skip_return(skip_blank(at + 1, end, delimiter), end);
    return at == end || *at == delimiter || *at == '\n' ? at : NULL;
}

/* Removes the quotes of a cell that they surround, if those within are doubled: in dialects whose lines are never
 * quoted, but whose cells may be. */
static void strip_quotes(struct cell *cell)
{
    const char *at = cell->at + 1, *end = cell->end - 1;
    if (end < at || *cell->at != '"' || *end != '"')
        return;
    for (; at < end; at++) {
        if (*at == '"' && (++at == end || *at != '"'))
            return;
    }
    *cell = (struct cell){cell->at + 1, end, true};
}

/* Scans a cell; `bare` keeps the white space around one without quotes. */
static inline const char *scan(const struct dialect *dialect, const char *at, const char *end, bool bare,
                               struct cell *cell)
{
    const char delimiter = dialect->delimiter;
    const char *raw = at;
    at = skip_blank(at, end, delimiter);
    if (dialect->quotes && at < end && *at == '"')
        return quoted_cell(at, end, delimiter, cell);
    const char *begin = bare ? raw : at;
    at = find_any(begin, end, delimiter, '\n', '\n');
    const char *last = without_return(begin, at, end);
    while (!bare && last > begin && is_blank(last[-1]))
        last--;
    *cell = (struct cell){begin, last, false};
    if (dialect->escapes)
        strip_quotes(cell);
    return at;
}

const char *cell_scan(const struct dialect *dialect, const char *at, const char *end, struct cell *cell)
{
    return dialect->json ? json_scan(at, end, cell) : scan(dialect, at, end, false, cell);
}

const char *cell_scan_text(const struct dialect *dialect, const char *at, const char *end, struct cell *cell)
{
    return dialect->json ? json_scan(at, end, cell) : scan(dialect, at, end, true, cell);
}

const char *cells_skip(const struct dialect *dialect, const char *at, const char *end, size_t count,
                       enum problem_kind *problem)
{
    const uint64_t delimiters = repeat_character(dialect->delimiter), newlines = repeat_character('\n');
    const uint64_t quotes = dialect->quotes ? repeat_character('"') : newlines;
    const char *begin = at;
    while (count > 0) {
        if (end - at >= 8) {
            const uint64_t word = load_word(at);
            const uint64_t stops = zero_bytes(word ^ newlines) | zero_bytes(word ^ quotes);
            uint64_t found = zero_bytes(word ^ delimiters);
            found &= stops ? (stops & (0 - stops)) - 1 : found;
            for (; found; found &= found - 1) {
                begin = at + first_byte(found) + 1;
                if (--count == 0)
                    return begin;
            }
            if (!stops) {
                at += 8;
                continue;
            }
        }
        struct cell cell;
        at = scan(dialect, begin, end, false, &cell);
        *problem = at ? PROBLEM_COUNT : PROBLEM_QUOTE;
        if (!at || at == end || *at == '\n')
            return NULL;
        begin = ++at;
        count--;
    }
    return begin;
}

static char unescaped(char c)
{
    return c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
}

struct text cell_text(const struct dialect *dialect, struct cell cell, struct strbuf *scratch)
{
    bool quotes = cell.quoted && !dialect->json, escapes = dialect->escapes || (cell.quoted && dialect->json);
    const char quote = quotes ? '"' : '\\', escape = escapes ? '\\' : '"';
    if ((!quotes && !escapes) || find_any(cell.at, cell.end, quote, escape, escape) == cell.end)
        return (struct text){cell.at, (size_t)(cell.end - cell.at)};
    strbuf_clear(scratch);
    if (dialect->json) {
        json_decode(cell, scratch);
    } else {
        /* No longer than the cell: a mark and what follows it are one character. */
        char *to = strbuf_reserve(scratch, (size_t)(cell.end - cell.at)), *first = to;
        for (const char *from = cell.at; from < cell.end; from++) {
            bool doubled = quotes && *from == '"', escaped = escapes && *from == '\\';
            const bool marked = (doubled || escaped) && from + 1 < cell.end;
            from += marked;
            *to++ = marked && escaped ? unescaped(*from) : *from;
        }
        strbuf_commit(scratch, (size_t)(to - first));
    }
    return (struct text){scratch->text, scratch->length};
}
