/* Rows as bytes: what is saved to a file and what is printed without a terminal come from here. */
#ifndef RQL_ENGINE_FORMATS_ROW_ENCODE_H
#define RQL_ENGINE_FORMATS_ROW_ENCODE_H

#include "base/parallel.h"
#include "engine/storage/column.h"

/* What stands around the values of a relation, the same for all of its rows. */
struct frame {
    struct strbuf head, foot; /* of the whole */
    struct strbuf *before;    /* each column's value in a row */
    struct strbuf after;      /* a row's last value */
    size_t between;           /* bytes before[0] begins with that part two rows: the first row goes without them */
    size_t columns;
};

/* One way of writing rows. */
struct row_style {
    bool binary;           /* not for a terminal */
    bool names_first;      /* the head is a line of the columns' names, which can be left out */
    bool has_only_numbers; /* NaN and the infinities are null */

    /* What is wrong with the relation, if this style cannot write it. NULL: it can write any. */
    enum status (*check)(const struct relation *relation, struct span span, struct diags *diags);
    /* Appends the frame's texts. */
    void (*surround)(struct frame *frame, const struct relation *relation);
    /* Appends rows begin..end-1; several threads do at once. NULL: as text, in the frame. */
    void (*rows)(struct strbuf *out, const struct relation *relation, int64_t begin, int64_t end);
};

void frame_init(struct frame *frame, const struct row_style *style, const struct relation *relation);
void frame_free(struct frame *frame);

/* Takes the next piece of the output, which may be used up or changed; false: no more is wanted. */
typedef bool encode_sink(void *context, struct strbuf *piece);

/* Encodes the first `rows` rows, without head and foot, with all of the crew, and gives them to `take` in order, piece
 * by piece. False if that said so or the crew was stopped. */
bool encode_rows(const struct row_style *style, const struct frame *frame, const struct relation *relation,
                 int64_t rows, const struct workers *workers, encode_sink *take, void *context);

/* Appends element `row` as scalar_print would print it. */
void encode_element(struct strbuf *out, const struct column *column, int64_t row);

/* Appends the elements of rows begin..end-1 as they are in files: little-endian, of the column's type, row after row.
 */
void encode_binary(struct strbuf *out, const struct relation *relation, int64_t begin, int64_t end);

#endif
