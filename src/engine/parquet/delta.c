
#include "engine/parquet/encodings.h"

#include <string.h>

enum { VALUES_UNIT = 32, MAX_WIDTH = 64 };

struct delta {
    const uint8_t *at, *end;
    size_t count;          /* integers still to come */
    size_t miniblocks;     /* per block */
    size_t miniblock_size; /* integers */
    uint64_t last;
    unsigned width; /* bytes of an integer of the output */
    char *out;
    bool failed;
};

static uint64_t read_varint(struct delta *in)
{
    uint64_t value;
    if (varint_read(&in->at, in->end, &value))
        return value;
    in->failed = true;
    return 0;
}

static uint64_t read_zigzag(struct delta *in)
{
    const uint64_t value = read_varint(in);
    return value >> 1 ^ (0 - (value & 1));
}

static inline void put(struct delta *in, uint64_t value)
{
    if (in->width == sizeof(uint32_t)) {
        uint32_t narrow = (uint32_t)value;
        memcpy(in->out, &narrow, sizeof narrow);
    } else {
        memcpy(in->out, &value, sizeof value);
    }
    in->out += in->width;
    in->last = value;
}

/* Sums wrap around, as the specification says. */
static void add_differences(struct delta *in, const uint8_t *bytes, size_t size, unsigned bits, uint64_t least)
{
    const size_t count = in->count < in->miniblock_size ? in->count : in->miniblock_size;
    for (size_t done = 0; done < count; done += UNPACK_GROUP) {
        const size_t now = count - done < UNPACK_GROUP ? count - done : UNPACK_GROUP;
        if (bits > UNPACK_MAX_WIDTH) {
            for (size_t i = 0; i < now; i++)
                put(in, in->last + least + bit_unpack_one(bytes, size, bits, done + i));
            continue;
        }
        uint32_t unpacked[UNPACK_GROUP];
        const size_t skipped = done / 8 * bits;
        bit_unpack(bytes + skipped, size - skipped, bits, 1, unpacked);
        for (size_t i = 0; i < now; i++)
            put(in, in->last + least + unpacked[i]);
    }
    in->count -= count;
}

static void read_block(struct delta *in)
{
    const uint64_t least = read_zigzag(in);
    const uint8_t *widths = in->at;
    if (in->failed || in->miniblocks > (size_t)(in->end - in->at)) {
        in->failed = true;
        return;
    }
    in->at += in->miniblocks;
    for (size_t i = 0; i < in->miniblocks && in->count > 0; i++) {
        const unsigned bits = widths[i];
        const size_t size = in->miniblock_size / 8 * bits;
        if (bits > MAX_WIDTH || size > (size_t)(in->end - in->at)) {
            in->failed = true;
            return;
        }
        const uint8_t *bytes = in->at;
        in->at += size;
        add_differences(in, bytes, size, bits, least);
    }
}

bool delta_decode(const uint8_t **at, const uint8_t *end, size_t count, unsigned width, void *out)
{
    struct delta in = {.at = *at, .end = end, .width = width, .out = out};
    uint64_t block = read_varint(&in), miniblocks = read_varint(&in), total = read_varint(&in);
    const uint64_t first = read_zigzag(&in);
    if (in.failed || block > INT32_MAX || miniblocks == 0 || miniblocks > block || block % miniblocks != 0 ||
        block / miniblocks % VALUES_UNIT != 0 || total != count)
        return false;
    in.miniblocks = (size_t)miniblocks;
    in.miniblock_size = (size_t)(block / miniblocks);
    in.count = count;
    if (count > 0) {
        put(&in, first);
        in.count--;
    }
    while (in.count > 0 && !in.failed)
        read_block(&in);
    *at = in.at;
    return !in.failed;
}
