/* Columns' elements in a device's own memory: copies of what the host has, and what only the device has
 * (engine/away.h), because a kernel computed it there. */
#ifndef RQL_CL_MEMORY_DEVICE_COLUMNS_H
#define RQL_CL_MEMORY_DEVICE_COLUMNS_H

#include "cl/memory/buffer_pool.h"

#include "base/timing.h"
#include "engine/storage/residency.h"

struct copies;

/* Room for rows row .. row+rows-1 of a column, of which begin .. end-1 are there. */
struct copy {
    struct away away; /* those of them that the host has not; none if away.begin == away.end */
    struct copies *copies;
    struct column *column; /* one reference, so that the pointer stays a name for this data */
    int64_t row, rows, begin, end;
    cl_mem buffer;
    size_t bytes;
    uint64_t used; /* the launch that used it last */
    bool brief;    /* not worth keeping after that */
};

/* Buffers go to the spares when copies are let go. */
struct copies *copies_new(struct accelerator *accelerator, struct spares *spares);

/* Brings to the host what others than this still want. */
void copies_free(struct copies *copies);

/* The bytes of all of them. */
size_t copies_bytes(const struct copies *copies);

/* One that holds these rows; one that has room for them; NULL if there is none. */
struct copy *copies_find(struct copies *copies, const struct column *column, int64_t row, int64_t rows);
struct copy *copies_with_room(struct copies *copies, const struct column *column, int64_t row, int64_t rows);

/* How many of these rows no copy holds. */
int64_t copies_missing(const struct copies *copies, const struct column *column, int64_t row, int64_t rows);

/* Adds one that holds nothing yet, or rows that only the device has. Takes over the buffer. */
struct copy *copies_add(struct copies *copies, struct column *column, int64_t row, int64_t rows, cl_mem buffer);
struct copy *copies_add_result(struct copies *copies, struct column *column, int64_t row, int64_t rows, cl_mem buffer);

/* Makes the copy hold these rows, from other copies or the host's memory. False with the accelerator's failure. */
bool copy_fill(struct copy *copy, int64_t row, int64_t rows, struct timing *timing);

/* The same on a thread of its own, from copies_begin to copies_join, while kernels run; only where all is uploaded. */
void copy_fill_ahead(struct copy *copy, int64_t row, int64_t rows);
void copies_begin(struct copies *copies);
void copies_join(struct copies *copies, struct timing *timing);

/* Lets go of the copy that has been unused for longest, first of one whose column nobody else has; what only the device
 * has goes to the host. False if all are used by `launch` or the next, or cannot be let go. */
bool copies_evict(struct copies *copies, uint64_t launch);

/* Lets go of those whose columns nobody else has; of the brief ones that the launch after `launch` does not use. */
void copies_sweep(struct copies *copies);
void copies_drop_brief(struct copies *copies, uint64_t launch);

#endif
