/* Key encodings: elements as unsigned integers in the same order, for group, distinct, hist and sort.
 *
 * Integers of up to 32 bits have 32-bit encodings, signed ones with the sign bit flipped; i64 likewise with 64 bits.
 * Floats are encoded as their bits, with the sign bit flipped or, of negative ones, all bits; -0.0 encodes as 0.0, and
 * NaN as the greatest integer of the width, which nothing else does. No kernel needs double precision for that. */
#ifndef RQL_CL_CODEGEN_KEY_ENCODING_H
#define RQL_CL_CODEGEN_KEY_ENCODING_H

#include "base/strbuf.h"
#include "engine/values/types.h"

struct key_encoding {
    const char *cl_type;  /* OpenCL type that an element is read as */
    const char *function; /* of kernels/key_encoding.cl: from element to encoding */
    bool wide;            /* 64 bits, a ulong; else a uint */
    bool is_float;        /* a float: NaN may occur, encoded as all bits set */
    uint64_t zero;        /* the encoding of 0 */
};

extern const struct key_encoding key_encodings[TYPE_COUNT]; /* by store */

/* Appends the functions of kernels/key_encoding.cl, with `decode` also the inverse ones. */
void key_encoding_functions(struct strbuf *out, bool decode);

/* Appends the functions of kernels/digits.cl. */
void digits_functions(struct strbuf *out);

/* Returns the encoding with all bits set. */
uint64_t key_encoding_max(const struct key_encoding *encoding);

/* Convert between values and encodings. */
int64_t decode_integer(const struct key_encoding *encoding, uint64_t bits);
double decode_float(const struct key_encoding *encoding, uint64_t bits);
uint64_t encode_integer(const struct key_encoding *encoding, int64_t integer);

/* Returns the encoding of the least float of this storage type that is not below the number. */
uint64_t encode_float(const struct key_encoding *encoding, double number);

/* Convert to and from the encoding of engine/sorting/sort_keys.h, which has 64 bits for all integers. */
uint64_t encoding_to_host_key(const struct key_encoding *encoding, uint64_t bits);
uint64_t encoding_from_host_key(const struct key_encoding *encoding, uint64_t key);

#endif
