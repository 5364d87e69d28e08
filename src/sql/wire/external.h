/* External tables: rows from here that go to a server with a query, as parts of a form (ClickHouse documentation,
 * "External data for query processing"). */
#ifndef RQL_SQL_WIRE_EXTERNAL_H
#define RQL_SQL_WIRE_EXTERNAL_H

#include "sql/wire/native.h"

struct external_table {
    const char *name;
    struct stored_column *columns;
    size_t count;
    int64_t rows;
};

struct external_tables {
    const struct external_table *at;
    size_t count;
};

/* How a column of this type goes there: its integers or its bytes, whatever they stand for here. */
void external_column(enum type type, struct logical_type logical, bool nullable, struct wire_type *wire,
                     struct arena *arena);

/* The number of each row, in the table's last column of this name. */
static const char external_row[] = "rql_row";

/* Adds the statement and the columns of the tables to an address. Servers until 2019 take no longer one. */
enum { EXTERNAL_MOST_ADDRESS = 15000 };
void external_add_address(struct strbuf *address, const char *sql, const struct external_tables *tables);

/* Adds the rows, which are on the host, as a form with this boundary. */
void external_add_form(struct strbuf *form, const struct external_tables *tables, const char *boundary);

#endif
