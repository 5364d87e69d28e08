/* Elements as unsigned numbers in whose order they are: what the kernels of group, distinct and hist work on.
 *
 * Integers of up to 32 bits have images of 32 bits, the signed ones with the sign bit turned over; so do i64 and its 64
 * bits. Floats are their bits with the sign bit turned over, or all bits of negative ones; -0.0 is 0.0, and NaN is the
 * greatest number of its width, which nothing else is. No kernel needs double precision for that. */
#ifndef RQL_CL_CODEGEN_KEY_ENCODING_H
#define RQL_CL_CODEGEN_KEY_ENCODING_H

#include "base/strbuf.h"
#include "engine/values/types.h"

struct key_encoding {
    const char *cl_type;  /* what an element is read as in OpenCL C */
    const char *function; /* of kernels/images.cl: from that to the encoding */
    bool wide;            /* 64 bits, a ulong; else a uint */
    bool is_float;        /* a float: there may be a NaN, whose encoding has all bits set */
    uint64_t zero;        /* the encoding of 0 */
};

extern const struct key_encoding key_encodings[TYPE_COUNT]; /* by store */

/* Appends the functions of kernels/key_encoding.cl; `decode`: the inverse ones as well. */
void key_encoding_functions(struct strbuf *out, bool decode);

/* All bits of an encoding set. */
uint64_t key_encoding_max(const struct key_encoding *encoding);

/* The integer or float behind an encoding, and the other way round. */
int64_t decode_integer(const struct key_encoding *encoding, uint64_t bits);
double decode_float(const struct key_encoding *encoding, uint64_t bits);
uint64_t encode_integer(const struct key_encoding *encoding, int64_t integer);

/* The encoding of the least float of this store that is not below the number. */
uint64_t encode_float(const struct key_encoding *encoding, double number);

/* The same as engine/sort_keys.h has it, all integers with 64 bits; and the other way round. */
uint64_t encoding_to_host_key(const struct key_encoding *encoding, uint64_t bits);
uint64_t encoding_from_host_key(const struct key_encoding *encoding, uint64_t key);

#endif
