#include "engine/run/skewed.h"

#include "base/integer.h"

/* The column that takes its place in odd rounds. */
static struct column *exchanged(const struct kept_rounds *kept, struct column *column)
{
    for (size_t k = 0; k < kept->loop->count; k++) {
        if (column == kept->state[k]) /* carried: both are the same */
            return kept->after[k];
        if (column == kept->after[k])
            return kept->state[k];
    }
    return column;
}

struct kept_job *skewed_open(struct kept_rounds *kept)
{
    const struct kept_task *even = &kept->queues[0].tasks[0];
    const bool conditions = kept->queues[1].count + kept->queues[2].count > 0;
    if (!kept->backend->ops->run_in_turns || conditions || kept->queues[0].count != 1 || !even->kept)
        return NULL;
    const size_t inputs = even->task->input_count, outputs = even->task->output_count;
    struct column **read = arena_array(kept->arena, inputs + 1, sizeof *read);
    struct column **written = arena_array(kept->arena, outputs + 1, sizeof *written);
    for (size_t k = 0; k < inputs; k++) {
        if (even->columns[k] == kept->step)
            return NULL;
        read[k] = exchanged(kept, even->columns[k]);
    }
    for (size_t k = 0; k < outputs; k++)
        written[k] = exchanged(kept, even->written[k]);
    struct job *job = arena_alloc(kept->arena, sizeof *job);
    *job = even->job;
    job->columns = read;
    return kept->backend->ops->keep(kept->backend, job, written);
}

bool skewed_run(struct kept_rounds *kept, int64_t *round, enum status *status)
{
    enum { ROUNDS = 256 }; /* between reports of progress */
    if (!kept->odd)
        return false;
    struct kept_job *const jobs[2] = {kept->queues[0].tasks[0].kept, kept->odd};
    const int64_t rounds = min_int64(kept->loop->rounds - *round, ROUNDS);
    *status = kept->backend->ops->run_in_turns(jobs, rounds);
    if (*status == STATUS_UNABLE) {
        kept->backend->ops->drop(kept->odd);
        kept->odd = NULL;
        *status = STATUS_OK;
        return false;
    }
    *round += *status == STATUS_OK ? rounds : 0;
    if (rounds % 2 == 1)
        kept_state_exchange(kept);
    return true;
}
