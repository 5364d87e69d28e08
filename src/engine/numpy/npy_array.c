#include "engine/numpy/npy_array.h"

#include "engine/storage/growing_buffer.h"

#include <stdatomic.h>
#include <string.h>

enum { PART_ROWS = 1 << 16 };

/* Computes the number of elements and checks that there are as many. */
static enum status check_size(struct npy_array *array, size_t length)
{
    const struct npy_header *header = &array->header;
    struct diags *diags = array->job->diags;
    struct span span = array->job->span;
    if (header->dimension_count > MOST_AXES)
        return diag_error_hint(diags, span, "flatten it in NumPy with `a.reshape(-1)`",
                               "`%s` has %zu dimensions, but at most %d are supported", array->path,
                               header->dimension_count, MOST_AXES);
    array->rows = 1;
    size_t bytes = header->size, available = length - header->data;
    for (size_t i = 0; i < header->dimension_count; i++) {
        if (__builtin_mul_overflow(array->rows, header->dimensions[i], &array->rows))
            return diag_error(diags, span, "`%s` has too many elements", array->path);
    }
    if (__builtin_mul_overflow(bytes, (size_t)array->rows, &bytes) || bytes > available)
        return diag_error(diags, span,
                          "`%s` is truncated: it should have %lld elements of %zu bytes, but has %zu bytes",
                          array->path, (long long)array->rows, header->size, available);
    if (bytes < available)
        return diag_error_hint(diags, span, "a file must hold exactly one array",
                               "`%s` has data after its %lld elements", array->path, (long long)array->rows);
    return STATUS_OK;
}

enum status npy_array_describe(struct npy_array *array, const void *data, size_t there, size_t length)
{
    const enum status status = npy_read_header(array->job, array->path, data, there, &array->header);
    return status == STATUS_OK ? check_size(array, length) : status;
}

static enum status no_memory(const struct npy_array *array)
{
    return diag_no_memory(array->job->diags, array->job->span, "not enough memory for `%s`", array->path);
}

/* Copying elements in Fortran order, in which the first index runs fastest, so that the last one does. */
struct reorder {
    const struct npy_array *array;
    char *to;
    int64_t strides[MOST_AXES]; /* of the file: elements from one index along an axis to the next */
};

static void reorder_part(void *context, int member, int64_t part)
{
    (void)member;
    const struct reorder *reorder = context;
    const struct npy_array *array = reorder->array;
    const struct npy_header *header = &array->header;
    const int64_t begin = part * PART_ROWS;
    const int64_t end = array->rows - begin < PART_ROWS ? array->rows : begin + PART_ROWS;
    int64_t index[MOST_AXES], rest = begin, from = 0;
    for (size_t i = header->dimension_count; i-- > 0; rest /= header->dimensions[i]) {
        index[i] = rest % header->dimensions[i];
        from += index[i] * reorder->strides[i];
    }
    for (int64_t row = begin; row < end; row++) {
        memcpy(reorder->to + (size_t)row * header->size, array->data + (size_t)from * header->size, header->size);
        size_t i = header->dimension_count - 1;
        from += reorder->strides[i];
        for (; ++index[i] == header->dimensions[i] && i > 0; i--) {
            index[i] = 0;
            from += reorder->strides[i - 1] - header->dimensions[i] * reorder->strides[i];
        }
    }
}

/* Has the elements in a buffer, with the last index running fastest. */
static enum status reorder_elements(struct npy_array *array)
{
    const struct npy_header *header = &array->header;
    const size_t bytes = (size_t)array->rows * header->size;
    struct growing_buffer buffer = {.max = bytes, .pool = array->job->workers->pool};
    struct reorder reorder = {.array = array};
    int64_t stride = 1;
    for (size_t i = 0; i < header->dimension_count; i++) {
        reorder.strides[i] = stride;
        stride *= header->dimensions[i];
    }
    if (!growing_buffer_reserve(&buffer, bytes))
        return no_memory(array);
    reorder.to = buffer.data;
    const int64_t parts = (array->rows + PART_ROWS - 1) / PART_ROWS;
    if (!workers_run(array->job->workers, parts, reorder_part, &reorder)) {
        growing_buffer_free(&buffer);
        return STATUS_CANCELLED;
    }
    buffer.used = bytes;
    array->reordered = mapping_from_buffer(array->path, mapping_stamp(array->mapping), &buffer);
    array->mapping = array->reordered;
    array->data = mapping_data(array->mapping);
    return STATUS_OK;
}

enum status npy_array_open(struct npy_array *array, struct mapping *mapping, size_t offset, size_t length)
{
    const char *bytes = mapping_data(mapping), *data = bytes ? bytes + offset : ""; /* NULL: an empty file */
    array->mapping = mapping;
    array->reordered = NULL;
    const enum status status = npy_array_describe(array, data, length, length);
    array->data = data + array->header.data;
    const bool reorders = array->header.fortran && array->header.dimension_count > 1 && array->rows > 0;
    return status == STATUS_OK && reorders ? reorder_elements(array) : status;
}

void npy_array_close(struct npy_array *array)
{
    mapping_unref(array->reordered);
}

/* The copy or check of one field of all elements. */
struct field_copy {
    const struct npy_array *array;
    const struct npy_field *field;
    struct column *column;   /* NULL: only check */
    struct column *validity; /* of times, or NULL */
    _Atomic int64_t bad;     /* the first row with an invalid value, or the number of rows */
    _Atomic int64_t missing;
    _Atomic int64_t cut; /* times rounded down */
};

