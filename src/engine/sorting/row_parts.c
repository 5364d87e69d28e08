#include "engine/sorting/row_parts.h"

#include "base/buffer_pool.h"
#include "base/heap.h"
#include "base/zeroed.h"
#include "engine/sorting/sort_level.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LEAST_BYTES = 2 << 20, /* less is not worth dividing */
    SHARE = 4,             /* of what memory has room for, for a part */
    MOST_PARTS = 256,
    BUFFERS_SHARE = 8, /* of that room, for the buffers of all threads */
    LEAST_BUFFER = KEY_BLOCK,
    MOST_BUFFER = 1 << 15, /* rows: 256 KB of a column of 8 bytes */
    LEAST_ROWS = 1 << 16,  /* of a thread's piece */
    WORD_BITS = 64
};

/* A piece of the rows is moved by one thread, from buffers of each part and column. */
struct moving {
    struct row_parts *parts;
    const struct part_codes *codes;
    const struct workers *workers;
    const struct sort_level *level;
    struct parts pieces;
    int64_t *places;   /* of each piece and part: rows there, then where the next one goes */
    uint32_t capacity; /* rows of a buffer before it is moved; there is room for a block more */
    size_t buffers_bytes;
    char **buffers; /* of each thread */
    _Atomic bool failed;
};

static int leading_bits(const struct keys *keys)
{
    const int bits = keys->word_bits[0] + (keys->words > 1 ? keys->word_bits[1] : 0);
    return bits < WORD_BITS ? bits : WORD_BITS;
}

bool row_parts_pay(const struct keys *keys, int64_t rows, int64_t row_bytes, struct buffer_pool *pool)
{
    int64_t bytes;
    if (!pool || keys->words == 0 || leading_bits(keys) == 0 || __builtin_mul_overflow(rows, row_bytes, &bytes) ||
        bytes <= LEAST_BYTES)
        return false;
    return !buffer_pool_has(pool, bytes) && buffer_pool_takes(pool, bytes);
}

static int64_t part_bytes(struct buffer_pool *pool)
{
    const int64_t share = buffer_pool_room(pool) / SHARE;
    return share > LEAST_BYTES ? share : LEAST_BYTES;
}

static int64_t count_parts(struct buffer_pool *pool, int64_t bytes)
{
    const int64_t each = part_bytes(pool);
    int64_t count = 2;
    while (count < MOST_PARTS && bytes / count > each)
        count *= 2;
    return count;
}

/* The topmost 64 bits of keys. */
static void read_leading(const void *context, int64_t row, int count, uint64_t *codes)
{
    const struct keys *keys = context;
    const int bits = keys->word_bits[0];
    uint64_t rest[KEY_BLOCK];
    keys_read(keys, 0, row, count, codes);
    if (keys->words == 1 || bits == WORD_BITS)
        return;
    const int more = bits + keys->word_bits[1] - WORD_BITS; /* than fit: two words have more than 64 */
    keys_read(keys, 1, row, count, rest);
    for (int i = 0; i < count; i++)
        codes[i] = codes[i] << (WORD_BITS - bits) | rest[i] >> more;
}

static void read_elements(void *context, int64_t row, int count, void *elements)
{
    const struct part_codes *codes = context;
    codes->read(codes->context, row, count, elements);
}

static void number_block(const struct moving *moving, int64_t row, int count, uint32_t *numbers)
{
    uint64_t codes[KEY_BLOCK];
    moving->codes->read(moving->codes->context, row, count, codes);
    moving->level->divide(&moving->parts->by, (uint32_t)moving->parts->count, codes, sizeof *codes, count, numbers);
}

/* ---- counting ---- */

static void count_piece(void *context, struct part piece)
{
    struct moving *moving = context;
    int64_t *counts = moving->places + piece.number * moving->parts->count;
    uint32_t numbers[KEY_BLOCK];
    for (int64_t row = piece.begin; row < piece.end && !workers_cancelled(moving->workers); row += KEY_BLOCK) {
        const int count = piece.end - row < KEY_BLOCK ? (int)(piece.end - row) : KEY_BLOCK;
        number_block(moving, row, count, numbers);
        for (int i = 0; i < count; i++)
            counts[numbers[i]]++;
    }
}

