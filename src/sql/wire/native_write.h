/* Columns as a server stores them, and blocks of them in format Native (native.h). */
#ifndef RQL_SQL_WIRE_NATIVE_WRITE_H
#define RQL_SQL_WIRE_NATIVE_WRITE_H

#include "base/diag.h"
#include "base/strbuf.h"
#include "engine/storage/column.h"

/* Types that not every server has. */
struct server_types {
    bool has_bool, has_date32, has_datetime64;
};

/* How a column is stored. */
struct stored_column {
    const struct column *column;
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

/* Appends rows begin..end-1 as one block. */
void native_write_block(struct strbuf *out, const struct stored_column *columns, size_t count, int64_t begin,
                        int64_t end);

#endif
