#include "engine/parquet/reader.h"

#include "base/heap.h"
#include "base/time/time_zone.h"
#include "engine/arrow/stored_schema.h"
#include "engine/storage/list_store.h"
#include "engine/storage/pandas_index.h"

#include <stdlib.h>
#include <string.h>

enum { MAGIC_BYTES = 4, TAIL_BYTES = 8, SLACK_BYTES = 256, SAMPLE_BYTES = 4 << 20 };

static enum status fail(const struct format_job *job, const struct mapping *mapping, const char *what)
{
    return diag_error(job->diags, job->span, "`%s` %s", mapping_path(mapping), what);
}

const uint8_t *parquet_chunk_begin(const struct parquet_reader *reader, const struct chunk *chunk)
{
    /* A dictionary comes first; some writers say 0 where there is none. */
    const int64_t offset = chunk->dictionary > 0 && chunk->dictionary < chunk->data ? chunk->dictionary : chunk->data;
    if (offset < MAGIC_BYTES || (uint64_t)offset > mapping_length(reader->mapping) - TAIL_BYTES)
        return NULL;
    return (const uint8_t *)mapping_data(reader->mapping) + offset;
}

struct byte_range parquet_chunk_range(const struct parquet_reader *reader, const struct chunk *chunk)
{
    const uint8_t *begin = parquet_chunk_begin(reader, chunk), *data = mapping_data(reader->mapping);
    if (!begin)
        return (struct byte_range){0};
    const size_t offset = (size_t)(begin - data), most = mapping_length(reader->mapping) - TAIL_BYTES - offset;
    const bool told = chunk->bytes > 0 && (uint64_t)chunk->bytes < most - (most < SLACK_BYTES ? most : SLACK_BYTES);
    return (struct byte_range){offset, told ? (size_t)chunk->bytes + SLACK_BYTES : most};
}

const uint8_t *parquet_chunk_end(const struct parquet_reader *reader, const struct chunk *chunk)
{
    const uint8_t *data = mapping_data(reader->mapping);
    const struct byte_range range = parquet_chunk_range(reader, chunk);
    return mapping_is_partial(reader->mapping) ? data + range.offset + range.length
                                               : data + mapping_length(reader->mapping) - TAIL_BYTES;
}

/* Asks for what is read of a column of bytes to see whether it is text. */
static enum status need_samples(const struct parquet_reader *reader, const struct format_job *job)
{
    const struct footer *footer = &reader->footer;
    size_t first = 0, count = 0, leaves = 0;
    while (first < footer->group_count && footer->groups[first].rows == 0)
        first++;
    if (!mapping_is_partial(reader->mapping) || first == footer->group_count)
        return STATUS_OK;
    struct byte_range *ranges = arena_array(job->diags->arena, footer->element_count, sizeof *ranges);
    for (size_t i = 1; i < footer->element_count; i++) {
        struct leaf leaf = {.index = leaves};
        leaves += footer->elements[i].is_leaf;
        if (!footer->elements[i].is_leaf || leaf_of_element(&footer->elements[i], &leaf) != LEAF_OK || !leaf.binary)
            continue;
        ranges[count] = parquet_chunk_range(reader, &footer->groups[first].chunks[leaf.index]);
        if (ranges[count].length > SAMPLE_BYTES)
            ranges[count].length = SAMPLE_BYTES;
        count++;
    }
    return mapping_need(reader->mapping, ranges, count, job->workers, job->span, job->diags);
}

static enum status need_bytes(const struct parquet_reader *reader, const struct format_job *job, size_t offset,
                              size_t length)
{
    const struct byte_range range = {offset, length};
    return mapping_need(reader->mapping, &range, 1, job->workers, job->span, job->diags);
}

static enum status parse_footer(struct parquet_reader *reader, const struct format_job *job)
{
    static const char magic[] = "PAR1", encrypted_magic[] = "PARE";
    const uint8_t *data = mapping_data(reader->mapping);
    const size_t length = mapping_length(reader->mapping);
    if (length < MAGIC_BYTES + TAIL_BYTES)
        return fail(job, reader->mapping, "is not a Parquet file, or truncated");
    const uint8_t *tail = data + length - TAIL_BYTES;
    enum status status = need_bytes(reader, job, length - TAIL_BYTES, TAIL_BYTES);
    if (status != STATUS_OK)
        return status;
    if (memcmp(tail + MAGIC_BYTES, encrypted_magic, MAGIC_BYTES) == 0)
        return fail(job, reader->mapping, "is encrypted, which is not supported");
    /* The end is enough where the beginning would be a request. */
    if ((!mapping_is_partial(reader->mapping) && memcmp(data, magic, MAGIC_BYTES) != 0) ||
        memcmp(tail + MAGIC_BYTES, magic, MAGIC_BYTES) != 0)
        return fail(job, reader->mapping, "is not a Parquet file, or truncated");
    uint32_t size;
    memcpy(&size, tail, sizeof size);
    if (size > length - MAGIC_BYTES - TAIL_BYTES)
        return fail(job, reader->mapping, "is damaged: its footer is longer than the file");
    status = need_bytes(reader, job, length - TAIL_BYTES - size, size);
    if (status != STATUS_OK)
        return status;
    const char *problem = footer_parse(tail - size, size, reader->arena, &reader->footer);
    if (problem)
        return diag_error(job->diags, job->span, "`%s` is damaged: %s", mapping_path(reader->mapping), problem);
    if (reader->footer.encrypted)
        return fail(job, reader->mapping, "is encrypted, which is not supported");
    return STATUS_OK;
}

