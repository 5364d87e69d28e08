#include "engine/evaluator/arm.h"
#include "engine/evaluator/worker.h"
#include "engine/vector/selection.h"

#include <string.h>

/* Computes the arm for all rows, and chooses. */
static bool run_for_all(struct worker *worker, const struct arm *arm, int count)
{
    const reg other = arm->other != NO_REGISTER ? arm->other : arm->result;
    for (size_t k = 0; k < arm->captures.count; k++)
        worker->at[arm->captures.at[k].inner] = worker->at[arm->captures.at[k].outer];
    const bool failed = worker_run_steps(worker, arm->begin, arm->end, count);
    const struct operands operands = {
        .out = worker->places[arm->out],
        .a = worker->at[arm->condition],
        .b = worker->at[arm->negated ? other : arm->result],
        .c = worker->at[arm->negated ? arm->result : other],
    };
    worker->at[arm->out] = operands.out;
    vector_op(OP_SELECT, arm->lane)(&operands, count);
    return failed;
}

/* Spreads the packed result of the rows that took the arm. */
static void spread(const struct arm_rows *rows, void *to, const void *from, int count, size_t size)
{
    for (int i = 0; i < count && size == 1; i++)
        ((uint8_t *)to)[rows->row[i]] = ((const uint8_t *)from)[i];
    for (int i = 0; i < count && size == 4; i++)
        ((int32_t *)to)[rows->row[i]] = ((const int32_t *)from)[i];
    for (int i = 0; i < count && size == 8; i++)
        ((int64_t *)to)[rows->row[i]] = ((const int64_t *)from)[i];
}

/* Computes the arm for the `taken` rows of rows->mask. */
static bool run_for_some(struct worker *worker, const struct arm *arm, struct arm_rows *rows, int taken, int count)
{
    const uint16_t *around = worker->packed;
    const size_t size = worker->program->vectors[arm->out].size;
    selection_list(rows->mask, count, rows->row);
    for (int i = 0; i < taken; i++)
        rows->of_block[i] = around ? around[rows->row[i]] : rows->row[i];
    for (size_t k = 0; k < arm->captures.count; k++) {
        const struct capture *capture = &arm->captures.at[k];
        pack_fn *packer = selection_packer(capture->size);
        void *to = worker_own(worker, capture->inner);
        if (packer)
            packer(to, worker->at[capture->outer], rows->mask, count, &(struct ahead){0});
        else
            selection_pack_listed(to, worker->at[capture->outer], rows->row, taken, capture->size);
    }
    worker->packed = rows->of_block;
    const bool failed = worker_run_steps(worker, arm->begin, arm->end, taken);
    worker->packed = around;
    void *out = worker->places[arm->out];
    if (arm->other != NO_REGISTER)
        memcpy(out, worker->at[arm->other], (size_t)count * size);
    spread(rows, out, worker->at[arm->result], taken, size);
    worker->at[arm->out] = out;
    return failed;
}

bool arm_run(struct worker *worker, const struct arm *arm, int count)
{
    struct arm_rows *rows = worker->arms[arm->number];
    const uint8_t *condition = worker->at[arm->condition];
    const int hold = selection_count(condition, count), taken = arm->negated ? count - hold : hold;
    if ((count - taken) * arm->cost <= count * arm->overhead)
        return run_for_all(worker, arm, count);
    for (int i = 0; i < count && taken > 0; i++)
        rows->mask[i] = (uint8_t)(condition[i] ^ arm->negated);
    if (taken > 0)
        return run_for_some(worker, arm, rows, taken, count);
    worker->at[arm->out] = arm->other != NO_REGISTER ? worker->at[arm->other] : worker->places[arm->out];
    return false;
}
