#include "engine/sorting/sort_level.h"

#include "engine/sorting/sort_element.h"

#include <stddef.h>
#include <string.h>

/* Inlined into functions for each level, where the width is a constant. */
#define SPECIALISED static inline __attribute__((always_inline))

/* ---- dividing positions ---- */

SPECIALISED uint64_t clamp(uint64_t key, uint64_t least, uint64_t most)
{
    key = key < least ? least : key;
    return key > most ? most : key;
}

SPECIALISED uint32_t position_in_segment(const uint64_t *segments, uint64_t place)
{
    const uint64_t segment = segments[place >> (64 - SEGMENT_BITS)];
    const uint64_t within = place << SEGMENT_BITS >> 32;
    return (uint32_t)((segment & UINT32_MAX) + (within * (segment >> 32) >> 32));
}

/* Vectors multiply 32 bits faster than 64. */
SPECIALISED uint32_t stretch_of(uint32_t position, uint32_t stretches)
{
    return (position >> 16) * stretches >> 16;
}

/* Words of 64 bits, each `step` words after the one before. */
SPECIALISED void divide_words(const struct sort_positions *by, uint32_t stretches, const uint64_t *words, size_t step,
                              int count, uint32_t *restrict numbers)
{
    const struct sort_positions p = *by;
    if (p.segments) {
        for (int i = 0; i < count; i++) {
            const uint64_t key = clamp(words[(size_t)i * step] >> p.key.shift & p.key.mask, p.least, p.most);
            const uint32_t position = position_in_segment(p.segments, (key - p.least) << p.up);
            numbers[i] = stretch_of(position << p.known, stretches);
        }
    } else {
        for (int i = 0; i < count; i++) {
            const uint64_t key = words[(size_t)i * step] >> p.key.shift & p.key.mask;
            numbers[i] = stretch_of((uint32_t)((key - p.least) << p.up >> 32), stretches);
        }
    }
}

SPECIALISED void divide_words_32(const struct sort_positions *by, uint32_t stretches, const uint32_t *restrict words,
                                 int count, uint32_t *restrict numbers)
{
    const struct sort_positions p = *by;
    const uint32_t mask = (uint32_t)p.key.mask, least = (uint32_t)p.least, most = (uint32_t)p.most;
    const int shift = p.key.shift, up = p.up - 32;
    if (p.segments) {
        for (int i = 0; i < count; i++) {
            const uint64_t key = clamp((uint64_t)words[i] >> shift & mask, least, most);
            const uint32_t position = position_in_segment(p.segments, (key - least) << p.up);
            numbers[i] = stretch_of(position << p.known, stretches);
        }
    } else {
        for (int i = 0; i < count; i++)
            numbers[i] = stretch_of(((words[i] >> shift & mask) - least) << up, stretches);
    }
}

SPECIALISED void divide_elements(const struct sort_positions *by, uint32_t stretches, const void *elements,
                                 size_t width, int count, uint32_t *numbers)
{
    if (width == 4)
        divide_words_32(by, stretches, elements, count, numbers);
    else if (width == 8)
        divide_words(by, stretches, elements, 1, count, numbers);
    else if (width == 16)
        divide_words(by, stretches, elements, 2, count, numbers);
    else
        divide_words(by, stretches, elements, width / sizeof(uint64_t), count, numbers);
}

/* ---- few words ---- */

enum { RANKED = 32 /* words, more of which are sorted faster by other means */ };

/* Each word's rank is the number of words below it. Equal words have one rank and leave the places after it at zero,
 * the least word, so that these take the greatest word before them. Vectors compare such words only signed. */
