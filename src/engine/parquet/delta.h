/* Integers stored as packed differences (DELTA_BINARY_PACKED in Encodings.md of the Parquet specification). */
#ifndef RQL_ENGINE_PARQUET_DELTA_H
#define RQL_ENGINE_PARQUET_DELTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes exactly `count` integers of `width` bytes, 4 or 8, and moves *at behind them. Returns false if the input is
 * malformed or has another number of integers. */
bool delta_decode(const uint8_t **at, const uint8_t *end, size_t count, unsigned width, void *out);

#endif
