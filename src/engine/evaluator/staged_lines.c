#include "engine/evaluator/staged_lines.h"

#include "base/nontemporal_copy.h"

#include <stdint.h>
#include <string.h>

void staged_lines_begin(struct staged_lines *staged, void *place)
{
    staged->begin = staged->end = (uintptr_t)place % STREAM_LINE;
    staged->line = (unsigned char *)place - staged->begin;
}

/* A strip is as many lines as it is rows of 4 bytes. */
static void stream(unsigned char *to, const unsigned char *from, size_t lines, const struct ahead *ahead)
{
    enum { STRIP_LINES = STRIP_ROWS * sizeof(int32_t) / STREAM_LINE };
    for (size_t done = 0; done < lines; done += STRIP_LINES) {
        const size_t some = lines - done < STRIP_LINES ? lines - done : STRIP_LINES;
        strip_end(ahead, (int)(done / STRIP_LINES) * STRIP_ROWS, STRIP_ROWS);
        stream_lines(to + done * STREAM_LINE, from + done * STREAM_LINE, some);
    }
}

void staged_lines_add(struct staged_lines *staged, size_t bytes, const struct ahead *ahead)
{
    staged->end += bytes;
    const size_t lines = staged->end / STREAM_LINE;
    if (lines == 0)
        return;
    const size_t partial = staged->begin > 0;
    if (partial)
        memcpy(staged->line + staged->begin, staged->buffer + staged->begin, STREAM_LINE - staged->begin);
    stream(staged->line + partial * STREAM_LINE, staged->buffer + partial * STREAM_LINE, lines - partial, ahead);
    memcpy(staged->buffer, staged->buffer + lines * STREAM_LINE, STREAM_LINE);
    staged->line += lines * STREAM_LINE;
    staged->begin = 0;
    staged->end %= STREAM_LINE;
}

void staged_lines_copy(struct staged_lines *staged, const void *from, size_t bytes, const struct ahead *ahead)
{
    if (staged->end > 0) {
        memcpy(staged->buffer + staged->end, from, bytes);
        staged_lines_add(staged, bytes, ahead);
        return;
    }
    const size_t lines = bytes / STREAM_LINE;
    stream(staged->line, from, lines, ahead);
    staged->line += lines * STREAM_LINE;
    staged->end = bytes % STREAM_LINE;
    memcpy(staged->buffer, (const unsigned char *)from + lines * STREAM_LINE, staged->end);
}

void staged_lines_end(struct staged_lines *staged)
{
    memcpy(staged->line + staged->begin, staged->buffer + staged->begin, staged->end - staged->begin);
    staged->begin = staged->end;
}
