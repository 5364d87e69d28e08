#include "engine/numpy/zip.h"

#include "base/heap.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

enum {
    ALIGNMENT = 64,
    LOCAL_BYTES = 30,
    EXTRA_HEADER = 4,
    EXTRA_ZIP64 = 1,
    EXTRA_PADDING = 0xd935, /* of alignment: it and zeroes */
    LEAST_PADDING = EXTRA_HEADER + 2,
    VERSION = 20,
    VERSION_ZIP64 = 45,
    MADE_BY_UNIX = 3 << 8,
    NAME_IS_UTF8 = 1 << 11,
    FIRST_DAY = 1 << 5 | 1, /* 1980-01-01 */
    READ_AND_WRITE = 0600
};

struct zip_saved {
    char *name; /* malloc'd */
    uint64_t at, size;
    uint32_t checksum;
};

static void put_number(struct strbuf *out, uint64_t value, size_t width)
{
    strbuf_add(out, (const char *)&value, width); /* little-endian: the low bytes come first */
}

void zip_add(struct zip_writer *zip, const void *data, size_t size)
{
    writer_add(zip->writer, data, size);
    zip->at += size;
}

static void flush(struct zip_writer *zip, struct strbuf *bytes)
{
    zip_add(zip, bytes->text, bytes->length);
    strbuf_free(bytes);
}

static bool is_large(const struct zip_saved *entry)
{
    return entry->size >= UINT32_MAX || entry->at >= UINT32_MAX;
}

/* What the header of an entry and the directory say of it alike. */
static void put_common(struct strbuf *out, const struct zip_saved *entry, size_t extra)
{
    const uint64_t size = is_large(entry) ? UINT32_MAX : entry->size;
    unsigned flags = 0;
    for (const char *c = entry->name; *c; c++)
        flags |= (unsigned char)*c >= 0x80 ? NAME_IS_UTF8 : 0;
    put_number(out, is_large(entry) ? VERSION_ZIP64 : VERSION, 2);
    put_number(out, flags, 2);
    put_number(out, ZIP_STORED, 2);
    put_number(out, 0, 2);
    put_number(out, FIRST_DAY, 2);
    put_number(out, entry->checksum, 4);
    put_number(out, size, 4);
    put_number(out, size, 4);
    put_number(out, strlen(entry->name), 2);
    put_number(out, extra, 2);
}

void zip_begin(struct zip_writer *zip, const char *name, uint64_t size, uint32_t checksum)
{
    struct zip_saved *entry = HEAP_PUSH(zip->saved, zip->count, zip->capacity);
    *entry = (struct zip_saved){heap_text(name), zip->at, size, checksum};
    const size_t extra = is_large(entry) ? EXTRA_HEADER + 16 : 0;
    size_t padding = LEAST_PADDING;
    const uint64_t end = zip->at + LOCAL_BYTES + strlen(name) + extra + padding;
    padding += (ALIGNMENT - end % ALIGNMENT) % ALIGNMENT;
    struct strbuf out = {0};
    put_number(&out, 0x04034b50, 4);
    put_common(&out, entry, extra + padding);
    strbuf_puts(&out, name);
    if (extra > 0) {
        put_number(&out, EXTRA_ZIP64, 2);
        put_number(&out, 16, 2);
        put_number(&out, size, 8);
        put_number(&out, size, 8);
    }
    put_number(&out, EXTRA_PADDING, 2);
    put_number(&out, padding - EXTRA_HEADER, 2);
    put_number(&out, ALIGNMENT, 2);
    for (size_t k = LEAST_PADDING; k < padding; k++)
        strbuf_putc(&out, '\0');
    flush(zip, &out);
}

static void put_entry(struct strbuf *out, const struct zip_saved *entry)
{
    const bool large = is_large(entry);
    put_number(out, 0x02014b50, 4);
    put_number(out, MADE_BY_UNIX | (large ? VERSION_ZIP64 : VERSION), 2);
    put_common(out, entry, large ? EXTRA_HEADER + 24 : 0);
    put_number(out, 0, 6); /* no comment, first disk, no attributes */
    put_number(out, (uint64_t)READ_AND_WRITE << 16, 4);
    put_number(out, large ? UINT32_MAX : entry->at, 4);
    strbuf_puts(out, entry->name);
    if (large) {
        put_number(out, EXTRA_ZIP64, 2);
        put_number(out, 24, 2);
        put_number(out, entry->size, 8);
        put_number(out, entry->size, 8);
        put_number(out, entry->at, 8);
    }
}

/* The records of ZIP64 at the end. */
static void put_end64(struct strbuf *out, const struct zip_writer *zip, uint64_t at, uint64_t size)
{
    put_number(out, 0x06064b50, 4);
    put_number(out, 44, 8); /* bytes that follow */
    put_number(out, MADE_BY_UNIX | VERSION_ZIP64, 2);
    put_number(out, VERSION_ZIP64, 2);
    put_number(out, 0, 8); /* disks */
    put_number(out, zip->count, 8);
    put_number(out, zip->count, 8);
    put_number(out, size, 8);
    put_number(out, at, 8);
    put_number(out, 0x07064b50, 4);
    put_number(out, 0, 4);
    put_number(out, at + size, 8);
    put_number(out, 1, 4);
}

void zip_finish(struct zip_writer *zip)
{
    struct strbuf out = {0};
    for (size_t k = 0; k < zip->count; k++)
        put_entry(&out, &zip->saved[k]);
    uint64_t at = zip->at, size = out.length;
    const bool large = at >= UINT32_MAX || size >= UINT32_MAX || zip->count >= UINT16_MAX;
    if (large)
        put_end64(&out, zip, at, size);
    put_number(&out, 0x06054b50, 4);
    put_number(&out, 0, 4); /* disks */
    put_number(&out, large ? UINT16_MAX : zip->count, 2);
    put_number(&out, large ? UINT16_MAX : zip->count, 2);
    put_number(&out, large ? UINT32_MAX : size, 4);
    put_number(&out, large ? UINT32_MAX : at, 4);
    put_number(&out, 0, 2);
    flush(zip, &out);
}

void zip_free(struct zip_writer *zip)
{
    for (size_t k = 0; k < zip->count; k++)
        free(zip->saved[k].name);
    free(zip->saved);
}
