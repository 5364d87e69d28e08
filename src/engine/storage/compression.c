#include "engine/storage/compression.h"

#include "base/memory_size.h"

#include <string.h>
#include <strings.h>
#include <sys/mman.h>

enum { FIRST_ROOM = 1 << 20 };

const struct packing *const packing_table[] = {&packing_gzip, &packing_zstd};
const size_t packing_count = sizeof packing_table / sizeof packing_table[0];

const struct packing *packing_of_path(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; i < packing_count && dot; i++) {
        if (strcasecmp(packing_table[i]->ending, dot) == 0)
            return packing_table[i];
    }
    return NULL;
}

const struct packing *packing_of_content(const void *data, size_t length)
{
    for (size_t i = 0; i < packing_count; i++) {
        size_t size = strlen(packing_table[i]->magic);
        if (length >= size && memcmp(data, packing_table[i]->magic, size) == 0)
            return packing_table[i];
    }
    return NULL;
}

bool room_make(struct room *room, size_t more)
{
    if (more > room->most - room->used)
        return false;
    if (room->used + more <= room->size)
        return true;
    size_t size = room->size ? room->size : FIRST_ROOM;
    while (size < room->used + more)
        size *= 2;
    void *data = room->data ? mremap(room->data, room->size, size, MREMAP_MAYMOVE)
                            : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return false;
    room->data = data;
    room->size = size;
    return true;
}

void packing_tell(const struct crew *crew, size_t done, size_t length)
{
    struct advance advance = crew->whole;
    advance.part = (double)done / (double)length;
    progress_tell(crew->progress, &advance);
}

static enum status unpack_error(const struct packing *packing, const char *path, enum unpacked outcome,
                                struct span span, struct diags *diags)
{
    switch (outcome) {
    case UNPACKED_CUT_SHORT:
        return diag_error(diags, span, "`%s` is cut short: its %s data does not end", path, packing->name);
    case UNPACKED_TOO_LARGE:
        return diag_error(diags, span, "there is no memory for what is packed in `%s`", path);
    case UNPACKED_CANCELLED:
        return STATUS_CANCELLED;
    case UNPACKED_DAMAGED:
    case UNPACKED:
        break;
    }
    return diag_error(diags, span, "`%s` is damaged, or no %s file", path, packing->name);
}

enum status packing_open(const struct packing *packing, struct mapping **mapping, const struct crew *crew,
                         struct span span, struct diags *diags)
{
    struct room room = {.most = (size_t)ram_bytes()};
    const char *path = mapping_path(*mapping);
    enum unpacked outcome = packing->unpack(mapping_data(*mapping), mapping_length(*mapping), &room, crew);
    enum status status = STATUS_OK;
    if (outcome != UNPACKED_CANCELLED && mapping_damaged(*mapping))
        status = diag_error(diags, span, "`%s` changed while it was read", path);
    else if (outcome != UNPACKED)
        status = unpack_error(packing, path, outcome, span, diags);
    if (status != STATUS_OK) {
        if (room.data)
            munmap(room.data, room.size);
        return status;
    }
    struct mapping *unpacked = mapping_of_memory(path, mapping_stamp(*mapping), room.data, room.used, room.size);
    mapping_unref(*mapping);
    *mapping = unpacked;
    return STATUS_OK;
}
