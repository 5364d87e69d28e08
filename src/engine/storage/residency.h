/* Residency: rows that are not in host memory. Results computed on a device stay there until the host reads them, and
 * deferred rows (deferred_rows.h) are computed on the first read. Call one of the fetch functions before reading a
 * column's data. Main thread only. */
#ifndef RQL_ENGINE_STORAGE_RESIDENCY_H
#define RQL_ENGINE_STORAGE_RESIDENCY_H

#include "engine/storage/column.h"

#include <stdatomic.h>

/* Rows of a column held elsewhere: host memory for them is reserved but undefined. Owned by the holder; those of a
 * column are disjoint. */
struct residency {
    int64_t begin, end;
    bool deferred; /* not computed yet (deferred_rows.h); otherwise a device has them */
    /* Writes rows begin..end-1, a part of these, to the column's data. Returns false if they are lost, or with the
     * reason in `failure`. */
    bool (*fetch)(struct residency *residency, int64_t begin, int64_t end);
    /* Reports why `fetch` failed: STATUS_CANCELLED, or STATUS_FAILED with an error at `span`. NULL: the device lost the
     * rows. */
    enum status (*failure)(struct residency *residency, struct span span, struct diags *diags);
    /* The rows are no longer needed. The struct has been removed from the column and is not used again. */
    void (*drop)(struct residency *residency);
    /* All rows have been fetched; the struct has been removed from the column. May be NULL. */
    void (*arrived)(struct residency *residency);
    struct residency *next;
};

/* For holders: adds and removes held rows, whether or not they were fetched. */
void residency_add(struct column *column, struct residency *residency);
void residency_remove(struct column *column, struct residency *residency);

/* For backends: rows of the column were lost. */
void residency_mark_lost(struct column *column);

/* Drops held rows from `row` on, because they will be written again. None may begin before `row` and end after it. */
void residency_discard(struct column *column, int64_t row);
void columns_discard(struct column *const *columns, size_t count, int64_t row); /* elements may be NULL */

/* Whether rows of the column are not computed yet. */
bool column_is_deferred(const struct column *column);

/* Makes rows begin..end-1 available on the host. Returns false if they are lost. */
bool column_fetch(struct column *column, int64_t begin, int64_t end);

/* Makes all rows of the columns, of which some may be NULL, available on the host. STATUS_FAILED with an error at
 * `span` if rows are lost; STATUS_CANCELLED if `cancel`, which may be NULL, is set. */
enum status columns_fetch(struct column *const *columns, size_t count, const atomic_int *cancel, struct span span,
                          struct diags *diags);

/* columns_fetch for rows begin..end-1, not interruptible; */
enum status columns_fetch_rows(struct column *const *columns, size_t count, int64_t begin, int64_t end,
                               struct span span, struct diags *diags);
/* for all columns of a relation. */
enum status relation_fetch(const struct relation *relation, int64_t begin, int64_t end, struct span span,
                           struct diags *diags);

#endif
