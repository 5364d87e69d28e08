/* Device memory: columns in place or copied, outputs, and buffers for kernels.
 *
 * A device with its own memory keeps the columns it reads or computes (device_columns.h). Columns, outputs and buffers
 * take at most four fifths of its memory; the least recently used are evicted. */
#ifndef RQL_CL_MEMORY_MEMORY_H
#define RQL_CL_MEMORY_MEMORY_H

#include "cl/device/accelerator.h"

#include "base/timing.h"
#include "engine/storage/column.h"

struct memory *memory_new(struct accelerator *accelerator);

/* Rows that only the device holds and that are still referenced go to the host first. */
void memory_free(struct memory *memory);

/* The limit in bytes for columns, outputs and buffers together. */
uint64_t memory_budget(const struct accelerator *accelerator);

/* Part of a column for a kernel: element `first` of the buffer is its first row. */
struct view {
    cl_mem buffer;
    cl_ulong first;
};

/* Views are valid until memory_done, to be called when the kernels that use them have finished. All functions return
 * false with the accelerator's failure. */

/* Rows row .. row+rows-1 of a column for reading. Where the device works in the host's memory, nothing is copied; else
 * they are uploaded once and kept until memory is short or the column has no other references. */
bool memory_input(struct memory *memory, struct column *column, int64_t row, int64_t rows, struct timing *timing,
                  struct view *view);

/* Whether these rows are contiguous on the device, so that nothing has to be uploaded or moved. */
bool memory_has(struct memory *memory, const struct column *column, int64_t row, int64_t rows);

/* The number of these rows that would have to be uploaded. */
int64_t memory_missing(const struct memory *memory, const struct column *column, int64_t row, int64_t rows);

/* Announces that all these rows will be read, in parts, so that they are kept contiguous. */
void memory_expect(struct memory *memory, struct column *column, int64_t row, int64_t rows);

/* Says whether the columns read from now on are too large to be kept. */
void memory_stream(struct memory *memory, bool transient);

/* memory_prefetch announces rows to be read after the next memory_done; memory_begin_prefetch starts uploading them
 * while kernels run. */
bool memory_prefetch(struct memory *memory, struct column *column, int64_t row, int64_t rows);
void memory_begin_prefetch(struct memory *memory);

/* Rows of a column under construction, for writing. After the kernel, memory_keep leaves them on the device until the
 * host needs them, or memory_fetch copies them to the host at once; both may be given fewer rows than have been
 * reserved. */
bool memory_output(struct memory *memory, struct column *column, int64_t row, int64_t rows, struct view *view);
bool memory_keep(struct memory *memory, struct column *column, int64_t row, int64_t rows, const struct view *view,
                 struct timing *timing);
bool memory_fetch(struct memory *memory, struct column *column, int64_t row, int64_t rows, const struct view *view,
                  struct timing *timing);

void memory_done(struct memory *memory, struct timing *timing);

/* A buffer of at least `bytes` bytes, kept between launches with undefined content. */
enum scratch { SCRATCH_SLOTS, SCRATCH_FLAG, SCRATCH_TILES, SCRATCH_STATES, SCRATCH_COUNT };
cl_mem memory_scratch(struct memory *memory, enum scratch which, size_t bytes);

/* The flag of kernels, an int. Who finds it raised sets it to 0 again. */
cl_mem memory_flag(struct memory *memory);

/* Words that the tiles of a launch with look-back publish: SCRATCH_TILES of filter_lookback.cl, SCRATCH_STATES of
 * scan_lookback.cl. *epoch is the number of the launch, which no word there has: 1 to 2^30 - 1. */
cl_mem memory_tiles(struct memory *memory, enum scratch which, size_t words, cl_ulong *epoch);

/* Host memory of at least `bytes` bytes for what is read without waiting, pinned if that is possible; valid until the
 * next call. */
void *memory_pinned(struct memory *memory, size_t bytes);

/* Allocates and releases a buffer. NULL with the accelerator's failure. */
cl_mem memory_buffer(struct memory *memory, size_t bytes);
void memory_buffer_release(struct memory *memory, cl_mem buffer, size_t bytes);

/* memory_sweep drops copies of otherwise unreferenced columns, memory_drop all copies without a view. */
void memory_sweep(struct memory *memory);
void memory_drop(struct memory *memory);

#endif
