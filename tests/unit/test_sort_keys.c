/* Codes of sort keys, and sorting by a key of which no range is known: elements of every store type, read by the loops
 * of single keys and beside another key, against comparisons of the elements; at the edges of the loops' lanes and
 * blocks. */
#include "scratch.h"

#include "engine/sorting/sort_keys.h"
#include "engine/sorting/sort_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 2100 };

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 29 ^ *seed << 31;
}

static double special(uint64_t which)
{
    const double numbers[] = {0.0,         -0.0,         (double)INFINITY, -(double)INFINITY,
                              (double)NAN, -(double)NAN, 1e-310,           -1e300};
    return numbers[which % 8];
}

enum content { ANYTHING, EXTREMES, EQUAL, ONE_NAN, POSITIVE, CONTENTS, WIDE = CONTENTS };

static void set(struct column *column, int64_t row, enum content content, uint64_t *seed)
{
    void *at = column_at(column, row);
    const uint64_t any = next(seed);
    double number = (double)(int64_t)next(seed) * 0x1p-62;
    if (content == EXTREMES || (content == ANYTHING && any % 16 == 0))
        number = special(any >> 8);
    else if (content == EQUAL)
        number = 2.5;
    else if (content == POSITIVE)
        number = fabs(number) + 1;
    else if (content == ONE_NAN)
        number = any % 5 == 0 ? -(double)NAN : number + 3;
    if (column->store == TYPE_F64) {
        memcpy(at, &number, sizeof number);
    } else if (column->store == TYPE_F32) {
        const float narrow = (float)number;
        memcpy(at, &narrow, sizeof narrow);
    } else {
        const struct type_info *info = &type_table[column->store];
        uint64_t integer = any;
        if (content == EXTREMES)
            integer = (uint64_t)(any % 2 ? info->lo : info->hi);
        else if (content == EQUAL)
            integer = 1;
        else if (content == POSITIVE)
            integer = any % 100 + 1;
        integer = column->store == TYPE_BOOL ? integer & 1 : integer;
        memcpy(at, &integer, info->size); /* the lower bytes */
    }
}

/* -1, 0 or 1; NaNs are equal and last. */
static int compare(const struct column *column, int64_t i, int64_t j, bool descending)
{
    const char *data = column->data;
    if (type_table[column->store].kind == KIND_FLOAT) {
        double a, b;
        if (column->store == TYPE_F64) {
            a = ((const double *)(const void *)data)[i];
            b = ((const double *)(const void *)data)[j];
        } else {
            a = (double)((const float *)(const void *)data)[i];
            b = (double)((const float *)(const void *)data)[j];
        }
        if (isnan(a) || isnan(b))
            return (isnan(a) != 0) - (isnan(b) != 0);
        return descending ? (a < b) - (a > b) : (a > b) - (a < b);
    }
    int64_t numbers[2];
    const int64_t rows[] = {i, j};
    for (int k = 0; k < 2; k++) {
        const size_t size = type_table[column->store].size;
        uint64_t bits = 0;
        memcpy(&bits, data + (size_t)rows[k] * size, size);
        const int unused = 64 - 8 * (int)size;
        numbers[k] = type_table[column->store].lo < 0 ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
    }
    const int order = (numbers[0] > numbers[1]) - (numbers[0] < numbers[1]);
    return descending ? -order : order;
}

