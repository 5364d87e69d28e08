#include "engine/text/records.h"

#include "engine/text/cells.h"
#include "engine/text/json.h"

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
    return (table->count > 1 || table->dialect->json) && is_blank(table, at);
}

const char *skip_left_out(const struct table *table, const char *at)
{
    while (at < table->end && line_is_left_out(table, at)) {
        at = line_end(table, at);
        at += at < table->end;
    }
    return at;
}

/* Whether the line is a JSON object with sound escapes. */
static bool is_object(const char *at, const char *end)
{
    struct cell key, value;
    at = json_open(at, end);
    bool more = at && at < end && *at != '}';
    while (more) {
        at = json_key(at, end, &key);
        at = at ? json_scan(at, end, &value) : NULL;
        if (!at || at == end || (*at != ',' && *at != '}'))
            return false;
        more = *at == ',';
        at += more;
    }
    return at && at < end && json_line_end(at + 1, end) == end;
}

const char *record_end(const struct table *table, const char *at, size_t *cells)
{
    const char *end = line_end(table, at), *next = at;
    *cells = 0;
    if (table->dialect->json) {
        *cells = table->errors == ERRORS_TELL || is_object(at, end);
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
