/* Expressions to typed code: names, types, missing values, functions, messages.
 *
 * A bound expression is a struct term: a value of typed code, beside it another value that says whether there is one,
 * and what the number stands for. Errors do not stop the binder: what could not be bound is unknown, and is accepted
 * silently, so that one mistake causes one message. In a check, what only running can compute is unknown in the same
 * way. */
#ifndef RQL_ENGINE_EXPRESSION_EXPRESSION_H
#define RQL_ENGINE_EXPRESSION_EXPRESSION_H

#include "base/name_set.h"
#include "engine/env/env.h"
#include "engine/env/sources.h"
#include "engine/plan/aggregates.h"
#include "engine/plan/border.h"
#include "engine/plan/functions.h"
#include "engine/plan/task.h"
#include "engine/values/dictionary.h"
#include "parser/parse.h"

/* Limits, documented and tested. */
enum {
    LIMIT_COLUMNS = 30000,   /* in one relation */
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
    bool stage; /* of a stage: its expressions are bound like those of other stages */
};

/* A loop whose body is being bound (engine/loop/loop_stages.h). */
struct rounds {
    struct loop *loop;
    struct name name;     /* of the rows before the round; may be absent */
    struct slot *columns; /* of the state: `count` visible ones, then hidden ones of validity */
    size_t count;
    int64_t rows; /* -1: not known */
    struct shape shape;
    bool nameless;
    bool until;                    /* its condition is being bound, in which `before` has a meaning */
    bool compares;                 /* set where that is used */
    const struct pipeline *around; /* which has the loop */
    struct rounds *outer;
};

/* The index of a fold that is being bound, the innermost first. */
struct index_name {
    const struct expr *range;
    value value; /* NO_VALUE: unknown */
    const struct index_name *outer;
};

struct facts;            /* engine/bind/facts.h */
struct needs;            /* engine/bind/bind.h */
struct local;            /* local.c */
struct named_aggregate;  /* named_aggregates.h */
struct element_position; /* lists.h */
struct flow;
struct scope;

/* The values of a stage's calls of aggregates, which have been lowered to tasks before the stage is bound: each call,
 * by its place in the tree, is a column of a relation with a row for each group, or with one row. */
struct aggregate_value {
    const struct expr *call;
    const struct flow *flow; /* the relation */
    size_t column;
};
enum aggregate_rows {
    AGGREGATES_OF_ALL,  /* every row reads row 0 */
    AGGREGATES_BY_ID,   /* a row reads the row that column `ids` of its flow says */
    AGGREGATES_OF_GROUP /* the rows are the groups: each reads its own */
};
struct aggregate_values {
    struct aggregate_value *at;
    size_t count, capacity;
    enum aggregate_rows rows;
    size_t ids;
};

/* What is known of a constant. In a check, values that only running can compute are not. */
enum known { KNOWN_NOTHING, KNOWN_KIND, KNOWN_VALUE };

/* The state of one binding. */
struct binder {
    struct facts *facts; /* all that is known of the statement, */
    struct env *env;     /* two of which are read often */
    bool checking;
    struct arena *arena;
    struct needs *needs; /* what else has to be known */
    struct diags *diags;
    struct queue *queue;               /* NULL while no pipeline is bound */
    struct zone_columns *zones;        /* of the time zones that were read so far (zoned.c) */
    const struct dictionary **ordered; /* unsorted dictionaries that need an order: what was bound is of no use */
    size_t ordered_count, ordered_capacity;
    size_t errors;         /* recorded so far, at most LIMIT_ERRORS */
    bool cancelled;        /* while a function of text was computed: what is bound is of no use */
    size_t row_text_count; /* calls that make texts of rows, so far (row_text.h) */
    size_t outputs;        /* of all tasks so far */
    size_t inlined;        /* expression nodes bound inside functions so far */
    int depth;             /* of nested expressions */
    int folds;             /* nested around what is bound */
    bool row_loops;        /* set where a loop is within rows */
    struct name of_set; /* the column of a set of columns that was bound last, for errors: its name, and where the set
                           is written */
    const struct call *call;
    struct rounds *rounds;       /* the innermost loop that is being bound, or NULL */
    const struct stmt *defining; /* the function whose definition is checked, or NULL */
    bool needs_order; /* set by what needs the rows of a group one after another, where these are scattered */
    const struct aggregate_values *aggregates; /* of the stage that is bound; NULL: none */
    const struct named_aggregate *named;       /* by `with`, in earlier stages */
    const struct pipeline *pipeline;           /* that is bound, the innermost, */
    const struct stage *stage;                 /* and its stage; NULL: none */
    const struct flow *rows;                   /* that the stage reads; NULL: none */
    struct list_slice *slices;                 /* that were made (lists.c) */
};

