/* Timing of a statement: named events in the order in which they ended. */
#ifndef RQL_BASE_TIMING_H
#define RQL_BASE_TIMING_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum phase {
    PHASE_PARSE,
    PHASE_MAP,
    PHASE_FIND,
    PHASE_BIND,
    PHASE_FUSE,
    PHASE_BUILD,
    PHASE_UPLOAD,
    PHASE_KERNEL,
    PHASE_RETRIEVE,
    PHASE_COUNT
};

struct event {
    enum phase phase;
    const char *name; /* "select+sum", a file, "cached"; in the arena */
    int64_t ns;
    int64_t bytes; /* read and written; 0 if it does not apply */
};

struct timing {
    struct arena *arena;
    struct event *events;
    size_t count, capacity;
    bool host_only;         /* the times of single commands of a device are not wanted, which make all of them slower */
    int64_t files, opened;  /* of paths that stand for several files: how many there were, and were opened */
    int64_t zones, skipped; /* zones tested against filters, and those that no backend had to read */
};

void timing_init(struct timing *timing, struct arena *arena);
int64_t now_ns(void);       /* monotonic */
int64_t processor_ns(void); /* processor time of all threads of the process */

/* Adds an event, or adds to an event with the same phase and name. `timing` may be NULL. */
void timing_add(struct timing *timing, enum phase phase, const char *name, int64_t ns, int64_t bytes);

void timing_add_files(struct timing *timing, int64_t files, int64_t opened);  /* `timing` may be NULL */
void timing_add_zones(struct timing *timing, int64_t zones, int64_t skipped); /* `timing` may be NULL */

#endif
