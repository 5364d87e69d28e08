#include "cl/operators/group_record.h"

#include "cl/operators/column_minmax.h"

#include <math.h>

static const uint64_t narrow_most = UINT32_MAX;

static struct column *column_of(const struct operator_job *job, value bare)
{
    return job->inputs[job->task->code.at[bare].integer];
}

/* The number of the value that a column is, added if it is new. */
static enum status add_value(struct group_record *cells, struct accelerator *accelerator,
                             const struct operator_job *job, struct column *column, size_t *number)
{
    size_t k = 0;
    while (k < cells->value_count && cells->values[k].reading.column != column)
        k++;
    *number = k;
    if (k < cells->value_count)
        return STATUS_OK;
    const struct image *image = &image_table[column->store];
    struct group_record_value added = {.reading = {.column = column, .image = image}, .wide = image->wide};
    if (image->wide && !image->number) {
        struct column_minmax extent;
        enum status status = column_minmax_find(accelerator, job, column, &extent);
        if (status != STATUS_OK)
            return status;
        added.reading.least = extent.least;
        added.wide = extent.most - extent.least > narrow_most;
    }
    cells->values[cells->value_count++] = added;
    return STATUS_OK;
}

static size_t add_member(struct group_record *cells, enum member_kind kind, size_t number)
{
    size_t k = 0;
    while (k < cells->member_count && (cells->members[k].kind != kind || cells->members[k].value != number))
        k++;
    if (k == cells->member_count)
        cells->members[cells->member_count++] = (struct member){.kind = kind, .value = number};
    return k;
}

bool group_record_is_long(const struct group_record *cells, const struct member *member)
{
    return member->kind == MEMBER_SUM || cells->values[member->value].wide;
}

/* Pairs of words first, so that they are aligned, then single ones. */
static void place_words(struct group_record *cells)
{
    size_t at = 0;
    for (size_t k = 0; k < cells->member_count; k++)
        if (group_record_is_long(cells, &cells->members[k])) {
            cells->members[k].word = at;
            at += 2;
        }
    for (size_t k = 0; k < cells->member_count; k++) {
        struct member *member = &cells->members[k];
        if (!group_record_is_long(cells, member))
            member->word = at++;
        else if (member->kind == MEMBER_SUM && cells->values[member->value].wide)
            member->top = at++;
    }
    cells->count_word = at++;
    cells->stride = (at + 1) / 2 * 2;
}

void group_record_plan_count(struct group_record *cells)
{
    *cells = (struct group_record){0};
    place_words(cells);
}

enum status group_record_plan(struct group_record *cells, struct accelerator *accelerator,
                              const struct operator_job *job, size_t *member_of)
{
    const struct task *task = job->task;
    struct arena *arena = job->diags->arena;
    *cells = (struct group_record){
        .members = arena_array(arena, task->aggregate_count + 1, sizeof *cells->members),
        .values = arena_array(arena, task->aggregate_count + 1, sizeof *cells->values),
    };
    for (size_t k = 0; k < task->aggregate_count; k++) {
        const struct aggregate *aggregate = &task->aggregates[k];
        if (aggregate->kind == AGG_COUNT || !task->outputs[task->operator->key_count + k].needed)
            continue;
        bool sum = aggregate->kind == AGG_SUM || aggregate->kind == AGG_MEAN;
        if (!sum && aggregate->kind != AGG_MIN && aggregate->kind != AGG_MAX)
            return STATUS_UNABLE;
        struct column *column = column_of(job, aggregate->value);
        if (sum && type_table[column->store].kind == KIND_FLOAT)
            return STATUS_UNABLE;
        size_t number;
        enum status status = add_value(cells, accelerator, job, column, &number);
        if (status != STATUS_OK)
            return status;
        member_of[k] = add_member(cells,
                                  sum                          ? MEMBER_SUM
                                  : aggregate->kind == AGG_MIN ? MEMBER_MIN
                                                               : MEMBER_MAX,
                                  number);
    }
    place_words(cells);
    return STATUS_OK;
}

bool group_record_long_extremes(const struct group_record *cells)
{
    for (size_t k = 0; k < cells->member_count; k++)
        if (cells->members[k].kind != MEMBER_SUM && group_record_is_long(cells, &cells->members[k]))
            return true;
    return false;
}

int64_t group_record_count(const struct group_record *cells, const uint32_t *record)
{
    return record[cells->count_word];
}

static uint64_t two_words(const uint32_t *words)
{
    return (uint64_t)words[1] << 32 | words[0];
}

static uint64_t offset_of(const struct group_record *cells, const struct member *member, const uint32_t *record)
{
    return group_record_is_long(cells, member) ? two_words(&record[member->word]) : record[member->word];
}

int128 group_record_sum(const struct group_record *cells, const struct member *member, const uint32_t *record)
{
    const struct reading *reading = &cells->values[member->value].reading;
    int128 offsets = two_words(&record[member->word]);

    if (member->top)
        offsets += (int128)record[member->top] << 64;
    return offsets + (int128)image_integer(reading->image, reading->least) * record[cells->count_word];
}

int64_t group_record_integer(const struct group_record *cells, const struct member *member, const uint32_t *record)
{
    const struct reading *reading = &cells->values[member->value].reading;

    return image_integer(reading->image, reading->least + offset_of(cells, member, record));
}

double group_record_float(const struct group_record *cells, const struct member *member, const uint32_t *record)
{
    const struct reading *reading = &cells->values[member->value].reading;
    uint64_t image = reading->least + offset_of(cells, member, record);

    /* No number has either of these images: nothing has come but NaN. */
    return image == 0 || image == image_most(reading->image) ? NAN : image_float(reading->image, image);
}
