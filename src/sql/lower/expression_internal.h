/* Shared by the files that generate SQL expressions. */
#ifndef RQL_SQL_LOWER_EXPRESSION_INTERNAL_H
#define RQL_SQL_LOWER_EXPRESSION_INTERNAL_H

#include "sql/lower/expression.h"

/* Servers refuse long statements (ClickHouse: 256 kB) and deep ones (100 subqueries, 1000 nested brackets). */
enum { MOST_BYTES = 1 << 16, MOST_LAYERS = 48, DEEPEST = 60, SHORT = 32 };

/* The SQL of a value. */
struct said {
    const char *text;    /* the expression, once it has been generated */
    const char *refusal; /* the operation that has no equivalent; or NULL */
    int depth;           /* of nested operations, */
    int layer;           /* and of subqueries whose columns it reads */
    int readers;         /* the number of its uses */
    bool is_text;
    const char *fails, *unless; /* of an OP_TEXT: where it does, and that in words; NULL: nowhere */
};

struct sql_expressions {
    const struct sql_dialect *dialect;
    const struct task *task;
    const struct code *code;
    const struct sql_leaf *leaves;
    const struct queue *queue;
    struct arena *arena;
    struct said *said;   /* of each value */
    const char *row;     /* sql_set_row */
    const char **unless; /* as sql_unless adds to */
    const char *refusal;
};

/* The SQL of an operation. */
struct form {
    const struct sql_operation *as;
    const char *value;
    const struct instr *instr;
    bool text; /* a choice of texts, of which 0 is the empty one */
};

/* The buffer's text in the arena, which is freed; NULL if it is too long. */
const char *expression_keep(struct sql_expressions *expressions, struct strbuf *buffer);

/* False: the dialect has no equivalent of the operation. */
bool expression_form(const struct sql_expressions *expressions, value v, struct form *form);

/* Generates the SQL of a value whose arguments have theirs. */
void expression_say(struct sql_expressions *expressions, value v);

#endif
