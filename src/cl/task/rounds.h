/* The rounds of a loop on a device: kernels that the host enqueues one after another, in batches, between columns that
 * stay there. Nothing is transferred between the rounds of a batch.
 *
 * A batch is twice as long as the one before until it takes 30 ms; between batches the host looks for an interrupt. A
 * kernel gets the number of its round and reads a flag, which is set by the round that fails or is the last, so the
 * state is that of this round (cl/codegen/round_text.h). Aggregates of `until` are a second sink of the pass that
 * computes the round: one kernel writes rows and the slots of its work-groups, another of one group joins the slots,
 * tests the condition and sets the flag. Float sums are compensated sums, and the round fails where rounding one is
 * uncertain. Means of integers, products, and operators other than a group of few integer keys (round_group.cl) are
 * not done here: the host runs such rounds one by one.
 *
 * A kernel cannot be stopped, so kernels with loops are launched in ranges of rows that take 20 to 60 ms each. */
#ifndef RQL_CL_TASK_ROUNDS_H
#define RQL_CL_TASK_ROUNDS_H

#include "cl/device/accelerator.h"

#include "engine/backend/backend.h"

/* As in struct backend_ops. rounds_open builds the programs; NULL: a task is not of such a form, or no memory. */
struct backend_rounds *rounds_open(struct accelerator *accelerator, const struct rounds_job *job);
enum status rounds_run(struct backend_rounds *rounds, int64_t first, int64_t count, struct rounds_end *end);
bool rounds_finish(struct backend_rounds *rounds);
void rounds_close(struct backend_rounds *rounds);

#endif
