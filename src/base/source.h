/* Named text that queries come from, and places in it. */
#ifndef RQL_BASE_SOURCE_H
#define RQL_BASE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The text of a script, a -c argument or one entry at the prompt. Lives as long as any span into it. */
struct source {
    const char *name; /* as shown in errors: "query.rql", "<stdin>", "-c" */
    const char *text; /* NUL-terminated after `length` bytes; may hold NULs itself */
    size_t length;
};

/* Bytes begin..end-1 of a source. A span without source stands for nothing in particular. */
struct span {
    const struct source *source;
    uint32_t begin;
    uint32_t end;
};

/* The smallest span that holds both; either may be without source. */
struct span span_join(struct span a, struct span b);

/* Where a byte of the source is: 1-based line, 1-based column in code points, and the line's bytes. */
struct place {
    size_t line;
    size_t column;
    const char *text; /* the line, not NUL-terminated */
    size_t length;
};
struct place source_place(const struct source *source, size_t offset);

/* How many terminal cells `length` bytes of UTF-8 take (wide characters 2, combining 0, control bytes as shown
 * by strbuf_add_visible). */
size_t text_width(const char *text, size_t length);

#endif
