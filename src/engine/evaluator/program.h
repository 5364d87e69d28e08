/* A program: the live code of a task as steps over vectors.
 *
 * A block of rows runs through the filters, one after another, until no row is left. The rows that passed are then
 * selected from the vectors the results read, and the body runs on those alone: sparse results are cheap, aggregates
 * need no masks, and a block that passes whole is not selected from. Guards run only in the rare block in which a
 * checked operation failed.
 *
 * The leading filter (filter_order.h) runs first. Where few rows pass it, those of several blocks are gathered into one
 * (gather.c). */
#ifndef RQL_ENGINE_EVALUATOR_PROGRAM_H
#define RQL_ENGINE_EVALUATOR_PROGRAM_H

#include "engine/backend/backend.h"
#include "engine/plan/task.h"
#include "engine/vector/border_rows.h"
#include "engine/vector/ops.h"

/* The number of a vector in its program. */
typedef int32_t reg;
enum { NO_REGISTER = -1 };

/* How a step's failed rows are handled: CHECK_NONE, CHECK_ALWAYS (flag the run), or the number of a struct check. */
enum { CHECK_NONE = -1, CHECK_ALWAYS = -2 };

enum { FOLDED_ROWS = 1 << 15 }; /* at most at once, of a column where nothing is computed before; else a block */

/* What the steps of a loop or an arm read from outside: a vector, and its elements of the rows inside. */
struct captures {
    struct capture {
        reg outer, inner;
        size_t size; /* bytes of an element */
    } * at;
    size_t count;
};

struct vector_loop;
struct arm;

struct step {
    vector_fn *dense; /* NULL: the result is argument a itself */
    vector_fn
        *selected; /* used when a selection vector is set; NULL: `dense` reads vectors that are selected already */
    enum op op;
    reg out, args[3];
    int32_t check;
    bool uniform, uniform_c;     /* the second or the third argument is a constant */
    const struct column *whole;  /* GATHER */
    const struct border *border; /* GATHER of the neighbours of the block's rows and `first`; NULL: of positions */
    int64_t first;
    struct progression progression; /* GATHER at equal distances if `by` is not 0 */
    union reciprocal *by;           /* division by a constant */
    struct compare_const *compare;  /* comparison with constants */
    const struct vector_loop *loop; /* the steps after this one are a loop's (loop.h); NULL: it is none */
    const struct arm *arm;          /* or those of an arm of ?: (arm.h) */
};

struct vector_info {
    size_t size;  /* bytes an element takes */
    size_t place; /* byte offset in a worker's memory; SIZE_MAX: an alias of another vector */
};

/* Failed rows flag the run where `guard` is true. */
struct check {
    reg guard;
};

/* An input's elements as stored, `offset` rows on: set before each block to point into the column, or to a copy in
 * which rows that the column does not have are zero. */
struct stored_vector {
    reg vector;
    size_t input;
    int64_t offset;
    size_t place; /* of that copy or of gathered rows; unused at offset 0 of a program that does not gather */
};

/* A value that is the same in all rows: a constant, or the number of rows. */
struct constant_vector {
    reg vector;
    enum lane lane;
    value value;
    bool inverse; /* 1 / value, a float */
};

/* The end of a filter's steps; `mask` then tells which rows passed it and all before. */
struct filter_steps {
    int32_t end;
    reg mask;
};

/* How an output is written: from the body's vector, or, for an input that is only copied, from the stored vector
 * through the selection vector. */
struct stored_output {
    size_t output;
    size_t size; /* bytes of an element in its column */
    reg vector;
    vector_fn *dense;
    vector_fn *selected; /* NULL: the vector is selected already */
    bool copied;         /* `dense` changes no type */
    bool in_place;       /* the step that computes the vector may write it to the column */
};

struct aggregate_fold {
    fold_fn *fold;
    bool prefetches;                   /* what follows its vector in memory */
    reg vector;                        /* NO_REGISTER for count */
    const struct user_reduce *reducer; /* reduced pairwise (pairwise_reduce.c); NULL: by `fold` */
};

/* Steps in order: filters, their guards up to guards_end, results up to body_end, the guards of
 * those. Checks 0 .. filter_checks-1 belong to the filters. */
struct program {
    const struct job *job;
    struct step *steps;
    int32_t step_count;
    size_t step_capacity;
    int32_t guards_end, body_end;
    size_t filter_loops, body_loops; /* over a block, in which columns are prefetched */
    struct filter_steps *filters;
    size_t filter_count;

    bool reads_selection, reads_list; /* whether the selection vector is read at all, and in some step as a list */

    struct vector_info *vectors;
    int32_t vector_count;
    size_t vector_capacity;
    size_t memory;  /* bytes of a worker's vectors */
    int block_rows; /* computed at once, at most BLOCK_ROWS, so that what they take stays in the first-level cache */
    int64_t before, behind; /* the least and the greatest offset of an input, or 0 */

    struct check *checks;
    int32_t check_count, filter_checks;
    size_t check_capacity;
    int32_t loop_count, arm_count;
    size_t most_states;        /* of a loop */
    size_t most_tile_elements; /* of a loop's tile (loop_tile.h) */
    size_t most_chains;        /* likewise, */
    int most_chain_terms;      /* and terms of one */
    struct constant_vector *constants;
    size_t constant_count, constant_capacity;
    struct stored_vector *stored;
    size_t stored_count;
    bool reads_row_numbers; /* some step computes row numbers */
    size_t leading_columns; /* filters[0] reads only this many of `stored`: its rows may be gathered; 0: they may not */
    struct stored_output *outputs;
    size_t output_count;
    struct aggregate_fold *aggregates;
    size_t aggregate_count;
    bool folds_stored; /* aggregates of elements as they are stored, and nothing else */
};

/* The program for a job, in `arena`. With `columns` it computes the outputs k with columns[k], in that column's stored
 * type; without, the aggregates. */
struct program *program_new(const struct job *job, struct column *const *columns, struct arena *arena);

/* The bytes of the columns that it reads for the rows of its job's range, each column once. */
int64_t program_bytes_read(const struct program *program);

/* The bytes of a row in all of its outputs. */
int64_t program_row_bytes(const struct program *program);

/* vector_layout.c: places a program's vectors in a worker's memory. */

/* Assigns a place to each vector that needs memory; vectors with disjoint lifetimes share one, to stay in the cache.
 * Sets program->memory. */
void program_layout(struct program *program, struct arena *arena);

/* filter_order.c: filter order: the leading filter is the condition tested on every row; the others are tested where it
 * holds. Measured, Xeon with two threads, 10^7 rows, three conditions of which the last leaves one row in 1000: 3.2
 * to 4.0 times as fast as in the order in which they are written. */

/* The condition that is expected to pass the fewest rows, by the intervals of its operands. Neither it nor a condition
 * before it can fail. NO_VALUE: there is none. */
value filter_order_first(const struct task *task);

#endif
