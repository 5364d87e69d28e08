#include "engine/parquet/page.h"

#include "engine/compression/block_codec.h"

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

static enum read_error open_v2(const struct page_header *page, int64_t codec, const struct page_levels *levels,
                               struct scratch *scratch, struct page_values *values)
{
    const size_t skipped = (size_t)page->repetition_bytes + (size_t)page->level_bytes;
    const enum read_error error =
        open_bytes(page, skipped, page->is_compressed ? codec : PAGE_CODEC_NONE, scratch, values);
    if (error != READ_OK)
        return error;
    return levels_take_v2(page, levels, &values->present) ? READ_OK : READ_BAD_LEVELS;
}

enum read_error page_open_data(const struct page_header *page, int64_t codec, const struct page_levels *levels,
                               struct scratch *scratch, struct page_values *values)
{
    if (!checksum_holds(page))
        return READ_BAD_CHECKSUM;
    if (page->type == PAGE_DATA_V2)
        return open_v2(page, codec, levels, scratch, values);
    const enum read_error error = open_bytes(page, 0, codec, scratch, values);
    if (error != READ_OK)
        return error;
    return levels_take(page, levels, &values->at, values->end, &values->present) ? READ_OK : READ_BAD_LEVELS;
}
