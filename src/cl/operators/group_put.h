/* Writes the records of groups to the columns of a result by kernels, so that these stay on the device. */
#ifndef RQL_CL_OPERATORS_GROUP_PUT_H
#define RQL_CL_OPERATORS_GROUP_PUT_H

#include "cl/operators/group_keys.h"
#include "cl/operators/group_record.h"

struct group_put {
    const struct operator_job *job;
    const struct record_layout *layout;
    const size_t *field_of; /* field of each aggregate, from group_record_plan */
    const struct group_keys *group_keys;
    uint64_t records;        /* by the code of their keys, which are integers, or: */
    const struct view *rows; /* of each record a row that has its keys; or NULL */
};

enum { PUT_FILLED, PUT_WRITE, PUT_KERNELS };

/* Whether kernels can, and are worth it. */
bool group_put_suits(const struct group_put *put, const struct accelerator *accelerator);

/* Sets the names of the kernels, and appends them. */
void group_put_names(const char *names[PUT_KERNELS]);
void group_put_add_text(const struct group_put *put, struct strbuf *out, const struct kernel_config *config);

/* Runs the kernels, the first of which is number `kernel` of the run. Creates the job's results, unless the run stops,
 * or *flagged is set: a sum does not fit. */
void group_put_run(const struct group_put *put, struct operator_run *run, size_t kernel, const struct view *table,
                   bool *flagged);

#endif
