/* The columns of a server's answer: what the SELECT says, and as which type it is sent. */
#ifndef RQL_SQL_SENT_COLUMNS_H
#define RQL_SQL_SENT_COLUMNS_H

#include "sql/lower/lower.h"
#include "sql/wire/wire_type.h"

struct sent_column {
    const char *text; /* NULL: it cannot be sent */
    struct wire_type type;
    bool truth; /* sent as UInt8, and a bool here */
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
