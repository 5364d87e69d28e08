#include "engine/numpy/zip.h"

#include "base/integer.h"

#include <string.h>
#include <zlib.h>

enum {
    END_BYTES = 22, /* the record at the end of the archive, before a comment */
    MAX_COMMENT = 65535,
    LOCATOR_BYTES = 20, /* of the record of ZIP64 */
    END64_BYTES = 56,
    ENTRY_BYTES = 46,
    LOCAL_BYTES = 30,
    EXTRA_ZIP64 = 1,
    RAW_DEFLATE = -15,   /* the largest window, without a header */
    MOST_INFLATED = 1032 /* bytes from one */
};

static const uint32_t end_mark = 0x06054b50, locator_mark = 0x07064b50, end64_mark = 0x06064b50;
static const uint32_t entry_mark = 0x02014b50, local_mark = 0x04034b50;

struct archive {
    const unsigned char *data;
    size_t size;
};

/* The `length` bytes from `at` on, which begin with the mark; NULL if they are not in the archive. */
static const unsigned char *record(const struct archive *archive, uint64_t at, size_t length, uint32_t mark)
{
    if (at > archive->size || archive->size - at < length || load_unsigned(archive->data + at, 4) != mark)
        return NULL;
    return archive->data + at;
}

/* Where the directory is. */
struct directory_place {
    uint64_t at, size, count;
};

static bool find_directory(const struct archive *archive, struct directory_place *place)
{
    const unsigned char *end = NULL;
    for (size_t comment = 0; !end && comment <= MAX_COMMENT && archive->size >= END_BYTES + comment; comment++) {
        end = record(archive, archive->size - END_BYTES - comment, END_BYTES, end_mark);
        if (end && load_unsigned(end + 20, 2) != comment)
            end = NULL;
    }
    if (!end)
        return false;
    *place = (struct directory_place){
        .at = load_unsigned(end + 16, 4), .size = load_unsigned(end + 12, 4), .count = load_unsigned(end + 10, 2)};
    const size_t before = (size_t)(end - archive->data);
    const unsigned char *locator =
        before >= LOCATOR_BYTES ? record(archive, before - LOCATOR_BYTES, LOCATOR_BYTES, locator_mark) : NULL;
    if (locator) {
        const unsigned char *end64 = record(archive, load_unsigned(locator + 8, 8), END64_BYTES, end64_mark);
        if (!end64)
            return false;
        *place = (struct directory_place){.at = load_unsigned(end64 + 48, 8),
                                          .size = load_unsigned(end64 + 40, 8),
                                          .count = load_unsigned(end64 + 32, 8)};
    }
    return place->at <= archive->size && place->size <= archive->size - place->at &&
           place->count <= place->size / ENTRY_BYTES;
}

/* Replaces numbers that are all ones by those of the ZIP64 field among the extra fields. */
static bool extend(const unsigned char *extra, size_t length, uint64_t *const *numbers, size_t count)
{
    for (size_t at = 0; length - at >= 4;) {
        size_t id = load_unsigned(extra + at, 2), size = load_unsigned(extra + at + 2, 2);
        at += 4;
        if (size > length - at)
            return false;
        for (size_t k = 0, used = 0; id == EXTRA_ZIP64 && k < count; k++) {
            if (*numbers[k] != UINT32_MAX)
                continue;
            if (size - used < 8)
                return false;
            *numbers[k] = load_unsigned(extra + at + used, 8);
            used += 8;
        }
        at += size;
    }
    return true;
}

/* Reads an entry of the directory; sets *length to its bytes there. */
static bool read_entry(const struct archive *archive, uint64_t at, uint64_t end, struct arena *arena,
                       struct zip_entry *entry, size_t *length)
{
    const unsigned char *bytes = record(archive, at, ENTRY_BYTES, entry_mark);
    if (!bytes || end - at < ENTRY_BYTES)
        return false;
    size_t name = load_unsigned(bytes + 28, 2), extra = load_unsigned(bytes + 30, 2),
           comment = load_unsigned(bytes + 32, 2);
    *length = ENTRY_BYTES + name + extra + comment;
    if (*length > end - at)
        return false;
    uint64_t packed = load_unsigned(bytes + 20, 4), size = load_unsigned(bytes + 24, 4),
             local_at = load_unsigned(bytes + 42, 4);
    uint64_t *const numbers[] = {&size, &packed, &local_at};
    if (!extend(bytes + ENTRY_BYTES + name, extra, numbers, 3))
        return false;
    const unsigned char *local = record(archive, local_at, LOCAL_BYTES, local_mark);
    if (!local)
        return false;
    const uint64_t content = local_at + LOCAL_BYTES + load_unsigned(local + 26, 2) + load_unsigned(local + 28, 2);
    *entry = (struct zip_entry){.name = arena_text(arena, (const char *)bytes + ENTRY_BYTES, name),
                                .method = (int)load_unsigned(bytes + 10, 2),
                                .encrypted = (load_unsigned(bytes + 8, 2) & 1) != 0,
                                .at = content,
                                .packed = packed,
                                .size = size,
                                .checksum = (uint32_t)load_unsigned(bytes + 16, 4)};
    if (content > archive->size || packed > archive->size - content)
        return false;
    return entry->method == ZIP_STORED ? size == packed : size / MOST_INFLATED <= packed;
}

