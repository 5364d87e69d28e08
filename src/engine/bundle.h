/* Bundles: fused tasks in the making (fuse.h).
 *
 * A bundle grows as tasks join it: their code is copied onto its code, with their inputs replaced by what the bundle
 * computes. When it is closed, what is needed of it becomes one task.
 *
 * Row numbers: a window of a bundle without filters costs nothing, it only moves the first row; but values from before
 * the window know the old row numbers. In a bundle's code a row number therefore is an input with a negative number,
 * -1-n for the row counted from origins[n], and becomes ROW plus a constant when the first row is final. */
#ifndef RQL_ENGINE_BUNDLE_H
#define RQL_ENGINE_BUNDLE_H

#include "task.h"

struct bundle {
    struct bundle *into; /* the bundle this one was merged into, or NULL */
    struct task *made;   /* the fused task, once closed */

    struct code code;
    struct input *inputs; /* of columns and fused tasks */
    size_t input_count, input_capacity;
    int64_t *origins; /* on the scale of `first` */
    size_t origin_count, origin_capacity;
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
struct bundle *bundle_new(struct arena *arena, int64_t first, int64_t rows, int64_t limit);

/* Adds an input, or finds it: the same column named twice is read once. */
value bundle_input(struct bundle *bundle, const struct input *input, struct span span);

/* The number of the row, counted from the bundle's first row as it is now. */
value bundle_row(struct bundle *bundle);

/* Adds a filter, unless it always holds or is there already. */
void bundle_filter(struct bundle *bundle, struct filter filter);

/* Notes that a fused task must have given as many rows as rows_from. */
void bundle_equal(struct bundle *bundle, struct task *made);

/* Keeps only a window of the rows. When rows are missing already, the windows must compose: a `tail` and a `skip` or
 * `take` do not. */
void bundle_window(struct bundle *bundle, const struct window *window);
bool bundle_keeps_all(const struct bundle *bundle); /* it has no window; it may have filters */
bool windows_compose(const struct window *a, const struct window *b);

/* Whether row i of one is row i of the other, whatever the data. */
bool bundle_same_rows(const struct bundle *a, const struct bundle *b);

/* Makes a bundle without inputs (of a range), which may count its rows from anywhere, count them from `first`. */
void bundle_rebase(struct bundle *bundle, int64_t first);

/* Brings what `other` gives, which has the same rows and no filters, onto the bundle's code: the values of its outputs
 * are the bundle's from now on. */
void bundle_merge(struct bundle *bundle, struct bundle *other);

/* Makes the fused task, of what is needed; once. */
void bundle_close(struct bundle *bundle, struct queue *fused);

/* A map for code_inline, of nothing copied yet. */
value *inline_map(struct arena *arena, const struct code *from);

#endif
