
#include "base/integer.h"
#include "engine/evaluator/worker.h"
#include "engine/vector/selection.h"

/* With more rows of a block than this, most cache lines of the other columns are read anyway. */
enum { FEW = BLOCK_ROWS / 64 };

/* Lists the rows that pass the leading filter in gather.rows, of as many blocks as fit; returns how many passed. */
static int scan_blocks(struct worker *worker, int64_t row, int64_t count, int64_t *scanned)
{
    struct gather *gather = &worker->gather;
    int passed = 0;
    *scanned = 0;
    while (*scanned < count && passed <= BLOCK_ROWS - FEW) {
        const int rows = (int)min_int64(count - *scanned, BLOCK_ROWS);
        const uint8_t *mask = worker_run_leading(worker, row + *scanned, rows);
        const int some = selection_list_few(mask, rows, FEW, worker->selection);
        gather->off = some > FEW;
        if (gather->off)
            break;
        for (int k = 0; k < some; k++)
            gather->rows[passed + k] = (uint16_t)(worker->selection[k] + *scanned);
        passed += some;
        *scanned += rows;
    }
    return passed;
}

int gather_block(struct worker *worker, int64_t row, int64_t count, int64_t *scanned)
{
    const struct program *program = worker->program;
    const size_t first = (size_t)(program->job->task->first + row);
    const int passed = scan_blocks(worker, row, count, scanned);
    worker->gather.skipped += *scanned - passed;
    for (size_t i = 0; i < program->stored_count; i++) {
        const struct stored_vector *stored = &program->stored[i];
        const struct column *column = program->job->columns[stored->input];
        const struct operands operands = {
            .out = worker->memory + stored->place,
            .a = (const unsigned char *)column->data + first * program->vectors[stored->vector].size,
            .index = worker->gather.rows,
        };
        vector_selected_move(column->store, column->store)(&operands, passed);
        worker->at[stored->vector] = operands.out;
    }
    worker->rows = passed;
    worker->prefetch.left = 0;
    return passed;
}
