/* A table on a server that is open. */
#ifndef RQL_SQL_WIRE_TABLE_H
#define RQL_SQL_WIRE_TABLE_H

#include "engine/storage/file_reader.h"
#include "sql/wire/http.h"
#include "sql/wire/wire_type.h"

struct table_reader {
    struct file_reader base;
    struct arena *arena; /* of all that follows */
    struct table_url url;
    const char *file;    /* in place of it, of statements that are only shown; or NULL */
    const char *refusal; /* why no statement can read that file; NULL: it can */
    const char *server;  /* for messages */
    struct http *http;
    struct wire_type *types; /* of base.columns */
    int64_t *bytes;          /* of base.columns: what the server stores, not compressed; 0: it does not say */
    bool takes_names;        /* columns that are left out have names as queries give them */
};

/* Whether it is one of a table, and not of another file or of a query. */
bool reader_is_table(const struct file_reader *reader);

/* Whether one query can read both tables. */
bool readers_are_together(const struct file_reader *a, const struct file_reader *b);

#endif
