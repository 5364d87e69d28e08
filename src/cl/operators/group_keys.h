/* Keys of one or several columns on a device: as an index into a table of all possible keys, if they are few, or
 * hashed. */
#ifndef RQL_CL_OPERATORS_GROUP_KEYS_H
#define RQL_CL_OPERATORS_GROUP_KEYS_H

#include "cl/codegen/template.h"
#include "cl/operators/column_minmax.h"
#include "cl/operators/group_accumulate.h"

struct key_part {
    struct encoded_column encoded;
    struct column_minmax bounds;
    uint64_t codes; /* number of possible keys, NaN the last; 0: too many */
};

struct group_keys {
    struct key_part *parts;
    size_t count;
    uint64_t dense_size; /* product of the codes; 0: too large */
};

/* Finds the bounds of the columns; the status is that of operator_end. */
enum status group_keys_find(struct group_keys *group_keys, struct accelerator *accelerator,
                            const struct operator_job *job, struct column *const *columns, size_t count);

/* The integer keys of a job of these ranges, but number `left_out`; SIZE_MAX leaves none out. False: 32 bits do not
 * number their combinations. */
bool group_keys_of_ranges(struct group_keys *group_keys, const struct operator_job *job, const int64_t *lo,
                          const int64_t *hi, size_t left_out);

/* Text for the index of row i, if dense_size is not 0. group_keys_arguments adds the arguments of its parameters. */
struct record_index_text group_keys_index_text(const struct group_keys *group_keys, struct arena *arena);

/* The text of a template of kernels that find the index of row i: its $group, $each, $parameters, $prologue, $index and
 * $atomicload are filled, and what is in `more`. It may sum over groups. */
const char *group_keys_kernels(const struct group_keys *group_keys, const char *template, const struct hole *more,
                               const struct kernel_config *config, struct arena *arena);

/* Text for the encoded keys of row i, k0, k1, ..., with the same parameters and prologue; for their hash `h`; and for
 * the test whether row `there` has equal keys. */
struct key_hash_text {
    const char *keys, *hash, *same;
};
struct key_hash_text group_keys_hash_text(const struct group_keys *group_keys, struct arena *arena);

void group_keys_arguments(const struct group_keys *group_keys, struct operator_run *run, struct arguments *arguments);

/* Returns the code of key k in an index. */
uint64_t group_keys_code(const struct group_keys *group_keys, size_t k, uint64_t index);

/* Returns the bytes of a row's keys. */
int64_t group_keys_bytes(const struct group_keys *group_keys);

#endif
