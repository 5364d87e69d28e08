#include "engine/parquet/encodings.h"

bool varint_read(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        const uint8_t byte = *(*at)++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool read_repeated(struct run_length *in, uint64_t count, struct run *run)
{
    const size_t bytes = (in->width + 7) / 8;
    if (count == 0 || (size_t)(in->end - in->at) < bytes)
        return false;
    *run = (struct run){.count = (size_t)count};
    for (size_t i = 0; i < bytes; i++)
        run->value |= (uint32_t)in->at[i] << 8 * i;
    in->at += bytes;
    return in->width == 32 || run->value >> in->width == 0;
}

/* Writers that end the last run early leave fewer bytes than its groups of eight would have. */
static bool read_packed(struct run_length *in, uint64_t groups, struct run *run)
{
    const size_t left = (size_t)(in->end - in->at);
    if (groups == 0 || groups > INT32_MAX)
        return false;
    const size_t size = (size_t)groups * in->width;
    *run = (struct run){.packed = true, .count = (size_t)groups * 8, .bytes = in->at, .size = size};
    if (size > left) {
        run->size = left;
        run->count = left * 8 / in->width;
    }
    in->at += run->size;
    return run->count > 0;
}

bool run_length_next(struct run_length *in, size_t max, struct run *run)
{
    uint64_t head;
    if (!varint_read(&in->at, in->end, &head))
        return false;
    const bool read = head & 1 ? read_packed(in, head >> 1, run) : read_repeated(in, head >> 1, run);
    if (read && run->count > max)
        run->count = max;
    return read;
}
