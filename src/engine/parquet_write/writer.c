#include "engine/parquet_write/writer.h"

#include "base/heap.h"
#include "base/integer.h"
#include "engine/arrow/stored_schema.h"
#include "engine/parquet/footer.h"
#include "engine/parquet/thrift.h"
#include "engine/parquet_write/write_schema.h"
#include "engine/storage/list_store.h"
#include "engine/storage/zonemap.h"

#include <stdlib.h>
#include <string.h>

enum {
    GROUP_ROWS = 1 << 20,
    WIDE_DECIMAL_BYTES = 9 /* of one with a digit more */
};

static const char magic[] = "PAR1";
static const enum block_codec codec = BLOCK_ZSTD;
static const int64_t max_int64_decimal = 999999999999999999; /* of MAX_DIGITS */
static const int64_t micros_per_day = 86400000000;

/* What the footer says of a chunk. */
struct chunk_entry {
    int64_t offset, data; /* data: as in struct chunk_bytes */
    int64_t size, uncompressed, values, missing;
    bool has_range, has_indices;
    struct strbuf least, most;
};

struct parquet_writer {
    const struct format_job *job;
    const struct relation *relation;
    struct writer *to;
    struct schema_formats formats;
    int64_t group_rows;
    struct chunk_entry *entries; /* of the first group, the second ... */
    int64_t groups;
    struct chunk_bytes *chunks; /* of the groups being encoded */
    int64_t first;              /* of these groups */
    int64_t offset;             /* bytes written */
};

static void put(struct parquet_writer *writer, const void *bytes, size_t size)
{
    writer_add(writer->to, bytes, size);
    writer->offset += (int64_t)size;
}

static struct zone range_of(const struct column *column)
{
    if (column->rows == 0)
        return (struct zone){0};
    return zone_of_elements(column->store, column->data, 0, column->rows);
}

/* Chooses how each column is stored. */
static void choose_formats(struct parquet_writer *writer)
{
    for (size_t k = 0; k < writer->formats.count; k++) {
        struct column_format *format = &writer->formats.at[k];
        const struct column *column = format->column;
        format->physical = PHYSICAL_INT32;
        if (column->logical.kind == LOGICAL_TEXT)
            format->physical = PHYSICAL_BYTE_ARRAY;
        else if (column->type == TYPE_BOOL)
            format->physical = PHYSICAL_BOOLEAN;
        else if (type_table[column->type].kind == KIND_FLOAT)
            format->physical = column->store == TYPE_F32 ? PHYSICAL_FLOAT : PHYSICAL_DOUBLE;
        else if (column->type == TYPE_I64)
            format->physical = PHYSICAL_INT64;
        if (column->logical.kind == LOGICAL_DURATION) {
            struct zone range = range_of(column);
            format->is_time = range.lo >= 0 && range.hi < micros_per_day;
        }
        if (column->logical.kind == LOGICAL_DECIMAL) {
            struct zone range = range_of(column);
            if (range.lo < -max_int64_decimal || range.hi > max_int64_decimal) {
                format->physical = PHYSICAL_FIXED;
                format->width = WIDE_DECIMAL_BYTES;
            }
        }
    }
}

static void encode_part(void *context, int member, int64_t part)
{
    (void)member;
    struct parquet_writer *writer = context;
    const int64_t columns = (int64_t)writer->formats.count;
    const int64_t begin = (writer->first + part / columns) * writer->group_rows;
    const int64_t end = min_int64(begin + writer->group_rows, writer->relation->rows);
    chunk_encode(&writer->formats.at[part % columns], begin, end, codec, &writer->chunks[part]);
}

/* Writes a chunk that has been encoded. Its statistics move to its entry. */
static enum status put_chunk(struct parquet_writer *writer, int64_t group, size_t column)
{
    const struct format_job *job = writer->job;
    const size_t columns = writer->formats.count;
    struct chunk_bytes *chunk = &writer->chunks[(size_t)(group - writer->first) * columns + column];
    if (chunk->problem)
        return diag_error(job->diags, job->span, "column `%s` cannot be saved: %s",
                          writer->formats.paths[column].nests[0]->name, chunk->problem);
    struct chunk_entry *entry = &writer->entries[(size_t)group * columns + column];
    *entry = (struct chunk_entry){.offset = writer->offset,
                                  .data = (int64_t)chunk->data,
                                  .size = (int64_t)chunk->pages.length,
                                  .uncompressed = chunk->uncompressed,
                                  .values = chunk->values,
                                  .missing = chunk->missing,
                                  .has_range = chunk->has_range,
                                  .has_indices = chunk->has_indices,
                                  .least = chunk->least,
                                  .most = chunk->most};
    chunk->least = chunk->most = (struct strbuf){0};
    put(writer, chunk->pages.text, chunk->pages.length);
    return STATUS_OK;
}

