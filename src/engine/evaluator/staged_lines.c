#include "engine/evaluator/staged_lines.h"

#include "base/nontemporal_copy.h"

#include <stdint.h>
#include <string.h>

void staged_lines_begin(struct staged_lines *staged, void *place)
{
    staged->begin = staged->end = (uintptr_t)place % STREAM_LINE;
    staged->line = (unsigned char *)place - staged->begin;
}

void staged_lines_add(struct staged_lines *staged, size_t bytes)
{
    staged->end += bytes;
    const size_t lines = staged->end / STREAM_LINE;
    if (lines == 0)
        return;
    const size_t partial = staged->begin > 0;
    if (partial)
        memcpy(staged->line + staged->begin, staged->buffer + staged->begin, STREAM_LINE - staged->begin);
    stream_lines(staged->line + partial * STREAM_LINE, staged->buffer + partial * STREAM_LINE, lines - partial);
    memcpy(staged->buffer, staged->buffer + lines * STREAM_LINE, STREAM_LINE);
    staged->line += lines * STREAM_LINE;
    staged->begin = 0;
    staged->end %= STREAM_LINE;
}

void staged_lines_copy(struct staged_lines *staged, const void *from, size_t bytes)
{
    if (staged->end > 0) {
        memcpy(staged->buffer + staged->end, from, bytes);
        staged_lines_add(staged, bytes);
        return;
    }
    const size_t lines = bytes / STREAM_LINE;
    stream_lines(staged->line, from, lines);
    staged->line += lines * STREAM_LINE;
    staged->end = bytes % STREAM_LINE;
    memcpy(staged->buffer, (const unsigned char *)from + lines * STREAM_LINE, staged->end);
}

void staged_lines_end(struct staged_lines *staged)
{
    memcpy(staged->line + staged->begin, staged->buffer + staged->begin, staged->end - staged->begin);
    staged->begin = staged->end;
}
