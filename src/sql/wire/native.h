/* Format Native of ClickHouse: blocks of columns, parsed as they arrive.
 *
 * A block is the number of its columns and of its rows, and for each column its name, its type and its values; numbers
 * are little-endian, lengths are LEB128. A nullable column has a byte for each row first, 1 where the value is missing
 * (ClickHouse documentation, "Native format"; the server sends an exception in the same place as text). */
#ifndef RQL_SQL_WIRE_NATIVE_H
#define RQL_SQL_WIRE_NATIVE_H

#include "base/diag.h"
#include "base/parallel.h"
#include "base/strbuf.h"
#include "engine/storage/column.h"
#include "sql/wire/server_error.h"
#include "sql/wire/wire_type.h"

struct native;

/* The columns that are expected, named rql_0, rql_1, ... All is borrowed. */
struct native_columns {
    const char *const *names; /* in messages */
    const struct wire_type *types;
    size_t count;
    bool computed; /* the rows are no table's, so that messages do not tell their numbers */
};

struct native *native_new(const struct native_columns *expected);
void native_free(struct native *native); /* NULL is allowed */

/* An http_receiver with the struct as its context: takes the next part. False: what came is not what is expected. */
bool native_receive(void *native, const char *bytes, size_t length);

/* The exception that what was received ends with, if it does; in the arena. */
bool native_exception(const struct native *native, struct arena *arena, struct server_error *error);

int64_t native_rows(const struct native *native);

/* After the last part: makes the columns, with one reference each. An error if the server sent one, if something else
 * came than is expected or some of it is missing, and if a value has no place here: of computed rows that is
 * STATUS_UNABLE, with the error. `source` is the server, for messages. */
enum status native_finish(struct native *native, const char *source, const struct workers *workers,
                          struct column **columns, struct span span, struct diags *diags);

/* native_write.c: columns as a server stores them, and blocks of them in format Native (native.h). */

/* Types that not every server has. */
struct server_types {
    bool has_bool, has_date32, has_datetime64;
};

/* How a column is stored. */
struct stored_column {
    const struct column *column; /* NULL: the numbers of the rows */
    const char *name;
    const char *type;    /* "Nullable(Int32)" */
    bool nullable;       /* values are missing */
    size_t width;        /* bytes of a value; 0: text */
    int64_t unit;        /* values are multiples of it, and are divided by it */
    int64_t least, most; /* in these units, of those that have a place there */
};

/* The natural type for a column whose rows are on the host. An error if a value has no place in it. */
enum status stored_column_of(const struct column *column, const char *name, const struct server_types *types,
                             struct stored_column *stored, struct span span, struct diags *diags);

/* The same as a column of this type of a table. */
enum status stored_column_as(const struct column *column, const char *name, const char *type,
                             struct stored_column *stored, struct span span, struct diags *diags);

/* Appends rows begin..end-1 as one block. */
void native_write_block(struct strbuf *out, const struct stored_column *columns, size_t count, int64_t begin,
                        int64_t end);

#endif
