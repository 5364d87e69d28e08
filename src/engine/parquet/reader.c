#include "engine/parquet/reader.h"

#include "base/heap.h"
#include "engine/arrow/stored_schema.h"
#include "engine/arrow/zone.h"
#include "engine/storage/list_store.h"
#include "engine/storage/pandas_index.h"

#include <stdlib.h>
#include <string.h>

enum { MAGIC_BYTES = 4, TAIL_BYTES = 8 };

static enum status fail(const struct format_job *job, const struct mapping *mapping, const char *what)
{
    return diag_error(job->diags, job->span, "`%s` %s", mapping_path(mapping), what);
}

const uint8_t *parquet_pages_end(const struct parquet_reader *reader)
{
    return (const uint8_t *)mapping_data(reader->mapping) + mapping_length(reader->mapping) - TAIL_BYTES;
}

const uint8_t *parquet_chunk_begin(const struct parquet_reader *reader, const struct chunk *chunk)
{
    /* A dictionary comes first; some writers say 0 where there is none. */
    const int64_t offset = chunk->dictionary > 0 && chunk->dictionary < chunk->data ? chunk->dictionary : chunk->data;
    if (offset < MAGIC_BYTES || (uint64_t)offset > mapping_length(reader->mapping) - TAIL_BYTES)
        return NULL;
    return (const uint8_t *)mapping_data(reader->mapping) + offset;
}

static enum status parse_footer(struct parquet_reader *reader, const struct format_job *job)
{
    static const char magic[] = "PAR1", encrypted_magic[] = "PARE";
    const uint8_t *data = mapping_data(reader->mapping);
    const size_t length = mapping_length(reader->mapping);
    if (length < MAGIC_BYTES + TAIL_BYTES)
        return fail(job, reader->mapping, "is not a Parquet file, or truncated");
    const uint8_t *tail = data + length - TAIL_BYTES;
    if (memcmp(tail + MAGIC_BYTES, encrypted_magic, MAGIC_BYTES) == 0)
        return fail(job, reader->mapping, "is encrypted, which is not supported");
    if (memcmp(data, magic, MAGIC_BYTES) != 0 || memcmp(tail + MAGIC_BYTES, magic, MAGIC_BYTES) != 0)
        return fail(job, reader->mapping, "is not a Parquet file, or truncated");
    uint32_t size;
    memcpy(&size, tail, sizeof size);
    if (size > length - MAGIC_BYTES - TAIL_BYTES)
        return fail(job, reader->mapping, "is damaged: its footer is longer than the file");
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

static void set_zone(void *context, struct text column, struct text zone)
{
    const struct zone_search *search = context;
    const struct parquet_reader *reader = search->reader;
    for (size_t k = 0; k < reader->leaf_count; k++) {
        struct leaf *leaf = &reader->leaves[k];
        if (leaf->logical.zone && text_is(column, leaf->path))
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
    struct column **columns = heap_array(count, sizeof *columns);
    const char **names = heap_array(count, sizeof *names);
    for (size_t k = 0; k < count; k++) {
        const struct field *element = &field->elements.at[k];
        const struct reader_column column = column_of(element);
        names[k] = element->name;
        columns[k] = column_unread(column.type, column.logical, 0, column.nullable, false);
        list_store_unref(column.logical.lists);
        if (!columns[k])
            heap_exhausted();
    }
    struct relation *elements = relation_new(0, count, columns, names);
    columns_unref(columns, count);
    free((void *)columns);
    free((void *)names);
    return list_store_unread(elements, field->is_map);
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

static enum status describe_columns(struct parquet_reader *reader, const struct format_job *job)
{
    struct file_reader *base = &reader->base;
    fields_find(reader, job);
    find_durations(reader);
    stored_schema_zones(reader->footer.schema, set_zone, &(struct zone_search){reader, job});
    base->count = reader->fields.count;
    if (base->count == 0)
        return fail(job, reader->mapping, "has no columns that can be read");
    base->rows = reader->footer.rows;
    parquet_list_groups(reader);
    base->columns = arena_array(reader->arena, base->count, sizeof *base->columns);
    for (size_t k = 0; k < base->count; k++)
        base->columns[k] = column_of(&reader->fields.at[k]);
    pandas_note_range(reader->footer.pandas, mapping_path(reader->mapping), job->diags);
    return STATUS_OK;
}

enum status open_parquet(const struct format_job *job, struct mapping *mapping, struct file_reader **reader)
{
    static const struct file_reader_ops ops = {.read = parquet_read,
                                               .read_ends = parquet_read_ends,
                                               .read_rows = parquet_read_rows,
                                               .bounds = parquet_bounds,
                                               .close = parquet_close};
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
