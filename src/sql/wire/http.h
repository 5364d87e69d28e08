/* Queries over HTTP to a ClickHouse server: a session keeps its connection between them.
 *
 * The user's name comes from the address, CLICKHOUSE_USER or ~/.netrc, the password from CLICKHOUSE_PASSWORD or
 * ~/.netrc; they are sent in a header. */
#ifndef RQL_SQL_WIRE_HTTP_H
#define RQL_SQL_WIRE_HTTP_H

#include "base/parallel.h"
#include "base/strbuf.h"
#include "engine/formats/open_file.h"
#include "sql/wire/external.h"
#include "sql/wire/table_url.h"

struct http;

struct http_shared {
    struct table_limits limits;
    struct table_traffic traffic;
};

/* A session with the server of the address, which is copied. `shared` is borrowed; NULL: its queries are neither given
 * up nor counted, and show no progress. NULL, with an error, without libcurl. */
struct http *http_new(const struct table_url *url, struct http_shared *shared, struct span span, struct diags *diags);
void http_free(struct http *http); /* NULL is allowed */

/* Server settings sent with every query: "&name=value...", copied. */
void http_set_settings(struct http *http, const char *settings);

/* As http_shared says; 0 without one. */
int64_t http_fetch(const struct http *http);

/* The error of an answer that has more bytes than the limit. */
enum status http_refuse_size(const struct http *http, const char *what, int64_t bytes, struct span span,
                             struct diags *diags);

/* Each query is given up after this time; 0: none is. */
void http_set_limit(struct http *http, int milliseconds);

/* Takes a part of the answer. False ends the query: what is wrong is known to the receiver. */
typedef bool http_receiver(void *context, const char *bytes, size_t length);

struct http_statement {
    const char *sql;
    const struct external_tables *external; /* that go with it; NULL: none */
};

/* Runs one statement and passes its answer to `receive`. Fails with the server's own message if it has one, and if the
 * connection breaks off or shows no progress: then a part of the answer may have been received. When it is cancelled,
 * or ended by `receive`, the server is told to end it, on all of its shards. */
enum status http_query(struct http *http, const struct http_statement *statement, http_receiver *receive, void *context,
                       const struct workers *workers, struct span span, struct diags *diags);

/* Whether the last statement failed since a connection broke off or was refused, to the server or from there to others:
 * a query may be asked once more. */
bool http_has_lost(const struct http *http);

/* The same for a statement without an answer. */
enum status http_command(struct http *http, const char *sql, const struct workers *workers, struct span span,
                         struct diags *diags);

/* Adds the next part of what is to be sent to an empty buffer; nothing: that was all. False ends the statement: what is
 * wrong is known to the sender. */
typedef bool http_sender(void *context, struct strbuf *piece);

/* Runs a statement that takes rows, as INSERT does. */
enum status http_send(struct http *http, const char *sql, http_sender *send, void *context,
                      const struct workers *workers, struct span span, struct diags *diags);

/* Counts rows of an answer. */
void http_count_rows(struct http *http, int64_t rows);

/* Runs a short statement whose outcome does not matter, even if the user has interrupted, for 2 seconds at most. */
void http_tidy(const struct http *http, const char *sql);

#endif
