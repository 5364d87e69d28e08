/* Values as text in the row formats. What a column's values need is decided once a column, and whether a string needs
 * escapes once a string. */
#ifndef RQL_ENGINE_FORMATS_CELL_ENCODE_H
#define RQL_ENGINE_FORMATS_CELL_ENCODE_H

#include "engine/storage/column.h"

#include "base/strbuf.h"
#include "base/text.h"

#include <string.h>

/* How a format writes what is no number. */
struct cell_style {
    const char *missing; /* for a missing value */
    bool json;           /* what is no JSON number is in quotes; NaN and infinities are written as missing values */
    bool (*is_plain)(struct text text); /* whether text is written as it is; in JSON, between the quotes */
    void (*add_escaped)(struct strbuf *out, struct text text); /* appends other text; in JSON, without the quotes */
};

/* The end of a buffer's text while pieces are added: cursor_close commits them. */
struct cursor {
    struct strbuf *out;
    char *at, *end; /* room */
};
struct cursor cursor_open(struct strbuf *out);
void cursor_close(struct cursor *cursor);
void cursor_grow(struct cursor *cursor, size_t bytes); /* makes room */

static inline void cursor_add(struct cursor *cursor, const char *text, size_t length)
{
    if ((size_t)(cursor->end - cursor->at) < length)
        cursor_grow(cursor, length);
    memcpy(cursor->at, text, length);
    cursor->at += length;
}

/* What is needed to write the values of a column, which must live longer; never NULL. */
struct cells;
struct cells *cells_new(const struct column *column, const struct cell_style *style);
void cells_free(struct cells *cells);

/* Appends the value of a row; called by several threads at once. */
void cells_add(struct cells *cells, struct cursor *cursor, int64_t row);

/* Appends a single value. */
void cell_add(struct strbuf *out, const struct scalar *scalar, const struct cell_style *style);

#endif
