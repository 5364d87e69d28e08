/* Sorting: an element is the keys' code and a payload, which is the other columns' elements if these are small, else
 * the row number by which they are gathered at the end. */
#include "engine/sorting/sort_rows.h"

#include "base/buffer_pool.h"
#include "engine/sorting/radix_sort.h"
#include "engine/sorting/row_parts.h"
#include "engine/sorting/sort_keys.h"
#include "engine/sorting/sort_ties.h"

#include "base/heap.h"
#include "base/nontemporal_copy.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORD_BITS = 64,
    RANKED_BYTES = 6 * 8,  /* a row's number, its rank, and elements of a sort */
    CACHED_BYTES = 2 << 20 /* larger result columns are written past the caches */
};

struct sorting {
    const struct workers *workers;
    int64_t rows_read;
    struct keys keys;
    struct carried *carried;
    size_t carried_count;
    int word;             /* of the keys, by which rows are being sorted */
    bool last;            /* this is the last word: results are written */
    uint64_t *rows;       /* row numbers in the order of less significant words; NULL for keys of one word */
    bool ties;            /* rows are sorted by the first word alone, and those equal in it by the others; */
    _Atomic bool *failed; /* for lack of memory */
    bool payload_is_row;
    int payload_bits;              /* of the payload, below the code if both fit one word */
    size_t width;                  /* of an element */
    const struct key_loops *alone; /* elements are codes of a single key; NULL: there is more to them */
};

static uint64_t payload_mask(const struct sorting *sorting)
{
    return sorting->payload_bits == 0 ? 0 : UINT64_MAX >> (WORD_BITS - sorting->payload_bits);
}

static size_t store_size(const struct column *column)
{
    return type_table[column->store].size;
}

/* Adds a column's elements to the payloads. */
static void add_payload(const struct carried *carried, int64_t row, int count, uint64_t *payloads)
{
    const size_t size = store_size(carried->from);
    const char *data = (const char *)carried->from->data + (size_t)row * size;
    const int shift = carried->shift;
    switch (size) {
    case 1:
        for (int i = 0; i < count; i++)
            payloads[i] |= (uint64_t)((const uint8_t *)data)[i] << shift;
        break;
    case 2:
        for (int i = 0; i < count; i++)
            payloads[i] |= (uint64_t)((const uint16_t *)(const void *)data)[i] << shift;
        break;
    case 4:
        for (int i = 0; i < count; i++) {
            uint32_t bits;
            memcpy(&bits, data + 4 * (size_t)i, sizeof bits);
            payloads[i] |= (uint64_t)bits << shift;
        }
        break;
    default:
        memcpy(payloads, data, (size_t)count * sizeof *payloads);
    }
}

static void decode_payload(const struct carried *carried, const uint64_t *payloads, int count, void *to)
{
    char *data = to;
    const size_t size = store_size(carried->from);
    const int shift = carried->shift;
    switch (size) {
    case 1:
        for (int i = 0; i < count; i++)
            ((uint8_t *)data)[i] = (uint8_t)(payloads[i] >> shift);
        break;
    case 2:
        for (int i = 0; i < count; i++)
            ((uint16_t *)(void *)data)[i] = (uint16_t)(payloads[i] >> shift);
        break;
    case 4:
        for (int i = 0; i < count; i++) {
            uint32_t bits = (uint32_t)(payloads[i] >> shift);
            memcpy(data + 4 * (size_t)i, &bits, sizeof bits);
        }
        break;
    default:
        memcpy(data, payloads, (size_t)count * sizeof *payloads);
    }
}

static void read_payloads(const struct sorting *sorting, int64_t row, int count, uint64_t *payloads)
{
    if (sorting->payload_is_row && sorting->rows) {
        memcpy(payloads, sorting->rows + row, (size_t)count * sizeof *payloads);
        return;
    }
    if (sorting->payload_is_row) {
        for (int i = 0; i < count; i++)
            payloads[i] = (uint64_t)row + (uint64_t)i;
        return;
    }
    memset(payloads, 0, (size_t)count * sizeof *payloads);
    for (size_t k = 0; k < sorting->carried_count; k++) {
        if (sorting->carried[k].origin == FROM_PAYLOAD)
            add_payload(&sorting->carried[k], row, count, payloads);
    }
}

