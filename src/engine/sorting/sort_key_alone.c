#include "engine/sorting/sort_keys.h"

#include "base/cpu_dispatch.h"

#include <string.h>

static const uint64_t sign_64 = UINT64_C(1) << 63;

/* Elements to codes and back. The distance of an integer of up to 32 bits from the least equals that of their images,
 * modulo 2^32. Descending codes are the distance from the greatest: (x ^ -1) - -1 is -x. */
#define INTEGERS(type, code)                                                                                           \
    CPU_CLONES static void encode_##type(const struct key *key, const void *elements, int count, void *codes)          \
    {                                                                                                                  \
        const type##_t *restrict in = elements;                                                                        \
        code##_t *restrict out = codes;                                                                                \
        const code##_t from = (code##_t)((key->descending ? key->most : key->least) ^ sign_64);                        \
        const code##_t sign = (code##_t)(key->descending ? UINT64_MAX : 0);                                            \
        for (int i = 0; i < count; i++)                                                                                \
            out[i] = (((code##_t)in[i] - from) ^ sign) - sign;                                                         \
    }                                                                                                                  \
    CPU_CLONES static void decode_##type(const struct key *key, const void *codes, int count, void *elements)          \
    {                                                                                                                  \
        const code##_t *restrict in = codes;                                                                           \
        type##_t *restrict out = elements;                                                                             \
        const code##_t from = (code##_t)((key->descending ? key->most : key->least) ^ sign_64);                        \
        const code##_t sign = (code##_t)(key->descending ? UINT64_MAX : 0);                                            \
        for (int i = 0; i < count; i++)                                                                                \
            out[i] = (type##_t)(((in[i] ^ sign) - sign) + from);                                                       \
    }
INTEGERS(int8, uint32)
INTEGERS(int16, uint32)
INTEGERS(int32, uint32)
INTEGERS(uint8, uint32)
INTEGERS(uint16, uint32)
INTEGERS(uint32, uint32)
INTEGERS(int64, uint64)
#undef INTEGERS

/* Images of floats as of sort_key_encode.h. */
#define FLOATS(type, bits)                                                                                             \
    CPU_CLONES static void encode_##type(const struct key *key, const void *elements, int count, void *codes)          \
    {                                                                                                                  \
        const type *restrict in = elements;                                                                            \
        uint##bits##_t *restrict out = codes;                                                                          \
        const uint##bits##_t from = (uint##bits##_t)(key->descending ? key->most : key->least);                        \
        const uint##bits##_t sign = (uint##bits##_t)(key->descending ? UINT64_MAX : 0);                                \
        const uint##bits##_t nan = (uint##bits##_t)(key->most - key->least + 1);                                       \
        for (int i = 0; i < count; i++) {                                                                              \
            const type positive_zero = in[i] + 0;                                                                      \
            int##bits##_t number;                                                                                      \
            memcpy(&number, &positive_zero, sizeof number);                                                            \
            const uint##bits##_t image = (uint##bits##_t)(number ^ ((number >> (bits - 1)) | INT##bits##_MIN));        \
            out[i] = positive_zero == positive_zero ? ((image - from) ^ sign) - sign : nan;                            \
        }                                                                                                              \
    }                                                                                                                  \
    CPU_CLONES static void decode_##type(const struct key *key, const void *codes, int count, void *elements)          \
    {                                                                                                                  \
        const uint##bits##_t *restrict in = codes;                                                                     \
        uint##bits##_t *restrict out = elements;                                                                       \
        const uint##bits##_t from = (uint##bits##_t)(key->descending ? key->most : key->least);                        \
        const uint##bits##_t sign = (uint##bits##_t)(key->descending ? UINT64_MAX : 0);                                \
        const uint##bits##_t most = (uint##bits##_t)(key->most - key->least), nan = (uint##bits##_t)key->nan_image;    \
        for (int i = 0; i < count; i++) {                                                                              \
            const uint##bits##_t number = ((in[i] ^ sign) - sign) + from;                                              \
            const int##bits##_t image = (int##bits##_t)(in[i] > most ? nan : number);                                  \
            out[i] = (uint##bits##_t)(image ^ ((~image >> (bits - 1)) | INT##bits##_MIN));                             \
        }                                                                                                              \
    }
FLOATS(float, 32)
FLOATS(double, 64)
#undef FLOATS

const struct key_loops *key_loops_of(enum type store, size_t code_bytes)
{
    static const struct key_loops of_4[TYPE_COUNT] = {
        [TYPE_I8] = {encode_int8, decode_int8},      [TYPE_I16] = {encode_int16, decode_int16},
        [TYPE_I32] = {encode_int32, decode_int32},   [TYPE_U8] = {encode_uint8, decode_uint8},
        [TYPE_U16] = {encode_uint16, decode_uint16}, [TYPE_U32] = {encode_uint32, decode_uint32},
        [TYPE_F32] = {encode_float, decode_float},
    };
    static const struct key_loops of_8[TYPE_COUNT] = {
        [TYPE_I64] = {encode_int64, decode_int64},
        [TYPE_F64] = {encode_double, decode_double},
    };
    const struct key_loops *loops = code_bytes == 4 ? &of_4[store] : code_bytes == 8 ? &of_8[store] : NULL;
    return loops && loops->encode ? loops : NULL;
}
