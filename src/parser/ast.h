/* The syntax tree: the text with its structure and spans, before names and types are resolved.
 *
 * Everything is allocated in the parser's arena and not changed after parsing. */
#ifndef RQL_PARSER_AST_H
#define RQL_PARSER_AST_H

#include "base/source.h"
#include "parser/clauses.h"
#include "parser/words.h"

#include <stdbool.h>
#include <stdint.h>

/* A name with its place; text is NUL-terminated, NULL if the name is absent. */
struct name {
    const char *text;
    struct span span;
};

/* The text after the `$` if the name is a script argument, $NAME, or a path that begins with one; else NULL. Within
 * quotes a `$` has no meaning. */
const char *name_argument(const struct name *name);

struct arena;

/* Divides a path, as written, at its first point: `t.a.b` into `t` and `a.b`. False: it is a single name. */
bool name_split(const struct name *path, struct arena *arena, struct name *first, struct name *rest);

enum expr_kind {
    EXPR_INT,       /* integer: a literal, non-negative except for INT64_MIN, which the parser folds */
    EXPR_FLOAT,     /* number; decimal, integer, scale */
    EXPR_TEXT,      /* text, length */
    EXPR_DATE,      /* integer: days since 1970-01-01 */
    EXPR_TIMESTAMP, /* integer: microseconds since 1970-01-01T00:00:00; utc */
    EXPR_DURATION,  /* integer: microseconds */
    EXPR_MONTHS,    /* integer: a calendar step of so many months */
    EXPR_BOOL,      /* integer: 1 for true, 0 for false */
    EXPR_MISSING,   /* the missing value */
    EXPR_NAME,      /* name; may be a path, whose first part may be a relation's (expr_of_path) */
    EXPR_POSITION,  /* $n: integer = n, 1-based */
    EXPR_UNARY,     /* op, args[0] */
    EXPR_BINARY,    /* op, args[0], args[1] */
    EXPR_TERNARY,   /* args[0] ? args[1] : args[2] */
    EXPR_CALL,      /* name(args...) */
    EXPR_OVER,      /* args[0], a call of an aggregate, over `frame` */
    EXPR_FOLD,      /* name(args[0], ...: args[last]): all but the last are as written, EXPR_IN_RANGE if right */
    EXPR_IN_RANGE,  /* args[0] in args[1]..args[2] */
    EXPR_IN_LIST,   /* args[0] in [args[1], ...]; the list may be empty */
    EXPR_IN_SOURCE, /* args[0] in source; or `source` is NULL and args[1] is what was written instead of one */
    EXPR_PIPELINE,  /* the value of source, a pipeline */
    EXPR_SET,       /* set: several columns; the binder puts each of them in its place */
    EXPR_INDEX,     /* name[args...], name.column[args...], name.column, of lists also name[args...].member */
    EXPR_ELEMENT,   /* args[0][args[1]], perhaps with .member, of what is not a name */
    EXPR_SLICE,     /* args[0][args[1]..args[2]] */
    EXPR_LET        /* names[i] is args[i], for all but the last one, within that */
};

enum unary_op { UNARY_NEG, UNARY_NOT, UNARY_BITNOT };

/* `a not like b`, `a is not b`, `a !~ b` and `a not in ...` are UNARY_NOT of the operation. */
enum binary_op {
    BINARY_COALESCE, /* a ?? b; to the left, since grouping makes no difference */
    BINARY_OR,
    BINARY_AND,
    BINARY_EQ,
    BINARY_NE,
    BINARY_LT,
    BINARY_LE,
    BINARY_GT,
    BINARY_GE,
    BINARY_IS,
    BINARY_LIKE,
    BINARY_MATCH, /* a ~ b: a regular expression */
    BINARY_BITOR,
    BINARY_BITAND,
    BINARY_XOR,
    BINARY_SHL,
    BINARY_SHR,
    BINARY_ADD,
    BINARY_SUB,
    BINARY_MUL,
    BINARY_DIV,
    BINARY_INT_DIV,        /* a // b */
    BINARY_DIV_OR_MISSING, /* a /? b: missing where b is 0 */
    BINARY_MOD
};

struct source_node;
struct expr;

struct expr_list {
    struct expr **at;
    size_t count;
};

/* Several columns: those whose names fit a pattern, or those from one to another in their order. */
struct column_set {
    struct name pattern;       /* "feature_*"; absent: */
    struct expr *first, *last; /* EXPR_NAME or EXPR_POSITION */
    struct name type;          /* of which type they are; may be absent */
    struct expr_list *without; /* all but these: names, positions and sets; or NULL */
    struct span span;          /* of `type` and `without`, without a source if there is neither */
};