/* Makes places of counts; returns the rows of the largest part. */
static int64_t set_places(struct moving *moving)
{
    struct row_parts *parts = moving->parts;
    int64_t at = 0, largest = 0;
    for (int64_t part = 0; part < parts->count; part++) {
        parts->begins[part] = at;
        for (int64_t piece = 0; piece < moving->pieces.count; piece++) {
            int64_t *place = &moving->places[piece * parts->count + part];
            const int64_t rows = *place;
            *place = at;
            at += rows;
        }
        largest = at - parts->begins[part] > largest ? at - parts->begins[part] : largest;
    }
    parts->begins[parts->count] = at;
    return largest;
}

/* Sets the places where each piece's rows of each part go; returns whether all rows are in one. */
static enum status count_parted(struct moving *moving, int64_t rows, bool *together)
{
    const size_t counts = (size_t)(moving->pieces.count * moving->parts->count);
    memset(moving->places, 0, counts * sizeof *moving->places);
    if (!workers_run_parts(moving->workers, &moving->pieces, count_piece, moving) || workers_cancelled(moving->workers))
        return STATUS_CANCELLED;
    *together = set_places(moving) == rows;
    return STATUS_OK;
}

/* Parts as even as a sample says; in two or more where its distribution would leave all rows in one. */
static enum status count_rows(struct moving *moving, int64_t rows)
{
    struct sort_positions *by = &moving->parts->by;
    const struct radix radix = {.workers = moving->workers,
                                .rows = rows,
                                .width = sizeof(uint64_t),
                                .bits = moving->codes->bits,
                                .read = read_elements,
                                .context = (void *)moving->codes};
    enum status status = STATUS_OK;
    bool together = true;
    for (int sampled = 1; sampled >= 0 && together && status == STATUS_OK; sampled--) {
        sort_positions_free(by);
        *by = sort_positions_between(&radix, 0, UINT64_MAX >> (WORD_BITS - radix.bits));
        if (sampled)
            sort_positions_sample(by, &radix, NULL, rows, __builtin_ctzll((uint64_t)moving->parts->count));
        status = count_parted(moving, rows, &together);
    }
    return status;
}

/* ---- moving ---- */

static size_t size_of(const struct parted_column *column)
{
    return type_table[column->from->store].size;
}

/* Rows between the buffers of parts. */
static size_t buffer_rows(const struct moving *moving)
{
    return moving->capacity + KEY_BLOCK;
}

/* Inlined once for each size. */
static inline __attribute__((always_inline)) void spread_as(const char *from, const uint32_t *slots, int count,
                                                            char *buffer, size_t size)
{
    for (int i = 0; i < count; i++)
        memcpy(buffer + (size_t)slots[i] * size, from + (size_t)i * size, size);
}

/* Numbers of rows, as the elements of that size. */
static const void *number_rows(int64_t row, int count, size_t size, uint64_t *numbers)
{
    for (int i = 0; i < count; i++) {
        if (size == sizeof(uint32_t))
            ((uint32_t *)numbers)[i] = (uint32_t)(row + i);
        else
            numbers[i] = (uint64_t)(row + i);
    }
    return numbers;
}

static void spread(const struct parted_column *column, int64_t row, const uint32_t *slots, int count, char *buffer)
{
    const size_t size = size_of(column);
    const char *from = (const char *)column->from->data + (size_t)row * size;
    uint64_t numbers[KEY_BLOCK];
    if (!column->from->data)
        from = number_rows(row, count, size, numbers);
    switch (size) {
    case 1:
        spread_as(from, slots, count, buffer, 1);
        break;
    case 2:
        spread_as(from, slots, count, buffer, 2);
        break;
    case 4:
        spread_as(from, slots, count, buffer, 4);
        break;
    default:
        spread_as(from, slots, count, buffer, 8);
    }
}

