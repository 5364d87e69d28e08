/* Values to the bytes of pages. */
#ifndef RQL_ENGINE_PARQUET_ENCODE_H
#define RQL_ENGINE_PARQUET_ENCODE_H

#include "base/strbuf.h"
#include "engine/parquet/footer.h"

/* Appends which of the rows have a value, in front of the values of a page of version 1. */
void encode_levels(struct strbuf *out, const uint8_t *validity, size_t rows);

/* Appends levels of at most `most` in the same form. */
void encode_deep_levels(struct strbuf *out, const uint8_t *levels, size_t count, unsigned most);

/* Appends indices of a dictionary with `entries` entries. */
void encode_indices(struct strbuf *out, const uint32_t *indices, size_t count, size_t entries);

/* Appends values in ENCODING_PLAIN. */
void encode_bools(struct strbuf *out, const int64_t *values, size_t count);
void encode_int32(struct strbuf *out, const int64_t *values, size_t count);
void encode_int64(struct strbuf *out, const int64_t *values, size_t count);
void encode_big_endian(struct strbuf *out, const int64_t *values, size_t count, size_t width);
void encode_text(struct strbuf *out, struct text text);

#endif
