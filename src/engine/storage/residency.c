#include "engine/storage/residency.h"

#include "base/integer.h"

enum { FETCHED_ROWS = 1 << 27 }; /* between two looks at whether the user has interrupted */

void away_add(struct column *column, struct away *away)
{
    away->next = column->away;
    column->away = away;
}

void away_remove(struct column *column, struct away *away)
{
    for (struct away **at = &column->away; *at; at = &(*at)->next) {
        if (*at == away) {
            *at = away->next;
            away->next = NULL;
            return;
        }
    }
}

void away_lose(struct column *column)
{
    column->lost = true;
}

void away_discard(struct column *column, int64_t row)
{
    for (struct away *away = column->away, *next; away; away = next) {
        next = away->next;
        if (away->begin < row)
            continue;
        away_remove(column, away);
        away->drop(away);
    }
}

void columns_discard(struct column *const *columns, size_t count, int64_t row)
{
    for (size_t k = 0; k < count; k++) {
        if (columns[k])
            away_discard(columns[k], row);
    }
}

/* Rows begin..end-1, some of those away, are back. Of what is back in the middle no note is taken. */
static void came_back(struct column *column, struct away *away, int64_t begin, int64_t end)
{
    if (begin == away->begin)
        away->begin = end;
    else if (end == away->end)
        away->end = begin;
    if (away->begin < away->end)
        return;
    away_remove(column, away);
    if (away->arrived)
        away->arrived(away);
}

bool column_fetch(struct column *column, int64_t begin, int64_t end)
{
    for (struct away *away = column->away, *next; away; away = next) {
        int64_t first = greatest(begin, away->begin), last = least(end, away->end);
        next = away->next;
        if (first >= last)
            continue;
        if (!away->fetch(away, first, last))
            return false;
        came_back(column, away, first, last);
    }
    return !column->lost;
}

static enum status lost(struct span span, struct diags *diags)
{
    diag_error(diags, span, "the device has lost what it computed");
    diag_hint(diags, "run it again, on the host with `.device host` if that happens again");
    return STATUS_FAILED;
}

/* Why rows begin..end-1 could not be fetched. */
static enum status fetch_failed(const struct column *column, int64_t begin, int64_t end, struct span span,
                                struct diags *diags)
{
    for (struct away *away = column->away; away && !column->lost; away = away->next) {
        if (away->failure && away->begin < end && away->end > begin)
            return away->failure(away, span, diags);
    }
    return lost(span, diags);
}

enum status columns_fetch(struct column *const *columns, size_t count, const atomic_int *cancel, struct span span,
                          struct diags *diags)
{
    for (size_t k = 0; k < count; k++) {
        struct column *column = columns[k];
        if (column && column->lost)
            return lost(span, diags);
        while (column && column->away) {
            if (cancel && *cancel)
                return STATUS_CANCELLED;
            int64_t begin = column->away->begin, end = least(column->away->end, begin + FETCHED_ROWS);
            if (!column_fetch(column, begin, end))
                return fetch_failed(column, begin, end, span, diags);
        }
    }
    return STATUS_OK;
}

enum status columns_fetch_rows(struct column *const *columns, size_t count, int64_t begin, int64_t end,
                               struct span span, struct diags *diags)
{
    for (size_t k = 0; k < count; k++) {
        if (columns[k] && !column_fetch(columns[k], begin, end))
            return fetch_failed(columns[k], begin, end, span, diags);
    }
    return STATUS_OK;
}

enum status relation_fetch(const struct relation *relation, int64_t begin, int64_t end, struct span span,
                           struct diags *diags)
{
    return columns_fetch_rows(relation->columns, relation->count, begin, end, span, diags);
}
