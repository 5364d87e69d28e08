#include "base/nontemporal_copy.h"

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>

enum { LINE = 64, VECTOR = 16 };

void copy_nontemporal(void *to, const void *from, size_t size)
{
    char *place = to;
    const char *bytes = from;
    size_t head = (LINE - (uintptr_t)place % LINE) % LINE;
    head = head < size ? head : size;
    memcpy(place, bytes, head);
    size_t at = head;
    for (; at + LINE <= size; at += LINE) /* lines are written whole, so that they are not read for what is missing */
        for (size_t k = 0; k < LINE; k += VECTOR)
            _mm_stream_si128((void *)(place + at + k), _mm_loadu_si128((const void *)(bytes + at + k)));
    memcpy(place + at, bytes + at, size - at);
    _mm_sfence(); /* such stores are not ordered by what orders others */
}

#else

void copy_nontemporal(void *to, const void *from, size_t size)
{
    memcpy(to, from, size);
}

#endif
