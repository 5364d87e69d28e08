/* Replacing some elements of a vector by those of another one. */
#include "engine/vector/ops.h"

#include "base/cpu_dispatch.h"

#include <string.h>

enum { AT_ONCE = 32 }; /* rows from the first one that is found on: the next ones often are to be replaced, too */

/* The next row in which the condition is `where`, or `end`. */
static inline int next_row(const uint8_t *condition, uint8_t where, int from, int end)
{
    const uint8_t *found = memchr(condition + from, where, (size_t)(end - from));
    return found ? (int)(found - condition) : end;
}

/* Loops differ only in the type and the condition. */
#define REPLACE(name, type, where)                                                                                     \
    CPU_CLONES static bool name(const struct operands *o, int count)                                                   \
    {                                                                                                                  \
        type *restrict out = o->out;                                                                                   \
        const uint8_t *restrict condition = o->a;                                                                      \
        const type *restrict c = o->c;                                                                                 \
        for (int begin = 0, end; begin < count; begin = end) {                                                         \
            end = strip_end(&o->ahead, begin, count);                                                                  \
            for (int i = next_row(condition, where, begin, end); i < end; i = next_row(condition, where, i, end)) {    \
                for (const int last = end - i < AT_ONCE ? end : i + AT_ONCE; i < last; i++) {                          \
                    const type x = out[i], z = c[i];                                                                   \
                    out[i] = condition[i] == (where) ? z : x;                                                          \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        return false;                                                                                                  \
    }

REPLACE(replace_8_not, uint8_t, 0)
REPLACE(replace_8, uint8_t, 1)
REPLACE(replace_32_not, uint32_t, 0)
REPLACE(replace_32, uint32_t, 1)
REPLACE(replace_64_not, uint64_t, 0)
REPLACE(replace_64, uint64_t, 1)

vector_fn *vector_replace(enum lane lane, bool where)
{
    static vector_fn *const table[][2] = {
        [LANE_BOOL] = {replace_8_not, replace_8},
        [LANE_I32] = {replace_32_not, replace_32},
        [LANE_I64] = {replace_64_not, replace_64},
        [LANE_F64] = {replace_64_not, replace_64},
    };
    return table[lane][where];
}
