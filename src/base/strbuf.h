/* A growing string buffer: generated kernels, rendered errors, printed rows. */
#ifndef RQL_BASE_STRBUF_H
#define RQL_BASE_STRBUF_H

#include "base/arena.h"

#include <stddef.h>

/* Initialise with zeroes. `text` is NULL until something is added, then NUL-terminated. */
struct strbuf {
    char *text;
    size_t length;
    size_t capacity;
};

void strbuf_free(struct strbuf *buffer);

/* Its text, "" if nothing was added, in the arena; frees the buffer. */
char *strbuf_take(struct strbuf *buffer, struct arena *arena);

/* Empties the buffer but keeps its memory. */
void strbuf_clear(struct strbuf *buffer);

/* Reserves room for `extra` more bytes and the NUL and returns where to write them; strbuf_commit appends what was
 * written. strbuf_grow is for where there is none. */
char *strbuf_grow(struct strbuf *buffer, size_t extra);

static inline char *strbuf_reserve(struct strbuf *buffer, size_t extra)
{
    return extra < buffer->capacity - buffer->length ? buffer->text + buffer->length : strbuf_grow(buffer, extra);
}

static inline void strbuf_commit(struct strbuf *buffer, size_t written)
{
    if (!buffer->text)
        return;
    buffer->length += written;
    buffer->text[buffer->length] = '\0';
}

void strbuf_add(struct strbuf *buffer, const char *text, size_t length);
void strbuf_puts(struct strbuf *buffer, const char *text);
void strbuf_putc(struct strbuf *buffer, char c);
/* Appends the text as a literal of the language, in double quotes. */
void strbuf_add_literal(struct strbuf *buffer, const char *text);
void strbuf_add_spaces(struct strbuf *buffer, size_t count);
void strbuf_printf(struct strbuf *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends text with control bytes and invalid UTF-8 escaped: ^[ for escape, \xff for a stray byte. */
void strbuf_add_visible(struct strbuf *buffer, const char *text, size_t length);

/* Appends text as it stands between the quotes of JSON; an invalid byte becomes U+FFFD. */
void strbuf_add_json(struct strbuf *buffer, const char *text, size_t length);

#endif
