#include "engine/parquet/page.h"

#include "engine/parquet/encodings.h"
#include "engine/storage/block_codec.h"

#include <string.h>
#include <zlib.h>

enum { HADOOP_HEAD = 8, LENGTH_BYTES = 4 };

static const struct {
    const char *name;
    bool known;
    enum block_codec codec;
} codecs[] = {
    [PAGE_CODEC_NONE] = {"none", true, BLOCK_NONE},       [PAGE_CODEC_SNAPPY] = {"snappy", true, BLOCK_SNAPPY},
    [PAGE_CODEC_GZIP] = {"gzip", true, BLOCK_GZIP},       [PAGE_CODEC_LZO] = {"LZO", false, BLOCK_NONE},
    [PAGE_CODEC_BROTLI] = {"brotli", true, BLOCK_BROTLI}, [PAGE_CODEC_HADOOP_LZ4] = {"LZ4", true, BLOCK_LZ4},
    [PAGE_CODEC_ZSTD] = {"zstd", true, BLOCK_ZSTD},       [PAGE_CODEC_LZ4] = {"LZ4", true, BLOCK_LZ4},
};

static bool in_table(int64_t codec)
{
    return codec >= 0 && codec < (int64_t)(sizeof codecs / sizeof *codecs);
}

bool page_codec_known(int64_t codec)
{
    return in_table(codec) && codecs[codec].known;
}

const char *page_codec_name(int64_t codec)
{
    return in_table(codec) ? codecs[codec].name : "an unknown codec";
}

const char *page_codec_lacks(int64_t codec)
{
    return page_codec_known(codec) ? block_codec_lacks(codecs[codec].codec) : NULL;
}

