/* Bundles: fused tasks in the making (fuse.h).
 *
 * A bundle grows as tasks join it: their code is copied onto its code, with their inputs replaced by what the bundle
 * computes. When it is closed, what is needed of it becomes one task.
 *
 * Row numbers: a window of a bundle without filters costs nothing, it only moves the first row; but values from before
 * the window know the old row numbers, and how many rows there were. In a bundle's code these therefore are inputs with
 * negative numbers, -1-n for marks[n], and become ROW plus a constant, and ROWS or a constant, when the rows are final.
 */
#ifndef RQL_ENGINE_OPTIMIZE_FUSION_GROUP_H
#define RQL_ENGINE_OPTIMIZE_FUSION_GROUP_H

#include "engine/plan/task.h"

/* The row number counted from row `at` (on the scale of `first`), or the number of rows, `at`, or -1 if it is not known
 * before the task runs. */
struct row_mark {
    enum { MARK_ROW, MARK_ROWS } kind;
    int64_t at;
};

struct fusion_group {
    struct fusion_group *into;   /* the bundle this one was merged into, or NULL */
    struct task *made;           /* the fused task, once closed */
    struct fusion_group *reader; /* one that reads columns which this one only passes on; it may never be closed then */

    struct code code;
    struct input *inputs; /* of columns and fused tasks */
    size_t input_count, input_capacity;
    struct row_mark *marks;
    size_t mark_count, mark_capacity;
    struct filter *filters;
    size_t filter_count, filter_capacity;

    /* As in struct task; outputs and aggregates are those of the task that joined last. */
    int64_t first, rows, limit;
    struct task *rows_from;
    struct task **equals;
    size_t equal_count, equal_capacity;
    struct window window;
    enum sink sink;
    struct output *outputs;
    size_t output_count;
    size_t *numbers; /* of the outputs in the fused task, once closed: only needed ones are made */
    struct aggregate *aggregates;
    size_t aggregate_count;
};

/* An empty bundle of the given rows. */
struct fusion_group *fusion_group_new(struct arena *arena, int64_t first, int64_t rows, int64_t limit);

/* Adds an input, or finds it: the same column named twice is read once. The element `offset` rows on. */
value fusion_group_input(struct fusion_group *group, const struct input *input, int64_t offset, struct span span);

/* The number of the row, counted from the bundle's first row as it is now. */
value fusion_group_row(struct fusion_group *group);

/* How many rows the bundle has as it is now. */
value fusion_group_rows(struct fusion_group *group);

/* What a value of the bundle is in the row so many rows on. */
value fusion_group_shift(struct fusion_group *group, value v, int64_t offset);

/* Adds a filter, unless it always holds or is there already. */
void fusion_group_filter(struct fusion_group *group, struct filter filter);

/* Notes that a fused task must have given as many rows as rows_from. */
void fusion_group_equal(struct fusion_group *group, struct task *made);

/* Keeps only a window of the rows. When rows are missing already, the windows must compose: a `tail` and a `skip` or
 * `take` do not. */
void fusion_group_window(struct fusion_group *group, const struct window *window);
bool fusion_group_keeps_all(const struct fusion_group *group); /* it has no window; it may have filters */
bool windows_compose(const struct window *a, const struct window *b);

/* Whether row i of one is row i of the other, whatever the data. */
bool fusion_group_same_rows(const struct fusion_group *a, const struct fusion_group *b);

/* Makes a bundle without inputs (of a range), which may count its rows from anywhere, count them from `first`. */
void fusion_group_rebase(struct fusion_group *group, int64_t first);

/* Brings what `other` gives, which has the same rows and no filters, onto the bundle's code: the values of its outputs
 * are the bundle's from now on. */
void fusion_group_merge(struct fusion_group *group, struct fusion_group *other);

/* Makes the fused task, of what is needed; once. */
void fusion_group_close(struct fusion_group *group, struct queue *fused);

/* The column that an output of the bundle's last task is, from its first row to its last, if nothing has to be computed
 * for it; NULL otherwise. */
struct column *fusion_group_column(const struct fusion_group *group, size_t output);

#endif
