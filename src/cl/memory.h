/* Device memory: columns in place or copied and kept, outputs, and small buffers that are used again. */
#ifndef RQL_CL_MEMORY_H
#define RQL_CL_MEMORY_H

#include "accelerator.h"

#include "../engine/column.h"
#include "../engine/timing.h"

struct memory *memory_new(struct accelerator *accelerator);
void memory_free(struct memory *memory);

/* Part of a column as a kernel sees it: element `first` of the buffer is the part's first row. */
struct view {
    cl_mem buffer;
    cl_ulong first;
};

/* All views are good until memory_done, which must be called when the kernels that use them have finished. All
 * functions give false with the accelerator's failure. */

/* Rows row .. row+rows-1 of a column for reading. Where the device works in the host's memory, nothing is copied; else
 * they are uploaded once and kept until memory is short or nobody else has the column. */
bool memory_input(struct memory *memory, struct column *column, int64_t row, int64_t rows, struct timing *timing,
                  struct view *view);

/* The same rows of a column under construction for writing; after the kernel memory_fetch brings them to the host. */
bool memory_output(struct memory *memory, struct column *column, int64_t row, int64_t rows, struct view *view);
bool memory_fetch(struct memory *memory, struct column *column, int64_t row, int64_t rows, const struct view *view,
                  struct timing *timing);

void memory_done(struct memory *memory);

/* A buffer of at least so many bytes that stays from launch to launch; its content does not. */
enum scratch { SCRATCH_SLOTS, SCRATCH_FLAG, SCRATCH_COUNT };
cl_mem memory_scratch(struct memory *memory, enum scratch which, size_t bytes);

/* Lets go of copies of columns that nobody else refers to; of all copies. */
void memory_sweep(struct memory *memory);
void memory_drop(struct memory *memory);

#endif
