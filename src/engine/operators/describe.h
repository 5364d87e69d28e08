/* Summaries of columns. */
#ifndef RQL_ENGINE_OPERATORS_DESCRIBE_H
#define RQL_ENGINE_OPERATORS_DESCRIBE_H

#include "base/parallel.h"
#include "engine/storage/column.h"
#include "engine/values/histogram_bins.h"

#include "base/arena.h"

enum { DESCRIBE_BINS = 16, DESCRIBE_TOP = 3 };

struct column_summary {
    const char *name;      /* the relation's */
    const char *type_name; /* of the logical type */
    bool floats;
    int64_t rows;
    int64_t missing;  /* left out below, as are: */
    int64_t nans;     /* of floats */
    bool empty;       /* no other values: nothing below is set */
    int64_t distinct; /* number of distinct values */
    bool exact;       /* false: estimated, with a standard error of 0.8 % */
    /* For text: the most frequent strings and how often they occur. */
    struct text top[DESCRIBE_TOP];
    int64_t top_counts[DESCRIBE_TOP];
    size_t top_count;
    /* For other columns. The mean of dates, timestamps or durations is rounded to one of them; other means are floats.
     */
    struct scalar least, greatest, mean;
    /* A histogram of `bins` equal intervals from least to greatest; 0 bins if either is infinite. */
    int bins;
    int64_t counts[DESCRIBE_BINS];
};

struct description {
    int64_t rows;
    size_t count;
    struct column_summary *columns;
};

/* Summarises the columns, which are on the host; the result is in `arena` and does not depend on the number of threads.
 * STATUS_OK or STATUS_CANCELLED. */
enum status describe(const struct relation *relation, const struct workers *workers, struct arena *arena,
                     struct description **description);

/* The summaries as a relation of the columns of description.def, a row for each; one reference. */
struct relation *description_relation(const struct description *description, struct arena *arena);

/* The same of groups of rows with equal keys, which follow each other, with these columns first: a row for each group
 * and each other column. STATUS_OK, STATUS_CANCELLED, or STATUS_FAILED: no memory. (describe_groups.c) */
enum status describe_groups(const struct relation *relation, const size_t *keys, size_t key_count,
                            const struct workers *workers, struct arena *arena, struct relation **described);

/* A column of texts, those without a place are empty. (describe_relation.c) */
struct column *column_of_texts(const struct text *texts, size_t count);

/* The mean of `count` values with this total: of dates and times the nearest one. */
struct scalar mean_described(int128 total, int64_t count, struct logical_type logical);

/* The bins between the extremes; hist->number is set, whether they are floats. */
void describe_bins(struct histogram_bins *hist, const struct scalar *least, const struct scalar *greatest);

/* frequencies.c: how often each string occurs in a column of text. */

struct frequencies {
    int64_t *counts; /* by code, malloc'd */
    int64_t codes;   /* strings of the dictionary */
    int64_t distinct, missing;
};

/* Counts the rows of each code. False, with nothing to free, if cancelled. */
bool frequencies_count(struct frequencies *frequencies, const struct column *column, const struct workers *workers);
void frequencies_free(struct frequencies *frequencies);

/* Writes the `most` most frequent codes, of equally frequent ones the first; returns their number. */
size_t frequencies_top(const struct frequencies *frequencies, int64_t *codes, size_t most);

#endif
