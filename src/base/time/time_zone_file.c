#include "base/time/time_zone_file.h"

#include <string.h>

enum {
    HEADER = 44,
    COUNTS = 20, /* where the header's six counts begin */
    TYPE = 6,    /* bytes of a type: offset, daylight saving, abbreviation */
    MOST_OFFSET = 26 * 3600
};

/* Nothing changes 10 000 years from now, and what did 10 000 years ago is the beginning: times in microseconds fit. */
static const int64_t MOST_SECONDS = INT64_C(400000000000);

static int64_t big_endian(const unsigned char *at, size_t size)
{
    uint64_t number = at[0] < 128 ? 0 : UINT64_MAX;
    for (size_t k = 0; k < size; k++)
        number = number << 8 | at[k];
    return (int64_t)number;
}

/* The parts of a version's data. */
struct block {
    int64_t leaps, times, types, characters;
    size_t time_size; /* 4 or 8 bytes */
    const unsigned char *at_times, *at_kinds, *at_types, *at_characters, *end;
};

static bool find_block(const unsigned char *at, const unsigned char *end, size_t time_size, struct block *block)
{
    if (end - at < HEADER || memcmp(at, "TZif", 4) != 0)
        return false;
    int64_t counts[6];
    for (size_t k = 0; k < 6; k++) {
        counts[k] = big_endian(at + COUNTS + 4 * k, 4);
        if (counts[k] < 0 || counts[k] > end - at)
            return false;
    }
    *block = (struct block){
        .leaps = counts[2], .times = counts[3], .types = counts[4], .characters = counts[5], .time_size = time_size};
    const size_t sizes[] = {(size_t)block->times * time_size,
                            (size_t)block->times,
                            (size_t)block->types * TYPE,
                            (size_t)block->characters,
                            (size_t)block->leaps * (time_size + 4),
                            (size_t)counts[1],
                            (size_t)counts[0]};
    const unsigned char *places[8] = {at + HEADER};
    for (size_t k = 0; k < 7; k++) {
        if (sizes[k] > (size_t)(end - places[k]))
            return false;
        places[k + 1] = places[k] + sizes[k];
    }
    block->at_times = places[0];
    block->at_kinds = places[1];
    block->at_types = places[2];
    block->at_characters = places[3];
    block->end = places[7];
    return true;
}

void time_zone_add_change(struct time_zone_changes *changes, struct time_zone_change change)
{
    const struct time_zone_change *last = changes->count > 0 ? &changes->at[changes->count - 1] : NULL;
    if (last && last->offset == change.offset && strcmp(last->abbreviation, change.abbreviation) == 0)
        return;
    *ARENA_PUSH(changes->arena, changes->at, changes->count, changes->capacity) = change;
}

static bool read_type(const struct block *block, int64_t type, struct time_zone_change *change, struct arena *arena)
{
    if (type >= block->types)
        return false;
    const unsigned char *at = block->at_types + type * TYPE;
    const int64_t name = at[5], most = block->characters - name;
    change->offset = big_endian(at, 4);
    if (most <= 0 || change->offset < -MOST_OFFSET || change->offset > MOST_OFFSET)
        return false;
    const char *text = (const char *)block->at_characters + name;
    change->abbreviation = arena_text(arena, text, strnlen(text, (size_t)most));
    return true;
}

static bool read_changes(const struct block *block, struct time_zone_changes *changes)
{
    struct time_zone_change change = {.begin = INT64_MIN};
    if (block->leaps > 0 || !read_type(block, 0, &change, changes->arena))
        return false;
    int64_t begin = INT64_MIN;
    for (int64_t k = 0; k < block->times; k++) {
        const int64_t time = big_endian(block->at_times + k * (int64_t)block->time_size, block->time_size);
        if ((k > 0 && time <= begin) || time > MOST_SECONDS)
            return false;
        begin = time;
        /* Some files begin at the Big Bang. */
        const bool first = time < -MOST_SECONDS;
        if (!first && k == 0)
            time_zone_add_change(changes, change);
        if (!read_type(block, block->at_kinds[k], &change, changes->arena))
            return false;
        change.begin = first ? INT64_MIN : time;
        if (first)
            changes->count = 0;
        time_zone_add_change(changes, change);
    }
    if (changes->count == 0)
        time_zone_add_change(changes, change);
    return true;
}

bool time_zone_file_read(const unsigned char *bytes, size_t length, struct time_zone_changes *changes)
{
    const unsigned char *end = bytes + length;
    struct block block;
    if (!find_block(bytes, end, 4, &block))
        return false;
    if (bytes[4] < '2')
        return read_changes(&block, changes);
    if (!find_block(block.end, end, 8, &block) || !read_changes(&block, changes))
        return false;
    const unsigned char *rule = block.end;
    const unsigned char *line = rule < end && *rule == '\n' ? memchr(rule + 1, '\n', (size_t)(end - rule - 1)) : NULL;
    if (!line || line == rule + 1)
        return true;
    return time_zone_rule_read(arena_text(changes->arena, (const char *)rule + 1, (size_t)(line - rule - 1)), changes);
}
