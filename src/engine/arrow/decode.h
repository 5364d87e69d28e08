/* Elements of fixed width as those of columns. */
#ifndef RQL_ENGINE_ARROW_DECODE_H
#define RQL_ENGINE_ARROW_DECODE_H

#include "engine/arrow/schema.h"

/* Rows of one array on their way into a column. */
struct decoding {
    const struct arrow_field *field;
    const unsigned char *from; /* the array's elements */
    int64_t begin, end;        /* rows of the array */
    const uint8_t *valid;      /* a byte for each row from `begin` on, 0: missing; NULL: all are there */
    void *to;                  /* the column's element for row `begin` */
    int64_t cut;               /* counts times that were rounded down */
};

/* Writes the elements, 0 where values are missing. Returns `end`, or the first row whose value does not fit. */
int64_t decode_rows(struct decoding *decoding);

/* Whether all elements of `width` bytes are 0 where values are missing. */
bool decode_zero_where_missing(const struct decoding *decoding);

/* Bits begin..end-1 as a byte each. Returns the number that are 0. */
int64_t decode_bits(const unsigned char *bits, int64_t begin, int64_t end, uint8_t *to);

#endif
