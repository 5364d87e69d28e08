/* Values as text by a pattern with fields, as Python's str.format: "{}-{:05}", "{:,.2f}", "{:%Y-%m}".
 *
 * A field is {}, {K} or {:SPEC}, where K is an argument from 0 and SPEC is [[fill]align][sign][#][0][width][, or _]
 * [.precision][type], of dates and times also a format of base/time/time_format.h. {{ and }} are braces. */
#ifndef RQL_ENGINE_TEXT_FUNCTIONS_TEXT_FORMAT_H
#define RQL_ENGINE_TEXT_FUNCTIONS_TEXT_FORMAT_H

#include "engine/values/scalar.h"

#include "base/arena.h"
#include "base/time/time_writer.h"

struct text_format;

/* What an argument is. */
struct format_argument {
    enum kind kind;
    struct logical_type logical;
};

/* The pattern for such arguments, in the arena; NULL if it is wrong: `wrong` then says how. */
const struct text_format *text_format_new(struct text text, const struct format_argument *arguments, size_t count,
                                          struct arena *arena, const char **wrong);

/* One argument as text, by a format of base/time/time_format.h if that is not empty, else as it is printed. */
const struct text_format *text_format_of_value(struct text time_format, const struct format_argument *argument,
                                               struct arena *arena, const char **wrong);

/* All arguments one after another, as they are printed. */
const struct text_format *text_format_concat(size_t count, struct arena *arena);

/* What one thread formats with: its buffer, and the writers of times, one a field, which keep the texts of days. */
struct text_maker {
    const struct text_format *format; /* NULL: none, and only `text` is used */
    struct time_writer **times;       /* of each field; NULL: it writes no time by a format */
    struct strbuf text;
};

struct text_maker text_maker_new(const struct text_format *format);
void text_maker_free(struct text_maker *maker);

/* Appends the text for these values, of which none is missing. */
void text_maker_add(struct text_maker *maker, const struct scalar *values);

/* format_spec.c: how one value is written: alignment, width, sign, digits. */

struct format_spec {
    bool plain; /* as printed: all below is empty */
    char fill[4];
    size_t fill_length;   /* 0: a blank */
    char align;           /* < > ^ =; 0: by the type */
    char sign;            /* + or a blank; 0: only minus */
    bool alternate;       /* 0x before hexadecimal digits */
    char grouping;        /* , or _ between digits; 0: none */
    char type;            /* as in Python; 0: by the value */
    int width, precision; /* in code points; -1: none */
    bool whole;           /* an integer of decimal digits, to the right of one byte repeated, if of any */
    struct text time;     /* dates and times: their format; else empty */
};

/* The spec of a field for such an argument; false if it is wrong. */
bool format_spec_read(struct text written, const struct format_argument *argument, struct format_spec *spec,
                      struct arena *arena, const char **wrong);

/* Appends the value by a spec that is not plain; `times` is that of its time format, if it has one. */
void format_spec_write(const struct format_spec *spec, const struct scalar *value, struct time_writer *times,
                       struct strbuf *out);

#endif
