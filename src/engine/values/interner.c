/* An open-addressing table of slots that hold 32 bits of the hash, so that strings are compared, and tables grown,
 * without reading other strings. A slot's place is the high bits of these: growing then reads and writes in order. */
#include "engine/values/text_bytes.h"

#include "base/heap.h"
#include "base/memory_size.h"
#include "base/zeroed.h"

#include <assert.h>
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

/* Whether there is memory for twice as many strings, and for joining them into a dictionary. Interners of other threads
 * grow likewise. */
static bool may_double(const struct interner *interner)
{
    const size_t interned = 30, joined = 70; /* bytes of a string beside its own, which are there twice then */
    const size_t each = interned + joined + 2 * interner->used / interner->count;
    return system_memory_has((int64_t)(2 * 2 * interner->capacity * each));
}

/* The first place from this one on whose slot has the tag, or is empty. */
static size_t find_tag(const struct interner *interner, uint32_t tag, size_t place)
{
    for (;; place++) {
        const struct slot slot = interner->slots[place & (interner->slot_count - 1)];
        if (slot.number == 0 || slot.tag == tag)
            return place & (interner->slot_count - 1);
    }
}

/* interner_add of a string that is not too long, whose tag is known. */
static uint32_t add_tagged(struct interner *interner, struct text text, uint32_t tag)
{
    size_t place = find_tag(interner, tag, tag >> interner->shift);
    for (; interner->slots[place].number != 0; place = find_tag(interner, tag, place + 1)) {
        const size_t number = interner->slots[place].number - 1;
        const uint64_t begin = interner->offsets[number];
        struct text known = {interner->bytes + begin, (size_t)(interner->offsets[number + 1] - begin)};
        if (text_equal(known, text))
            return (uint32_t)number;
    }
    if (interner->full || interner->count == DICTIONARY_MAX ||
        (interner->count == interner->capacity && !may_double(interner))) {
        interner->full = true;
        return 0;
    }
    return add_new(interner, text, &interner->slots[place], tag);
}

uint32_t interner_add(struct interner *interner, struct text text)
{
    if (text.length > TEXT_MAX) {
        interner->full = true;
        return 0;
    }
    return add_tagged(interner, text, text_hash(interner->seed, text));
}

/* Slots, offsets and bytes are three reads at random, each of which needs the one before: those of all strings of a
 * batch are under way at once. */
static void prefetch(const struct interner *interner, const uint32_t *tags, size_t count)
{
    uint32_t numbers[INTERNER_BATCH]; /* + 1, as in slots */
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(&interner->slots[tags[i] >> interner->shift]);
    for (size_t i = 0; i < count; i++) {
        numbers[i] = interner->slots[find_tag(interner, tags[i], tags[i] >> interner->shift)].number;
        if (numbers[i] > 0)
            __builtin_prefetch(&interner->offsets[numbers[i] - 1]);
    }
    for (size_t i = 0; i < count; i++) {
        const char *bytes = numbers[i] > 0 ? interner->bytes + interner->offsets[numbers[i] - 1] : NULL;
        if (bytes) {
            __builtin_prefetch(bytes);
            __builtin_prefetch(bytes + 64);
        }
    }
}

void interner_add_batch(struct interner *interner, const struct text *texts, size_t count, uint32_t *numbers)
{
    uint32_t tags[INTERNER_BATCH];
    struct text distinct[INTERNER_BATCH]; /* of each run of equal strings the first */
    uint32_t runs[INTERNER_BATCH];        /* of each string, + 1 */
    uint32_t run_count = 0;
    assert(count <= INTERNER_BATCH);
    for (size_t i = 0; i < count; i++) {
        interner->full = interner->full || texts[i].length > TEXT_MAX;
        const struct text text = texts[i].length > TEXT_MAX ? (struct text){"", 0} : texts[i];
        if (run_count == 0 || !text_equal(text, distinct[run_count - 1])) {
            tags[run_count] = text_hash(interner->seed, text);
            distinct[run_count++] = text;
        }
        runs[i] = run_count;
    }
    if (interner->slot_count > SPARSE_SLOTS)
        prefetch(interner, tags, run_count);
    for (uint32_t run = 0; run < run_count; run++)
        tags[run] = add_tagged(interner, distinct[run], tags[run]);
    for (size_t i = 0; i < count; i++)
        numbers[i] = tags[runs[i] - 1];
}
