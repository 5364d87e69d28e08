/* The radix sort at each level of the processor against a plain stable merge sort: elements of every width, keys of
 * all kinds, with row counts at the edges of bins, buffers, chunks and buckets. */
#include "scratch.h"

#include "engine/sorting/sort_level.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 3 };

/* How keys are chosen. */
enum content {
    ANYTHING,
    FEW,
    TWO,
    EQUAL,
    RISING,
    FALLING,
    MOSTLY_EQUAL,
    SMALL,
    OUTLIER,
    EXTREMES,
    FLOATS,
    HUNDREDS,
    LATE,
    BAND,
    CONTENTS
};

struct rig {
    struct radix_pair *elements, *sorted; /* key words and payloads, whatever the width */
    struct radix radix;
    _Atomic int64_t emitted;
    int cancel_after; /* blocks that are read */
    atomic_int cancel, blocks;
    uint64_t seed;
};

/* A separate generator: tests must not depend on the library's. */
static uint64_t next(struct rig *rig)
{
    rig->seed = rig->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return rig->seed >> 29 ^ rig->seed << 31;
}

static uint64_t float_code(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static uint64_t key_of(struct rig *rig, enum content content, int64_t row, int bits)
{
    const uint64_t any = next(rig), most = UINT64_MAX >> (64 - bits);
    switch (content) {
    case FEW:
        return any % 300 * (most / 300 + 1) & most;
    case TWO:
        return any % 2 ? most : most / 3;
    case EQUAL:
        return most / 2;
    case RISING:
        return (uint64_t)row & most;
    case FALLING:
        return most - ((uint64_t)row & most);
    case MOSTLY_EQUAL:
        return any % 16 ? most / 5 : next(rig) & most;
    case SMALL: /* as many of each order of magnitude */
        return (next(rig) & most) >> any % (uint64_t)bits;
    case OUTLIER:
        return row == 7 ? most : any % 5000 & most;
    case EXTREMES:
        return any % 3 == 0 ? 0 : any % 3 == 1 ? most : any & most;
    case FLOATS:
        return float_code((double)(int64_t)any * 0x1p-60) >> (64 - bits);
    case HUNDREDS: /* of values, at equal distances, 0 among them */
        return any % 700 * (most / 700 + 1) & most;
    case LATE: /* few values at first, too many at the end */
        return row * 4 < rig->radix.rows * 3 ? any % 50 * (most / 50 + 1) & most : next(rig) & most;
    case BAND: /* most keys, and few beyond both ends, which a sample may miss */
        return any % 4001 == 0 ? next(rig) & most : most / 3 + any % (most / 5 + 1);
    default:
        return any & most;
    }
}

static void read_block(void *context, int64_t row, int count, void *elements)
{
    struct rig *rig = context;
    if (rig->cancel_after && ++rig->blocks > rig->cancel_after)
        rig->cancel = 1;
    for (int i = 0; i < count; i++) {
        const struct radix_pair *from = &rig->elements[row + i];
        if (rig->radix.width == 4)
            ((uint32_t *)elements)[i] = (uint32_t)from->key;
        else if (rig->radix.width == 8)
            ((uint64_t *)elements)[i] = from->key;
        else
            ((struct radix_pair *)elements)[i] = *from;
    }
}

static void take(void *context, int member, int64_t row, const void *elements, int64_t count)
{
    struct rig *rig = context;
    assert_in_range(member, 0, THREADS - 1);
    for (int64_t i = 0; i < count; i++) {
        if (rig->radix.width == 4)
            rig->sorted[row + i].key = ((const uint32_t *)elements)[i];
        else if (rig->radix.width == 8)
            rig->sorted[row + i].key = ((const uint64_t *)elements)[i];
        else
            rig->sorted[row + i] = ((const struct radix_pair *)elements)[i];
    }
    rig->sorted[row].payload |= (uint64_t)1 << 63; /* a call begins */
    rig->emitted += count;
}

static uint64_t sorted_by(const struct rig *rig, const struct radix_pair *element)
{
    return element->key >> rig->radix.shift & UINT64_MAX >> (64 - rig->radix.bits);
}

static void merge_sort(const struct rig *rig, struct radix_pair *at, struct radix_pair *spare, int64_t count)
{
    if (count < 2)
        return;
    const int64_t half = count / 2;
    merge_sort(rig, at, spare, half);
    merge_sort(rig, at + half, spare, count - half);
    memcpy(spare, at, (size_t)half * sizeof *at);
    int64_t left = 0, right = half;
    for (int64_t i = 0; left < half; i++)
        at[i] =
            right < count && sorted_by(rig, &at[right]) < sorted_by(rig, &spare[left]) ? at[right++] : spare[left++];
}

static struct rig *rig_new(size_t width, int shift, int bits, int64_t rows, enum content content)
{
    struct rig *rig = calloc(1, sizeof *rig);
    rig->seed = (uint64_t)rows * 31 + (uint64_t)content * 7 + width;
    rig->elements = calloc((size_t)rows + 1, sizeof *rig->elements);
    rig->sorted = calloc((size_t)rows + 1, sizeof *rig->sorted);
    rig->radix = (struct radix){.rows = rows, .width = width, .shift = shift, .bits = bits};
    for (int64_t row = 0; row < rows; row++) {
        const uint64_t below = next(rig) & ((UINT64_C(1) << shift) - 1);
        rig->elements[row].key = key_of(rig, content, row, bits) << shift | below;
        rig->elements[row].payload = width == 16 ? (uint64_t)row : 0;
    }
    return rig;
}

static void rig_free(struct rig *rig)
{
    free(rig->elements);
    free(rig->sorted);
    free(rig);
}

static void check_sorted(struct rig *rig)
{
    const int64_t rows = rig->radix.rows;
    struct radix_pair *spare = calloc((size_t)rows + 1, sizeof *spare);
    merge_sort(rig, rig->elements, spare, rows);
    free(spare);
    assert_int_equal(rig->emitted, rows);
    for (int64_t i = 0; i < rows; i++) {
        const bool begins = rig->sorted[i].payload >> 63;
        rig->sorted[i].payload &= UINT64_MAX >> 1;
        assert_true(rig->sorted[i].key == rig->elements[i].key);
        assert_true(rig->sorted[i].payload == rig->elements[i].payload);
        const bool divided = rig->radix.divided || (rig->radix.width == 4 && rig->radix.shift == 0);
        assert_true(!begins || divided || i == 0 ||
                    sorted_by(rig, &rig->sorted[i]) != sorted_by(rig, &rig->sorted[i - 1]));
    }
}

static void sort_one(const struct sort_level *level, size_t width, int shift, int bits, int64_t rows,
                     enum content content)
{
    struct rig *rig = rig_new(width, shift, bits, rows, content);
    const struct workers workers = {.threads = rows % 2 ? THREADS : 1, .cancel = &rig->cancel};
    rig->radix.workers = &workers;
    rig->radix.read = read_block;
    rig->radix.emit = take;
    rig->radix.context = rig;
    rig->radix.level = level;
    rig->radix.divided = rows % 3 > 0;
    assert_int_equal(radix_sort(&rig->radix), STATUS_OK);
    check_sorted(rig);
    rig_free(rig);
}

/* Widths with the key's place: alone, above a payload, beside one. */
static const struct {
    size_t width;
    int shift, bits;
} layouts[] = {{4, 0, 32}, {4, 0, 22},  {4, 0, 9},   {4, 12, 20}, {8, 0, 64},
               {8, 0, 33}, {8, 32, 32}, {8, 24, 40}, {16, 0, 64}, {16, 0, 3}};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static void sort_in_all_ways(const int64_t *lengths, size_t count, int layout_step)
{
    const struct sort_level *level;
    for (int i = 0; (level = sort_level_at(i)) != NULL; i++) {
        for (size_t k = 0; k < count; k++) {
            for (int content = 0; content < CONTENTS; content++) {
                for (int layout = (content + (int)k) % layout_step; layout < LAYOUTS; layout += layout_step)
                    sort_one(level, layouts[layout].width, layouts[layout].shift, layouts[layout].bits, lengths[k],
                             (enum content)content);
            }
        }
    }
}

static void sorts_few(void **state)
{
    static const int64_t lengths[] = {0,  1,  2,   3,   7,   8,   13,  14,  15,  16,   17,   31,   32,   33,
                                      63, 64, 127, 128, 129, 255, 256, 257, 511, 1023, 1024, 1025, 4097, 10000};
    (void)state;
    sort_in_all_ways(lengths, sizeof lengths / sizeof *lengths, 2);
}

/* Around the size from which all threads partition. */
static void sorts_more(void **state)
{
    static const int64_t lengths[] = {16384, 16385, 32768, 32769, 65536, 65537, 65553};
    (void)state;
    sort_in_all_ways(lengths, sizeof lengths / sizeof *lengths, 5);
}

static void sorts_many(void **state)
{
    static const int64_t lengths[] = {200003, 1000001};
    (void)state;
    sort_in_all_ways(&lengths[0], 1, 3);
    sort_in_all_ways(&lengths[1], 1, LAYOUTS);
}

/* The inner loops at all lengths. */
static void sorts_words(void **state)
{
    const struct sort_level *level;
    struct rig rig = {.seed = 1};
    (void)state;
    for (int i = 0; (level = sort_level_at(i)) != NULL; i++) {
        for (int count = 0; count <= level->room_32; count++) {
            uint32_t words[SORT_BIN_ROOM], sorted[SORT_BIN_ROOM];
            uint64_t wide[SORT_BIN_ROOM], sorted_wide[SORT_BIN_ROOM], sum = 0, sum_wide = 0;
            const uint64_t mask = count % 3 ? UINT64_MAX : 7;
            for (int k = 0; k < count; k++) {
                wide[k] = k % 17 == 3 ? UINT64_MAX : next(&rig) & mask;
                words[k] = (uint32_t)wide[k];
                sum += words[k];
                sum_wide += wide[k] * (wide[k] | 1);
            }
            level->sort_32(words, count, sorted);
            for (int k = 0; k < count; k++) {
                assert_true(k == 0 || sorted[k - 1] <= sorted[k]);
                sum -= sorted[k];
            }
            assert_true(sum == 0);
            if (count > level->room_64)
                continue;
            level->sort_64(wide, count, sorted_wide);
            for (int k = 0; k < count; k++) {
                assert_true(k == 0 || sorted_wide[k - 1] <= sorted_wide[k]);
                sum_wide -= sorted_wide[k] * (sorted_wide[k] | 1);
            }
            assert_true(sum_wide == 0);
        }
    }
}

/* Around the row counts from which values are counted, and the numbers of values up to which they are. */
static void counts_values(void **state)
{
    static const int64_t lengths[] = {65535, 65536, 65537, 131072, 300001};
    static const uint64_t numbers[] = {1, 2, 3, 255, 2000, 4095, 4096, 4097, 5120, 5121, 9000};
    (void)state;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
            const bool wide = (k + n) % 2;
            struct rig *rig = rig_new(wide ? 8 : 4, 0, wide ? 64 : 32, lengths[k], ANYTHING);
            const struct workers workers = {.threads = n % 3 ? THREADS : 1, .cancel = &rig->cancel};
            for (int64_t row = 0; row < lengths[k]; row++) {
                const uint64_t number = row % 8 ? 0 : next(rig) % numbers[n]; /* runs, so that more are counted */
                rig->elements[row].key = number * (wide ? UINT64_MAX / 9000 : UINT32_MAX / 9000);
            }
            rig->radix.workers = &workers;
            rig->radix.read = read_block;
            rig->radix.emit = take;
            rig->radix.context = rig;
            rig->radix.divided = true;
            assert_int_equal(radix_sort(&rig->radix), STATUS_OK);
            check_sorted(rig);
            rig_free(rig);
        }
    }
}

static void stops_when_told(void **state)
{
    (void)state;
    for (int after = 1; after < 400; after += 57) {
        struct rig *rig = rig_new(8, 0, 64, 300001, after % 2 ? ANYTHING : TWO);
        rig->radix.divided = after % 4 == 0;
        const struct workers workers = {.threads = THREADS, .cancel = &rig->cancel};
        rig->cancel_after = after;
        rig->radix.workers = &workers;
        rig->radix.read = read_block;
        rig->radix.emit = take;
        rig->radix.context = rig;
        assert_int_equal(radix_sort(&rig->radix), STATUS_CANCELLED);
        rig_free(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_words), cmocka_unit_test(sorts_few),     cmocka_unit_test(sorts_more),
        cmocka_unit_test(sorts_many),  cmocka_unit_test(counts_values), cmocka_unit_test(stops_when_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
