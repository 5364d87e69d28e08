/* Moving aggregates: of each row, the aggregate of its window (struct moving_operator).
 *
 * A row's window is the rows first..last-1. Within a part both bounds are monotonic, since windows restart where a
 * group does, so one incremental state serves all rows: rows are added at its end and removed at its begin. */
#ifndef RQL_ENGINE_MOVING_MOVING_H
#define RQL_ENGINE_MOVING_MOVING_H

#include "engine/values/compensated_sum.h"
#include "engine/values/exact_sum.h"
#include "engine/vector/elements.h"

/* Elements of a column as int64_t or double, read in blocks: for positions that move slowly. */
struct element_reader {
    const struct column *column;
    int64_t begin;
    int count;
    union element_block block;
};

void element_reader_fill(struct element_reader *reader, int64_t row);

static inline int64_t element_integer(struct element_reader *reader, int64_t row)
{
    if ((uint64_t)(row - reader->begin) >= (uint64_t)reader->count)
        element_reader_fill(reader, row);
    return reader->block.integers[row - reader->begin];
}

static inline double element_number(struct element_reader *reader, int64_t row)
{
    if ((uint64_t)(row - reader->begin) >= (uint64_t)reader->count)
        element_reader_fill(reader, row);
    return reader->block.numbers[row - reader->begin];
}

/* The sum, or the extreme, of some rows' present values. Of floats only finite ones are in the sum. */
struct moving_total {
    int128 sum;
    struct compensated_sum number_sum;
    int64_t count; /* of present values */
    int64_t nan, positive_inf, negative_inf;
    int64_t integer; /* the extreme, or this one */
    double number;
};

/* One operator, shared by all threads. */
struct moving {
    const struct moving_operator *op;
    const struct workers *workers;
    const struct column *values; /* NULL: count */
    const struct column *others; /* of a correlation; NULL: none */
    const uint8_t *present;      /* of each row; NULL: all are */
    const struct column *groups; /* never decreasing; NULL: all rows are one group */
    const struct column *places; /* the rows' numbers in errors; NULL: as they are */
    const struct column *times;  /* the column that the window's edges are distances in; NULL: in rows */
    struct column *result;       /* or NULL: not needed */
    uint8_t *result_present;     /* or NULL */
    uint8_t *failed;             /* of each row: the sum does not fit 64 bits; NULL: only whether there is one */
    bool number;                 /* the values are floats */
    int64_t rows;
    struct parts parts;
    struct moving_total *totals; /* of each part, or NULL */
    bool *has_total;
    _Atomic bool flagged;
    _Atomic int64_t unsorted; /* the first row whose time is before the one before it; INT64_MAX: none */
};

/* A value among those that may become the extreme of a window, and its row. */
struct contender {
    int64_t row;
    union {
        int64_t integer;
        double number;
    } value;
};

/* The rows of one part, on one thread. */
struct moving_part {
    struct moving *moving;
    int64_t begin, end;

    /* The group that the last row was in, and where its window was in `times`. */
    int64_t group_first, group_end, behind, ahead;
    struct element_reader time, time_behind, time_ahead;

    /* The windows of a block of rows. */
    int64_t first[OPERATOR_BLOCK], last[OPERATOR_BLOCK];

    /* The window from..to-1, and its state. */
    int64_t from, to;
    struct moving_total total;
    struct element_reader entering, leaving;
    struct contender *contenders; /* a ring */
    int64_t contender_first, contender_count, contender_capacity;
    int64_t nearest;         /* of the first or last present value */
    struct exact_sum *exact; /* where the compensated sum is uncertain: of rows exact_from..exact_to-1 */
    int64_t exact_from, exact_to;
    struct moving_order *order;     /* of quantiles and different values */
    struct moving_moments *moments; /* of variances and correlations */
};

/* The operator; failed[row], one byte for each row and 0 before, or NULL, becomes 1 where the row's sum does not fit 64
 * bits. */
enum status moving_run(const struct operator_job *job, const struct workers *workers, uint8_t *failed, bool *flagged);

/* Runs it for rows in the order of their groups. False: cancelled. */
bool moving_run_parts(struct moving *moving, const struct workers *workers);

void moving_total_init(const struct moving *moving, struct moving_total *total);
/* Adds the present values of these rows. */
void moving_total_add(const struct moving *moving, struct moving_total *total, struct element_reader *reader,
                      int64_t begin, int64_t end);

static inline bool is_present(const struct moving *moving, int64_t row)
{
    return !moving->present || moving->present[row] != 0;
}

static inline void moving_set_present(const struct moving *moving, int64_t row, bool present)
{
    if (moving->result_present)
        moving->result_present[row] = present;
}

/* Aggregates the windows of `count` rows from `row` on, which are in part->first and part->last. */
void moving_block(struct moving_part *part, int64_t row, int count);
/* Of AGG_FIRST and AGG_LAST. */
void moving_nearest_block(struct moving_part *part, int64_t row, int count);
/* The same for extremes of windows that reach to the end of their group, computed from the last row to the first.
 * `first` and `last` have the bounds of all rows of the part. */
void moving_backwards(struct moving_part *part, const int64_t *first, const int64_t *last);

/* moving_by_group.c: moving aggregates of groups whose rows are anywhere. Measured against sorting the rows by group,
 * Xeon with two threads, 10^4 and 10^7 rows: 3 to 9 times as fast. */

/* The operator's windows are all rows of a group up to each (first: all from it on; both: all). Results as of
 * moving_run; STATUS_FAILED, without an error: not enough memory. */
enum status moving_by_group(struct moving *moving, const struct workers *workers);

/* moving_leading.c: rows that lead their groups. */

/* AGG_LEADING of this many groups. False: cancelled. */
bool moving_leading(const struct moving *moving, int64_t groups, struct parts parts, const struct workers *workers);

/* moving_moments.c: variances and correlations of windows. */

/* What a part knows of its window. */
struct moving_moments;

struct moving_moments *moving_moments_new(const struct moving *moving);
void moving_moments_free(struct moving_moments *moments);

/* As moving_block, of AGG_VAR or AGG_CORR. */
void moving_moments_block(struct moving_part *part, int64_t row, int count);

/* moving_order.c: quantiles, and the number of different values, of windows. */

/* What a part knows of the order of its values. */
struct moving_order;

/* For AGG_QUANTILE or AGG_DISTINCT of windows within rows begin..end-1. */
struct moving_order *moving_order_new(const struct moving *moving, int64_t begin, int64_t end);
void moving_order_free(struct moving_order *order);

/* The bytes that orders take for each row: several parts may each order all rows, where windows have all of them. */
int64_t moving_order_bytes(const struct operator_job *job);

/* As moving_block. */
void moving_order_block(struct moving_part *part, int64_t row, int count);

#endif
