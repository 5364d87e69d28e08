/* Which rows of a file a statement needs: those that pass the filters of the only task that reads it. */
#ifndef RQL_ENGINE_RUN_FILE_NEED_H
#define RQL_ENGINE_RUN_FILE_NEED_H

#include "engine/run/run.h"

struct file_need {
    const struct queue *queue; /* the statement as bound with the file's columns as they are */
    struct column *const *columns;
    size_t count;
    int64_t rows;              /* of each */
    bool by_bounds;            /* by the bounds of the file's parts alone, else by the values that the filters read */
    bool found;                /* the statement reads only these of the rows: */
    struct row_set found_rows; /* in the arena */
    bool *first; /* not found: of each column, whether it has to be read before the rows can be found. NULL: all rows
                    are needed */
};

/* Finds them. Bounds that a file states are taken as true. */
enum status find_needed_rows(const struct runner *runner, struct file_need *need, struct arena *arena);

#endif
