/* Columns of files that memory does not hold all of.
 *
 * Left to itself the system reads such a file as its pages are missed, a few threads waiting each time, and by the end
 * has thrown out what was read first, so that the next query finds nothing of it. Here what comes next is asked for in
 * time, and of what has been read only the beginning is left in memory, where the next query finds it. */
#ifndef RQL_ENGINE_STREAM_H
#define RQL_ENGINE_STREAM_H

#include "task.h"

struct stream_column;

struct stream {
    struct stream_column *columns; /* of files, and read row by row; in the arena */
    size_t count;
    int64_t rows;  /* a range: what is advised at once, and the user waits for after an interrupt */
    int64_t ahead; /* asked for beyond a range */
    int64_t kept;  /* rows before this one may stay in memory */
    int64_t asked; /* rows before this one have been asked for */
    int64_t gone;  /* rows before this one have been let go, or stay */
    int64_t until; /* of the task */
};

/* Whether rows begin .. end-1 of the task are more of files than half of `memory` bytes; if so, `stream` is set up.
 * The task's columns must stay as long as it is used. */
bool stream_open(struct stream *stream, const struct task *task, struct column *const *columns, int64_t begin,
                 int64_t end, int64_t memory, struct arena *arena);

/* Rows from `begin` on are about to be read: asks for a range of them, and for some after it. */
void stream_ahead(struct stream *stream, int64_t begin);

/* Rows before `end` have been read. What is next to them stays for a while: neighbours may be looked at. */
void stream_behind(struct stream *stream, int64_t end);

#endif
