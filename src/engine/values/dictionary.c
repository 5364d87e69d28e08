#include "engine/values/dictionary.h"

#include "base/hash.h"
#include "base/heap.h"

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
    free(dictionary);
}

struct text dictionary_text(const struct dictionary *dictionary, int64_t code)
{
    uint64_t begin = dictionary->offsets[code];
    return (struct text){dictionary->bytes + begin, (size_t)(dictionary->offsets[code + 1] - begin)};
}

int64_t dictionary_lower_bound(const struct dictionary *dictionary, struct text text)
{
    int64_t begin = 0, end = dictionary->count;
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        if (text_compare(dictionary_text(dictionary, middle), text) < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

int64_t dictionary_find(const struct dictionary *dictionary, struct text text)
{
    int64_t code = dictionary_lower_bound(dictionary, text);
    bool found = code < dictionary->count && text_compare(dictionary_text(dictionary, code), text) == 0;
    return found ? code : -1;
}

enum type dictionary_code_type(int64_t count)
{
    if (count <= UINT8_MAX + 1)
        return TYPE_U8;
    return count <= UINT16_MAX + 1 ? TYPE_U16 : TYPE_U32;
}

/* Open addressing: slots hold a string's number + 1, 0 where empty. */
struct interner {
    char *bytes;
    size_t used, bytes_capacity;
    uint64_t *offsets; /* count + 1 */
    uint64_t *hashes;
    size_t count, capacity;
    uint32_t *slots;
    size_t slot_count; /* a power of two, at least twice count */
};

enum { FIRST_STRINGS = 64 };

struct interner *interner_new(void)
{
    struct interner *interner = heap_array(1, sizeof *interner);
    interner->capacity = FIRST_STRINGS;
    interner->offsets = heap_array(interner->capacity + 1, sizeof *interner->offsets);
    interner->hashes = heap_array(interner->capacity, sizeof *interner->hashes);
    interner->slot_count = 2 * interner->capacity;
    interner->slots = heap_array(interner->slot_count, sizeof *interner->slots);
    return interner;
}

void interner_free(struct interner *interner)
{
    if (!interner)
        return;
    free(interner->bytes);
    free(interner->offsets);
    free(interner->hashes);
    free(interner->slots);
    free(interner);
}

int64_t interner_count(const struct interner *interner)
{
    return (int64_t)interner->count;
}

static struct text string_of(const struct interner *interner, size_t number)
{
    uint64_t begin = interner->offsets[number];
    return (struct text){interner->bytes + begin, (size_t)(interner->offsets[number + 1] - begin)};
}

static void grow(struct interner *interner)
{
    interner->capacity *= 2;
    interner->offsets = heap_resize(interner->offsets, interner->capacity + 1, sizeof *interner->offsets);
    interner->hashes = heap_resize(interner->hashes, interner->capacity, sizeof *interner->hashes);
    interner->slot_count = 2 * interner->capacity;
    free(interner->slots);
    interner->slots = heap_array(interner->slot_count, sizeof *interner->slots);
    for (size_t number = 0; number < interner->count; number++) {
        size_t slot = interner->hashes[number] & (interner->slot_count - 1);
        while (interner->slots[slot] != 0)
            slot = (slot + 1) & (interner->slot_count - 1);
        interner->slots[slot] = (uint32_t)number + 1;
    }
}

static void copy_string(struct interner *interner, struct text text)
{
    while (interner->bytes_capacity - interner->used < text.length) {
        interner->bytes_capacity = interner->bytes_capacity ? 2 * interner->bytes_capacity : 1024;
        interner->bytes = heap_resize(interner->bytes, interner->bytes_capacity, 1);
    }
    if (text.length > 0)
        memcpy(interner->bytes + interner->used, text.at, text.length);
    interner->used += text.length;
    interner->offsets[++interner->count] = interner->used;
}

uint32_t interner_add(struct interner *interner, struct text text)
{
    uint64_t hash = hash_bytes(0, text.at, text.length);
    size_t slot = hash & (interner->slot_count - 1);
    for (; interner->slots[slot] != 0; slot = (slot + 1) & (interner->slot_count - 1)) {
        size_t number = interner->slots[slot] - 1;
        if (interner->hashes[number] == hash && text_compare(string_of(interner, number), text) == 0)
            return (uint32_t)number;
    }
    if (interner->count == interner->capacity) {
        grow(interner);
        return interner_add(interner, text);
    }
    interner->slots[slot] = (uint32_t)interner->count + 1;
    interner->hashes[interner->count] = hash;
    copy_string(interner, text);
    return (uint32_t)interner->count - 1;
}

/* A string on its way into a dictionary: number `number` of part `part`. */
struct entry {
    struct text text;
    uint32_t part, number;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *first = a, *second = b;
    return text_compare(first->text, second->text);
}

/* One block of memory: the struct, the offsets, the bytes. */
static struct dictionary *dictionary_reserve(size_t count, size_t bytes)
{
    struct dictionary *dictionary = heap_array(1, sizeof *dictionary + (count + 1) * sizeof(uint64_t) + bytes);
    uint64_t *offsets = (uint64_t *)(dictionary + 1);
    dictionary->count = (int64_t)count;
    dictionary->offsets = offsets;
    dictionary->bytes = (const char *)(offsets + count + 1);
    dictionary->refs = 1;
    return dictionary;
}

/* Sorts the entries and writes each distinct string once; sets the codes in `maps`. */
static struct dictionary *dictionary_of_entries(struct entry *entries, size_t total, uint32_t **maps)
{
    qsort(entries, total, sizeof *entries, compare_entries);
    size_t count = 0, bytes = 0;
    for (size_t i = 0; i < total; i++) {
        if (i == 0 || compare_entries(&entries[i - 1], &entries[i]) != 0) {
            count++;
            bytes += entries[i].text.length;
        }
    }
    struct dictionary *dictionary = dictionary_reserve(count, bytes);
    uint64_t *offsets = (uint64_t *)(dictionary + 1);
    char *at = (char *)(offsets + count + 1);
    size_t code = 0;
    for (size_t i = 0; i < total; i++) {
        if (i == 0 || compare_entries(&entries[i - 1], &entries[i]) != 0) {
            size_t length = entries[i].text.length;
            if (length > 0)
                memcpy(at + offsets[code], entries[i].text.at, length);
            offsets[code + 1] = offsets[code] + length;
            code++;
        }
        maps[entries[i].part][entries[i].number] = (uint32_t)code - 1;
    }
    return dictionary;
}

struct dictionary *dictionary_of_interners(struct interner *const *interners, size_t count, uint32_t **maps,
                                           const struct workers *workers)
{
    (void)workers;
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += interners[i]->count;
    struct entry *entries = heap_array(total + 1, sizeof *entries);
    size_t filled = 0;
    for (size_t i = 0; i < count; i++) {
        maps[i] = heap_array(interners[i]->count + 1, sizeof *maps[i]);
        for (size_t k = 0; k < interners[i]->count; k++)
            entries[filled++] = (struct entry){string_of(interners[i], k), (uint32_t)i, (uint32_t)k};
    }
    struct dictionary *dictionary = dictionary_of_entries(entries, total, maps);
    free(entries);
    return dictionary;
}

struct dictionary *dictionary_join(struct dictionary *const *dictionaries, size_t count, uint32_t **maps,
                                   const struct workers *workers)
{
    (void)workers;
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += (size_t)dictionaries[i]->count;
    struct entry *entries = heap_array(total + 1, sizeof *entries);
    size_t filled = 0;
    for (size_t i = 0; i < count; i++) {
        maps[i] = heap_array((size_t)dictionaries[i]->count + 1, sizeof *maps[i]);
        for (int64_t k = 0; k < dictionaries[i]->count; k++)
            entries[filled++] = (struct entry){dictionary_text(dictionaries[i], k), (uint32_t)i, (uint32_t)k};
    }
    struct dictionary *dictionary = dictionary_of_entries(entries, total, maps);
    free(entries);
    return dictionary;
}
