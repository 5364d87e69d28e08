#include "engine/text/records.h"

#include "engine/json/json.h"
#include "engine/text/cells.h"

#include <string.h>

const char *line_end(const struct table *table, const char *at)
{
    const char *newline = memchr(at, '\n', (size_t)(table->end - at));
    return newline ? newline : table->end;
}

static bool is_blank(const struct table *table, const char *at)
{
    const char *blanks = table->dialect->delimiter == '\t' ? " \r" : " \t\r";
    while (at < table->end && *at && strchr(blanks, *at))
        at++;
    return at == table->end || *at == '\n';
}

bool line_is_left_out(const struct table *table, const char *at)
{
    const size_t length = table->comment ? strlen(table->comment) : 0;
    if (length > 0 && (size_t)(table->end - at) >= length && memcmp(at, table->comment, length) == 0)
        return true;
    return (table->count > 1 || table->dialect->json) && !table->values && is_blank(table, at);
}

const char *skip_left_out(const struct table *table, const char *at)
{
    while (at < table->end && line_is_left_out(table, at)) {
        at = line_end(table, at);
        at += at < table->end;
    }
    return at;
}

const char *record_limit(const struct table *table, const char *at, const char *end)
{
    const char *newline = table->values ? NULL : memchr(at, '\n', (size_t)(end - at));
    return newline ? newline : end;
}

const char *record_next(const struct table *table, const char *at, const char *limit, const char *end)
{
    at = json_skip_blank(at, limit);
    if (!table->values)
        return at == limit ? at + (at < end) : NULL;
    if (!table->array || at == table->end)
        return at;
    if (at == limit || *at != ',')
        return NULL;
    at = json_skip_blank(at + 1, limit);
    return at < table->end ? at : NULL;
}

/* The last character before the next of the values that are records. */
static const char *value_end(const struct table *table, const char *at, size_t *cells)
{
    const char *end = json_skip_value(at, table->end), *next = NULL;
    if (end && *at == '{')
        next = record_next(table, end, table->end, table->end);
    *cells = next && (table->errors == ERRORS_TELL || json_is_object(at, end));
    return next && next < table->end ? next - 1 : table->end;
}

const char *record_end(const struct table *table, const char *at, size_t *cells)
{
    const char *end = line_end(table, at), *next = at;
    *cells = 0;
    if (table->values)
        return value_end(table, at, cells);
    if (table->dialect->json) {
        *cells = table->errors == ERRORS_TELL || json_is_object(at, end);
        return end;
    }
    for (size_t count = 1;; count++) {
        struct cell cell;
        next = cell_scan(table->dialect, next, table->end, &cell);
        if (!next)
            return end;
        if (next == table->end || *next == '\n') {
            *cells = count;
            return next;
        }
        next++;
    }
}
