/* Groups on a device: each has a record of 32-bit words, with a row count and a field per aggregate.
 *
 * Values are added as offsets from the least encoding, so they are unsigned. Sums have 64 bits, or 96 if offsets have
 * 64: with fewer than 2^32 rows neither overflows. Updates are 32-bit atomics, which every device has; only minima and
 * maxima of 64-bit offsets need 64-bit ones. */
#ifndef RQL_CL_OPERATORS_GROUP_RECORD_H
#define RQL_CL_OPERATORS_GROUP_RECORD_H

#include "cl/operators/row_loop.h"

#include "base/integer.h"

struct record_field {
    enum aggregate_kind kind; /* AGG_SUM, also of a mean, or an extreme */
    size_t value;             /* index of the value */
    size_t word;              /* index of its first word; two words are little-endian */
    size_t top;               /* index of the third word of a sum of wide values */
};

/* A column that is aggregated. */
struct group_record_value {
    struct encoded_column encoded;
    bool wide; /* offsets have 64 bits */
};

struct record_layout {
    struct record_field *fields;
    size_t field_count;
    struct group_record_value *values;
    size_t value_count;
    size_t count_word; /* index of the word that counts rows */
    size_t stride;     /* words of a record, even */
};

/* Plans the record for the needed aggregates of a group; field_of[k] is set to the field of aggregate k, counts have
 * none. STATUS_UNABLE if an aggregate has no kernel. May run kernels. */
enum status group_record_plan(struct record_layout *layout, struct accelerator *accelerator,
                              const struct operator_job *job, size_t *field_of);

/* Plans a record of only the count. */
void group_record_plan_count(struct record_layout *layout);

/* Whether some minimum or maximum has 64 bits. */
bool group_record_long_extremes(const struct record_layout *layout);

/* Whether a field has two or three words. */
bool group_record_is_long(const struct record_layout *layout, const struct record_field *field);

/* Read a record. */
int64_t group_record_count(const struct record_layout *layout, const uint32_t *record);
int128 group_record_sum(const struct record_layout *layout, const struct record_field *field, const uint32_t *record);
int64_t group_record_integer(const struct record_layout *layout, const struct record_field *field,
                             const uint32_t *record);
double group_record_float(const struct record_layout *layout, const struct record_field *field, const uint32_t *record);

#endif
