/* What the parts of a task took on the backends that ran them, for the choice (choose.h) to learn from. */
#ifndef RQL_ENGINE_BACKEND_COST_SAMPLE_H
#define RQL_ENGINE_BACKEND_COST_SAMPLE_H

#include "engine/backend/backend_choice.h"

struct measure {
    struct timing *timing; /* that the backends add to */
    struct spent before;   /* when the part began */
    struct {
        const struct backend *backend;
        struct spent spent;
    } of[MOST_CANDIDATES];
    size_t count;
};

void measure_begin(struct measure *measure, struct timing *timing);
/* The part is done: the backend has run so many rows. */
void measure_end(struct measure *measure, const struct backend *backend, int64_t rows);

/* Tells the chooser all of it. */
void measure_tell(const struct measure *measure, struct chooser *chooser, const struct work *work);

#endif