/* Encodes some groups, enough for all threads, and writes them in order. */
static enum status put_groups(struct parquet_writer *writer, int64_t count)
{
    const size_t columns = writer->formats.count, chunks = (size_t)count * columns;
    writer->chunks = heap_array(chunks, sizeof *writer->chunks);
    enum status status =
        workers_run(writer->job->workers, (int64_t)chunks, encode_part, writer) ? STATUS_OK : STATUS_CANCELLED;
    for (size_t i = 0; i < chunks && status == STATUS_OK; i++)
        status = put_chunk(writer, writer->first + (int64_t)(i / columns), i % columns);
    for (size_t i = 0; i < chunks; i++)
        chunk_bytes_free(&writer->chunks[i]);
    free(writer->chunks);
    return status;
}

static void put_column_metadata(struct thrift_out *chunk, const struct parquet_writer *writer, size_t k,
                                const struct chunk_entry *entry)
{
    struct thrift_out out = thrift_put_struct(chunk, 3);
    thrift_put_int32(&out, 1, (int32_t)writer->formats.at[k].physical);
    thrift_put_list(&out, 2, THRIFT_I32, entry->has_indices ? 3 : 2);
    thrift_add_int32(&out, ENCODING_PLAIN);
    thrift_add_int32(&out, ENCODING_RLE);
    if (entry->has_indices)
        thrift_add_int32(&out, ENCODING_RLE_DICTIONARY);
    schema_put_path(&out, 3, &writer->formats.paths[k]);
    thrift_put_int32(&out, 4, PAGE_CODEC_ZSTD);
    thrift_put_int64(&out, 5, entry->values);
    thrift_put_int64(&out, 6, entry->uncompressed);
    thrift_put_int64(&out, 7, entry->size);
    thrift_put_int64(&out, 9, entry->offset + entry->data);
    if (entry->has_indices)
        thrift_put_int64(&out, 11, entry->offset);
    struct thrift_out statistics = thrift_put_struct(&out, 12);
    thrift_put_int64(&statistics, 3, entry->missing);
    if (entry->has_range) {
        thrift_put_binary(&statistics, 5, entry->most.text ? entry->most.text : "", entry->most.length);
        thrift_put_binary(&statistics, 6, entry->least.text ? entry->least.text : "", entry->least.length);
    }
    thrift_end(&statistics);
    thrift_end(&out);
}

static void put_row_groups(struct thrift_out *footer, const struct parquet_writer *writer)
{
    const size_t columns = writer->formats.count;
    thrift_put_list(footer, 4, THRIFT_STRUCT, (size_t)writer->groups);
    for (int64_t group = 0; group < writer->groups; group++) {
        const struct chunk_entry *entries = &writer->entries[(size_t)group * columns];
        struct thrift_out out = {.to = footer->to};
        int64_t uncompressed = 0;
        thrift_put_list(&out, 1, THRIFT_STRUCT, columns);
        for (size_t k = 0; k < columns; k++) {
            struct thrift_out chunk = {.to = footer->to};
            thrift_put_int64(&chunk, 2, entries[k].offset);
            put_column_metadata(&chunk, writer, k, &entries[k]);
            thrift_end(&chunk);
            uncompressed += entries[k].uncompressed;
        }
        thrift_put_int64(&out, 2, uncompressed);
        thrift_put_int64(&out, 3, min_int64(writer->group_rows, writer->relation->rows - group * writer->group_rows));
        thrift_end(&out);
    }
}

static void put_pair(struct thrift_out *footer, const char *key, const struct strbuf *value)
{
    struct thrift_out pair = {.to = footer->to};
    thrift_put_binary(&pair, 1, key, strlen(key));
    thrift_put_binary(&pair, 2, value->text, value->length);
    thrift_end(&pair);
}

