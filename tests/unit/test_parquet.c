/* The parts of the Parquet reader against simple references: packed bits of every width, runs, differences, numbers in
 * other representations, and Thrift input that nests or promises too much. */
#include "engine/parquet/convert.h"
#include "engine/parquet/decode.h"
#include "engine/parquet/encodings.h"
#include "engine/parquet/thrift.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 1000, MAX_BYTES = 16384 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t low_bits(uint64_t value, unsigned width)
{
    return width < 64 ? value & (((uint64_t)1 << width) - 1) : value;
}

/* Bytes written bit by bit. */
struct bits {
    uint8_t *at;
    size_t count;
};

static void put_bits(struct bits *bits, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++, bits->count++)
        bits->at[bits->count / 8] |= (uint8_t)((value >> i & 1) << bits->count % 8);
}

static void put_varint(struct bits *bits, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_bits(bits, (value & 0x7f) | 0x80, 8);
    put_bits(bits, value, 8);
}

static void put_zigzag(struct bits *bits, int64_t value)
{
    put_varint(bits, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

/* A copy of exactly this size, so that a sanitizer sees reads behind it. */
static uint8_t *copy_of(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    return copy;
}

static void unpacks_every_width(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (unsigned width = 0; width <= UNPACK_MAX_WIDTH; width++) {
        for (size_t groups = 0; groups < 5; groups++) {
            uint8_t bytes[4 * 32 * 5] = {0};
            uint32_t values[32 * 5], out[32 * 5];
            struct bits bits = {bytes, 0};
            for (size_t i = 0; i < groups * UNPACK_GROUP; i++) {
                values[i] = (uint32_t)low_bits(next_random(&random), width);
                put_bits(&bits, values[i], width);
            }
            uint8_t *copy = copy_of(bytes, bits.count / 8);
            bit_unpack(copy, bits.count / 8, width, groups, out);
            assert_memory_equal(out, values, groups * UNPACK_GROUP * sizeof *out);
            for (size_t i = 0; i < groups * UNPACK_GROUP; i++)
                assert_int_equal(bit_unpack_one(copy, bits.count / 8, width, i), values[i]);
            free(copy);
        }
    }
}

static void expands_bits(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (size_t count = 0; count < 70; count++) {
        uint8_t bytes[10];
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)next_random(&random);
        uint8_t *out = malloc(count + 1);
        assert_non_null(out);
        size_t ones = 0, counted = bit_expand(bytes, count, out);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(out[i], bytes[i / 8] >> i % 8 & 1);
            ones += out[i];
        }
        assert_int_equal(counted, ones);
        free(out);
    }
}

/* Writes random values as random runs; returns their number. */
static size_t write_runs(struct bits *bits, unsigned width, uint32_t *values, uint64_t *random)
{
    size_t count = 0;
    while (count + 100 < COUNT) {
        if (next_random(random) % 2) {
            size_t run = 1 + next_random(random) % 100;
            uint32_t value = (uint32_t)low_bits(next_random(random), width);
            put_varint(bits, run << 1);
            put_bits(bits, value, (width + 7) / 8 * 8);
            for (size_t i = 0; i < run; i++)
                values[count++] = value;
        } else {
            size_t groups = 1 + next_random(random) % 12;
            put_varint(bits, groups << 1 | 1);
            for (size_t i = 0; i < groups * 8; i++) {
                values[count] = (uint32_t)low_bits(next_random(random), width);
                put_bits(bits, values[count++], width);
            }
        }
    }
    return count;
}

/* Through decode_indices, with a dictionary of the numbers 0, 3, 6 ... in every size of elements. */
static void translates_runs(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (unsigned width = 0; width <= 16; width++) {
        for (unsigned size = 1; size <= 8; size *= 2) {
            uint8_t bytes[MAX_BYTES] = {(uint8_t)width};
            uint32_t values[COUNT];
            struct bits bits = {bytes, 8};
            size_t count = write_runs(&bits, width, values, &random), length = bits.count / 8;
            uint8_t *copy = copy_of(bytes, length);
            char *dictionary = calloc((size_t)1 << width, size), *out = malloc(count * size);
            assert_non_null(dictionary);
            assert_non_null(out);
            for (uint64_t i = 0; i < (uint64_t)1 << width; i++) {
                uint64_t element = 3 * i;
                memcpy(dictionary + i * size, &element, size);
            }
            struct page_dictionary entries = {.count = (size_t)1 << width, .values = dictionary};
            struct page_values page = {copy, copy + length, count};
            struct decoded decoded;
            assert_int_equal(decode_indices(&page, &entries, size, out, &decoded), READ_OK);
            for (size_t i = 0; i < count; i++) {
                uint64_t element = 0;
                memcpy(&element, out + i * size, size);
                assert_int_equal(element, low_bits(3 * (uint64_t)values[i], 8 * size));
            }
            entries.count = 0; /* every index is too large */
            assert_int_equal(decode_indices(&page, &entries, size, out, &decoded), READ_BAD_INDEX);
            page.present += COUNT; /* more than there are */
            assert_int_not_equal(decode_indices(&page, &entries, size, out, &decoded), READ_OK);
            free(copy);
            free(dictionary);
            free(out);
        }
    }
}

