#include "engine/parquet_write/write_chunk.h"

#include "base/heap.h"
#include "engine/parquet/page.h"
#include "engine/parquet/thrift.h"
#include "engine/values/dictionary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE_ROWS = 1 << 16,
    PAGE_TEXT_BYTES = 1 << 20,
    MAX_SPAN = 1 << 16,              /* of integers with a dictionary */
    MAX_DICTIONARY_BYTES = 32 << 20, /* of text */
    MIN_USES = 2,                    /* values for each entry of a dictionary, on average */
    MAX_STATISTIC = 64               /* bytes of text */
};

/* The state of encoding a chunk. */
struct encoder {
    const struct column_format *format;
    const struct column *column;
    enum block_codec codec;
    int64_t begin, end; /* rows */
    struct chunk_bytes *chunk;
    int64_t *values;   /* of a page, those that are not missing; floats have their bits */
    uint32_t *indices; /* of a page */
    uint32_t *entries; /* with a dictionary: of each integer from `lowest`, its entry */
    size_t entry_count;
    int64_t lowest;
    struct strbuf page, block;
};

static bool is_text(const struct column *column)
{
    return column->logical.kind == LOGICAL_TEXT;
}

static const uint8_t *validity_at(const struct encoder *encoder, int64_t row)
{
    return encoder->column->validity ? (const uint8_t *)encoder->column->validity->data + row : NULL;
}

/* Inlined for each type, so that the load is one instruction. */
static inline __attribute__((always_inline)) size_t load(const char *data, size_t size, bool is_signed,
                                                         const uint8_t *validity, size_t rows, int64_t *to)
{
    size_t count = 0;
    const unsigned unused = 64 - 8 * (unsigned)size;
    for (size_t i = 0; i < rows; i++) {
        uint64_t bits = 0;
        memcpy(&bits, data + i * size, size);
        to[count] = is_signed ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
        count += validity ? validity[i] : 1;
    }
    return count;
}

/* Loads the values of rows that are not missing; returns their number. */
static size_t load_values(const struct encoder *encoder, int64_t row, size_t rows)
{
    const struct column *column = encoder->column;
    const uint8_t *validity = validity_at(encoder, row);
    const char *data = (const char *)column->data + (size_t)row * type_table[column->store].size;
    int64_t *to = encoder->values;
    switch (column->store) {
#define INTEGER_TYPE(type, element, name, kind, lo, ...)                                                               \
    case TYPE_##type:                                                                                                  \
        return load(data, sizeof(element), (lo) < 0, validity, rows, to);
#define FLOAT_TYPE(type, element, ...)                                                                                 \
    case TYPE_##type:                                                                                                  \
        return load(data, sizeof(element), false, validity, rows, to);
#include "engine/values/types.def"
    case TYPE_COUNT:
        break;
    }
    return 0;
}

static void add_values(struct strbuf *out, const struct column_format *format, const int64_t *values, size_t count)
{
    switch (format->physical) {
    case PHYSICAL_BOOLEAN:
        encode_bools(out, values, count);
        return;
    case PHYSICAL_INT32:
    case PHYSICAL_FLOAT:
        encode_int32(out, values, count);
        return;
    case PHYSICAL_INT64:
    case PHYSICAL_DOUBLE:
        encode_int64(out, values, count);
        return;
    case PHYSICAL_FIXED:
        encode_big_endian(out, values, count, format->width);
        return;
    case PHYSICAL_BYTE_ARRAY:
        for (size_t i = 0; i < count; i++)
            encode_text(out, dictionary_text(format->column->logical.dictionary, values[i]));
        return;
    case PHYSICAL_INT96:
    case PHYSICAL_COUNT:
        return;
    }
}

/* What a pass over all values finds. */
struct survey {
    int64_t present;
    int64_t lo, hi;   /* integers and codes */
    double low, high; /* floats */
    bool nan;
};