#define SORTS_BY_RANK(bits, level, bytes, attributes)                                                                  \
    attributes static void sort_##bits##_##level(const uint##bits##_t *words, int count, uint##bits##_t *sorted)       \
    {                                                                                                                  \
        typedef int##bits##_t vector __attribute__((vector_size(bytes)));                                              \
        enum { LANES = 8 * (bytes) / (bits) };                                                                         \
        union {                                                                                                        \
            vector vectors[RANKED / LANES];                                                                            \
            int##bits##_t lanes[RANKED];                                                                               \
        } flipped, ranks;                                                                                              \
        for (int i = 0; i < count; i++) {                                                                              \
            flipped.lanes[i] = (int##bits##_t)(words[i] ^ (uint##bits##_t)1 << (bits - 1));                            \
            sorted[i] = 0;                                                                                             \
        }                                                                                                              \
        for (int i = count; i % LANES != 0; i++)                                                                       \
            flipped.lanes[i] = 0;                                                                                      \
        for (int v = 0; v * LANES < count; v++) {                                                                      \
            const vector these = flipped.vectors[v];                                                                   \
            vector below = {0};                                                                                        \
            for (int i = 0; i < count; i++)                                                                            \
                below -= (vector){0} + flipped.lanes[i] < these;                                                       \
            ranks.vectors[v] = below;                                                                                  \
        }                                                                                                              \
        for (int i = 0; i < count; i++)                                                                                \
            sorted[ranks.lanes[i]] = words[i];                                                                         \
        uint##bits##_t before = 0;                                                                                     \
        for (int i = 0; i < count; i++) {                                                                              \
            before = sorted[i] > before ? sorted[i] : before;                                                          \
            sorted[i] = before;                                                                                        \
        }                                                                                                              \
    }

/* ---- elements with something beside their keys ---- */

enum { INDEX_BITS = 8 /* of an element's number among those that are sorted at once */ };

SPECIALISED uint64_t key_of(const struct sort_key_place *place, const void *elements, size_t i, size_t width)
{
    return sort_element_word(elements, i, width) >> place->shift & place->mask;
}

SPECIALISED void bounds_of_width(const struct sort_key_place *place, const void *elements, size_t width, int count,
                                 uint64_t *least, uint64_t *most)
{
    uint64_t low = *least, high = *most;
    for (int i = 0; i < count; i++) {
        const uint64_t key = key_of(place, elements, (size_t)i, width);
        low = key < low ? key : low;
        high = key > high ? key : high;
    }
    *least = low;
    *most = high;
}

SPECIALISED void bounds_of(const struct sort_key_place *place, const void *elements, size_t width, int count,
                           uint64_t *least, uint64_t *most)
{
    if (width == 4)
        bounds_of_width(place, elements, 4, count, least, most);
    else if (width == 8)
        bounds_of_width(place, elements, 8, count, least, most);
    else
        bounds_of_width(place, elements, 16, count, least, most);
}

/* Sorts words of a key's distance from the least key and, below it, the element's number. */
SPECIALISED bool sort_numbered(const struct sort_level *level, const struct sort_key_place *place, const void *elements,
                               size_t width, int count, void *sorted)
{
    uint64_t least = UINT64_MAX, most = 0;
    bounds_of_width(place, elements, width, count, &least, &most);
    if (count < 2 || least == most) {
        memcpy(sorted, elements, (size_t)count * width);
        return true;
    }
    if ((most - least) >> (32 - INDEX_BITS) == 0) {
        uint32_t words[SORT_BIN_ROOM], order[SORT_BIN_ROOM];
        for (int i = 0; i < count; i++)
            words[i] = (uint32_t)(key_of(place, elements, (size_t)i, width) - least) << INDEX_BITS | (uint32_t)i;
        level->sort_32(words, count, order);
        for (int i = 0; i < count; i++)
            sort_element_copy(sorted, (size_t)i, elements, order[i] & ((1u << INDEX_BITS) - 1), width);
        return true;
    }
    if ((most - least) >> (64 - INDEX_BITS) == 0) {
        uint64_t words[SORT_BIN_ROOM], order[SORT_BIN_ROOM];
        for (int i = 0; i < count; i++)
            words[i] = (key_of(place, elements, (size_t)i, width) - least) << INDEX_BITS | (uint64_t)i;
        level->sort_64(words, count, order);
        for (int i = 0; i < count; i++)
            sort_element_copy(sorted, (size_t)i, elements, order[i] & ((1u << INDEX_BITS) - 1), width);
        return true;
    }
    return false;
}

SPECIALISED bool sort_elements_of(const struct sort_level *level, const struct sort_key_place *place,
                                  const void *elements, size_t width, int count, void *sorted)
{
    if (width == 4)
        return sort_numbered(level, place, elements, 4, count, sorted);
    if (width == 8)
        return sort_numbered(level, place, elements, 8, count, sorted);
    return sort_numbered(level, place, elements, 16, count, sorted);
}

/* ---- levels ---- */

enum { LEVELS = 3 };

static const struct sort_level levels[LEVELS];

/* The loops above compiled for a level, number `place` of the table. */
#define LOOPS(level, place, attributes)                                                                                \
    attributes static void divide_##level(const struct sort_positions *by, uint32_t stretches, const void *elements,   \
                                          size_t width, int count, uint32_t *numbers)                                  \
    {                                                                                                                  \
        divide_elements(by, stretches, elements, width, count, numbers);                                               \
    }                                                                                                                  \
    attributes static void bounds_##level(const struct sort_key_place *key, const void *elements, size_t width,        \
                                          int count, uint64_t *least, uint64_t *most)                                  \
    {                                                                                                                  \
        bounds_of(key, elements, width, count, least, most);                                                           \
    }                                                                                                                  \
    attributes static bool sort_elements_##level(const struct sort_key_place *key, const void *elements, size_t width, \
                                                 int count, void *sorted)                                              \
    {                                                                                                                  \
        return sort_elements_of(&levels[place], key, elements, width, count, sorted);                                  \
    }

