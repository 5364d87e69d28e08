#include "engine/operators/maxima.h"

#include "base/integer.h"
#include "base/zeroed.h"
#include "engine/vector/elements.h"

static int64_t blocks_of(int64_t count)
{
    return (count + (1 << MAXIMA_BITS) - 1) >> MAXIMA_BITS;
}

/* The greatest of each 16 of `count` elements. */
static void set_level(const int64_t *elements, int64_t count, int64_t *level)
{
    for (int64_t block = 0; block < blocks_of(count); block++) {
        const int64_t end = min_int64((block + 1) << MAXIMA_BITS, count);
        level[block] = INT64_MIN;
        for (int64_t i = block << MAXIMA_BITS; i < end; i++)
            level[block] = max_int64(level[block], elements[i]);
    }
}

bool maxima_init(struct maxima *maxima, const struct column *elements)
{
    int64_t total = 0, counts[MAXIMA_LEVELS];
    *maxima = (struct maxima){.levels = 0};
    for (int64_t count = elements->rows; maxima->levels < MAXIMA_LEVELS; count = blocks_of(count)) {
        counts[maxima->levels++] = count;
        total += count;
        if (count <= 1 << MAXIMA_BITS)
            break;
    }
    maxima->bytes = (size_t)(total + 1) * sizeof(int64_t);
    maxima->at[0] = zeroed_alloc(maxima->bytes);
    if (!maxima->at[0])
        return false;
    for (int64_t at = 0; at < elements->rows; at += OPERATOR_BLOCK)
        operator_values(elements, at, (int)min_int64(elements->rows - at, OPERATOR_BLOCK), &maxima->at[0][at]);
    for (int k = 1; k < maxima->levels; k++) {
        maxima->at[k] = maxima->at[k - 1] + counts[k - 1];
        set_level(maxima->at[k - 1], counts[k - 1], maxima->at[k]);
    }
    return true;
}

void maxima_release(struct maxima *maxima)
{
    zeroed_free(maxima->at[0], maxima->bytes);
}

int64_t maxima_next(const struct maxima *maxima, int64_t begin, int64_t end, int64_t least)
{
    int64_t at = begin; /* where a block of this level begins */
    int level = 0;
    while (at < end) {
        const int shift = level * MAXIMA_BITS;
        if (maxima->at[level][at >> shift] >= least) {
            if (level == 0)
                return at;
            level--;
            continue;
        }
        at += INT64_C(1) << shift;
        while (level + 1 < maxima->levels && (at & ((INT64_C(1) << (level + 1) * MAXIMA_BITS) - 1)) == 0)
            level++;
    }
    return end;
}