static double float_of(const struct column *column, int64_t bits)
{
    double number;
    float narrow;
    if (column->store == TYPE_F32) {
        memcpy(&narrow, &bits, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&number, &bits, sizeof number);
    return number;
}

static struct survey survey_values(const struct encoder *encoder)
{
    struct survey survey = {.lo = INT64_MAX, .hi = INT64_MIN, .low = INFINITY, .high = -INFINITY};
    const bool is_float = type_table[encoder->column->type].kind == KIND_FLOAT;
    for (int64_t row = encoder->begin; row < encoder->end; row += PAGE_ROWS) {
        const int64_t rows = encoder->end - row < PAGE_ROWS ? encoder->end - row : PAGE_ROWS;
        const size_t count = load_values(encoder, row, (size_t)rows);
        survey.present += (int64_t)count;
        for (size_t i = 0; i < count && !is_float; i++) {
            survey.lo = encoder->values[i] < survey.lo ? encoder->values[i] : survey.lo;
            survey.hi = encoder->values[i] > survey.hi ? encoder->values[i] : survey.hi;
        }
        for (size_t i = 0; i < count && is_float; i++) {
            const double value = float_of(encoder->column, encoder->values[i]);
            survey.low = value < survey.low ? value : survey.low;
            survey.high = value > survey.high ? value : survey.high;
            survey.nan = survey.nan || isnan(value);
        }
    }
    return survey;
}

/* Sets the extreme values as the specification wants them: none if there are NaNs, and no sign of zero to rely on. */
static void set_statistics(struct encoder *encoder, const struct survey *survey)
{
    struct chunk_bytes *chunk = encoder->chunk;
    const struct column *column = encoder->column;
    int64_t least = survey->lo, most = survey->hi;
    if (survey->present == 0 || survey->nan)
        return;
    if (column->store == TYPE_F64) {
        double low = survey->low == 0 ? -0.0 : survey->low, high = survey->high == 0 ? 0.0 : survey->high;
        memcpy(&least, &low, sizeof least);
        memcpy(&most, &high, sizeof most);
    } else if (column->store == TYPE_F32) {
        float low = survey->low == 0 ? -0.0F : (float)survey->low,
              high = survey->high == 0 ? 0.0F : (float)survey->high;
        least = most = 0;
        memcpy(&least, &low, sizeof low);
        memcpy(&most, &high, sizeof high);
    }
    if (is_text(column)) {
        struct text first = dictionary_text(column->logical.dictionary, least);
        struct text last = dictionary_text(column->logical.dictionary, most);
        if (first.length > MAX_STATISTIC || last.length > MAX_STATISTIC)
            return;
        strbuf_add(&chunk->least, first.at, first.length);
        strbuf_add(&chunk->most, last.at, last.length);
    } else {
        add_values(&chunk->least, encoder->format, &least, 1);
        add_values(&chunk->most, encoder->format, &most, 1);
    }
    chunk->has_range = true;
}

/* Compresses the page's body and appends it behind its header. */
static void add_page(struct encoder *encoder, enum page_type type, size_t values)
{
    struct chunk_bytes *chunk = encoder->chunk;
    struct strbuf *body = &encoder->page, *block = &encoder->block;
    const size_t bound = block_bound(encoder->codec, body->length);
    if (body->length > INT32_MAX || bound > INT32_MAX) {
        chunk->problem = "a page would be larger than 2 GiB";
        return;
    }
    strbuf_clear(block);
    char *to = strbuf_reserve(block, bound);
    const size_t size = block_compress(encoder->codec, body->length > 0 ? body->text : "", body->length, to, bound);
    if (size == 0 && body->length > 0) {
        chunk->problem = "there is not enough memory to compress it";
        return;
    }
    const size_t before = chunk->pages.length;
    struct thrift_out out = {.to = &chunk->pages};
    thrift_put_int32(&out, 1, (int32_t)type);
    thrift_put_int32(&out, 2, (int32_t)body->length);
    thrift_put_int32(&out, 3, (int32_t)size);
    struct thrift_out header = thrift_put_struct(&out, type == PAGE_DATA ? 5 : 7);
    thrift_put_int32(&header, 1, (int32_t)values);
    thrift_put_int32(&header, 2, type == PAGE_DATA && encoder->entries ? ENCODING_RLE_DICTIONARY : ENCODING_PLAIN);
    if (type == PAGE_DATA) {
        thrift_put_int32(&header, 3, ENCODING_RLE);
        thrift_put_int32(&header, 4, ENCODING_RLE);
    }
    thrift_end(&header);
    thrift_end(&out);
    chunk->uncompressed += (int64_t)(chunk->pages.length - before + body->length);
    strbuf_add(&chunk->pages, to, size);
    strbuf_clear(body);
}

/* Marks the integers that occur. */
static void mark_used(const struct encoder *encoder)
{
    for (int64_t row = encoder->begin; row < encoder->end; row += PAGE_ROWS) {
        const int64_t rows = encoder->end - row < PAGE_ROWS ? encoder->end - row : PAGE_ROWS;
        const size_t count = load_values(encoder, row, (size_t)rows);
        for (size_t i = 0; i < count; i++)
            encoder->entries[encoder->values[i] - encoder->lowest] = 1;
    }
}

/* Numbers the integers that occur, in ascending order. Returns the bytes of text among them. */
static size_t number_entries(struct encoder *encoder, size_t span)
{
    size_t bytes = 0;
    for (size_t i = 0; i < span; i++) {
        if (!encoder->entries[i])
            continue;
        if (is_text(encoder->column))
            bytes += dictionary_text(encoder->column->logical.dictionary, encoder->lowest + (int64_t)i).length;
        encoder->entries[i] = (uint32_t)encoder->entry_count++ + 1;
    }
    return bytes;
}

/* Makes a dictionary of the values if there are few enough of them, and its page. */
static void choose_dictionary(struct encoder *encoder, const struct survey *survey)
{
    const bool is_integer = type_table[encoder->column->type].kind == KIND_INT;
    uint64_t span = (uint64_t)survey->hi - (uint64_t)survey->lo + 1; /* 0: all of 64 bits */
    if (!is_integer || survey->present == 0 || span == 0 || (!is_text(encoder->column) && span > MAX_SPAN))
        return;
    encoder->lowest = survey->lo;
    encoder->entries = heap_array((size_t)span, sizeof *encoder->entries);
    mark_used(encoder);
    const size_t bytes = number_entries(encoder, (size_t)span);
    if (encoder->entry_count * MIN_USES > (size_t)survey->present || bytes > MAX_DICTIONARY_BYTES) {
        free(encoder->entries);
        encoder->entries = NULL;
        return;
    }
    for (size_t i = 0; i < span; i++) {
        int64_t value = encoder->lowest + (int64_t)i;
        if (encoder->entries[i])
            add_values(&encoder->page, encoder->format, &value, 1);
    }
    add_page(encoder, PAGE_DICTIONARY, encoder->entry_count);
    encoder->chunk->data = encoder->chunk->pages.length;
    encoder->chunk->has_indices = true;
}

/* The rows of the page that begins at `row`: fewer if their text is long. */
static int64_t page_rows(const struct encoder *encoder, int64_t row)
{
    const int64_t rows = encoder->end - row < PAGE_ROWS ? encoder->end - row : PAGE_ROWS;
    if (!is_text(encoder->column) || encoder->entries)
        return rows;
    size_t bytes = 0;
    for (int64_t i = 0; i < rows; i++) {
        if (!column_is_missing(encoder->column, row + i))
            bytes +=
                dictionary_text(encoder->column->logical.dictionary, column_get_int(encoder->column, row + i)).length;
        if (bytes > PAGE_TEXT_BYTES)
            return i > 0 ? i : 1;
    }
    return rows;
}

/* Appends the values of rows, behind the levels, and the page. */
static void add_values_page(struct encoder *encoder, int64_t row, int64_t rows, size_t levels)
{
    const size_t count = load_values(encoder, row, (size_t)rows);
    if (encoder->entries) {
        for (size_t i = 0; i < count; i++)
            encoder->indices[i] = encoder->entries[encoder->values[i] - encoder->lowest] - 1;
        encode_indices(&encoder->page, encoder->indices, count, encoder->entry_count);
    } else {
        add_values(&encoder->page, encoder->format, encoder->values, count);
    }
    add_page(encoder, PAGE_DATA, levels);
}

static void add_flat_pages(struct encoder *encoder)
{
    for (int64_t row = encoder->begin; row < encoder->end && !encoder->chunk->problem;) {
        const int64_t rows = page_rows(encoder, row);
        const uint8_t *validity = validity_at(encoder, row);
        if (validity)
            encode_levels(&encoder->page, validity, (size_t)rows);
        add_values_page(encoder, row, rows, (size_t)rows);
        row += rows;
    }
}

/* The levels from `begin` that go into one page: whole rows, of which one may be too long for a page of values, and
 * then is cut. */
static size_t page_levels_end(const struct row_levels *levels, size_t begin, unsigned definition, int64_t values)
{
    size_t end = begin, row = begin;
    int64_t taken = 0;
    for (; end < levels->count && end - begin < PAGE_ROWS; end++) {
        if (levels->repetitions[end] == 0)
            row = end;
        if (levels->definitions[end] == definition && taken++ == values)
            break;
    }
    return end == levels->count || row == begin ? end : row;
}

/* The pages of values that are packed: encoder->column has just those. */
static void add_deep_pages(struct encoder *encoder, const struct leaf_path *path, const struct row_levels *levels)
{
    int64_t row = 0;
    for (size_t begin = 0; begin < levels->count && !encoder->chunk->problem;) {
        const int64_t most = row < encoder->end ? page_rows(encoder, row) : 0;
        const size_t end = page_levels_end(levels, begin, path->definition, most);
        int64_t rows = 0;
        for (size_t i = begin; i < end; i++)
            rows += levels->definitions[i] == path->definition;
        if (path->repetition > 0)
            encode_deep_levels(&encoder->page, levels->repetitions + begin, end - begin, path->repetition);
        if (path->definition > 0)
            encode_deep_levels(&encoder->page, levels->definitions + begin, end - begin, path->definition);
        add_values_page(encoder, row, rows, end - begin);
        row += rows;
        begin = end;
    }
}

static void encode(struct encoder *encoder, const struct row_levels *levels)
{
    struct chunk_bytes *chunk = encoder->chunk;
    encoder->values = heap_array(PAGE_ROWS + 1, sizeof(int64_t));
    encoder->indices = heap_array(PAGE_ROWS, sizeof(uint32_t));
    const struct survey survey = survey_values(encoder);
    chunk->values = levels ? (int64_t)levels->count : encoder->end - encoder->begin;
    chunk->missing = chunk->values - survey.present;
    set_statistics(encoder, &survey);
    choose_dictionary(encoder, &survey);
    if (levels)
        add_deep_pages(encoder, encoder->format->path, levels);
    else
        add_flat_pages(encoder);
    free(encoder->values);
    free(encoder->indices);
    free(encoder->entries);
    strbuf_free(&encoder->page);
    strbuf_free(&encoder->block);
}

void chunk_encode(const struct column_format *format, int64_t begin, int64_t end, enum block_codec codec,
                  struct chunk_bytes *chunk)
{
    struct encoder encoder = {.format = format, .column = format->column, .codec = codec, .chunk = chunk};
    struct row_levels levels;
    if (!format->path) {
        encoder.begin = begin;
        encoder.end = end;
        encode(&encoder, NULL);
        return;
    }
    if (!row_levels_find(format->path, begin, end, &levels)) {
        chunk->problem = "there is not enough memory for its levels";
        return;
    }
    struct column *values = nest_take(format->column, levels.rows, (int64_t)levels.present);
    if (values) {
        encoder.column = values;
        encoder.end = values->rows;
        encode(&encoder, &levels);
    } else {
        chunk->problem = "there is not enough memory for its values";
    }
    column_unref(values);
    row_levels_free(&levels);
}

void chunk_bytes_free(struct chunk_bytes *chunk)
{
    strbuf_free(&chunk->pages);
    strbuf_free(&chunk->least);
    strbuf_free(&chunk->most);
}
