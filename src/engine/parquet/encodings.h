/* Integers as Parquet packs them (Encodings.md of its specification): into as few bits as the largest needs, least
 * significant bit first; with the lengths of runs; as differences. */
#ifndef RQL_ENGINE_PARQUET_ENCODINGS_H
#define RQL_ENGINE_PARQUET_ENCODINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads an integer of seven bits a byte, the least significant first (ULEB 128), and moves *at behind it. False: it
 * does not end before `end` or exceeds 64 bits. */
bool varint_read(const uint8_t **at, const uint8_t *end, uint64_t *value);

enum { UNPACK_GROUP = 32, UNPACK_MAX_WIDTH = 32 };

/* Unpacks `groups` times 32 values of `width` bits, 0 to 32, from 4 * width * groups bytes, of which none behind the
 * first `size` are read: values that would be there are 0. */
void bit_unpack(const uint8_t *in, size_t size, unsigned width, size_t groups, uint32_t *out);

/* Value `index` of values of `width` bits, 0 to 64; reads none behind the first `size` bytes, which may not suffice. */
uint64_t bit_unpack_one(const uint8_t *in, size_t size, unsigned width, uint64_t index);

/* `count` bits as bytes 0 and 1, least significant bit first; returns how many are 1. */
size_t bit_expand(const uint8_t *in, size_t count, uint8_t *out);

/* The hybrid of run lengths and bit packing (RLE): levels, indices of dictionaries, bools. */

struct run_length {
    const uint8_t *at, *end;
    unsigned width; /* bits of a value, at most 32 */
};

/* `count` times `value`, or packed: `count` values in `size` bytes. */
struct run {
    bool packed;
    size_t count;
    uint32_t value;
    const uint8_t *bytes;
    size_t size;
};

/* Reads the next run, of at most `max` values: the rest of a longer one is dropped. Returns false if the input is
 * malformed or at its end. */
bool run_length_next(struct run_length *in, size_t max, struct run *run);

/* Integers stored as packed differences (DELTA_BINARY_PACKED). */

/* Decodes exactly `count` integers of `width` bytes, 4 or 8, and moves *at behind them. Returns false if the input is
 * malformed or has another number of integers. */
bool delta_decode(const uint8_t **at, const uint8_t *end, size_t count, unsigned width, void *out);

#endif
