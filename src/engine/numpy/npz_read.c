#include "engine/numpy/npy.h"

#include "base/heap.h"
#include "engine/formats/row_formats.h"
#include "engine/numpy/npy_array.h"
#include "engine/numpy/zip.h"
#include "engine/storage/growing_buffer.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = (1 << 16) + 64 };

/* An array of the archive. */
struct npz_member {
    const char *name;
    struct zip_entry entry;
    struct npy_field field;
    int64_t rows;
};

struct npz_reader {
    struct file_reader base;
    struct arena *arena;
    struct mapping *mapping;    /* one reference */
    struct npz_member *members; /* the reader's columns */
};

static void leave_out(struct npz_reader *reader, const char *name, const char *why)
{
    unreadable_add(&reader->base.unreadable, reader->arena, name, why);
}

/* Reads the header of an array; false, and left out, if it is no column. */
static bool describe(struct npz_reader *reader, const struct format_job *job, struct npz_member *member)
{
    const struct zip_entry *entry = &member->entry;
    struct arena *arena = reader->arena;
    if (entry->encrypted || (entry->method != ZIP_STORED && entry->method != ZIP_DEFLATED)) {
        leave_out(reader, member->name, entry->encrypted ? "encrypted" : "packed in an unknown way");
        return false;
    }
    struct diags diags; /* its error is why the array is left out */
    diags_init(&diags, arena);
    struct format_job silent = *job;
    silent.diags = &diags;
    struct npy_array array = {.job = &silent, .path = member->name};
    char *head = heap_array(1, HEAD_BYTES);
    const size_t there = zip_unpack_head(mapping_data(reader->mapping), entry, head, HEAD_BYTES);
    const enum status status = npy_array_describe(&array, head, there, entry->size);
    free(head);
    if (status != STATUS_OK) {
        leave_out(reader, member->name, diags.at[0].message);
        return false;
    }
    member->rows = array.rows;
    const char *why = array.header.structured                        ? "with fields"
                      : array.header.dimension_count != 1            ? "not of one dimension"
                      : array.header.fields->reading == NPY_NOT_READ ? "of an unsupported type"
                                                                     : NULL;
    if (why) {
        leave_out(reader, member->name, why);
        return false;
    }
    member->field = *array.header.fields;
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const int64_t *first = a, *second = b;
    return (*first > *second) - (*first < *second);
}

/* The length that most arrays have; of several, the largest. */
static int64_t common_length(const struct npz_member *members, size_t count)
{
    int64_t *rows = heap_array(count, sizeof *rows), common = 0;
    for (size_t k = 0; k < count; k++)
        rows[k] = members[k].rows;
    if (count > 0)
        qsort(rows, count, sizeof *rows, compare_rows);
    size_t most = 0;
    for (size_t k = 0, begin = 0; k < count; k++) {
        if (rows[k] != rows[begin])
            begin = k;
        if (k - begin + 1 >= most) {
            most = k - begin + 1;
            common = rows[k];
        }
    }
    free(rows);
    return common;
}

static void list_members(struct npz_reader *reader, const struct format_job *job, const struct zip_directory *directory)
{
    size_t count = 0;
    reader->members = arena_array(reader->arena, directory->count, sizeof *reader->members);
    for (size_t k = 0; k < directory->count; k++) {
        static const char ending[] = ".npy";
        struct npz_member *member = &reader->members[count];
        const char *name = directory->entries[k].name;
        const size_t length = strlen(name);
        if (length < sizeof ending - 1 || strcmp(name + length - (sizeof ending - 1), ending) != 0) {
            leave_out(reader, name, "no array");
            continue;
        }
        struct strbuf clean = {0};
        add_clean_name(&clean, name);
        *member = (struct npz_member){.entry = directory->entries[k]};
        member->name = arena_text(reader->arena, clean.text, clean.length - (sizeof ending - 1));
        strbuf_free(&clean);
        count += describe(reader, job, member);
    }
    struct file_reader *base = &reader->base;
    base->rows = common_length(reader->members, count);
    base->columns = arena_array(reader->arena, count, sizeof *base->columns);
    for (size_t k = 0; k < count; k++) {
        struct npz_member *member = &reader->members[k];
        if (member->rows != base->rows) {
            leave_out(
                reader, member->name,
                arena_printf(reader->arena, "%lld elements, not %lld", (long long)member->rows, (long long)base->rows));
            continue;
        }
        base->columns[base->count] = (struct reader_column){.name = member->name,
                                                            .type = member->field.as,
                                                            .logical = member->field.logical,
                                                            .nullable = member->field.reading == NPY_TIME};
        reader->members[base->count++] = *member;
    }
}

/* The arrays of one call of `read`. */
struct unpacking {
    const struct npz_reader *reader;
    const bool *wanted;
    struct mapping **unpacked; /* of wanted arrays that are packed */
    const char **failures;     /* what is wrong with an array, or NULL */
    struct buffer_pool *pool;
};

