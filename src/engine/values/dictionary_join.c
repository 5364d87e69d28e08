/* Strings of several interners or dictionaries become one dictionary: equal ones are found by their hashes, on all
 * threads, each of which takes a range of hashes; then the distinct ones are sorted. */
#include "engine/values/dictionary_sort.h"
#include "engine/values/text_bytes.h"

#include "base/heap.h"
#include "base/zeroed.h"

#include <stdlib.h>

enum {
    PIECE = 1 << 14,            /* strings that a thread takes at once */
    MOST_RANGES = 1 << 8,       /* of hashes */
    STRINGS_PER_RANGE = 1 << 13 /* about as many, so that a range's table stays in cache */
};

/* Strings begin..end of a part. */
struct piece {
    uint32_t part;
    size_t begin, end;
};

/* String `number` of part `part`. */
struct reference {
    uint32_t tag, part, number;
};

struct join {
    const struct strings *parts;
    uint32_t **tags; /* of each part, where it had none */
    size_t part_count, total;
    const struct workers *workers;
    struct piece *pieces;
    size_t piece_count;

    /* Of several parts: references by range of hashes, in which one of each distinct string is moved to the front. */
    int range_bits;
    struct reference *references; /* in the memory that is `scratch` later */
    size_t *places;               /* by piece and range: counts, then where the next one goes */
    size_t *begins;               /* of ranges among the references; ranges + 1 */
    size_t *distinct;             /* in each range; then how many are before it; ranges + 1 */

    struct sort_entry *entries, *scratch; /* of distinct strings, by their id */
    const struct sort_entry *sorted;      /* one of them */
    size_t count;
    uint32_t *codes;       /* of ids */
    uint64_t *piece_bytes; /* of sorted entries: where each piece's strings begin in the dictionary */
    struct dictionary *dictionary;
    uint32_t **maps;
};

static uint32_t tag_of(const struct join *join, size_t part, size_t number)
{
    const uint32_t *tags = join->parts[part].tags ? join->parts[part].tags : join->tags[part];
    return tags[number];
}

static size_t range_of(const struct join *join, uint32_t tag)
{
    return (size_t)((uint64_t)tag >> (32 - join->range_bits));
}

static size_t range_count(const struct join *join)
{
    return (size_t)1 << join->range_bits;
}

/* Cuts all parts into pieces. */
static void cut_parts(struct join *join)
{
    const size_t most = join->part_count + join->total / PIECE;
    join->pieces = heap_array(most, sizeof *join->pieces);
    for (size_t part = 0; part < join->part_count; part++) {
        const size_t count = join->parts[part].count;
        for (size_t begin = 0; begin < count; begin += PIECE) {
            const size_t end = count - begin < PIECE ? count : begin + PIECE;
            join->pieces[join->piece_count++] = (struct piece){(uint32_t)part, begin, end};
        }
    }
}

static void count_tags(void *context, int member, int64_t index)
{
    (void)member;
    struct join *join = context;
    const struct piece *piece = &join->pieces[index];
    const struct strings *part = &join->parts[piece->part];
    size_t *counts = join->places + (size_t)index * range_count(join);
    const uint64_t seed = text_seed();
    for (size_t number = piece->begin; number < piece->end; number++) {
        if (!part->tags)
            join->tags[piece->part][number] = text_hash(seed, string_of(part, number));
        counts[range_of(join, tag_of(join, piece->part, number))]++;
    }
}

static void scatter_references(void *context, int member, int64_t index)
{
    (void)member;
    struct join *join = context;
    const struct piece *piece = &join->pieces[index];
    size_t *places = join->places + (size_t)index * range_count(join);
    for (size_t number = piece->begin; number < piece->end; number++) {
        const uint32_t tag = tag_of(join, piece->part, number);
        join->references[places[range_of(join, tag)]++] = (struct reference){tag, piece->part, (uint32_t)number};
    }
}

static void places_of_counts(struct join *join)
{
    size_t place = 0, ranges = range_count(join);
    for (size_t range = 0; range < ranges; range++) {
        join->begins[range] = place;
        for (size_t piece = 0; piece < join->piece_count; piece++) {
            size_t *at = &join->places[piece * ranges + range], size = *at;
            *at = place;
            place += size;
        }
    }
    join->begins[ranges] = place;
}

static struct text referred(const struct join *join, const struct reference *reference)
{
    return string_of(&join->parts[reference->part], reference->number);
}

