/* Two operations on floats in one loop: what is between them stays in a register. */
#include "engine/vector/ops.h"

#include "base/cpu_dispatch.h"

/* Loops differ only in an expression of x, y and z. */
#define PAIR(name, expression)                                                                                         \
    CPU_CLONES static bool name(const struct operands *o, int count)                                                   \
    {                                                                                                                  \
        double *restrict out = o->out;                                                                                 \
        const double *restrict a = o->a;                                                                               \
        const double *restrict b = o->b;                                                                               \
        const double *restrict c = o->c;                                                                               \
        const double second = b[0], third = c[0];                                                                      \
        for (int begin = 0, end; begin < count; begin = end) {                                                         \
            end = strip_end(&o->ahead, begin, count);                                                                  \
            const int last = o->uniform_c ? end : begin, middle = !o->uniform_c && o->uniform ? end : last;            \
            for (int i = begin; i < last; i++) {                                                                       \
                const double x = a[i], y = b[i], z = third;                                                            \
                out[i] = expression;                                                                                   \
            }                                                                                                          \
            for (int i = last; i < middle; i++) {                                                                      \
                const double x = a[i], y = second, z = c[i];                                                           \
                out[i] = expression;                                                                                   \
            }                                                                                                          \
            for (int i = middle; i < end; i++) {                                                                       \
                const double x = a[i], y = b[i], z = c[i];                                                             \
                out[i] = expression;                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
        return false;                                                                                                  \
    }

PAIR(add_add, x + y + z)
PAIR(sub_add, x - y + z)
PAIR(mul_add, x *y + z)
PAIR(add_sub, x + y - z)
PAIR(sub_sub, x - y - z)
PAIR(mul_sub, x *y - z)
PAIR(add_mul, (x + y) * z)
PAIR(sub_mul, (x - y) * z)
PAIR(mul_mul, x *y *z)
PAIR(sub_from_add, z - (x + y))
PAIR(sub_from_sub, z - (x - y))
PAIR(sub_from_mul, z - x * y)

vector_fn *vector_float_pair(enum op first, enum op second, bool reversed)
{
    enum { FIRST_SUM, FIRST_DIFFERENCE, FIRST_PRODUCT };
    const int row = first == OP_ADD ? FIRST_SUM : first == OP_SUB ? FIRST_DIFFERENCE : FIRST_PRODUCT;
    static vector_fn *const sums[] = {add_add, sub_add, mul_add};
    static vector_fn *const differences[] = {add_sub, sub_sub, mul_sub};
    static vector_fn *const products[] = {add_mul, sub_mul, mul_mul};
    static vector_fn *const from[] = {sub_from_add, sub_from_sub, sub_from_mul};
    if (second == OP_SUB)
        return reversed ? from[row] : differences[row];
    return second == OP_ADD ? sums[row] : products[row];
}
