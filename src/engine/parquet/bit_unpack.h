/* Integers packed into as few bits as the largest needs, least significant bit first. */
#ifndef RQL_ENGINE_PARQUET_BIT_UNPACK_H
#define RQL_ENGINE_PARQUET_BIT_UNPACK_H

#include <stddef.h>
#include <stdint.h>

enum { UNPACK_GROUP = 32, UNPACK_MAX_WIDTH = 32 };

/* Unpacks `groups` times 32 values of `width` bits, 0 to 32, from 4 * width * groups bytes, of which none behind the
 * first `size` are read: values that would be there are 0. */
void bit_unpack(const uint8_t *in, size_t size, unsigned width, size_t groups, uint32_t *out);

/* Value `index` of values of `width` bits, 0 to 64; reads none behind the first `size` bytes, which may not suffice. */
uint64_t bit_unpack_one(const uint8_t *in, size_t size, unsigned width, uint64_t index);

/* `count` bits as bytes 0 and 1, least significant bit first; returns how many are 1. */
size_t bit_expand(const uint8_t *in, size_t count, uint8_t *out);

#endif