static void read_elements(void *context, int64_t row, int count, void *elements)
{
    struct sorting *sorting = context;
    if (sorting->width == 4 && sorting->payload_bits == 0) {
        keys_read_32(&sorting->keys, row, count, elements);
        return;
    }
    if (sorting->alone) {
        keys_read(&sorting->keys, 0, row, count, elements);
        return;
    }
    uint64_t codes[KEY_BLOCK], payloads[KEY_BLOCK];
    if (sorting->rows)
        keys_read_at(&sorting->keys, sorting->word, sorting->rows + row, count, codes);
    else
        keys_read(&sorting->keys, sorting->word, row, count, codes);
    read_payloads(sorting, row, count, payloads);
    const int shift = sorting->payload_bits & (WORD_BITS - 1);
    if (sorting->width == sizeof(struct radix_pair)) {
        struct radix_pair *pairs = elements;
        for (int i = 0; i < count; i++)
            pairs[i] = (struct radix_pair){.key = codes[i], .payload = payloads[i]};
    } else if (sorting->width == sizeof(uint64_t)) {
        uint64_t *words = elements;
        for (int i = 0; i < count; i++)
            words[i] = codes[i] << shift | payloads[i];
    } else {
        uint32_t *words = elements;
        for (int i = 0; i < count; i++)
            words[i] = (uint32_t)(codes[i] << shift | payloads[i]);
    }
}

static void split(const struct sorting *sorting, const void *elements, int count, uint64_t *codes, uint64_t *payloads)
{
    const uint64_t mask = payload_mask(sorting);
    const int shift = sorting->payload_bits & (WORD_BITS - 1);
    if (sorting->width == sizeof(struct radix_pair)) {
        const struct radix_pair *pairs = elements;
        for (int i = 0; i < count; i++) {
            codes[i] = pairs[i].key;
            payloads[i] = pairs[i].payload;
        }
    } else if (sorting->width == sizeof(uint64_t)) {
        const uint64_t *words = elements;
        for (int i = 0; i < count; i++) {
            codes[i] = words[i] >> shift;
            payloads[i] = words[i] & mask;
        }
    } else {
        const uint32_t *words = elements;
        for (int i = 0; i < count; i++) {
            codes[i] = (uint64_t)words[i] >> shift;
            payloads[i] = words[i] & mask;
        }
    }
}

static void write_column(const struct carried *carried, int64_t row, const void *elements, int count)
{
    const size_t size = store_size(carried->to);
    if ((size_t)carried->from->rows * size > CACHED_BYTES)
        copy_nontemporal(column_at(carried->to, row), elements, (size_t)count * size);
    else
        memcpy(column_at(carried->to, row), elements, (size_t)count * size);
}

static void write_split(const struct sorting *sorting, int64_t row, const uint64_t *codes, const uint64_t *payloads,
                        int count)
{
    uint64_t decoded[KEY_BLOCK];
    if (!sorting->last) {
        memcpy(sorting->rows + row, payloads, (size_t)count * sizeof *payloads);
        return;
    }
    for (size_t k = 0; k < sorting->carried_count; k++) {
        const struct carried *carried = &sorting->carried[k];
        if (carried->origin == FROM_KEY)
            key_decode(carried->key, codes, count, decoded);
        else if (carried->origin == FROM_PAYLOAD)
            decode_payload(carried, payloads, count, decoded);
        else
            column_gather(carried->from, payloads, count, decoded);
        write_column(carried, row, decoded, count);
    }
}

static void write_block(const struct sorting *sorting, int64_t row, const void *elements, int count)
{
    uint64_t codes[KEY_BLOCK], payloads[KEY_BLOCK];
    split(sorting, elements, count, codes, payloads);
    write_split(sorting, row, codes, payloads, count);
}

