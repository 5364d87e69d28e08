/* Device memory: columns in place or copied and kept, outputs, and buffers for what kernels need besides.
 *
 * Where a device has memory of its own, columns that it reads or makes stay there (device_columns.h). All of them,
 * outputs and buffers together take at most four fifths of what it says it has; what has been unused for longest makes
 * room. */
#ifndef RQL_CL_MEMORY_MEMORY_H
#define RQL_CL_MEMORY_MEMORY_H

#include "cl/device/accelerator.h"

#include "base/timing.h"
#include "engine/storage/column.h"

struct memory *memory_new(struct accelerator *accelerator);

/* What only the device has, and others still want, goes to the host first. */
void memory_free(struct memory *memory);

/* The bytes that columns, outputs and buffers may take together. */
uint64_t memory_budget(const struct accelerator *accelerator);

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

/* Whether they are there side by side: nothing would have to be uploaded for that, or moved. */
bool memory_has(struct memory *memory, const struct column *column, int64_t row, int64_t rows);

/* How many of the rows would have to be. */
int64_t memory_missing(const struct memory *memory, const struct column *column, int64_t row, int64_t rows);

/* All these rows will be read, part by part: they are to lie side by side. */
void memory_expect(struct memory *memory, struct column *column, int64_t row, int64_t rows);

/* Whether columns that are read from now on are more than can be kept. */
void memory_stream(struct memory *memory, bool brief);

/* These rows will be read after the next memory_done. What is asked for so is uploaded from memory_begin_ahead on,
 * while kernels run. */
bool memory_ahead(struct memory *memory, struct column *column, int64_t row, int64_t rows);
void memory_begin_ahead(struct memory *memory);

/* The same rows of a column under construction for writing. After the kernel either memory_keep leaves them on the
 * device until the host wants them, or memory_fetch brings them to the host at once. */
bool memory_output(struct memory *memory, struct column *column, int64_t row, int64_t rows, struct view *view);
bool memory_keep(struct memory *memory, struct column *column, int64_t row, int64_t rows, const struct view *view,
                 struct timing *timing);
bool memory_fetch(struct memory *memory, struct column *column, int64_t row, int64_t rows, const struct view *view,
                  struct timing *timing);

void memory_done(struct memory *memory, struct timing *timing);

/* A buffer of at least so many bytes that stays from launch to launch; its content does not. */
enum scratch { SCRATCH_SLOTS, SCRATCH_FLAG, SCRATCH_COUNT };
cl_mem memory_scratch(struct memory *memory, enum scratch which, size_t bytes);

/* A buffer, and letting go of it. NULL with the accelerator's failure. */
cl_mem memory_buffer(struct memory *memory, size_t bytes);
void memory_buffer_release(struct memory *memory, cl_mem buffer, size_t bytes);

/* Lets go of copies of columns that nobody else refers to; of all copies that no view is of. */
void memory_sweep(struct memory *memory);
void memory_drop(struct memory *memory);

#endif
