#include "base/source.h"

#include "base/strbuf.h"
#include "base/utf8.h"

#include <string.h>

struct span span_join(struct span a, struct span b)
{
    if (!a.source)
        return b;
    if (!b.source || a.source != b.source)
        return a;
    return (struct span){
        .source = a.source,
        .begin = a.begin < b.begin ? a.begin : b.begin,
        .end = a.end > b.end ? a.end : b.end,
    };
}

struct place source_place(const struct source *source, size_t offset)
{
    if (offset > source->length)
        offset = source->length;

    size_t line = 1;
    size_t begin = 0;
    const char *newline;
    while ((newline = memchr(source->text + begin, '\n', offset - begin))) {
        begin = (size_t)(newline - source->text) + 1;
        line++;
    }

    newline = memchr(source->text + begin, '\n', source->length - begin);
    size_t end = newline ? (size_t)(newline - source->text) : source->length;
    if (end > begin && source->text[end - 1] == '\r')
        end--;

    size_t column = 1;
    for (size_t at = begin; at < offset; column++) {
        uint32_t code;
        const size_t size = utf8_decode(source->text + at, source->length - at, &code);
        at += size ? size : 1;
    }
    return (struct place){line, column, source->text + begin, end - begin};
}

/* The bytes of the first character, and the cells it takes. */
static size_t first_character(const char *text, size_t length, size_t *cells)
{
    uint32_t code = 0;
    const size_t size = utf8_decode(text, length, &code);
    if (size && !utf8_is_control(code)) {
        *cells = utf8_cells(code);
        return size;
    }
    struct strbuf shown = {0};
    strbuf_add_visible(&shown, text, size ? size : 1);
    *cells = shown.length; /* ASCII only */
    strbuf_free(&shown);
    return size ? size : 1;
}

size_t text_width(const char *text, size_t length)
{
    size_t width = 0, cells;
    for (size_t at = 0; at < length; width += cells)
        at += first_character(text + at, length - at, &cells);
    return width;
}

size_t text_prefix(const char *text, size_t length, size_t cells)
{
    size_t at = 0;
    while (at < length) {
        size_t more, size = first_character(text + at, length - at, &more);
        if (more > cells)
            break;
        cells -= more;
        at += size;
    }
    return at;
}
