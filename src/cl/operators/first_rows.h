/* The first row of each distinct key, found by a hash table of row numbers, or by a table indexed by key code. */
#ifndef RQL_CL_OPERATORS_FIRST_ROWS_H
#define RQL_CL_OPERATORS_FIRST_ROWS_H

#include "cl/operators/group_keys.h"

/* Buffers belong to the run. */
struct first_rows {
    struct operator_run run;
    cl_mem slots;        /* slot of each row in the table */
    cl_mem table;        /* first row of each slot; after first_rows_number, its number in the list */
    struct view listed;  /* the first rows in order, on the device */
    struct column *rows; /* and, after first_rows_fetch, on the host: a column of u32; NULL if the run has stopped */
    int64_t count;
};

/* Begins a run and finds the first rows of the keys of all the job's rows. The run becomes unable if there are more
 * than `most`. Call first_rows_end in any case. */
void first_rows_find(struct first_rows *found, struct accelerator *accelerator, const struct operator_job *job,
                     const struct group_keys *group_keys, int64_t most);
void first_rows_number(struct first_rows *found);
void first_rows_fetch(struct first_rows *found);

/* Ends the run and returns its status. */
enum status first_rows_end(struct first_rows *found);

#endif
