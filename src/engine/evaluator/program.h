/* What the evaluator runs: the live code of a task as steps over vectors. Private to eval*.c.
 *
 * A block of rows goes through the filters' steps, a filter at a time, until no row is left. The rows that passed are
 * then picked out of whatever the results still read, and the body's steps run on those alone: sparse results cost
 * little, aggregates need no masks, and a block that passes whole or has no filters is not picked at all. Guards are
 * computed only in the rare block in which some checked operation failed.
 *
 * One condition, the lead, comes before all filters as one more of them. Where few rows pass it, those of many blocks
 * are gathered into one before the rest of the program runs, and of columns that the lead does not read only they are
 * read from memory. */
#ifndef RQL_ENGINE_EVALUATOR_PROGRAM_H
#define RQL_ENGINE_EVALUATOR_PROGRAM_H

#include "engine/backend/backend.h"
#include "engine/vector/ops.h"

/* A vector's number in its program; NO_REGISTER for none. */
typedef int32_t reg;
enum { NO_REGISTER = -1 };

/* What a step's failed rows come to: CHECK_NONE, CHECK_ALWAYS, or the number of a struct check. */
enum { CHECK_NONE = -1, CHECK_ALWAYS = -2 };

struct step {
    vector_fn *dense;  /* NULL: the result is argument a itself */
    vector_fn *picked; /* in the body, used when rows were picked; NULL: `dense` works on picked rows already */
    enum op op;
    reg out, args[3];
    int32_t check;
    const struct column *whole;  /* GATHER */
    union reciprocal *by;        /* division by a constant */
    struct compare_const *probe; /* a question that constants answer */
};

struct vector_info {
    size_t size;  /* bytes an element takes */
    size_t place; /* byte offset in a worker's memory; SIZE_MAX: only ever an alias */
};

/* Failures of some steps matter in the rows where `guard` is true. */
struct check {
    reg guard;
};

/* An input's elements as stored: before each block this vector is pointed into the column, `offset` rows on, or to
 * where those that the column has are copied to, with zeroes for the others. */
struct stored_vector {
    reg vector;
    size_t input;
    int64_t offset;
    size_t place; /* of a copy in a worker's memory; there is none at offset 0 of a program that does not gather */
};

/* A value that is the same in all rows: a constant, or their number. */
struct constant_vector {
    reg vector;
    enum lane lane;
    value value;
};

/* A filter's steps end here; then `mask` says which rows have passed it and those before. */
struct filter_steps {
    int32_t end;
    reg mask;
};

/* How an output leaves: moved from the body's vector of picked rows, or, for an input that only passes through, from
 * the vector as stored, with `picked` where rows were picked. */
struct stored_output {
    size_t output;
    size_t size; /* bytes an element takes in its column */
    reg vector;
    vector_fn *dense;
    vector_fn *picked; /* NULL: the vector holds the picked rows already */
};

struct folded_aggregate {
    fold_fn *fold;
    reg vector;                        /* NO_REGISTER for count */
    const struct user_reduce *reducer; /* folded pairwise (pairwise_reduce.h); NULL: by `fold` */
};

/* Steps 0 .. filters_end are the filters', up to guards_end the guards of those, up to body_end the results', and the
 * rest the guards of these. Checks 0 .. filter_checks belong to the filters. */
struct program {
    const struct job *job;
    struct step *steps;
    int32_t step_count, step_capacity;
    int32_t filters_end, guards_end, body_end;
    struct filter_steps *filters;
    size_t filter_count;

    bool picks,
        lists; /* whether rows that passed are ever picked, and some in a way that always takes a list of them */

    struct vector_info *vectors;
    int32_t vector_count, vector_capacity;
    size_t memory; /* bytes of vectors that a worker needs */

    struct check *checks;
    int32_t check_count, filter_checks;
    struct constant_vector *constants;
    size_t constant_count, constant_capacity;
    struct stored_vector *stored;
    size_t stored_count;
    bool numbers;           /* some step gives row numbers */
    size_t leading_columns; /* filters[0] reads only this many of `stored`: its rows may be gathered; 0: they may not */
    struct stored_output *outputs;
    size_t output_count;
    struct folded_aggregate *aggregates;
    size_t aggregate_count;
};

/* The program for a job; lives in `arena`. With `columns` it computes the outputs k with a columns[k], stored as that
 * column's `store`; without, the aggregates. */
struct program *program_new(const struct job *job, struct column *const *columns, struct arena *arena);

#endif
