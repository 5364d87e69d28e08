/* Streamed scan: reading files that exceed memory.
 *
 * The kernel reads ahead of a scan, but evicts the least recently used pages: those that the next scan reads first, and
 * those of other processes. A streamed scan keeps the beginning of its columns in memory and drops all other pages that
 * it has read. */
#ifndef RQL_ENGINE_BACKEND_STREAMED_SCAN_H
#define RQL_ENGINE_BACKEND_STREAMED_SCAN_H

#include "engine/plan/task.h"

struct stream_column;

struct streamed_scan {
    struct stream_column *columns; /* of files, and read row by row; in the arena */
    size_t count;
    int64_t rows;     /* of a range, which bounds the time until an interrupt is noticed */
    int64_t kept;     /* rows before this one stay in memory */
    int64_t released; /* rows before this one have been released, or stay */
};

/* Sets up `stream` and returns true if rows begin .. end-1 of the task read more from files than half of `memory`
 * bytes. The columns must outlive the stream. */
bool streamed_scan_open(struct streamed_scan *stream, const struct task *task, struct column *const *columns,
                        int64_t begin, int64_t end, int64_t memory, struct arena *arena);

/* Call when the rows before `end` have been read: drops their pages, except those of the last range, whose rows the
 * next range may read as neighbours. */
void streamed_scan_release(struct streamed_scan *stream, int64_t end);

#endif
