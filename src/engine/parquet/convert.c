#include "engine/parquet/convert.h"

#include "base/cpu_dispatch.h"

#include <math.h>
#include <string.h>

enum {
    INT96_BYTES = 12,
    MICROS_PER_MILLI = 1000,
    MICROS_PER_SECOND = 1000000,
    NANOS_PER_MICRO = 1000,
    JULIAN_DAY_OF_1970 = 2440588
};
static const uint64_t micros_per_day = 86400000000;

static inline int32_t load_i32(const char *at)
{
    int32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline int64_t load_i64(const char *at)
{
    int64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline void add_bad(struct converted *converted, size_t at)
{
    if (converted->bad < 0)
        converted->bad = (int64_t)at;
}

/* Inlined for each type, so that the sizes are constants. */
static inline __attribute__((always_inline)) struct converted narrow(const char *from, size_t count, char *to,
                                                                     size_t size, int32_t lo, int32_t hi)
{
    struct converted converted = {.bad = -1};
    for (size_t i = 0; i < count; i++) {
        int32_t value = load_i32(from + i * sizeof value);
        if (value < lo || value > hi)
            add_bad(&converted, i);
        memcpy(to + i * size, &value, size);
    }
    return converted;
}

static struct converted widen(const char *from, size_t count, char *to, int64_t factor)
{
    for (size_t i = 0; i < count; i++) {
        int64_t value = load_i32(from + i * sizeof(int32_t)) * factor;
        memcpy(to + i * sizeof value, &value, sizeof value);
    }
    return (struct converted){.bad = -1};
}

static struct converted from_unsigned(const char *from, size_t count, char *to)
{
    struct converted converted = {.bad = -1};
    memcpy(to, from, count * sizeof(int64_t));
    for (size_t i = 0; i < count; i++) {
        if (load_i64(from + i * sizeof(int64_t)) < 0)
            add_bad(&converted, i);
    }
    return converted;
}

static struct converted to_micros(const char *from, size_t count, char *to, int64_t factor)
{
    struct converted converted = {.bad = -1};
    for (size_t i = 0; i < count; i++) {
        int64_t value;
        if (__builtin_mul_overflow(load_i64(from + i * sizeof value), factor, &value))
            add_bad(&converted, i);
        memcpy(to + i * sizeof value, &value, sizeof value);
    }
    return converted;
}

/* Rounds towards minus infinity. */
static inline int64_t floor_nanos(int64_t nanos, int64_t *floored)
{
    const int64_t rest = nanos % NANOS_PER_MICRO;
    *floored += rest != 0;
    return nanos / NANOS_PER_MICRO - (rest < 0);
}

static struct converted from_nanos(const char *from, size_t count, char *to)
{
    struct converted converted = {.bad = -1};
    for (size_t i = 0; i < count; i++) {
        int64_t value = floor_nanos(load_i64(from + i * sizeof value), &converted.floored);
        memcpy(to + i * sizeof value, &value, sizeof value);
    }
    return converted;
}

/* Sums wrap around: writers store microseconds of distant years as days that have wrapped around. */
static struct converted from_int96(const char *from, size_t count, char *to)
{
    struct converted converted = {.bad = -1};
    for (size_t i = 0; i < count; i++, from += INT96_BYTES) {
        const int64_t micros = floor_nanos(load_i64(from), &converted.floored);
        const int64_t days = (int64_t)load_i32(from + sizeof micros) - JULIAN_DAY_OF_1970;
        uint64_t value = (uint64_t)days * micros_per_day + (uint64_t)micros;
        memcpy(to + i * sizeof value, &value, sizeof value);
    }
    return converted;
}

static float from_half(uint16_t half)
{
    const int exponent = half >> 10 & 0x1f;
    const int fraction = half & 0x3ff;
    float value = exponent == 0 ? ldexpf((float)fraction, -24) : ldexpf((float)(fraction | 0x400), exponent - 25);
    if (exponent == 0x1f)
        value = fraction ? NAN : INFINITY;
    return half & 0x8000 ? -value : value;
}

static struct converted from_halves(const char *from, size_t count, char *to)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t half;
        memcpy(&half, from + i * sizeof half, sizeof half);
        float value = from_half(half);
        memcpy(to + i * sizeof value, &value, sizeof value);
    }
    return (struct converted){.bad = -1};
}

bool convert_big_endian(const char *bytes, size_t length, int64_t *value)
{
    const uint8_t *at = (const uint8_t *)bytes;
    uint64_t sign = length > 0 && at[0] & 0x80 ? UINT64_MAX : 0, bits = sign;
    bool fits = true;
    for (size_t i = 0; i < length; i++) {
        /* What is shifted out, and the sign bit, must be copies of the sign. */
        if (length - i >= sizeof bits)
            fits = fits && bits == sign;
        bits = bits << 8 | at[i];
    }
    *value = (int64_t)bits;
    return fits && (length < sizeof bits || (bits >> 63) == (sign & 1));
}

static struct converted from_big_endian(const char *from, size_t width, size_t count, char *to)
{
    struct converted converted = {.bad = -1};
    for (size_t i = 0; i < count; i++) {
        int64_t value;
        if (!convert_big_endian(from + i * width, width, &value))
            add_bad(&converted, i);
        memcpy(to + i * sizeof value, &value, sizeof value);
    }
    return converted;
}

CPU_CLONES struct converted convert_values(const struct leaf *leaf, const void *from, size_t count, void *to)
{
    switch (leaf->conversion) {
    case CONVERT_COPY:
        memcpy(to, from, count * leaf->width);
        break;
    case CONVERT_NARROW_I8:
        return narrow(from, count, to, 1, INT8_MIN, INT8_MAX);
    case CONVERT_NARROW_I16:
        return narrow(from, count, to, 2, INT16_MIN, INT16_MAX);
    case CONVERT_NARROW_U8:
        return narrow(from, count, to, 1, 0, UINT8_MAX);
    case CONVERT_NARROW_U16:
        return narrow(from, count, to, 2, 0, UINT16_MAX);
    case CONVERT_WIDEN:
        return widen(from, count, to, 1);
    case CONVERT_WIDEN_MILLIS:
        return widen(from, count, to, MICROS_PER_MILLI);
    case CONVERT_U64:
        return from_unsigned(from, count, to);
    case CONVERT_SECONDS:
        return to_micros(from, count, to, MICROS_PER_SECOND);
    case CONVERT_MILLIS:
        return to_micros(from, count, to, MICROS_PER_MILLI);
    case CONVERT_NANOS:
        return from_nanos(from, count, to);
    case CONVERT_INT96:
        return from_int96(from, count, to);
    case CONVERT_FLOAT16:
        return from_halves(from, count, to);
    case CONVERT_BIG_ENDIAN:
        return from_big_endian(from, leaf->width, count, to);
    case CONVERT_BITS:
    case CONVERT_TEXT:
    case CONVERT_UUID:
        break;
    }
    return (struct converted){.bad = -1};
}

void convert_uuid(const char *bytes, char *text)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < 16; i++) {
        const uint8_t byte = (uint8_t)bytes[i];
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *text++ = '-';
        *text++ = digits[byte >> 4];
        *text++ = digits[byte & 0xf];
    }
}