/* The rows of a window: A..B, by distance in rows or, with `of NAME`, in that column. */
struct window_frame {
    struct expr *first, *last; /* NULL: from the first row, to the last */
    struct name of;            /* may be absent */
    struct span span;
};

struct expr {
    enum expr_kind kind;
    struct span span; /* the whole expression, parentheses included */
    struct span op_span;
    union {
        enum unary_op unary;
        enum binary_op binary;
    } op;
    int64_t integer;
    double number;
    bool decimal;  /* EXPR_FLOAT: integer / 10^scale is exactly the literal, which has no exponent and at most 18 digits
                    */
    uint8_t scale; /* digits after the point, as written: 0.050 is 50 of scale 3 */
    bool utc;      /* EXPR_TIMESTAMP: written with a zone, and converted to UTC; else as written */
    const char *text; /* EXPR_TEXT: unescaped UTF-8, NUL-terminated; may contain NUL */
    size_t length;    /* bytes of text */
    struct name name;
    struct name column, member;    /* EXPR_INDEX; member: also EXPR_ELEMENT; may be absent */
    const struct expr *definition; /* EXPR_NAME, EXPR_INDEX: of a name of an EXPR_LET, or the range of an EXPR_FOLD that
                                      it is the index of; NULL: the name is neither */
    const struct name *names;      /* EXPR_LET */
    struct source_node *source;    /* EXPR_IN_SOURCE, EXPR_PIPELINE */
    const struct column_set *set;  /* EXPR_SET */
    struct expr **args;
    size_t arg_count;
    const struct window_frame *frame;
    uint32_t depth;   /* depth of the tree, at most LIMIT_DEPTH, so that passes may recurse */
    uint32_t nesting; /* nested brackets, unary operators and ?:, at most LIMIT_NESTING */
};

/* Sets *element to the EXPR_INDEX, NAME.COLUMN, that an EXPR_NAME is if it is a path and none of a column. False: it is
 * no path. */
bool expr_of_path(const struct expr *name, struct arena *arena, struct expr *element);

/* An expression with an optional name and order. */
struct item {
    struct expr *expr;
    struct name name;        /* `as NAME`, or NAME before `=` in derive; may be absent */
    enum binary_op compared; /* join: BINARY_LT, LE, GT or GE where the column is compared with the right's; else 0 */
    bool pattern;            /* the `*` in the name stands for that of a set, or for a column's name */
    struct expr *columns;    /* derive: EXPR_SET before the `=`, without a name; or NULL */
    bool descending;
    struct span span;
};

/* |a, b| before an expression. */
struct head {
    struct name *names;
    size_t count;
    struct span span;
};

enum source_kind {
    SOURCE_LOAD,     /* paths */
    SOURCE_RANGE,    /* from, to, by (by may be NULL) */
    SOURCE_LITERAL,  /* items: [3, 1, 2] */
    SOURCE_NAME,     /* name: a relation (or, alone in a let, a scalar) defined by let */
    SOURCE_PIPELINE, /* pipeline */
    SOURCE_LAST      /* the last result: a line at the prompt that begins with | */
};

/* A column of a file whose type is stated: NAME TYPE or NAME TYPE(ARGUMENT), as in decimal(2). */
struct stated_column {
    struct name name;
    struct name type;      /* "text", "decimal", "i32", ...; checked where the file is loaded */
    struct expr *argument; /* EXPR_INT, or NULL */
    struct span span;
};

/* How a text file is written: `skip 2`, `encoding latin1` (clauses.def). */
struct path_clause {
    enum clause_kind kind;
    const char *text; /* of FORM_TEXT and FORM_WORD */
    int64_t integer;  /* of FORM_INTEGER */
    struct span span;
};

/* One file: PATH [as NAME] [FORMAT], in a load also [NAME TYPE, ...] [missing "WORD", ...] [CLAUSE ...]. */
struct path_item {
    struct name path; /* unquoted; may be a glob, or `-` for standard input */
    struct name as;
    struct name format; /* "i32", "csv", ...; checked where the file is loaded */
    struct stated_column *stated;
    size_t stated_count;
    struct name *missing; /* texts that mean a missing value */
    size_t missing_count;
    struct path_clause *clauses;
    size_t clause_count;
    struct span span; /* all of it */
};

