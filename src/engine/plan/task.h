/* Tasks: what a pipeline is lowered to, before and after fusion.
 *
 * Every task reads columns (of a file or of an earlier task), computes typed code on each row, keeps the rows for
 * which all filters hold, keeps a window of those, and ends in a sink. A task straight from the binder is one stage of
 * the pipeline; fusion joins tasks into fewer of the same form. */
#ifndef RQL_ENGINE_PLAN_TASK_H
#define RQL_ENGINE_PLAN_TASK_H

#include "engine/plan/aggregates.h"
#include "engine/plan/code.h"
#include "engine/storage/column.h"
#include "engine/text_functions/text_functions.h"

struct task;
struct loop;      /* loop.h */
struct combining; /* combining.h */

/* The rows of two relations whose keys are equal, as language.md has it. */
enum join_kind { JOIN_INNER, JOIN_LEFT, JOIN_SEMI, JOIN_ANTI, JOIN_FULL, JOIN_ASOF, JOIN_LOOKUP, JOIN_CROSS };

/* Whose row an input of OPERATOR_JOIN is of; JOIN_FOUND and JOIN_HERE: whether there is one of the source, and one of
 * the other relation. JOIN_MEMBER, of any task
 * that is lowered for a server: what GATHER reads there at "position" v is whether the input has an element v. */
enum join_side { JOIN_ROWS, JOIN_SOURCE, JOIN_FOUND, JOIN_HERE, JOIN_MEMBER };

/* The source of INPUT k: a column, or an output of an earlier task of the queue. */
struct input {
    struct column *column; /* borrowed: the queue's `held` keeps it alive */
    struct task *task;
    size_t output;
    enum type type;
    const char *name;
    bool needed; /* read by a needed output, a filter, an aggregate or the operator; set by queue_prune */
    bool whole;  /* read by GATHER at any position: not aligned with the task's rows, not moved by `first` */
    enum join_side side;
    bool range_known; /* the elements are in lo..hi (integers only), which a run may know where the column does not */
    int64_t lo, hi;
};

struct filter {
    value keep; /* a bool */
    struct span span;
};

struct output {
    value value;
    const char *name;
    enum type type;              /* as shown to the user */
    struct logical_type logical; /* the dictionary lives as long as the queue */
    size_t validity; /* the output, after all visible ones, that says where this one has a value; 0: everywhere */
    bool hidden;     /* the validity of another output */
    bool needed;     /* read by a later task or the result; set by queue_prune */
};

/* A sum, or mean, that is computed of the sum of another aggregate, which may be the same one:
 * scale * sum + offset * rows. */
struct derived_sum {
    enum aggregate_kind kind; /* AGG_SUM or AGG_MEAN */
    enum kind type;           /* of the values */
    size_t of;                /* aggregate that has the sum */
    int64_t scale, offset;
};

struct aggregate {
    enum aggregate_kind kind;
    value value; /* NO_VALUE for count, and for unneeded outputs of a fused operator */
    const char *name;
    const char *word; /* in the error of no rows; NULL: that of the kind */
    struct span span;
    struct logical_type logical; /* of the result */
    struct user_reduce *reducer; /* AGG_FOLD: combining.h */
    bool has_initial;            /* combined before the first row; the result for no rows */
    struct scalar initial;       /* of the value's kind */
    double quantile;             /* AGG_QUANTILE: the share, from 0 to 1, */
    bool lower;                  /* the lower of two values, not one between them; AGG_DISTINCT: about, */
    /* Where aggregate_table[kind].operands. */
    int scale;                         /* AGG_VAR: the value is an integer multiplied by 10^scale */
    value other;                       /* AGG_CORR: the second value, else NO_VALUE */
    value where;                       /* of the rows where this bool is true; NO_VALUE: of all */
    const struct derived_sum *derived; /* NULL: the result is that of `kind` and `value` */
};

/* The rows kept of those that pass the filters: skip <= i < skip + take, or the last `tail`. */
struct window {
    int64_t skip;
    int64_t take; /* INT64_MAX: all */
    int64_t tail; /* -1: not a tail; the task then has no other window */
};

enum sink {
    SINK_ROWS,      /* the outputs become columns */
    SINK_AGGREGATE, /* the aggregates become one row: of columns, output k from aggregate k, or without outputs the one
                       aggregate is a single value */
    SINK_OPERATOR   /* whole columns become other columns: struct column_operator */
};

