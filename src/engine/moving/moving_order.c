/* Quantiles, and the number of different values, of windows.
 *
 * The values of a part are sorted once, which gives each row a rank. The rows of a window are then bits of a set of
 * ranks: a row enters and leaves it by one bit, and as the window moves by a row, the quantile moves by at most a few
 * members, up or down the set. Above the set's words are words that tell which of those have members, and so on, so
 * that a member's neighbour is found in a step for each level however few there are. So a row takes about the same time
 * whatever the size of its window. For different values the ranks are of values, which are counted. */
#include "engine/moving/moving.h"

#include "engine/sorting/sort_key_range.h"
#include "engine/values/quantile.h"

#include "base/buffer_pool.h"
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64, WORD_SHIFT = 6, LEVELS = 6 /* of 2^36 ranks */, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

struct moving_order {
    int64_t begin, end;      /* rows */
    uint32_t *ranks;         /* of row begin + i, if it has a value */
    uint64_t *images;        /* of each rank: sort_key_encode.h */
    uint64_t *words[LEVELS]; /* a bit for each member, then one for each word that has one, ...; one word more each */
    uint32_t *counts;        /* AGG_DISTINCT: of each rank, in place of `words` */
    struct pool_array rank_array, image_array, count_array;
    int64_t from, to; /* the window's rows, */
    int64_t members;  /* its values, or different ones */
    /* The members below a rank. */
    int64_t at, below;
};

/* ---- ranks ---- */

/* A value that is being sorted. */
struct sorted {
    uint64_t image;
    uint32_t row;
};

/* Sorts by the images, which are below 2^bits, from the lowest digits on. */
static void sort_values(struct sorted *values, struct sorted *space, int64_t count, int bits)
{
    struct sorted *const first = values;
    for (int shift = 0; shift < bits; shift += DIGIT_BITS) {
        int64_t next[DIGITS + 1] = {0};
        for (int64_t i = 0; i < count; i++)
            next[(values[i].image >> shift & (DIGITS - 1)) + 1]++;
        for (int digit = 0; digit < DIGITS; digit++)
            next[digit + 1] += next[digit];
        for (int64_t i = 0; i < count; i++)
            space[next[values[i].image >> shift & (DIGITS - 1)]++] = values[i];
        struct sorted *const kept = values;
        values = space;
        space = kept;
    }
    if (values != first)
        memcpy(first, values, (size_t)count * sizeof *first);
}

/* Lists the values of the rows; returns their number. */
static int64_t list_values(const struct moving *moving, const struct moving_order *order, struct sorted *values)
{
    const struct column *column = moving->values;
    uint64_t images[OPERATOR_BLOCK];
    int64_t found = 0;
    for (int64_t row = order->begin; row < order->end; row += OPERATOR_BLOCK) {
        const int count = (int)min_int64(order->end - row, OPERATOR_BLOCK);
        const char *data = (const char *)column->data + (size_t)row * type_table[column->store].size;
        sort_key_encode(data, column->store, NULL, count, images);
        for (int i = 0; i < count; i++) {
            values[found] = (struct sorted){images[i], (uint32_t)(row + i - order->begin)};
            found += !moving->present || moving->present[row + i] != 0;
        }
    }
    return found;
}

