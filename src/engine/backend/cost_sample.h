/* What the parts of a task took on the backends that ran them, for the choice (backend_choice.h) to learn from. */
#ifndef RQL_ENGINE_BACKEND_COST_SAMPLE_H
#define RQL_ENGINE_BACKEND_COST_SAMPLE_H

#include "engine/backend/backend_choice.h"

struct cost_sample {
    struct timing *timing; /* that the backends add to */
    struct spent before;   /* when the part began */
    struct {
        const struct backend *backend;
        struct spent spent;
    } of[MOST_CANDIDATES];
    size_t count;
};

void cost_sample_begin(struct cost_sample *measure, struct timing *timing);
/* The part is done: the backend has run so many rows. */
void cost_sample_end(struct cost_sample *measure, const struct backend *backend, int64_t rows);

/* Tells the chooser all of it. */
void cost_sample_report(const struct cost_sample *measure, struct chooser *chooser, const struct cost_features *work);

#endif
