/* Blocks in the format of Snappy ("Snappy compressed format description", Google, 2011): their length, and then
 * literals and copies of what was written before. */
#include "engine/compression/block_codec.h"

#include <stdint.h>
#include <string.h>

enum {
    LITERAL, /* the lowest two bits of a tag */
    COPY_1,  /* a copy with an offset of this many bytes */
    COPY_2,
    COPY_4,
    MOST_IN_TAG = 60, /* the length of a literal; above, it follows the tag */
    MOST_COPIED = 64,
    WORD = 8,   /* bytes copied at once */
    VECTOR = 16 /* likewise, where they do not overlap */
};

struct input {
    const uint8_t *at, *end;
};

struct output {
    uint8_t *begin, *at, *end;
};

/* Reads an integer of up to four bytes. */
static bool read_bytes(struct input *in, size_t bytes, size_t *value)
{
    uint32_t read = 0;
    if ((size_t)(in->end - in->at) < bytes)
        return false;
    memcpy(&read, in->at, bytes); /* little-endian */
    in->at += bytes;
    *value = read;
    return true;
}

static bool read_length(struct input *in, size_t *length)
{
    *length = 0;
    for (int shift = 0; shift < 35 && in->at < in->end; shift += 7) {
        const uint8_t byte = *in->at++;
        *length |= (size_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* Copies in whole vectors, of which the last may reach up to VECTOR - 1 bytes further. */
static inline void copy_vectors(uint8_t *to, const uint8_t *from, size_t count)
{
    for (size_t i = 0; i < count; i += VECTOR)
        memcpy(to + i, from + i, VECTOR);
}

static inline bool read_literal(struct input *in, struct output *out, unsigned tag)
{
    size_t above = tag >> 2, count = above + 1, room = (size_t)(out->end - out->at);
    if (count <= MOST_IN_TAG && (size_t)(in->end - in->at) >= MOST_COPIED + VECTOR && room >= MOST_COPIED + VECTOR) {
        copy_vectors(out->at, in->at, count);
    } else {
        if (count > MOST_IN_TAG && !read_bytes(in, count - MOST_IN_TAG, &above))
            return false;
        count = above + 1;
        if (count > (size_t)(in->end - in->at) || count > room)
            return false;
        memcpy(out->at, in->at, count);
    }
    in->at += count;
    out->at += count;
    return true;
}

/* A copy may overlap what it writes: then it repeats the last `offset` bytes. */
static inline bool copy(struct output *out, size_t offset, size_t count)
{
    const size_t room = (size_t)(out->end - out->at);
    if (offset - 1 >= (size_t)(out->at - out->begin) || count > room)
        return false;
    const uint8_t *from = out->at - offset;
    if (offset >= VECTOR && room >= MOST_COPIED + VECTOR) {
        copy_vectors(out->at, from, count);
    } else if (offset >= WORD && room >= MOST_COPIED + WORD) {
        for (size_t i = 0; i < count; i += WORD)
            memcpy(out->at + i, from + i, WORD);
    } else {
        for (size_t i = 0; i < count; i++)
            out->at[i] = from[i];
    }
    out->at += count;
    return true;
}

/* Reads the offset of 1, 2 or 4 bytes as 4, where there are as many: which length it has is hard to predict. */
static inline bool read_copy(struct input *in, struct output *out, unsigned tag)
{
    static const uint32_t masks[] = {[COPY_1] = 0xff, [COPY_2] = 0xffff, [COPY_4] = 0xffffffff};
    static const uint8_t sizes[] = {[COPY_1] = 1, [COPY_2] = 2, [COPY_4] = 4};
    const unsigned kind = tag & 3;
    const size_t is_short = 0 - (size_t)(kind == COPY_1); /* all bits: with 3 bits of the offset in the tag */
    uint32_t next;
    size_t offset, count = (((tag >> 2 & 7) + 4) & is_short) | (((tag >> 2) + 1) & ~is_short);
    if ((size_t)(in->end - in->at) >= sizeof next) {
        memcpy(&next, in->at, sizeof next);
        offset = next & masks[kind];
        in->at += sizes[kind];
    } else if (!read_bytes(in, sizes[kind], &offset)) {
        return false;
    }
    return copy(out, offset | ((size_t)(tag >> 5) << 8 & is_short), count);
}

static bool decompress(const void *block, size_t size, void *to, size_t length)
{
    struct input in = {block, (const uint8_t *)block + size};
    struct output out = {to, to, (uint8_t *)to + length};
    size_t promised;
    bool sound = read_length(&in, &promised) && promised == length;
    while (sound && in.at < in.end) {
        const unsigned tag = *in.at++;
        sound = (tag & 3) == LITERAL ? read_literal(&in, &out, tag) : read_copy(&in, &out, tag);
    }
    return sound && out.at == out.end;
}

const struct block_functions block_functions_snappy = {.decompress = decompress};