/* Elements whose payloads are rows, which are sorted by the words of their keys behind the first. */
static void write_ties(const struct sorting *sorting, int64_t row, const char *elements, int64_t count)
{
    uint64_t *codes = heap_array(2 * (size_t)count, sizeof *codes), *rows = codes + count;
    for (int64_t i = 0; i < count; i += KEY_BLOCK)
        split(sorting, elements + (size_t)i * sorting->width, count - i < KEY_BLOCK ? (int)(count - i) : KEY_BLOCK,
              codes + i, rows + i);
    if (!sort_ties(&sorting->keys, INT64_C(1) << sorting->payload_bits, codes, rows, count))
        *sorting->failed = true;
    for (int64_t i = 0; i < count && !workers_cancelled(sorting->workers); i += KEY_BLOCK)
        write_split(sorting, row + i, codes + i, rows + i, count - i < KEY_BLOCK ? (int)(count - i) : KEY_BLOCK);
    free(codes);
}

static void write_elements(void *context, int member, int64_t row, const void *elements, int64_t count)
{
    (void)member;
    const struct sorting *sorting = context;
    if (sorting->ties) {
        write_ties(sorting, row, elements, count);
        return;
    }
    for (int64_t i = 0; i < count && !workers_cancelled(sorting->workers); i += KEY_BLOCK) {
        const void *block = (const char *)elements + (size_t)i * sorting->width;
        const int in_block = count - i < KEY_BLOCK ? (int)(count - i) : KEY_BLOCK;
        if (!sorting->alone) {
            write_block(sorting, row + i, block, in_block);
            continue;
        }
        for (size_t k = 0; k < sorting->carried_count; k++) {
            uint64_t decoded[KEY_BLOCK];
            sorting->alone->decode(sorting->carried[k].key, block, in_block, decoded);
            write_column(&sorting->carried[k], row + i, decoded, in_block);
        }
    }
}

static enum status sort_word(struct sorting *sorting)
{
    const int bits = sorting->keys.word_bits[sorting->word];
    const int all = bits + sorting->payload_bits;
    sorting->width = all <= 32 ? 4 : all <= WORD_BITS ? 8 : sizeof(struct radix_pair);
    sorting->alone = sorting->keys.count == 1 && sorting->payload_bits == 0 && !sorting->payload_is_row
                         ? key_loops_of(sorting->keys.at[0].column->store, sorting->width)
                         : NULL;
    const struct radix radix = {
        .workers = sorting->workers,
        .rows = sorting->rows_read,
        .width = sorting->width,
        .shift = all <= WORD_BITS ? sorting->payload_bits : 0,
        .bits = bits,
        .read = read_elements,
        .emit = write_elements,
        .divided = sorting->alone,
        .context = sorting,
    };
    return radix_sort(&radix);
}

static int row_bits(int64_t rows)
{
    return rows > 1 ? WORD_BITS - __builtin_clzll((uint64_t)rows - 1) : 0;
}

/* Chooses the payload: nothing, the elements of the other columns, or the row number. */
static void plan_payload(struct sorting *sorting)
{
    int bits = 0;
    const bool one_word = sorting->keys.words == 1;
    for (size_t k = 0; k < sorting->carried_count; k++) {
        struct carried *carried = &sorting->carried[k];
        carried->key = NULL;
        for (size_t i = 0; i < sorting->keys.count && one_word; i++) {
            const struct key *key = &sorting->keys.at[i];
            if (key->column == carried->from && key->faithful)
                carried->key = key;
        }
        carried->origin = carried->key ? FROM_KEY : FROM_PAYLOAD;
        carried->shift = bits < WORD_BITS ? bits : 0;
        if (!carried->key)
            bits += 8 * (int)store_size(carried->from);
        bits = bits < 2 * WORD_BITS ? bits : 2 * WORD_BITS;
    }
    sorting->payload_is_row = !one_word || bits > WORD_BITS;
    sorting->payload_bits = sorting->payload_is_row ? row_bits(sorting->rows_read) : bits;
    for (size_t k = 0; k < sorting->carried_count && sorting->payload_is_row; k++) {
        if (sorting->carried[k].origin == FROM_PAYLOAD)
            sorting->carried[k].origin = FROM_ROW;
    }
}

