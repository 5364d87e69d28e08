/* How much work a task is: what the choice between backends (choose.h) goes by. */
#ifndef RQL_ENGINE_WORK_H
#define RQL_ENGINE_WORK_H

#include "rates.h"

struct work {
    struct load load;
    int64_t rows;   /* that it reads */
    int64_t away;   /* bytes of inputs that only a device has (away.h) */
    uint64_t shape; /* equal for tasks that run the same way, whatever their literals are */
    const struct task *task;
    struct column *const *columns; /* its inputs */
    int64_t begin, end;            /* the rows of those that it reads */
    bool *reads;                   /* of each input, whether it is read at all; in the arena of the job's diags */
};

void work_of_job(struct work *work, const struct job *job);
void work_of_break(struct work *work, const struct break_job *job);

/* The load of so many of the rows. */
struct load work_part(const struct work *work, int64_t rows);

#endif