/* Writes integers as the specification says, in blocks of 128 with 4 miniblocks; returns the size. */
static size_t write_differences(uint8_t *bytes, const int64_t *values, size_t count)
{
    struct bits bits = {bytes, 0};
    put_varint(&bits, 128);
    put_varint(&bits, 4);
    put_varint(&bits, count);
    put_zigzag(&bits, count > 0 ? values[0] : 0);
    for (size_t block = 1; block < count; block += 128) {
        uint64_t differences[128] = {0};
        size_t in_block = count - block < 128 ? count - block : 128;
        int64_t least = INT64_MAX;
        for (size_t i = 0; i < in_block; i++) {
            differences[i] = (uint64_t)values[block + i] - (uint64_t)values[block + i - 1];
            least = (int64_t)differences[i] < least ? (int64_t)differences[i] : least;
        }
        put_zigzag(&bits, least);
        unsigned widths[4] = {0};
        for (size_t i = 0; i < in_block; i++) {
            differences[i] -= (uint64_t)least;
            unsigned width = differences[i] ? 64 - (unsigned)__builtin_clzll(differences[i]) : 0;
            widths[i / 32] = width > widths[i / 32] ? width : widths[i / 32];
        }
        for (size_t mini = 0; mini < 4; mini++)
            put_bits(&bits, widths[mini], 8);
        for (size_t i = 0; i < 32 * ((in_block + 31) / 32); i++)
            put_bits(&bits, i < in_block ? differences[i] : 0, widths[i / 32]);
    }
    return bits.count / 8;
}

static void adds_differences(void **state)
{
    (void)state;
    uint64_t random = 9;
    for (unsigned width = 1; width <= 64; width++) {
        static const size_t counts[] = {0, 1, 2, 33, 129, 500};
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            int64_t values[500], out[501];
            static uint8_t bytes[MAX_BYTES];
            memset(bytes, 0, sizeof bytes);
            for (size_t i = 0; i < counts[k]; i++)
                values[i] = (int64_t)low_bits(next_random(&random), width);
            size_t size = write_differences(bytes, values, counts[k]);
            uint8_t *copy = copy_of(bytes, size);
            const uint8_t *at = copy;
            assert_true(delta_decode(&at, copy + size, counts[k], 8, out));
            assert_ptr_equal(at, copy + size);
            assert_memory_equal(out, values, counts[k] * sizeof *out);
            int32_t narrow[501];
            at = copy;
            assert_true(delta_decode(&at, copy + size, counts[k], 4, narrow));
            for (size_t i = 0; i < counts[k]; i++)
                assert_int_equal(narrow[i], (int32_t)values[i]);
            at = copy;
            assert_false(delta_decode(&at, copy + size, counts[k] + 1, 8, out));
            for (size_t cut = 0; cut < size && counts[k] > 0; cut += 1 + size / 20) {
                uint8_t *less = copy_of(bytes, cut);
                at = less;
                assert_false(delta_decode(&at, less + cut, counts[k], 8, out));
                free(less);
            }
            free(copy);
        }
    }
}

static void converts_big_endian(void **state)
{
    (void)state;
    uint64_t random = 11;
    for (int i = 0; i < 20000; i++) {
        int64_t value = (int64_t)next_random(&random) >> next_random(&random) % 64, back;
        uint8_t bytes[16];
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[15 - k] = (uint8_t)(k < 8 ? value >> 8 * k : value >> 63);
        for (size_t length = 8; length <= 16; length++) {
            assert_true(convert_big_endian((const char *)bytes + 16 - length, length, &back));
            assert_int_equal(back, value);
        }
        bytes[next_random(&random) % 8] ^= (uint8_t)(1 + next_random(&random) % 255);
        assert_false(convert_big_endian((const char *)bytes, 16, &back));
    }
    int64_t value;
    assert_true(convert_big_endian("", 0, &value));
    assert_int_equal(value, 0);
    assert_true(convert_big_endian("\x80", 1, &value));
    assert_int_equal(value, -128);
    assert_false(convert_big_endian("\x00\x80\0\0\0\0\0\0\0", 9, &value));
    assert_false(convert_big_endian("\xff\x7f\0\0\0\0\0\0\0", 9, &value));
}

