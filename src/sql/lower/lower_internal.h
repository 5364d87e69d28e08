/* Shared by the files that lower tasks to SELECTs. */
#ifndef RQL_SQL_LOWER_LOWER_INTERNAL_H
#define RQL_SQL_LOWER_LOWER_INTERNAL_H

#include "engine/plan/task.h"
#include "sql/lower/dialect.h"
#include "sql/lower/lower.h"

/* A table as a SELECT of all its rows, ordered as its address says, or of rows from here in their order. */
struct lowering_table {
    const struct table_columns *from;
    struct wire_type *sent; /* of rows from here: the types as which they go up */
    struct select select;
    struct select_checks checks;
};

struct lowering {
    const struct queue *queue; /* as bound: it has the texts of comparisons */
    struct lowering_table *tables;
    size_t table_count;
    const struct sql_dialect *dialect;
    struct arena *arena;
    struct select *made; /* of each fused task */
    bool *read;          /* whether a later one reads it */
    bool from_unordered; /* the table has no order; */
    bool any;            /* some of its rows were taken */
    bool throws;         /* rows of a source that fail are an error of the server */
    const char *fails;   /* where a row of the only table fails, as far as all rows are read as they are; or NULL */
    const char *unless;  /* sql_unless */
    const char *noted;   /* the last condition of those there were; */
    bool grouped;        /* so that a limit is not one of these rows */
    bool shares;         /* what is long and read more than once becomes a column of a subquery */
    const char *refusal;
};

/* Sets what cannot be lowered, NULL: an expression. Returns false. */
bool lowering_refuse(struct lowering *lowering, const char *what);

/* Keeps the rows that the task reads of those there are. */
bool lowering_limit(struct lowering *lowering, const struct task *task, struct select *select);

/* lower_tables.c: sets lowering->tables. */
void lowering_begin_tables(struct lowering *lowering, const struct table_columns *from);
/* The table whose column an input reads, and *column; NULL: it is none. */
struct lowering_table *lowering_table_of(struct lowering *lowering, const struct input *input,
                                         struct select_column *column);

/* Whether an input is a few integers that are known, and the array of them. */
bool lowering_is_list(const struct input *input);
const char *lowering_list(const struct lowering *lowering, const struct input *input);

/* lower_file.c: the rows of the file at the path, and a column of it. */
const char *file_rows(const struct sql_dialect *dialect, const char *path, struct arena *arena);
const char *file_column(const struct sql_dialect *dialect, const struct reader_column *column, struct arena *arena);

/* The task's code, analysed, as expressions of the select's columns; `row`: that of row numbers, or NULL. NULL, after a
 * refusal: it cannot be said. */
struct sql_expressions *lowering_expressions(struct lowering *lowering, const struct task *task, struct select *select,
                                             const char *row, struct task **analysed);

/* The INPUT that the value is, SIZE_MAX: none. */
size_t task_bare_input(const struct task *task, value v);

/* What the task reads: a table, or an earlier task; and its inputs as columns of that. Of OPERATOR_JOIN those of one
 * side, here or of the source. */
bool lowering_begin(struct lowering *lowering, const struct task *task, bool source, struct select *select,
                    struct select_column *inputs);

/* lower_sent.c: the rows in their order. */
void lowering_begin_sent(const struct lowering *lowering, const struct table_columns *from,
                         struct lowering_table *table);
/* Column k of them, or whether it has a value. */
struct select_column lowering_sent_column(const struct lowering *lowering, const struct lowering_table *table, size_t k,
                                          bool its_value);

/* lower_join.c: OPERATOR_JOIN; `select` is what it reads, and becomes its result. */
bool lower_join(struct lowering *lowering, const struct task *task, struct select *select);

/* Of an input of JOIN_MEMBER: the SELECT of its elements, as keys. */
bool lower_member(struct lowering *lowering, const struct task *task, size_t input, struct sql_leaf *leaf);

/* lower_element.c: AGG_AT_LEAST or AGG_AT_MOST, a column of the output. False: it cannot be said. */
bool lower_element(const struct aggregate *aggregate, const struct task *task, const struct output *output,
                   const struct select *select, struct sql_expressions *expressions, struct select_column *own,
                   struct arena *arena);

/* lower_aggregate.c: whether the value is a column of a moment, or its square root; sets that column. */
bool moment_column(const struct task *task, const struct select *select, value v, struct select_column *column,
                   struct arena *arena);

/* lower_operator.c */

/* The aggregates of all rows of the select, of the task's outputs, as its only row. */
bool lower_row(struct lowering *lowering, const struct task *task, const struct task *analysed,
               struct sql_expressions *expressions, struct select *select);
/* A task of SINK_OPERATOR; `select` is what it reads, and becomes its result. */
bool lower_operator(struct lowering *lowering, const struct task *task, struct select *select);

/* lower_quantile.c: quantiles of a group, of which the server sorts all values (engine/values/quantile.h); floats in
 * ClickHouse's words alone. */

/* The values `v`, floats if `number`, of the rows where the condition holds (NULL: of all), as a sorted array. NULL: it
 * would be too long, or the dialect has no equivalent. */
const char *quantile_values(const struct sql_dialect *dialect, const char *v, const char *where, bool number,
                            struct arena *arena);

/* The quantile, of the column that is such an array. */
const char *quantile_of(const char *sorted, const struct aggregate *aggregate, bool number,
                        const struct sql_dialect *dialect, struct arena *arena);

#endif
