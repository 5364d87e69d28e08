/* Tasks: what a pipeline is lowered to, before and after fusion.
 *
 * Every task reads columns (of a file or of an earlier task), computes typed code on each row, keeps the rows for
 * which all filters hold, keeps a window of those, and ends in a sink. A task straight from the binder is one stage of
 * the pipeline; fusion joins tasks into fewer of the same form. */
#ifndef RQL_ENGINE_TASK_H
#define RQL_ENGINE_TASK_H

#include "code.h"
#include "column.h"

struct task;

/* Where INPUT k comes from: a column at hand, or an output of an earlier task of the queue. */
struct input {
    struct column *column; /* borrowed: the queue's `held` keeps it alive */
    struct task *task;
    size_t output;
    enum type type;
    const char *name;
};

struct filter {
    value keep; /* a bool */
    struct span span;
};

struct output {
    value value;
    const char *name;
    enum type type; /* as the user sees it */
    bool needed;    /* read by a later task or the result; set by queue_prune */
};

enum aggregate_kind { AGG_COUNT, AGG_SUM, AGG_PRODUCT, AGG_MIN, AGG_MAX, AGG_MEAN };

struct aggregate {
    enum aggregate_kind kind;
    value value; /* NO_VALUE for count */
    const char *name;
    struct span span;
};

/* Which of the rows that pass the filters are kept: the rows skip <= i < skip + take, or the last `tail`. */
struct window {
    int64_t skip;
    int64_t take; /* INT64_MAX: all */
    int64_t tail; /* -1: not a tail; the task then has no other window */
};

enum sink {
    SINK_ROWS,     /* the outputs become columns */
    SINK_AGGREGATE /* the aggregates become one row */
};

/* A stage of the pipeline as written, for explain, timing and errors. */
struct stage_mark {
    const char *name; /* "select", the canonical word; "load", "range", ... for sources */
    const char *text; /* the stage as written, shortened to one line */
    struct span span;
};

struct task {
    size_t number; /* in the queue */
    struct stage_mark *stages;
    size_t stage_count;
    struct span span;

    struct input *inputs;
    size_t input_count;
    int64_t first; /* the task's row 0 is this row of every input: a slice costs nothing */
    int64_t rows;  /* rows read, or -1 if only the tasks before will tell */
    /* When rows is -1: the task whose row count it is (one of the inputs' tasks), less `first`, at most `limit`, and
     * none if `first` is beyond it. */
    struct task *rows_from;
    int64_t limit;        /* INT64_MAX: none */
    struct task **equals; /* zip: all of these must have given as many rows as rows_from */
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
};

/* Tasks in an order in which each reads only earlier ones; the last one gives the result. */
struct queue {
    struct arena *arena;
    struct task **tasks;
    size_t count;
    size_t capacity;
    struct column **held; /* one reference each to every column that inputs borrow */
    size_t held_count;
    size_t held_capacity;
};

void queue_init(struct queue *queue, struct arena *arena);
void queue_release(struct queue *queue);     /* lets go of the columns; the rest is the arena's */
struct task *queue_add(struct queue *queue); /* a zeroed task with whole window, rows -1, limit INT64_MAX, numbered */
void queue_hold(struct queue *queue, struct column *column); /* takes over one reference */

/* Sets output.needed throughout: what the last task gives is needed, and what needed values read. Inputs, filters and
 * code keep their numbers; what is not needed is just never evaluated. */
void queue_prune(const struct queue *queue);

/* Adds to a task's code the INPUT of this number, which can fail if the output that it reads can: nothing may fold it
 * away then. */
value input_value(struct code *code, int64_t number, const struct input *input, struct span span);

bool task_has_window(const struct task *task); /* anything but the whole */
bool task_uses_row(const struct task *task);   /* whether a live value reads ROW */

/* Marks the values a run of the task must compute: filters, needed outputs, aggregates, what they read, and the guards
 * of those that are checked. `live` has code.count entries and is cleared first. */
void task_mark_live(const struct task *task, bool *live);

#endif
