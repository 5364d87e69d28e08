/* Rows whose keys are equal, of two relations of which the second is larger than memory: what the files of
 * OPERATOR_MATCH share.
 *
 * Both are divided on the disk by their keys into parts that correspond (row_parts.h), so that an index of each part of
 * the right fits memory; a part that does not is divided again, and one whose keys are all equal needs no index. The
 * left's rows look their keys up part by part, in rounds, and what each round finds is a segment, in the order of the
 * left's rows. At the end segments are merged by the numbers of these: results are in that order, whatever the parts.
 */
#ifndef RQL_ENGINE_MATCH_MATCH_H
#define RQL_ENGINE_MATCH_MATCH_H

#include "engine/operators/operator.h"

enum {
    MATCH_STRIDE = 1 << 9 /* rows of a segment that a search reads */
};

/* Rows of one relation, or of a part of it. */
struct match_side {
    int64_t rows;
    struct column **keys;         /* with their validity */
    const struct column **values; /* of the right: the columns that results have; NULL: not needed */
    const struct column *numbers; /* of the rows, in ascending order; NULL: 0, 1, ... */
};

/* What a round of the left's rows has found. */
struct match_segment {
    int64_t rows;
    int64_t first, last;     /* numbers of the rows of the round */
    struct column **columns; /* the numbers, then values; NULL: not needed */
    int64_t *every;          /* the number of each MATCH_STRIDE-th row */
};

/* What the rows of a block have found, and how many of the left have found something. */
struct match_count {
    _Atomic int64_t found, finders;
};

struct matching {
    const struct operator_job *job;
    const struct workers *workers;
    const struct match_operator *match;
    int64_t rows;         /* of the left, and in a full join those of the right, which are numbered after them */
    struct column number; /* stands for columns of these numbers */
    int64_t row_bytes;    /* that a row of the right takes while it is matched */
    struct match_segment *segments; /* each has rows */
    size_t segment_count, segment_capacity;
    int64_t block;              /* rows of the left that are merged at once */
    struct match_count *counts; /* of each block */
    int64_t double_rows[2];     /* of a lookup: the first row whose keys an earlier one has, and that; else INT64_MAX */
};

/* Whether results have columns of the right; else each row of the left is found once. */
bool match_takes(const struct match_operator *match);

/* match_parts.c: finds the rows of an index, or, of a right whose keys are all `equal`, without one. Adds segments. */
enum status match_in_memory(struct matching *matching, const struct match_side *left, const struct match_side *right,
                            const int64_t *equal);

/* match_merge.c: makes the results of the segments. */
enum status match_merge(const struct matching *matching);

#endif
