#include "engine/storage/compression.h"

#include "base/memory_size.h"
#include "engine/storage/growing_buffer.h"

#include <sys/mman.h>

static enum status unpack_error(const struct compression *compression, const char *path, enum decompressed outcome,
                                struct span span, struct diags *diags)
{
    switch (outcome) {
    case UNPACKED_CUT_SHORT:
        return diag_error(diags, span, "`%s` is cut short: its %s data does not end", path, compression->name);
    case UNPACKED_TOO_LARGE:
        return diag_error(diags, span, "there is no memory for what is packed in `%s`", path);
    case UNPACKED_CANCELLED:
        return STATUS_CANCELLED;
    case UNPACKED_DAMAGED:
    case UNPACKED:
        break;
    }
    return diag_error(diags, span, "`%s` is damaged, or no %s file", path, compression->name);
}

enum status compression_open(const struct compression *compression, struct mapping **mapping,
                             const struct workers *workers, struct span span, struct diags *diags)
{
    struct growing_buffer room = {.most = (size_t)system_memory_bytes()};
    const char *path = mapping_path(*mapping);
    enum decompressed outcome = compression->unpack(mapping_data(*mapping), mapping_length(*mapping), &room, workers);
    enum status status = STATUS_OK;
    if (outcome != UNPACKED_CANCELLED && mapping_changed(*mapping))
        status = diag_error(diags, span, "`%s` changed while it was read", path);
    else if (outcome != UNPACKED)
        status = unpack_error(compression, path, outcome, span, diags);
    if (status != STATUS_OK) {
        if (room.data)
            munmap(room.data, room.size);
        return status;
    }
    struct mapping *unpacked = mapping_from_memory(path, mapping_stamp(*mapping), room.data, room.used, room.size);
    mapping_unref(*mapping);
    *mapping = unpacked;
    return STATUS_OK;
}
