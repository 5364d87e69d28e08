#include "engine/evaluator/fold_streams.h"

#include "engine/vector/ahead.h"

enum { SECOND_LEVEL = 2 }; /* the cache */

void fold_streams(fold_fn *fold, struct agg_state *state, const void *elements, size_t size, int count)
{
    const unsigned char *from = elements;
    const int rows = FOLD_STRIP_BYTES / (int)size, run = count / FOLD_STREAMS / rows * rows;
    for (int row = 0; row < run; row += rows) {
        for (int stream = 0; stream < FOLD_STREAMS; stream++) {
            const unsigned char *strip = from + (size_t)(stream * run + row) * size;
            for (int byte = 0; byte < FOLD_STRIP_BYTES; byte += CACHE_LINE)
                __builtin_prefetch(strip + FOLD_STRIP_BYTES + byte, 0, SECOND_LEVEL);
            fold(state, strip, rows);
        }
    }
    const int done = FOLD_STREAMS * run;
    if (count > done)
        fold(state, from + (size_t)done * size, count - done);
}
