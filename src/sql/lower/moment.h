/* Variances and correlations on servers: exact sums of values and of their products, which are completed here.
 *
 * Of integers the sums are of two halves of 32 bits and their products; of floats they are of each exponent, of which
 * the mantissas are integers of two halves. A group sends them as one text. */
#ifndef RQL_SQL_LOWER_MOMENT_H
#define RQL_SQL_LOWER_MOMENT_H

#include "base/arena.h"

#include <stdbool.h>

struct sql_moment {
    bool pairs;  /* a correlation of x and y, else the variance of x */
    bool floats; /* of floats, else integers */
    bool narrow; /* integers of at most 2^31 in magnitude, whose upper halves are left out */
    bool root;   /* its square root: a standard deviation */
    int scale;   /* integers are multiplied by 10^scale */
};

/* The halves of a number are its lowest bits, and all above them. The key of sums of floats is the exponent's bits, of
 * pairs those of x times EXPONENTS plus those of y, and BROKEN of what is not finite or has no finite square. */
enum { INTEGER_HALF = 32, FLOAT_HALF = 27, EXPONENTS = 2048, BROKEN = -1 };

/* Sums of one key in the order of the text: of x, of the products of its halves (upper, both, lower), for pairs the
 * same of y, and the products of x and y (upper, upper of x, upper of y, lower). */
enum { SUMS_OF_ONE = 4, SUMS_OF_PAIR = 12 };

/* Each sum is two integers: what this divides, and the rest. */
#define SUM_UNIT_BITS 62

/* The aggregate of the integers or floats x, and y or NULL, of the rows where the condition holds. */
const char *moment_sums(const struct sql_moment *moment, const char *x, const char *y, const char *where,
                        struct arena *arena);

/* The text of that aggregate, a column of a subquery: how many rows, and for each key this and the sums. */
const char *moment_text(const struct sql_moment *moment, const char *sums, struct arena *arena);

#endif
