/* Lines of a text that are no rows. */
#ifndef RQL_ENGINE_TEXT_RECORDS_H
#define RQL_ENGINE_TEXT_RECORDS_H

#include "engine/text/table.h"

/* Whether the line at `at` is blank, where that is no row, or a comment. */
bool line_is_left_out(const struct table *table, const char *at);

/* The next line from `at` on, which begins one, that is not left out. */
const char *skip_left_out(const struct table *table, const char *at);

/* The end of the line: its newline, or the text's. */
const char *line_end(const struct table *table, const char *at);

/* Of JSON: how far the record at `at` may reach, at most to `end`. */
const char *record_limit(const struct table *table, const char *at, const char *end);

/* Of JSON: the beginning of the record that follows one which ends at `at`, or `end`. NULL: something else follows. */
const char *record_next(const struct table *table, const char *at, const char *limit, const char *end);

/* The end of the record at `at`, and the number of its cells: 0 if quotes are malformed or it is no JSON object; then
 * it ends with its line. */
const char *record_end(const struct table *table, const char *at, size_t *cells);

/* Whether the record has a value that is not of the stated type of its column, or that is not UTF-8. (store_value.c) */
bool record_has_errors(const struct table *table, const char *at, const char *end);

#endif
