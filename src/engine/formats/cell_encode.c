#include "engine/formats/cell_encode.h"

#include "base/heap.h"
#include "engine/storage/list_store.h"
#include "engine/values/dictionary.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { NUMBER_CELL = LOGICAL_TEXT_BYTES + 2 }; /* the longest but text */

struct cells {
    const struct column *column;
    const struct cell_style *style;
    const uint8_t *present; /* NULL: no value is missing */
    size_t missing_length;
    /* Writes a number, date ...; returns its end. NULL: text. */
    char *(*put)(char *at, const struct cells *cells, int64_t row);
    _Atomic unsigned char *seen; /* text: by code, once it has been written */
};

enum seen { SEEN_NOT, SEEN_PLAIN, SEEN_ESCAPED };

struct cursor cursor_open(struct strbuf *out)
{
    struct cursor cursor = {.out = out};
    cursor_grow(&cursor, NUMBER_CELL);
    return cursor;
}

void cursor_close(struct cursor *cursor)
{
    if (cursor->at)
        strbuf_commit(cursor->out, (size_t)(cursor->at - cursor->out->text) - cursor->out->length);
}

void cursor_grow(struct cursor *cursor, size_t bytes)
{
    cursor_close(cursor);
    cursor->at = strbuf_reserve(cursor->out, bytes);
    cursor->end = cursor->out->text + cursor->out->capacity - 1;
}

static char *put_int(char *at, const struct cells *cells, int64_t row)
{
    return int_text(at, column_get_int(cells->column, row));
}

static char *put_bool(char *at, const struct cells *cells, int64_t row)
{
    return bool_text(at, column_get_int(cells->column, row) != 0);
}

static char *put_float(char *at, const struct cells *cells, int64_t row)
{
    return float_text(at, column_get_float(cells->column, row));
}

static char *put_finite(char *at, const struct cells *cells, int64_t row)
{
    const double number = column_get_float(cells->column, row);
    if (isfinite(number))
        return float_text(at, number);
    memcpy(at, cells->style->missing, cells->missing_length);
    return at + cells->missing_length;
}

static char *put_logical(char *at, const struct cells *cells, int64_t row)
{
    return logical_text(at, cells->column->logical, column_get_int(cells->column, row));
}

static char *put_quoted(char *at, const struct cells *cells, int64_t row)
{
    *at++ = '"';
    at = put_logical(at, cells, row);
    *at++ = '"';
    return at;
}

struct cells *cells_new(const struct column *column, const struct cell_style *style)
{
    struct cells *cells =
        HEAP_NEW(struct cells, .column = column, .style = style, .missing_length = strlen(style->missing));
    cells->present = column->validity ? column->validity->data : NULL;
    const enum logical kind = column->logical.kind;
    if (kind == LOGICAL_LIST)
        return cells;
    if (kind == LOGICAL_TEXT)
        cells->seen = heap_array((size_t)column->logical.dictionary->count, sizeof *cells->seen);
    else if (kind == LOGICAL_NUMBER)
        cells->put = column->type == TYPE_BOOL                     ? put_bool
                     : type_table[column->type].kind != KIND_FLOAT ? put_int
                     : style->json                                 ? put_finite
                                                                   : put_float;
    else
        cells->put = style->json && !logical_is_number(column->logical) ? put_quoted : put_logical;
    return cells;
}

void cells_free(struct cells *cells)
{
    free(cells->seen);
    free(cells);
}

/* Threads may find out the same at once. */
static bool is_plain(struct cells *cells, int64_t code, struct text text)
{
    unsigned char seen = atomic_load_explicit(&cells->seen[code], memory_order_relaxed);
    if (seen == SEEN_NOT) {
        seen = cells->style->is_plain(text) ? SEEN_PLAIN : SEEN_ESCAPED;
        atomic_store_explicit(&cells->seen[code], seen, memory_order_relaxed);
    }
    return seen == SEEN_PLAIN;
}

static void add_text(struct cells *cells, struct cursor *cursor, int64_t row)
{
    const int64_t code = column_get_int(cells->column, row);
    struct text text = dictionary_text(cells->column->logical.dictionary, code);
    const size_t quotes = cells->style->json ? 1 : 0;
    cursor_add(cursor, "\"", quotes);
    if (is_plain(cells, code, text)) {
        cursor_add(cursor, text.at, text.length);
    } else {
        cursor_close(cursor);
        cells->style->add_escaped(cursor->out, text);
        *cursor = cursor_open(cursor->out);
    }
    cursor_add(cursor, "\"", quotes);
}

/* As JSON, which other formats have as text. */
static void add_list(struct cells *cells, struct cursor *cursor, int64_t row)
{
    struct strbuf list = {0};
    list_add_json(&list, cells->column, row);
    const struct text text = {list.text, list.length};
    cursor_close(cursor);
    if (cells->style->json || cells->style->is_plain(text))
        strbuf_add(cursor->out, text.at, text.length);
    else
        cells->style->add_escaped(cursor->out, text);
    *cursor = cursor_open(cursor->out);
    strbuf_free(&list);
}

void cells_add(struct cells *cells, struct cursor *cursor, int64_t row)
{
    if (cells->present && !cells->present[row]) {
        cursor_add(cursor, cells->style->missing, cells->missing_length);
    } else if (cells->column->logical.kind == LOGICAL_LIST) {
        add_list(cells, cursor, row);
    } else if (!cells->put) {
        add_text(cells, cursor, row);
    } else {
        if (cursor->end - cursor->at < NUMBER_CELL)
            cursor_grow(cursor, NUMBER_CELL);
        cursor->at = cells->put(cursor->at, cells, row);
    }
}

void cell_add(struct strbuf *out, const struct scalar *scalar, const struct cell_style *style)
{
    const bool text = scalar->logical.kind == LOGICAL_TEXT;
    const bool number = logical_is_number(scalar->logical);
    const bool finite = scalar->kind != KIND_FLOAT || isfinite(scalar->number);
    const bool quoted = style->json && !number;
    if (scalar->missing || (style->json && !finite)) {
        strbuf_puts(out, style->missing);
        return;
    }
    strbuf_puts(out, quoted ? "\"" : "");
    if (text && !style->is_plain(scalar->text))
        style->add_escaped(out, scalar->text);
    else
        scalar_print(out, scalar);
    strbuf_puts(out, quoted ? "\"" : "");
}