/* Sorts by one word after another, least significant first, each stably. */
static enum status sort_words(struct sorting *sorting, bool emit)
{
    enum status status = STATUS_OK;
    if (sorting->ties) {
        _Atomic bool failed = false;
        sorting->failed = &failed;
        sorting->last = emit;
        status = sort_word(sorting);
        return status == STATUS_OK && failed ? STATUS_FAILED : status;
    }
    for (int word = sorting->keys.words - 1; word >= 0 && status == STATUS_OK; word--) {
        sorting->word = word;
        sorting->last = emit && word == 0;
        status = sort_word(sorting);
    }
    return status;
}

static void set_rows(uint64_t *order, int64_t rows, const struct workers *workers)
{
    for (int64_t block = 0; block < rows && !workers_cancelled(workers); block += KEY_BLOCK) {
        const int64_t end = rows - block < KEY_BLOCK ? rows : block + KEY_BLOCK;
        for (int64_t i = block; i < end; i++)
            order[i] = (uint64_t)i;
    }
}

/* The bytes of a column's element if these are not in memory, where they are gathered. */
static int64_t gathered_bytes(const struct sorting *sorting, const struct column *column)
{
    const bool resident =
        !column->mapping && column->reserved > 0 && !buffer_pool_holds_spilled(sorting->workers->pool, column->data);
    return resident ? 0 : (int64_t)store_size(column);
}

/* What sorting takes for a row: an element, with room in buckets; for several words also row numbers, and the keys. */
static int64_t row_bytes(const struct sorting *sorting)
{
    enum { ROOM_SHARE = 4 };
    const bool words = sorting->keys.words > 1;
    const int bits =
        words || sorting->keys.words == 0 ? 2 * WORD_BITS : sorting->keys.word_bits[0] + sorting->payload_bits;
    const int64_t element = bits <= 32 ? 4 : bits <= WORD_BITS ? 8 : (int64_t)sizeof(struct radix_pair);
    int64_t bytes = element + element / ROOM_SHARE + (words ? (int64_t)sizeof(uint64_t) : 0);
    for (size_t i = 0; i < sorting->keys.count && words; i++)
        bytes += gathered_bytes(sorting, sorting->keys.at[i].column);
    for (size_t k = 0; k < sorting->carried_count; k++) {
        if (sorting->carried[k].origin == FROM_ROW)
            bytes += gathered_bytes(sorting, sorting->carried[k].from);
    }
    return bytes;
}

enum status sort_columns_by(const struct keys *keys, int64_t rows, const struct workers *workers,
                            struct carried *carried, size_t carried_count)
{
    struct sorting sorting = {
        .workers = workers, .rows_read = rows, .keys = *keys, .carried = carried, .carried_count = carried_count};
    plan_payload(&sorting);
    if (row_parts_pay(keys, rows, row_bytes(&sorting), workers->pool))
        return sort_columns_in_parts(keys, rows, row_bytes(&sorting), workers, carried, carried_count);
    const size_t size = (size_t)rows * sizeof(uint64_t);
    size_t got = 0;
    sorting.ties = keys->words > 1 && sort_ties_few(keys, NULL, rows);
    if (keys->words > 1 && !sorting.ties) {
        sorting.rows = buffer_pool_alloc(workers->pool, size, &got);
        if (!sorting.rows)
            return STATUS_FAILED;
        set_rows(sorting.rows, rows, workers);
    }
    const enum status status = sort_words(&sorting, true);
    buffer_pool_release(workers->pool, sorting.rows, got);
    return status;
}

