/* Scatter. Many rows are dealt (scatter_dealt.h). Few go to their places one by one: a bitmap of claimed result rows,
 * set atomically, detects positions taken twice; no row is written by two threads. */
#include "engine/operators/operator_kinds.h"
#include "engine/operators/scatter_dealt.h"
#include "engine/vector/elements.h"

#include "base/heap.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PART_ROWS = 1 << 15, WORD_BITS = 64 };

struct scatter {
    const struct workers *workers;
    const struct operator_job *job;
    const struct column *positions;
    const struct column **from;
    struct column **to;
    size_t count;
    int64_t into;
    _Atomic uint64_t *claimed;
    struct parts parts, cleared; /* of the rows, and of those of the result */
    _Atomic bool failed;
};

static void move_elements(const struct column *from, int64_t row, const int64_t *positions, int count,
                          struct column *to)
{
    size_t size = type_table[from->store].size;
    const char *data = (const char *)from->data + (size_t)row * size;
    char *result = column_at(to, 0);
    switch (size) {
    case 1:
        for (int i = 0; i < count; i++)
            result[positions[i]] = data[i];
        break;
    case 2:
        for (int i = 0; i < count; i++)
            memcpy(result + 2 * positions[i], data + (size_t)i * 2, 2);
        break;
    case 4:
        for (int i = 0; i < count; i++)
            memcpy(result + 4 * positions[i], data + (size_t)i * 4, 4);
        break;
    default:
        for (int i = 0; i < count; i++)
            memcpy(result + 8 * positions[i], data + (size_t)i * 8, 8);
    }
}

static bool claim(const struct scatter *scatter, const int64_t *positions, int count)
{
    for (int i = 0; i < count; i++) {
        if (positions[i] < 0 || positions[i] >= scatter->into)
            return false;
        uint64_t bit = UINT64_C(1) << (positions[i] % WORD_BITS);
        _Atomic uint64_t *word = &scatter->claimed[positions[i] / WORD_BITS];
        if (atomic_fetch_or_explicit(word, bit, memory_order_relaxed) & bit)
            return false;
    }
    return true;
}

static void scatter_part(void *context, int member, int64_t part)
{
    (void)member;
    struct scatter *scatter = context;
    int64_t positions[OPERATOR_BLOCK];
    int64_t end = part_begin(&scatter->parts, part + 1);
    for (int64_t row = part_begin(&scatter->parts, part);
         row < end && !scatter->failed && !workers_cancelled(scatter->workers); row += OPERATOR_BLOCK) {
        int count = end - row < OPERATOR_BLOCK ? (int)(end - row) : OPERATOR_BLOCK;
        operator_values(scatter->positions, row, count, positions);
        if (!claim(scatter, positions, count)) {
            scatter->failed = true;
            return;
        }
        for (size_t k = 0; k < scatter->count; k++)
            move_elements(scatter->from[k], row, positions, count, scatter->to[k]);
    }
}

static void clear_part(void *context, int member, int64_t part)
{
    (void)member;
    const struct scatter *scatter = context;
    const int64_t begin = part_begin(&scatter->cleared, part), end = part_begin(&scatter->cleared, part + 1);
    for (size_t k = 0; k < scatter->count; k++)
        memset(column_at(scatter->to[k], begin), 0, (size_t)(end - begin) * type_table[scatter->to[k]->store].size);
}

static enum status scatter_one_by_one(struct scatter *scatter)
{
    const struct workers *workers = scatter->workers;
    const size_t size = ((size_t)scatter->into / WORD_BITS + 1) * sizeof *scatter->claimed;
    scatter->claimed = pages_alloc(size);
    if (!scatter->claimed)
        return operator_no_memory(scatter->job);
    scatter->parts = partition_rows(workers, scatter->job->rows, PART_ROWS);
    scatter->cleared = partition_rows(workers, scatter->into, PART_ROWS);
    const bool done = workers_run(workers, scatter->cleared.count, clear_part, scatter) &&
                      workers_run(workers, scatter->parts.count, scatter_part, scatter);
    pages_free(scatter->claimed, size);
    return done ? STATUS_OK : STATUS_CANCELLED;
}

/* STATUS_FAILED: there is not enough memory for it. */
static enum status scatter_in_regions(struct scatter *scatter)
{
    enum status status = STATUS_OK;
    bool failed = false;
    for (size_t k = 0; k < scatter->count && status == STATUS_OK && !failed; k++) {
        const struct scatter_column column = {.workers = scatter->workers,
                                              .positions = scatter->positions,
                                              .from = scatter->from[k],
                                              .to = scatter->to[k],
                                              .rows = scatter->job->rows,
                                              .into = scatter->into,
                                              .claims = k == 0};
        status = scatter_dealt(&column, &failed);
    }
    scatter->failed = failed;
    return status;
}

static enum status scatter_all(struct scatter *scatter)
{
    size_t widest = 0;
    for (size_t k = 0; k < scatter->count; k++)
        widest = widest > type_table[scatter->to[k]->store].size ? widest : type_table[scatter->to[k]->store].size;
    enum status status = STATUS_FAILED;
    if (scatter_dealt_pays(scatter->job->rows, scatter->into, widest))
        status = scatter_in_regions(scatter);
    return status == STATUS_FAILED ? scatter_one_by_one(scatter) : status;
}

enum status operator_scatter(const struct operator_job *job, const struct workers *workers, bool *flagged)
{
    const struct task *task = job->task;
    struct scatter scatter = {
        .workers = workers,
        .job = job,
        .positions = job->inputs[task->column_op->keys[0]],
        .into = task->column_op->into >= 0 ? task->column_op->into : job->rows,
    };
    *job->result_rows = scatter.into;
    /* With more rows than positions some position is taken twice. */
    if (job->rows > scatter.into)
        *flagged = true;
    if (scatter.into == 0 || job->rows > scatter.into)
        return STATUS_OK;
    scatter.from = heap_array(task->output_count, sizeof *scatter.from);
    scatter.to = heap_array(task->output_count, sizeof *scatter.to);
    for (size_t k = 0; k < task->output_count; k++) {
        if (job->results[k]) {
            scatter.from[scatter.count] = operator_input(job, task->outputs[k].value);
            scatter.to[scatter.count++] = job->results[k];
        }
    }
    const enum status status = scatter_all(&scatter);
    if (scatter.failed)
        *flagged = true;
    free(scatter.from);
    free(scatter.to);
    return status;
}
