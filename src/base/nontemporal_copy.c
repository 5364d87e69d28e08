#include "base/nontemporal_copy.h"

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>

enum { LINE = 64, VECTOR = 16 };

void copy_nontemporal(void *to, const void *from, size_t size)
{
    char *out = to;
    const char *in = from;
    size_t head = (LINE - (uintptr_t)out % LINE) % LINE;
    head = head < size ? head : size;
    memcpy(out, in, head);
    size_t at = head;
    for (; at + LINE <= size; at += LINE) /* whole lines, so that none is read to be completed */
        for (size_t k = 0; k < LINE; k += VECTOR)
            _mm_stream_si128((void *)(out + at + k), _mm_loadu_si128((const void *)(in + at + k)));
    memcpy(out + at, in + at, size - at);
    _mm_sfence(); /* non-temporal stores are weakly ordered */
}

#else

void copy_nontemporal(void *to, const void *from, size_t size)
{
    memcpy(to, from, size);
}

#endif
