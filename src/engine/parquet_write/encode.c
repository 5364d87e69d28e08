#include "engine/parquet_write/write_chunk.h"

#include <string.h>

enum { LENGTH_BYTES = 4 };

static void add_varint(struct strbuf *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        strbuf_putc(out, (char)((value & 0x7f) | 0x80));
    strbuf_putc(out, (char)value);
}

static void add_length(struct strbuf *out, size_t length)
{
    uint32_t bytes = (uint32_t)length;
    strbuf_add(out, (const char *)&bytes, LENGTH_BYTES);
}

/* Begins a run of packed values: whole groups of eight. */
static void begin_packed(struct strbuf *out, size_t count)
{
    add_varint(out, (count + 7) / 8 << 1 | 1);
}

void encode_levels(struct strbuf *out, const uint8_t *validity, size_t rows)
{
    size_t present = 0, begin = out->length;
    for (size_t i = 0; i < rows; i++)
        present += validity[i];
    add_length(out, 0);
    if (present == rows || present == 0) {
        add_varint(out, rows << 1);
        strbuf_putc(out, present > 0);
    } else {
        begin_packed(out, rows);
        char *to = strbuf_reserve(out, rows / 8 + 1);
        for (size_t i = 0; i < rows; i += 8) {
            unsigned bits = 0;
            for (size_t k = 0; k < 8 && i + k < rows; k++)
                bits |= (unsigned)validity[i + k] << k;
            to[i / 8] = (char)bits;
        }
        strbuf_commit(out, (rows + 7) / 8);
    }
    uint32_t length = (uint32_t)(out->length - begin - LENGTH_BYTES);
    memcpy(out->text + begin, &length, sizeof length);
}

/* Appends values of `width` bits, at most 32, padded to a group of eight. */
static void pack(struct strbuf *out, const uint32_t *values, size_t count, unsigned width)
{
    const size_t bytes = (count + 7) / 8 * width;
    char *to = strbuf_reserve(out, bytes + sizeof(uint64_t));
    uint64_t bits = 0;
    unsigned held = 0; /* bits not yet written, fewer than 32 */
    for (size_t i = 0; i < count; i++) {
        bits |= (uint64_t)values[i] << held;
        held += width;
        if (held >= 32) {
            memcpy(to, &bits, sizeof(uint32_t));
            to += sizeof(uint32_t);
            bits >>= 32;
            held -= 32;
        }
    }
    memcpy(to, &bits, sizeof bits);
    to += (held + 7) / 8;
    const size_t written = (size_t)(to - (out->text + out->length));
    if (written < bytes)
        memset(to, 0, bytes - written);
    strbuf_commit(out, bytes);
}

void encode_deep_levels(struct strbuf *out, const uint8_t *levels, size_t count, unsigned most)
{
    enum { SHORT = 8, AT_ONCE = 512 };
    const unsigned width = 32 - (unsigned)__builtin_clz(most);
    const size_t begin = out->length;
    add_length(out, 0);
    for (size_t i = 0; i < count;) {
        size_t equal = 1;
        while (i + equal < count && levels[i + equal] == levels[i])
            equal++;
        if (equal >= SHORT || i + equal == count) {
            add_varint(out, equal << 1);
            strbuf_putc(out, (char)levels[i]);
            i += equal;
            continue;
        }
        /* Groups of eight, up to one that begins a long run. */
        uint32_t some[AT_ONCE];
        size_t taken = 0;
        while (i < count && taken < AT_ONCE) {
            equal = 1;
            while (equal < SHORT && i + equal < count && levels[i + equal] == levels[i])
                equal++;
            if (taken > 0 && equal == SHORT)
                break;
            for (size_t k = 0; k < SHORT; k++, i++)
                some[taken++] = i < count ? levels[i] : 0;
        }
        begin_packed(out, taken);
        pack(out, some, taken, width);
    }
    const uint32_t length = (uint32_t)(out->length - begin - LENGTH_BYTES);
    memcpy(out->text + begin, &length, sizeof length);
}

void encode_indices(struct strbuf *out, const uint32_t *indices, size_t count, size_t entries)
{
    /* Readers know width 0, but writers avoid it. */
    const unsigned width = entries > 2 ? 32 - (unsigned)__builtin_clz((unsigned)entries - 1) : 1;
    strbuf_putc(out, (char)width);
    if (count == 0)
        return;
    begin_packed(out, count);
    pack(out, indices, count, width);
}

void encode_bools(struct strbuf *out, const int64_t *values, size_t count)
{
    char *to = strbuf_reserve(out, count / 8 + 1);
    for (size_t i = 0; i < count; i += 8) {
        unsigned bits = 0;
        for (size_t k = 0; k < 8 && i + k < count; k++)
            bits |= (unsigned)(values[i + k] != 0) << k;
        to[i / 8] = (char)bits;
    }
    strbuf_commit(out, (count + 7) / 8);
}

void encode_int32(struct strbuf *out, const int64_t *values, size_t count)
{
    char *to = strbuf_reserve(out, count * sizeof(uint32_t));
    for (size_t i = 0; i < count; i++) {
        uint32_t value = (uint32_t)values[i];
        memcpy(to + i * sizeof value, &value, sizeof value);
    }
    strbuf_commit(out, count * sizeof(uint32_t));
}

void encode_int64(struct strbuf *out, const int64_t *values, size_t count)
{
    strbuf_add(out, (const char *)values, count * sizeof *values);
}

void encode_big_endian(struct strbuf *out, const int64_t *values, size_t count, size_t width)
{
    char *to = strbuf_reserve(out, count * width);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < width; k++)
            *to++ = (char)(width - k > sizeof *values ? values[i] >> 63 : values[i] >> 8 * (width - k - 1));
    }
    strbuf_commit(out, count * width);
}

void encode_text(struct strbuf *out, struct text text)
{
    add_length(out, text.length);
    strbuf_add(out, text.at, text.length);
}
