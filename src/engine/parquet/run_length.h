/* The hybrid of run lengths and bit packing (RLE in Encodings.md of the Parquet specification): levels, indices of
 * dictionaries, bools. */
#ifndef RQL_ENGINE_PARQUET_RUN_LENGTH_H
#define RQL_ENGINE_PARQUET_RUN_LENGTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
