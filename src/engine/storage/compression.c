#include "engine/storage/compression.h"

#include "base/memory_size.h"
#include "engine/storage/growing_buffer.h"

void decompress_report(const struct workers *workers, size_t done, size_t length)
{
    struct progress_step advance = workers->whole;
    advance.part = (double)done / (double)length;
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
    case DECOMPRESS_OK:
        break;
    }
    return diag_error(diags, span, "`%s` is corrupt or not a %s file", path, compression->name);
}

enum status compression_open(const struct compression *compression, struct mapping **mapping,
                             const struct workers *workers, struct span span, struct diags *diags)
{
    struct growing_buffer buffer = {.max = (size_t)system_memory_bytes()};
    const char *path = mapping_path(*mapping);
    enum decompress_result result =
        compression->decompress(mapping_data(*mapping), mapping_length(*mapping), &buffer, workers);
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
