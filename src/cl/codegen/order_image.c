#include "cl/codegen/order_image.h"

#include "cl/codegen/template.h"

#include <math.h>
#include <string.h>

static const uint64_t sign_64 = UINT64_C(1) << 63;
static const uint32_t sign_32 = UINT32_C(1) << 31;

const struct image image_table[TYPE_COUNT] = {
    [TYPE_BOOL] = {"uchar", "image_uint", false, false, 0},
    [TYPE_I8] = {"char", "image_int", false, false, UINT32_C(1) << 31},
    [TYPE_I16] = {"short", "image_int", false, false, UINT32_C(1) << 31},
    [TYPE_I32] = {"int", "image_int", false, false, UINT32_C(1) << 31},
    [TYPE_I64] = {"long", "image_long", true, false, UINT64_C(1) << 63},
    [TYPE_U8] = {"uchar", "image_uint", false, false, 0},
    [TYPE_U16] = {"ushort", "image_uint", false, false, 0},
    [TYPE_U32] = {"uint", "image_uint", false, false, 0},
    [TYPE_F32] = {"uint", "image_float", false, true, UINT32_C(1) << 31},
    [TYPE_F64] = {"ulong", "image_double", true, true, UINT64_C(1) << 63},
};

extern const char kernel_key_encoding[];

void image_functions(struct strbuf *out, bool decode)
{
    const struct part parts[] = {{"decode", decode ? "1" : ""}, {NULL, NULL}};

    template_expand(out, kernel_key_encoding, parts);
}

uint64_t image_most(const struct image *image)
{
    return image->wide ? UINT64_MAX : UINT32_MAX;
}

int64_t image_integer(const struct image *image, uint64_t bits)
{
    return (int64_t)(bits - image->zero);
}

uint64_t image_of_integer(const struct image *image, int64_t integer)
{
    return ((uint64_t)integer + image->zero) & image_most(image);
}

double image_float(const struct image *image, uint64_t bits)
{
    double wide;
    float narrow;
    uint64_t bits_64 = bits & sign_64 ? bits ^ sign_64 : ~bits;
    uint32_t bits_32 = (uint32_t)bits & sign_32 ? (uint32_t)bits ^ sign_32 : ~(uint32_t)bits;

    memcpy(&wide, &bits_64, sizeof wide);
    memcpy(&narrow, &bits_32, sizeof narrow);
    return image->wide ? wide : (double)narrow;
}

uint64_t image_of_float(const struct image *image, double number)
{
    uint64_t bits_64;
    uint32_t bits_32;
    double wide = number + 0.0;
    float narrow = (float)wide;

    if ((double)narrow < wide)
        narrow = nextafterf(narrow, INFINITY);
    narrow += 0.0f; /* of -0.0, which the step up from the least negative float gives */
    memcpy(&bits_64, &wide, sizeof bits_64);
    memcpy(&bits_32, &narrow, sizeof bits_32);
    if (image->wide)
        return bits_64 & sign_64 ? ~bits_64 : bits_64 | sign_64;
    return bits_32 & sign_32 ? ~bits_32 : bits_32 | sign_32;
}

uint64_t image_key(const struct image *image, uint64_t bits)
{
    return image->number ? bits : (uint64_t)image_integer(image, bits) ^ sign_64;
}

uint64_t image_of_key(const struct image *image, uint64_t key)
{
    return image->number ? key : image_of_integer(image, (int64_t)(key ^ sign_64));
}
