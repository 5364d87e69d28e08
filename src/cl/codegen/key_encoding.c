#include "cl/codegen/key_encoding.h"

#include "cl/codegen/template.h"

#include <math.h>
#include <string.h>

static const uint64_t sign_64 = UINT64_C(1) << 63;
static const uint32_t sign_32 = UINT32_C(1) << 31;

const struct key_encoding key_encodings[TYPE_COUNT] = {
    [TYPE_BOOL] = {"uchar", "encode_uint", false, false, 0},
    [TYPE_I8] = {"char", "encode_int", false, false, UINT32_C(1) << 31},
    [TYPE_I16] = {"short", "encode_int", false, false, UINT32_C(1) << 31},
    [TYPE_I32] = {"int", "encode_int", false, false, UINT32_C(1) << 31},
    [TYPE_I64] = {"long", "encode_long", true, false, UINT64_C(1) << 63},
    [TYPE_U8] = {"uchar", "encode_uint", false, false, 0},
    [TYPE_U16] = {"ushort", "encode_uint", false, false, 0},
    [TYPE_U32] = {"uint", "encode_uint", false, false, 0},
    [TYPE_F32] = {"uint", "encode_float", false, true, UINT32_C(1) << 31},
    [TYPE_F64] = {"ulong", "encode_double", true, true, UINT64_C(1) << 63},
};

extern const char kernel_key_encoding[], kernel_digits[];

void key_encoding_functions(struct strbuf *out, bool decode)
{
    const struct hole holes[] = {{"decode", decode ? "1" : ""}, {NULL, NULL}};
    template_expand(out, kernel_key_encoding, holes);
}

void digits_functions(struct strbuf *out)
{
    static const struct hole none[] = {{NULL, NULL}};
    template_expand(out, kernel_digits, none);
}

uint64_t key_encoding_max(const struct key_encoding *encoding)
{
    return encoding->wide ? UINT64_MAX : UINT32_MAX;
}

int64_t decode_integer(const struct key_encoding *encoding, uint64_t bits)
{
    return (int64_t)(bits - encoding->zero);
}

uint64_t encode_integer(const struct key_encoding *encoding, int64_t integer)
{
    return ((uint64_t)integer + encoding->zero) & key_encoding_max(encoding);
}

double decode_float(const struct key_encoding *encoding, uint64_t bits)
{
    double wide;
    float narrow;
    uint64_t bits_64 = bits & sign_64 ? bits ^ sign_64 : ~bits;
    uint32_t bits_32 = (uint32_t)bits & sign_32 ? (uint32_t)bits ^ sign_32 : ~(uint32_t)bits;
    memcpy(&wide, &bits_64, sizeof wide);
    memcpy(&narrow, &bits_32, sizeof narrow);
    return encoding->wide ? wide : (double)narrow;
}

uint64_t encode_float(const struct key_encoding *encoding, double number)
{
    uint64_t bits_64;
    uint32_t bits_32;
    double wide = number + 0.0;
    float narrow = (float)wide;
    if ((double)narrow < wide)
        narrow = nextafterf(narrow, INFINITY);
    narrow += 0.0f; /* -0.0 to 0.0; nextafterf of the least negative float is -0.0 */
    memcpy(&bits_64, &wide, sizeof bits_64);
    memcpy(&bits_32, &narrow, sizeof bits_32);
    if (encoding->wide)
        return bits_64 & sign_64 ? ~bits_64 : bits_64 | sign_64;
    return bits_32 & sign_32 ? ~bits_32 : bits_32 | sign_32;
}

uint64_t encoding_to_host_key(const struct key_encoding *encoding, uint64_t bits)
{
    return encoding->is_float ? bits : (uint64_t)decode_integer(encoding, bits) ^ sign_64;
}

uint64_t encoding_from_host_key(const struct key_encoding *encoding, uint64_t key)
{
    return encoding->is_float ? key : encode_integer(encoding, (int64_t)(key ^ sign_64));
}
