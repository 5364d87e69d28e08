#include "repl/line/highlight.h"

#include "parser/highlights.h"

#include <string.h>

/* Styles besides those of the highlights. */
enum { STYLE_MATCH = HIGHLIGHT_CLOSE + 1, STYLE_WRONG, STYLE_COUNT };

static const char *const escapes[STYLE_COUNT] = {
    [HIGHLIGHT_PLAIN] = "\033[0m",     [HIGHLIGHT_WORD] = "\033[0;1;34m",    [HIGHLIGHT_CALL] = "\033[0;36m",
    [HIGHLIGHT_NUMBER] = "\033[0;35m", [HIGHLIGHT_STRING] = "\033[0;32m",    [HIGHLIGHT_PATH] = "\033[0;32m",
    [HIGHLIGHT_COMMENT] = "\033[0;2m", [HIGHLIGHT_COMMAND] = "\033[0;1;34m", [HIGHLIGHT_OPEN] = "\033[0m",
    [HIGHLIGHT_CLOSE] = "\033[0m",     [STYLE_MATCH] = "\033[0;1;7m",        [STYLE_WRONG] = "\033[0;1;31m",
};

const char *highlight_escape(unsigned char style)
{
    return escapes[style];
}

/* The styles of a whole entry, of which the last line is shown. */
struct styles {
    const struct highlights *highlights;
    unsigned char *at;
};

/* Only the name of a command, not its arguments. */
static size_t styled_end(const struct source *text, const struct highlight *highlight)
{
    size_t end = highlight->begin;
    if (highlight->kind != HIGHLIGHT_COMMAND)
        return highlight->end;
    while (end < highlight->end && text->text[end] != ' ' && text->text[end] != '\t')
        end++;
    return end;
}

/* Whether the brackets of these places are one pair and at the cursor, which a bracket before it has only where none is
 * at it. */
static bool is_at(const struct styles *styles, size_t place, size_t cursor)
{
    const unsigned char at = styles->at[cursor];
    const bool bracket = at == HIGHLIGHT_OPEN || at == HIGHLIGHT_CLOSE || at == STYLE_WRONG || at == STYLE_MATCH;
    return bracket ? place == cursor : place + 1 == cursor;
}

static void mark_brackets(const struct styles *styles, size_t cursor, struct arena *arena)
{
    const struct highlights *highlights = styles->highlights;
    size_t *open = arena_array(arena, highlights->count + 1, sizeof *open), depth = 0;
    for (size_t i = 0; i < highlights->count; i++) {
        const struct highlight *highlight = &highlights->at[i];
        if (highlight->kind == HIGHLIGHT_OPEN) {
            open[depth++] = highlight->begin;
        } else if (highlight->kind == HIGHLIGHT_CLOSE && depth == 0) {
            styles->at[highlight->begin] = STYLE_WRONG;
        } else if (highlight->kind == HIGHLIGHT_CLOSE) {
            const size_t begin = open[--depth], end = highlight->begin;
            if (cursor != NO_CURSOR && (is_at(styles, begin, cursor) || is_at(styles, end, cursor)))
                styles->at[begin] = styles->at[end] = STYLE_MATCH;
        }
    }
}

const unsigned char *highlight_line(const struct completer *completer, const char *line, size_t length, size_t cursor,
                                    struct arena *arena)
{
    const struct source text = completer_text(completer, line, length, arena);
    const struct highlights highlights = parse_highlights(&text, arena);
    const struct styles styles = {&highlights, arena_alloc(arena, text.length + 1)};
    const size_t before = text.length - length;
    memset(styles.at, HIGHLIGHT_PLAIN, text.length + 1);
    for (size_t i = 0; i < highlights.count; i++) {
        const struct highlight *highlight = &highlights.at[i];
        memset(styles.at + highlight->begin, (int)highlight->kind, styled_end(&text, highlight) - highlight->begin);
    }
    mark_brackets(&styles, cursor == NO_CURSOR ? NO_CURSOR : before + cursor, arena);
    return styles.at + before;
}
