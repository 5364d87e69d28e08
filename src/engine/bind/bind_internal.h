/* What the files of the binder share. Nothing here is for others: bind.h is the public face.
 *
 * A pipeline is bound from left to right. Between two stages stands a struct flow: the columns a stage finds. Errors do
 * not stop the walk: what could not be bound becomes "not known", which later stages pass over in silence, so that one
 * mistake gives one message. What only running can tell (checking) is not known in the same way. */
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

/* Limits of this part of the house, documented and tested. */
enum {
    LIMIT_COLUMNS = 4096,    /* in one relation */
    LIMIT_OUTPUTS = 2000000, /* columns of all stages of a statement together */
    LIMIT_CALLS = 100,       /* functions that call functions */
    LIMIT_CALL_DEPTH = 4000, /* expressions within one another once functions are put in place */
    LIMIT_INLINED = 1000000  /* expression nodes that come from putting functions in place */
};

/* A function of the user being put in place, innermost first. */
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
    int depth;           /* of expressions within one another */
    const struct call *call;
    const struct stmt *defining; /* the function whose definition is checked, or NULL */
};

/* A column as the next stage finds it. */
struct slot {
    const char *name;
    enum type type;
    bool known; /* its type, that is; if not, whatever is done with it is let pass */
};

/* A relation on its way from one stage to the next. */
struct flow {
    struct task *task; /* whose outputs the columns are; NULL after an error in the source */
    struct slot *columns;
    size_t count;
    int64_t rows; /* -1 if only running can tell */
    struct shape shape;
    bool open; /* it may have other columns than these */

    /* Set by a terminal stage: a single value of this kind, nothing for the next stage to read. */
    bool scalar;
    bool scalar_known;
    enum kind kind;
    const char *scalar_name;
    const struct stage *last; /* the terminal, or the show or save after which nothing may follow */
    bool ended;               /* by show or save */
};

/* What identifiers in an expression may mean. One scope serves all expressions of a stage. */
struct scope {
    struct binder *binder;
    struct code *code;
    struct task *task;             /* whose code it is, to which inputs can be added; NULL: it reads nothing else */
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
    struct name lone;         /* the unknown name that was taken for the only column; absent if none was */
    const struct item *given; /* the stage's expressions before this one, whose names it does not see */
    size_t given_count;
};

/* bind_text.c: text for messages. */

/* What the span covers, on one line, without comments, at most `limit` bytes and an ellipsis. Of nothing it is the name
 * of the last relation. */
const char *text_of_span(struct arena *arena, struct span span, size_t limit);
/* The stage's word as it was written, which may be an alias. */
const char *text_of_word(struct arena *arena, const struct stage *stage);
/* "`ids` (i32), `amounts` (i32)": the columns of a flow; at most a dozen are spelled out. */
const char *text_of_columns(struct arena *arena, const struct flow *flow);
/* "1 row", "3 rows". */
const char *text_of_count(struct arena *arena, int64_t count, const char *noun);

/* Records an error with a hint (or NULL); inside a function put in place it also shows where that was called. Past
 * LIMIT_ERRORS nothing is recorded any more. */
