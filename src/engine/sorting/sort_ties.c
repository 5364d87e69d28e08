#include "engine/sorting/sort_ties.h"

#include "base/integer.h"

#include "engine/sorting/sort_rows.h"

#include <stdlib.h>

enum {
    SAMPLE = 512, /* rows */
    MOST_EQUAL = SAMPLE / 16,
    FEW = 48 /* rows are inserted one by one */
};

bool sort_ties_few(const struct keys *keys, const uint64_t *list, int64_t rows)
{
    uint64_t sample[SAMPLE], codes[SAMPLE];
    if (rows < SAMPLE)
        return false;
    for (int i = 0; i < SAMPLE; i++) {
        const uint64_t row = (uint64_t)(rows / SAMPLE * i);
        sample[i] = list ? list[row] : row;
    }
    keys_read_at(keys, 0, sample, SAMPLE, codes);
    qsort(codes, SAMPLE, sizeof *codes, compare_uint64);
    int equal = 0;
    for (int i = 1; i < SAMPLE; i++)
        equal += codes[i] == codes[i - 1];
    return equal < MOST_EQUAL;
}

static bool sort_equal(const struct keys *keys, int64_t rows, int word, uint64_t *list, int64_t count);

/* Sorts each stretch of equal codes by the words from `word` on. */
static bool sort_stretches(const struct keys *keys, int64_t rows, int word, const uint64_t *codes, uint64_t *list,
                           int64_t count)
{
    bool done = true;
    for (int64_t begin = 0, end; begin < count && done; begin = end) {
        for (end = begin + 1; end < count && codes[end] == codes[begin];)
            end++;
        if (end - begin > 1)
            done = sort_equal(keys, rows, word, list + begin, end - begin);
    }
    return done;
}

/* Rows whose words before `word` are equal. */
static bool sort_equal(const struct keys *keys, int64_t rows, int word, uint64_t *list, int64_t count)
{
    static const struct workers alone = {.threads = 1};
    if (word == keys->words)
        return true;
    if (count > FEW)
        return order_listed(keys, rows, &alone, list, count) == STATUS_OK;
    uint64_t codes[FEW];
    keys_read_at(keys, word, list, (int)count, codes);
    for (int i = 1; i < count; i++) {
        const uint64_t code = codes[i], row = list[i];
        int at = i;
        for (; at > 0 && codes[at - 1] > code; at--) {
            codes[at] = codes[at - 1];
            list[at] = list[at - 1];
        }
        codes[at] = code;
        list[at] = row;
    }
    return sort_stretches(keys, rows, word + 1, codes, list, count);
}

bool sort_ties(const struct keys *keys, int64_t rows, const uint64_t *codes, uint64_t *list, int64_t count)
{
    return sort_stretches(keys, rows, 1, codes, list, count);
}