static void set_ranks(const struct moving *moving, struct moving_order *order)
{
    const size_t rows = (size_t)(order->end - order->begin);
    struct buffer_pool *pool = moving->workers->pool;
    struct pool_array sorting[2];
    struct sorted *values = pool_array_new(&sorting[0], pool, rows + 1, sizeof *values);
    struct sorted *space = pool_array_new(&sorting[1], pool, rows + 1, sizeof *space);
    const int64_t count = list_values(moving, order, values);
    uint64_t least = UINT64_MAX, most = 0;
    for (int64_t i = 0; i < count; i++) {
        least = values[i].image < least ? values[i].image : least;
        most = values[i].image > most ? values[i].image : most;
    }
    for (int64_t i = 0; i < count; i++)
        values[i].image -= least;
    sort_values(values, space, count, count > 0 && most > least ? WORD_BITS - __builtin_clzll(most - least) : 0);
    pool_array_free(&sorting[1]);
    order->ranks = pool_array_new(&order->rank_array, pool, rows + 1, sizeof *order->ranks);
    if (moving->op->kind == AGG_DISTINCT) {
        uint32_t rank = 0;
        order->counts = pool_array_new(&order->count_array, pool, rows + 1, sizeof *order->counts);
        for (int64_t i = 0; i < count; i++) {
            rank += i > 0 && values[i].image != values[i - 1].image;
            order->ranks[values[i].row] = rank;
        }
    } else {
        order->images = pool_array_new(&order->image_array, pool, rows + 1, sizeof *order->images);
        for (int64_t i = 0; i < count; i++) {
            order->ranks[values[i].row] = (uint32_t)i;
            order->images[i] = values[i].image + least;
        }
    }
    pool_array_free(&sorting[0]);
}

struct moving_order *moving_order_new(const struct moving *moving, int64_t begin, int64_t end)
{
    struct moving_order *order = HEAP_NEW(struct moving_order, .begin = begin, .end = end, .from = begin, .to = begin);
    set_ranks(moving, order);
    if (moving->op->kind == AGG_DISTINCT)
        return order;
    size_t words = (size_t)(end - begin);
    for (int level = 0; level < LEVELS; level++) {
        words = (words >> WORD_SHIFT) + 2;
        order->words[level] = heap_array(words, sizeof *order->words[level]);
    }
    return order;
}

void moving_order_free(struct moving_order *order)
{
    if (!order)
        return;
    for (int level = 0; level < LEVELS; level++)
        free(order->words[level]);
    pool_array_free(&order->count_array);
    pool_array_free(&order->image_array);
    pool_array_free(&order->rank_array);
    free(order);
}

int64_t moving_order_bytes(const struct operator_job *job)
{
    const struct moving_operator *op = &job->task->column_op->moving;
    const int64_t bytes = 2 * (int64_t)sizeof(struct sorted) + (int64_t)sizeof(uint32_t) + (int64_t)sizeof(uint64_t);
    if (op->kind != AGG_QUANTILE && op->kind != AGG_DISTINCT)
        return 0;
    return op->from_first || op->to_last ? 2 * bytes : op->has[MOVING_TIMES] ? bytes : 0;
}

/* ---- the set ---- */

static inline void insert(struct moving_order *order, uint64_t rank)
{
    order->members++;
    order->below += (int64_t)rank < order->at;
    for (int level = 0; level < LEVELS; level++) {
        uint64_t *word = &order->words[level][rank >> WORD_SHIFT];
        const uint64_t was = *word;
        *word |= UINT64_C(1) << (rank & (WORD_BITS - 1));
        if (was != 0)
            return;
        rank >>= WORD_SHIFT;
    }
}

static inline void erase(struct moving_order *order, uint64_t rank)
{
    order->members--;
    order->below -= (int64_t)rank < order->at;
    for (int level = 0; level < LEVELS; level++) {
        uint64_t *word = &order->words[level][rank >> WORD_SHIFT];
        *word &= ~(UINT64_C(1) << (rank & (WORD_BITS - 1)));
        if (*word != 0)
            return;
        rank >>= WORD_SHIFT;
    }
}

/* The least member that is not below the rank; there is one. */
static inline int64_t member_from(const struct moving_order *order, int64_t from)
{
    uint64_t rank = (uint64_t)from;
    for (int level = 0; level < LEVELS; level++) {
        const uint64_t word = order->words[level][rank >> WORD_SHIFT] >> (rank & (WORD_BITS - 1));
        if (word == 0) {
            rank = (rank >> WORD_SHIFT) + 1;
            continue;
        }
        rank += (uint64_t)__builtin_ctzll(word);
        while (level-- > 0)
            rank = rank << WORD_SHIFT | (uint64_t)__builtin_ctzll(order->words[level][rank]);
        return (int64_t)rank;
    }
    return order->end - order->begin;
}

