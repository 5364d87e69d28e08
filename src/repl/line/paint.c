#include "repl/line/line_editor.h"

#include "repl/line/highlight.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* A place on the screen, from the first cell of the prompt. */
struct position {
    size_t row, column;
};

/* The bytes and cells of the character at the start of `text`; 0 bytes: the line editor may draw something else for it.
 */
static size_t character(const char *text, size_t length, size_t *cells)
{
    const unsigned char byte = (unsigned char)*text;
    *cells = 1;
    if (byte < 0x80)
        return byte >= 0x20 && byte != 0x7f;
    wchar_t wide;
    mbstate_t state = {0};
    const size_t size = MB_CUR_MAX > 1 ? mbrtowc(&wide, text, length, &state) : 0;
    const int width = size >= 1 && size <= length ? wcwidth(wide) : 0;
    *cells = width > 0 ? (size_t)width : 0;
    return width > 0 ? size : 0;
}

/* Where a character of so many cells is drawn: a wide one is not divided. */
static struct position drawn_at(struct position place, size_t cells, size_t width)
{
    return place.column + cells > width ? (struct position){place.row + 1, 0} : place;
}

static struct position after(struct position place, size_t cells, size_t width)
{
    place.column += cells;
    return place.column >= width ? (struct position){place.row + 1, 0} : place;
}

/* Finds the places of the end of the prompt, of the cursor and of the end; false if one is not certain. */
static bool find_places(const struct painting *painting, struct position *begin, struct position *cursor,
                        struct position *end)
{
    struct position place = {0};
    size_t cells, size;
    for (const char *at = painting->prompt; *at; at += size) {
        if (!(size = character(at, strlen(at), &cells)))
            return false;
        place = after(drawn_at(place, cells, painting->width), cells, painting->width);
    }
    *begin = place;
    for (size_t at = 0; at < painting->length; at += size) {
        const bool newline = painting->line[at] == '\n';
        size = newline ? 1 : character(painting->line + at, painting->length - at, &cells);
        if (size == 0)
            return false;
        if (!newline)
            place = drawn_at(place, cells, painting->width);
        if (at == painting->cursor)
            *cursor = place;
        place = newline ? (struct position){place.row + 1, 0} : after(place, cells, painting->width);
    }
    if (painting->cursor >= painting->length)
        *cursor = place;
    *end = place;
    return true;
}

/* Moves the cursor down that many rows, to a column. */
static void go(struct strbuf *out, size_t down, size_t column)
{
    strbuf_putc(out, '\r');
    if (down > 0)
        strbuf_printf(out, "\033[%zuB", down);
    if (column > 0)
        strbuf_printf(out, "\033[%zuC", column);
}

/* At the right margin the terminal goes on to the next row by itself, as it did for the line editor: so it still knows
 * that the rows are one line, when its width changes. */
static void draw(struct strbuf *out, const struct painting *painting, struct position place)
{
    int style = -1;
    size_t cells, size, row = place.row; /* the row of the last character */
    for (size_t at = 0; at < painting->length; at += size) {
        if (painting->line[at] == '\n') {
            place = (struct position){place.row + 1, 0};
            go(out, place.row - row, 0);
            row = place.row;
            size = 1;
            continue;
        }
        size = character(painting->line + at, painting->length - at, &cells);
        place = drawn_at(place, cells, painting->width);
        row = place.row;
        if (painting->styles[at] != style)
            strbuf_puts(out, highlight_escape(painting->styles[at]));
        style = painting->styles[at];
        strbuf_add(out, painting->line + at, size);
        place = after(place, cells, painting->width);
    }
}

bool paint_line(struct strbuf *out, const struct painting *painting)
{
    struct position begin, cursor = {0}, end;
    if (painting->width < 2 || !find_places(painting, &begin, &cursor, &end) || end.row >= painting->height)
        return false;
    strbuf_puts(out, "\0337"); /* saves the cursor */
    if (cursor.row > 0)
        strbuf_printf(out, "\033[%zuA", cursor.row);
    go(out, begin.row, begin.column);
    draw(out, painting, begin);
    strbuf_puts(out, "\033[0m\0338"); /* restores it */
    return true;
}
