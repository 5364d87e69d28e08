/* Shared by the files of the binder. A pipeline is bound from left to right; between two stages stands a struct flow,
 * the columns that the next stage sees. Errors do not stop the walk: what could not be bound becomes unknown, and later
 * stages accept it silently, so that one mistake causes one message. In a check, what only running can compute is
 * unknown in the same way. */
#ifndef RQL_ENGINE_BIND_BIND_INTERNAL_H
#define RQL_ENGINE_BIND_BIND_INTERNAL_H

#include "engine/backend/user_reduce.h"
#include "engine/bind/bind.h"
#include "engine/bind/name_set.h"
#include "engine/env/sources.h"
#include "engine/env/written_path.h"
#include "engine/exact/exact.h"
#include "engine/formats/save.h"
#include "engine/plan/functions.h"
#include "parser/parse.h"

/* Limits, documented and tested. */
enum {
    LIMIT_COLUMNS = 4096,    /* in one relation */
    LIMIT_OUTPUTS = 2000000, /* columns of all stages of a statement together */
    LIMIT_CALLS = 100,       /* nested calls of user functions */
    LIMIT_CALL_DEPTH = 4000, /* depth of expressions after inlining */
    LIMIT_INLINED = 1000000  /* expression nodes added by inlining */
};

/* A user function that is being inlined, innermost first. */
struct call {
    const struct stmt *function;
    struct span span; /* of the call */
    const struct call *caller;
};

/* The state of binding one statement. */
struct binder {
    struct env *env;
    bool checking;
    struct arena *arena;
    struct sources *sources; /* of the pipeline */
    struct diags *diags;
    struct queue *queue; /* NULL while no pipeline is bound */
    size_t errors;       /* recorded so far, at most LIMIT_ERRORS */
    size_t outputs;      /* of all tasks so far */
    size_t inlined;      /* expression nodes bound inside functions so far */
    int depth;           /* of nested expressions */
    const struct call *call;
    const struct stmt *defining; /* the function whose definition is checked, or NULL */
};

/* A column as the next stage sees it. */
struct slot {
    const char *name;
    enum type type;
    bool known; /* the type is; if not, everything is accepted */
};

/* A relation on its way from one stage to the next. */
struct flow {
    struct task *task; /* whose outputs are the columns; NULL after an error in the source */
    struct slot *columns;
    size_t count;
    int64_t rows; /* -1 if only running can tell */
    struct shape shape;
    bool open; /* it may have other columns: these are not all known */

    /* Set by a terminal: a single value of this kind, with nothing for the next stage to read. */
    bool scalar;
    bool scalar_known;
    enum kind kind;
    const char *scalar_name;
    const struct stage *last; /* the terminal, or the stage after which nothing may follow */
    bool ended;               /* by show, save, describe or plot */
};

/* What names in an expression may mean. One scope serves all expressions of a stage. */
struct scope {
    struct binder *binder;
    struct code *code;
    struct task *task;             /* whose code it is; NULL: no inputs can be added */
    const struct flow *flow;       /* NULL: no columns here; INPUT k of the code is column k */
    const struct head *head;       /* or NULL */
    const struct subject *subject; /* after a terminal: its value; NULL: there is none */
    const struct name *parameters;
    const value *arguments; /* of the parameters; NO_VALUE where not known */
    size_t parameter_count;
    bool has_rows;                          /* `row` means something */
    struct shape shape;                     /* `row` and `col` are the indices of this */
    const struct neighbourhood *neighbours; /* `at` means something: within a stencil */
    bool reads_row;                         /* some value bound so far depends on the row */
    const char *no_columns;                 /* without a flow: why there are no columns, for hints */
    struct name only_name;                  /* the unknown name taken for the only column, if any */
    const struct item *given;               /* the stage's earlier expressions, whose names are not visible */
    size_t given_count;
};

/* bind_text.c: text for messages. */

/* The source text on one line, without comments, cut to `limit` bytes with an ellipsis. Of an empty span it is the name
 * of the last relation. */