enum status order_listed(const struct keys *keys, int64_t rows, const struct workers *workers, uint64_t *list,
                         int64_t count)
{
    struct sorting sorting = {
        .workers = workers, .rows_read = count, .keys = *keys, .rows = list, .payload_is_row = true};
    sorting.payload_bits = row_bits(rows);
    sorting.ties = keys->words > 1 && sort_ties_few(keys, list, count);
    return sort_words(&sorting, false);
}

enum status order_rows(const struct keys *keys, int64_t rows, const struct workers *workers, uint64_t *order)
{
    set_rows(order, rows, workers);
    return order_listed(keys, rows, workers, order, rows);
}

/* ---- several keys as one: the rank of each row by them ---- */

/* Marks the rows whose keys differ from those of the row before; never the first. */
static void mark_steps(const struct keys *keys, const uint64_t *rows, int count, bool *steps)
{
    uint64_t codes[KEY_BLOCK];
    for (int i = 0; i < count; i++)
        steps[i] = false;
    for (int word = 0; word < keys->words; word++) {
        keys_read_at(keys, word, rows, count, codes);
        for (int i = 1; i < count; i++)
            steps[i] = steps[i] || codes[i] != codes[i - 1];
    }
}

static int64_t write_ranks(const struct keys *keys, const uint64_t *order, int64_t rows, const struct workers *workers,
                           int64_t *ranks)
{
    bool steps[KEY_BLOCK];
    int64_t rank = 0;
    ranks[order[0]] = 0;
    /* A block begins with the last row of the block before. */
    for (int64_t i = 0; i < rows - 1 && !workers_cancelled(workers); i += KEY_BLOCK - 1) {
        const int count = rows - i < KEY_BLOCK ? (int)(rows - i) : KEY_BLOCK;
        mark_steps(keys, order + i, count, steps);
        for (int k = 1; k < count; k++) {
            rank += steps[k];
            ranks[order[i + k]] = rank;
        }
    }
    return rank;
}

/* Sets each row's rank by its keys, 0 for the least, equal for equal keys, as a column whose range is known. At least
 * one row. */
static enum status rank_rows(const struct keys *keys, int64_t rows, const struct workers *workers,
                             struct column **ranks)
{
    size_t got = 0;
    uint64_t *order = buffer_pool_alloc(workers->pool, (size_t)rows * sizeof *order, &got);
    *ranks = column_reserve_from(workers->pool, TYPE_I64, TYPE_I64, rows);
    enum status status = order && *ranks ? order_rows(keys, rows, workers, order) : STATUS_FAILED;
    if (status == STATUS_OK) {
        (*ranks)->hi = write_ranks(keys, order, rows, workers, column_at(*ranks, 0));
        (*ranks)->range_known = true;
        column_finish(*ranks, rows);
        status = workers_cancelled(workers) ? STATUS_CANCELLED : STATUS_OK;
    }
    buffer_pool_release(workers->pool, order, got);
    return status;
}

enum status packed_keys_init(struct packed_keys *word, const struct column *const *columns, size_t count, int64_t rows,
                             const struct workers *workers, int most_words)
{
    *word = (struct packed_keys){.at = heap_array(count, sizeof *word->at)};
    for (size_t i = 0; i < count; i++)
        word->at[i].column = columns[i];
    if (!keys_init(&word->keys, word->at, count, rows, workers))
        return STATUS_CANCELLED;
    word->by = &word->keys;
    if (word->keys.words <= most_words)
        return STATUS_OK;
    if (row_parts_pay(&word->keys, rows, RANKED_BYTES, workers->pool)) {
        word->too_large = true;
        return STATUS_OK;
    }
    const enum status status = rank_rows(&word->keys, rows, workers, &word->ranks);
    if (status != STATUS_OK)
        return status;
    word->ranked = true;
    word->rank.column = word->ranks;
    word->by = &word->rank_keys;
    return keys_init(&word->rank_keys, &word->rank, 1, rows, workers) ? STATUS_OK : STATUS_CANCELLED;
}

void packed_keys_free(struct packed_keys *word)
{
    keys_free(&word->keys);
    keys_free(&word->rank_keys);
    column_unref(word->ranks);
    free(word->at);
}
