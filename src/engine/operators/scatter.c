/* Scatter. Many rows are partitioned (scatter_partitioned.h). Others go to their places one by one: one thread marks
 * the places in a bitmap, which tells those taken twice, while others write a column each. So no element has two
 * writers, and nothing is atomic, which takes five times as long as the writing. Where memory has no room for the parts
 * of rows that go to all places, they are sorted by these. */
#include "engine/operators/operator.h"
#include "engine/operators/scatter_partitioned.h"
#include "engine/sorting/row_parts.h"
#include "engine/sorting/sort_rows.h"
#include "engine/vector/elements.h"

#include "base/buffer_pool.h"
#include "base/cpu_dispatch.h"
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

enum {
    PART_ROWS = 1 << 15,
    ALONE_ROWS = 1 << 14, /* so few take one thread less time than waking another */
    WORD_BITS = 64
};

struct scatter {
    const struct workers *workers;
    const struct operator_job *job;
    const struct column *positions;
    const struct column **from;
    struct column **to;
    size_t count;
    int64_t into;
    uint64_t *taken; /* a bit for each row of the result */
    _Atomic bool failed;
};

static void move_elements(const struct column *from, int64_t row, const int64_t *positions, int count,
                          struct column *to)
{
    const size_t size = type_table[from->store].size;
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

CPU_CLONES static bool are_inside(const int64_t *positions, int count, int64_t into)
{
    uint64_t outside = 0;
    for (int i = 0; i < count; i++)
        outside |= (uint64_t)positions[i] >= (uint64_t)into;
    return !outside;
}

/* False if a position was taken before. */
static bool take(uint64_t *taken, const int64_t *positions, int count)
{
    uint64_t twice = 0;
    for (int i = 0; i < count; i++) {
        const uint64_t place = (uint64_t)positions[i], before = taken[place / WORD_BITS];
        twice |= before >> place % WORD_BITS;
        taken[place / WORD_BITS] = before | UINT64_C(1) << place % WORD_BITS;
    }
    return !(twice & 1);
}

/* Part 0 takes the positions, part k + 1 writes column k. */
static void place_part(void *context, int member, int64_t part)
{
    (void)member;
    struct scatter *scatter = context;
    int64_t positions[OPERATOR_BLOCK];
    const int64_t rows = scatter->job->rows;
    for (int64_t row = 0; row < rows && !scatter->failed && !workers_cancelled(scatter->workers);
         row += OPERATOR_BLOCK) {
        const int count = rows - row < OPERATOR_BLOCK ? (int)(rows - row) : OPERATOR_BLOCK;
        operator_prefetch(scatter->positions, row + OPERATOR_BLOCK, count);
        if (part > 0)
            operator_prefetch(scatter->from[part - 1], row + OPERATOR_BLOCK, count);
        operator_values(scatter->positions, row, count, positions);
        if (!are_inside(positions, count, scatter->into) || (part == 0 && !take(scatter->taken, positions, count)))
            scatter->failed = true;
        else if (part > 0)
            move_elements(scatter->from[part - 1], row, positions, count, scatter->to[part - 1]);
    }
}

static void clear_part(void *context, struct part part)
{
    const struct scatter *scatter = context;
    const int64_t begin = part.begin, end = part.end;
    for (size_t k = 0; k < scatter->count; k++)
        memset(column_at(scatter->to[k], begin), 0, (size_t)(end - begin) * type_table[scatter->to[k]->store].size);
}

static enum status scatter_one_by_one(struct scatter *scatter)
{
    struct workers workers = *scatter->workers;
    workers.threads = scatter->into <= ALONE_ROWS ? 1 : workers.threads;
    const size_t size = ((size_t)scatter->into / WORD_BITS + 1) * sizeof *scatter->taken;
    size_t got;
    scatter->taken = buffer_pool_alloc(workers.pool, size, &got);
    if (!scatter->taken)
        return operator_no_memory(scatter->job);
    memset(scatter->taken, 0, size);
    /* If all rows of the result are taken, none is left to clear. */
    const int64_t cleared = scatter->job->rows < scatter->into ? scatter->into : 0;
    const bool done = workers_run_rows(&workers, cleared, PART_ROWS, clear_part, scatter) &&
                      workers_run(&workers, (int64_t)scatter->count + 1, place_part, scatter);
    buffer_pool_release(workers.pool, scatter->taken, got);
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
        status = scatter_partitioned(&column, &failed);
    }
    scatter->failed = failed;
    return status;
}

/* STATUS_FAILED, without an error: not enough memory. */
static enum status scatter_by_sorting(struct scatter *scatter, const struct keys *keys)
{
    const size_t size = ((size_t)scatter->into / WORD_BITS + 1) * sizeof *scatter->taken;
    struct carried *carried = heap_array(scatter->count, sizeof *carried);
    for (size_t k = 0; k < scatter->count; k++)
        carried[k] = (struct carried){.from = scatter->from[k], .to = scatter->to[k]};
    size_t got;
    scatter->taken = buffer_pool_alloc(scatter->workers->pool, size, &got);
    enum status status = scatter->taken ? STATUS_OK : STATUS_FAILED;
    if (status == STATUS_OK) {
        memset(scatter->taken, 0, size);
        place_part(scatter, 0, 0);
        buffer_pool_release(scatter->workers->pool, scatter->taken, got);
    }
    if (status == STATUS_OK && !scatter->failed)
        status = sort_columns_by(keys, scatter->into, scatter->workers, carried, scatter->count);
    free(carried);
    return status;
}

/* True if rows are more than memory has room for, and go to all places: then that is done. */
static bool scatter_spilled(struct scatter *scatter, enum status *status)
{
    enum { ROW_BYTES = 20 /* an element, with room in buckets */ };
    struct key at = {.column = scatter->positions};
    struct keys keys = {0};
    if (scatter->job->rows != scatter->into || buffer_pool_has(scatter->workers->pool, scatter->into * ROW_BYTES))
        return false;
    *status = STATUS_CANCELLED;
    bool pays = true;
    if (keys_init(&keys, &at, 1, scatter->into, scatter->workers)) {
        pays = row_parts_pay(&keys, scatter->into, ROW_BYTES, scatter->workers->pool);
        *status = pays ? scatter_by_sorting(scatter, &keys) : STATUS_OK;
    }
    keys_free(&keys);
    return pays && *status != STATUS_FAILED;
}

static enum status scatter_all(struct scatter *scatter)
{
    enum status done;
    if (scatter_spilled(scatter, &done))
        return done;
    size_t widest = 0;
    for (size_t k = 0; k < scatter->count; k++)
        widest = widest > type_table[scatter->to[k]->store].size ? widest : type_table[scatter->to[k]->store].size;
    enum status status = STATUS_FAILED;
    if (scatter_partitioned_pays(scatter->job->rows, scatter->into, widest))
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
