/* How one value is written: alignment, width, sign, digits. */
#ifndef RQL_ENGINE_TEXT_FUNCTIONS_FORMAT_SPEC_H
#define RQL_ENGINE_TEXT_FUNCTIONS_FORMAT_SPEC_H

#include "engine/text_functions/text_format.h"

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
    struct text time;     /* dates and times: their format; else empty */
};

/* The spec of a field for such an argument; false if it is wrong. */
bool format_spec_read(struct text written, const struct format_argument *argument, struct format_spec *spec,
                      struct arena *arena, const char **wrong);

/* Appends the value by a spec that is not plain. */
void format_spec_write(const struct format_spec *spec, const struct scalar *value, struct strbuf *out);

#endif