/* Sets *value to a time in the column's unit; false if it does not fit. */
static bool convert_time(struct field_copy *copy, int64_t *value)
{
    const struct npy_field *field = copy->field;
    if (field->divide > 1) {
        const int64_t rest = *value % field->divide;
        *value = *value / field->divide - (rest < 0);
        copy->cut += rest != 0;
    }
    return !__builtin_mul_overflow(*value, field->multiply, value) &&
           (field->as == TYPE_I64 || *value == (int32_t)*value);
}

/* Copies one element; false if its value is not valid. */
static bool copy_element(struct field_copy *copy, const char *from, int64_t row)
{
    const struct npy_field *field = copy->field;
    int64_t value;
    if (field->reading == NPY_AS_IS) {
        if (field->as == TYPE_BOOL && (unsigned char)*from > 1)
            return false;
        if (copy->column)
            memcpy(column_at(copy->column, row), from, field->size);
        return true;
    }
    memcpy(&value, from, sizeof value);
    const bool missing = field->reading == NPY_TIME && value == INT64_MIN;
    if (missing) {
        copy->missing++;
        value = 0;
    }
    if (field->reading == NPY_TIME ? !convert_time(copy, &value) : value < 0)
        return false;
    if (copy->validity)
        *(uint8_t *)column_at(copy->validity, row) = !missing;
    if (copy->column) /* the low bytes are the element */
        memcpy(column_at(copy->column, row), &value, field->as == TYPE_I32 ? sizeof(int32_t) : sizeof value);
    return true;
}

static void copy_part(void *context, int member, int64_t part)
{
    (void)member;
    struct field_copy *copy = context;
    const struct npy_array *array = copy->array;
    const size_t stride = array->header.size;
    const int64_t begin = part * PART_ROWS;
    const int64_t end = array->rows - begin < PART_ROWS ? array->rows : begin + PART_ROWS;
    const char *from = array->data + (size_t)begin * stride + copy->field->offset;
    if (copy->column && copy->field->reading == NPY_AS_IS && copy->field->as != TYPE_BOOL &&
        stride == copy->field->size) {
        memcpy(column_at(copy->column, begin), from, (size_t)(end - begin) * stride);
        return;
    }
    for (int64_t row = begin; row < end; row++, from += stride) {
        if (!copy_element(copy, from, row)) {
            int64_t bad = copy->bad;
            while (row < bad && !atomic_compare_exchange_weak(&copy->bad, &bad, row))
                continue;
            return;
        }
    }
}

static enum status value_error(const struct field_copy *copy)
{
    const struct npy_field *field = copy->field;
    return diag_error(copy->array->job->diags, copy->array->job->span, "`%s`, row %lld: %s", copy->array->path,
                      (long long)copy->bad,
                      field->reading == NPY_U64    ? "the value exceeds 9223372036854775807, the largest integer"
                      : field->reading == NPY_TIME ? "the time is too far from 1970"
                                                   : "the value is neither true nor false");
}

static enum status copy_field(struct field_copy *copy)
{
    const struct npy_array *array = copy->array;
    copy->bad = array->rows;
    copy->missing = copy->cut = 0;
    if (!workers_run(array->job->workers, (array->rows + PART_ROWS - 1) / PART_ROWS, copy_part, copy))
        return STATUS_CANCELLED;
    return copy->bad < array->rows ? value_error(copy) : STATUS_OK;
}

/* Whether the elements may stay where they are: contiguous, aligned and of the column's type. */
static bool may_stay(const struct npy_array *array, const struct npy_field *field)
{
    const size_t offset = (size_t)(array->data - (const char *)mapping_data(array->mapping));
    return array->rows > 0 && !array->header.structured && offset % field->size == 0 &&
           type_table[field->as].size == field->size && field->multiply == 1 && field->divide == 1;
}

static enum status copied_column(struct field_copy *copy, struct column **column)
{
    const struct npy_array *array = copy->array;
    const enum type type = copy->field->as;
    copy->column = column_reserve(type, type, array->rows);
    if (copy->field->reading == NPY_TIME)
        copy->validity = column_reserve(TYPE_BOOL, TYPE_BOOL, array->rows);
    enum status status =
        copy->column && (copy->validity || copy->field->reading != NPY_TIME) ? copy_field(copy) : no_memory(array);
    if (status != STATUS_OK || copy->missing == 0) {
        column_unref(copy->validity);
        copy->validity = NULL;
    }
    if (status != STATUS_OK) {
        column_unref(copy->column);
        return status;
    }
    column_finish(copy->column, array->rows);
    if (copy->validity)
        column_finish(copy->validity, array->rows);
    column_set_validity(copy->column, copy->validity);
    *column = copy->column;
    return STATUS_OK;
}

enum status npy_array_column(const struct npy_array *array, const struct npy_field *field, struct column **column)
{
    if (field->logical.kind == LOGICAL_TEXT)
        return npy_text_column(array, field, column);
    struct field_copy copy = {.array = array, .field = field};
    bool stay = may_stay(array, field);
    enum status status = STATUS_OK;
    if (stay && (field->reading != NPY_AS_IS || field->as == TYPE_BOOL)) {
        status = copy_field(&copy);
        stay = copy.missing == 0;
    }
    if (status != STATUS_OK)
        return status;
    if (stay) {
        *column = column_of_part(field->as, array->mapping,
                                 (size_t)(array->data - (const char *)mapping_data(array->mapping)), array->rows);
        status = *column ? STATUS_OK : no_memory(array);
    } else {
        status = copied_column(&copy, column);
    }
    if (status != STATUS_OK)
        return status;
    column_set_logical(*column, field->logical);
    if (copy.cut > 0)
        diag_note(array->job->diags, (struct span){0}, "`%s`: %lld %s no whole microseconds; they are rounded down",
                  array->path, (long long)copy.cut, copy.cut == 1 ? "value is" : "values are");
    return STATUS_OK;
}
