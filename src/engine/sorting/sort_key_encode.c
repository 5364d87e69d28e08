#include "engine/sorting/sort_key_encode.h"

#include "base/cpu_dispatch.h"

#include <string.h>

static const uint64_t sign_64 = UINT64_C(1) << 63;
static const uint32_t sign_32 = UINT32_C(1) << 31;

/* Inlined where the type is a constant: one loop for each type. */
#define SPECIALISED static inline __attribute__((always_inline))

SPECIALISED uint64_t image_of_f32(float number)
{
    float positive_zero = number + 0.0f;
    uint32_t bits;
    memcpy(&bits, &positive_zero, sizeof bits);
    const uint32_t image = bits ^ (sign_32 | (0 - (bits >> 31)));
    return image | (0 - (uint32_t)(number != number));
}

SPECIALISED uint64_t image_of_f64(double number)
{
    double positive_zero = number + 0.0;
    uint64_t bits;
    memcpy(&bits, &positive_zero, sizeof bits);
    const uint64_t image = bits ^ (sign_64 | (0 - (bits >> 63)));
    return image | (0 - (uint64_t)(number != number));
}

SPECIALISED uint64_t image_of(const void *data, enum type store, int64_t i)
{
    switch (store) {
    case TYPE_I8:
        return (uint64_t)((const int8_t *)data)[i] ^ sign_64;
    case TYPE_I16:
        return (uint64_t)((const int16_t *)data)[i] ^ sign_64;
    case TYPE_I32:
        return (uint64_t)((const int32_t *)data)[i] ^ sign_64;
    case TYPE_I64:
        return (uint64_t)((const int64_t *)data)[i] ^ sign_64;
    case TYPE_BOOL:
    case TYPE_U8:
        return ((const uint8_t *)data)[i] | sign_64;
    case TYPE_U16:
        return ((const uint16_t *)data)[i] | sign_64;
    case TYPE_U32:
        return ((const uint32_t *)data)[i] | sign_64;
    case TYPE_F32:
        return image_of_f32(((const float *)data)[i]);
    case TYPE_F64:
        return image_of_f64(((const double *)data)[i]);
    case TYPE_COUNT:
        break;
    }
    return 0;
}

SPECIALISED void images_as(const void *data, enum type store, const uint64_t *rows, int count, uint64_t *images)
{
    if (rows) {
        for (int i = 0; i < count; i++)
            images[i] = image_of(data, store, (int64_t)rows[i]);
    } else {
        for (int i = 0; i < count; i++)
            images[i] = image_of(data, store, i);
    }
}

/* Only for floats is computing slower than memory, and vectorised. */
CPU_CLONES static void images_of_f32(const float *restrict data, int count, uint64_t *restrict images)
{
    for (int i = 0; i < count; i++)
        images[i] = image_of_f32(data[i]);
}

CPU_CLONES static void images_of_f64(const double *restrict data, int count, uint64_t *restrict images)
{
    for (int i = 0; i < count; i++)
        images[i] = image_of_f64(data[i]);
}

void sort_key_encode(const void *data, enum type store, const uint64_t *rows, int count, uint64_t *images)
{
    switch (store) {
    case TYPE_I8:
        images_as(data, TYPE_I8, rows, count, images);
        break;
    case TYPE_I16:
        images_as(data, TYPE_I16, rows, count, images);
        break;
    case TYPE_I32:
        images_as(data, TYPE_I32, rows, count, images);
        break;
    case TYPE_I64:
        images_as(data, TYPE_I64, rows, count, images);
        break;
    case TYPE_BOOL:
    case TYPE_U8:
        images_as(data, TYPE_U8, rows, count, images);
        break;
    case TYPE_U16:
        images_as(data, TYPE_U16, rows, count, images);
        break;
    case TYPE_U32:
        images_as(data, TYPE_U32, rows, count, images);
        break;
    case TYPE_F32:
        if (rows)
            images_as(data, TYPE_F32, rows, count, images);
        else
            images_of_f32(data, count, images);
        break;
    case TYPE_F64:
        if (rows)
            images_as(data, TYPE_F64, rows, count, images);
        else
            images_of_f64(data, count, images);
        break;
    case TYPE_COUNT: /* not a type */
        memset(images, 0, (size_t)count * sizeof *images);
        break;
    }
}
