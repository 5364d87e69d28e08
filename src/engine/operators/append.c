/* Append: the numbers of the rows of two relations, one after the other. */
#include "base/integer.h"
#include "engine/operators/operator.h"
#include "engine/vector/elements.h"

enum { PART_ROWS = 1 << 18 };

struct append {
    struct column *column;
    int64_t first; /* rows of the first relation */
};

static void write_part(void *context, struct part part)
{
    const struct append *append = context;
    int64_t numbers[OPERATOR_BLOCK], end = part.end;
    for (int64_t row = part.begin; row < end; row += OPERATOR_BLOCK) {
        const int count = (int)min_int64(end - row, OPERATOR_BLOCK);
        for (int i = 0; i < count; i++)
            numbers[i] = row + i < append->first ? row + i : append->first - 1 - (row + i);
        operator_write_ints(append->column, row, numbers, count);
    }
}

enum status operator_append(const struct operator_job *job, const struct workers *workers, bool *flagged)
{
    (void)flagged; /* cannot fail */
    const int64_t second = job->inputs[job->task->column_op->keys[1]]->rows, rows = job->rows + second;
    const bool narrow = rows <= INT32_MAX;
    *job->result_rows = rows;
    if (!job->task->outputs[0].needed)
        return STATUS_OK;
    struct append append = {.first = job->rows};
    append.column = column_reserve_from(job->pool, TYPE_I64, narrow ? TYPE_I32 : TYPE_I64, rows);
    if (!append.column)
        return operator_no_memory(job);
    column_set_range(append.column, true, -second, max_int64(job->rows - 1, 0));
    if (!workers_run_rows(workers, rows, PART_ROWS, write_part, &append)) {
        column_unref(append.column);
        return STATUS_CANCELLED;
    }
    column_finish(append.column, rows);
    job->results[0] = append.column;
    return STATUS_OK;
}
