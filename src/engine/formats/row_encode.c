#include "engine/formats/row_encode.h"

#include "base/heap.h"
#include "base/integer.h"
#include "engine/formats/cell_encode.h"

#include <stdlib.h>
#include <string.h>

/* Values per piece: enough to amortise dispatch, few enough for the cache. */
enum { PIECE_VALUES = 32768, PIECES_PER_THREAD = 2 };

void frame_init(struct frame *frame, const struct row_style *style, const struct relation *relation)
{
    *frame = (struct frame){.columns = relation->count};
    frame->before = heap_array(relation->count, sizeof *frame->before);
    if (style->fill_frame)
        style->fill_frame(frame, relation);
}

void frame_free(struct frame *frame)
{
    for (size_t k = 0; k < frame->columns; k++)
        strbuf_free(&frame->before[k]);
    free(frame->before);
    free(frame->order);
    free(frame->groups);
    free(frame->widths);
    strbuf_free(&frame->head);
    strbuf_free(&frame->foot);
    strbuf_free(&frame->after);
    *frame = (struct frame){0};
}

static void add_rows(struct strbuf *out, const struct frame *frame, struct cells *const *cells, int64_t begin,
                     int64_t end)
{
    struct cursor cursor = cursor_open(out);
    for (int64_t row = begin; row < end; row++) {
        for (size_t k = 0; k < frame->columns; k++) {
            const struct strbuf *before = &frame->before[k];
            const size_t skip = k == 0 && row == 0 ? frame->separator : 0;
            if (before->length > skip)
                cursor_add(&cursor, before->text + skip, before->length - skip);
            cells_add(cells[k], &cursor, row);
        }
        cursor_add(&cursor, frame->after.text, frame->after.length);
    }
    cursor_close(&cursor);
}

/* Writes the object of a group whose values are missing. */
static void add_missing_group(struct cursor *cursor, const struct frame *frame, const struct frame_group *group,
                              struct cells *const *cells, int64_t row, size_t skip)
{
    cursor_add(cursor, frame->before[group->begin].text + skip, group->before - skip);
    if (group->value != SIZE_MAX)
        cells_add(cells[group->value], cursor, row);
    else
        cursor_add(cursor, "null", strlen("null"));
}

/* Rows with objects in them. What closes objects is before the next value, or behind the last. */
static void add_nested_rows(struct strbuf *out, const struct frame *frame, const struct relation *relation,
                            struct cells *const *cells, int64_t begin, int64_t end)
{
    struct cursor cursor = cursor_open(out);
    for (int64_t row = begin; row < end; row++) {
        const struct frame_group *group = frame->groups, *last = group + frame->group_count;
        size_t closed = 0; /* leading bytes of before[i], or of `after`, that are written or left out */
        for (size_t i = 0; i < frame->used;) {
            const size_t skip = (i == 0 && row == 0 ? frame->separator : 0) + closed;
            while (group < last && group->begin == i && !frame_group_is_missing(frame, group, relation, row))
                group++;
            if (group < last && group->begin == i) {
                add_missing_group(&cursor, frame, group, cells, row, skip);
                i = group->end;
                closed = group->braces;
                while (group < last && group->begin < i)
                    group++;
                continue;
            }
            cursor_add(&cursor, frame->before[i].text + skip, frame->before[i].length - skip);
            cells_add(cells[frame->order[i]], &cursor, row);
            closed = 0;
            i++;
        }
        cursor_add(&cursor, frame->after.text + closed, frame->after.length - closed);
    }
    cursor_close(&cursor);
}

static void add_element(struct strbuf *out, const struct column *column, int64_t row)
{
    const size_t size = type_table[column->type].size;
    union {
        int64_t integer;
        double number;
        float narrow;
    } element;
    /* The low bytes of an integer are the element. */
    if (type_table[column->type].kind != KIND_FLOAT)
        element.integer = column_get_int(column, row);
    else if (column->type == TYPE_F32)
        element.narrow = (float)column_get_float(column, row);
    else
        element.number = column_get_float(column, row);
    strbuf_add(out, (const char *)&element, size);
}

void encode_binary(struct strbuf *out, const struct frame *frame, const struct relation *relation, int64_t begin,
                   int64_t end)
{
    (void)frame;
    const struct column *first = relation->columns[0];
    if (relation->count == 1 && first->store == first->type) {
        const size_t size = type_table[first->type].size;
        strbuf_add(out, (const char *)first->data + (size_t)begin * size, (size_t)(end - begin) * size);
        return;
    }
    for (int64_t row = begin; row < end; row++) {
        for (size_t k = 0; k < relation->count; k++)
            add_element(out, relation->columns[k], row);
    }
}

/* A batch of pieces encoded in parallel. */
struct batch {
    const struct row_style *style;
    const struct frame *frame;
    const struct relation *relation;
    struct cells **cells; /* by column, unless the style writes rows itself */
    struct strbuf *pieces;
    int64_t begin, rows; /* first row of the batch; total rows */
    int64_t piece_rows;
};

static void encode_piece(void *context, int member, int64_t part)
{
    (void)member;
    const struct batch *batch = context;
    const int64_t begin = batch->begin + part * batch->piece_rows;
    const int64_t end = batch->rows - begin > batch->piece_rows ? begin + batch->piece_rows : batch->rows;
    struct strbuf *piece = &batch->pieces[part];
    strbuf_clear(piece);
    if (batch->style->rows)
        batch->style->rows(piece, batch->frame, batch->relation, begin, end);
    else if (batch->frame->group_count > 0)
        add_nested_rows(piece, batch->frame, batch->relation, batch->cells, begin, end);
    else
        add_rows(piece, batch->frame, batch->cells, begin, end);
}

bool encode_rows(const struct row_style *style, const struct frame *frame, const struct relation *relation,
                 int64_t rows, const struct workers *workers, encode_sink *sink, void *context)
{
    struct batch batch = {.style = style, .frame = frame, .relation = relation, .rows = rows};
    const int64_t max_pieces = (int64_t)workers->threads * PIECES_PER_THREAD;
    batch.pieces = heap_array((size_t)max_pieces, sizeof *batch.pieces);
    batch.cells = heap_array(relation->count, sizeof *batch.cells);
    for (size_t k = 0; k < relation->count && !style->rows; k++)
        batch.cells[k] = cells_new(relation->columns[k], style->cells);
    batch.piece_rows = PIECE_VALUES / (int64_t)relation->count + 1;
    bool wanted = true;
    const struct workers silent = {.threads = workers->threads,
                                   .cancel = workers->cancel}; /* progress is reported for the whole below */
    while (wanted && batch.begin < rows) {
        const int64_t remaining = (rows - batch.begin + batch.piece_rows - 1) / batch.piece_rows;
        const int64_t pieces = min_int64(remaining, max_pieces);
        wanted = workers_run(&silent, pieces, encode_piece, &batch);
        for (int64_t i = 0; i < pieces && wanted; i++)
            wanted = sink(context, &batch.pieces[i]);
        batch.begin += pieces * batch.piece_rows;
        struct progress_step advance = workers->whole;
        advance.part = batch.begin < rows ? (double)batch.begin / (double)rows : 1;
        progress_report(workers->progress, &advance);
    }
    for (int64_t i = 0; i < max_pieces; i++)
        strbuf_free(&batch.pieces[i]);
    for (size_t k = 0; k < relation->count && !style->rows; k++)
        cells_free(batch.cells[k]);
    free(batch.cells);
    free(batch.pieces);
    return wanted;
}
