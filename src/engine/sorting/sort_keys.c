#include "engine/sorting/sort_keys.h"

#include "base/cpu_dispatch.h"
#include "base/heap.h"
#include "base/integer.h"
#include "engine/sorting/sort_key_range.h"
#include "engine/vector/elements.h"

#include <stdlib.h>
#include <string.h>

enum { PART_ROWS = 1 << 16 };

static const uint64_t sign_64 = UINT64_C(1) << 63;
static const uint32_t sign_32 = UINT32_C(1) << 31;

/* Inlined where the type is a constant: one loop for each type. */
#define SPECIALISED static inline __attribute__((always_inline))

SPECIALISED void write_float(void *data, int64_t i, uint64_t image)
{
    const uint32_t bits = (uint32_t)image & sign_32 ? (uint32_t)image ^ sign_32 : ~(uint32_t)image;
    memcpy((float *)data + i, &bits, sizeof bits);
}

SPECIALISED void write_double(void *data, int64_t i, uint64_t image)
{
    const uint64_t bits = image & sign_64 ? image ^ sign_64 : ~image;
    memcpy((double *)data + i, &bits, sizeof bits);
}

SPECIALISED void write_image(void *data, enum type store, int64_t i, uint64_t image)
{
    switch (store) {
#define INTEGER_TYPE(type, element, ...)                                                                               \
    case TYPE_##type:                                                                                                  \
        ((element *)data)[i] = (element)(image ^ sign_64);                                                             \
        break;
#define FLOAT_TYPE(type, element, ...)                                                                                 \
    case TYPE_##type:                                                                                                  \
        write_##element(data, i, image);                                                                               \
        break;
#include "engine/values/types.def"
    case TYPE_COUNT:
        break;
    }
}

static const void *element(const struct column *column, int64_t row)
{
    return (const char *)column->data + (size_t)row * type_table[column->store].size;
}

struct ranging {
    const struct workers *workers;
    const struct column *column;
    struct parts parts;
    struct key_range *ranges; /* of each part */
};

static void range_of_part(void *context, struct part part)
{
    const struct ranging *ranging = context;
    const struct column *column = ranging->column;
    int64_t begin = part.begin, end = part.end;
    struct key_range range = key_range_of_none();
    for (int64_t row = begin; row < end && !workers_cancelled(ranging->workers); row += KEY_BLOCK) {
        const int count = end - row < KEY_BLOCK ? (int)(end - row) : KEY_BLOCK;
        operator_prefetch(column, row + count, count);
        key_range_extend(&range, element(column, row), column->store, count);
    }
    ranging->ranges[part.number] = range;
}

static bool find_range(const struct column *column, int64_t rows, const struct workers *workers,
                       struct key_range *range)
{
    *range = key_range_of_none();
    if (column->range_known && type_table[column->store].kind != KIND_FLOAT) {
        *range = (struct key_range){.least = (uint64_t)column->lo ^ sign_64, .most = (uint64_t)column->hi ^ sign_64};
        return true;
    }
    struct ranging ranging = {.workers = workers, .column = column, .parts = partition_rows(workers, rows, PART_ROWS)};
    ranging.ranges = heap_array((size_t)ranging.parts.count, sizeof *ranging.ranges);
    const bool done = workers_run_parts(workers, &ranging.parts, range_of_part, &ranging);
    for (int64_t i = 0; i < ranging.parts.count && done; i++)
        key_range_merge(range, &ranging.ranges[i]);
    free(ranging.ranges);
    return done;
}

/* Packs keys into words from the least significant key on. */
static void place_keys(struct keys *keys)
{
    keys->words = keys->count > 0 ? 1 : 0;
    keys->word_bits = heap_array(keys->count, sizeof *keys->word_bits);
    int used = 0;
    for (size_t i = keys->count; i-- > 0;) {
        struct key *key = &keys->at[i];
        if (used + key->bits > 64) {
            keys->words++;
            used = 0;
        }
        key->word = keys->words - 1;
        key->shift = used;
        used += key->bits;
        keys->word_bits[key->word] = used;
    }
    for (size_t i = 0; i < keys->count; i++)
        keys->at[i].word = keys->words - 1 - keys->at[i].word;
    for (int i = 0; i < keys->words / 2; i++) {
        const int bits = keys->word_bits[i];
        keys->word_bits[i] = keys->word_bits[keys->words - 1 - i];
        keys->word_bits[keys->words - 1 - i] = bits;
    }
}

static uint64_t nan_image(enum type store, int64_t bits)
{
    const uint64_t sign = store == TYPE_F32 ? sign_32 : sign_64;
    const uint64_t image = (uint64_t)(bits ^ (bits >> 63)) ^ (bits < 0 ? 0 : sign);
    return store == TYPE_F32 ? (uint32_t)image : image;
}

static void set_range(struct key *key, const struct key_range *range)
{
    const bool any = range->least <= range->most;
    key->least = any ? range->least : 0;
    key->most = any ? range->most : 0;
    key->nan = range->nan;
    key->faithful = !range->negative_zero && (!range->nan || range->nan_or == range->nan_and);
    key->nan_image = nan_image(key->column->store, range->nan_or);
    key->bits = bit_width(key->most - key->least + range->nan);
}

