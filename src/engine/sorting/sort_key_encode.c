#include "engine/sorting/sort_key_range.h"

#include "base/cpu_dispatch.h"

#include <string.h>

static const uint64_t sign_64 = UINT64_C(1) << 63;
static const uint32_t sign_32 = UINT32_C(1) << 31;

/* Inlined where the type is a constant: one loop for each type. */
#define SPECIALISED static inline __attribute__((always_inline))

SPECIALISED uint64_t image_of_float(float number)
{
    float positive_zero = number + 0.0f;
    uint32_t bits;
    memcpy(&bits, &positive_zero, sizeof bits);
    const uint32_t image = bits ^ (sign_32 | (0 - (bits >> 31)));
    return image | (0 - (uint32_t)(number != number));
}

SPECIALISED uint64_t image_of_double(double number)
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
#define INTEGER_TYPE(type, element, ...)                                                                               \
    case TYPE_##type:                                                                                                  \
        return (uint64_t)((const element *)data)[i] ^ sign_64;
#define FLOAT_TYPE(type, element, ...)                                                                                 \
    case TYPE_##type:                                                                                                  \
        return image_of_##element(((const element *)data)[i]);
#include "engine/values/types.def"
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
CPU_CLONES static void images_of_float(const float *restrict data, int count, uint64_t *restrict images)
{
    for (int i = 0; i < count; i++)
        images[i] = image_of_float(data[i]);
}

CPU_CLONES static void images_of_double(const double *restrict data, int count, uint64_t *restrict images)
{
    for (int i = 0; i < count; i++)
        images[i] = image_of_double(data[i]);
}

void sort_key_encode(const void *data, enum type store, const uint64_t *rows, int count, uint64_t *images)
{
    switch (store) {
#define INTEGER_TYPE(type, ...)                                                                                        \
    case TYPE_##type:                                                                                                  \
        images_as(data, TYPE_##type, rows, count, images);                                                             \
        break;
#define FLOAT_TYPE(type, element, ...)                                                                                 \
    case TYPE_##type:                                                                                                  \
        if (rows)                                                                                                      \
            images_as(data, TYPE_##type, rows, count, images);                                                         \
        else                                                                                                           \
            images_of_##element(data, count, images);                                                                  \
        break;
#include "engine/values/types.def"
    case TYPE_COUNT: /* not a type */
        memset(images, 0, (size_t)count * sizeof *images);
        break;
    }
}

int64_t sort_key_integer(uint64_t image)
{
    return (int64_t)(image ^ sign_64);
}

double sort_key_number(enum type store, uint64_t image)
{
    if (store == TYPE_F32) {
        const uint32_t short_image = (uint32_t)image;
        const uint32_t bits = short_image & sign_32 ? short_image ^ sign_32 : ~short_image;
        float number;
        memcpy(&number, &bits, sizeof number);
        return number;
    }
    const uint64_t bits = image & sign_64 ? image ^ sign_64 : ~image;
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}
