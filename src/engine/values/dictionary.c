#include "engine/values/text_bytes.h"

#include "base/buffer_pool.h"
#include "base/heap.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct dictionary *dictionary_ref(struct dictionary *dictionary)
{
    if (dictionary)
        atomic_fetch_add_explicit(&dictionary->refs, 1, memory_order_relaxed);
    return dictionary;
}

void dictionary_unref(struct dictionary *dictionary)
{
    if (!dictionary || atomic_fetch_sub_explicit(&dictionary->refs, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; i < dictionary->block_count; i++)
        buffer_pool_release(dictionary->pool, dictionary->blocks[i].pages, dictionary->blocks[i].size);
    free(dictionary->blocks);
    buffer_pool_unref(dictionary->pool);
    free(dictionary);
}

struct text dictionary_text(const struct dictionary *dictionary, int64_t code)
{
    assert(code >= 0 && code < dictionary->count);
    if (dictionary->unsorted) {
        const char *at = dictionary->places[code];
        uint32_t length;
        memcpy(&length, at - sizeof length, sizeof length);
        return (struct text){at, length};
    }
    const uint64_t begin = dictionary->offsets[code];
    return (struct text){dictionary->bytes + begin, (size_t)(dictionary->offsets[code + 1] - begin)};
}

struct dictionary *dictionary_unsorted(struct buffer_pool *pool, size_t count, size_t bytes, const char ***places_at,
                                       char **bytes_at)
{
    size_t size;
    if (__builtin_mul_overflow(count, sizeof **places_at, &size) || __builtin_add_overflow(size, bytes, &size))
        return NULL;
    void *pages = buffer_pool_alloc(pool, size + 1, &size);
    if (!pages)
        return NULL;
    struct dictionary *dictionary = heap_array(1, sizeof *dictionary);
    *places_at = pages;
    *bytes_at = (char *)(*places_at + count);
    dictionary->count = (int64_t)count;
    dictionary->places = *places_at;
    dictionary->unsorted = true;
    dictionary->pool = buffer_pool_ref(pool);
    dictionary->refs = 1;
    dictionary_add_blocks(dictionary, &(struct text_block){pages, size}, 1);
    return dictionary;
}

void dictionary_add_blocks(struct dictionary *dictionary, const struct text_block *blocks, size_t count)
{
    dictionary->blocks = heap_resize(dictionary->blocks, dictionary->block_count + count, sizeof *blocks);
    for (size_t i = 0; i < count; i++)
        dictionary->blocks[dictionary->block_count++] = blocks[i];
}

int64_t dictionary_size(const struct dictionary *dictionary)
{
    size_t size = 0;
    for (size_t i = 0; i < dictionary->block_count; i++)
        size += dictionary->blocks[i].size;
    if (!dictionary->unsorted)
        size = (size_t)dictionary->count * sizeof *dictionary->offsets + dictionary->offsets[dictionary->count];
    return (int64_t)size;
}

bool dictionary_is_run(const struct dictionary *dictionary, int64_t begin, int64_t end)
{
    const uintptr_t first = (uintptr_t)dictionary->places[begin], last = (uintptr_t)dictionary->places[end - 1];
    bool run = false;
    for (size_t i = 0; i < dictionary->block_count && !run; i++) {
        const uintptr_t block = (uintptr_t)dictionary->blocks[i].pages;
        run = first >= block && last < block + dictionary->blocks[i].size;
    }
    for (int64_t k = begin; k + 1 < end && run; k++)
        run = (uintptr_t)dictionary->places[k] <= (uintptr_t)dictionary->places[k + 1];
    return run;
}

int64_t dictionary_lower_bound(const struct dictionary *dictionary, struct text text)
{
    assert(!dictionary->unsorted);
    int64_t begin = 0, end = dictionary->count;
    while (begin < end) {
        const int64_t middle = begin + (end - begin) / 2;
        if (text_compare(dictionary_text(dictionary, middle), text) < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

int64_t dictionary_find(const struct dictionary *dictionary, struct text text)
{
    const int64_t code = dictionary_lower_bound(dictionary, text);
    const bool found = code < dictionary->count && text_compare(dictionary_text(dictionary, code), text) == 0;
    return found ? code : -1;
}

enum type dictionary_code_type(int64_t count)
{
    if (count <= UINT8_MAX + 1)
        return TYPE_U8;
    return count <= UINT16_MAX + 1 ? TYPE_U16 : TYPE_U32;
}

/* One block of memory: the struct, the offsets, the bytes. */
struct dictionary *dictionary_reserve(size_t count, size_t bytes)
{
    struct dictionary *dictionary = heap_array(1, sizeof *dictionary + (count + 1) * sizeof(uint64_t) + bytes);
    uint64_t *offsets = (uint64_t *)(dictionary + 1);
    dictionary->count = (int64_t)count;
    dictionary->offsets = offsets;
    dictionary->bytes = (const char *)(offsets + count + 1);
    dictionary->refs = 1;
    return dictionary;
}

uint64_t *dictionary_offsets(struct dictionary *dictionary)
{
    return (uint64_t *)(dictionary + 1);
}

char *dictionary_bytes(struct dictionary *dictionary)
{
    return (char *)(dictionary_offsets(dictionary) + dictionary->count + 1);
}