/* Makes durations of the columns whose leaves are listed as decimal numbers, each with a comma behind it. */
static void find_durations(struct parquet_reader *reader)
{
    const struct text list = reader->footer.durations;
    size_t index = 0, k = 0;
    for (size_t i = 0; i < list.length; i++) {
        if (list.at[i] >= '0' && list.at[i] <= '9') {
            index = index * 10 + (size_t)(list.at[i] - '0');
            continue;
        }
        while (k < reader->leaf_count && reader->leaves[k].index < index)
            k++;
        if (k < reader->leaf_count && reader->leaves[k].index == index && reader->leaves[k].type == TYPE_I64 &&
            reader->leaves[k].logical.kind == LOGICAL_NUMBER)
            reader->leaves[k].logical.kind = LOGICAL_DURATION;
        index = 0;
    }
}

struct zone_search {
    struct parquet_reader *reader;
    const struct format_job *job;
};

/* Sets the zone, or makes a duration. */
static void set_zone(void *context, struct text column, struct text zone, enum arrow_unit unit)
{
    static const enum conversion conversions[] = {[ARROW_SECOND] = CONVERT_SECONDS,
                                                  [ARROW_MILLISECOND] = CONVERT_MILLIS,
                                                  [ARROW_MICROSECOND] = CONVERT_COPY,
                                                  [ARROW_NANOSECOND] = CONVERT_NANOS};
    const struct zone_search *search = context;
    const struct parquet_reader *reader = search->reader;
    for (size_t k = 0; k < reader->leaf_count; k++) {
        struct leaf *leaf = &reader->leaves[k];
        if (zone.length == 0 && leaf->type == TYPE_I64 && leaf->logical.kind == LOGICAL_NUMBER &&
            leaf->conversion == CONVERT_COPY && text_is(column, leaf->path)) {
            leaf->logical.kind = LOGICAL_DURATION;
            leaf->conversion = conversions[unit];
        }
        if (zone.length > 0 && leaf->logical.zone && text_is(column, leaf->path))
            leaf->logical.zone = zone_of_file(zone, leaf->path, mapping_path(reader->mapping), search->job->diags);
    }
}

static void parquet_close(struct file_reader *base)
{
    struct parquet_reader *reader = (struct parquet_reader *)base;
    for (size_t k = 0; reader->base.columns && k < reader->base.count; k++)
        list_store_unref(reader->base.columns[k].logical.lists);
    mapping_unref(reader->mapping);
    arena_free(reader->arena);
    free(reader);
}

static struct reader_column column_of(const struct field *field);

/* Stands for the lists of a field, whose types it has. */
static struct list_store *unread_lists(const struct field *field)
{
    const size_t count = field->elements.count;
    struct reader_column *columns = heap_array(count, sizeof *columns);
    for (size_t k = 0; k < count; k++)
        columns[k] = column_of(&field->elements.at[k]);
    struct list_store *store = list_store_of_described(columns, count, field->is_map);
    free(columns);
    return store;
}

static struct reader_column column_of(const struct field *field)
{
    if (!field->leaf)
        return (struct reader_column){
            .name = field->name,
            .type = TYPE_I64,
            .logical = {.kind = LOGICAL_LIST, .lists = unread_lists(field), .member = field->is_member},
            .nullable = field->nullable};
    return (struct reader_column){
        .name = field->name, .type = field->leaf->type, .logical = field->leaf->logical, .nullable = field->nullable};
}

/* The bytes of all chunks of a leaf. */
static int64_t bytes_of(const struct footer *footer, const struct leaf *leaf)
{
    const int64_t most = INT64_MAX / 64;
    int64_t bytes = 0;
    for (size_t i = 0; leaf && i < footer->group_count; i++) {
        const int64_t more = footer->groups[i].chunks[leaf->index].bytes;
        bytes += more > 0 && more < most - bytes ? more : 0;
    }
    return bytes;
}

static enum status describe_columns(struct parquet_reader *reader, const struct format_job *job)
{
    const enum status status = need_samples(reader, job);
    if (status != STATUS_OK)
        return status;
    struct file_reader *base = &reader->base;
    fields_find(reader);
    find_durations(reader);
    stored_schema_zones(reader->footer.schema, set_zone, &(struct zone_search){reader, job});
    base->count = reader->fields.count;
    if (base->count == 0)
        return fail(job, reader->mapping, "has no columns that can be read");
    base->rows = reader->footer.rows;
    parquet_list_groups(reader);
    base->columns = arena_array(reader->arena, base->count, sizeof *base->columns);
    for (size_t k = 0; k < base->count; k++) {
        base->columns[k] = column_of(&reader->fields.at[k]);
        base->columns[k].bytes = bytes_of(&reader->footer, reader->fields.at[k].leaf);
    }
    pandas_note_range(reader->footer.pandas, mapping_path(reader->mapping), job->diags);
    return STATUS_OK;
}

enum status open_parquet(const struct format_job *job, struct mapping *mapping, struct file_reader **reader)
{
    static const struct file_reader_ops ops = {.read = parquet_read,
                                               .read_ends = parquet_read_ends,
                                               .read_rows = parquet_read_rows,
                                               .bounds = parquet_bounds,
                                               .close = parquet_close,
                                               .leaves_unsorted = true};
    struct parquet_reader *opened = heap_array(1, sizeof *opened);
    opened->base.ops = &ops;
    opened->arena = arena_new();
    opened->mapping = mapping_ref(mapping);
    enum status status = parse_footer(opened, job);
    if (status == STATUS_OK)
        status = describe_columns(opened, job);
    if (status != STATUS_OK) {
        parquet_close(&opened->base);
        return status;
    }
    *reader = &opened->base;
    return STATUS_OK;
}
