/* What fuse*.c share. Private to fuse*.c. */
#ifndef RQL_ENGINE_OPTIMIZE_FUSE_INTERNAL_H
#define RQL_ENGINE_OPTIMIZE_FUSE_INTERNAL_H

#include "engine/optimize/fusion_group.h"

/* What fusion needs to know of the task at hand. */
struct reading {
    const struct task *task;
    bool *live;     /* its values that are needed */
    bool *reads;    /* and its inputs */
    bool uses_rows; /* row numbers, how many rows there are, or other rows than its own */
    bool shifts;    /* other rows than its own */
};

struct fusion {
    struct arena *arena;
    const struct queue *queue;
    struct queue *fused;
    struct fusion_group **bundles; /* of each task of the queue */
    size_t *readers;               /* how many tasks read each task */
    size_t *seen;                  /* scratch for distinct tasks: number + 1 of the task that saw it last */
    struct task **producers;       /* what the task at hand reads row by row, in order */
    size_t producer_count;
};

/* The bundle that a task has become part of. */
struct fusion_group *fusion_group_of(const struct fusion *fusion, const struct task *task);

/* The column that an input is, if that is known without running anything; NULL otherwise. */
struct column *column_read(const struct fusion *fusion, const struct input *input);

/* An input of the task at hand as the bundle that it joins or begins has it. */
struct input fused_input(const struct fusion *fusion, struct fusion_group *group, struct input input);

/* The fused task of a breaker, in a bundle that nothing joins. */
struct fusion_group *fuse_operator(const struct fusion *fusion, const struct reading *reading);

#endif