/* Moves what is in the buffers of a part to its place. */
static void flush(const struct moving *moving, int64_t part, char *buffer, int64_t *place, uint32_t *used)
{
    const struct row_parts *parts = moving->parts;
    const size_t rows = buffer_rows(moving);
    for (size_t k = 0; k < parts->column_count; k++) {
        struct parted_column *column = &parts->columns[k];
        const size_t size = size_of(column);
        buffer_pool_write(moving->workers->pool, column_at(column->to, *place), buffer + (size_t)part * rows * size,
                          *used * size);
        buffer += rows * (size_t)parts->count * size;
    }
    *place += *used;
    *used = 0;
}

static void move_piece(void *context, struct part piece)
{
    struct moving *moving = context;
    const struct row_parts *parts = moving->parts;
    const size_t rows = buffer_rows(moving);
    uint32_t used[MOST_PARTS] = {0}, numbers[KEY_BLOCK];
    int64_t *places = moving->places + piece.number * parts->count;
    char **own = &moving->buffers[piece.member];
    if (!*own)
        *own = zeroed_alloc(moving->buffers_bytes);
    if (!*own)
        moving->failed = true;
    for (int64_t row = piece.begin; row < piece.end && !moving->failed && !workers_cancelled(moving->workers);
         row += KEY_BLOCK) {
        const int count = piece.end - row < KEY_BLOCK ? (int)(piece.end - row) : KEY_BLOCK;
        number_block(moving, row, count, numbers);
        for (int i = 0; i < count; i++)
            numbers[i] = (uint32_t)(numbers[i] * rows) + used[numbers[i]]++;
        char *buffer = *own;
        for (size_t k = 0; k < parts->column_count; k++) {
            spread(&parts->columns[k], row, numbers, count, buffer);
            buffer += rows * (size_t)parts->count * size_of(&parts->columns[k]);
        }
        for (int64_t part = 0; part < parts->count; part++) {
            if (used[part] >= moving->capacity || row + count == piece.end)
                flush(moving, part, *own, &places[part], &used[part]);
        }
    }
}

static enum status move_rows(struct moving *moving, int64_t rows)
{
    struct row_parts *parts = moving->parts;
    const struct workers *workers = moving->workers;
    int64_t row_bytes = 0;
    for (size_t k = 0; k < parts->column_count; k++) {
        struct parted_column *column = &parts->columns[k];
        row_bytes += (int64_t)size_of(column);
        column->to = column_reserve_spilled(workers->pool, column->from, rows);
        if (!column->to)
            return STATUS_FAILED;
    }
    const int64_t room = buffer_pool_room(workers->pool) / BUFFERS_SHARE;
    const int64_t fit = room / (row_bytes * parts->count * workers->threads) - KEY_BLOCK;
    moving->capacity = (uint32_t)(fit < LEAST_BUFFER ? LEAST_BUFFER : fit > MOST_BUFFER ? MOST_BUFFER : fit);
    moving->buffers_bytes = (size_t)row_bytes * (size_t)parts->count * buffer_rows(moving);
    moving->buffers = heap_array((size_t)workers->threads, sizeof *moving->buffers);
    const bool done = workers_run_parts(workers, &moving->pieces, move_piece, moving) && !workers_cancelled(workers);
    for (int i = 0; i < workers->threads; i++) {
        if (moving->buffers[i])
            zeroed_free(moving->buffers[i], moving->buffers_bytes);
    }
    free(moving->buffers);
    for (size_t k = 0; k < parts->column_count; k++)
        parts->columns[k].to->rows = rows;
    return !done ? STATUS_CANCELLED : moving->failed ? STATUS_FAILED : STATUS_OK;
}

static struct parted_column *find_column(const struct row_parts *parts, const struct column *from)
{
    for (size_t k = 0; k < parts->column_count; k++) {
        if (parts->columns[k].from == from)
            return &parts->columns[k];
    }
    return NULL;
}

