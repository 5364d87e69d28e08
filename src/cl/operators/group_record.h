/* Groups on a device: each has a record of 32-bit words, with a row count and the fields of the aggregates.
 *
 * Values are added as offsets from the least encoding, so they are unsigned. Sums have 64 bits, or 96 if offsets or
 * products of two have 64: with fewer than 2^32 rows neither overflows. Floats are added as integers in the unit of the
 * lowest bit that one of the column has, in as many words as all rows may need: so they are exact. Updates are 32-bit
 * atomics, which every device has; only minima and maxima of 64-bit offsets need 64-bit ones. */
#ifndef RQL_CL_OPERATORS_GROUP_RECORD_H
#define RQL_CL_OPERATORS_GROUP_RECORD_H

#include "cl/operators/row_loop.h"

#include "base/integer.h"

enum { NO_RECORD_VALUE = -1 };

struct record_field {
    enum aggregate_kind kind; /* AGG_SUM, also of a mean, or an extreme */
    int value;                /* index of the value, */
    int other;                /* and of another with which it is multiplied, */
    int where;                /* in rows where this one is not 0; or NO_RECORD_VALUE */
    size_t words;             /* of a sum of floats, a number in two's complement; else 0 */
    size_t word;              /* index of its first word; several are little-endian */
    size_t top;               /* index of the third word of a sum of wide values */
};

/* A column that is aggregated. */
struct group_record_value {
    struct encoded_column encoded;
    uint64_t most; /* offset */
    bool wide;     /* offsets have 64 bits */
    bool bounded;  /* `most` is of the column, not of its type */
    bool digits; /* of floats: read as digits in the unit (kernels/digits.cl); `bits` lead from there to the highest */
    int unit, bits;
};

/* Fields of a variance or correlation, of which a variance has x and y alike; `count`, also of a quantile, of the rows
 * with values, or NO_RECORD_VALUE: all have some. */
struct record_moments {
    bool pairs; /* a correlation */
    int x, y, xx, yy, xy, count;
};

struct record_layout {
    struct record_field *fields;
    size_t field_count;
    struct group_record_value *values;
    size_t value_count;
    struct record_moments *moments; /* of aggregate k, if it has some */
    size_t count_word;              /* index of the word that counts rows */
    bool only_keys;                 /* nothing but whether a group has rows is read of it */
    size_t stride;                  /* words of a record, even */
};

/* Plans the record for the needed aggregates of a group; field_of[k] is set to the field of aggregate k, counts,
 * moments and quantiles have none. STATUS_UNABLE if an aggregate has no kernel. May run kernels. */
enum status group_record_plan(struct record_layout *layout, struct accelerator *accelerator,
                              const struct operator_job *job, size_t *field_of);

/* Plans a record of only the count. */
void group_record_plan_count(struct record_layout *layout);

/* Whether some minimum or maximum has 64 bits. */
bool group_record_long_extremes(const struct record_layout *layout);

/* Whether a field has more than one word, and whether what is added to a sum has 64 bits. */
bool group_record_is_long(const struct record_layout *layout, const struct record_field *field);
bool group_record_adds_long(const struct record_layout *layout, const struct record_field *field);

/* Read a record. */
int64_t group_record_count(const struct record_layout *layout, const uint32_t *record);
int128 group_record_sum(const struct record_layout *layout, const struct record_field *field, const uint32_t *record);
int64_t group_record_integer(const struct record_layout *layout, const struct record_field *field,
                             const uint32_t *record);
double group_record_float(const struct record_layout *layout, const struct record_field *field, const uint32_t *record);

/* The exponent of the unit of digits. */
int group_record_exponent(const struct group_record_value *own);

/* group_record_moments.c: floats that are correctly rounded once. A sum of floats; and the variance, of integers that
 * are multiplied by 10^scale, or correlation by these moments. */
double group_record_float_sum(const struct record_layout *layout, const struct record_field *field,
                              const uint32_t *record);
int64_t group_record_present(const struct record_layout *layout, const struct record_moments *moments,
                             const uint32_t *record);
double group_record_moment(const struct record_layout *layout, const struct record_moments *moments,
                           const uint32_t *record, int scale);

#endif
