#include "engine/backend/backend_choice.h"

/* Building is taken out of the time. */
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

void cost_sample_begin(struct cost_sample *sample, struct timing *timing)
{
    sample->timing = timing;
    sample->before = now(timing);
}

void cost_sample_end(struct cost_sample *sample, const struct backend *backend, int64_t rows)
{
    struct spent after = now(sample->timing);
    size_t k = 0;
    while (k < sample->count && sample->of[k].backend != backend)
        k++;
    if (k == MOST_CANDIDATES)
        return;
    sample->count = k == sample->count ? k + 1 : sample->count;
    sample->of[k].backend = backend;
    struct spent *spent = &sample->of[k].spent;
    spent->rows += rows;
    spent->ns += after.ns - sample->before.ns;
    spent->upload_ns += after.upload_ns - sample->before.upload_ns;
    spent->upload_bytes += after.upload_bytes - sample->before.upload_bytes;
    spent->download_ns += after.download_ns - sample->before.download_ns;
    spent->download_bytes += after.download_bytes - sample->before.download_bytes;
}

void cost_sample_report(const struct cost_sample *sample, struct chooser *chooser, const struct cost_features *work)
{
    for (size_t k = 0; k < sample->count; k++)
        chooser_learn(chooser, sample->of[k].backend, work, &sample->of[k].spent);
}
