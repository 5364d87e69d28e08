#include "engine/arrow/column_reading.h"

#include <string.h>

int64_t decode_bits(const unsigned char *bits, int64_t begin, int64_t end, uint8_t *to)
{
    int64_t ones = 0;
    for (int64_t row = begin; row < end; row++) {
        const uint8_t bit = bits[row / 8] >> (row % 8) & 1;
        to[row - begin] = bit;
        ones += bit;
    }
    return end - begin - ones;
}

static bool is_missing(const struct decoding *decoding, int64_t row)
{
    return decoding->valid && !decoding->valid[row - decoding->begin];
}

bool decode_zero_where_missing(const struct decoding *decoding)
{
    static const unsigned char zero[8];
    const size_t width = decoding->field->width;
    for (int64_t row = decoding->begin; row < decoding->end; row++) {
        if (is_missing(decoding, row) && memcmp(decoding->from + (size_t)row * width, zero, width) != 0)
            return false;
    }
    return true;
}

/* Inlined for each width, so that it is a constant in the loop. */
static inline __attribute__((always_inline)) void copy_known(const struct decoding *decoding, size_t width)
{
    char *to = decoding->to;
    for (int64_t row = decoding->begin; row < decoding->end; row++, to += width) {
        if (is_missing(decoding, row))
            memset(to, 0, width);
        else
            memcpy(to, decoding->from + (size_t)row * width, width);
    }
}

static int64_t copy(const struct decoding *decoding)
{
    const size_t width = decoding->field->width;
    if (!decoding->valid)
        memcpy(decoding->to, decoding->from + (size_t)decoding->begin * width,
               (size_t)(decoding->end - decoding->begin) * width);
    else if (width == 1)
        copy_known(decoding, 1);
    else if (width == 2)
        copy_known(decoding, 2);
    else if (width == 4)
        copy_known(decoding, 4);
    else
        copy_known(decoding, 8);
    return decoding->end;
}

static int64_t copy_u64(const struct decoding *decoding)
{
    int64_t *to = decoding->to;
    for (int64_t row = decoding->begin; row < decoding->end; row++) {
        const int64_t value = is_missing(decoding, row) ? 0 : load_int(decoding->from + row * 8, 8);
        if (value < 0)
            return row;
        *to++ = value;
    }
    return decoding->end;
}

static int64_t copy_bools(const struct decoding *decoding)
{
    uint8_t *to = decoding->to;
    (void)decode_bits(decoding->from, decoding->begin, decoding->end, to);
    for (int64_t row = decoding->begin; decoding->valid && row < decoding->end; row++)
        to[row - decoding->begin] &= decoding->valid[row - decoding->begin];
    return decoding->end;
}

/* IEEE 754 binary16 as binary32, which holds all of its values. */
static float float_of_half(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 1023;
    uint32_t bits;
    if (exponent == 0) { /* zero, or fraction * 2^-24 */
        float tiny = (float)fraction * 0x1p-24f;
        memcpy(&bits, &tiny, sizeof bits);
    } else if (exponent == 31) {
        bits = 0x7f800000 | fraction << 13;
    } else {
        bits = (exponent + 112) << 23 | fraction << 13;
    }
    bits |= sign;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int64_t copy_halves(const struct decoding *decoding)
{
    float *to = decoding->to;
    for (int64_t row = decoding->begin; row < decoding->end; row++) {
        uint16_t half;
        memcpy(&half, decoding->from + row * 2, sizeof half);
        *to++ = is_missing(decoding, row) ? 0 : float_of_half(half);
    }
    return decoding->end;
}

/* One of `multiply` and `divide` is 1. */
static bool convert_time(struct decoding *decoding, int64_t *value)
{
    const struct arrow_field *field = decoding->field;
    if (field->divide > 1) {
        const int64_t rest = *value % field->divide;
        *value = *value / field->divide - (rest < 0);
        decoding->cut += rest != 0;
    }
    return !__builtin_mul_overflow(*value, field->multiply, value);
}

static int64_t copy_times(struct decoding *decoding)
{
    const struct arrow_field *field = decoding->field;
    int32_t *days = decoding->to;
    int64_t *times = decoding->to;
    for (int64_t row = decoding->begin; row < decoding->end; row++) {
        int64_t value = 0;
        if (!is_missing(decoding, row)) {
            value = load_int(decoding->from + (size_t)row * field->width, field->width);
            if (!convert_time(decoding, &value))
                return row;
        }
        if (field->as == TYPE_I64)
            *times++ = value;
        else if (value == (int32_t)value)
            *days++ = (int32_t)value;
        else
            return row;
    }
    return decoding->end;
}

/* Sets *value to an integer of `width` bytes; false if it does not fit. */
static bool load_wide(const unsigned char *at, size_t width, int64_t *value)
{
    *value = load_int(at, width < 8 ? width : 8);
    for (size_t k = 8; k < width; k += 8) {
        if (load_int(at + k, 8) != *value >> 63)
            return false;
    }
    return true;
}

static int64_t copy_decimals(const struct decoding *decoding)
{
    const struct arrow_field *field = decoding->field;
    int64_t *to = decoding->to;
    for (int64_t row = decoding->begin; row < decoding->end; row++) {
        int64_t value = 0;
        if (!is_missing(decoding, row) &&
            (!load_wide(decoding->from + (size_t)row * field->width, field->width, &value) ||
             __builtin_mul_overflow(value, field->multiply, &value)))
            return row;
        *to++ = value;
    }
    return decoding->end;
}

int64_t decode_rows(struct decoding *decoding)
{
    switch (decoding->field->reading) {
    case READING_BITS:
        return copy_bools(decoding);
    case READING_COPY:
        return copy(decoding);
    case READING_U64:
        return copy_u64(decoding);
    case READING_HALF:
        return copy_halves(decoding);
    case READING_TIME:
        return copy_times(decoding);
    case READING_DECIMAL:
        return copy_decimals(decoding);
    case READING_NONE:
    case READING_NULL:
    case READING_TEXT:
    case READING_VIEW:
    case READING_STRUCT:
    case READING_LIST:
    case READING_LIST_VIEW:
    case READING_FIXED_LIST:
        break;
    }
    return decoding->end;
}