/* The value of a terminal as the stages after it name it: `_`, its name or an abbreviation, or the head's name. */
struct subject {
    struct binding value; /* named like its aggregate, as `sum_amounts`; unknown until it has run */
    const struct head *head;
};

/* A bound expression. */
struct term {
    value value;   /* NO_VALUE after an error or if unknown; undefined in rows where nothing is present */
    value present; /* a bool: whether there is a value; NO_VALUE: in every row */
    bool settled;  /* where nothing is present, the value is 0 (false) */
    bool missing;  /* the literal `missing`, which fits every type */
    struct logical_type logical;
    const struct text *text; /* a constant text, which has no dictionary yet; else NULL */
    bool months;             /* a number of calendar months, which only dates and timestamps can add */
    bool aggregate;          /* an aggregate's value, or computed from one */
    /* A constant with a point, as written: mantissa * 10^-scale. Beside a decimal it is one. */
    bool decimal;
    int64_t mantissa;
    uint8_t scale;
};

/* A column as the next stage sees it. */
struct slot {
    const char *name;
    enum type type;
    bool known;   /* the type is; if not, everything is accepted */
    bool of_file; /* the name is that of its file, in which there are no names */
    struct logical_type logical;
    size_t key;    /* within per: 1 + the number of the key that this column is; 0: none */
    size_t origin; /* within per: 1 + the column before it that this one is, unchanged; 0: none */
    size_t
        validity; /* the place in `columns` of the hidden column that says where this one has a value; 0: everywhere */
};

/* A plain join that was the last stage, for a note of what it left out. */
struct join_note {
    int64_t rows;       /* of the left, -1: unknown */
    int64_t doubles;    /* keys that several rows of the right have */
    const char *source; /* the right, as written */
    struct span span;
};

/* A relation on its way from one stage to the next. */
struct flow {
    struct task *task;    /* whose outputs are the columns; NULL after an error in the source */
    struct slot *columns; /* `count` visible ones, then `hidden` ones of validity */
    size_t count, hidden;
    /* Within per: the hidden columns that hold each row's group, and its place before; else 0. Groups come one after
     * another or, if `scattered`, have rows anywhere, which are in their places. */
    size_t group, place;
    bool scattered;
    const struct slot *keys; /* the keys that are columns, */
    size_t key_count;        /* and their number */
    int64_t rows;            /* -1 if only running can tell */
    struct shape shape;
    bool nameless; /* one column without a name, and no column before it had one: of a range or a list */
    bool open;     /* it may have other columns: these are not all known */
    const struct join_note *joined; /* the last stage was a plain join; or NULL */

    /* Set by a terminal: a single value of this kind, with nothing for the next stage to read. */
    bool scalar;
    bool scalar_known;
    enum kind kind;
    struct logical_type logical;
    const char *scalar_name;
    const struct stage *last; /* the terminal, or the stage after which nothing may follow */
    bool ended;               /* by show, save, describe or plot */
};

/* The distances that `at` may use: first[i]..last[i] along axis i. */
struct neighbourhood {
    size_t axes; /* those of the shape, or 1 */
    int64_t first[MOST_AXES], last[MOST_AXES];
    bool bordered; /* beyond the ends are rows as this says; else there are none */
    enum border_kind border;
    bool known; /* false after an error */
    struct span span;
};
/* The rows that a function of two rows combines, by the names of its head. */
struct row_pair {
    const struct name *names; /* of the left and the right row */
    const struct flow *rows;  /* their columns: INPUT k of the code is column k of the left row, */
    size_t right;             /* and INPUT right + k that of the right one */
    const struct flow *from;  /* all columns of what is combined, for errors */
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
    const struct term *arguments;     /* of the parameters, */
    const struct expr *call;          /* as they were written; NULL: in a definition that is checked */
    struct scope *caller, *positions; /* of the arguments; of the positions of elements, if not this one */
    size_t parameter_count;
    bool has_rows;                          /* `row` means something */
    size_t group, place;                    /* within per: INPUTs of each row's group and place; else 0 */
    bool scattered;                         /* within per: the rows of a group are anywhere */
    struct shape shape;                     /* the names of axes mean indices of this */
    const struct neighbourhood *neighbours; /* `at` means something: within a stencil */
    bool reads_row;                         /* some value bound so far depends on the row */
    const char *no_columns;                 /* without a flow: why there are no columns, for hints */
    struct name only_name;                  /* the unknown name taken for the only column, if any */
    const struct index_name *indices;       /* of the folds around what is bound, in this scope */
    bool of_groups;                         /* the rows are groups: the columns are their keys */
    const struct item *given;               /* the stage's earlier expressions, whose names are not visible */
    size_t given_count;
    bool combines;               /* the expression is of a function that combines values, whose task is in no queue; */
    const struct row_pair *pair; /* if it is of rows, these; else NULL */
    const struct local *locals;  /* the local names that have been bound in this scope, the last one first */
    const struct element_position *elements; /* names of lists stand for their elements there; NULL: for lists */
    const struct needed *needed;             /* where what is bound is needed; NULL: everywhere */
};