enum status row_parts_make_by(struct row_parts *parts, const struct part_codes *codes, const struct row_parts *like,
                              int64_t rows, int64_t row_bytes, const struct workers *workers,
                              const struct column *const *columns, size_t count, bool numbered)
{
    *parts = (struct row_parts){.columns = heap_array(count + 1, sizeof *parts->columns),
                                .count = like ? like->count : count_parts(workers->pool, rows * row_bytes)};
    parts->begins = heap_array((size_t)parts->count + 1, sizeof *parts->begins);
    for (size_t k = 0; k < count; k++) {
        if (columns[k] && !find_column(parts, columns[k]))
            parts->columns[parts->column_count++].from = columns[k];
    }
    const enum type number = rows <= UINT32_MAX ? TYPE_U32 : TYPE_I64;
    parts->numbers = (struct column){.type = number, .store = number, .rows = rows};
    if (numbered)
        parts->columns[parts->column_count++].from = &parts->numbers;
    struct moving moving = {.parts = parts, .codes = codes, .workers = workers, .level = sort_level_at(0)};
    moving.pieces = partition_rows(workers, rows, LEAST_ROWS);
    moving.places = heap_array((size_t)(moving.pieces.count * parts->count) + 1, sizeof *moving.places);
    bool together;
    if (like)
        sort_positions_copy(&parts->by, &like->by);
    enum status status = like ? count_parted(&moving, rows, &together) : count_rows(&moving, rows);
    if (status == STATUS_OK)
        status = move_rows(&moving, rows);
    free(moving.places);
    return status;
}

enum status row_parts_make(struct row_parts *parts, const struct keys *keys, int64_t rows, int64_t row_bytes,
                           const struct workers *workers, const struct column *const *columns, size_t count,
                           bool numbered)
{
    const struct part_codes codes = {.read = read_leading, .context = keys, .bits = leading_bits(keys)};
    const enum status status =
        row_parts_make_by(parts, &codes, NULL, rows, row_bytes, workers, columns, count, numbered);
    parts->keys = keys;
    return status;
}

/* ---- reading ---- */

static bool is_key(const struct keys *keys, const struct column *column)
{
    bool found = false;
    for (size_t i = 0; keys && i < keys->count; i++)
        found = found || keys->at[i].column == column;
    return found;
}

/* Gives back whole pages before a row. */
static void drop_before(struct parted_column *column, int64_t row)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), done = (size_t)row * size_of(column) / page * page;
    if (done > column->dropped)
        buffer_pool_release(column->to->pool, (char *)column_at(column->to, 0) + column->dropped,
                            done - column->dropped);
    column->dropped = done;
}

int64_t row_parts_open(struct row_parts *parts, int64_t part)
{
    const int64_t begin = parts->begins[part], rows = parts->begins[part + 1] - begin;
    for (size_t k = 0; k < parts->column_count; k++) {
        struct parted_column *column = &parts->columns[k];
        const struct column *to = column->to;
        drop_before(column, begin);
        column->view = (struct column){.logical = column->from->logical,
                                       .type = to->type,
                                       .store = to->store,
                                       .rows = rows,
                                       .data = (const char *)to->data + (size_t)begin * size_of(column),
                                       .range_known = to->range_known && !is_key(parts->keys, column->from),
                                       .lo = to->lo,
                                       .hi = to->hi,
                                       .refs = 1};
    }
    return rows;
}

struct workers row_parts_workers(const struct row_parts *parts, int64_t part, const struct workers *workers)
{
    struct workers quiet = *workers;
    struct progress_step advance = workers->whole;
    const int64_t rows = parts->begins[parts->count];
    advance.part = rows > 0 ? (double)parts->begins[part] / (double)rows : 0;
    progress_report(workers->progress, &advance);
    quiet.progress = NULL;
    return quiet;
}

struct column *row_parts_column(const struct row_parts *parts, const struct column *from)
{
    struct parted_column *column = find_column(parts, from);
    return column ? &column->view : NULL;
}

void row_parts_free(struct row_parts *parts)
{
    for (size_t k = 0; k < parts->column_count; k++) {
        struct parted_column *column = &parts->columns[k];
        if (column->to) {
            column->to->data = (const char *)column->to->data + column->dropped;
            column->to->reserved -= column->dropped;
        }
        column_unref(column->to);
    }
    sort_positions_free(&parts->by);
    free(parts->columns);
    free(parts->begins);
}
