/* What the ranges of a task took on the backends that ran them, for the backend choice to learn from. */
#ifndef RQL_ENGINE_BACKEND_COST_SAMPLE_H
#define RQL_ENGINE_BACKEND_COST_SAMPLE_H

#include "engine/backend/backend_choice.h"

struct cost_sample {
    struct timing *timing; /* the backends add to it */
    struct spent before;   /* when the range began */
    struct {
        const struct backend *backend;
        struct spent spent;
    } of[MOST_CANDIDATES];
    size_t count;
};

/* A range begins. `timing` is the one that the backends add to. */
void cost_sample_begin(struct cost_sample *sample, struct timing *timing);

/* The range is done: the backend has run `rows` rows. */
void cost_sample_end(struct cost_sample *sample, const struct backend *backend, int64_t rows);

/* Reports all ranges to the chooser. */
void cost_sample_report(const struct cost_sample *sample, struct chooser *chooser, const struct cost_features *work);

#endif
