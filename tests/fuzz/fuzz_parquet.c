/* libFuzzer target for Parquet: any bytes are read as columns, or refused with one error. Column memory and buffers
 * come from malloc, and what columns do not use is poisoned, so that the address sanitizer sees every access outside of
 * them. */
#include "fuzzed_file.h"

#include "base/buffer_pool.h"
#include "base/memory_size.h"
#include "base/spill_area.h"
#include "engine/parquet/reader.h"
#include "engine/values/dictionary.h"

#include "base/utf8.h"

#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 1 << 16, MAX_COLUMNS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The linker sends calls of column_reserve_from to the second, which calls the first. */
struct column *real_reserve(struct buffer_pool *pool, enum type type, enum type store,
                            int64_t capacity) __asm__("__real_column_reserve_from");
struct column *poisoning_reserve(struct buffer_pool *pool, enum type type, enum type store,
                                 int64_t capacity) __asm__("__wrap_column_reserve_from");

struct buffer_pool *buffer_pool_ref(struct buffer_pool *pool)
{
    return pool;
}

void buffer_pool_unref(struct buffer_pool *pool)
{
    (void)pool;
}

void *buffer_pool_alloc(struct buffer_pool *pool, size_t size, size_t *allocated)
{
    (void)pool;
    *allocated = size > 0 ? size : 1;
    return malloc(*allocated);
}

void buffer_pool_release(struct buffer_pool *pool, void *memory, size_t size)
{
    (void)pool;
    (void)size;
    free(memory);
}

size_t buffer_pool_trimmed(size_t size, size_t used)
{
    (void)used;
    return size;
}

bool buffer_pool_is_oversized(struct buffer_pool *pool, const void *memory, size_t size, size_t used)
{
    (void)pool;
    (void)memory;
    (void)size;
    (void)used;
    return false;
}

void *buffer_pool_grow(struct buffer_pool *pool, void *memory, size_t size, size_t *allocated)
{
    (void)pool;
    void *grown = realloc(memory, size);
    *allocated = grown ? size : *allocated;
    return grown;
}

bool buffer_pool_holds_spilled(const struct buffer_pool *pool, const void *memory)
{
    (void)pool;
    (void)memory;
    return false;
}

bool buffer_pool_has(struct buffer_pool *pool, int64_t bytes)
{
    (void)pool;
    return system_memory_has(bytes);
}

bool buffer_pool_takes(struct buffer_pool *pool, int64_t bytes)
{
    return buffer_pool_has(pool, bytes);
}

int64_t buffer_pool_room(struct buffer_pool *pool)
{
    (void)pool;
    return system_memory_free_bytes();
}

/* There is no disk. */
struct spill_room buffer_pool_spill_room(struct buffer_pool *pool)
{
    (void)pool;
    return (struct spill_room){0};
}

void *buffer_pool_alloc_spilled(struct buffer_pool *pool, size_t size, size_t *allocated)
{
    (void)pool;
    (void)size;
    (void)allocated;
    return NULL;
}

void buffer_pool_write(struct buffer_pool *pool, void *at, const void *from, size_t size)
{
    (void)pool;
    memcpy(at, from, size);
}

struct column *poisoning_reserve(struct buffer_pool *pool, enum type type, enum type store, int64_t capacity)
{
    struct column *column = real_reserve(pool, type, store, capacity);
    if (column) {
        size_t used = (size_t)capacity * type_table[store].size;
        ASAN_POISON_MEMORY_REGION((char *)column->data + used, column->reserved - used);
    }
    return column;
}

static void look_at_text(const struct column *column)
{
    const struct dictionary *dictionary = column->logical.dictionary;
    require(dictionary != NULL);
    for (int64_t i = 0; i < dictionary->count; i++) {
        struct text text = dictionary_text(dictionary, i);
        require(utf8_is_valid(text.at, text.length));
        require(i == 0 || dictionary->unsorted || text_compare(dictionary_text(dictionary, i - 1), text) < 0);
    }
}

static void look_at(const struct column *column, int64_t rows)
{
    require(column && column->rows == rows);
    bool is_text = column->logical.kind == LOGICAL_TEXT, missing = false;
    if (is_text)
        look_at_text(column);
    if (column->logical.kind == LOGICAL_LIST)
        look_at_lists(column, look_at);
    for (int64_t row = 0; row < rows; row++) {
        bool is_float = type_table[column->type].kind == KIND_FLOAT;
        int64_t integer = is_float ? column_get_float(column, row) != 0 : column_get_int(column, row);
        require(is_float || !column->range_known || (column->lo <= integer && integer <= column->hi));
        require(!column_is_missing(column, row) || integer == 0);
        require(!is_text || column_is_missing(column, row) || integer < column->logical.dictionary->count);
        missing = missing || column_is_missing(column, row);
    }
    require(missing == (column->validity != NULL));
}

static void read_columns(const struct format_job *job, struct file_reader *reader)
{
    bool wanted[MAX_COLUMNS];
    struct column *columns[MAX_COLUMNS] = {NULL};
    for (size_t k = 0; k < reader->count; k++)
        wanted[k] = true;
    enum status status = reader->ops->read(reader, job, wanted, columns);
    check_told(job->diags, status);
    for (size_t k = 0; k < reader->count; k++) {
        require((columns[k] != NULL) == (status == STATUS_OK));
        if (columns[k])
            look_at(columns[k], reader->rows);
        column_unref(columns[k]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    const struct workers workers = {.threads = 1};
    struct format_job job = {.workers = &workers, .span = {0}, .diags = &diags};
    struct mapping *mapping = mapping_of(data, size);
    struct file_reader *reader = NULL;
    enum status status = open_parquet(&job, mapping, &reader);
    check_told(&diags, status);
    if (status == STATUS_OK) {
        for (int unsorted = 0; unsorted < 2 && reader->rows <= MAX_ROWS && reader->count <= MAX_COLUMNS; unsorted++) {
            diags.count = 0;
            job.unsorted_from = unsorted;
            read_columns(&job, reader);
        }
        reader->ops->close(reader);
    }
    mapping_unref(mapping);
    arena_free(arena);
    return 0;
}
