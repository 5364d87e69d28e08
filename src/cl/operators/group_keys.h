/* Keys of one or several columns on a device: as a place in a table of all that there could be, if those are not too
 * many. */
#ifndef RQL_CL_OPERATORS_GROUP_KEYS_H
#define RQL_CL_OPERATORS_GROUP_KEYS_H

#include "cl/operators/column_minmax.h"
#include "cl/operators/group_accumulate.h"

struct key_part {
    struct reading reading;
    struct extent extent;
    uint64_t codes; /* how many different ones there could be; that of NaN is the last. 0: more than can be told */
};

struct keyset {
    struct key_part *parts;
    size_t count;
    uint64_t places; /* the product of the codes; 0: too large */
};

/* Looks at the columns; the status is as from tool_end. */
enum status keyset_find(struct keyset *keyset, struct accelerator *accelerator, const struct break_job *job,
                        struct column *const *columns, size_t count);

/* The place of row i; only if there are `places`. keyset_arguments gives the parameters' values. */
struct place_text keyset_place_text(const struct keyset *keyset, struct arena *arena);

/* The images of row i's keys, k0, k1 and so on, with the same parameters and prologue; a hash `h` of them; and whether
 * row `there` has the same. */
struct images_text {
    const char *images, *hash, *same;
};
struct images_text keyset_images_text(const struct keyset *keyset, struct arena *arena);

void keyset_arguments(const struct keyset *keyset, struct tool *tool, struct arguments *arguments);

/* The code of key k at a place. */
uint64_t keyset_code(const struct keyset *keyset, size_t k, uint64_t place);

/* Bytes of a row's keys. */
int64_t keyset_bytes(const struct keyset *keyset);

#endif
