/* The address of a table on a server: clickhouse://[USER@]HOST[:PORT]/[DATABASE/]TABLE?by=COLUMN[,COLUMN...]
 *
 * clickhouses:// is the same over TLS. A password never stands in an address, because addresses are printed and kept in
 * histories: it comes from ~/.netrc or the environment (http.h). */
#ifndef RQL_SQL_WIRE_TABLE_URL_H
#define RQL_SQL_WIRE_TABLE_URL_H

#include "base/diag.h"
#include "base/strbuf.h"

struct table_url {
    bool tls;
    const char *host;     /* a name or an address; of IPv6 in brackets */
    int port;             /* of the HTTP interface: 8123, with TLS 8443, if none is named */
    const char *user;     /* NULL: none is named */
    const char *database; /* NULL: the user's default */
    const char *table;
    const char **order; /* columns that order the rows */
    size_t order_count;
};

/* Whether the path is an address of a server, right or not. */
bool is_table_url(const char *path);

/* Takes an address apart, with %XX decoded; texts are in the arena of `diags`. */
enum status table_url_parse(const char *path, struct table_url *url, struct span span, struct diags *diags);

/* "db1:8123", for messages; with the user if one is named. */
const char *table_url_server(const struct table_url *url, struct arena *arena);

/* server_text.c: names and texts within SQL of ClickHouse. */

void server_add_name(struct strbuf *sql, const char *name); /* between backquotes */
void server_add_text(struct strbuf *sql, const char *text); /* a literal */

/* A table of the address's database, the user's default if it names none. */
void server_add_table(struct strbuf *sql, const struct table_url *url, const char *table);

/* The name of that database, as an expression. */
void server_add_database(struct strbuf *sql, const struct table_url *url);

#endif
