/* Keys of one or several columns on a device: as a index in a table of all that there could be, if those are not too
 * many. */
#ifndef RQL_CL_OPERATORS_GROUP_KEYS_H
#define RQL_CL_OPERATORS_GROUP_KEYS_H

#include "cl/operators/column_minmax.h"
#include "cl/operators/group_accumulate.h"

struct key_part {
    struct encoded_column encoded;
    struct column_minmax bounds;
    uint64_t codes; /* how many different ones there could be; that of NaN is the last. 0: more than can be told */
};

struct group_keys {
    struct key_part *parts;
    size_t count;
    uint64_t dense_size; /* the product of the codes; 0: too large */
};

/* Looks at the columns; the status is as from operator_end. */
enum status group_keys_find(struct group_keys *group_keys, struct accelerator *accelerator,
                            const struct operator_job *job, struct column *const *columns, size_t count);

/* The index of row i; only if there are `places`. group_keys_arguments gives the parameters' values. */
struct record_index_text group_keys_index_text(const struct group_keys *group_keys, struct arena *arena);

/* The images of row i's keys, k0, k1 and so on, with the same parameters and prologue; a hash `h` of them; and whether
 * row `there` has the same. */
struct key_hash_text {
    const char *keys, *hash, *same;
};
struct key_hash_text group_keys_hash_text(const struct group_keys *group_keys, struct arena *arena);

void group_keys_arguments(const struct group_keys *group_keys, struct operator_run *run, struct arguments *arguments);

/* The code of key k at a index. */
uint64_t group_keys_code(const struct group_keys *group_keys, size_t k, uint64_t index);

/* Bytes of a row's keys. */
int64_t group_keys_bytes(const struct group_keys *group_keys);

#endif
