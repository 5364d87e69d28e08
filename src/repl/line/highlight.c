#include "repl/line/highlight.h"

#include "parser/pieces.h"

#include <string.h>

/* Styles besides those of the pieces. */
enum { STYLE_MATCH = PIECE_CLOSE + 1, STYLE_WRONG, STYLE_COUNT };

static const char *const escapes[STYLE_COUNT] = {
    [PIECE_PLAIN] = "\033[0m",     [PIECE_WORD] = "\033[0;1;34m",    [PIECE_CALL] = "\033[0;36m",
    [PIECE_NUMBER] = "\033[0;35m", [PIECE_STRING] = "\033[0;32m",    [PIECE_PATH] = "\033[0;32m",
    [PIECE_COMMENT] = "\033[0;2m", [PIECE_COMMAND] = "\033[0;1;34m", [PIECE_OPEN] = "\033[0m",
    [PIECE_CLOSE] = "\033[0m",     [STYLE_MATCH] = "\033[0;1;7m",    [STYLE_WRONG] = "\033[0;1;31m",
};

const char *highlight_escape(unsigned char style)
{
    return escapes[style];
}

/* The styles of a whole entry, of which the last line is shown. */
struct styles {
    const struct pieces *pieces;
    unsigned char *at;
};

/* Only the name of a command, not its arguments. */
static size_t styled_end(const struct source *text, const struct piece *piece)
{
    size_t end = piece->begin;
    if (piece->kind != PIECE_COMMAND)
        return piece->end;
    while (end < piece->end && text->text[end] != ' ' && text->text[end] != '\t')
        end++;
    return end;
}

/* Whether the brackets of these places are one pair and at the cursor, which a bracket before it has only where none is
 * at it. */
static bool is_at(const struct styles *styles, size_t place, size_t cursor)
{
    const unsigned char at = styles->at[cursor];
    const bool bracket = at == PIECE_OPEN || at == PIECE_CLOSE || at == STYLE_WRONG || at == STYLE_MATCH;
    return bracket ? place == cursor : place + 1 == cursor;
}

static void mark_brackets(const struct styles *styles, size_t cursor, struct arena *arena)
{
    const struct pieces *pieces = styles->pieces;
    size_t *open = arena_array(arena, pieces->count + 1, sizeof *open), depth = 0;
    for (size_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->at[i];
        if (piece->kind == PIECE_OPEN) {
            open[depth++] = piece->begin;
        } else if (piece->kind == PIECE_CLOSE && depth == 0) {
            styles->at[piece->begin] = STYLE_WRONG;
        } else if (piece->kind == PIECE_CLOSE) {
            const size_t begin = open[--depth], end = piece->begin;
            if (cursor != NO_CURSOR && (is_at(styles, begin, cursor) || is_at(styles, end, cursor)))
                styles->at[begin] = styles->at[end] = STYLE_MATCH;
        }
    }
}

const unsigned char *highlight_line(const struct completer *completer, const char *line, size_t length, size_t cursor,
                                    struct arena *arena)
{
    const struct source text = completer_text(completer, line, length, arena);
    const struct pieces pieces = parse_pieces(&text, arena);
    const struct styles styles = {&pieces, arena_alloc(arena, text.length + 1)};
    const size_t before = text.length - length;
    memset(styles.at, PIECE_PLAIN, text.length + 1);
    for (size_t i = 0; i < pieces.count; i++) {
        const struct piece *piece = &pieces.at[i];
        memset(styles.at + piece->begin, (int)piece->kind, styled_end(&text, piece) - piece->begin);
    }
    mark_brackets(&styles, cursor == NO_CURSOR ? NO_CURSOR : before + cursor, arena);
    return styles.at + before;
}
