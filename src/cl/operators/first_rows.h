/* The first of all rows with equal keys, found by a hash table of row numbers, or without hashing where there is a
 * place for every key. */
#ifndef RQL_CL_OPERATORS_FIRST_ROWS_H
#define RQL_CL_OPERATORS_FIRST_ROWS_H

#include "cl/operators/group_keys.h"

/* Buffers are the tool's. */
struct first_rows {
    struct operator_run run;
    cl_mem slots;        /* for each row the place of its keys in the table */
    cl_mem table;        /* the first row at each place; after first_rows_number its number among them */
    struct view listed;  /* the first rows in order, on the device */
    struct column *rows; /* and here: a column of u32; NULL if the tool has stopped */
    int64_t count;
};

/* Begins a tool and looks for the first rows of the keys of all the job's rows, which it is unable to if they are more
 * than `most`; first_rows_end is due in any case. */
void first_rows_find(struct first_rows *found, struct accelerator *accelerator, const struct operator_job *job,
                     const struct group_keys *group_keys, int64_t most);
void first_rows_number(struct first_rows *found);

/* Ends the tool: its status. */
enum status first_rows_end(struct first_rows *found);

#endif
