/* An output written past the caches, block after block. Whole lines are stored; the part of a line at a block's end is
 * kept until the next block completes it, because storing part of a line would read the line first. */
#ifndef RQL_ENGINE_EVALUATOR_STAGED_LINES_H
#define RQL_ENGINE_EVALUATOR_STAGED_LINES_H

#include "engine/vector/ahead.h"

/* `buffer` stands for the output from its line `line` on. Its bytes `begin` .. `end`-1 are staged. */
struct staged_lines {
    unsigned char *buffer; /* aligned to lines; has room for a block of an output and two lines */
    unsigned char *line;
    size_t begin, end;
};

/* Continues at `place`. */
void staged_lines_begin(struct staged_lines *staged, void *place);

/* The place to stage the next rows at; it has room for a block. */
static inline void *staged_lines_room(const struct staged_lines *staged)
{
    return staged->buffer + staged->end;
}

/* Adds `bytes` that were written there, or those at `from`, and prefetches `ahead` meanwhile. */
void staged_lines_add(struct staged_lines *staged, size_t bytes, const struct ahead *ahead);
void staged_lines_copy(struct staged_lines *staged, const void *from, size_t bytes, const struct ahead *ahead);

/* Writes the rest. Before other threads read the output, stream_fence has to be called. */
void staged_lines_end(struct staged_lines *staged);

#endif
