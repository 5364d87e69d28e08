/* Queries whose answer is a table of a known form. */
#ifndef RQL_SQL_WIRE_QUERY_H
#define RQL_SQL_WIRE_QUERY_H

#include "base/text.h"
#include "engine/storage/column.h"
#include "sql/wire/http.h"
#include "sql/wire/native.h"

/* Runs a query FORMAT Native with these columns; sets columns[k], one reference each, and *rows. STATUS_UNABLE as of
 * native_finish. */
enum status query_run(struct http *http, const struct http_statement *statement, const struct native_columns *expected,
                      const char *server, const struct workers *workers, struct column **columns, int64_t *rows,
                      struct span span, struct diags *diags);

/* The same for a query of one number. */
enum status query_for_count(struct http *http, const char *sql, const char *server, const struct workers *workers,
                            int64_t *number, struct span span, struct diags *diags);

enum { QUERY_MAX_TEXTS = 3 };

/* Columns of text. */
struct query_texts {
    struct column *columns[QUERY_MAX_TEXTS];
    int64_t rows;
};

/* The same with `count` columns of String; the caller releases them. */
enum status query_for_texts(struct http *http, const char *sql, size_t count, const char *server,
                            const struct workers *workers, struct query_texts *texts, struct span span,
                            struct diags *diags);
struct text query_text(const struct query_texts *texts, size_t column, int64_t row);
/* All of a column, in the arena. */
const char **query_texts_of(const struct query_texts *texts, size_t column, struct arena *arena);
void query_texts_release(struct query_texts *texts);

/* server_settings.c: settings of a server that would make answers wrong without a word: rows of a dead shard left out,
 * results cut at a limit. */

/* Adds a SELECT of the settings: rql_0 is their names, rql_1 the values, and rql_2 'setting'. */
void server_settings_ask(struct strbuf *sql);

/* Has the session's queries run with settings that leave nothing out, from an answer that may have other rows, too. An
 * error if the user's profile has others and forbids to change them. *changed: they were others. */
enum status server_settings_pin(struct http *http, const char *server, const struct query_texts *answer, bool *changed,
                                struct span span, struct diags *diags);

#endif
