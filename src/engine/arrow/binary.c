/* Whether binary columns are text, by their first values. */
#include "base/utf8.h"
#include "engine/arrow/arrow_file.h"
#include "engine/arrow/batch.h"

enum { SAMPLE_ROWS = 4096 };

/* Whether the first strings of the batch are UTF-8. */
static bool is_utf8(const struct arrow_batch *batch, const struct arrow_field *field, bool values)
{
    struct arrow_array array;
    struct arrow_strings strings;
    if (!arrow_array_of(batch, field, values, &array))
        return false;
    bool valid = arrow_strings_open(&array, field, &strings);
    for (int64_t row = 0; valid && row < array.rows && row < SAMPLE_ROWS; row++) {
        struct text text;
        valid = arrow_string_at(&strings, row, &text) && utf8_is_valid(text.at, text.length);
    }
    arrow_strings_close(&strings);
    return valid;
}

/* The batch that tells whether a binary column is text; NULL: it is none, or has no values. */
static const struct arrow_batch *sample_of(const struct arrow_file *file, const struct arrow_field *field)
{
    const struct arrow_batch *batch = file->batch_count > 0 ? &file->batches[0] : NULL;
    for (size_t d = file->dictionary_count; field->in_dictionary && d-- > 0;) {
        if (file->dictionaries[d].id == field->dictionary)
            batch = &file->dictionaries[d].batch;
    }
    return field->binary && (field->reading == READING_TEXT || field->reading == READING_VIEW) && arrow_is_wanted(field)
               ? batch
               : NULL;
}

enum status arrow_check_binary(struct arrow_file *file, const struct format_job *job)
{
    struct arrow_need need = {0};
    for (size_t k = 0; k < file->schema.all_count; k++) {
        const struct arrow_field *field = file->schema.all[k];
        const struct arrow_batch *batch = sample_of(file, field);
        if (batch)
            arrow_need_array(&need, file, batch, field, field->in_dictionary);
    }
    const enum status status = arrow_need_run(&need, file, job);
    for (size_t k = 0; k < file->schema.all_count && status == STATUS_OK; k++) {
        struct arrow_field *field = file->schema.all[k];
        const struct arrow_batch *batch = sample_of(file, field);
        if (batch && !is_utf8(batch, field, field->in_dictionary))
            field->reading = READING_NONE;
    }
    return status;
}