/* Without them readers would have to take durations that are no times of day for integers, and know no zones. */
static void put_pairs(struct thrift_out *footer, const struct parquet_writer *writer)
{
    const struct schema_formats *formats = &writer->formats;
    struct strbuf list = {0}, schema = {0};
    bool *times = heap_array(formats->count, sizeof *times);
    for (size_t k = 0; k < formats->count; k++) {
        times[k] = formats->at[k].is_time;
        if (formats->at[k].column->logical.kind == LOGICAL_DURATION && !times[k])
            strbuf_printf(&list, "%zu,", k);
    }
    if (stored_schema_is_needed(formats->root))
        stored_schema_write(&schema, formats->root, times);
    free(times);
    const size_t count = (size_t)(list.length > 0) + (size_t)(schema.length > 0);
    if (count > 0)
        thrift_put_list(footer, 5, THRIFT_STRUCT, count);
    if (list.length > 0)
        put_pair(footer, duration_key, &list);
    if (schema.length > 0)
        put_pair(footer, stored_schema_key, &schema);
    strbuf_free(&list);
    strbuf_free(&schema);
}

static enum status put_footer(struct parquet_writer *writer)
{
    static const char created_by[] = "rql version " RQL_VERSION;
    struct strbuf bytes = {0};
    struct thrift_out footer = {.to = &bytes};
    thrift_put_int32(&footer, 1, 2);
    schema_put(&footer, &writer->formats);
    thrift_put_int64(&footer, 3, writer->relation->rows);
    put_row_groups(&footer, writer);
    put_pairs(&footer, writer);
    thrift_put_binary(&footer, 6, created_by, strlen(created_by));
    /* The order of extreme values: that of their types. */
    thrift_put_list(&footer, 7, THRIFT_STRUCT, writer->formats.count);
    for (size_t k = 0; k < writer->formats.count; k++) {
        struct thrift_out order = {.to = &bytes};
        struct thrift_out of_type = thrift_put_struct(&order, 1);
        thrift_end(&of_type);
        thrift_end(&order);
    }
    thrift_end(&footer);
    uint32_t length = (uint32_t)bytes.length;
    const bool fits = bytes.length <= INT32_MAX;
    put(writer, bytes.text, bytes.length);
    put(writer, &length, sizeof length);
    put(writer, magic, strlen(magic));
    strbuf_free(&bytes);
    if (fits)
        return STATUS_OK;
    return diag_error(writer->job->diags, writer->job->span, "there are too many columns and rows for a Parquet file");
}

/* Fewer rows in a group if they have many elements, on average. */
static int64_t choose_group_rows(const struct relation *relation)
{
    int64_t most = relation->rows;
    for (size_t k = 0; k < relation->count; k++) {
        const struct logical_type *logical = &relation->columns[k]->logical;
        while (logical->kind == LOGICAL_LIST) {
            const struct relation *elements = logical->lists->elements;
            most = max_int64(most, elements->rows);
            logical = &elements->columns[0]->logical;
        }
    }
    return relation->rows > 0 ? max_int64(1, GROUP_ROWS / divide_up(most, relation->rows)) : GROUP_ROWS;
}

enum status write_parquet(const struct format_job *job, const struct relation *relation, struct writer *to)
{
    struct arena *arena = arena_new();
    struct parquet_writer writer = {.job = job, .relation = relation, .to = to};
    schema_formats_init(&writer.formats, relation, arena);
    const int64_t columns = (int64_t)writer.formats.count;
    writer.group_rows = choose_group_rows(relation);
    writer.groups = divide_up(relation->rows, writer.group_rows);
    const size_t entry_count = (size_t)writer.groups * writer.formats.count;
    writer.entries = heap_array(entry_count + 1, sizeof *writer.entries);
    choose_formats(&writer);
    put(&writer, magic, strlen(magic));
    enum status status = STATUS_OK;
    const int64_t at_once = divide_up(2 * (int64_t)job->workers->threads, columns);
    for (; writer.first < writer.groups && status == STATUS_OK && to->error == 0; writer.first += at_once)
        status = put_groups(&writer, min_int64(at_once, writer.groups - writer.first));
    if (status == STATUS_OK)
        status = put_footer(&writer);
    for (size_t i = 0; i < entry_count; i++) {
        strbuf_free(&writer.entries[i].least);
        strbuf_free(&writer.entries[i].most);
    }
    free(writer.entries);
    arena_free(arena);
    return status;
}