#if defined(__x86_64__)
#define WITH_AVX2    __attribute__((target("avx2,bmi,bmi2")))
#define WITH_AVX_512 __attribute__((target("avx2,bmi,bmi2,avx512f,avx512dq,avx512bw,avx512vl")))

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
#else
#define WITH_AVX2
#define WITH_AVX_512

static bool has_avx2(void)
{
    return false;
}
#endif

LOOPS(avx_512, 0, WITH_AVX_512)
SORTS_BY_RANK(32, avx_512, 32, WITH_AVX_512)
SORTS_BY_RANK(64, avx_512, 32, WITH_AVX_512)
LOOPS(avx2, 1, WITH_AVX2)
SORTS_BY_RANK(32, avx2, 32, WITH_AVX2)
SORTS_BY_RANK(64, avx2, 32, WITH_AVX2)
LOOPS(plain, 2, )
SORTS_BY_RANK(32, plain, 16, )
SORTS_BY_RANK(64, plain, 16, )

/* A network takes as long for a few words as for half its room. */
enum { RANKED_MOST = 24 };

static void network_32(const uint32_t *words, int count, uint32_t *sorted)
{
    (count <= RANKED_MOST ? sort_32_avx_512 : sort_network_32)(words, count, sorted);
}

static void network_64(const uint64_t *words, int count, uint64_t *sorted)
{
    (count <= RANKED_MOST ? sort_64_avx_512 : sort_network_64)(words, count, sorted);
}

static const struct sort_level levels[LEVELS] = {
    {"avx512", NETWORK_ROOM_32, NETWORK_ROOM_64, divide_avx_512, bounds_avx_512, network_32, network_64,
     sort_elements_avx_512},
    {"avx2", RANKED, RANKED, divide_avx2, bounds_avx2, sort_32_avx2, sort_64_avx2, sort_elements_avx2},
    {"plain", RANKED, RANKED, divide_plain, bounds_plain, sort_32_plain, sort_64_plain, sort_elements_plain},
};

const struct sort_level *sort_level_at(int i)
{
    const bool works[LEVELS] = {sort_network_works() && has_avx2(), has_avx2(), true};
    for (int level = 0; level < LEVELS; level++) {
        if (works[level] && i-- == 0)
            return &levels[level];
    }
    return NULL;
}
