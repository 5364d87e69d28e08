#include "engine/compression/compression.h"

#include "base/path.h"
#include "engine/storage/growing_buffer.h"

#include <string.h>
#include <strings.h>

void unpacker_report(const struct unpacker *unpacker, const struct workers *workers)
{
    struct progress_step advance = workers->whole;
    advance.part = unpacker->length > 0 ? (double)unpacker->at / (double)unpacker->length : 1;
    progress_report(workers->progress, &advance);
}

static enum status decompress_error(const struct compression *compression, const char *path,
                                    enum decompress_result result, struct span span, struct diags *diags)
{
    switch (result) {
    case DECOMPRESS_TRUNCATED:
        return diag_error(diags, span, "`%s` is truncated: its %s data has no end", path, compression->name);
    case DECOMPRESS_NO_MEMORY:
        return file_memory_error(path, span, diags);
    case DECOMPRESS_CORRUPT:
    case DECOMPRESS_CANCELLED:
    case DECOMPRESS_MORE:
    case DECOMPRESS_OK:
        break;
    }
    return diag_error(diags, span, "`%s` is corrupt or not a %s file", path, compression->name);
}

/* Appends the content to the buffer. */
static enum decompress_result decompress(const struct compression *compression, const struct mapping *mapping,
                                         struct growing_buffer *buffer, const struct workers *workers)
{
    enum { STEP = 1 << 20 }; /* between cancellation checks */
    struct unpacker *unpacker = compression->open(mapping_data(mapping), mapping_length(mapping));
    enum decompress_result result = unpacker ? DECOMPRESS_MORE : DECOMPRESS_NO_MEMORY;
    while (result == DECOMPRESS_MORE) {
        size_t written = 0;
        if (workers_cancelled(workers))
            result = DECOMPRESS_CANCELLED;
        else if (!growing_buffer_reserve(buffer, STEP))
            result = DECOMPRESS_NO_MEMORY;
        else
            result = compression->next(unpacker, buffer->data + buffer->used, STEP, &written);
        buffer->used += written;
        unpacker_report(unpacker, workers);
    }
    if (unpacker)
        compression->close(unpacker);
    return result;
}

enum status compression_open(const struct compression *compression, struct mapping **mapping,
                             const struct workers *workers, struct span span, struct diags *diags)
{
    struct growing_buffer buffer = {.pool = workers->pool};
    const char *path = mapping_path(*mapping);
    const enum decompress_result result = decompress(compression, *mapping, &buffer, workers);
    enum status status =
        result == DECOMPRESS_CANCELLED ? STATUS_CANCELLED : mapping_check_unchanged(*mapping, span, diags);
    if (status == STATUS_OK && result != DECOMPRESS_OK)
        status = decompress_error(compression, path, result, span, diags);
    if (status == STATUS_OK) {
        struct mapping *content = mapping_from_buffer(path, mapping_stamp(*mapping), &buffer);
        mapping_unref(*mapping);
        *mapping = content;
    }
    growing_buffer_free(&buffer);
    return status;
}

const struct compression *const compression_table[] = {&compression_gzip, &compression_zstd};
const size_t compression_count = sizeof compression_table / sizeof compression_table[0];

const struct compression *compression_of_path(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; i < compression_count && dot; i++) {
        if (strcasecmp(compression_table[i]->extension, dot) == 0)
            return compression_table[i];
    }
    return NULL;
}

const struct compression *compression_of_content(const void *data, size_t length)
{
    for (size_t i = 0; i < compression_count; i++) {
        const size_t size = strlen(compression_table[i]->magic);
        if (length >= size && memcmp(data, compression_table[i]->magic, size) == 0)
            return compression_table[i];
    }
    return NULL;
}

bool path_has_extension(const char *path, const char *extension)
{
    const char *found = path_extension(path);
    const struct compression *compression = compression_of_path(path);
    const size_t length = strlen(found) - (compression ? strlen(compression->extension) : 0);
    return strlen(extension) == length && strncasecmp(extension, found, length) == 0;
}

const char *path_extension(const char *path)
{
    const char *base = path_base(path);
    const char *dot = strrchr(base, '.');
    if (!dot || dot == base)
        return base + strlen(base);
    const char *previous = dot - 1;
    while (previous > base && *previous != '.')
        previous--;
    return compression_of_path(base) && previous > base ? previous : dot;
}
