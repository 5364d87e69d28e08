#include "engine/arrow/arrow_file.h"

#include "base/heap.h"

#include <stdlib.h>

static size_t count_buffers(const struct arrow_array *array, const struct arrow_field *field, bool values)
{
    if (field->in_dictionary && !values)
        return 2;
    if (arrow_is_nested(field)) /* at most: validity, offsets and lengths */
        return 3;
    switch (field->reading) {
    case READING_NONE:
    case READING_NULL:
        return 0;
    case READING_TEXT:
        return 3;
    case READING_VIEW:
        return 2 + array->variadic;
    default:
        return 2;
    }
}

void arrow_need_array(struct arrow_need *need, const struct arrow_file *file, const struct arrow_batch *batch,
                      const struct arrow_field *field, bool values)
{
    struct arrow_array array;
    if (!mapping_is_partial(file->mapping) || !arrow_array_of(batch, field, values, &array))
        return;
    const size_t count = count_buffers(&array, field, values);
    const size_t body = (size_t)(batch->body - (const unsigned char *)mapping_data(file->mapping));
    for (size_t i = 0; i < count; i++) {
        size_t offset, length;
        if (!arrow_buffer_place(batch, array.buffer + i, &offset, &length) || length == 0)
            continue;
        *HEAP_PUSH(need->ranges, need->count, need->capacity) = (struct byte_range){body + offset, length};
    }
}

void arrow_need_column(struct arrow_need *need, const struct arrow_file *file, const struct arrow_field *field)
{
    for (size_t b = 0; b < file->batch_count; b++) {
        for (const struct arrow_field *around = field; around; around = around->parent)
            arrow_need_array(need, file, &file->batches[b], around, false);
    }
    for (size_t d = 0; field->in_dictionary && d < file->dictionary_count; d++) {
        if (file->dictionaries[d].id == field->dictionary)
            arrow_need_array(need, file, &file->dictionaries[d].batch, field, true);
    }
}

enum status arrow_need_run(struct arrow_need *need, const struct arrow_file *file, const struct format_job *job)
{
    const enum status status =
        mapping_need(file->mapping, need->ranges, need->count, job->workers, job->span, job->diags);
    free(need->ranges);
    *need = (struct arrow_need){0};
    return status;
}
