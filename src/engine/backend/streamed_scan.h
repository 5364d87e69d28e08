/* Columns of files that memory does not hold all of.
 *
 * The system reads ahead of a scan well, but by the end it has thrown out what was read first, so that the next query
 * finds nothing of it, nor do other processes of their files. Here only the beginning is left in memory. */
#ifndef RQL_ENGINE_BACKEND_STREAMED_SCAN_H
#define RQL_ENGINE_BACKEND_STREAMED_SCAN_H

#include "engine/plan/task.h"

struct stream_column;

struct streamed_scan {
    struct stream_column *columns; /* of files, and read row by row; in the arena */
    size_t count;
    int64_t rows; /* a range: what the user waits for after an interrupt */
    int64_t kept; /* rows before this one may stay in memory */
    int64_t gone; /* rows before this one have been let go, or stay */
};

/* Whether rows begin .. end-1 of the task are more of files than half of `memory` bytes; if so, `stream` is set up.
 * The task's columns must stay as long as it is used. */
bool streamed_scan_open(struct streamed_scan *stream, const struct task *task, struct column *const *columns,
                        int64_t begin, int64_t end, int64_t memory, struct arena *arena);

/* Rows before `end` have been read. What is next to them stays for a while: neighbours may be looked at. */
void streamed_scan_release(struct streamed_scan *stream, int64_t end);

#endif
