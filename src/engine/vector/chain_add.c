/* Sums of vectors in the order in which they are given, several in each loop: what is between them stays in a register.
 */
#include "engine/vector/ops.h"

#include "base/cpu_dispatch.h"

enum { FIRST = 4 }; /* which the first loop adds up */

/* Loops differ only in the type. */
#define CHAIN(name, type)                                                                                              \
    CPU_CLONES static bool name(const struct operands *o, int count)                                                   \
    {                                                                                                                  \
        type *restrict out = o->out;                                                                                   \
        for (int begin = 0, end; begin < count; begin = end) {                                                         \
            end = strip_end(&o->ahead, begin, count);                                                                  \
            const type *restrict a = o->terms[0];                                                                      \
            const type *restrict b = o->terms[1];                                                                      \
            const type *restrict c = o->terms[2];                                                                      \
            const type *restrict d = o->terms[3];                                                                      \
            for (int i = begin; i < end; i++)                                                                          \
                out[i] = a[i] + b[i] + c[i] + d[i];                                                                    \
            int done = FIRST;                                                                                          \
            for (; done + 4 <= o->term_count; done += 4) {                                                             \
                a = o->terms[done];                                                                                    \
                b = o->terms[done + 1];                                                                                \
                c = o->terms[done + 2];                                                                                \
                d = o->terms[done + 3];                                                                                \
                for (int i = begin; i < end; i++)                                                                      \
                    out[i] = out[i] + a[i] + b[i] + c[i] + d[i];                                                       \
            }                                                                                                          \
            for (; done + 2 <= o->term_count; done += 2) {                                                             \
                a = o->terms[done];                                                                                    \
                b = o->terms[done + 1];                                                                                \
                for (int i = begin; i < end; i++)                                                                      \
                    out[i] = out[i] + a[i] + b[i];                                                                     \
            }                                                                                                          \
            for (; done < o->term_count; done++) {                                                                     \
                a = o->terms[done];                                                                                    \
                for (int i = begin; i < end; i++)                                                                      \
                    out[i] = out[i] + a[i];                                                                            \
            }                                                                                                          \
        }                                                                                                              \
        return false;                                                                                                  \
    }

CHAIN(add_chain_i32, uint32_t)
CHAIN(add_chain_i64, uint64_t)
CHAIN(add_chain_f64, double)

vector_fn *vector_add_chain(enum lane lane)
{
    static vector_fn *const table[] = {NULL, add_chain_i32, add_chain_i64, add_chain_f64};
    return table[lane];
}
