/* Source text with a name, and places in it. */
#ifndef RQL_BASE_SOURCE_H
#define RQL_BASE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The text of a script, a -c argument or one entry at the prompt. Outlives every span into it. */
struct source {
    const char *name; /* as shown in errors: "query.rql", "<stdin>", "-c" */
    const char *text; /* NUL-terminated after `length` bytes; may contain NULs */
    size_t length;
};

/* Bytes begin..end-1 of a source. A span without a source is empty. */
struct span {
    const struct source *source;
    uint32_t begin;
    uint32_t end;
};

/* The smallest span that contains both; either may be empty. */
struct span span_join(struct span a, struct span b);

/* A position for messages: 1-based line, 1-based column in code points, and the line's text. */
struct place {
    size_t line;
    size_t column;
    const char *text; /* of the line, not NUL-terminated */
    size_t length;
};
struct place source_place(const struct source *source, size_t offset);

/* The terminal cells that `length` bytes of UTF-8 take: 2 for wide characters, 0 for combining ones; control bytes as
 * strbuf_add_visible writes them. */
size_t text_width(const char *text, size_t length);

/* The bytes of the longest prefix of whole characters that takes at most `cells`. */
size_t text_prefix(const char *text, size_t length, size_t cells);

#endif
