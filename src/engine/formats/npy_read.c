/* NumPy arrays as columns: mapped in place where the elements are plain numbers, copied from structured arrays. */
#include "engine/formats/npy.h"
#include "engine/formats/npy_header.h"

#include <stdatomic.h>
#include <string.h>

enum { PART_ROWS = 1 << 16, MAX_LISTED = 8 };

/* The state of reading an array. */
struct array {
    const struct format_job *job;
    struct mapping *mapping;
    const char *path;
    struct npy_header header;
    int64_t rows;
    const char *data;
};

static enum status fail(const struct array *array, const char *hint, const char *message)
{
    diag_error(array->job->diags, array->job->span, "`%s` %s", array->path, message);
    if (hint)
        diag_hint(array->job->diags, "%s", hint);
    return STATUS_FAILED;
}

/* Computes the number of elements and checks that the file has them. */
static enum status check_size(struct array *array)
{
    const struct npy_header *header = &array->header;
    struct arena *arena = array->job->diags->arena;
    if (header->dimension_count > 2)
        return fail(array, "flatten it in NumPy with `a.reshape(-1)`",
                    arena_printf(arena, "has %zu dimensions, but at most two are supported", header->dimension_count));
    if (header->dimension_count == 2 && header->fortran && header->dimensions[0] > 1 && header->dimensions[1] > 1)
        return fail(array, "convert it with `numpy.ascontiguousarray(a)`", "is in Fortran order");
    array->rows = 1;
    size_t bytes = header->size, available = mapping_length(array->mapping) - header->data;
    for (size_t i = 0; i < header->dimension_count; i++) {
        if (__builtin_mul_overflow(array->rows, header->dimensions[i], &array->rows))
            return fail(array, NULL, "has too many elements");
    }
    if (__builtin_mul_overflow(bytes, (size_t)array->rows, &bytes) || bytes > available)
        return fail(array, NULL,
                    arena_printf(arena, "is truncated: it should have %lld elements of %zu bytes, but has %zu bytes",
                                 (long long)array->rows, header->size, available));
    if (bytes < available)
        return fail(array, "a file must hold exactly one array",
                    arena_printf(arena, "has data after its %lld elements", (long long)array->rows));
    array->data = (const char *)mapping_data(array->mapping) + header->data;
    return STATUS_OK;
}

/* The copy or check of one field of all elements. */
struct field_copy {
    const struct array *array;
    const struct npy_field *field;
    struct column *column; /* NULL: only check */
    _Atomic int64_t bad;   /* the first row with an invalid value, or the number of rows */
};

static bool is_bad(const struct npy_field *field, const char *element)
{
    if (field->as == TYPE_BOOL)
        return (unsigned char)*element > 1;
    return field->is_u64 && (element[sizeof(int64_t) - 1] & 0x80) != 0;
}

static void copy_part(void *context, int member, int64_t part)
{
    (void)member;
    struct field_copy *copy = context;
    const struct npy_field *field = copy->field;
    const struct array *array = copy->array;
    const size_t stride = array->header.size, size = field->size;
    int64_t begin = part * PART_ROWS;
    int64_t end = array->rows - begin < PART_ROWS ? array->rows : begin + PART_ROWS;
    const char *from = array->data + (size_t)begin * stride + field->offset;
    char *to = copy->column ? column_at(copy->column, begin) : NULL;
    bool checked = field->as == TYPE_BOOL || field->is_u64;
    for (int64_t row = begin; row < end; row++, from += stride) {
        if (checked && is_bad(field, from)) {
            int64_t bad = copy->bad;
            while (row < bad && !atomic_compare_exchange_weak(&copy->bad, &bad, row))
                continue;
            return;
        }
        if (to) {
            memcpy(to, from, size);
            to += size;
        }
    }
}

static enum status value_error(const struct field_copy *copy)
{
    struct diags *diags = copy->array->job->diags;
    const struct npy_field *field = copy->field;
    diag_error(diags, copy->array->job->span, "`%s`, row %lld: %s", copy->array->path, (long long)copy->bad,
               field->is_u64 ? "the value exceeds 9223372036854775807, the largest integer"
                             : "the value is neither true nor false");
    return STATUS_FAILED;
}

