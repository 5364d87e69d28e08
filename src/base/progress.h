/* How far something long has come. Told now and then, between pieces of the work, always on the thread that runs the
 * statement; what is made of it, if anything, is up to who listens. */
#ifndef RQL_BASE_PROGRESS_H
#define RQL_BASE_PROGRESS_H

#include <stdint.h>

struct progress_step {
    const char *what; /* is being done: "select+sum"; need not live longer than the call */
    int64_t rows;     /* in all; 0: not known */
    int64_t bytes;    /* to be read in all; 0: not known */
    double part;      /* of it that is done, 0 to 1; what takes several passes begins at 0 with each */
};

/* The first member of the listener's own struct. */
struct progress {
    void (*tell)(struct progress *progress, const struct progress_step *advance);
};

/* Tells; `progress` may be NULL. Cheap enough to be called every millisecond or so, not for every row. */
void progress_report(struct progress *progress, const struct progress_step *advance);

#endif
