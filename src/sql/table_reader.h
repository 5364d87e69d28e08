/* Tables on servers, read like files: their columns are found when they are opened, and those that a statement needs
 * come with one SELECT. */
#ifndef RQL_SQL_TABLE_READER_H
#define RQL_SQL_TABLE_READER_H

#include "engine/formats/open_file.h"
#include "sql/lower/lower.h"
#include "sql/wire/external.h"
#include "sql/wire/wire_type.h"

/* Opens addresses (table_url.h). Columns whose type has no counterpart here are left out with a note. The rows come in
 * the order of the address's columns, equal ones in any. */
struct table_source table_source_of(struct servers *servers);

/* Whether rql's queries give another column this name, rql_...: in its place a server may take that one. */
bool column_name_is_taken(const char *name);

/* remote_reader.c: a reader of what a queue of tasks gives that the server of a table runs as one SELECT. */

struct file_reader *remote_reader_new(const struct queue *queue, const struct table_columns *from,
                                      const char **refusal);

/* sent_rows.c: rows from here that a query reads, as tables that go with it. */

struct sent_tables {
    struct external_tables tables;
    struct relation **held; /* of each, one reference */
};

/* Those of `from` that are evaluated; borrows the arena. */
void sent_tables_set(struct sent_tables *sent, const struct table_columns *from, struct arena *arena);
void sent_tables_release(const struct sent_tables *sent);

/* Has the rows be on the host. */
enum status sent_tables_fetch(const struct sent_tables *sent, struct span span, struct diags *diags);

/* Whether the statement is short enough to go with them. */
bool sent_tables_fit(const struct sent_tables *sent, const char *sql);

/* failing_row.c: a reader of the table's only row that the select gives, and of its place in the order of the address.
 * NULL: the order does not tell places, as it has missing values. */
struct table_reader;
struct file_reader *failing_row_new(const struct table_reader *table, const struct select *select);

/* table_save.c: saving into tables on servers. */

/* Checks the syntax of an address to save to; does not connect to the server. */
enum status table_save_check(const char *address, struct span span, struct diags *diags);

/* Saves all rows, which are on the host, into a table of the natural types, ordered by the address's columns. The rows
 * go into a new table, which is renamed when all are there; an existing one is dropped then. On any error, and if
 * cancelled, the old table stays; of one that is appended to, some of the rows may be there then. */
enum status table_save(struct servers *servers, const char *address, enum save_way way, const struct relation *relation,
                       const struct format_job *job);

/* table_columns.c: the columns of a table that there is. */

struct old_columns {
    const char **names, **types, **defaults; /* "", "DEFAULT", or one that cannot be written, as "ALIAS" */
    size_t count;
};

/* Whether the rows have the columns of the table, of the same kinds, in any order; else an error. */
enum status old_columns_match(const struct old_columns *old, const struct relation *relation, const char *table,
                              struct span span, struct diags *diags);

/* The rows as columns of the table, of its types; an error if a value has no place in one. */
enum status old_columns_store(const struct old_columns *old, const struct relation *relation, const char *table,
                              struct stored_column *stored, struct span span, struct diags *diags);

/* sent_columns.c: the columns of a server's answer: what the SELECT says, and as which type it is sent. */

struct sent_column {
    const char *text; /* NULL: it cannot be sent */
    struct wire_type type;
    bool truth;                      /* sent as UInt8, and a bool here */
    const struct sql_moment *moment; /* sent as its text, and completed here; or NULL */
};

/* The text as a server's type that is sent as `type`. */
struct sent_column sent_as(const struct sql_dialect *dialect, const char *text, enum type type,
                           struct logical_type logical, struct arena *arena);

/* Has the SELECT fail where a value that is converted on the server has no place in the type that it is sent as. To be
 * called before the first sent_output. */
void sent_columns_begin(struct lowered *lowered, struct arena *arena);

/* How output k of the last task is sent. */
struct sent_column sent_output(const struct lowered *lowered, size_t k, struct arena *arena);

#endif
