#include "engine/run/device_rounds.h"

#include "base/integer.h"
#include "engine/run/run_repeat.h"

/* A batch takes about BATCH_NS: long enough for the wait at its end not to matter, short enough for Ctrl-C. */
enum { BATCH_NS = 30000000 };

struct rounds_on_device {
    struct backend *backend;
    struct device_rounds *rounds;
    const struct loop *loop;
    const atomic_int *cancel;
    int64_t rows, batches;
};

struct rounds_on_device *rounds_on_device_open(struct backend *backend, const struct rounds_job *job,
                                               const struct loop *loop, int64_t rows, struct arena *arena)
{
    struct device_rounds *rounds = backend->ops->open_rounds(backend, job);
    if (!rounds)
        return NULL;
    struct rounds_on_device *opened = arena_alloc(arena, sizeof *opened);
    *opened = (struct rounds_on_device){
        .backend = backend, .rounds = rounds, .loop = loop, .cancel = job->cancel, .rows = rows};
    return opened;
}

/* The rounds of the next batch, after one of `count` that took so long. */
static int64_t next_batch(int64_t count, int64_t took)
{
    if (took >= BATCH_NS)
        return max_int64(count * BATCH_NS / took, 1);
    return took * 2 <= BATCH_NS ? count * 2 : count;
}

enum status rounds_on_device_run(struct rounds_on_device *rounds, int64_t *round, bool *done, bool *odd,
                                 struct progress *progress)
{
    const struct backend_ops *ops = rounds->backend->ops;
    const int64_t first = *round;
    struct rounds_end end = {0};
    int64_t count = 1;
    while (!*done && !end.flagged && *round < rounds->loop->rounds) {
        const int64_t began = now_ns();
        if (rounds->cancel && *rounds->cancel)
            return STATUS_CANCELLED;
        count = min_int64(count, rounds->loop->rounds - *round);
        const enum status status = ops->run_rounds(rounds->rounds, *round, count, &end);
        if (status != STATUS_OK)
            return status == STATUS_CANCELLED ? status : STATUS_FAILED;
        rounds->batches++;
        *round += end.done;
        *done = end.ended;
        count = next_batch(count, now_ns() - began);
        repeat_report(rounds->loop, *round, progress);
    }
    *odd = (*round - first) % 2 != 0;
    if (!ops->finish_rounds(rounds->rounds))
        return STATUS_FAILED;
    return end.flagged ? STATUS_UNABLE : STATUS_OK;
}

int64_t rounds_on_device_batches(const struct rounds_on_device *rounds)
{
    return rounds->batches;
}

void rounds_on_device_close(struct rounds_on_device *rounds)
{
    if (rounds)
        rounds->backend->ops->close_rounds(rounds->rounds);
}
