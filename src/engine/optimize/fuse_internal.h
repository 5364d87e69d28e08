/* State and functions shared by the files of the fusion pass. */
#ifndef RQL_ENGINE_OPTIMIZE_FUSE_INTERNAL_H
#define RQL_ENGINE_OPTIMIZE_FUSE_INTERNAL_H

#include "engine/optimize/fusion_group.h"

/* What the current task reads. */
struct reading {
    const struct task *task;
    bool *live;
    bool *reads;    /* of its inputs */
    bool uses_rows; /* row numbers, the number of rows, or other rows than its own */
    bool shifts;    /* other rows than its own */
};

struct fusion {
    struct arena *arena;
    const struct queue *queue;
    struct queue *fused;
    struct fusion_group **groups; /* of each task of the queue */
    size_t *readers;              /* number of tasks that read each task */
    size_t *seen;                 /* scratch for distinct tasks: number + 1 of the last task that saw each */
    struct task **producers;      /* what the current task reads row by row, in order */
    size_t producer_count;
};

/* The group that a task is part of. */
struct fusion_group *fusion_group_of(const struct fusion *fusion, const struct task *task);

/* The column that an input refers to if known without running anything; else NULL. */
struct column *column_read(const struct fusion *fusion, const struct input *input);

/* An input of the current task, as the group reads it. */
struct input fused_input(const struct fusion *fusion, struct fusion_group *group, struct input input);

/* Adds the fused task of an operator, in a group of its own. */
struct fusion_group *fuse_operator(const struct fusion *fusion, const struct reading *reading);

#endif
