/* What is worth knowing of each column at a glance. */
#ifndef RQL_ENGINE_OPERATORS_DESCRIBE_H
#define RQL_ENGINE_OPERATORS_DESCRIBE_H

#include "base/parallel.h"
#include "engine/storage/column.h"

#include "base/arena.h"

enum { DESCRIBE_BINS = 16 };

struct column_summary {
    const char *name; /* the relation's */
    enum type type;
    int64_t nans; /* of floats; what follows is about the rest */
    bool empty;   /* there is no rest, and nothing follows */
    struct scalar least, greatest, mean;
    int64_t distinct; /* how many values are different, NaN not counted; */
    bool exact;       /* if not, to about 1 % */
    /* How many are in each of `bins` equal intervals from least to greatest; 0 bins where one of these is infinite. */
    int bins;
    int64_t counts[DESCRIBE_BINS];
};

struct description {
    int64_t rows;
    size_t count;
    struct column_summary *columns;
};

/* Looks at all elements twice, by the crew's threads; the result lives in `arena` and does not depend on how many they
 * are. STATUS_CANCELLED or STATUS_OK. */
enum status describe(const struct relation *relation, const struct workers *workers, struct arena *arena,
                     struct description **description);

#endif
