/* Fusion groups: fused tasks under construction.
 *
 * A group grows as tasks join it: their code is appended, with their inputs replaced by what the group computes. When
 * it is closed, what is needed of it becomes one task.
 *
 * Row numbers: a window on a group without filters is free, since it only moves the first row; but values computed
 * before the window refer to the old row numbers and the old number of rows. In a group's code these are therefore
 * inputs with negative numbers, -1-n for marks[n]. They become ROW plus a constant, and ROWS or a constant, when the
 * rows are final. */
#ifndef RQL_ENGINE_OPTIMIZE_FUSION_GROUP_H
#define RQL_ENGINE_OPTIMIZE_FUSION_GROUP_H

#include "engine/plan/task.h"

/* The row number relative to row `at` (on the scale of `first`), or the number of rows `at`, -1 if unknown before the
 * task runs. */
struct row_mark {
    enum { MARK_ROW, MARK_ROWS } kind;
    int64_t at;
};

struct fusion_group {
    struct fusion_group *into;   /* the group this one was merged into, or NULL */
    struct task *made;           /* the fused task, once closed */
    struct fusion_group *reader; /* reads columns that this group only passes on; this one may then never be closed */

    struct code code;
    struct input *inputs; /* of columns and fused tasks */
    size_t input_count, input_capacity;
    struct row_mark *marks;
    size_t mark_count, mark_capacity;
    struct filter *filters;
    size_t filter_count, filter_capacity;

    /* These fields are as in struct task. Outputs and aggregates are those of the task that joined last. */
    int64_t first, rows, limit;
    struct task *rows_from;
    struct task **equals;
    size_t equal_count, equal_capacity;
    struct window window;
    enum sink sink;
    struct output *outputs;
    size_t output_count;
    size_t *numbers; /* of the outputs in the fused task, once closed; only needed ones are kept */
    struct aggregate *aggregates;
    size_t aggregate_count;
};

/* A group without tasks. */
struct fusion_group *fusion_group_new(struct arena *arena, int64_t first, int64_t rows, int64_t limit);

/* The INPUT of an element `offset` rows on, of an input that is added unless the group reads it already. */
value fusion_group_input(struct fusion_group *group, const struct input *input, int64_t offset, struct span span);

/* The row number relative to the group's current first row. */
value fusion_group_row(struct fusion_group *group);

/* The current number of rows. */
value fusion_group_rows(struct fusion_group *group);

/* The value `v` of the row `offset` rows on. */
value fusion_group_shift(struct fusion_group *group, value v, int64_t offset);

/* Adds a filter unless it is constantly true or present. */
void fusion_group_filter(struct fusion_group *group, struct filter filter);

/* Requires that the fused task has as many rows as rows_from. */
void fusion_group_equal(struct fusion_group *group, struct task *made);

/* Applies a window. If the group has one, they must compose: `tail` does not with `skip` or `take`. */
void fusion_group_window(struct fusion_group *group, const struct window *window);
bool fusion_group_keeps_all(const struct fusion_group *group); /* no window; filters are allowed */
bool windows_compose(const struct window *a, const struct window *b);

/* Whether row i of one is row i of the other, whatever the data. */
bool fusion_group_same_rows(const struct fusion_group *a, const struct fusion_group *b);

/* Makes a group without inputs (a range), whose first row is arbitrary, start at `first`. */
void fusion_group_rebase(struct fusion_group *group, int64_t first);

/* Merges `other`, which has the same rows and no filters, into the group: the values of its outputs become the group's.
 */
void fusion_group_merge(struct fusion_group *group, struct fusion_group *other);

/* Adds the fused task, with what is needed, to `fused`, unless done before. */
void fusion_group_close(struct fusion_group *group, struct queue *fused);

/* The column that an output of the group's last task passes on unchanged, with all its rows; else NULL. */
struct column *fusion_group_column(const struct fusion_group *group, size_t output);

/* State and functions shared by the files of the fusion pass. */

/* What the current task reads. */
struct reading {
    const struct task *task;
    bool *live;
    bool *reads;    /* of its inputs */
    bool uses_rows; /* row numbers, the number of rows, or other rows than its own */
    bool shifts;    /* other rows than its own */
};

struct fusion {
    struct arena *arena;
    const struct queue *queue;
    struct queue *fused;
    struct fusion_group **groups; /* of each task of the queue */
    size_t *readers;              /* number of tasks that read each task */
    size_t *seen;                 /* scratch for distinct tasks: number + 1 of the last task that saw each */
    struct task **producers;      /* what the current task reads row by row, in order */
    size_t producer_count;
};

/* The group that a task is part of. */
struct fusion_group *fusion_group_of(const struct fusion *fusion, const struct task *task);

/* The column that an input refers to if known without running anything; else NULL. */
struct column *column_read(const struct fusion *fusion, const struct input *input);

/* An input of the current task, as the group reads it. */
struct input fused_input(const struct fusion *fusion, struct fusion_group *group, struct input input);

/* Adds the fused task of an operator, in a group of its own. */
struct fusion_group *fuse_operator(const struct fusion *fusion, const struct reading *reading);

#endif