/* The greatest member below the rank; there is one. */
static inline int64_t member_before(const struct moving_order *order, int64_t before)
{
    uint64_t rank = (uint64_t)before;
    for (int level = 0; level < LEVELS; level++) {
        const uint64_t mask = (UINT64_C(1) << (rank & (WORD_BITS - 1))) - 1;
        const uint64_t word = order->words[level][rank >> WORD_SHIFT] & mask;
        rank >>= WORD_SHIFT;
        if (word == 0)
            continue;
        rank = rank << WORD_SHIFT | (WORD_BITS - 1 - (uint64_t)__builtin_clzll(word));
        while (level-- > 0)
            rank = rank << WORD_SHIFT | (WORD_BITS - 1 - (uint64_t)__builtin_clzll(order->words[level][rank]));
        return (int64_t)rank;
    }
    return 0;
}

/* Moves `at` to the member with `k` members below it. */
static inline void move_to(struct moving_order *order, int64_t k)
{
    for (; order->below > k; order->below--)
        order->at = member_before(order, order->at);
    order->at = member_from(order, order->at);
    for (; order->below < k; order->below++)
        order->at = member_from(order, order->at + 1);
}

/* ---- windows ---- */

static inline void change(const struct moving *moving, struct moving_order *order, int64_t row, bool enters)
{
    if (moving->present && !moving->present[row])
        return;
    const uint32_t rank = order->ranks[row - order->begin];
    if (order->counts) {
        order->members += enters ? order->counts[rank]++ == 0 : -(--order->counts[rank] == 0);
        return;
    }
    if (enters)
        insert(order, rank);
    else
        erase(order, rank);
}

static inline void slide(const struct moving *moving, struct moving_order *order, int64_t first, int64_t last)
{
    /* Rows in no order of time, which are an error, have windows anywhere. */
    first = min_int64(max_int64(first, order->from), order->end);
    last = min_int64(max_int64(last, first), order->end);
    for (; order->from < min_int64(first, order->to); order->from++)
        change(moving, order, order->from, false);
    order->from = first;
    order->to = max_int64(order->to, first);
    for (; order->to < last; order->to++)
        change(moving, order, order->to, true);
}

static inline double interpolated(const struct moving *moving, struct moving_order *order, double fraction)
{
    const uint64_t image = order->images[order->at];
    const uint64_t next = fraction > 0 ? order->images[member_from(order, order->at + 1)] : image;
    const enum type store = moving->values->store;
    if (moving->number)
        return quantile_of_floats(sort_key_number(store, image), sort_key_number(store, next), fraction);
    return quantile_of_ints(sort_key_integer(image), sort_key_integer(next), fraction);
}

void moving_order_block(struct moving_part *part, int64_t row, int count)
{
    struct moving *moving = part->moving;
    struct moving_order *order = part->order;
    int64_t integers[OPERATOR_BLOCK];
    const bool writes_integers = order->counts || moving->op->lower;
    double *numbers = moving->result && !writes_integers ? column_at(moving->result, row) : NULL;
    for (int i = 0; i < count; i++) {
        slide(moving, order, part->first[i], part->last[i]);
        moving_set_present(moving, row + i, order->members > 0);
        integers[i] = order->counts ? order->members : 0;
        if (numbers)
            numbers[i] = 0;
        if (order->counts || order->members == 0)
            continue;
        const struct quantile_place place = quantile_place(order->members, moving->op->share);
        move_to(order, place.lower);
        if (numbers)
            numbers[i] = interpolated(moving, order, place.fraction);
        else
            integers[i] = sort_key_integer(order->images[order->at]);
    }
    if (moving->result && writes_integers)
        operator_write_ints(moving->result, row, integers, count);
}