/* An operator on whole columns. It is a task of its own: its code holds only INPUTs, without filters or window; other
 * tasks compute what it reads and what is computed of its result. The rows of operators.def say what each one does. */
enum operator_kind {
#define OPERATOR(kind, ...) OPERATOR_##kind,
#include "engine/plan/operators.def"
    OPERATOR_KINDS
};

/* What the outputs of an operator are. */
enum operator_outputs {
    OUTPUTS_MOVED,  /* rows of its inputs */
    OUTPUTS_SURE,   /* computed without failures */
    OUTPUTS_CHECKED /* computed: a running sum, or the sum of a group, may overflow */
};

/* The keys of a moving aggregate, in this order, those that it has. */
enum moving_key {
    MOVING_VALUES,
    MOVING_OTHERS,  /* the second values of a correlation */
    MOVING_PRESENT, /* bool: where there is a value */
    MOVING_GROUPS,  /* integers that never decrease: a row's window stays within the rows of its group */
    MOVING_TIMES,   /* what `first` and `last` are distances in: sorted, within each group */
    MOVING_PLACES,  /* the rows' numbers, for errors */
    MOVING_KEYS
};

/* Output 0 is the aggregate and output 1 whether there is one, false where the window has no present value, of moments
 * less than two: sums and counts have no output 1. */
struct moving_operator {
    enum aggregate_kind kind;
    bool has[MOVING_KEYS];
    bool scattered; /* the rows of a group are anywhere, groups are numbered from 0; windows are `..0`, `0..` or `..` */
    bool from_first, to_last; /* the window begins with the group's first row, ends with its last; else */
    int64_t first, last;      /* at these distances */
    bool only_sorted;         /* MOVING_TIMES must be sorted, but the distances are in rows */
    int64_t leading;          /* AGG_LEADING, which is `scattered` */
    bool smallest;
    double share; /* AGG_QUANTILE: as in struct aggregate; AGG_EWMA: of a new value */
    bool lower;
    bool adjusts; /* AGG_EWMA: the mean of the values so far, whose weights are powers of 1 - share */
    int scale;    /* AGG_VAR: of decimals */
};

/* Of an expand: only places count whose element exceeds the limit in key 2. */
struct expand_above {
    const struct column *elements; /* of each place; the queue holds it. NULL: all places count */
    bool or_equal;                 /* or equals it */
    bool keeps;                    /* a row without such a place has one, -1 */
};

/* Of a match: of each of its keys four inputs, the value and whether it is present, else the value again, here and of
 * the right; then, of so many columns of the right, one. Inputs of the right are columns, of its number of rows. */
enum { MATCH_LEFT, MATCH_LEFT_PRESENT, MATCH_RIGHT, MATCH_RIGHT_PRESENT, MATCH_KEY_INPUTS };
/* The outputs: the number of the row here, whether it has found one, and the columns of that. */
enum { MATCH_ROW, MATCH_FOUND, MATCH_COLUMNS };
struct match_operator {
    enum join_kind kind;
    size_t key_count, value_count;
    const char *source; /* the right as it is written, for errors */
};

/* What a key of a group is, for messages. */
enum key_role {
    ROLE_VALUE,
    ROLE_MISSING, /* whether the next key is missing */
    ROLE_NUMBER   /* the group's number, of OPERATOR_IDS */
};

struct column_operator {
    enum operator_kind kind;
    size_t *keys;     /* numbers of inputs; sort and group: most significant first; scan: the column */
    bool *descending; /* sort: of each key */
    size_t key_count;
    int64_t first;  /* sort and group: only this many first rows are read; 0: all */
    bool exclusive; /* scan: a row's own value is not included */
    /* Along an axis of a shape, whose lines have their rows `stride` apart, in each `segment` of rows. */
    int64_t segment; /* scan: rows after which it restarts. scan and group: 0: the whole relation is one segment */
    int64_t stride;  /* scan: row i continues row i - stride; 1 by default. group: the key is the line, row number /
                        segment * stride + row number % stride */
    int64_t into;    /* scatter: rows of the result, -1: as many as are read; hist: intervals */
    struct logical_type calendar; /* hist of dates, timestamps or durations: about `into` intervals of a calendar unit,
                                     with lo and hi of the key's type; LOGICAL_NUMBER: of equal width */
    struct moving_operator moving;
    struct loop *loop;           /* repeat */
    struct combining *combining; /* combine */
    enum join_kind join;
    bool compares; /* join: some keys are compared otherwise than by == */
    struct expand_above above;
    const struct match_operator *match;
    enum key_role *roles; /* group: of each key; NULL: all are values */
    bool unordered;       /* group: no reader sees the order of its rows, which may be any */
    const char *key;      /* group: "row", "column" or "line" where the key is one of a shape; else NULL */
};

