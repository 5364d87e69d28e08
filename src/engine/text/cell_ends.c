/* Bit parities tell whether a delimiter or newline is within quotes, as in Langdale and Lemire, "Parsing gigabytes of
 * JSON per second" (2019). */
#include "engine/text/pass.h"

#include "base/cpu_dispatch.h"
#include "base/heap.h"
#include "engine/text/places.h"

enum { AT_ONCE = 8 };

/* The places of 64 characters that end a cell if they are not within quotes, and of quotes. */
struct marks {
    uint64_t ends, quotes;
};

/* What is known of the block before. */
struct before {
    uint64_t inside;    /* all bits: its last character is within quotes */
    bool ended, closed; /* its last character ends a cell; closes quotes */
};

/* Removes ends within quotes. Returns the places of quotes that do not surround a whole cell, or behind them. */
static inline uint64_t apply_quotes(struct marks *marks, struct before *before)
{
    const uint64_t inside = parities(marks->quotes) ^ before->inside;
    const uint64_t opening = marks->quotes & inside, closing = marks->quotes & ~inside;
    const uint64_t ends = marks->ends & ~inside;
    /* A quote opens behind the end of a cell; quotes within are doubled, so they close and open. */
    uint64_t odd = opening & ~((ends | closing) << 1 | (before->ended || before->closed));
    odd |= (closing << 1 | before->closed) & ~(ends | opening);
    *before = (struct before){.inside = 0 - (inside >> 63), .ended = ends >> 63, .closed = closing >> 63};
    marks->ends = ends;
    return odd;
}

/* Whether behind each of these quotes is the end of a line with a \r, or of the text. */
static bool are_before_line_ends(const char *text, size_t at, size_t length, uint64_t odd)
{
    for (; odd; odd &= odd - 1) {
        const size_t next = at + (size_t)__builtin_ctzll(odd);
        if (next < length && (text[next] != '\r' || (next + 1 < length && text[next + 1] != '\n')))
            return false;
    }
    return true;
}

/* Writes the places, and up to a block of anything behind them; returns how many there are. Without a branch for each:
 * their number is not predictable. */
static inline size_t list_places(uint64_t places, uint32_t at, uint32_t *list)
{
    const size_t count = (size_t)__builtin_popcountll(places);
    for (size_t done = 0; done < count; done += AT_ONCE) {
        for (size_t i = 0; i < AT_ONCE; i++) {
            list[done + i] = at + (uint32_t)__builtin_ctzll(places | (uint64_t)1 << 63);
            places &= places - 1;
        }
    }
    return count;
}

/* Returns how many ends there are; more than `most`: at least so many, or quotes are odd. */
CPU_CLONES static size_t list_ends(const char *text, size_t length, const struct dialect *dialect, size_t most,
                                   uint32_t *list)
{
    uint64_t newlines[PLACES_BLOCKS], delimiters[PLACES_BLOCKS], quotes[PLACES_BLOCKS] = {0};
    struct before before = {.ended = true};
    size_t count = 0;
    for (size_t begin = 0; begin < length; begin += PLACES_BYTES) {
        const size_t blocks = places_find(text + begin, length - begin, '\n', newlines);
        places_find(text + begin, length - begin, dialect->delimiter, delimiters);
        if (dialect->quotes)
            places_find(text + begin, length - begin, '"', quotes);
        for (size_t b = 0; b < blocks; b++) {
            const size_t at = begin + b * PLACES_BLOCK;
            struct marks marks = {newlines[b] | delimiters[b], quotes[b]};
            const uint64_t odd = apply_quotes(&marks, &before);
            if (count > most || (odd && !are_before_line_ends(text, at, length, odd)))
                return most + 1;
            count += list_places(marks.ends, (uint32_t)at, list + count);
        }
    }
    return before.inside ? most + 1 : count;
}

bool cell_ends_find(const struct table *table, const struct chunk *chunk, struct cell_ends *ends)
{
    const size_t length = (size_t)(chunk->end - chunk->begin), rows = (size_t)chunk->rows;
    /* A character at least belongs to each cell, but to the last. */
    if (length == 0 || length >= UINT32_MAX || rows == 0 || (length + 1) / rows < table->count)
        return false;
    const size_t count = rows * table->count;
    if (ends->capacity < 1 + count + PLACES_BLOCK) {
        ends->capacity = 1 + count + PLACES_BLOCK;
        ends->at = heap_resize(ends->at, ends->capacity, sizeof *ends->at);
    }
    uint32_t *list = ends->at;
    *list++ = UINT32_MAX;
    size_t found = list_ends(chunk->begin, length, table->dialect, count, list);
    if (found + 1 == count && chunk->begin[length - 1] != '\n') /* the last record of a file */
        list[found++] = (uint32_t)length;
    if (found != count)
        return false;
    /* There are as many newlines as rows, so where each ends a row, all other ends are delimiters. */
    for (size_t i = table->count - 1; i < count; i += table->count) {
        if (list[i] < length && chunk->begin[list[i]] != '\n')
            return false;
    }
    return true;
}
