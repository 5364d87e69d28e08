/* What is aggregated of groups on a device: a record of 32-bit words for each, its rows counted and its values added.
 *
 * Values go in as offsets from the least encoding, so that they are unsigned, and sums are of 64 bits, or of 96 where
 * offsets have 64: with fewer than 2^32 rows neither overflows, and what they come to is exact. Words are added to with
 * 32-bit atomics, which every device has; only extremes of 64-bit offsets need longer ones. */
#ifndef RQL_CL_OPERATORS_GROUP_RECORD_H
#define RQL_CL_OPERATORS_GROUP_RECORD_H

#include "cl/operators/row_loop.h"

#include "base/integer.h"

enum field_kind { FIELD_SUM, FIELD_MIN, FIELD_MAX };

struct record_field {
    enum field_kind kind;
    size_t value; /* which of the values */
    size_t word;  /* of the record: one, or two in little-endian order */
    size_t top;   /* of sums of wide values the third */
};

/* A column whose elements are added. */
struct group_record_value {
    struct encoded_column encoded;
    bool wide; /* offsets have 64 bits */
};

struct record_layout {
    struct record_field *fields;
    size_t field_count;
    struct group_record_value *values;
    size_t value_count;
    size_t count_word; /* where the rows of the group are counted */
    size_t stride;     /* words of a record, even */
};

/* Plans the record for the aggregates of a group whose outputs are needed; field_of[k] becomes the field of aggregate
 * k, counts have none. STATUS_UNABLE where there is no kernel for an aggregate. May run kernels. */
enum status group_record_plan(struct record_layout *layout, struct accelerator *accelerator,
                              const struct operator_job *job, size_t *field_of);

/* Only the count. */
void group_record_plan_count(struct record_layout *layout);

/* Whether there are extremes of 64 bits. */
bool group_record_long_extremes(const struct record_layout *layout);

/* Whether a field has two words, or three. */
bool group_record_is_long(const struct record_layout *layout, const struct record_field *field);

/* What a record holds. */
int64_t group_record_count(const struct record_layout *layout, const uint32_t *record);
int128 group_record_sum(const struct record_layout *layout, const struct record_field *field, const uint32_t *record);
int64_t group_record_integer(const struct record_layout *layout, const struct record_field *field,
                             const uint32_t *record);
double group_record_float(const struct record_layout *layout, const struct record_field *field, const uint32_t *record);

#endif
