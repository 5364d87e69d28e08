/* Names and texts within SQL of ClickHouse. */
#ifndef RQL_SQL_WIRE_SERVER_TEXT_H
#define RQL_SQL_WIRE_SERVER_TEXT_H

#include "base/strbuf.h"
#include "sql/wire/table_url.h"

void server_add_name(struct strbuf *sql, const char *name); /* between backquotes */
void server_add_text(struct strbuf *sql, const char *text); /* a literal */

/* A table of the address's database, the user's default if it names none. */
void server_add_table(struct strbuf *sql, const struct table_url *url, const char *table);

/* The name of that database, as an expression. */
void server_add_database(struct strbuf *sql, const struct table_url *url);

#endif
