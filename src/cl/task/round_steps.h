/* The steps of a round on a device, with their programs and columns. */
#ifndef RQL_CL_TASK_ROUND_STEPS_H
#define RQL_CL_TASK_ROUND_STEPS_H

#include "cl/task/launch.h"
#include "cl/task/rounds.h"

enum {
    MOST_ROUNDS = 16384, /* of a batch */
    MOST_KERNELS = 2     /* of a task: the rows and those of many terms, or the aggregates and their combination */
};

/* A column and its buffer. */
struct located {
    const struct column *column;
    struct view view;
};

/* A kernel for each of the two orders of the columns of the state. */
struct round_kernel {
    enum kernel_role role;
    cl_kernel kernels[2];
    size_t groups;
    cl_uint round;   /* the number of its argument, */
    cl_uint columns; /* and of the first one of the columns */
};

struct round_step {
    const struct round_task *task, *tail; /* tail: of one row, computed by KERNEL_COMBINE; or NULL */
    struct kernel_plan plan, tail_plan;   /* of the tail only the emitter */
    struct kernel_round round;
    struct program *program;
    struct round_kernel kernels[MOST_KERNELS];
    size_t kernel_count;
    cl_mem slots;
    size_t slot_bytes;
    int64_t range; /* rows of a launch; all: they are not waited for */
};

struct backend_rounds {
    struct accelerator *accelerator;
    struct arena *arena;
    struct rounds_job job;
    struct round_step *steps;
    size_t step_count;
    struct located *places;
    size_t place_count, place_capacity;
    cl_mem flag, numbers; /* numbers: of the rounds of a batch, in place of the column `step` */
    bool reads_step;
    int64_t batch; /* rounds that the host enqueues before it waits */
    size_t parity; /* 1: columns before and after the round have changed places */
};

/* The buffer of a column that the rounds read or write; NULL: they do not. */
struct view *rounds_view(struct backend_rounds *rounds, const struct column *column);

/* Likewise, in rounds of this parity. */
const struct view *rounds_view_at(struct backend_rounds *rounds, const struct column *column, size_t parity);

/* Uploads a column that rounds read and no task of a round writes; false with the accelerator's failure. */
bool rounds_open_input(struct backend_rounds *rounds, struct column *column);

/* Prepares all steps for launch. False: a task is not of such a form, or with the accelerator's failure. */
bool rounds_open_steps(struct backend_rounds *rounds);

/* Releases the resources of the steps, also after rounds_open_steps has failed. */
void rounds_close_steps(struct backend_rounds *rounds);

/* Sets the arguments of a kernel for rows row .. row+rows-1; false with the accelerator's failure. */
bool rounds_set_arguments(struct backend_rounds *rounds, const struct round_step *step,
                          const struct round_kernel *kernel, size_t parity, int64_t row, int64_t rows);

/* round_start.c: the state of a loop at its start, on a device. */

/* Copies column k of the start to column k of the state, which has a buffer; a column that is on the device is copied
 * there. False: the kernel that converts cannot be built, or with the accelerator's failure. */
bool round_start(struct backend_rounds *rounds, size_t k);

/* round_group.c: a group in the rounds of a loop, by one key with few values. */

/* Prepares a step of OPERATOR_GROUP, whose task is set. False: the group is not of this form, or with the accelerator's
 * failure. */
bool round_group_open(struct backend_rounds *rounds, struct round_step *step);

#endif