/* What is bound is needed only where all of these hold, as the second operand of `&&`. */
struct needed {
    value condition;
    const struct needed *outer;
};

/* messages.c: text for messages. */

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
 * LIMIT_ERRORS errors. Returns false, so callers can `return bind_error(...)`. */
bool bind_error(struct binder *binder, struct span span, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same; returns unknown_term. */
struct term term_error(struct binder *binder, struct span span, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Records an error with a second place and its label. Returns false. */
bool bind_error_second(struct binder *binder, struct span span, struct span second, const char *label, const char *hint,
                       const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Counts an error that another module recorded. */
void bind_failed(struct binder *binder);
/* Whether a call of another module succeeded: if not, counts the error that it recorded, or stops binding. */
bool bind_succeeded(struct binder *binder, enum status status);
/* Whether LIMIT_ERRORS is reached, or binding was cancelled, and should stop. */
bool bind_gave_up(const struct binder *binder);

/* names.c: resolving names. */

enum meaning {
    MEANS_UNKNOWN, /* an error was recorded, or it cannot be known yet */
    MEANS_ARGUMENT,
    MEANS_COLUMN,
    MEANS_SCALAR,
    MEANS_ROW,
    MEANS_AXIS, /* the row's index along an axis of the shape */
    MEANS_STEP, /* the number of the round */
    MEANS_NAMED /* an aggregate that `with` names */
};
struct resolved {
    enum meaning meaning;
    size_t index; /* of the argument, column or axis */
    const struct binding *binding;
    const struct named_aggregate *named;
};

/* Resolves a name in an expression by the rules of docs/language.md. */
struct resolved name_resolve(struct scope *scope, const struct name *name);

/* Resolves a name or position where only columns are allowed (pick); false after an error or if unknown. */
bool name_resolve_column(struct scope *scope, const struct expr *expr, size_t *index);

/* Resolves $n to a column index; false after an error or if unknown. */
bool name_position(struct scope *scope, int64_t position, struct span span, size_t *index);

const struct slot *flow_column(const struct flow *flow, const char *name); /* NULL: none has exactly this name */
size_t flow_place(const struct flow *flow, const char *name);              /* its place; flow->count: none has */
struct input flow_input(const struct flow *flow, size_t k);                /* column `k` as an input, row by row */
struct input flow_whole(const struct flow *flow, size_t k);                /* or at any position */

/* Whether a parameter or a column has exactly this name. */
bool name_is_taken(const struct scope *scope, const char *name);
/* Whether it is a parameter of the function, and which. */
bool name_is_parameter(const struct scope *scope, const char *name, size_t *index);

/* The constant of this name, `pi`, which every other meaning of the name but an abbreviation hides; or NULL. */
const struct binding *name_constant(const char *name);

/* Records an error if a head does not fit the columns or has a name twice. */
void name_check_head(struct scope *scope);

/* term.c: terms. */

extern const struct term unknown_term;

struct term term_of(value v);                                   /* a number that is never missing */
struct term term_of_type(value v, struct logical_type logical); /* likewise, of another type */
bool term_is_known(struct term term);

/* What a term is, for the choice of an operation. */
enum term_class {
    CLASS_BOOL,
    CLASS_INT,
    CLASS_FLOAT,
#define LOGICAL_TYPE(kind, ...) CLASS_##kind, /* CLASS_TEXT, CLASS_DATE ... */
#include "engine/values/logical_types.def"
    CLASS_MONTHS,
    CLASS_MISSING /* the literal */
};
enum term_class class_of(const struct code *code, struct term term);
bool class_is_number(enum term_class which);   /* bool, int or float */
const char *class_noun(enum term_class which); /* "a condition", "text", "a date", ... */

/* Whether both are present; NO_VALUE: always. */
value present_both(struct code *code, value a, value b, struct span span);
/* The value, 0 where nothing is present: what is stored, sorted and grouped. */
value term_settled(struct code *code, struct term term, struct span span);
/* The value; a row without one fails. Files often say of columns without a gap that there may be some. */
value term_required(struct code *code, struct term term, struct span span);
/* Column `index` of the flow; marks nothing. Unknown if its type is. */
struct term term_of_column(struct code *code, const struct flow *flow, size_t index, struct span span);
/* The type that stores the term, as a column without a name. */
struct slot slot_of_term(const struct scope *scope, struct term term);
/* Converts both to one type that holds the values of either; an error, at `span`, if there is none. `what` is the
 * operator or function, quoted. */
bool terms_unify(struct scope *scope, struct term *a, const struct expr *a_expr, struct term *b,
                 const struct expr *b_expr, const char *what, struct span span);
/* Converts the term, a number or a decimal, to a float. */
struct term term_to_float(struct code *code, struct term term, struct span span);
/* 10^exponent, of 0 to 18. */
int64_t power_of_ten(int exponent);
/* An integer or a constant with a point becomes a decimal; false: it is a float. */
bool term_to_decimal(struct code *code, struct term *term, struct span span);
/* Midnight of a date; timestamps are unchanged. */
void term_to_timestamp(struct code *code, struct term *term, struct span span);

/* expression.c */

/* Unknown after an error. */
struct term bind_term(struct scope *scope, const struct expr *expr);
/* The term as a condition, false where it is missing: an integer is compared with 0, a float is an error. NO_VALUE
 * after an error. */
value bind_condition(struct scope *scope, const struct expr *expr);
/* A plain number that is never missing, for functions that combine values. NO_VALUE after an error. */
value bind_plain(struct scope *scope, const struct expr *expr, const char *what);
/* Converts a bool to an integer; others are unchanged. */
value bind_number(struct code *code, value v, struct span span);
/* The bool that bind_number made 1 or 0. */
value bind_truth(struct code *code, value v, struct span span);
/* Checks that the term is a number, not a bool; `what` (an operator or function, quoted) needs it. `logical` is the
 * operator for conditions that was probably meant, or NULL. */
bool bind_is_number(struct scope *scope, struct term term, const struct expr *expr, const char *what,
                    const char *logical);
/* Checks that it is an integer; errors as of bind_is_number. */
bool bind_is_integer(struct scope *scope, struct term term, const struct expr *expr, const char *what,
                     const char *logical);
/* condition ? yes : no, converted to one type. The expressions are those of the terms; `what` begins the error where
 * the types do not fit. */
struct term bind_choice(struct scope *scope, value condition, struct term yes, const struct expr *yes_expr,
                        struct term no, const struct expr *no_expr, const char *what, struct span span);
/* A value of which a check knows the kind only; different numbers stand for different values. */
value bind_unknown(struct scope *scope, int64_t number, enum kind kind, struct span span);
/* Whether the value may differ from row to row: it is no constant, and not one that only running can tell. */
bool bind_reads_rows(const struct scope *scope, value v);
/* Whether the expression is only a column's name or position; returns its index. */
bool bind_is_column(const struct scope *scope, const struct expr *expr, struct term term, size_t *index);

/* operators.c */

struct term bind_unary(struct scope *scope, const struct expr *expr);
struct term bind_ternary(struct scope *scope, const struct expr *expr);
/* A chain of binary operators, `in` among them, which is as deep as it is long: bound by a loop. */
struct term bind_chain(struct scope *scope, const struct expr *expr);
/* Whether it is a link of such a chain. */
bool expr_leans_left(const struct expr *expr);

/* compare.c: EQ, NE, LT or LE, exact also between integers and floats. */
struct term bind_compare(struct scope *scope, enum op op, struct term a, const struct expr *a_expr, struct term b,
                         const struct expr *b_expr, struct span span);
/* `a is b`: missing is a value that equals itself. */
struct term bind_is(struct scope *scope, struct term a, const struct expr *a_expr, struct term b,
                    const struct expr *b_expr, struct span span);

/* arithmetic.c: + - * / % of all types. */
struct term bind_arithmetic(struct scope *scope, enum op op, struct term a, const struct expr *a_expr, struct term b,
                            const struct expr *b_expr, const char *quoted, struct span span);
struct term bind_negation(struct scope *scope, struct term term, const struct expr *expr, struct span span);

/* constant.c: constant expressions. */

/* The scalar as a constant; unknown if it does not fit in 64 bits. */
struct term constant_of(struct scope *scope, const struct scalar *scalar, struct span span);
/* Binds and evaluates a constant expression. KNOWN_KIND: a check, where only running can tell the value; KNOWN_NOTHING:
 * also after an error. */
enum known bind_constant(struct scope *scope, const struct expr *expr, struct scalar *scalar);
/* A scope without columns, of a code of its own if that is NULL; `why` says why there are none, for hints. */
struct scope scope_without_columns(struct binder *binder, struct code *code, const char *why);
/* Evaluates an integer constant; another type is an error that `what` must be an integer. */
enum known bind_constant_int(struct scope *scope, const struct expr *expr, const char *what, const char *hint,
                             int64_t *integer);

/* builtin.c: a call of a built-in function. */
struct term bind_builtin(struct scope *scope, const struct function *function, const struct expr *expr);

/* call.c: name(args...), a built-in or user function. */

/* Whether the definition takes so many arguments; false with an error. */
bool bind_takes(struct binder *binder, const struct stmt *def, struct span span, size_t given);
struct term bind_call(struct scope *scope, const struct expr *expr);
/* Checks that the parameters of a definition are few and different. */
void check_parameters(struct binder *binder, const struct stmt *def);
/* Checks a definition: parameters, names, no recursion. */
void bind_function_body(struct binder *binder, const struct stmt *def);

/* aggregate_call.c: aggregates in expressions. */

/* Whether a call is one of an aggregate of rows: the name is an aggregate's, and not that of a function defined by
 * `def`, and it is not of the elements of each row's lists. */
const struct aggregate_function *aggregate_of_call(const struct binder *binder, const struct expr *expr);
/* Likewise, or of elements. */
const struct aggregate_function *aggregate_named(const struct binder *binder, const struct expr *expr);
/* Its value, from binder->aggregates. */
struct term bind_aggregate_call(struct scope *scope, const struct aggregate_function *function,
                                const struct expr *expr);
/* Column `index` of a relation at a row of it, read by the scope's task. */
struct term term_at(struct scope *scope, const struct flow *flow, size_t index, value row, struct span span);

/* element.c: values at other rows. */

/* A constant distance, called `what` in errors; false after an error or if unknown. */
bool bind_distance(struct binder *binder, const struct expr *expr, const char *what, int64_t *distance);
/* at(E, DISTANCE) or at(DISTANCE): the value of another row, missing where there is none. */
struct term bind_at_row(struct scope *scope, const struct expr *expr);
/* at(...) within a stencil. */
struct term bind_at(struct scope *scope, const struct expr *expr);
/* Whether there is a row `offset` rows further on, in the row's group. */
value group_has_row(const struct scope *scope, int64_t offset, struct span span);
/* round.c: `step`, the number of the round of the innermost loop, and before(NAME), a column before the round. */
struct term bind_step(struct scope *scope, struct span span);
struct term bind_before(struct scope *scope, const struct expr *expr);
/* Records that `what`, which `why`, cannot be read by a function that combines values. */
void refuse_in_combiner(struct scope *scope, struct span span, const char *what, const char *why);
/* Whether one of its sources, or of its stages, is the rows of a round of a loop that is being bound. */
bool pipeline_reads_round(const struct binder *binder, const struct pipeline *pipeline);
/* fold.c: sum(k in A..B: E) */
struct term bind_fold(struct scope *scope, const struct expr *expr);
/* The index of this range, of a fold around what is bound. */
struct term bind_fold_index(struct scope *scope, const struct expr *range);
/* element.c: the row's index along an axis of a known shape. */
value axis_index(struct code *code, const struct shape *shape, size_t axis, struct span span);

/* indexing.c: whether NAME.COLUMN is to be a column of the current rows, and not of a relation: there is such a column,
 * or columns have paths and nothing else has the first name. */
bool name_is_of_columns(const struct scope *scope, const struct expr *element);
/* indexing.c: elements of columns, EXPR_INDEX. */
struct term bind_index(struct scope *scope, const struct expr *expr);

/* local.c: whether a name with this definition, or NULL, is the index of a fold. */
bool is_fold_index(const struct expr *definition);
/* The value of a local name with this definition, and that of an EXPR_LET. */
struct term bind_local(struct scope *scope, const struct expr *definition);
struct term bind_let(struct scope *scope, const struct expr *expr);

#endif