/* Numbers the distinct strings of a range of hashes; `maps` receive these numbers for now. */
static void find_distinct(void *context, int member, int64_t range)
{
    (void)member;
    struct join *join = context;
    struct reference *references = join->references + join->begins[range];
    size_t total = join->begins[range + 1] - join->begins[range], count = 0, slot_count = 8;
    while (slot_count < 2 * total)
        slot_count *= 2;
    size_t *slots = heap_array(slot_count, sizeof *slots); /* the number of a string + 1 */
    for (size_t i = 0; i < total; i++) {
        struct reference reference = references[i];
        /* All tags of a range begin alike. */
        size_t place = (reference.tag * UINT32_C(0x9e3779b1)) & (slot_count - 1);
        for (; slots[place] != 0; place = (place + 1) & (slot_count - 1)) {
            const struct reference *known = &references[slots[place] - 1];
            if (known->tag == reference.tag && text_equal(referred(join, known), referred(join, &reference)))
                break;
        }
        if (slots[place] == 0) {
            references[count] = reference; /* count <= i */
            slots[place] = ++count;
        }
        join->maps[reference.part][reference.number] = (uint32_t)(slots[place] - 1);
    }
    join->distinct[range] = count;
    free(slots);
}

static void fill_entry(struct sort_entry *entry, struct text text, size_t id)
{
    *entry = (struct sort_entry){.at = text.at, .length = (uint32_t)text.length, .id = (uint32_t)id};
}

static void fill_range(void *context, int member, int64_t range)
{
    (void)member;
    struct join *join = context;
    const struct reference *references = join->references + join->begins[range];
    for (size_t id = join->distinct[range]; id < join->distinct[range + 1]; id++, references++)
        fill_entry(&join->entries[id], referred(join, references), id);
}

/* The only part's strings are distinct. */
static void fill_piece(void *context, int member, int64_t index)
{
    (void)member;
    struct join *join = context;
    const struct piece *piece = &join->pieces[index];
    for (size_t number = piece->begin; number < piece->end; number++)
        fill_entry(&join->entries[number], string_of(&join->parts[0], number), number);
}

/* Huge pages: they are read at random. */
static void *zeroed_or_abort(size_t count, size_t size)
{
    void *memory = zeroed_alloc(count * size);
    if (!memory)
        heap_exhausted();
    return memory;
}

/* Sets `entries` to the distinct strings of all parts. False if cancelled or there are too many. */
static bool collect_distinct(struct join *join)
{
    while (join->range_bits < 8 && join->total >> join->range_bits > STRINGS_PER_RANGE)
        join->range_bits++;
    const size_t ranges = range_count(join);
    join->places = heap_array(join->piece_count * ranges, sizeof *join->places);
    join->begins = heap_array(ranges + 1, sizeof *join->begins);
    join->distinct = heap_array(ranges + 1, sizeof *join->distinct);
    if (!workers_run(join->workers, (int64_t)join->piece_count, count_tags, join))
        return false;
    places_of_counts(join);
    if (!workers_run(join->workers, (int64_t)join->piece_count, scatter_references, join) ||
        !workers_run(join->workers, (int64_t)ranges, find_distinct, join))
        return false;
    size_t before = 0;
    for (size_t range = 0; range <= ranges; range++) {
        const size_t count = join->distinct[range];
        join->distinct[range] = before;
        before += count;
    }
    if (before > DICTIONARY_MAX)
        return false;
    join->count = before;
    join->entries = zeroed_or_abort(join->count, sizeof *join->entries);
    return workers_run(join->workers, (int64_t)ranges, fill_range, join);
}

static void add_lengths(void *context, int member, int64_t index)
{
    (void)member;
    struct join *join = context;
    const size_t end = ((size_t)index + 1) * PIECE;
    for (size_t i = (size_t)index * PIECE; i < end && i < join->count; i++)
        join->piece_bytes[index + 1] += join->sorted[i].length;
}

static void write_strings(void *context, int member, int64_t index)
{
    (void)member;
    struct join *join = context;
    uint64_t *offsets = dictionary_offsets(join->dictionary), at = join->piece_bytes[index];
    char *bytes = dictionary_bytes(join->dictionary);
    const size_t end = ((size_t)index + 1) * PIECE;
    for (size_t i = (size_t)index * PIECE; i < end && i < join->count; i++) {
        const struct sort_entry *entry = &join->sorted[i];
        copy_bytes(bytes + at, entry->at, entry->length);
        at += entry->length;
        offsets[i + 1] = at;
        join->codes[entry->id] = (uint32_t)i;
    }
}

static void map_piece(void *context, int member, int64_t index)
{
    (void)member;
    struct join *join = context;
    const struct piece *piece = &join->pieces[index];
    uint32_t *map = join->maps[piece->part];
    for (size_t number = piece->begin; number < piece->end; number++) {
        const size_t range = range_of(join, tag_of(join, piece->part, number));
        map[number] = join->codes[join->distinct[range] + map[number]];
    }
}

