/* The program of a group by few keys in the rounds of a loop (round_group.cl). */
#ifndef RQL_CL_CODEGEN_ROUND_GROUP_TEXT_H
#define RQL_CL_CODEGEN_ROUND_GROUP_TEXT_H

#include "cl/device/kernel_config.h"

#include "engine/plan/task.h"

struct round_group {
    const struct task *task;  /* OPERATOR_GROUP by one key, with counts, and sums and means of floats */
    const enum type *outputs; /* of the needed outputs, as they are stored; */
    enum type key;            /* and of the key */
    size_t value_count;       /* columns of which there are sums or means, */
    const size_t *value_of;   /* and of each such aggregate its number among these */
};

/* Words of a part of a sum in the slots. */
enum { ROUND_GROUP_WORDS = 5 };

/* Returns the text. Its kernels are `add`, of which parameters are the key (pointer, first element), its least value,
 * each column (pointer, first element), slots, sums, parts of a sum, rows of a part, rows, flag, round; and `finish`:
 * the needed outputs (pointer, first element), slots, parts, the least key, flag, round. */
const char *round_group_text(const struct round_group *group, const struct kernel_config *config, struct arena *arena);

#endif
