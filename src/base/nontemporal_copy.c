#include "base/nontemporal_copy.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

enum { VECTOR = 16 };

__attribute__((target("avx512f"))) static void stream_lines_avx_512(void *to, const void *from, size_t lines)
{
    __m512i *out = to;
    const __m512i *in = from;
    for (size_t i = 0; i < lines; i++)
        _mm512_stream_si512(out + i, _mm512_loadu_si512(in + i));
}

void stream_lines(void *to, const void *from, size_t lines)
{
    if (__builtin_cpu_supports("avx512f")) {
        stream_lines_avx_512(to, from, lines);
        return;
    }
    __m128i *out = to;
    const __m128i *in = from;
    for (size_t i = 0; i < lines * (STREAM_LINE / VECTOR); i++) /* whole lines, so that none is read to be completed */
        _mm_stream_si128(out + i, _mm_loadu_si128(in + i));
}

void stream_fence(void)
{
    _mm_sfence(); /* non-temporal stores are weakly ordered */
}

#else

void stream_lines(void *to, const void *from, size_t lines)
{
    memcpy(to, from, lines * STREAM_LINE);
}

void stream_fence(void)
{
}

#endif

void copy_nontemporal(void *to, const void *from, size_t size)
{
    char *out = to;
    const char *in = from;
    size_t head = (STREAM_LINE - (uintptr_t)out % STREAM_LINE) % STREAM_LINE;
    head = head < size ? head : size;
    memcpy(out, in, head);
    const size_t lines = (size - head) / STREAM_LINE, at = head + lines * STREAM_LINE;
    stream_lines(out + head, in + head, lines);
    memcpy(out + at, in + at, size - at);
    stream_fence();
}
