/* A group of which only the first rows are read, as in `group k: sum(x) | take 10`: the keys of these are found first,
 * and only their rows are grouped. */
#ifndef RQL_ENGINE_OPERATORS_GROUP_FIRST_H
#define RQL_ENGINE_OPERATORS_GROUP_FIRST_H

#include "engine/backend/backend.h"

struct first_groups {
    struct operator_job job; /* of the rows to be grouped */
    struct column **columns; /* that were made for it; NULL: it is the whole job */
    size_t count;
};

/* Finds those rows, all rows where that seems to be as fast. STATUS_OK, STATUS_CANCELLED, or STATUS_FAILED, without an
 * error: not enough memory. Call first_groups_free in any case. */
enum status first_groups_find(const struct operator_job *job, const struct workers *workers,
                              struct first_groups *groups);
void first_groups_free(struct first_groups *groups);

#endif
