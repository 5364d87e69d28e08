/* Encodes rows as bytes, for saved files and for output that is not a terminal. */
#ifndef RQL_ENGINE_FORMATS_ROW_ENCODE_H
#define RQL_ENGINE_FORMATS_ROW_ENCODE_H

#include "base/parallel.h"
#include "engine/storage/column.h"

/* Values that are the fields of an object, which is null where all are missing. Groups are within each other. */
struct frame_group {
    size_t begin, end; /* among frame->order */
    size_t before;     /* bytes of before[begin] that are before the object */
    size_t braces;     /* that close it, and groups that end where it does, before the next value */
    size_t value;      /* a column whose value stands for the missing object; SIZE_MAX: none */
};

/* The text around the values of a relation, the same for all rows. */
struct frame {
    struct strbuf head, foot;   /* of the whole output */
    struct strbuf *before;      /* before each value */
    size_t *order;              /* the columns of the values; NULL: all, in order */
    size_t used;                /* of `order` */
    struct frame_group *groups; /* by `begin`, the outer ones first */
    size_t group_count;
    struct strbuf after; /* after the last value of a row */
    size_t *widths;      /* of binary elements, by column, where the style needs them */
    size_t separator;    /* leading bytes of before[0] that separate rows: omitted in the first row */
    size_t columns;
};

struct cell_style; /* cell_encode.h */

/* A row format. */
struct row_style {
    bool binary;                    /* not suitable for a terminal */
    bool names_first;               /* the head is a line of column names, which may be omitted */
    const struct cell_style *cells; /* how values are written, if not by `rows` */

    /* Reports why this style cannot write the relation. NULL: it can write any. */
    enum status (*check)(const struct relation *relation, struct span span, struct diags *diags);
    /* Fills in the frame's texts. */
    void (*fill_frame)(struct frame *frame, const struct relation *relation);
    /* Appends rows begin..end-1; called by several threads at once. NULL: as text, in the frame. */
    void (*rows)(struct strbuf *out, const struct frame *frame, const struct relation *relation, int64_t begin,
                 int64_t end);
};

/* Fills in the frame of this relation. Release it with frame_free. */
void frame_init(struct frame *frame, const struct row_style *style, const struct relation *relation);
void frame_free(struct frame *frame);

/* Whether all values of a group, and those that stand for objects within it, are missing in a row. */
bool frame_group_is_missing(const struct frame *frame, const struct frame_group *group, const struct relation *relation,
                            int64_t row);

/* Receives the next piece of the output and may modify it; returns false to stop. */
typedef bool encode_sink(void *context, struct strbuf *piece);

/* Encodes the first `rows` rows, without head and foot, on all workers, and passes the pieces to `sink` in order.
 * Returns false if that did or the work was cancelled. */
bool encode_rows(const struct row_style *style, const struct frame *frame, const struct relation *relation,
                 int64_t rows, const struct workers *workers, encode_sink *sink, void *context);

/* Appends the elements of rows begin..end-1 in binary: little-endian, of the column's type, row after row. */
void encode_binary(struct strbuf *out, const struct frame *frame, const struct relation *relation, int64_t begin,
                   int64_t end);

#endif