const char *text_of_span(struct arena *arena, struct span span, size_t limit);
/* The stage's word as written, perhaps an alias. */
const char *text_of_word(struct arena *arena, const struct stage *stage);
/* "`ids` (i32), `amounts` (i32)": the columns of a flow, at most a dozen. */
const char *text_of_columns(struct arena *arena, const struct flow *flow);
/* "1 row", "3 rows". */
const char *text_of_count(struct arena *arena, int64_t count, const char *noun);

/* Records an error with a hint (or NULL); within an inlined function also where that was called. Records nothing after
 * LIMIT_ERRORS errors. */
void bind_error(struct binder *binder, struct span span, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Records an error with a second place and its label. */
void bind_error_second(struct binder *binder, struct span span, struct span second, const char *label, const char *hint,
                       const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Counts an error that another module recorded. */
void bind_failed(struct binder *binder);
/* Whether LIMIT_ERRORS is reached and binding should stop. */
bool bind_gave_up(const struct binder *binder);

/* names.c: resolving names. */

enum meaning {
    MEANS_UNKNOWN, /* an error was recorded, or it cannot be known yet */
    MEANS_ARGUMENT,
    MEANS_COLUMN,
    MEANS_SCALAR,
    MEANS_ROW,
    MEANS_COL
};
struct resolved {
    enum meaning meaning;
    size_t index; /* of the argument or column */
    const struct binding *binding;
};

/* Resolves a name in an expression by the rules of docs/language.md. */
struct resolved name_resolve(struct scope *scope, const struct name *name);

/* Resolves a name or position where only columns are allowed (pick); false after an error or if unknown. */
bool name_resolve_column(struct scope *scope, const struct expr *expr, size_t *index);

/* Resolves $n to a column index; false after an error or if unknown. */
bool name_position(struct scope *scope, int64_t position, struct span span, size_t *index);

/* Whether a parameter or a column has exactly this name. */
bool name_is_taken(const struct scope *scope, const char *name);

/* Records an error if a head does not fit the columns or has a name twice. */
void name_check_head(struct scope *scope);

/* names_unknown.c: errors for unknown names. */

/* Names among which similar ones are suggested. */
struct candidates {
    const char **at;
    size_t count;
};
struct candidates candidates_new(struct arena *arena, size_t most);
void candidates_add_bindings(struct candidates *names, const struct env *env, enum binding_kind kind);

/* Records that there is no function of this name. */
void name_unknown_function(struct scope *scope, const struct name *name);

/* Records that there is no relation of this name; the hint says how to load a file of that name. */
void name_unknown_relation(struct binder *binder, const struct name *name);

/* bind_expr.c: expressions to typed code. Values are NO_VALUE after an error or if unknown. */

value bind_value(struct scope *scope, const struct expr *expr);
/* As a bool: an integer is compared with 0, a float is an error. */
value bind_condition(struct scope *scope, const struct expr *expr);
/* Converts a bool to an integer; others are unchanged. */
value bind_number(struct scope *scope, value v, struct span span);
/* Checks that the value is a number; a bool is an error that `what` (an operator or function, quoted) needs numbers.
 * `logical` is the operator for conditions that was probably meant, or NULL. */
bool bind_is_number(struct scope *scope, value v, const struct expr *expr, const char *what, const char *logical);
/* condition ? yes : no, converted to one kind. The expressions are those of the values; `what` begins the error where
 * only one is a number. */
value bind_choice(struct scope *scope, value condition, value yes, const struct expr *yes_expr, value no,
                  const struct expr *no_expr, const char *what, struct span span);
/* The scalar as a constant; NO_VALUE if it does not fit in 64 bits. */
value constant_of(struct code *code, const struct scalar *scalar, struct span span);
/* In a check, a value of known kind only; different numbers stand for different values. */
value bind_unknown(struct scope *scope, int64_t number, enum kind kind, struct span span);
/* Whether the expression is only a column's name or position; returns its index. */
bool bind_is_column(const struct scope *scope, const struct expr *expr, value v, size_t *index);
/* Checks that the value is an integer; errors as of bind_is_number. */
bool bind_is_integer(struct scope *scope, value v, const struct expr *expr, const char *what, const char *logical);

/* bind_compare.c: EQ, NE, LT or LE, exact also between integers and floats. */
value bind_compare(struct scope *scope, enum op op, value a, value b, struct span span);

/* bind_constant.c: constant expressions. */

/* Binds and evaluates a constant expression. KNOWN_KIND: a check, where only running can tell the value; KNOWN_NOTHING:
 * also after an error. */
enum known { KNOWN_NOTHING, KNOWN_KIND, KNOWN_VALUE };
enum known bind_constant(struct scope *scope, const struct expr *expr, struct scalar *scalar);
/* A scope without columns; `why` says why there are none, for hints. */
struct scope scope_without_columns(struct binder *binder, struct code *code, const char *why);

/* Evaluates an integer constant; another kind is an error that `what` must be an integer. */
enum known bind_constant_int(struct scope *scope, const struct expr *expr, const char *what, const char *hint,
                             int64_t *integer);

/* bind_call.c: name(args...), a built-in or user function. */
value bind_call(struct scope *scope, const struct expr *expr);
/* Checks a definition: parameters, names, no recursion. */
void bind_function_body(struct binder *binder, const struct stmt *def);

/* bind_source.c: binds a pipeline's source, or one that zip adds. Always fills in `flow`. */
void bind_source(struct binder *binder, const struct source_node *source, struct flow *flow);

/* bind_stage.c: binds a pipeline with all its stages. */
void bind_stages(struct binder *binder, const struct pipeline *pipeline, struct flow *flow, struct bound *bound);

/* stage_parts.c: what several stages share. */

/* The stage's first expression, or NULL after an error: it has none. */
const struct expr *stage_expr(struct binder *binder, const struct stage *stage);
/* The number of a stage such as take, at least `least`. False after an error or if unknown. */
bool stage_number(struct binder *binder, const struct stage *stage, int64_t least, int64_t *number);
/* Checks that there is exactly one column, for a stage without an expression. False after an error or if unknown. */
bool stage_column(struct binder *binder, const struct stage *stage, const struct flow *flow);
/* The condition of count E; NO_VALUE after an error or if unknown. */
value bind_counted(struct scope *scope, const struct stage *stage);
enum aggregate_kind aggregate_of(enum stage_kind stage);
/* Makes the task end in this aggregate. */
void task_aggregate(struct binder *binder, const struct stage *stage, struct task *task, struct flow *flow,
                    struct aggregate what);
/* Names unnamed columns c1, c2, ...; numbers duplicate names. */
void name_columns(struct binder *binder, struct slot *columns, size_t count);
/* Sets the task's row count, which all `count` flows must share: at[0] is the flow before the stage, the others are its
 * sources. An error if they are known to differ. */
void bind_align(struct binder *binder, const struct stage *stage, struct task *task, const struct flow *at,
                size_t count);

/* bind_shape.c: rows laid out in two dimensions. */

extern const struct shape shape_unknown; /* of a picture, in a check */
/* The row, or the column, of the current row within the shape. */
value shape_row(struct code *code, struct shape shape, struct span span);
value shape_col(struct code *code, struct shape shape, struct span span);
/* Checks that the flow has a shape for `along`; records an error if not. */
bool shape_check_axis(struct binder *binder, const struct stage *stage, const struct flow *flow);
/* Whether the stage keeps its input's shape. */
bool shape_is_kept(enum stage_kind stage);

/* bind_assert.c: a checked filter of rows, or a check of a terminal's value. */
void bind_assert(struct binder *binder, const struct stage *stage, struct flow *flow, struct bound *bound);

/* bind_zip.c */
void bind_zip(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_columns.c: stages that compute or choose columns. */
void bind_map(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_derive(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_nth(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_pick(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_operator.c: operators on whole columns. They read operands: columns, or what a task before the operator
 * computes. That task is left out if it has nothing to compute. */
struct operands {
    struct binder *binder;
    const struct stage *stage;
    const struct flow *flow; /* before the stage */
    struct task *task;
    struct scope scope; /* of the stage's expressions */
    struct slot *slots; /* of the operands */
    value *values;
    size_t count, capacity;
};
void operands_begin(struct binder *binder, const struct stage *stage, const struct flow *flow,
                    struct operands *operands);
/* Adds an operand, or finds an equal one, and returns its number. Sets the slot's type, and name and type if it is a
 * column. */
size_t operands_add(struct operands *operands, value v, struct slot slot);
/* Adds an expression's value as an operand, with the item's name; a column keeps its own name and type. */
size_t operands_add_item(struct operands *operands, const struct item *item);
/* Ends the task of operands and creates the operator, `name` in listings. operand[k] becomes the input of operand k. */
struct task *operands_end(struct operands *operands, const char *name, enum operator_kind kind, size_t key_count,
                          size_t *operand);

void bind_sort(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_distinct(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_scatter(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_hist(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_group.c: group, and axis reduction. */
void bind_group(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_axis_reduction(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_combiner.c: the function that scan or reduce combines values of this kind by, with its initial value; false
 * after an error. */
bool bind_combiner(struct binder *binder, const struct stage *stage, enum kind kind, struct aggregate *what);

void bind_scan(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_reduce(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_position.c: values at other rows. */

/* The distances that `at` may use: first[i]..last[i] along axis i. */
struct neighbourhood {
    size_t axes; /* 1, or 2: rows and columns of the shape */
    int64_t first[2], last[2];
    bool known; /* false after an error */
    struct span span;
};
/* at(...) within a stencil. */
value bind_at(struct scope *scope, const struct expr *expr);
/* NAME[E] */
value bind_index(struct scope *scope, const struct expr *expr);

void bind_stencil(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_gather.c: rows at other positions. */
void bind_gather(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_reverse(struct binder *binder, const struct stage *stage, struct flow *flow);
/* Binds the positions of gather and scatter, one column, named unlike those of the flow. False after an error or if
 * unknown. */
bool bind_positions(struct binder *binder, const struct stage *stage, const struct flow *flow, struct flow *positions);

/* bind_shape.c */
void bind_shape(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_aggregate.c: stages that combine values. */
void bind_count(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_aggregate(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_task.c: creating tasks. */

/* Adds a task with its stage mark to the queue and makes it the flow's; it has no inputs yet. */
struct task *task_new(struct binder *binder, const char *name, struct span span, struct flow *flow);
/* Reserves space for this many inputs; task_add_inputs adds a flow's columns. */
void task_reserve_inputs(struct binder *binder, struct task *task, size_t inputs);
void task_add_inputs(struct task *task, const struct flow *flow);
/* Adds an input, or finds an equal one; returns its number. */
size_t task_add_input(struct binder *binder, struct task *task, const struct input *input);
/* After an error, or in a check: makes the flow's columns unknown. */
void task_unknown(struct binder *binder, const struct stage *stage, struct flow *flow);
/* Adds a task for a part of the stage, called `name`, that reads the flow's columns: INPUT k is column k. */
struct task *task_reading(struct binder *binder, const char *name, struct span span, const struct flow *flow);
/* Adds a task for the stage that reads the flow's columns. */
struct task *task_of_stage(struct binder *binder, const struct stage *stage, const struct flow *flow);
/* The scope of a stage's expressions; records errors of its head. */
struct scope scope_of_stage(struct binder *binder, struct task *task, const struct flow *flow, const struct head *head);
/* Makes the flow's columns, the task's first inputs, its outputs, and the task the flow's. */
void task_pass_inputs(struct binder *binder, struct task *task, struct flow *flow);
/* Sets the task's outputs and the flow's columns; values are NO_VALUE where unknown. */
void task_set_outputs(struct binder *binder, struct task *task, struct flow *flow, struct slot *columns,
                      const value *values, size_t count);
/* Checks a relation's number of columns; true, with an error, if there are too many. */
bool too_many_columns(struct binder *binder, size_t count, struct span span);
/* Numbers duplicate column names: ids, ids_2. */
void number_duplicates(struct binder *binder, struct slot *columns, size_t count);

#endif
