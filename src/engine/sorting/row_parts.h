/* Rows divided by their keys into parts that fit memory, for what sorts or groups more than that.
 *
 * One pass counts the rows of each part, another moves all columns that are needed to copies on the disk, in which a
 * part's rows are one after another, in the order that they had. Parts are in the order of their keys, and no key is in
 * two of them: so each is sorted, or grouped, alone, and results follow each other. A part that is too large
 * itself is divided likewise, by the range that its keys have; keys that are all equal need no memory. */
#ifndef RQL_ENGINE_SORTING_ROW_PARTS_H
#define RQL_ENGINE_SORTING_ROW_PARTS_H

#include "base/parallel.h"
#include "engine/sorting/sort_keys.h"
#include "engine/sorting/sort_positions.h"

/* What rows are divided by: a code of each, less than 2^bits. */
struct part_codes {
    void (*read)(const void *context, int64_t row, int count, uint64_t *codes); /* up to KEY_BLOCK */
    const void *context;
    int bits;
};

/* Whether memory has no room for `row_bytes` bytes of each row, but the disk has, and the keys differ, so that rows can
 * be divided by them. */
bool row_parts_pay(const struct keys *keys, int64_t rows, int64_t row_bytes, struct buffer_pool *pool);

/* A column of all rows, and its copy. */
struct parted_column {
    const struct column *from;
    struct column *to;
    struct column view; /* the rows of a part */
    size_t dropped;     /* bytes at the beginning of `to` */
};

struct row_parts {
    const struct keys *keys; /* or NULL */
    struct sort_positions by;
    struct parted_column *columns;
    size_t column_count;
    struct column numbers; /* stands for the numbers of rows, if these are moved */
    int64_t *begins;       /* of each part, and the number of rows */
    int64_t count;
};

/* Divides the rows by their keys into parts, of which each fits memory with `row_bytes` bytes a row. `columns` are
 * moved, and may be named twice or NULL; with `numbered` also the numbers of rows, &parts->numbers. STATUS_OK,
 * STATUS_CANCELLED, or STATUS_FAILED, without an error: not enough memory. Call row_parts_free in any case. */
enum status row_parts_make(struct row_parts *parts, const struct keys *keys, int64_t rows, int64_t row_bytes,
                           const struct workers *workers, const struct column *const *columns, size_t count,
                           bool numbered);

/* The same by other codes; with `like`, into parts of the codes that those have. */
enum status row_parts_make_by(struct row_parts *parts, const struct part_codes *codes, const struct row_parts *like,
                              int64_t rows, int64_t row_bytes, const struct workers *workers,
                              const struct column *const *columns, size_t count, bool numbered);
void row_parts_free(struct row_parts *parts);

/* Opens a part, not before the ones before it, which are no longer read; returns its rows. */
int64_t row_parts_open(struct row_parts *parts, int64_t part);

/* For what runs on a part: the parts together are one pass, whose progress this reports, and what runs within reports
 * nothing. */
struct workers row_parts_workers(const struct row_parts *parts, int64_t part, const struct workers *workers);

/* The open part's rows of a column that was moved. Its range is found again if it is one of the keys. */
struct column *row_parts_column(const struct row_parts *parts, const struct column *from);

#endif
