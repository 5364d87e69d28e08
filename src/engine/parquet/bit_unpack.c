#include "engine/parquet/bit_unpack.h"

#include "base/cpu_dispatch.h"
#include "base/integer.h"

#include <string.h>

/* Loads of 8 bytes at the last value of a group exceed it by at most this. */
enum { EXCESS = 8 };

/* The width is a constant where this is inlined, and so are all offsets and shifts. */
static inline __attribute__((always_inline)) void unpack_group(const uint8_t *in, uint32_t *out, unsigned width)
{
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    for (unsigned quarter = 0; quarter < 4; quarter++) {
        const uint8_t *from = in + (size_t)quarter * width;
        for (unsigned i = 0; i < 8; i++) {
            uint64_t bits;
            memcpy(&bits, from + i * width / 8, sizeof bits);
            out[quarter * 8 + i] = (uint32_t)(bits >> i * width % 8 & mask);
        }
    }
}

#define WIDTHS(W)                                                                                                      \
    W(0)                                                                                                               \
    W(1)                                                                                                               \
    W(2)                                                                                                               \
    W(3)                                                                                                               \
    W(4)                                                                                                               \
    W(5)                                                                                                               \
    W(6)                                                                                                               \
    W(7)                                                                                                               \
    W(8)                                                                                                               \
    W(9)                                                                                                               \
    W(10)                                                                                                              \
    W(11)                                                                                                              \
    W(12)                                                                                                              \
    W(13)                                                                                                              \
    W(14)                                                                                                              \
    W(15)                                                                                                              \
    W(16)                                                                                                              \
    W(17)                                                                                                              \
    W(18)                                                                                                              \
    W(19)                                                                                                              \
    W(20)                                                                                                              \
    W(21)                                                                                                              \
    W(22)                                                                                                              \
    W(23)                                                                                                              \
    W(24)                                                                                                              \
    W(25)                                                                                                              \
    W(26)                                                                                                              \
    W(27)                                                                                                              \
    W(28)                                                                                                              \
    W(29)                                                                                                              \
    W(30)                                                                                                              \
    W(31)                                                                                                              \
    W(32)

CPU_CLONES void bit_unpack(const uint8_t *in, size_t size, unsigned width, size_t groups, uint32_t *out)
{
    const size_t bytes = (size_t)4 * width;
    uint8_t last[4 * UNPACK_MAX_WIDTH + EXCESS];
    for (size_t i = 0; i < groups; i++, out += UNPACK_GROUP) {
        size_t at = i * bytes;
        const uint8_t *group = in + at;
        if (size < EXCESS || at + bytes > size - EXCESS) {
            memset(last, 0, sizeof last);
            if (at < size)
                memcpy(last, group, size - at < bytes ? size - at : bytes);
            group = last;
        }
        switch (width) {
#define CASE(constant)                                                                                                 \
    case constant:                                                                                                     \
        unpack_group(group, out, constant);                                                                            \
        break;
            WIDTHS(CASE)
#undef CASE
        default:
            break;
        }
    }
}

uint64_t bit_unpack_one(const uint8_t *in, size_t size, unsigned width, uint64_t index)
{
    uint8_t bytes[16] = {0};
    uint64_t bit = index * width;
    size_t at = (size_t)(bit / 8);
    if (at < size)
        memcpy(bytes, in + at, size - at < sizeof bytes ? size - at : sizeof bytes);
    uint128 bits;
    memcpy(&bits, bytes, sizeof bits);
    uint64_t value = (uint64_t)(bits >> bit % 8);
    return width < 64 ? value & (((uint64_t)1 << width) - 1) : value;
}

/* Eight bits as eight bytes: each byte keeps its bit, which is moved to its place by a carry. */
static inline uint64_t expand_byte(uint8_t bits)
{
    uint64_t kept = bits * 0x0101010101010101u & 0x8040201008040201u;
    return (kept + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
}

size_t bit_expand(const uint8_t *in, size_t count, uint8_t *out)
{
    size_t ones = 0;
    for (size_t i = 0; i < count; i += 8) {
        uint8_t bits = in[i / 8];
        if (count - i < 8)
            bits = (uint8_t)(bits & ((1u << (count - i)) - 1));
        uint64_t bytes = expand_byte(bits);
        memcpy(out + i, &bytes, count - i < sizeof bytes ? count - i : sizeof bytes);
        ones += (size_t)__builtin_popcount(bits);
    }
    return ones;
}
