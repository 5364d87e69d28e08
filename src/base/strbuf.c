#include "base/strbuf.h"

#include "base/heap.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64, TAB_CELLS = 4 };

void strbuf_free(struct strbuf *buffer)
{
    free(buffer->text);
    *buffer = (struct strbuf){0};
}

char *strbuf_take(struct strbuf *buffer, struct arena *arena)
{
    char *text = arena_text(arena, buffer->text, buffer->length);
    strbuf_free(buffer);
    return text;
}

void strbuf_clear(struct strbuf *buffer)
{
    buffer->length = 0;
    if (buffer->text)
        buffer->text[0] = '\0';
}

char *strbuf_grow(struct strbuf *buffer, size_t extra)
{
    if (extra >= SIZE_MAX / 2 - buffer->length)
        heap_exhausted();
    const size_t wanted = buffer->length + extra + 1;
    if (wanted > buffer->capacity) {
        size_t capacity = buffer->capacity ? buffer->capacity * 2 : FIRST_CAPACITY;
        if (capacity < wanted)
            capacity = wanted;
        buffer->text = heap_resize(buffer->text, capacity, 1);
        buffer->capacity = capacity;
        buffer->text[buffer->length] = '\0';
    }
    return buffer->text + buffer->length;
}

void strbuf_add(struct strbuf *buffer, const char *text, size_t length)
{
    char *to = strbuf_reserve(buffer, length);
    if (length)
        memcpy(to, text, length);
    strbuf_commit(buffer, length);
}

void strbuf_puts(struct strbuf *buffer, const char *text)
{
    strbuf_add(buffer, text, strlen(text));
}

void strbuf_putc(struct strbuf *buffer, char c)
{
    strbuf_add(buffer, &c, 1);
}

void strbuf_add_literal(struct strbuf *buffer, const char *text)
{
    strbuf_putc(buffer, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            strbuf_putc(buffer, '\\');
        strbuf_putc(buffer, *text);
    }
    strbuf_putc(buffer, '"');
}

void strbuf_add_spaces(struct strbuf *buffer, size_t count)
{
    memset(strbuf_reserve(buffer, count), ' ', count);
    strbuf_commit(buffer, count);
}

void strbuf_printf(struct strbuf *buffer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        heap_exhausted();
    char *to = strbuf_reserve(buffer, (size_t)length);
    vsnprintf(to, (size_t)length + 1, format, again);
    va_end(again);
    strbuf_commit(buffer, (size_t)length);
}

void strbuf_add_visible(struct strbuf *buffer, const char *text, size_t length)
{
    size_t plain = 0; /* start of the text not yet added */
    size_t at = 0;
    strbuf_reserve(buffer, length);
    while (at < length) {
        uint32_t code = 0;
        const size_t size = utf8_decode(text + at, length - at, &code);
        if (size && !utf8_is_control(code)) {
            at += size;
            continue;
        }
        strbuf_add(buffer, text + plain, at - plain);
        if (!size)
            strbuf_printf(buffer, "\\x%02x", (unsigned)(unsigned char)text[at]);
        else if (code == '\t')
            strbuf_printf(buffer, "%*s", TAB_CELLS, "");
        else if (code < 0x80)
            strbuf_printf(buffer, "^%c", (char)(code ^ 0x40));
        else
            strbuf_printf(buffer, "\\u%04x", (unsigned)code);
        at += size ? size : 1;
        plain = at;
    }
    strbuf_add(buffer, text + plain, at - plain);
}

void strbuf_add_json(struct strbuf *buffer, const char *text, size_t length)
{
    size_t plain = 0; /* start of the text not yet added */
    for (size_t at = 0, size; at < length; at += size) {
        const unsigned char byte = (unsigned char)text[at];
        uint32_t code;
        const size_t valid = byte < 0x80 ? 1 : utf8_decode(text + at, length - at, &code);
        size = valid ? valid : 1;
        if (valid && byte >= 0x20 && byte != '"' && byte != '\\')
            continue;
        strbuf_add(buffer, text + plain, at - plain);
        plain = at + 1;
        if (!valid)
            strbuf_puts(buffer, "\xef\xbf\xbd");
        else
            strbuf_printf(buffer, byte < 0x20 ? "\\u%04x" : "\\%c", byte);
    }
    strbuf_add(buffer, text + plain, length - plain);
}
