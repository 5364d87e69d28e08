/* Reading columns of an Arrow file: in pieces of rows of a record batch, on all threads. */
#ifndef RQL_ENGINE_ARROW_COLUMN_READING_H
#define RQL_ENGINE_ARROW_COLUMN_READING_H

#include "engine/arrow/arrow_file.h"
#include "engine/arrow/schema.h"

#include <stdatomic.h>
#include <threads.h>

/* A column being read. */
struct column_reading {
    const struct arrow_field *field;
    int64_t rows;
    struct column *column;   /* one reference, as the validity; text: NULL until its dictionary is complete */
    struct column *validity; /* NULL: no record batch says that a value is missing */
    bool in_place;           /* the column's data are in the mapped file */
    _Atomic bool unclean;    /* in place, but something is there where a value is missing */
    _Atomic int64_t missing; /* rows */
    _Atomic int64_t cut;     /* times rounded down */

    /* Text: the strings that each thread has seen; and the number there of each row's string, or of each value of the
     * dictionary, which become codes. */
    struct interner **interners;
    uint32_t **maps;
    uint32_t *numbers;
    int64_t count;
    struct dictionary *dictionary;
    _Atomic size_t view_bytes; /* of strings added from views, which may overlap */
    size_t most_view_bytes;
};

static const uint32_t NUMBER_MISSING = UINT32_MAX;

/* Rows begin..end-1 of a batch, of one column. */
struct piece {
    struct column_reading *reading;
    const struct arrow_batch *batch;
    int64_t first; /* where the batch begins in the column, or among the values of its dictionary */
    int64_t begin, end;
    bool values; /* of the column's dictionary */
    int member;  /* the thread that interned the strings */
};

/* The first failure, by the order of the pieces. */
struct reading_failure {
    mtx_t mutex;
    _Atomic bool failed;
    const struct piece *piece; /* NULL: no memory */
    int64_t row;               /* in the table; -1: of no particular row */
    const char *what;
};

/* Writes a byte for each of the rows of a field in a batch, 0 where its value is missing or a struct that it is in, and
 * counts these. *any: whether some are; else nothing is written. False: a buffer is damaged. */
bool arrow_validity_of(const struct arrow_batch *batch, const struct arrow_field *field, int64_t begin, int64_t end,
                       uint8_t *bytes, bool *any, int64_t *missing);

/* What is done with a piece: */
/* elements of fixed width become those of the column, */
void piece_decode(struct piece *piece, struct reading_failure *failure);
/* strings are interned by thread `member`, */
void piece_intern(struct piece *piece, int member, struct reading_failure *failure);
/* their numbers become codes, in the column or for the values of its dictionary, */
void piece_translate(const struct piece *piece);
/* and indices become codes. */
void piece_look_up(const struct piece *piece, const struct arrow_window *window, struct reading_failure *failure);

/* decode.c: elements of fixed width as those of columns. */

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
