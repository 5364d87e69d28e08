/* Streamed scan: reading files that exceed memory.
 *
 * The system reads ahead of a scan well, but evicts what was read first, so that the next query finds nothing of it in
 * memory, nor do other processes of their files. A streamed scan keeps only the beginning of the columns in memory. */
#ifndef RQL_ENGINE_BACKEND_STREAMED_SCAN_H
#define RQL_ENGINE_BACKEND_STREAMED_SCAN_H

#include "engine/plan/task.h"

struct stream_column;

struct streamed_scan {
    struct stream_column *columns; /* of files, and read row by row; in the arena */
    size_t count;
    int64_t rows;     /* of a range: bounds the wait after an interrupt */
    int64_t kept;     /* rows before this one stay in memory */
    int64_t released; /* rows before this one have been released, or stay */
};

/* Sets up `stream` and returns true if rows begin .. end-1 of the task read more from files than half of `memory`
 * bytes. The columns must outlive the stream. */
bool streamed_scan_open(struct streamed_scan *stream, const struct task *task, struct column *const *columns,
                        int64_t begin, int64_t end, int64_t memory, struct arena *arena);

/* Rows before `end` have been read: releases their memory, except that of the last range, whose rows may be read as
 * neighbours. */
void streamed_scan_release(struct streamed_scan *stream, int64_t end);

#endif