bool keys_init(struct keys *keys, struct key *at, size_t count, int64_t rows, const struct workers *workers)
{
    *keys = (struct keys){.at = at, .count = count};
    for (size_t i = 0; i < count; i++) {
        struct key_range range;
        if (!find_range(at[i].column, rows, workers, &range))
            return false;
        set_range(&at[i], &range);
    }
    place_keys(keys);
    return true;
}

/* The range of the column's type, or of its elements where known. */
static struct key_range possible_range(const struct column *column)
{
    const struct type_info *info = &type_table[column->store];
    if (info->kind == KIND_FLOAT) {
        const uint64_t nan = column->store == TYPE_F32 ? UINT32_MAX : UINT64_MAX;
        return (struct key_range){.most = nan - 1, .nan = true, .negative_zero = true};
    }
    const int64_t lo = column->range_known ? column->lo : info->lo;
    const int64_t hi = column->range_known ? column->hi : info->hi;
    return (struct key_range){.least = (uint64_t)lo ^ sign_64, .most = (uint64_t)hi ^ sign_64};
}

void keys_init_by_type(struct keys *keys, struct key *at, size_t count)
{
    *keys = (struct keys){.at = at, .count = count};
    for (size_t i = 0; i < count; i++) {
        const struct key_range range = possible_range(at[i].column);
        set_range(&at[i], &range);
    }
    place_keys(keys);
}

void keys_free(struct keys *keys)
{
    free(keys->word_bits);
}

CPU_CLONES static void add_codes(const struct key *key, const uint64_t *images, int count, uint64_t *codes)
{
    uint64_t least = key->least, most = key->most, nan = most - least + 1;
    const int shift = key->shift & 63;
    if (key->nan) {
        for (int i = 0; i < count; i++) {
            const uint64_t distance = key->descending ? most - images[i] : images[i] - least;
            codes[i] |= (images[i] > most ? nan : distance) << shift;
        }
    } else if (key->descending) {
        for (int i = 0; i < count; i++)
            codes[i] |= (most - images[i]) << shift;
    } else {
        for (int i = 0; i < count; i++)
            codes[i] |= (images[i] - least) << shift;
    }
}

static void read_codes(const struct keys *keys, int word, int64_t row, const uint64_t *rows, int count, uint64_t *codes)
{
    uint64_t images[KEY_BLOCK];
    images[0] = 0; /* silences a false warning */
    memset(codes, 0, (size_t)count * sizeof *codes);
    for (size_t i = 0; i < keys->count; i++) {
        const struct key *key = &keys->at[i];
        if (key->word != word || key->bits == 0)
            continue;
        if (!rows)
            operator_prefetch(key->column, row + count, count);
        sort_key_encode(element(key->column, row), key->column->store, rows, count, images);
        add_codes(key, images, count, codes);
    }
}

/* Reads the codes of a single key; false: there is no loop for it. */
static bool read_alone(const struct keys *keys, int64_t row, int count, size_t code_bytes, void *codes)
{
    const struct key *key = &keys->at[0];
    const struct key_loops *loops = keys->count == 1 ? key_loops_of(key->column->store, code_bytes) : NULL;
    if (!loops)
        return false;
    operator_prefetch(key->column, row + count, count);
    loops->encode(key, element(key->column, row), count, codes);
    return true;
}

void keys_read(const struct keys *keys, int word, int64_t row, int count, uint64_t *codes)
{
    if (!read_alone(keys, row, count, sizeof *codes, codes))
        read_codes(keys, word, row, NULL, count, codes);
}

void keys_read_at(const struct keys *keys, int word, const uint64_t *rows, int count, uint64_t *codes)
{
    read_codes(keys, word, 0, rows, count, codes);
}

void keys_read_32(const struct keys *keys, int64_t row, int count, uint32_t *codes)
{
    if (read_alone(keys, row, count, sizeof *codes, codes))
        return;
    uint64_t wide[KEY_BLOCK];
    read_codes(keys, 0, row, NULL, count, wide);
    for (int i = 0; i < count; i++)
        codes[i] = (uint32_t)wide[i];
}

SPECIALISED void write_as(const struct key *key, const uint64_t *words, int count, void *data, enum type store)
{
    uint64_t most = key->most, least = key->least, numbers = key->nan ? most - least : UINT64_MAX;
    const uint64_t mask = key->bits == 0 ? 0 : UINT64_MAX >> (64 - key->bits);
    const int shift = key->shift & 63;
    for (int i = 0; i < count; i++) {
        const uint64_t code = words[i] >> shift & mask;
        const uint64_t image = key->descending ? most - code : least + code;
        write_image(data, store, i, code > numbers ? key->nan_image : image);
    }
}

void key_decode(const struct key *key, const uint64_t *words, int count, void *to)
{
    switch (type_table[key->column->store].size) {
    case 1:
        write_as(key, words, count, to, TYPE_U8);
        break;
    case 2:
        write_as(key, words, count, to, TYPE_U16);
        break;
    case 4:
        if (key->column->store == TYPE_F32)
            write_as(key, words, count, to, TYPE_F32);
        else
            write_as(key, words, count, to, TYPE_U32);
        break;
    default:
        if (key->column->store == TYPE_F64)
            write_as(key, words, count, to, TYPE_F64);
        else
            write_as(key, words, count, to, TYPE_I64);
    }
}

void key_write(const struct key *key, const uint64_t *words, int count, struct column *to, int64_t row)
{
    key_decode(key, words, count, column_at(to, row));
}
