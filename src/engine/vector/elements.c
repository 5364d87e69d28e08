#include "engine/vector/elements.h"

#include "base/buffer_pool.h"
#include "base/spill_area.h"
#include "engine/vector/ops.h"

#include <string.h>

enum status operator_no_memory(const struct operator_job *job)
{
    const struct spill_room disk = buffer_pool_spill_room(job->pool);
    if (!job->pool || disk.problem || disk.failed)
        return diag_no_memory(job->diags, job->task->span, "not enough memory for %lld rows", (long long)job->rows);
    return diag_error_hint(job->diags, job->task->span, "`.set temp DIRECTORY` names a disk that has more room",
                           "not enough memory for %lld rows: %.3g GB are free, and %.3g GB in `%s`",
                           (long long)job->rows, (double)buffer_pool_room(job->pool) / 1e9, (double)disk.bytes / 1e9,
                           disk.directory);
}

enum status operator_report(const struct operator_job *job, enum status status)
{
    return status == STATUS_FAILED ? operator_no_memory(job) : status;
}

void operator_values(const struct column *column, int64_t row, int count, void *values)
{
    const bool number = type_table[column->store].kind == KIND_FLOAT;
    const char *from = (const char *)column->data + (size_t)row * type_table[column->store].size;
    struct operands operands = {.out = values, .a = from};
    vector_move(column->store, number ? TYPE_F64 : TYPE_I64)(&operands, count);
}

int operator_present_values(const struct column *column, int64_t row, int count, void *values)
{
    operator_values(column, row, count, values);
    if (!column->validity)
        return count;
    const uint8_t *present = (const uint8_t *)column->validity->data + row;
    char *elements = values;
    int kept = 0;
    for (int i = 0; i < count; i++) {
        memmove(elements + (size_t)kept * sizeof(int64_t), elements + (size_t)i * sizeof(int64_t), sizeof(int64_t));
        kept += present[i];
    }
    return kept;
}

void operator_values_at(const struct column *column, const uint64_t *rows, int count, void *values)
{
    uint64_t picked[OPERATOR_BLOCK];
    const bool number = type_table[column->store].kind == KIND_FLOAT;
    struct operands operands = {.out = values, .a = picked};
    column_gather(column, rows, count, picked);
    vector_move(column->store, number ? TYPE_F64 : TYPE_I64)(&operands, count);
}

void operator_prefetch(const struct column *column, int64_t row, int count)
{
    enum { LINE = 64 };
    const size_t size = type_table[column->store].size;
    const char *rows = (const char *)column->data + (size_t)row * size;
    for (size_t at = 0; at < (size_t)count * size; at += LINE)
        __builtin_prefetch(rows + at);
}

void operator_write_ints(struct column *column, int64_t row, const int64_t *values, int count)
{
    void *to = column_at(column, row);
    switch (type_table[column->store].size) {
    case 1:
        for (int i = 0; i < count; i++)
            ((int8_t *)to)[i] = (int8_t)values[i];
        break;
    case 2:
        for (int i = 0; i < count; i++)
            ((int16_t *)to)[i] = (int16_t)values[i];
        break;
    case 4:
        for (int i = 0; i < count; i++)
            ((int32_t *)to)[i] = (int32_t)values[i];
        break;
    default:
        memcpy(to, values, (size_t)count * sizeof *values);
    }
}

enum lane axis_lane(const struct column *column)
{
    const struct type_info *info = &type_table[column->store];
    if (info->kind == KIND_FLOAT)
        return LANE_F64;
    return info->size < sizeof(int32_t) || column->store == TYPE_I32 ? LANE_I32 : LANE_I64;
}

const void *axis_values(const struct column *column, enum lane lane, int64_t row, int count, void *space)
{
    struct operands operands = {
        .out = space,
        .a = (const char *)column->data + (size_t)row * type_table[column->store].size,
    };
    if (column->store == lane_type(lane))
        return operands.a;
    vector_move(column->store, lane_type(lane))(&operands, count);
    return space;
}

struct copy {
    const char *from;
    char *to;
    size_t size;
};

static void copy_part(void *context, struct part part)
{
    const struct copy *copy = context;
    const size_t begin = (size_t)part.begin * copy->size;
    const size_t end = (size_t)part.end * copy->size;
    memcpy(copy->to + begin, copy->from + begin, end - begin);
}

void operator_copy(const struct workers *workers, const struct column *from, struct column *to, int64_t rows)
{
    enum { PART_ROWS = 1 << 18 };
    struct copy copy = {
        .from = from->data,
        .to = rows > 0 ? column_at(to, 0) : NULL,
        .size = type_table[from->store].size,
    };
    workers_run_rows(workers, rows, PART_ROWS, copy_part, &copy);
}
