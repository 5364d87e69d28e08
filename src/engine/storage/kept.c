#include "engine/storage/kept.h"

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

struct kept_entry {
    struct column **columns; /* one reference each */
    size_t count;
    struct dictionary *dictionary; /* one reference */
    void *how;
    size_t how_size;
    void *value;
    void (*release)(void *value);
    int64_t bytes;
};

/* The most recently used entry is last. */
struct kept {
    struct kept_entry *entries;
    size_t count, capacity;
    int64_t bytes, limit;
};

struct kept *kept_new(void)
{
    return heap_array(1, sizeof(struct kept));
}

static void remove_entry(struct kept *kept, size_t i)
{
    struct kept_entry *entry = &kept->entries[i];
    for (size_t k = 0; k < entry->count; k++) {
        entry->columns[k]->copies--;
        column_unref(entry->columns[k]);
    }
    dictionary_unref(entry->dictionary);
    entry->release(entry->value);
    kept->bytes -= entry->bytes;
    free(entry->columns);
    free(entry->how);
    memmove(entry, entry + 1, (--kept->count - i) * sizeof *entry);
}

void kept_shrink(struct kept *kept, int64_t bytes)
{
    while (kept && kept->count > 0 && kept->bytes > bytes)
        remove_entry(kept, 0);
}

void kept_free(struct kept *kept)
{
    if (!kept)
        return;
    while (kept->count > 0)
        remove_entry(kept, 0);
    free(kept->entries);
    free(kept);
}

void kept_set_limit(struct kept *kept, int64_t bytes)
{
    if (!kept)
        return;
    kept->limit = bytes;
    kept_shrink(kept, bytes);
}

static bool is_of_key(const struct kept_entry *entry, const struct kept_key *key)
{
    if (entry->count != key->count || entry->dictionary != key->dictionary || entry->how_size != key->how_size)
        return false;
    for (size_t k = 0; k < key->count; k++) {
        if (entry->columns[k] != key->columns[k])
            return false;
    }
    return memcmp(entry->how, key->how, key->how_size) == 0;
}

void *kept_find(struct kept *kept, const struct kept_key *key)
{
    for (size_t i = 0; kept && i < kept->count; i++) {
        if (!is_of_key(&kept->entries[i], key))
            continue;
        const struct kept_entry entry = kept->entries[i];
        memmove(&kept->entries[i], &kept->entries[i + 1], (kept->count - i - 1) * sizeof entry);
        kept->entries[kept->count - 1] = entry;
        return entry.value;
    }
    return NULL;
}

void kept_add(struct kept *kept, const struct kept_key *key, void *value, void (*release)(void *value), int64_t bytes)
{
    enum { MOST = 256 };
    if (!kept || bytes > kept->limit) {
        release(value);
        return;
    }
    struct kept_entry entry = {.columns = heap_array(key->count + 1, sizeof *entry.columns),
                               .count = key->count,
                               .dictionary = dictionary_ref(key->dictionary),
                               .how = heap_array(key->how_size + 1, 1),
                               .how_size = key->how_size,
                               .value = value,
                               .release = release,
                               .bytes = bytes};
    for (size_t k = 0; k < key->count; k++) {
        entry.columns[k] = column_ref(key->columns[k]);
        entry.columns[k]->copies++;
    }
    memcpy(entry.how, key->how, key->how_size);
    kept_shrink(kept, kept->limit - bytes);
    if (kept->count == MOST)
        remove_entry(kept, 0);
    kept->bytes += bytes;
    *HEAP_PUSH(kept->entries, kept->count, kept->capacity) = entry;
}

/* Whether something else refers to all that the entry was made of. */
static bool is_in_use(const struct kept *kept, const struct kept_entry *entry)
{
    int held = 0;
    for (size_t k = 0; k < entry->count; k++) {
        if (entry->columns[k]->refs <= entry->columns[k]->copies)
            return false;
    }
    for (size_t i = 0; entry->dictionary && i < kept->count; i++)
        held += kept->entries[i].dictionary == entry->dictionary;
    return !entry->dictionary || entry->dictionary->refs > held;
}

void kept_sweep(struct kept *kept)
{
    for (size_t i = kept ? kept->count : 0; i-- > 0;) {
        if (!is_in_use(kept, &kept->entries[i]))
            remove_entry(kept, i);
    }
}

int64_t kept_bytes(const struct column *column)
{
    return column ? column->rows * (int64_t)type_table[column->store].size : 0;
}