struct pipeline;
struct call;

/* An argument of a stage that the user has defined: an expression, which may be the name of a relation, or a source. */
struct stage_argument {
    struct expr *expr; /* or NULL */
    struct source_node *source;
    struct span span;
};

struct source_node {
    enum source_kind kind;
    struct span span;
    struct path_item *paths;
    size_t path_count;
    struct expr *from, *to, *by;
    struct expr **items;
    size_t item_count;
    struct name name;
    struct pipeline *pipeline;
    struct name as; /* zip SRC as NAME, for a source that is not a file */
};

struct stage {
    const struct word *word; /* the canonical row of the word table */
    struct span span;        /* all of it */
    struct span word_span;
    struct head *head;  /* or NULL */
    struct item *items; /* predicates, outputs, keys, or an optional argument */
    size_t item_count;
    struct source_node *sources; /* zip, gather, scatter, join, append */
    size_t source_count;
    struct name path; /* save; plot: may be absent */
    struct name
        format; /* save: where its items are the columns that folders tell, of the files; else how. May be absent */

    struct stage *body; /* per: the stages within each group; the items are keys. repeat: those of a round */
    size_t body_count;
    struct item *aggregates; /* group: calls of aggregates */
    size_t aggregate_count;
    struct expr *across; /* group: a column for each value of this one, or NULL; */
    struct expr *values; /* EXPR_IN_LIST of these values, NULL: of all that it has */
    struct span rollup;  /* group: that word, or `cube`; empty if there is none */
    bool cube;
    struct name op;        /* scan, reduce: "+", "min", ...; absent if a function is given, as head and item 0 */
    struct name exclusive; /* scan; may be absent */
    struct item *initial;  /* scan, reduce: from INIT, ...; sample: seed S; or NULL */
    size_t initial_count;
    struct name along;      /* "rows", "cols" or an axis; may be absent */
    struct expr **bounds;   /* stencil: first and last neighbour, of each axis */
    size_t bound_count;     /* even */
    struct expr *otherwise; /* stencil: else V, or NULL: */
    struct name border;     /* "wrap", "edge" or "mirror" */
    struct expr *into;      /* scatter: rows of the result, or NULL */
    bool share;             /* sample: its number is per cent */
    struct item *most;      /* top: how many rows; its items are keys */
    struct name kind;       /* join: "left", "semi", ...; may be absent. Its items are keys: a column of the left, and
                               the name of one of the right where that differs or is compared */
    struct name nearness;   /* asof join: "forward" or "nearest"; may be absent */
    struct expr *within;    /* asof join: at most this far, or NULL */
    struct name made[2];    /* unpivot: the columns for names and values; unnest: for positions, or absent */
    bool outer;             /* unnest: a row without elements stays */
    struct name prefix;     /* join: as P; repeat: as NAME; may be absent */
    struct expr *rounds;    /* repeat: how many, while and until which condition, or NULL; its stages are `body`, or */
    struct expr *condition, *until;
    struct pipeline *loop; /* this pipeline of any source; else NULL */

    struct name called; /* of a stage that the user has defined: its name */
    struct stage_argument *arguments;
    size_t argument_count;
    const struct call *call; /* set by the binder on stages of a definition: where that is used; else NULL */
};

/* A source and its stages. */
struct pipeline {
    struct source_node source;
    struct stage *stages;
    size_t stage_count;
    struct span span;
};

enum stmt_kind {
    STMT_PIPELINE, /* pipeline */
    STMT_EXPR,     /* expr: prints */
    STMT_LET,      /* name = pipeline or expr; the other is NULL */
    STMT_DEF,      /* name(params) = expr, or stages */
    STMT_ASSERT,   /* expr, which must hold */
    STMT_EXPLAIN,  /* explain [run|kernel|passes|sql] pipeline */
    STMT_RACE,     /* race pipeline */
    STMT_COMMAND   /* command: a line that begins with a dot, without the newline */
};

struct stmt {
    enum stmt_kind kind;
    struct span span;
    struct name name;
    struct name *params;
    size_t param_count;
    struct expr *expr;
    struct pipeline *pipeline;
    struct stage *stages; /* def of a stage: its expr is NULL */
    size_t stage_count;
    struct name variant; /* explain: "kernel", "run" or "sql", absent for the queue */
    struct name dialect; /* explain sql: of which it is to be, absent: of the server's */
    struct name command;
    struct stmt *next; /* in source order */
};

#endif