static void check_codes(const struct column *column, int64_t rows, bool descending, bool beside, uint64_t seed)
{
    const struct workers workers = {.threads = 1};
    struct column *other = column_reserve(TYPE_U8, TYPE_U8, rows);
    memset(column_at(other, 0), 7, (size_t)rows);
    column_finish(other, rows);
    struct key at[2] = {{.column = column, .descending = descending}, {.column = other}};
    struct keys keys;
    assert_true(keys_init(&keys, at, beside ? 2 : 1, rows, &workers));
    assert_int_equal(keys.words, 1);
    uint64_t codes[MOST];
    uint32_t codes_32[MOST];
    bool nan = false, negative_zero = false, nans_differ = false;
    uint64_t nan_bits = 0;
    for (int64_t row = 0; row < rows; row += KEY_BLOCK) {
        const int count = rows - row < KEY_BLOCK ? (int)(rows - row) : KEY_BLOCK;
        keys_read(&keys, 0, row, count, codes + row);
        if (keys.word_bits[0] <= 32)
            keys_read_32(&keys, row, count, codes_32 + row);
    }
    for (int64_t row = 0; row < rows; row++) {
        const int64_t with = (int64_t)(next(&seed) % (uint64_t)rows);
        const int order = compare(column, row, with, descending);
        assert_int_equal((codes[row] > codes[with]) - (codes[row] < codes[with]), order);
        assert_true(keys.word_bits[0] == 64 || codes[row] >> keys.word_bits[0] == 0);
        assert_true(keys.word_bits[0] > 32 || codes[row] == codes_32[row]);
        if (type_table[column->store].kind == KIND_FLOAT) {
            const double number = column->store == TYPE_F64 ? ((const double *)column->data)[row]
                                                            : (double)((const float *)column->data)[row];
            uint64_t bits;
            memcpy(&bits, &number, sizeof bits);
            nans_differ = nans_differ || (isnan(number) && nan && bits != nan_bits);
            nan_bits = isnan(number) ? bits : nan_bits;
            nan = nan || isnan(number);
            negative_zero = negative_zero || (number == 0 && signbit(number));
        }
    }
    assert_int_equal(at[0].nan, nan);
    assert_int_equal(at[0].faithful, !nans_differ && !negative_zero);
    for (int64_t row = 0; row < rows && at[0].faithful; row += KEY_BLOCK) {
        const int count = rows - row < KEY_BLOCK ? (int)(rows - row) : KEY_BLOCK;
        const size_t size = type_table[column->store].size;
        uint64_t decoded[KEY_BLOCK];
        key_decode(&at[0], codes + row, count, decoded);
        assert_memory_equal(decoded, (const char *)column->data + (size_t)row * size, (size_t)count * size);
        const bool narrow = keys.word_bits[0] <= 32;
        const struct key_loops *loops = beside ? NULL : key_loops_of(column->store, narrow ? 4 : 8);
        if (!loops)
            continue;
        memset(decoded, 0, sizeof decoded);
        if (narrow)
            loops->decode(&at[0], codes_32 + row, count, decoded);
        else
            loops->decode(&at[0], codes + row, count, decoded);
        assert_memory_equal(decoded, (const char *)column->data + (size_t)row * size, (size_t)count * size);
    }
    keys_free(&keys);
    column_unref(other);
}

static void codes_order_as_elements(void **state)
{
    static const int64_t lengths[] = {1, 2, 7, 8, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 2049, MOST};
    (void)state;
    for (int store = 0; store < TYPE_COUNT; store++) {
        for (int content = 0; content < CONTENTS; content++) {
            for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
                uint64_t seed = (uint64_t)(store * 100 + content) + k * 10007;
                struct column *column = column_reserve((enum type)store, (enum type)store, lengths[k]);
                for (int64_t row = 0; row < lengths[k]; row++)
                    set(column, row, (enum content)content, &seed);
                column_finish(column, lengths[k]);
                for (int way = 0; way < 4; way++)
                    check_codes(column, lengths[k], way & 1, way & 2, seed);
                column_unref(column);
            }
        }
    }
}

