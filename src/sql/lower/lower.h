/* Tasks as one SELECT.
 *
 * The queue is fused and analysed like any other, with columns that stand for those of the tables. Each task is added
 * to the SELECT of what it reads, or wraps it as a subquery. A row in which an operation would have failed here passes
 * all filters and limits, and its failure is one more column; if such a row comes back, the pipeline is bound again
 * without the server, for the exact error.
 *
 * Sums of integers are sums of digits, which are put together here (integer_sum.h); of floats see float_sum.h.
 * The last rows are the first in the reverse order, which a subquery turns round. A long expression that is read more
 * than once becomes a column of a subquery (expression_share.c), but of what servers run only where the text would be
 * too long: on a table of several servers a subquery brings its rows to one. The query itself checks the types of the
 * columns that it reads, as a table may change. */
#ifndef RQL_SQL_LOWER_LOWER_H
#define RQL_SQL_LOWER_LOWER_H

#include "engine/formats/open_file.h"
#include "sql/lower/select.h"

/* The result of a queue of tasks. */
struct lowered {
    struct select select;
    const struct task *last; /* rows: its outputs are the select's columns. One value: column 0 is that, a sum's or
                                mean's are the sums of its digits (integer_sum.h), of floats those of float_sum.h, by
                                the first of which the select is grouped; an extreme of floats is the bits of one,
                                and a moment its text */
    bool any;                /* some rows of a table without an order were taken */
    bool throws;             /* the query is an error of throwIf where rows of a join's source fail */
    const char *unless;      /* sql_unless */
    struct select failing;   /* the first row of the table that fails, without columns; `from` NULL: it is not known */
};

/* Lowers a bound queue that reads no columns but those of `from`. Everything is allocated in the arena. False: it has
 * no equivalent in SQL; *refusal says what has none. */
bool queue_lower(const struct queue *queue, const struct table_columns *from, struct arena *arena,
                 struct lowered *lowered, const char **refusal);

/* lower_sent.c: the name of rows from here as a table there, and of column k of those. */
const char *sent_name(const struct sent_rows *sent, struct arena *arena);
const char *sent_column_name(size_t k, struct arena *arena);

/* lower_file.c: what of the file has another meaning in the dialect; NULL: nothing. */
const char *file_refusal(const struct sql_dialect *dialect, const struct file_reader *file, struct arena *arena);

/* lower_aggregate.c: aggregates of values of `expressions`, as columns. False: one has no equivalent. */

/* Of a group, behind the columns of its keys, one column each, computed of the rows of `select`. That of a quantile is
 * the values (lower_internal.h). A sum or mean of floats (float_sum.h) and a mean of integers (integer_sum.h) have
 * parts in the columns from parts[i] on, 0: it has none, and its own column is the number of rows that the sum is
 * divided by, or nothing; *count becomes the number of columns with these. Adds to *fails where the result does not
 * fit, or is not known there. */
bool aggregates_lower(const struct task *task, const struct select *select, struct sql_expressions *expressions,
                      struct select_column *columns, size_t *parts, size_t *count, const char **fails,
                      struct arena *arena);
/* Of all rows, which are the task's only one; returns the number of columns, 0: it cannot be said. */
size_t aggregate_lower(const struct aggregate *aggregate, const struct sql_dialect *dialect,
                       struct sql_expressions *expressions, const struct task *task, struct select_column *columns,
                       struct arena *arena);
/* Where that row fails, or there is no value as there are no rows; NULL: nowhere. */
const char *value_fails(const struct lowered *lowered, struct arena *arena);

#endif
