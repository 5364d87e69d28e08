/* Prefetching in the course of a loop what is read later. */
#ifndef RQL_ENGINE_VECTOR_AHEAD_H
#define RQL_ENGINE_VECTOR_AHEAD_H

#include <stddef.h>

/* A few lines with each strip of rows: the loads and stores of a loop go on beside some lines that are fetched, but
 * wait for many. */
struct ahead {
    const char *at;
    int lines; /* with each strip; 0: none */
};

enum { STRIP_ROWS = 512, CACHE_LINE = 64 };

/* Prefetches the lines of the strip that begins at row `begin` of `count`; returns its end. */
static inline int strip_end(const struct ahead *ahead, int begin, int count)
{
    enum {
        SECOND_LEVEL = 2
    }; /* the second-level cache, where prefetched lines displace nothing that the block computes on */
    const size_t done = (size_t)(begin / STRIP_ROWS) * (size_t)ahead->lines;
    for (int i = 0; i < ahead->lines; i++)
        __builtin_prefetch(ahead->at + (done + (size_t)i) * CACHE_LINE, 0, SECOND_LEVEL);
    return count - begin < STRIP_ROWS ? count : begin + STRIP_ROWS;
}

#endif