static size_t load_big_endian(const uint8_t *at)
{
    return (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
}

/* Hadoop's framing: blocks that each begin with both lengths. */
static bool decompress_hadoop(struct block_decoder *decoder, const uint8_t *block, size_t size, uint8_t *to,
                              size_t length)
{
    while (length > 0) {
        if (size < HADOOP_HEAD)
            return false;
        size_t part = load_big_endian(block), stored = load_big_endian(block + LENGTH_BYTES);
        block += HADOOP_HEAD;
        size -= HADOOP_HEAD;
        if (part == 0 || part > length || stored > size ||
            !block_decompress(decoder, BLOCK_LZ4, block, stored, to, part))
            return false;
        block += stored;
        size -= stored;
        to += part;
        length -= part;
    }
    return size == 0;
}

static bool decompress(struct block_decoder *decoder, int64_t codec, const uint8_t *block, size_t size, uint8_t *to,
                       size_t length)
{
    /* The codec "LZ4" was never specified: files have any of three framings. */
    if (codec == PAGE_CODEC_HADOOP_LZ4)
        return decompress_hadoop(decoder, block, size, to, length) ||
               block_decompress(decoder, BLOCK_LZ4_FRAME, block, size, to, length) ||
               block_decompress(decoder, BLOCK_LZ4, block, size, to, length);
    return block_decompress(decoder, codecs[codec].codec, block, size, to, length);
}

static bool checksum_holds(const struct page_header *page)
{
    return !page->has_checksum || crc32(0, page->data, (uInt)page->size) == page->checksum;
}

/* Sets the bytes of the page behind the first `skipped`, which are stored as they are. */
static enum read_error open_bytes(const struct page_header *page, size_t skipped, int64_t codec,
                                  struct scratch *scratch, struct page_values *values)
{
    if (skipped > (size_t)page->size || skipped > (size_t)page->length)
        return READ_BAD_HEADER;
    size_t size = (size_t)page->size - skipped, length = (size_t)page->length - skipped;
    const uint8_t *data = page->data + skipped;
    if (codec == PAGE_CODEC_NONE) {
        *values = (struct page_values){.at = data, .end = data + size};
        return READ_OK;
    }
    if (page_codec_lacks(codec))
        return READ_NO_LIBRARY;
    uint8_t *to = scratch_reserve(scratch, &scratch->page, length + 1);
    if (!to)
        return READ_NO_MEMORY;
    *values = (struct page_values){.at = to, .end = to + length};
    return length == 0 || decompress(&scratch->decoder, codec, data, size, to, length) ? READ_OK : READ_BAD_BLOCK;
}

enum read_error page_open_dictionary(const struct page_header *page, int64_t codec, struct scratch *scratch,
                                     struct page_values *values)
{
    if (!checksum_holds(page))
        return READ_BAD_CHECKSUM;
    const enum read_error error = open_bytes(page, 0, codec, scratch, values);
    values->present = (size_t)page->values;
    return error;
}

/* Writes the levels, 0 or 1, of all rows and counts those that are 1. If the first run says that all are, nothing is
 * written. */
static bool decode_levels(const uint8_t *at, const uint8_t *end, size_t rows, uint8_t *validity, size_t *present)
{
    struct run_length in = {at, end, 1};
    *present = 0;
    for (size_t done = 0; done < rows;) {
        struct run run;
        if (!run_length_next(&in, rows - done, &run))
            return false;
        if (run.packed) {
            *present += bit_expand(run.bytes, run.count, validity + done);
        } else {
            *present += run.value ? run.count : 0;
            if (*present == rows)
                return true;
            memset(validity + done, (int)run.value, run.count);
        }
        done += run.count;
    }
    return true;
}

/* Levels in the deprecated encoding: bits, the most significant first. */
static bool decode_packed_levels(struct page_values *values, size_t rows, uint8_t *validity)
{
    const size_t bytes = (rows + 7) / 8;
    if ((size_t)(values->end - values->at) < bytes)
        return false;
    values->present = 0;
    for (size_t row = 0; row < rows; row++) {
        validity[row] = values->at[row / 8] >> (7 - row % 8) & 1;
        values->present += validity[row];
    }
    values->at += bytes;
    return true;
}

/* Reads the levels in front of the values of a page of version 1. */
static bool take_levels(const struct page_header *page, uint8_t *validity, struct page_values *values)
{
    if (page->level_encoding == ENCODING_BIT_PACKED)
        return decode_packed_levels(values, (size_t)page->values, validity);
    uint32_t length;
    if (page->level_encoding != ENCODING_RLE || (size_t)(values->end - values->at) < sizeof length)
        return false;
    memcpy(&length, values->at, sizeof length);
    values->at += sizeof length;
    if (length > (size_t)(values->end - values->at))
        return false;
    const uint8_t *levels = values->at;
    values->at += length;
    return decode_levels(levels, values->at, (size_t)page->values, validity, &values->present);
}

static enum read_error open_v2(const struct page_header *page, int64_t codec, bool optional, struct scratch *scratch,
                               uint8_t *validity, struct page_values *values)
{
    const size_t skipped = (size_t)page->repetition_bytes + (size_t)page->level_bytes;
    const enum read_error error =
        open_bytes(page, skipped, page->is_compressed ? codec : PAGE_CODEC_NONE, scratch, values);
    if (error != READ_OK)
        return error;
    values->present = (size_t)page->values;
    const uint8_t *levels = page->data + page->repetition_bytes;
    if (optional &&
        !decode_levels(levels, levels + page->level_bytes, (size_t)page->values, validity, &values->present))
        return READ_BAD_LEVELS;
    return READ_OK;
}

enum read_error page_open_data(const struct page_header *page, int64_t codec, bool optional, struct scratch *scratch,
                               uint8_t *validity, struct page_values *values)
{
    if (!checksum_holds(page))
        return READ_BAD_CHECKSUM;
    if (page->type == PAGE_DATA_V2)
        return open_v2(page, codec, optional, scratch, validity, values);
    const enum read_error error = open_bytes(page, 0, codec, scratch, values);
    if (error != READ_OK)
        return error;
    values->present = (size_t)page->values;
    if (optional && page->values > 0 && !take_levels(page, validity, values))
        return READ_BAD_LEVELS;
    return READ_OK;
}