static void unpack_member(void *context, int thread, int64_t k)
{
    (void)thread;
    struct unpacking *unpacking = context;
    const struct npz_reader *reader = unpacking->reader;
    const struct zip_entry *entry = &reader->members[k].entry;
    const char *archive = mapping_data(reader->mapping);
    if (!unpacking->wanted[k])
        return;
    bool whole;
    if (entry->method == ZIP_STORED) {
        whole = zip_check(entry, archive + entry->at);
    } else {
        struct growing_buffer buffer = {.max = entry->size, .pool = unpacking->pool};
        if (!growing_buffer_reserve(&buffer, entry->size)) {
            unpacking->failures[k] = "there is no memory for it";
            return;
        }
        buffer.used = entry->size;
        whole = zip_unpack(archive, entry, buffer.data) && zip_check(entry, buffer.data);
        unpacking->unpacked[k] =
            mapping_from_buffer(mapping_path(reader->mapping), mapping_stamp(reader->mapping), &buffer);
    }
    if (!whole)
        unpacking->failures[k] = "it is damaged: its checksum is another";
}

static enum status read_member(const struct unpacking *unpacking, const struct format_job *job, size_t k,
                               struct column **column)
{
    const struct npz_reader *reader = unpacking->reader;
    const struct npz_member *member = &reader->members[k];
    const char *path = mapping_path(reader->mapping);
    if (unpacking->failures[k])
        return diag_error(job->diags, job->span, "`%s`, array `%s`: %s", path, member->name, unpacking->failures[k]);
    struct npy_array array = {.job = job, .path = arena_printf(job->diags->arena, "%s: %s", path, member->name)};
    struct mapping *unpacked = unpacking->unpacked[k];
    enum status status = npy_array_open(&array, unpacked ? unpacked : reader->mapping, unpacked ? 0 : member->entry.at,
                                        member->entry.size);
    /* The file may have changed since its header was read. */
    if (status == STATUS_OK && (array.header.structured || array.header.fields->reading != member->field.reading ||
                                array.rows != member->rows))
        status =
            diag_error(job->diags, job->span, "`%s` is damaged: array `%s` is another than it was", path, member->name);
    if (status == STATUS_OK)
        status = npy_array_column(&array, array.header.fields, column);
    npy_array_close(&array);
    return status;
}

static enum status read_members(struct file_reader *base, const struct format_job *job, const bool *wanted,
                                struct column **columns)
{
    struct unpacking unpacking = {.reader = (struct npz_reader *)base, .wanted = wanted, .pool = job->workers->pool};
    unpacking.unpacked = heap_array(base->count, sizeof(struct mapping *));
    unpacking.failures = heap_array(base->count, sizeof *unpacking.failures);
    enum status status =
        workers_run(job->workers, (int64_t)base->count, unpack_member, &unpacking) ? STATUS_OK : STATUS_CANCELLED;
    size_t done = 0;
    for (; done < base->count && status == STATUS_OK; done++) {
        if (wanted[done])
            status = read_member(&unpacking, job, done, &columns[done]);
    }
    for (size_t k = 0; status != STATUS_OK && k + 1 < done; k++) {
        if (wanted[k]) {
            column_unref(columns[k]);
            columns[k] = NULL;
        }
    }
    for (size_t k = 0; k < base->count; k++)
        mapping_unref(unpacking.unpacked[k]);
    free(unpacking.unpacked);
    free(unpacking.failures);
    return status;
}

static void close_reader(struct file_reader *base)
{
    struct npz_reader *reader = (struct npz_reader *)base;
    mapping_unref(reader->mapping);
    arena_free(reader->arena);
}

static const struct file_reader_ops reader_ops = {.read = read_members, .close = close_reader};

enum status open_npz(const struct format_job *job, struct mapping *mapping, struct file_reader **reader)
{
    struct arena *arena = arena_new();
    struct npz_reader *npz = ARENA_NEW(arena, struct npz_reader, .base = {.ops = &reader_ops}, .arena = arena,
                                       .mapping = mapping_ref(mapping));
    struct zip_directory directory;
    enum status status = zip_read_directory(job, mapping, arena, &directory);
    if (status == STATUS_OK)
        list_members(npz, job, &directory);
    if (status == STATUS_OK && npz->base.count == 0)
        status = diag_error(job->diags, job->span, "`%s` has no array that can be a column%s%s", mapping_path(mapping),
                            npz->base.unreadable.count > 0 ? ": " : "",
                            unreadable_list(&npz->base.unreadable, job->diags->arena));
    if (status != STATUS_OK) {
        close_reader(&npz->base);
        return status;
    }
    *reader = &npz->base;
    return STATUS_OK;
}