/* A NaN or -0.0 at each place of the loops that find the range. */
static void finds_one_element(void **state)
{
    (void)state;
    for (int64_t place = 0; place < 140; place++) {
        for (int which = 0; which < 4; which++) {
            struct column *column =
                column_reserve(which & 1 ? TYPE_F32 : TYPE_F64, which & 1 ? TYPE_F32 : TYPE_F64, 140);
            for (int64_t row = 0; row < 140; row++) {
                const double number = row != place ? (double)row + 0.5 : which & 2 ? -0.0 : -(double)NAN;
                if (which & 1)
                    ((float *)column_at(column, 0))[row] = (float)number;
                else
                    ((double *)column_at(column, 0))[row] = number;
            }
            column_finish(column, 140);
            check_codes(column, 140, place % 2, false, (uint64_t)place);
            column_unref(column);
        }
    }
}

static double number_of(const struct column *column, int64_t row)
{
    return column->store == TYPE_F64 ? ((const double *)column->data)[row] : (double)((const float *)column->data)[row];
}

/* Sums up the elements' bits in any order, and those of zeros and NaNs in this one. */
static uint64_t sum(const struct column *column)
{
    const size_t size = type_table[column->store].size;
    uint64_t all = 0, special = 0;
    for (int64_t row = 0; row < column->rows; row++) {
        uint64_t bits = 0;
        memcpy(&bits, (const char *)column->data + (size_t)row * size, size);
        all += (bits + 1) * (bits | 1);
        const double number = type_table[column->store].kind == KIND_FLOAT ? number_of(column, row) : 1;
        if (number == 0)
            special = special * 3 + (signbit(number) ? 2 : 1);
    }
    return all ^ special << 32;
}

/* Sorts a column of numbers all over its type, with `others` far from each other. */
static void sort_wide(enum type store, int64_t rows, const double *others, int other_count, bool descending)
{
    uint64_t seed = (uint64_t)rows + (uint64_t)store;
    struct column *from = column_reserve(store, store, rows), *to = column_reserve(store, store, rows);
    for (int64_t row = 0; row < rows; row++)
        set(from, row, WIDE, &seed);
    for (int i = 0; i < other_count; i++) {
        const int64_t row = i == 0 ? 0 : i == 1 ? rows - 1 : rows / 3 + i;
        if (store == TYPE_F64)
            ((double *)column_at(from, 0))[row] = others[i];
        else
            ((float *)column_at(from, 0))[row] = (float)others[i];
    }
    column_finish(from, rows);
    struct key at = {.column = from, .descending = descending};
    struct keys keys;
    const struct workers workers = {.threads = 3};
    assert_true(keys_init(&keys, &at, 1, rows, &workers));
    struct carried carried = {.from = from, .to = to};
    assert_int_equal(sort_columns_by(&keys, rows, &workers, &carried, 1), STATUS_OK);
    keys_free(&keys);
    column_finish(to, rows);
    for (int64_t row = 1; row < rows; row++)
        assert_true(compare(to, row - 1, row, descending) <= 0);
    assert_true(sum(from) == sum(to));
    column_unref(from);
    column_unref(to);
}

static void sorts_wide_keys(void **state)
{
    static const enum type stores[] = {TYPE_I32, TYPE_I64, TYPE_F32, TYPE_F64};
    const double others[] = {-0.0, 0.0, (double)NAN, -0.0, -(double)NAN, (double)INFINITY, -(double)INFINITY};
    (void)state;
    for (int k = 0; k < 4; k++) {
        for (int descending = 0; descending < 2; descending++) {
            const int64_t rows = (1 << 17) + 1003 * k;
            sort_wide(stores[k], rows, others, 0, descending);
            if (type_table[stores[k]].kind != KIND_FLOAT)
                continue;
            sort_wide(stores[k], rows, others, 1, descending);
            sort_wide(stores[k], rows, others, 3, !descending);
            sort_wide(stores[k], rows, others + 2, 1, descending);
            sort_wide(stores[k], rows, others + 5, 2, descending);
            sort_wide(stores[k], rows, others, 7, descending);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_order_as_elements),
        cmocka_unit_test(finds_one_element),
        cmocka_unit_test(sorts_wide_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
