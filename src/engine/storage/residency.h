/* Elements that are not in the host's memory: what a task computes on a device stays there, and comes to the host when
 * something on the host asks for it; what nobody has asked for yet is computed then (deferred_rows.h). Whoever reads a
 * column's data calls one of these functions first. Only the main thread does. */
#ifndef RQL_ENGINE_STORAGE_RESIDENCY_H
#define RQL_ENGINE_STORAGE_RESIDENCY_H

#include "engine/storage/column.h"

#include <stdatomic.h>

/* Rows of a column that are elsewhere: the host's memory for them is reserved, and holds nothing. Owned by who has
 * them; a column's are disjoint. */
struct residency {
    int64_t begin, end;
    bool deferred; /* not computed yet (deferred_rows.h); otherwise a device has them */
    /* Writes the elements of rows begin..end-1, some of these, to the column's data. False: they are lost, or as
     * `failure` says. */
    bool (*fetch)(struct residency *residency, int64_t begin, int64_t end);
    /* Why `fetch` has failed: STATUS_CANCELLED, or STATUS_FAILED with an error at `span`. NULL: the device has lost
     * them. */
    enum status (*failure)(struct residency *residency, struct span span, struct diags *diags);
    /* Forgets them: they are not wanted. It is no longer the column's, and is not used again. */
    void (*drop)(struct residency *residency);
    /* All of them have come: it is no longer the column's. NULL: nothing is to be done. */
    void (*arrived)(struct residency *residency);
    struct residency *next;
};

/* For who has them: the rows are elsewhere from now on; they are no longer, wherever they are. */
void residency_add(struct column *column, struct residency *residency);
void residency_remove(struct column *column, struct residency *residency);

/* For backends: some of the column's rows could not be brought back. */
void residency_mark_lost(struct column *column);

/* The rows from `row` on are going to be written anew, whatever a backend had made of them: those elsewhere are
 * forgotten. None of the column's away may begin before `row` and end behind it. */
void residency_discard(struct column *column, int64_t row);
void columns_discard(struct column *const *columns, size_t count, int64_t row); /* of which some may be NULL */

/* Whether rows of the column are not computed yet. */
bool column_is_deferred(const struct column *column);

/* Rows begin..end-1 of the column are on the host from now on. False: they are lost with their device. */
bool column_fetch(struct column *column, int64_t begin, int64_t end);

/* All rows of the columns, of which some may be NULL, are on the host from now on. STATUS_FAILED with an error at
 * `span` if some are lost; STATUS_CANCELLED when interrupted. `cancel` may be NULL. */
enum status columns_fetch(struct column *const *columns, size_t count, const atomic_int *cancel, struct span span,
                          struct diags *diags);

/* The same of rows begin..end-1, which nobody interrupts. */
enum status columns_fetch_rows(struct column *const *columns, size_t count, int64_t begin, int64_t end,
                               struct span span, struct diags *diags);
enum status relation_fetch(const struct relation *relation, int64_t begin, int64_t end, struct span span,
                           struct diags *diags);

#endif
