#include "engine/storage/residency.h"

#include "base/integer.h"

enum { FETCHED_ROWS = 1 << 27 }; /* between cancellation checks */

void residency_add(struct column *column, struct residency *residency)
{
    residency->next = column->residency;
    column->residency = residency;
}

void residency_remove(struct column *column, struct residency *residency)
{
    for (struct residency **at = &column->residency; *at; at = &(*at)->next) {
        if (*at == residency) {
            *at = residency->next;
            residency->next = NULL;
            return;
        }
    }
}

void residency_mark_lost(struct column *column)
{
    column->lost = true;
}

void residency_discard(struct column *column, int64_t row)
{
    for (struct residency *residency = column->residency, *next; residency; residency = next) {
        next = residency->next;
        if (residency->begin < row)
            continue;
        residency_remove(column, residency);
        residency->drop(residency);
    }
}

void columns_discard(struct column *const *columns, size_t count, int64_t row)
{
    for (size_t k = 0; k < count; k++) {
        if (columns[k])
            residency_discard(columns[k], row);
    }
}

/* Rows begin..end-1 have been fetched. Those in the middle stay registered. */
static void mark_fetched(struct column *column, struct residency *residency, int64_t begin, int64_t end)
{
    if (begin == residency->begin)
        residency->begin = end;
    else if (end == residency->end)
        residency->end = begin;
    if (residency->begin < residency->end)
        return;
    residency_remove(column, residency);
    if (residency->arrived)
        residency->arrived(residency);
}

bool column_is_deferred(const struct column *column)
{
    const struct residency *residency = column->residency;
    while (residency && !residency->deferred)
        residency = residency->next;
    return residency;
}

bool column_fetch(struct column *column, int64_t begin, int64_t end)
{
    for (struct residency *residency = column->residency, *next; residency; residency = next) {
        int64_t first = max_int64(begin, residency->begin), last = min_int64(end, residency->end);
        next = residency->next;
        if (first >= last)
            continue;
        if (!residency->fetch(residency, first, last))
            return false;
        mark_fetched(column, residency, first, last);
    }
    return !column->lost;
}

static enum status lost_error(struct span span, struct diags *diags)
{
    return diag_error_hint(diags, span, "run it again; if that fails, run it on the host with `.device host`",
                           "the device lost its results");
}

/* Reports why rows begin..end-1 could not be fetched. */
static enum status fetch_error(const struct column *column, int64_t begin, int64_t end, struct span span,
                               struct diags *diags)
{
    for (struct residency *residency = column->residency; residency && !column->lost; residency = residency->next) {
        if (residency->failure && residency->begin < end && residency->end > begin)
            return residency->failure(residency, span, diags);
    }
    return lost_error(span, diags);
}

enum status columns_fetch(struct column *const *columns, size_t count, const atomic_int *cancel, struct span span,
                          struct diags *diags)
{
    for (size_t k = 0; k < count; k++) {
        struct column *column = columns[k];
        if (column && column->lost)
            return lost_error(span, diags);
        while (column && column->residency) {
            if (cancel && *cancel)
                return STATUS_CANCELLED;
            int64_t begin = column->residency->begin, end = min_int64(column->residency->end, begin + FETCHED_ROWS);
            if (!column_fetch(column, begin, end))
                return fetch_error(column, begin, end, span, diags);
        }
    }
    return STATUS_OK;
}

enum status columns_fetch_rows(struct column *const *columns, size_t count, int64_t begin, int64_t end,
                               struct span span, struct diags *diags)
{
    for (size_t k = 0; k < count; k++) {
        if (columns[k] && !column_fetch(columns[k], begin, end))
            return fetch_error(columns[k], begin, end, span, diags);
    }
    return STATUS_OK;
}

enum status relation_fetch(const struct relation *relation, int64_t begin, int64_t end, struct span span,
                           struct diags *diags)
{
    enum status status = columns_fetch_rows(relation->columns, relation->count, begin, end, span, diags);
    for (size_t k = 0; k < relation->count && status == STATUS_OK; k++)
        status = columns_fetch_rows(&relation->columns[k]->validity, 1, begin, end, span, diags);
    return status;
}