/* A stage of the pipeline as written, for explain, timing and errors. */
struct stage_mark {
    const char *name; /* "select", the canonical word; "load", "range", ... for sources */
    const char *text; /* the stage as written, shortened to one line */
    const char *how;  /* for explain, how it is done, where that is not seen from the code; or NULL */
    struct span span;
    struct span called;           /* of a stage of a definition: where that was used; else empty */
    const struct expr *condition; /* of assert, whose error quotes its operands; else NULL */
};

struct task {
    size_t number; /* in the queue */
    struct stage_mark *stages;
    size_t stage_count;
    struct span span;

    struct input *inputs;
    size_t input_count;
    int64_t first; /* the task's row 0 is this row of every input: a slice costs nothing */
    int64_t rows;  /* rows read, or -1 if only running earlier tasks decides */
    /* When rows is -1: the task whose row count it is (one of the inputs' tasks), less `first`, at most `limit`, and
     * none if `first` is beyond it. */
    struct task *rows_from;
    int64_t limit;        /* INT64_MAX: none */
    struct task **equals; /* zip: tasks that must have as many result rows as rows_from */
    size_t equal_count;

    struct code code;
    struct filter *filters;
    size_t filter_count;
    struct output *outputs;
    size_t output_count;
    struct window window;
    enum sink sink;
    struct aggregate *aggregates;
    size_t aggregate_count;
    struct column_operator *column_op; /* of SINK_OPERATOR */
    const struct task *unlowered; /* the same with its folds (engine/plan/code_loop.h), which became loops; or NULL */
};

/* What an OP_TEXT computes of one text, with constants, or of two. */
struct text_application {
    const struct text_function *function; /* "+" of two texts has no constant; NULL: the constant args[0] */
    struct text_argument args[TEXT_ARGUMENTS];
    int count;  /* of args */
    bool found; /* not what a partial function gives, but whether it gives something */
};

/* Tasks in an order in which each reads only earlier ones; the last one has the result. */
struct queue {
    struct arena *arena;
    struct task **tasks;
    size_t count;
    size_t capacity;
    struct column **held; /* one reference to each column that inputs borrow */
    size_t held_count;
    size_t held_capacity;
    struct dictionary **dictionaries; /* one reference to each that was made for this statement */
    size_t dictionary_count;
    size_t dictionary_capacity;
    struct text *texts; /* that columns of text are compared with which have no dictionary yet */
    size_t text_count, text_capacity;
    struct text_application *text_applications; /* of OP_TEXT */
    size_t text_application_count, text_application_capacity;
    bool unknown_values; /* values stand for what is computed of columns of text that have no dictionary yet, but for
                            OP_TEXT */
    /* Relations with deferred rows whose task is bound in place of their columns (deferred_rows.h); borrowed. */
    const struct relation **recomputed;
    size_t recomputed_count;
    struct loop **loops; /* of its tasks; owned */
    size_t loop_count;
};

void queue_init(struct queue *queue, struct arena *arena);
void queue_release(struct queue *queue);     /* releases the columns; the rest is in the arena */
struct task *queue_add(struct queue *queue); /* a zeroed task with whole window, rows -1, limit INT64_MAX, numbered */
struct task *queue_insert(struct queue *queue, size_t number);                  /* the same, as this number */
void queue_remove(struct queue *queue, const struct task *task);                /* which no task reads */
void queue_hold(struct queue *queue, struct column *column);                    /* takes over one reference */
void queue_hold_dictionary(struct queue *queue, struct dictionary *dictionary); /* takes over one reference */
void queue_add_loop(struct queue *queue, struct loop *loop);                    /* takes it over */
void loop_release(struct loop *loop);
/* Stands for the code of a text in the comparison with a column that has no dictionary yet; the next integer stands for
 * the code behind it, and text k of the queue for unknown_code + 2 k. Such a queue can be examined but not run. */
static const int64_t unknown_code = INT64_MIN / 2;
int64_t queue_unknown_code(struct queue *queue, struct text text);
/* The number of the application among those of the queue; equal ones have one. Such a queue can be examined but not
 * run. */
int64_t queue_text_application(struct queue *queue, const struct text_application *application);
void queue_add_recomputed(struct queue *queue, const struct relation *relation);

