#include "engine/text/table.h"

#include "base/heap.h"
#include "engine/text/scan.h"

#include <stdlib.h>
#include <string.h>

#ifndef TEXT_CHUNK_BYTES
#define TEXT_CHUNK_BYTES (1 << 20) /* the fuzzers cut small files, too */
#endif

enum { CHUNK_BYTES = TEXT_CHUNK_BYTES, BLOCK = 255 };

/* Newlines of a chunk, by the parity of quotes before them in the chunk, and the first of either. */
struct count {
    int64_t newlines[2];
    const char *first[2];
    bool odd; /* the number of quotes is odd */
};

struct counting {
    const struct table *table;
    struct count *counts;
    int64_t chunks;
};

static const char *chunk_begin(const struct table *table, int64_t chunk)
{
    int64_t at = chunk * CHUNK_BYTES;
    return at < table->end - table->begin ? table->begin + at : table->end;
}

/* Byte sums, so that the loop vectorises to a vector of bytes. */
static void count_block(const char *at, size_t length, int64_t *newlines, int64_t *quotes)
{
    uint8_t n = 0, q = 0;
    for (size_t i = 0; i < length; i++) {
        n = (uint8_t)(n + (at[i] == '\n'));
        q = (uint8_t)(q + (at[i] == '"'));
    }
    *newlines += n;
    *quotes += q;
}

/* Bit k of the result: byte k of the word is 0. The high bits of the bytes are gathered by a multiplication whose
 * partial products do not overlap. */
static inline uint64_t mask_of_zeroes(uint64_t word)
{
    return ((zero_bytes(word) >> 7) * UINT64_C(0x0102040810204080)) >> 56;
}

/* The places of a character among 64. */
static inline uint64_t places_of(const char *at, char c)
{
    const uint64_t all = repeat_character(c);
    uint64_t places = 0;
    for (int i = 0; i < 8; i++)
        places |= mask_of_zeroes(load_word(at + 8 * i) ^ all) << (8 * i);
    return places;
}

/* Bit k of the result: an odd number of the bits 0..k is set. */
static inline uint64_t parities(uint64_t bits)
{
    for (int shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

static void count_newlines(struct count *count, uint64_t newlines, bool odd, const char *at)
{
    if (newlines && count->newlines[odd] == 0)
        count->first[odd] = at + __builtin_ctzll(newlines);
    count->newlines[odd] += __builtin_popcountll(newlines);
}

static void count_with_quotes(const char *at, const char *end, struct count *count)
{
    *count = (struct count){0};
    for (; at < end; at += 64) {
        char tail[64] = {0};
        const char *block = end - at < 64 ? memcpy(tail, at, (size_t)(end - at)) : at;
        uint64_t newlines = places_of(block, '\n');
        uint64_t odd = parities(places_of(block, '"')) ^ (count->odd ? UINT64_MAX : 0);
        count_newlines(count, newlines & odd, true, at);
        count_newlines(count, newlines & ~odd, false, at);
        count->odd = odd >> 63;
    }
}

static void count_chunk(void *context, int member, int64_t part)
{
    (void)member;
    const struct counting *counting = context;
    const char *begin = chunk_begin(counting->table, part), *end = chunk_begin(counting->table, part + 1);
    struct count *count = &counting->counts[part];
    int64_t quotes = 0;
    for (const char *at = begin; at < end; at += BLOCK)
        count_block(at, end - at < BLOCK ? (size_t)(end - at) : BLOCK, &count->newlines[0], &quotes);
    if (quotes > 0 && counting->table->dialect->quotes)
        count_with_quotes(begin, end, count);
    else if (count->newlines[0] > 0)
        count->first[0] = memchr(begin, '\n', (size_t)(end - begin));
}

/* Assigns each chunk the records that begin in it, now that the quotes before it are counted. */
static void place_chunks(struct table *table, const struct count *counts)
{
    int64_t newlines = 0;
    bool inside = false;
    for (int64_t i = 0; i < table->chunk_count; i++) {
        struct chunk *chunk = &table->chunks[i];
        const char *first = counts[i].first[inside];
        if (i == 0)
            *chunk = (struct chunk){.begin = table->begin};
        else
            *chunk = (struct chunk){.begin = first ? first + 1 : NULL, .first_row = newlines + 1};
        newlines += counts[i].newlines[inside];
        inside = inside != counts[i].odd;
    }
    bool open = table->begin < table->end && (inside || table->end[-1] != '\n'); /* the last record has no newline */
    table->rows = newlines + open;
    const char *end = table->end;
    int64_t rows = table->rows;
    for (int64_t i = table->chunk_count; i-- > 0;) {
        struct chunk *chunk = &table->chunks[i];
        if (!chunk->begin) { /* no record begins here */
            chunk->begin = end;
            chunk->first_row = rows;
        }
        chunk->end = end;
        chunk->rows = rows - chunk->first_row;
        end = chunk->begin;
        rows = chunk->first_row;
    }
}

bool table_cut(struct table *table, const struct workers *workers)
{
    table->chunk_count = (table->end - table->begin + CHUNK_BYTES - 1) / CHUNK_BYTES;
    table->chunks = heap_array((size_t)table->chunk_count, sizeof *table->chunks);
    struct counting counting = {.table = table};
    counting.counts = heap_array((size_t)table->chunk_count, sizeof *counting.counts);
    bool done = workers_run(workers, table->chunk_count, count_chunk, &counting);
    if (done)
        place_chunks(table, counting.counts);
    free(counting.counts);
    return done;
}

void table_free_chunks(struct table *table)
{
    free(table->chunks);
    table->chunks = NULL;
    table->chunk_count = 0;
}
