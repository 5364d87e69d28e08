/* Cutting a text into chunks of whole records, which threads parse independently.
 *
 * One pass counts newlines and quotes, which gives the first record and row of each chunk; a second lists where the
 * cells of a chunk end. A chunk whose records have unequally many cells, or quotes within cells, is parsed record by
 * record, as JSON is. If that fails, or some lines are no rows, the text is cut once more, by its cells on one
 * thread. */
#include "engine/text/table.h"

#include "base/cpu_dispatch.h"
#include "base/heap.h"
#include "engine/text/places.h"
#include "engine/text/records.h"

#include <stdlib.h>
#include <string.h>

#ifndef TEXT_CHUNK_BYTES
#define TEXT_CHUNK_BYTES (1 << 20) /* the fuzzers cut small files, too */
#endif

enum { CHUNK_BYTES = TEXT_CHUNK_BYTES };

/* Newlines of a chunk, by the parity of quotes before them in the chunk, and the first of either. */
struct count {
    int64_t newlines[2];
    const char *first[2];
    bool odd;      /* the number of quotes is odd */
    bool blank[2]; /* a newline is next to another, but for a character such as \r */
};

struct counting {
    const struct table *table;
    struct count *counts;
    int64_t chunks;
};

static const char *chunk_begin(const struct table *table, int64_t chunk)
{
    const int64_t at = chunk * CHUNK_BYTES;
    return at < table->end - table->begin ? table->begin + at : table->end;
}

static inline void count_newlines(struct count *count, uint64_t newlines, bool odd, const char *at)
{
    if (newlines && count->newlines[odd] == 0)
        count->first[odd] = at + __builtin_ctzll(newlines);
    count->newlines[odd] += __builtin_popcountll(newlines);
}

/* `behind`: the newlines among the characters before, the last as the highest bit. */
CPU_CLONES static void count_lines(const char *at, const char *end, bool quotes, uint64_t behind, struct count *count)
{
    uint64_t newlines[PLACES_BLOCKS], marks[PLACES_BLOCKS], inside = 0, blank[2] = {0};
    for (; at < end; at += end - at < PLACES_BYTES ? end - at : PLACES_BYTES) {
        const size_t blocks = places_find(at, (size_t)(end - at), '\n', newlines);
        if (quotes)
            places_find(at, (size_t)(end - at), '"', marks);
        for (size_t b = 0; b < blocks; b++) {
            const uint64_t here = newlines[b], close = here & (here << 1 | here << 2 | behind >> 63 | behind >> 62);
            if (quotes)
                inside = parities(marks[b]) ^ (0 - (inside >> 63));
            count_newlines(count, here & inside, true, at + b * PLACES_BLOCK);
            count_newlines(count, here & ~inside, false, at + b * PLACES_BLOCK);
            blank[1] |= close & inside;
            blank[0] |= close & ~inside;
            behind = here;
        }
    }
    count->odd = inside >> 63;
    count->blank[0] = blank[0] != 0;
    count->blank[1] = blank[1] != 0;
}

static void count_chunk(void *context, int member, int64_t part)
{
    (void)member;
    const struct counting *counting = context;
    const struct table *table = counting->table;
    const char *at = chunk_begin(table, part), *end = chunk_begin(table, part + 1);
    if (table->dialect->json) { /* rows are counted when keys are looked for */
        counting->counts[part].first[0] = memchr(at, '\n', (size_t)(end - at));
        return;
    }
    uint64_t behind = (uint64_t)1 << 63; /* where the text begins, so does a line */
    if (part > 0)
        behind = (uint64_t)(at[-1] == '\n') << 63 | (uint64_t)(at[-2] == '\n') << 62;
    count_lines(at, end, table->dialect->quotes, behind, &counting->counts[part]);
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
        table->blank_lines = table->blank_lines || counts[i].blank[inside];
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

static void leave_out(struct chunk *chunk, const char *begin, const char *end)
{
    const size_t count = chunk->left_out_count;
    if (count > 0 && chunk->left_out[count - 1].end == begin) {
        chunk->left_out[count - 1].end = end;
        return;
    }
    chunk->left_out = heap_reserve(chunk->left_out, count, &chunk->left_out_capacity, sizeof *chunk->left_out);
    chunk->left_out[chunk->left_out_count++] = (struct left_out){begin, end};
}

/* A record in quotes may have several. */
static int64_t lines_of(const char *at, const char *end)
{
    int64_t lines = 1;
    for (; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        lines++;
    return lines;
}

/* Whether a record that ends at `end` is a row in spite of its errors; counts them. */
static bool is_row(struct table *table, const char *at, const char *end, size_t cells)
{
    const bool json = table->dialect->json;
    if (table->errors == ERRORS_TELL)
        return true;
    bool fits = json ? cells > 0 : table->ragged ? cells > 0 : cells == table->count;
    if (fits && table->errors == ERRORS_SKIP)
        fits = !record_has_errors(table, at, end + (table->values && end < table->end));
    if (!fits)
        table->faults += table->errors == ERRORS_SKIP && !json ? lines_of(at, end) : 1;
    if (!fits && !table->first_fault)
        table->first_fault = at;
    return fits || (table->errors == ERRORS_MISSING && !json);
}

/* Counts the rows of a chunk from its first on, and returns the end of the last, which may be behind the chunk. */
static const char *count_rows(struct table *table, const char *at, const char *end, struct chunk *chunk)
{
    while (at < end) {
        const char *begin = at, *next;
        size_t cells;
        const bool left_out = line_is_left_out(table, at);
        next = left_out ? line_end(table, at) : record_end(table, at, &cells);
        at = next < table->end ? next + 1 : table->end;
        table->blanks += left_out && !(table->comment && strncmp(begin, table->comment, strlen(table->comment)) == 0);
        if (left_out || !is_row(table, begin, next, cells))
            leave_out(chunk, begin, at);
        else
            chunk->rows++;
    }
    return at;
}

static void free_left_out(struct table *table)
{
    for (int64_t i = 0; i < table->chunk_count; i++)
        free(table->chunks[i].left_out);
}

void table_cut_by_cells(struct table *table)
{
    const char *at = table->begin;
    table->rows = table->blanks = table->faults = 0;
    free_left_out(table);
    for (int64_t i = 0; i < table->chunk_count; i++) {
        struct chunk *chunk = &table->chunks[i];
        *chunk = (struct chunk){.begin = at, .first_row = table->rows};
        at = count_rows(table, at, chunk_begin(table, i + 1), chunk);
        chunk->end = at;
        table->rows += chunk->rows;
    }
    table->cut_by_cells = true;
}

bool table_cut(struct table *table, const struct workers *workers)
{
    table->chunk_count = (table->end - table->begin + CHUNK_BYTES - 1) / CHUNK_BYTES;
    table->chunks = heap_array((size_t)table->chunk_count, sizeof *table->chunks);
    struct counting counting = {.table = table};
    counting.counts = heap_array((size_t)table->chunk_count, sizeof *counting.counts);
    const bool done = table->values || workers_run(workers, table->chunk_count, count_chunk, &counting);
    if (table->values)
        table_cut_by_cells(table);
    else if (done)
        place_chunks(table, counting.counts);
    free(counting.counts);
    return done;
}

void table_number_rows(struct table *table)
{
    table->rows = 0;
    for (int64_t i = 0; i < table->chunk_count; i++) {
        table->chunks[i].first_row = table->rows;
        table->rows += table->chunks[i].rows;
    }
}

void table_free_chunks(struct table *table)
{
    free_left_out(table);
    free(table->chunks);
    table->chunks = NULL;
    table->chunk_count = 0;
}
