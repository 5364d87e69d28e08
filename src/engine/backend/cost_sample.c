#include "engine/backend/cost_sample.h"

/* Building counts as time that had passed before. */
static struct spent now(const struct timing *timing)
{
    struct spent spent = {.ns = now_ns()};
    for (size_t i = 0; timing && i < timing->count; i++) {
        const struct event *event = &timing->events[i];
        switch (event->phase) {
        case PHASE_BUILD:
            spent.ns -= event->ns;
            break;
        case PHASE_UPLOAD:
            spent.upload_ns += event->ns;
            spent.upload_bytes += event->bytes;
            break;
        case PHASE_RETRIEVE:
            spent.download_ns += event->ns;
            spent.download_bytes += event->bytes;
            break;
        default:
            break;
        }
    }
    return spent;
}

void cost_sample_begin(struct cost_sample *measure, struct timing *timing)
{
    measure->timing = timing;
    measure->before = now(timing);
}

void cost_sample_end(struct cost_sample *measure, const struct backend *backend, int64_t rows)
{
    struct spent after = now(measure->timing);
    size_t k = 0;
    while (k < measure->count && measure->of[k].backend != backend)
        k++;
    if (k == MOST_CANDIDATES)
        return;
    measure->count = k == measure->count ? k + 1 : measure->count;
    measure->of[k].backend = backend;
    struct spent *spent = &measure->of[k].spent;
    spent->rows += rows;
    spent->ns += after.ns - measure->before.ns;
    spent->upload_ns += after.upload_ns - measure->before.upload_ns;
    spent->upload_bytes += after.upload_bytes - measure->before.upload_bytes;
    spent->download_ns += after.download_ns - measure->before.download_ns;
    spent->download_bytes += after.download_bytes - measure->before.download_bytes;
}

void cost_sample_report(const struct cost_sample *measure, struct chooser *chooser, const struct cost_features *work)
{
    for (size_t k = 0; k < measure->count; k++)
        chooser_learn(chooser, measure->of[k].backend, work, &measure->of[k].spent);
}