/* Writes the sorted entries. False if cancelled. */
static bool write_dictionary(struct join *join)
{
    const size_t pieces = (join->count + PIECE - 1) / PIECE;
    join->piece_bytes = heap_array(pieces + 1, sizeof *join->piece_bytes);
    if (pieces > 0 && !workers_run(join->workers, (int64_t)pieces, add_lengths, join))
        return false;
    for (size_t piece = 0; piece < pieces; piece++)
        join->piece_bytes[piece + 1] += join->piece_bytes[piece];
    join->dictionary = dictionary_reserve(join->count, join->piece_bytes[pieces]);
    return pieces == 0 || workers_run(join->workers, (int64_t)pieces, write_strings, join);
}

static bool join_parts(struct join *join)
{
    if (join->total == 0)
        return write_dictionary(join);
    cut_parts(join);
    join->scratch = zeroed_or_abort(join->total, sizeof *join->scratch);
    join->references = (struct reference *)join->scratch;
    if (join->part_count > 1) {
        if (!collect_distinct(join))
            return false;
    } else {
        join->count = join->total;
        join->entries = zeroed_or_abort(join->count, sizeof *join->entries);
        if (!workers_run(join->workers, (int64_t)join->piece_count, fill_piece, join))
            return false;
    }
    join->sorted = sort_strings(join->entries, join->scratch, join->count, join->workers);
    join->codes = heap_array(join->count, sizeof *join->codes);
    if (!join->sorted || !write_dictionary(join))
        return false;
    if (join->part_count > 1)
        return workers_run(join->workers, (int64_t)join->piece_count, map_piece, join);
    free(join->maps[0]);
    join->maps[0] = join->codes; /* the ids were the numbers */
    join->codes = NULL;
    return true;
}

/* Frees all but the result; that too if `ok` is false. */
static struct dictionary *join_end(struct join *join, bool ok)
{
    for (size_t part = 0; part < join->part_count; part++) {
        if (join->tags)
            free(join->tags[part]);
        if (!ok) {
            free(join->maps[part]);
            join->maps[part] = NULL;
        }
    }
    if (!ok) {
        dictionary_unref(join->dictionary);
        join->dictionary = NULL;
    }
    free(join->tags);
    free(join->pieces);
    free(join->places);
    free(join->begins);
    free(join->distinct);
    free(join->codes);
    free(join->piece_bytes);
    zeroed_free(join->scratch, join->total * sizeof *join->scratch);
    zeroed_free(join->entries, join->count * sizeof *join->entries);
    return join->dictionary;
}

static struct dictionary *dictionary_of_parts(const struct strings *parts, size_t count, uint32_t **maps,
                                              const struct workers *workers)
{
    /* Progress counts the caller's own parts. */
    struct workers own = workers ? *workers : (struct workers){.threads = 1};
    own.progress = NULL;
    struct join join = {.parts = parts, .part_count = count, .workers = &own, .maps = maps};
    join.tags = heap_array(count, sizeof *join.tags);
    for (size_t part = 0; part < count; part++) {
        join.total += parts[part].count;
        maps[part] = heap_array(parts[part].count, sizeof *maps[part]);
        if (!parts[part].tags && count > 1)
            join.tags[part] = heap_array(parts[part].count, sizeof *join.tags[part]);
    }
    return join_end(&join, join_parts(&join));
}

struct dictionary *dictionary_of_interners(struct interner *const *interners, size_t count, uint32_t **maps,
                                           const struct workers *workers)
{
    struct strings *parts = heap_array(count, sizeof *parts);
    uint32_t **found = heap_array(count, sizeof *found);
    size_t used = 0;
    bool full = false;
    for (size_t i = 0; i < count; i++) {
        if (!interners[i])
            continue;
        parts[used++] = interner_strings(interners[i]);
        full = full || interner_full(interners[i]);
    }
    struct dictionary *dictionary = full ? NULL : dictionary_of_parts(parts, used, found, workers);
    for (size_t i = 0, k = 0; i < count; i++)
        maps[i] = interners[i] ? found[k++] : NULL;
    free(found);
    free(parts);
    return dictionary;
}

struct dictionary *dictionary_join(struct dictionary *const *dictionaries, size_t count, uint32_t **maps,
                                   const struct workers *workers)
{
    struct strings *parts = heap_array(count, sizeof *parts);
    for (size_t i = 0; i < count; i++)
        parts[i] =
            (struct strings){dictionaries[i]->offsets, dictionaries[i]->bytes, (size_t)dictionaries[i]->count, NULL};
    struct dictionary *dictionary = dictionary_of_parts(parts, count, maps, workers);
    free(parts);
    return dictionary;
}