static enum status copy_field(struct field_copy *copy)
{
    const struct array *array = copy->array;
    copy->bad = array->rows;
    if (!workers_run(array->job->workers, (array->rows + PART_ROWS - 1) / PART_ROWS, copy_part, copy))
        return STATUS_CANCELLED;
    return copy->bad < array->rows ? value_error(copy) : STATUS_OK;
}

/* Whether the elements can be mapped: contiguous and aligned. */
static bool is_in_place(const struct array *array)
{
    const struct npy_header *header = &array->header;
    return !header->structured && header->data % header->size == 0;
}

static enum status read_column(const struct array *array, const struct npy_field *field, struct column **column)
{
    bool in_place = is_in_place(array);
    *column = in_place ? column_of_part(field->as, array->mapping, array->header.data, array->rows)
                       : column_reserve(field->as, field->as, array->rows);
    if (!*column)
        return diag_error(array->job->diags, array->job->span, "there is no memory for `%s`", array->path);
    struct field_copy copy = {array, field, in_place ? NULL : *column, 0};
    bool checked = field->as == TYPE_BOOL || field->is_u64;
    enum status status = in_place && !checked ? STATUS_OK : copy_field(&copy);
    if (!in_place)
        column_finish(*column, array->rows);
    return status;
}

static void note_skipped(const struct array *array)
{
    const struct npy_header *header = &array->header;
    const char *list = "";
    size_t count = 0;
    for (size_t k = 0; k < header->count; k++) {
        /* Fields without a name are padding. */
        if (!header->fields[k].readable && *header->fields[k].name && count++ < MAX_LISTED)
            list = arena_printf(array->job->diags->arena, "%s%s`%s` (%s)", list, *list ? ", " : "",
                                header->fields[k].name, header->fields[k].type);
    }
    if (count > 0)
        diag_note(array->job->diags, array->job->span, "`%s`: skipped fields of unsupported types: %s%s", array->path,
                  list, count > MAX_LISTED ? ", ..." : "");
}

static enum status check_types(const struct array *array)
{
    const struct npy_header *header = &array->header;
    for (size_t k = 0; k < header->count; k++) {
        if (header->fields[k].readable)
            return STATUS_OK;
    }
    const char *type = header->count > 0 ? header->fields[0].type : "nothing";
    return fail(array,
                "convert it in NumPy with `a.astype(...)` to bool, int8 to int64, uint8 to uint32, float32 or float64",
                arena_printf(array->job->diags->arena, "has the unsupported type %s", type));
}

static enum status read_columns(const struct array *array, struct relation **relation)
{
    const struct npy_header *header = &array->header;
    struct arena *arena = array->job->diags->arena;
    struct column **columns = arena_array(arena, header->count, sizeof(struct column *));
    const char **names = arena_array(arena, header->count, sizeof *names);
    size_t count = 0;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < header->count && status == STATUS_OK; k++) {
        const struct npy_field *field = &header->fields[k];
        if (!field->readable)
            continue;
        names[count] = field->name;
        status = read_column(array, field, &columns[count++]);
    }
    if (status == STATUS_OK) {
        note_skipped(array);
        *relation = relation_new(array->rows, count, columns, names);
        if (header->dimension_count == 2 && array->rows > 0)
            (*relation)->shape = (struct shape){header->dimensions[0], header->dimensions[1]};
    }
    for (size_t k = 0; k < count; k++)
        column_unref(columns[k]);
    return status;
}

enum status read_npy(const struct format_job *job, struct mapping *mapping, struct relation **relation)
{
    struct array array = {.job = job, .mapping = mapping, .path = mapping_path(mapping)};
    enum status status = npy_read_header(job, mapping, &array.header);
    if (status == STATUS_OK)
        status = check_types(&array);
    if (status == STATUS_OK)
        status = check_size(&array);
    return status == STATUS_OK ? read_columns(&array, relation) : status;
}
