/* Several keys as one: the rank of each row by them. */
#include "engine/operators/row_order.h"

#include "base/heap.h"

#include <stdlib.h>

/* For `count` rows in order whether their keys differ from those of the row before; the first is compared with none. */
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

static int64_t write_ranks(const struct keys *keys, const uint64_t *order, int64_t rows, int64_t *ranks)
{
    bool steps[KEY_BLOCK];
    int64_t rank = 0;
    ranks[order[0]] = 0;
    /* A block begins with the last row of the one before. */
    for (int64_t i = 0; i < rows - 1; i += KEY_BLOCK - 1) {
        int count = rows - i < KEY_BLOCK ? (int)(rows - i) : KEY_BLOCK;
        mark_steps(keys, order + i, count, steps);
        for (int k = 1; k < count; k++) {
            rank += steps[k];
            ranks[order[i + k]] = rank;
        }
    }
    return rank;
}

/* Gives each row the number of its keys among all different ones in their order, as a column whose range is known: one
 * key for many. Needs at least one row. The statuses of order_rows. */
static enum status rank_rows(const struct keys *keys, int64_t rows, const struct workers *workers,
                             struct column **ranks)
{
    size_t size = (size_t)rows * sizeof(uint64_t);
    uint64_t *order = pages_alloc(size);
    *ranks = column_reserve(TYPE_I64, TYPE_I64, rows);
    enum status status = order && *ranks ? order_rows(keys, rows, workers, order) : STATUS_FAILED;
    if (status == STATUS_OK) {
        (*ranks)->hi = write_ranks(keys, order, rows, column_at(*ranks, 0));
        (*ranks)->range_known = true;
        column_finish(*ranks, rows);
    }
    pages_free(order, size);
    return status;
}

enum status one_word_init(struct one_word *word, const struct column **columns, size_t count, int64_t rows,
                          const struct workers *workers)
{
    *word = (struct one_word){.at = heap_array(count, sizeof *word->at)};
    for (size_t i = 0; i < count; i++)
        word->at[i].column = columns[i];
    if (!keys_init(&word->keys, word->at, count, rows, workers))
        return STATUS_CANCELLED;
    word->by = &word->keys;
    if (word->keys.words == 1)
        return STATUS_OK;
    enum status status = rank_rows(&word->keys, rows, workers, &word->ranks);
    if (status != STATUS_OK)
        return status;
    word->ranked = true;
    word->rank.column = word->ranks;
    word->by = &word->rank_keys;
    return keys_init(&word->rank_keys, &word->rank, 1, rows, workers) ? STATUS_OK : STATUS_CANCELLED;
}

void one_word_free(struct one_word *word)
{
    keys_free(&word->keys);
    keys_free(&word->rank_keys);
    column_unref(word->ranks);
    free(word->at);
}