/* Makes `to`, whose code is empty, compute what `from` does on the same rows of its inputs: a task of SINK_ROWS without
 * a window. Unread inputs are dropped: input k of `to` is number kept[k] of `from`, and reads the same column or task.
 * Everything is allocated in the code's arena and has the span `span`. */
void task_copy(struct task *to, const struct task *from, struct span span, size_t *kept);

/* A copy for one run: its inputs, outputs and code may be changed, the rest is shared with `task`. */
struct task *task_clone(const struct task *task, struct arena *arena);

/* `task` with just those outputs needed that have a column to be written to; all else is shared. */
const struct task *task_writing(const struct task *task, struct column *const *columns, struct arena *arena);

/* Sets output.needed throughout, in loops, too: outputs of the last task, and those that needed values read. Inputs,
 * filters and code keep their numbers; unneeded outputs are never evaluated. */
void queue_prune(const struct queue *queue);
/* The same, where only the outputs of the last task with wanted[k] are needed; NULL: all. */
void queue_prune_to(const struct queue *queue, const bool *wanted);

/* The logical type of an input. */
struct logical_type input_logical(const struct input *input);

/* The column that output `k` is, all rows as they are, taken through earlier tasks; NULL: it is computed. */
struct column *output_column(const struct task *task, size_t k);

/* Reserves space for this many inputs; there are none yet. */
void task_reserve_inputs(struct task *task, size_t inputs, struct arena *arena);

/* Adds an input, or finds an equal one; returns its number. */
size_t task_add_input(struct task *task, const struct input *input, struct arena *arena);

/* Adds the INPUT of this number to a task's code; fallible if the output that it reads is, so that nothing folds it
 * away. */
value input_value(struct code *code, int64_t number, const struct input *input, struct span span);
value input_value_at(struct code *code, int64_t number, int64_t offset, const struct input *input, struct span span);

/* The element of an input, added or found, in the row itself. */
value task_read(struct task *task, const struct input *input, struct span span);

/* Output `k` of a task as an input. */
struct input input_of_output(struct task *from, size_t k);

/* The element of a whole input, added or found, at a position that is known to be `inside` of it, or else checked. */
value task_element(struct task *task, const struct input *input, value position, bool inside, struct arena *arena);

enum operator_outputs operator_outputs(const struct column_operator *column_op);

/* Whether its outputs are rows of its inputs in another order: bare INPUTs. */
bool operator_carries(const struct column_operator *column_op);

/* The operator's number of result rows for `rows` rows; -1 if it depends on their values. */
int64_t operator_result_rows(const struct column_operator *column_op, int64_t rows);

/* The input that is this key of a moving aggregate; SIZE_MAX: it has none. */
size_t moving_input(const struct column_operator *column_op, enum moving_key key);

/* Whether a sort reads so few rows that the host selects them (top_n) instead of sorting. */
bool operator_selects(const struct column_operator *column_op, int64_t rows);

/* Whether the result depends on how rows are grouped: floats that are multiplied, or combined by a user function. They
 * are combined strictly from first to last. */
bool aggregate_in_order(const struct aggregate *aggregate, const struct code *code);

/* The error of an aggregate of no rows; `kind` is what it is computed as. */
enum status aggregate_no_rows(const struct aggregate *aggregate, enum aggregate_kind kind, struct diags *diags);

bool task_refers(const struct task *task, const struct task *to); /* reads its rows, or has their number */
bool task_has_window(const struct task *task);                    /* anything but all rows */
bool task_is_scalar(const struct task *task);                     /* its result is one value, not a relation */
/* Whether it is a group along an axis of a shape, of whose result only one aggregate of values is read. */
bool task_aggregates_axis(const struct task *task);

/* The type that stores an output of an analysed task: its column's own for a bare input of the output's type, else the
 * narrowest of i32 and i64 that its interval fits, or bool or f64. `columns` are the task's inputs in order. */
enum type output_store(const struct task *task, const struct output *output, struct column *const *columns);

/* Marks the values that a run of the task computes: filters, needed outputs, aggregates, what they read, and guards of
 * checked operations. `live` has code.count entries and is cleared first. */
void task_mark_live(const struct task *task, bool *live);
bool *task_live(const struct task *task, struct arena *arena); /* a new one */

/* Lists the conditions that a row must meet to pass the filters, with && taken apart: each once, in order, without
 * constants. The list is in the arena. */
value *task_conditions(const struct task *task, struct arena *arena, size_t *count);

#endif
