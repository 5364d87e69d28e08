/* Elements as unsigned numbers in whose order they are: what the kernels of group, distinct and hist work on.
 *
 * Integers of up to 32 bits have images of 32 bits, the signed ones with the sign bit turned over; so do i64 and its 64
 * bits. Floats are their bits with the sign bit turned over, or all bits of negative ones; -0.0 is 0.0, and NaN is the
 * greatest number of its width, which nothing else is. No kernel needs double precision for that. */
#ifndef RQL_CL_CODEGEN_ORDER_IMAGE_H
#define RQL_CL_CODEGEN_ORDER_IMAGE_H

#include "base/strbuf.h"
#include "engine/values/types.h"

struct image {
    const char *load;     /* what an element is read as in OpenCL C */
    const char *function; /* of kernels/images.cl: from that to the image */
    bool wide;            /* 64 bits, a ulong; else a uint */
    bool number;          /* a float: there may be a NaN, whose image has all bits set */
    uint64_t zero;        /* the image of 0 */
};

extern const struct image image_table[TYPE_COUNT]; /* by store */

/* Appends the functions of kernels/key_encoding.cl; `decode`: the inverse ones as well. */
void image_functions(struct strbuf *out, bool decode);

/* All bits of an image set. */
uint64_t image_most(const struct image *image);

/* The integer or float behind an image, and the other way round. */
int64_t image_integer(const struct image *image, uint64_t bits);
double image_float(const struct image *image, uint64_t bits);
uint64_t image_of_integer(const struct image *image, int64_t integer);

/* The image of the least float of this store that is not below the number. */
uint64_t image_of_float(const struct image *image, double number);

/* The same as engine/sort_keys.h has it, all integers with 64 bits; and the other way round. */
uint64_t image_key(const struct image *image, uint64_t bits);
uint64_t image_of_key(const struct image *image, uint64_t key);

#endif
