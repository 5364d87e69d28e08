/* Keys of one or several columns on a device: as a place in a table of all that there could be, if those are not too
 * many. */
#ifndef RQL_CL_OPERATORS_GROUP_KEYS_H
#define RQL_CL_OPERATORS_GROUP_KEYS_H

#include "cl/operators/column_minmax.h"
#include "cl/operators/group_accumulate.h"

struct key_part {
    struct reading reading;
    struct column_minmax extent;
    uint64_t codes; /* how many different ones there could be; that of NaN is the last. 0: more than can be told */
};

struct group_keys {
    struct key_part *parts;
    size_t count;
    uint64_t places; /* the product of the codes; 0: too large */
};

/* Looks at the columns; the status is as from operator_end. */
enum status group_keys_find(struct group_keys *group_keys, struct accelerator *accelerator,
                            const struct operator_job *job, struct column *const *columns, size_t count);

/* The place of row i; only if there are `places`. group_keys_arguments gives the parameters' values. */
struct place_text group_keys_place_text(const struct group_keys *group_keys, struct arena *arena);

/* The images of row i's keys, k0, k1 and so on, with the same parameters and prologue; a hash `h` of them; and whether
 * row `there` has the same. */
struct images_text {
    const char *images, *hash, *same;
};
struct images_text group_keys_images_text(const struct group_keys *group_keys, struct arena *arena);

void group_keys_arguments(const struct group_keys *group_keys, struct operator_run *run, struct arguments *arguments);

/* The code of key k at a place. */
uint64_t group_keys_code(const struct group_keys *group_keys, size_t k, uint64_t place);

/* Bytes of a row's keys. */
int64_t group_keys_bytes(const struct group_keys *group_keys);

#endif
