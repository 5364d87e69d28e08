/* Typed code as expressions of SQL.
 *
 * Every expression is total: it never fails on the server. What would have failed here is a condition of its own, true
 * in the rows where a checked operation fails whose guard holds (engine/optimize/guard.c). Where an operation fails,
 * the expressions of what is computed from it may have any value. */
#ifndef RQL_SQL_LOWER_EXPRESSION_H
#define RQL_SQL_LOWER_EXPRESSION_H

#include "engine/plan/task.h"
#include "sql/lower/dialect.h"

/* The SQL of an INPUT. */
struct sql_leaf {
    const char *text; /* of the INPUT's kind: a condition (ClickHouse: 0 or 1), a 64-bit integer, a double, as a name or
                         in parentheses. Text of the table: a string, */
    bool is_text;     /* then this is set; NULL: no expression can read it */
    const char *truth;  /* the condition of which it is 1 or 0; or NULL */
    const char *column; /* the same with the server's own type, for comparisons with constants; NULL: `text` */
};

struct sql_expressions;

/* Of the code of a task that optimize_task has analysed; `leaves` are its inputs, in order, and `queue` has the texts
 * that they are compared with; *unless: sql_unless. All of these are borrowed; what is made is in the arena. */
struct sql_expressions *sql_expressions_new(const struct sql_dialect *dialect, const struct task *task,
                                            const struct sql_leaf *leaves, const struct queue *queue,
                                            const char **unless, struct arena *arena);

/* Shares common subexpressions: long expressions that are used more than once by the values marked in `live`, or by the
 * condition that one of them fails, become columns of a subquery around `from`, nested where they depend on each other.
 * Returns the text that the SELECT has to read, `from` itself if nothing is shared; NULL: it would be too long. To be
 * called before the functions below; without it, each use repeats the expression. */
const char *sql_share(struct sql_expressions *expressions, const bool *live, const char *from);

/* The value, in parentheses if it is more than a name, a call or a constant; NULL: the dialect has no equivalent with
 * exactly the same results. */
const char *sql_expression(struct sql_expressions *expressions, value v);

/* The string of the dictionary whose number, from 0, the text says. NULL: it has many, or the dialect no equivalent. */
const char *sql_string_of(const struct sql_expressions *expressions, const char *number,
                          const struct dictionary *dictionary);

/* The same of a text, as a string: where a text is missing it is empty. `dictionary` has its strings where they are
 * known and the value is the number of one; or NULL. */
const char *sql_text_expression(struct sql_expressions *expressions, value v, const struct dictionary *dictionary);

/* Sets *condition to the condition that one of the values marked in `live` fails, NULL: never. False: it has no
 * equivalent. */
bool sql_failure(struct sql_expressions *expressions, const bool *live, const char **condition);

/* The column that numbers the rows; without it their numbers cannot be said. */
void sql_set_row(struct sql_expressions *expressions, const char *row);

/* Adds to the reasons, NULL: none, for which a row that does not fail is taken for one that does. */
void sql_unless(struct sql_expressions *expressions, const char *why);

/* After one of these has failed: the operation without an equivalent, for explain. */
const char *sql_refusal(const struct sql_expressions *expressions);

#endif