enum status zip_read_directory(const struct format_job *job, const struct mapping *mapping, struct arena *arena,
                               struct zip_directory *directory)
{
    const struct archive archive = {mapping_data(mapping), mapping_length(mapping)};
    const char *path = mapping_path(mapping);
    struct directory_place place;
    *directory = (struct zip_directory){0};
    if (archive.size < 4 ||
        (load_unsigned(archive.data, 4) != local_mark && load_unsigned(archive.data, 4) != end_mark))
        return diag_error(job->diags, job->span, "`%s` is not an .npz file: it is no ZIP archive", path);
    if (!find_directory(&archive, &place))
        return diag_error(job->diags, job->span, "`%s` is truncated or damaged: it has no directory at its end", path);
    directory->entries = arena_array(arena, (size_t)place.count, sizeof *directory->entries);
    uint64_t at = place.at, packed = 0;
    for (; directory->count < place.count; directory->count++) {
        struct zip_entry *entry = &directory->entries[directory->count];
        size_t length;
        if (!read_entry(&archive, at, place.at + place.size, arena, entry, &length))
            return diag_error(job->diags, job->span, "`%s` is damaged: entry %zu of its directory is not valid", path,
                              directory->count);
        at += length;
        packed += entry->packed;
        if (packed > archive.size)
            return diag_error(job->diags, job->span, "`%s` is damaged: its entries overlap", path);
    }
    return STATUS_OK;
}

/* Inflates up to `capacity` bytes. Returns their number; *complete: that was all. */
static size_t inflate_part(const unsigned char *from, size_t packed, void *to, size_t capacity, bool *complete)
{
    z_stream stream = {0};
    size_t given = 0, made = 0;
    int code = Z_OK;
    *complete = false;
    if (inflateInit2(&stream, RAW_DEFLATE) != Z_OK)
        return 0;
    while (code == Z_OK) {
        uInt in = packed - given < UINT32_MAX ? (uInt)(packed - given) : UINT32_MAX;
        uInt out = capacity - made < UINT32_MAX ? (uInt)(capacity - made) : UINT32_MAX;
        stream.next_in = (z_const Bytef *)(from + given);
        stream.avail_in = in;
        stream.next_out = (Bytef *)to + made;
        stream.avail_out = out;
        code = inflate(&stream, Z_NO_FLUSH);
        given += in - stream.avail_in;
        made += out - stream.avail_out;
    }
    *complete = code == Z_STREAM_END;
    inflateEnd(&stream);
    return made;
}

size_t zip_unpack_head(const void *archive, const struct zip_entry *entry, void *to, size_t capacity)
{
    const unsigned char *from = (const unsigned char *)archive + entry->at;
    if (capacity > entry->size)
        capacity = entry->size;
    bool complete;
    if (entry->method == ZIP_DEFLATED)
        return inflate_part(from, entry->packed, to, capacity, &complete);
    if (capacity > 0)
        memcpy(to, from, capacity);
    return capacity;
}

bool zip_unpack(const void *archive, const struct zip_entry *entry, void *to)
{
    bool complete;
    const unsigned char *from = (const unsigned char *)archive + entry->at;
    return inflate_part(from, entry->packed, to, entry->size, &complete) == entry->size && complete;
}

uint32_t zip_checksum(uint32_t checksum, const void *data, size_t size)
{
    return (uint32_t)crc32_z(checksum, data, size);
}

bool zip_check(const struct zip_entry *entry, const void *bytes)
{
    return zip_checksum(0, bytes, entry->size) == entry->checksum;
}