static void converts_halves(void **state)
{
    (void)state;
    static const struct {
        uint16_t half;
        float value;
    } cases[] = {{0, 0},       {1, 0x1p-24f},   {0x3ff, 0x3ffp-24f},   {0x400, 0x1p-14f},  {0x3c00, 1},
                 {0xbc00, -1}, {0x7bff, 65504}, {0x3555, 0x1.554p-2f}, {0x7c00, INFINITY}, {0xfc00, -INFINITY}};
    const struct leaf leaf = {.width = 2, .conversion = CONVERT_FLOAT16, .type = TYPE_F32};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float value;
        convert_values(&leaf, &cases[i].half, 1, &value);
        assert_true(value == cases[i].value);
    }
    float nan;
    convert_values(&leaf, &(uint16_t){0x7e01}, 1, &nan);
    assert_true(isnan(nan));
    convert_values(&leaf, &(uint16_t){0x8000}, 1, &nan);
    assert_true(nan == 0 && signbit(nan));
}

static void floors_nanoseconds(void **state)
{
    (void)state;
    static const int64_t nanos[] = {0, 1, 999, 1000, -1, -999, -1000, -1001, INT64_MIN, INT64_MAX};
    static const int64_t micros[] = {0, 0, 0, 1, -1, -1, -1, -2, INT64_MIN / 1000 - 1, INT64_MAX / 1000};
    const struct leaf leaf = {.width = 8, .conversion = CONVERT_NANOS, .type = TYPE_I64};
    int64_t out[10];
    struct converted converted = convert_values(&leaf, nanos, 10, out);
    assert_memory_equal(out, micros, sizeof out);
    assert_int_equal(converted.floored, 7);
    assert_int_equal(converted.bad, -1);
}

static void finds_values_out_of_range(void **state)
{
    (void)state;
    int64_t out[4];
    const struct leaf narrow = {.width = 4, .conversion = CONVERT_NARROW_U8, .type = TYPE_U8};
    assert_int_equal(convert_values(&narrow, (int32_t[]){0, 255, 256, -1}, 4, out).bad, 2);
    assert_int_equal(convert_values(&narrow, (int32_t[]){0, 255}, 2, out).bad, -1);
    const struct leaf is_unsigned = {.width = 8, .conversion = CONVERT_U64, .type = TYPE_I64};
    assert_int_equal(convert_values(&is_unsigned, (uint64_t[]){INT64_MAX, 1ull << 63}, 2, out).bad, 1);
    const struct leaf millis = {.width = 8, .conversion = CONVERT_MILLIS, .type = TYPE_I64};
    assert_int_equal(convert_values(&millis, (int64_t[]){1, -5, INT64_MAX / 1000 + 1}, 3, out).bad, 2);
    assert_int_equal(out[1], -5000);
}

static void spreads_values(void **state)
{
    (void)state;
    uint64_t random = 13;
    for (unsigned size = 1; size <= 8; size *= 2) {
        for (size_t rows = 0; rows < 40; rows++) {
            uint8_t validity[40], packed[40 * 8] = {0}, expected[40 * 8] = {0};
            size_t present = 0;
            for (size_t row = 0; row < rows; row++) {
                validity[row] = next_random(&random) % 3 > 0;
                for (size_t k = 0; k < size && validity[row]; k++)
                    packed[present * size + k] = expected[row * size + k] = (uint8_t)next_random(&random);
                present += validity[row];
            }
            decode_spread(packed, size, validity, rows, present);
            assert_memory_equal(packed, expected, rows * size);
        }
    }
}

/* Structs in structs, deeper than any metadata. */
static void refuses_deep_thrift(void **state)
{
    (void)state;
    uint8_t bytes[1000];
    memset(bytes, 0x1c, sizeof bytes); /* field 1: a struct */
    struct thrift in = {bytes, bytes + sizeof bytes, false};
    struct thrift_field field = {0};
    assert_true(thrift_next(&in, &field));
    thrift_skip(&in, field.type);
    assert_true(in.failed);
}

static void refuses_long_thrift(void **state)
{
    (void)state;
    static const uint8_t list[] = {0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0};
    struct thrift in = {list, list + sizeof list, false};
    assert_int_equal(thrift_list(&in, THRIFT_LIST, THRIFT_STRUCT), 0);
    assert_true(in.failed);
    static const uint8_t text[] = {5, 'a', 'b'};
    in = (struct thrift){text, text + sizeof text, false};
    assert_int_equal(thrift_binary(&in, THRIFT_BINARY).length, 0);
    assert_true(in.failed);
    in = (struct thrift){text, text + sizeof text, false};
    assert_int_equal(thrift_int(&in, THRIFT_I32), -3);
    assert_false(in.failed);
    assert_int_equal(thrift_int(&in, THRIFT_BINARY), 0);
    assert_true(in.failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unpacks_every_width), cmocka_unit_test(expands_bits),
        cmocka_unit_test(translates_runs),     cmocka_unit_test(adds_differences),
        cmocka_unit_test(converts_big_endian), cmocka_unit_test(converts_halves),
        cmocka_unit_test(floors_nanoseconds),  cmocka_unit_test(finds_values_out_of_range),
        cmocka_unit_test(spreads_values),      cmocka_unit_test(refuses_deep_thrift),
        cmocka_unit_test(refuses_long_thrift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
