/* Columns in device memory: copies of host rows, and rows that only the device holds (engine/storage/residency.h)
 * because a kernel computed them. */
#ifndef RQL_CL_MEMORY_DEVICE_COLUMNS_H
#define RQL_CL_MEMORY_DEVICE_COLUMNS_H

#include "cl/memory/device_pool.h"

#include "base/timing.h"
#include "engine/storage/residency.h"

struct device_columns;

/* A buffer for rows row .. row+rows-1 of a column, of which begin .. end-1 are valid. */
struct device_column {
    struct residency residency; /* rows that the host lacks; none if begin == end */
    struct device_columns *copies;
    struct column *column; /* one reference, so that the pointer stays unique */
    int64_t row, rows, begin, end;
    cl_mem buffer;
    size_t bytes;
    uint64_t used;  /* the last launch that used it */
    bool transient; /* not kept after that launch */
};

/* Buffers of dropped copies go to `pool`. */
struct device_columns *device_columns_new(struct accelerator *accelerator, struct device_pool *pool);

/* Moves rows that are still referenced to the host. */
void device_columns_free(struct device_columns *copies);

/* The bytes of all copies. */
size_t device_columns_bytes(const struct device_columns *copies);

/* Finds a copy that holds these rows or, with `space`, one whose buffer has room for them; NULL if there is none. */
struct device_column *device_columns_find(struct device_columns *copies, const struct column *column, int64_t row,
                                          int64_t rows, bool space);

/* The number of these rows that no copy holds. */
int64_t device_columns_missing(const struct device_columns *copies, const struct column *column, int64_t row,
                               int64_t rows);

/* Adds an empty copy, or one with rows that only the device holds, in a buffer of `bytes` bytes. Takes over the buffer.
 */
struct device_column *device_columns_add(struct device_columns *copies, struct column *column, int64_t row,
                                         int64_t rows, cl_mem buffer);
struct device_column *device_columns_add_result(struct device_columns *copies, struct column *column, int64_t row,
                                                int64_t rows, cl_mem buffer, size_t bytes);

/* Fills the copy with these rows, from other copies or host memory. False with the accelerator's failure. */
bool device_column_fill(struct device_column *copy, int64_t row, int64_t rows, struct timing *timing);

/* device_column_prefetch registers rows that a thread uploads between device_columns_begin and device_columns_join,
 * while kernels run. It ignores rows that another copy or device holds. */
void device_column_prefetch(struct device_column *copy, int64_t row, int64_t rows);
void device_columns_begin(struct device_columns *copies);
void device_columns_join(struct device_columns *copies, struct timing *timing);

/* Moves the copy that has most left of its buffer, at least half, to one that it fills. False if there is none, besides
 * those used by `launch` or the next. */
bool device_columns_trim(struct device_columns *copies, uint64_t launch);

/* Drops the least recently used copy, first one whose column is otherwise unreferenced; rows only on the device are
 * fetched first. False if all copies are used by `launch` or the next, or cannot be dropped. */
bool device_columns_evict(struct device_columns *copies, uint64_t launch);

/* device_columns_sweep drops copies whose columns have no other references, device_columns_drop_transient the transient
 * copies that the launch after `launch` does not use. */
void device_columns_sweep(struct device_columns *copies);
void device_columns_drop_transient(struct device_columns *copies, uint64_t launch);

#endif
