#include "cl/operators/group_record.h"

#include "cl/operators/column_minmax.h"

#include <math.h>

static const uint64_t narrow_most = UINT32_MAX;

static struct column *column_of(const struct operator_job *job, value bare)
{
    return job->inputs[job->task->code.at[bare].integer];
}

/* Finds the number of the value that reads a column, or adds it. */
static enum status add_value(struct record_layout *layout, struct accelerator *accelerator,
                             const struct operator_job *job, struct column *column, size_t *number)
{
    size_t k = 0;
    while (k < layout->value_count && layout->values[k].encoded.column != column)
        k++;
    *number = k;
    if (k < layout->value_count)
        return STATUS_OK;
    const struct key_encoding *encoding = &key_encodings[column->store];
    struct group_record_value added = {.encoded = {.column = column, .encoding = encoding}, .wide = encoding->wide};
    if (encoding->wide && !encoding->is_float) {
        struct column_minmax bounds;
        const enum status status = column_minmax_bounds(accelerator, job, column, &bounds);
        if (status != STATUS_OK)
            return status;
        added.encoded.least = bounds.least;
        added.wide = bounds.most - bounds.least > narrow_most;
    }
    layout->values[layout->value_count++] = added;
    return STATUS_OK;
}

static size_t add_field(struct record_layout *layout, enum aggregate_kind kind, size_t number)
{
    size_t k = 0;
    while (k < layout->field_count && (layout->fields[k].kind != kind || layout->fields[k].value != number))
        k++;
    if (k == layout->field_count)
        layout->fields[layout->field_count++] = (struct record_field){.kind = kind, .value = number};
    return k;
}

bool group_record_is_long(const struct record_layout *layout, const struct record_field *field)
{
    return field->kind == AGG_SUM || layout->values[field->value].wide;
}

/* Pairs of words first, for alignment. */
static void place_words(struct record_layout *layout)
{
    size_t at = 0;
    for (size_t k = 0; k < layout->field_count; k++) {
        if (group_record_is_long(layout, &layout->fields[k])) {
            layout->fields[k].word = at;
            at += 2;
        }
    }
    for (size_t k = 0; k < layout->field_count; k++) {
        struct record_field *field = &layout->fields[k];
        if (!group_record_is_long(layout, field))
            field->word = at++;
        else if (field->kind == AGG_SUM && layout->values[field->value].wide)
            field->top = at++;
    }
    layout->count_word = at++;
    layout->stride = (at + 1) / 2 * 2;
}

void group_record_plan_count(struct record_layout *layout)
{
    *layout = (struct record_layout){0};
    place_words(layout);
}

enum status group_record_plan(struct record_layout *layout, struct accelerator *accelerator,
                              const struct operator_job *job, size_t *field_of)
{
    const struct task *task = job->task;
    struct arena *arena = job->diags->arena;
    *layout = (struct record_layout){
        .fields = arena_array(arena, task->aggregate_count + 1, sizeof *layout->fields),
        .values = arena_array(arena, task->aggregate_count + 1, sizeof *layout->values),
    };
    for (size_t k = 0; k < task->aggregate_count; k++) {
        const struct aggregate *aggregate = &task->aggregates[k];
        if (aggregate->kind == AGG_COUNT || !task->outputs[task->column_op->key_count + k].needed)
            continue;
        const bool sum = aggregate_table[aggregate->kind].sums;
        if (!sum && !aggregate_table[aggregate->kind].extreme)
            return STATUS_UNABLE;
        struct column *column = column_of(job, aggregate->value);
        if (sum && type_table[column->store].kind == KIND_FLOAT)
            return STATUS_UNABLE;
        size_t number;
        const enum status status = add_value(layout, accelerator, job, column, &number);
        if (status != STATUS_OK)
            return status;
        field_of[k] = add_field(layout, sum ? AGG_SUM : aggregate->kind, number);
    }
    place_words(layout);
    return STATUS_OK;
}

bool group_record_long_extremes(const struct record_layout *layout)
{
    for (size_t k = 0; k < layout->field_count; k++) {
        if (layout->fields[k].kind != AGG_SUM && group_record_is_long(layout, &layout->fields[k]))
            return true;
    }
    return false;
}

int64_t group_record_count(const struct record_layout *layout, const uint32_t *record)
{
    return record[layout->count_word];
}

static uint64_t two_words(const uint32_t *words)
{
    return (uint64_t)words[1] << 32 | words[0];
}

static uint64_t offset_of(const struct record_layout *layout, const struct record_field *field, const uint32_t *record)
{
    return group_record_is_long(layout, field) ? two_words(&record[field->word]) : record[field->word];
}

int128 group_record_sum(const struct record_layout *layout, const struct record_field *field, const uint32_t *record)
{
    const struct encoded_column *encoded = &layout->values[field->value].encoded;
    int128 offsets = two_words(&record[field->word]);
    if (field->top)
        offsets += (int128)record[field->top] << 64;
    return offsets + (int128)decode_integer(encoded->encoding, encoded->least) * record[layout->count_word];
}

int64_t group_record_integer(const struct record_layout *layout, const struct record_field *field,
                             const uint32_t *record)
{
    const struct encoded_column *encoded = &layout->values[field->value].encoded;
    return decode_integer(encoded->encoding, encoded->least + offset_of(layout, field, record));
}

double group_record_float(const struct record_layout *layout, const struct record_field *field, const uint32_t *record)
{
    const struct encoded_column *encoded = &layout->values[field->value].encoded;
    const uint64_t encoding = encoded->least + offset_of(layout, field, record);
    /* No number has either of these encodings: the group has only NaN. */
    return encoding == 0 || encoding == key_encoding_max(encoded->encoding) ? NAN
                                                                            : decode_float(encoded->encoding, encoding);
}
