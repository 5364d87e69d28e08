#include "engine/parquet/reader.h"

#include "base/heap.h"
#include "base/utf8.h"
#include "engine/arrow/stored_schema.h"
#include "engine/arrow/zone.h"
#include "engine/parquet/page.h"
#include "engine/storage/pandas_index.h"

#include <stdlib.h>
#include <string.h>

enum { MAGIC_BYTES = 4, TAIL_BYTES = 8, MAX_LISTED = 8 };

static const char *const problems[LEAF_PROBLEM_COUNT] = {
    [LEAF_NESTED] = "nested columns",
    [LEAF_UNSUPPORTED_TYPE] = "columns of unsupported types",
    [LEAF_NOT_TEXT] = "columns of bytes that are not text",
    [LEAF_UNKNOWN_ENCODING] = "columns in unknown encodings",
    [LEAF_UNKNOWN_CODEC] = "columns compressed by unknown codecs",
    [LEAF_ELSEWHERE] = "columns that are in other files",
};

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

/* What the chunks of a leaf say against reading it. */
static enum leaf_problem check_chunks(const struct parquet_reader *reader, const struct leaf *leaf)
{
    for (size_t i = 0; i < reader->footer.group_count; i++) {
        const struct chunk *chunk = &reader->footer.groups[i].chunks[leaf->index];
        if (chunk->elsewhere)
            return LEAF_ELSEWHERE;
        if (chunk->encodings >> ENCODING_COUNT != 0)
            return LEAF_UNKNOWN_ENCODING;
        if (!page_codec_known(chunk->codec))
            return LEAF_UNKNOWN_CODEC;
    }
    return leaf->binary && !parquet_looks_like_text(reader, leaf) ? LEAF_NOT_TEXT : LEAF_OK;
}

/* The index behind the element at `i` and all below it; adds the leaves among them to *leaves. */
static size_t skip_element(const struct footer *footer, size_t i, size_t *leaves)
{
    for (int64_t expected = 1; expected > 0; i++) {
        expected += footer->elements[i].children - 1;
        *leaves += footer->elements[i].is_leaf;
    }
    return i;
}

/* The columns left out, by problem, as lists of names. */
struct left_out {
    const char *names[LEAF_PROBLEM_COUNT];
    size_t counts[LEAF_PROBLEM_COUNT];
};

/* A NUL-terminated copy in which whatever is not text is `?`. */
static char *clean_name(struct arena *arena, struct text name)
{
    char *clean = arena_text(arena, name.at, name.length);
    for (size_t i = 0; i < name.length;) {
        uint32_t code;
        const size_t length = name.at[i] ? utf8_decode(name.at + i, name.length - i, &code) : 0;
        if (length == 0)
            clean[i] = '?';
        i += length ? length : 1;
    }
    return clean;
}

static void leave_out(struct left_out *left_out, enum leaf_problem problem, struct arena *arena, struct text name)
{
    const char *list = left_out->names[problem] ? left_out->names[problem] : "";
    if (left_out->counts[problem]++ < MAX_LISTED)
        left_out->names[problem] = arena_printf(arena, "%s%s`%s`", list, *list ? ", " : "", clean_name(arena, name));
}

static void note_left_out(const struct left_out *left_out, const struct format_job *job, const char *path)
{
    for (size_t i = 0; i < LEAF_PROBLEM_COUNT; i++) {
        if (left_out->counts[i] > 0)
            diag_note(job->diags, (struct span){0}, "`%s`: left out %s: %s%s", path, problems[i], left_out->names[i],
                      left_out->counts[i] > MAX_LISTED ? ", ..." : "");
    }
}

/* Finds the columns that can be read. */
static void find_columns(struct parquet_reader *reader, const struct format_job *job)
{
    const struct footer *footer = &reader->footer;
    struct left_out left_out = {0};
    size_t leaves = 0, i = 1;
    reader->leaves = arena_array(reader->arena, footer->element_count, sizeof *reader->leaves);
    while (i < footer->element_count) {
        const struct schema_element *element = &footer->elements[i];
        struct leaf leaf = {.index = leaves};
        i = skip_element(footer, i, &leaves);
        if (!element->is_leaf && element->children == 0)
            continue; /* an empty group */
        enum leaf_problem problem = element->is_leaf ? leaf_of_element(element, &leaf) : LEAF_NESTED;
        if (problem == LEAF_OK)
            problem = check_chunks(reader, &leaf);
        if (problem == LEAF_OK)
            reader->leaves[reader->base.count++] = leaf;
        else
            leave_out(&left_out, problem, job->diags->arena, element->name);
    }
    note_left_out(&left_out, job, mapping_path(reader->mapping));
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
        while (k < reader->base.count && reader->leaves[k].index < index)
            k++;
        if (k < reader->base.count && reader->leaves[k].index == index && reader->leaves[k].type == TYPE_I64 &&
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
    for (size_t k = 0; k < reader->base.count; k++) {
        struct leaf *leaf = &reader->leaves[k];
        if (leaf->logical.zone && text_compare(leaf->name, column) == 0)
            leaf->logical.zone = zone_of_file(zone, clean_name(reader->arena, leaf->name),
                                              mapping_path(reader->mapping), search->job->diags);
    }
}

/* Names the columns; of several with one name, the second gets `_2`. */
static void name_columns(struct parquet_reader *reader)
{
    struct interner *names = interner_new();
    size_t *uses = heap_array(2 * reader->base.count + 1, sizeof *uses);
    for (size_t k = 0; k < reader->base.count; k++) {
        struct reader_column *column = &reader->base.columns[k];
        const char *name = clean_name(reader->arena, reader->leaves[k].name);
        column->name = name;
        const int64_t before = interner_count(names);
        const uint32_t number = interner_add(names, (struct text){name, strlen(name)});
        for (bool taken = number < before; taken; taken = interner_count(names) == before) {
            column->name = arena_printf(reader->arena, "%s_%zu", name, ++uses[number] + 1);
            interner_add(names, (struct text){column->name, strlen(column->name)});
        }
    }
    free(uses);
    interner_free(names);
}

static void parquet_close(struct file_reader *base)
{
    struct parquet_reader *reader = (struct parquet_reader *)base;
    mapping_unref(reader->mapping);
    arena_free(reader->arena);
    free(reader);
}

static enum status describe_columns(struct parquet_reader *reader, const struct format_job *job)
{
    find_columns(reader, job);
    find_durations(reader);
    stored_schema_zones(reader->footer.schema, set_zone, &(struct zone_search){reader, job});
    if (reader->base.count == 0)
        return fail(job, reader->mapping, "has no columns that can be read");
    reader->base.rows = reader->footer.rows;
    parquet_list_groups(reader);
    reader->base.columns = arena_array(reader->arena, reader->base.count, sizeof *reader->base.columns);
    for (size_t k = 0; k < reader->base.count; k++) {
        const struct leaf *leaf = &reader->leaves[k];
        reader->base.columns[k] =
            (struct reader_column){.type = leaf->type, .logical = leaf->logical, .nullable = leaf->optional};
    }
    name_columns(reader);
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
