/* Dialects of SQL: how each says the operations of typed code. */
#ifndef RQL_SQL_DIALECT_H
#define RQL_SQL_DIALECT_H

#include "base/strbuf.h"
#include "base/text.h"
#include "engine/plan/code.h"

/* An operation on integers and conditions. In the texts $a, $b and $c are its arguments, $r its result. */
struct sql_operation {
    const char *value;   /* where range analysis has proved that it cannot fail; NULL: it cannot be said */
    const char *checked; /* where it may fail: defined for all arguments; NULL: as `value` */
    const char *fails;   /* the condition that it does; NULL: where it may fail, it cannot be said */
};

struct sql_dialect {
    const char *name;
    char name_quote; /* around names */
    bool escapes;    /* a backslash within quotes escapes what follows; else quotes are doubled */
    const struct sql_operation *operations; /* OP_COUNT of them */
    const char *integer;                    /* the constant $a, of 64 bits */
    const char *least_integer;              /* INT64_MIN, of which no digits can be negated */
};

extern const struct sql_dialect sql_clickhouse;

/* Adds text as a string literal, and as a name. */
void sql_add_string(struct strbuf *sql, const struct sql_dialect *dialect, struct text text);
void sql_add_name(struct strbuf *sql, const struct sql_dialect *dialect, const char *name);

#endif
