/* A SELECT while tasks are lowered to it. */
#ifndef RQL_SQL_LOWER_SELECT_H
#define RQL_SQL_LOWER_SELECT_H

#include "sql/lower/expression.h"
#include "sql/lower/moment.h"
#include "sql/wire/wire_type.h"

/* What a SELECT can read or has computed. */
struct select_column {
    struct sql_leaf leaf;
    const char *raw;              /* a column of the table as it is, with NULL where values are missing; or NULL */
    const struct wire_type *wire; /* of `raw` */
    const char *fails;            /* where `raw` has no value here, as integers beyond 64 bits; NULL: nowhere */
    /* NULL, or what `moment_of` is the sums of, or their text, and then no expression can read it. */
    const struct sql_moment *moment;
    const char *moment_of;
};

struct select_order {
    const char *text;
    bool descending;
    bool reversed;       /* of a key that is not */
    bool total;          /* never NULL, and no NaN */
    const char *inverse; /* the function whose values have the reverse order; NULL: none */
};

/* Conditions that the columns of the table have the types that it was opened with. They are not shown. */
struct select_checks {
    const char **conditions;
    size_t count, capacity;
};

/* Has the query check that the column `raw` has this type. */
void select_add_check(struct select_checks *checks, const struct sql_dialect *dialect, const char *raw,
                      const struct wire_type *wire, struct arena *arena);

struct select {
    const struct sql_dialect *dialect;
    const struct select_checks *checks; /* of the table; NULL: `from` is none */
    const char *from;                   /* a table, or a SELECT in parentheses */
    const char *where;                  /* NULL: all rows */
    const char *group;                  /* keys; NULL: rows are not grouped */
    const char *fails; /* where a row cannot be computed, or a group; such rows pass all filters. NULL: nowhere */
    struct select_column *columns;
    size_t count;
    struct select_order *order; /* most significant first */
    size_t order_count;
    bool ordered;       /* the rows by `order`, equal ones in any */
    int64_t skip, take; /* of the ordered rows; take: INT64_MAX: all */
    int64_t rows;       /* as far as known without running it, -1: not at all */
    bool joined;        /* `from` joins two relations */
    bool aligned;       /* its rows are those of the table, in the table's order */
    int depth;          /* of SELECTs within it */
};

struct select_item {
    const char *text, *name;
};

bool select_is_limited(const struct select *select);

/* The text without what is between two marks, which is only run, and the text to be run. */
const char *select_shown(const char *text, struct arena *arena);
const char *select_run(const char *text, struct arena *arena);

/* Whether the message of a server's error says that a column has another type. */
bool select_is_retyped(const char *message);

/* The text, with marks, of these items; in order also where it is not limited, if `in_order`. */
const char *select_text(const struct select *select, const struct select_item *items, size_t count, bool in_order,
                        struct arena *arena);

/* Reverses the order of its rows, which are not limited. */
void select_reverse(struct select *select, struct arena *arena);

/* Makes it the source of another SELECT, which has the same columns. */
void select_wrap(struct select *select, struct arena *arena);

/* The same of its rows in their order, which are numbered from 0 by the column *number. */
void select_wrap_numbered(struct select *select, const char **number, struct arena *arena);

/* Does so where one of these of its columns (SIZE_MAX: none), which are to be keys, is computed of no column, as 5 is:
 * servers drop such a key, so that no rows become a group, or take it for the place of a column; or where it is looked
 * up in another table, which ClickHouse 18.16 does not take as a key. */
void select_wrap_keys(struct select *select, const size_t *keys, size_t count, struct arena *arena);

/* Where a row of a group of its rows fails; NULL: nowhere. */
const char *select_fails_of_group(const struct select *select, struct arena *arena);

/* The column `raw` of the table as a server is to send it, and as text where it is text here. */
const char *sql_converted(const struct sql_dialect *dialect, const char *raw, const struct wire_type *wire,
                          struct arena *arena);

/* What a column of the table is; leaf.text is NULL if no expression can read it. */
struct select_column select_column_of(const struct sql_dialect *dialect, const char *raw, const struct wire_type *wire,
                                      struct arena *arena);
/* Whether there is a value, of a nullable column. */
struct select_column select_present(const struct sql_dialect *dialect, const char *raw, struct arena *arena);

/* What equal keys of two relations have in common: floats have one NaN and one zero. */
const char *sql_join_key(const struct sql_dialect *dialect, const char *text, bool is_text, enum kind kind,
                         struct arena *arena);

/* A float as a key: equal ones have the same bits, since zeros are positive, and there is one NaN. */
const char *sql_float_key(const struct sql_dialect *dialect, const char *x, struct arena *arena);

/* Either condition; NULL is false. */
const char *sql_either(const char *a, const char *b, struct arena *arena);

#endif
