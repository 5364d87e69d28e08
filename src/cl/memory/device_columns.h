/* Columns' elements in a device's own memory: copies of what the host has, and what only the device has
 * (engine/residency.h), because a kernel computed it there. */
#ifndef RQL_CL_MEMORY_DEVICE_COLUMNS_H
#define RQL_CL_MEMORY_DEVICE_COLUMNS_H

#include "cl/memory/device_pool.h"

#include "base/timing.h"
#include "engine/storage/residency.h"

struct device_columns;

/* Room for rows row .. row+rows-1 of a column, of which begin .. end-1 are there. */
struct device_column {
    struct residency residency; /* those of them that the host has not; none if away.begin == away.end */
    struct device_columns *copies;
    struct column *column; /* one reference, so that the pointer stays a name for this data */
    int64_t row, rows, begin, end;
    cl_mem buffer;
    size_t bytes;
    uint64_t used; /* the launch that used it last */
    bool brief;    /* not worth keeping after that */
};

/* Buffers go to the spares when copies are let go. */
struct device_columns *device_columns_new(struct accelerator *accelerator, struct device_pool *pool);

/* Brings to the host what others than this still want. */
void device_columns_free(struct device_columns *copies);

/* The bytes of all of them. */
size_t device_columns_bytes(const struct device_columns *copies);

/* One that holds these rows; one that has room for them; NULL if there is none. */
struct device_column *device_columns_find(struct device_columns *copies, const struct column *column, int64_t row,
                                          int64_t rows);
struct device_column *device_columns_with_room(struct device_columns *copies, const struct column *column, int64_t row,
                                               int64_t rows);

/* How many of these rows no copy holds. */
int64_t device_columns_missing(const struct device_columns *copies, const struct column *column, int64_t row,
                               int64_t rows);

/* Adds one that holds nothing yet, or rows that only the device has. Takes over the buffer. */
struct device_column *device_columns_add(struct device_columns *copies, struct column *column, int64_t row,
                                         int64_t rows, cl_mem buffer);
struct device_column *device_columns_add_result(struct device_columns *copies, struct column *column, int64_t row,
                                                int64_t rows, cl_mem buffer);

/* Makes the copy hold these rows, from other copies or the host's memory. False with the accelerator's failure. */
bool device_column_fill(struct device_column *copy, int64_t row, int64_t rows, struct timing *timing);

/* The same on a thread of its own, from device_columns_begin to device_columns_join, while kernels run; only where all
 * is uploaded. */
void device_column_fill_ahead(struct device_column *copy, int64_t row, int64_t rows);
void device_columns_begin(struct device_columns *copies);
void device_columns_join(struct device_columns *copies, struct timing *timing);

/* Lets go of the copy that has been unused for longest, first of one whose column nobody else has; what only the device
 * has goes to the host. False if all are used by `launch` or the next, or cannot be let go. */
bool device_columns_evict(struct device_columns *copies, uint64_t launch);

/* Lets go of those whose columns nobody else has; of the brief ones that the launch after `launch` does not use. */
void device_columns_sweep(struct device_columns *copies);
void device_columns_drop_brief(struct device_columns *copies, uint64_t launch);

#endif