void bind_error(struct binder *binder, struct span span, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same with another place to show. */
void bind_error_second(struct binder *binder, struct span span, struct span second, const char *label, const char *hint,
                       const char *format, ...) __attribute__((format(printf, 6, 7)));
/* To be called when another module has recorded an error. */
void bind_failed(struct binder *binder);
/* Whether so much went wrong that going on is no use. */
bool bind_hopeless(const struct binder *binder);

/* names.c: what identifiers mean. */

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

/* What an identifier in an expression means, by the rules of docs/language.md. */
struct resolved name_resolve(struct scope *scope, const struct name *name);

/* The column that a name or position stands for where only columns are meant (pick); false after an error, or if it
 * cannot be known yet. */
bool name_resolve_column(struct scope *scope, const struct expr *expr, size_t *index);

/* $n as a column index; false after an error, or if it cannot be known yet. */
bool name_position(struct scope *scope, int64_t position, struct span span, size_t *index);

/* Whether the name is a parameter, or exactly that of a column: then it means nothing else. */
bool name_is_taken(const struct scope *scope, const char *name);

/* Records an error if a head does not fit the columns or names something twice. */
void name_check_head(struct scope *scope);

/* names_unknown.c: what is said where a name means nothing that can stand there. */

/* Names to look for near misses in, gathered from several places. */
struct candidates {
    const char **at;
    size_t count;
};
struct candidates candidates_new(struct arena *arena, size_t most);
void candidates_add_bindings(struct candidates *names, const struct env *env, enum binding_kind kind);

/* Records that nothing of this name can be called. */
void name_unknown_function(struct scope *scope, const struct name *name);

/* Records that there is no relation of this name; if there is a file, says how to load it. */
void name_unknown_relation(struct binder *binder, const struct name *name);

/* bind_expr.c: expressions to typed code. All give NO_VALUE after an error, or for what cannot be known yet. */

value bind_value(struct scope *scope, const struct expr *expr);
/* As a bool: an integer is compared with 0, a float is an error. */
value bind_condition(struct scope *scope, const struct expr *expr);
/* An integer for a bool, the others as they are. */
value bind_number(struct scope *scope, value v, struct span span);
/* Whether the value is a number; of a bool an error that `what` (an operator or function, quoted) needs numbers.
 * `logical` is the operator that does for conditions what was wanted, or NULL. */
bool bind_is_number(struct scope *scope, value v, const struct expr *expr, const char *what, const char *logical);
/* condition ? yes : no, with both brought to one kind; the expressions are where they were written. `what` begins the
 * error where only one of them is a number. */
value bind_choice(struct scope *scope, value condition, value yes, const struct expr *yes_expr, value no,
                  const struct expr *no_expr, const char *what, struct span span);
/* The scalar as a constant; NO_VALUE if it does not fit in 64 bits. */
value constant_of(struct code *code, const struct scalar *scalar, struct span span);
/* In a check before running, a value of which only the kind is known; different ones have different numbers. */
value bind_unknown(struct scope *scope, int64_t number, enum kind kind, struct span span);
/* Whether the expression is nothing but the name of a column, and of which. */
bool bind_is_column(const struct scope *scope, const struct expr *expr, value v, size_t *index);
/* Whether the value is an integer; if not, an error as of bind_is_number. */
bool bind_is_integer(struct scope *scope, value v, const struct expr *expr, const char *what, const char *logical);

/* bind_compare.c: EQ, NE, LT or LE, exact also between integers and floats. */
value bind_compare(struct scope *scope, enum op op, value a, value b, struct span span);

/* bind_constant.c: expressions without columns. */

/* The value of such an expression. In a check before running perhaps only its kind is known; KNOWN_NOTHING
 * after an error, too. */
enum known { KNOWN_NOTHING, KNOWN_KIND, KNOWN_VALUE };
enum known bind_constant(struct scope *scope, const struct expr *expr, struct scalar *scalar);
/* A scope for constants; `why` says why there are no columns, for hints. */
struct scope scope_without_columns(struct binder *binder, struct code *code, const char *why);

/* The same of an integer; another kind is an error that says that `what` is a whole number. */
enum known bind_constant_int(struct scope *scope, const struct expr *expr, const char *what, const char *hint,
                             int64_t *integer);

/* bind_call.c: name(args...), a function of the table or one of the user. */
value bind_call(struct scope *scope, const struct expr *expr);
/* Checks a definition: parameters, names, no recursion. */
void bind_function_body(struct binder *binder, const struct stmt *def);

/* bind_source.c: where a pipeline begins, and what zip adds. `flow` is filled in whatever happens. */
void bind_source(struct binder *binder, const struct source_node *source, struct flow *flow);

/* bind_stage.c: a pipeline with all its stages, and what is done with its end. */
void bind_stages(struct binder *binder, const struct pipeline *pipeline, struct flow *flow, struct bound *bound);

/* stage_parts.c: what several stages share. */

/* The expression a stage cannot do without, or NULL after an error. */
const struct expr *stage_expr(struct binder *binder, const struct stage *stage);
/* The number that a stage such as take is given, at least `least`. False after an error, or if it is not known yet. */
bool stage_number(struct binder *binder, const struct stage *stage, int64_t least, int64_t *number);
/* A stage without an expression is about the one column there is: whether there is just one. If not, an error. */
bool stage_column(struct binder *binder, const struct stage *stage, const struct flow *flow);
/* What count E keeps; NO_VALUE after an error, or if it cannot be known. */
value bind_counted(struct scope *scope, const struct stage *stage);
enum aggregate_kind aggregate_of(enum stage_kind stage);
/* Makes the task give this one value. */
void task_aggregate(struct binder *binder, const struct stage *stage, struct task *task, struct flow *flow,
                    struct aggregate what);
/* c1, c2, ... for the columns without a name; the others are numbered where they are the same. */
void name_columns(struct binder *binder, struct slot *columns, size_t count);
/* Sets how many rows the task reads, which is what all `count` flows give: at[0] is what came before the stage, the
 * others are its sources. An error if it is known that they differ. */
void bind_align(struct binder *binder, const struct stage *stage, struct task *task, const struct flow *at,
                size_t count);

/* kernel_config.c: rows laid out in two dimensions. */

extern const struct shape shape_unknown; /* as a check before running finds a picture's */
/* The row or the column that the row at hand is in. */
value shape_row(struct code *code, struct shape shape, struct span span);
value shape_col(struct code *code, struct shape shape, struct span span);
/* Whether the flow has a shape that `along` can go along; an error if not. */
bool shape_along(struct binder *binder, const struct stage *stage, const struct flow *flow);
/* Whether the relation after the stage is laid out as the one before. */
bool shape_is_kept(enum stage_kind stage);

/* bind_assert.c: of rows, a filter that fails; of a terminal's value, a check that waits until it is there. */
void bind_assert(struct binder *binder, const struct stage *stage, struct flow *flow, struct bound *bound);

/* bind_zip.c */
void bind_zip(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_columns.c: the stages that make or choose columns. */
void bind_map(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_derive(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_nth(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_pick(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_operator.c: what a breaker reads are operands: columns as they are, or computed by a task before it, the front,
 * which is left out if it has nothing to compute. */
struct front {
    struct binder *binder;
    const struct stage *stage;
    const struct flow *flow; /* what the stage finds */
    struct task *task;
    struct scope scope; /* of the stage's expressions */
    struct slot *slots; /* of the operands */
    value *values;
    size_t count, capacity;
};
void front_begin(struct binder *binder, const struct stage *stage, const struct flow *flow, struct front *front);
/* Adds an operand and gives its number; equal ones are one. The slot's type is filled in unless it is a column. */
size_t front_add(struct front *front, value v, struct slot slot);
/* The same for an expression, under the name it is given. A column keeps its own name and type. */
size_t front_item(struct front *front, const struct item *item);
/* Makes the breaker, which is called `name` in listings. operand[k] becomes the input that operand k is. */
struct task *front_end(struct front *front, const char *name, enum operator_kind kind, size_t key_count,
                       size_t *operand);
/* The breaker alone, which reads the columns of `flow`. */
struct task *new_breaker(struct front *front, const char *name, const struct flow *flow, enum operator_kind kind,
                         size_t key_count);

/* bind_operator.c: the stages that work on whole columns. */
void bind_sort(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_distinct(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_scatter(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_hist(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_group.c: group, and the stages that give one value for each row or column of a shape. */
void bind_group(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_along(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_combiner.c */
/* The operator or function that a stage combines values of this kind by, with its initial value; false after an error.
 */
bool bind_combiner(struct binder *binder, const struct stage *stage, enum kind kind, struct aggregate *what);

void bind_scan(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_reduce(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_position.c: values at other rows. */

/* What `at` may ask for: first[i]..last[i] along axis i. */
struct neighbourhood {
    size_t axes; /* 1, or 2: rows and columns of the shape */
    int64_t first[2], last[2];
    bool known; /* false after an error */
    struct span span;
};
/* A constant distance, which `what` describes in the error; false after an error, or if it is not known. */
bool bind_distance(struct binder *binder, const struct expr *expr, const char *what, int64_t *distance);
/* at(...) within a stencil. */
value bind_at(struct scope *scope, const struct expr *expr);
/* NAME[E] */
value bind_index(struct scope *scope, const struct expr *expr);

void bind_stencil(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_gather.c: rows at other places. */
void bind_gather(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_reverse(struct binder *binder, const struct stage *stage, struct flow *flow);
/* Binds the source of positions of gather and scatter, whose column is named unlike those of the flow. False after an
 * error, or if it is not known what it is. */
bool bind_positions(struct binder *binder, const struct stage *stage, const struct flow *flow, struct flow *positions);

/* bind_shape.c */
void bind_shape(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_terminal.c: the stages that make one value of a relation. */
void bind_count(struct binder *binder, const struct stage *stage, struct flow *flow);
void bind_aggregate(struct binder *binder, const struct stage *stage, struct flow *flow);

/* bind_task.c: making tasks. */

/* A new task of the queue with its mark, the last of the flow; it reads nothing yet. */
struct task *task_begin(struct binder *binder, const char *name, struct span span, struct flow *flow);
/* Makes room for so many inputs in all; task_read adds a flow's columns to them. */
void task_reserve(struct binder *binder, struct task *task, size_t inputs);
void task_read(struct task *task, const struct flow *flow);
/* Adds one more input, or finds the equal one; gives its number. */
size_t task_input(struct binder *binder, struct task *task, const struct input *input);
/* After an error, or when only running can tell: some columns, nobody knows which. */
void task_lose(struct binder *binder, const struct stage *stage, struct flow *flow);
/* A new task for a part of the stage, called `name`, that reads the flow's columns: INPUT k is column k. */
struct task *task_part(struct binder *binder, const char *name, struct span span, const struct flow *flow);
/* The same for the stage itself. */
struct task *task_after(struct binder *binder, const struct stage *stage, const struct flow *flow);
/* The scope of a stage's expressions; complains about its head. */
struct scope scope_of_stage(struct binder *binder, struct task *task, const struct flow *flow, const struct head *head);
/* Makes each of the flow's columns, which are the task's first inputs, an output; the flow goes on from this task. */
void task_pass(struct binder *binder, struct task *task, struct flow *flow);
/* Gives the task outputs of these values (NO_VALUE where not known), as the flow's new columns. */
void task_give(struct binder *binder, struct task *task, struct flow *flow, struct slot *columns, const value *values,
               size_t count);
/* Whether so many columns are too many for a relation; records the error. */
bool too_many_columns(struct binder *binder, size_t count, struct span span);
/* Makes the columns' names different from one another: ids, ids_2. */
void number_duplicates(struct binder *binder, struct slot *columns, size_t count);

#endif
