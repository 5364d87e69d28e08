#include "engine/storage/growing_buffer.h"

#include <sys/mman.h>

enum { FIRST_ROOM = 1 << 20 };

bool growing_buffer_reserve(struct growing_buffer *room, size_t more)
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

void decompression_report(const struct workers *workers, size_t done, size_t length)
{
    struct progress_step advance = workers->whole;
    advance.part = (double)done / (double)length;
    progress_report(workers->progress, &advance);
}
