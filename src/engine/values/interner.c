/* An open-addressing table of slots that hold 32 bits of the hash, so that strings are compared, and tables grown,
 * without reading other strings. A slot's place is the high bits of these: growing then reads and writes in order. */
#include "engine/values/text_bytes.h"

#include "base/heap.h"
#include "base/zeroed.h"

#include <stdlib.h>
#include <sys/auxv.h>

struct slot {
    uint32_t tag;
    uint32_t number; /* + 1; 0: empty */
};

struct interner {
    uint64_t seed;
    char *bytes;
    size_t used, bytes_capacity;
    uint64_t *offsets; /* count + 1 */
    uint32_t *tags;
    size_t count, capacity;
    struct slot *slots;
    size_t slot_count; /* a power of two, at most 2^32 */
    int shift;         /* from a tag to a place among the slots */
    bool full;
};

enum { FIRST_STRINGS = 64, FIRST_SLOTS = 256, FIRST_BYTES = 1024, SPARSE_SLOTS = 1 << 17 };

uint64_t text_seed(void)
{
    const char *random = (const char *)getauxval(AT_RANDOM); /* 16 bytes */
    return random ? load_8_bytes(random + 8) : 0;
}

/* Huge pages: slots are read at random. */
static struct slot *slots_new(size_t count)
{
    struct slot *slots = zeroed_alloc(count * sizeof *slots);
    if (!slots)
        heap_exhausted();
    return slots;
}

struct interner *interner_new(void)
{
    struct interner *interner = heap_array(1, sizeof *interner);
    interner->seed = text_seed();
    interner->bytes_capacity = FIRST_BYTES;
    interner->bytes = heap_array(interner->bytes_capacity, 1);
    interner->capacity = FIRST_STRINGS;
    interner->offsets = heap_array(interner->capacity + 1, sizeof *interner->offsets);
    interner->tags = heap_array(interner->capacity, sizeof *interner->tags);
    interner->slot_count = FIRST_SLOTS;
    interner->shift = 32 - __builtin_ctzll(FIRST_SLOTS);
    interner->slots = slots_new(interner->slot_count);
    return interner;
}

void interner_free(struct interner *interner)
{
    if (!interner)
        return;
    free(interner->bytes);
    free(interner->offsets);
    free(interner->tags);
    zeroed_free(interner->slots, interner->slot_count * sizeof *interner->slots);
    free(interner);
}

int64_t interner_count(const struct interner *interner)
{
    return (int64_t)interner->count;
}

bool interner_full(const struct interner *interner)
{
    return interner->full;
}

struct strings interner_strings(const struct interner *interner)
{
    return (struct strings){interner->offsets, interner->bytes, interner->count, interner->tags};
}

static void grow_slots(struct interner *interner)
{
    struct slot *old = interner->slots;
    const size_t old_count = interner->slot_count;
    interner->slot_count *= 2;
    interner->shift--;
    interner->slots = slots_new(interner->slot_count);
    for (size_t k = 0; k < old_count; k++) {
        if (old[k].number == 0)
            continue;
        size_t place = old[k].tag >> interner->shift;
        while (interner->slots[place].number != 0)
            place = (place + 1) & (interner->slot_count - 1);
        interner->slots[place] = old[k];
    }
    zeroed_free(old, old_count * sizeof *old);
}

/* Where the table is small, memory is cheaper than the mispredicted branches of a second probe. */
static bool needs_slots(const struct interner *interner)
{
    const size_t eighths = interner->slot_count <= SPARSE_SLOTS ? 2 : 5;
    return interner->count * 8 > interner->slot_count * eighths && interner->shift > 0;
}

/* Appends the string; its tag and place are known. */
static uint32_t add_new(struct interner *interner, struct text text, struct slot *slot, uint32_t tag)
{
    if (interner->count == interner->capacity) {
        interner->capacity *= 2;
        interner->offsets = heap_resize(interner->offsets, interner->capacity + 1, sizeof *interner->offsets);
        interner->tags = heap_resize(interner->tags, interner->capacity, sizeof *interner->tags);
    }
    while (interner->bytes_capacity - interner->used < text.length) {
        interner->bytes_capacity *= 2;
        interner->bytes = heap_resize(interner->bytes, interner->bytes_capacity, 1);
    }
    copy_bytes(interner->bytes + interner->used, text.at, text.length);
    interner->used += text.length;
    const uint32_t number = (uint32_t)interner->count++;
    interner->offsets[interner->count] = interner->used;
    interner->tags[number] = tag;
    *slot = (struct slot){tag, number + 1};
    if (needs_slots(interner))
        grow_slots(interner);
    return number;
}

uint32_t interner_add(struct interner *interner, struct text text)
{
    if (text.length > TEXT_MAX) {
        interner->full = true;
        return 0;
    }
    const uint32_t tag = text_hash(interner->seed, text);
    size_t place = tag >> interner->shift;
    for (; interner->slots[place].number != 0; place = (place + 1) & (interner->slot_count - 1)) {
        if (interner->slots[place].tag != tag)
            continue;
        const size_t number = interner->slots[place].number - 1;
        const uint64_t begin = interner->offsets[number];
        struct text known = {interner->bytes + begin, (size_t)(interner->offsets[number + 1] - begin)};
        if (text_equal(known, text))
            return (uint32_t)number;
    }
    if (interner->count == DICTIONARY_MAX) {
        interner->full = true;
        return 0;
    }
    return add_new(interner, text, &interner->slots[place], tag);
}
