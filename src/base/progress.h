/* Progress of long operations. Reported between pieces of work, always on the thread that runs the statement; the
 * listener decides what to show. */
#ifndef RQL_BASE_PROGRESS_H
#define RQL_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress_step {
    const char *what; /* what runs: "select+sum"; need not outlive the call */
    int64_t rows;     /* total; 0: unknown */
    int64_t bytes;    /* total to read; 0: unknown */
    double part;      /* the fraction done, 0 to 1; each pass of several starts at 0 */
    int passes;       /* about how many passes the step takes; 0: unknown */
    int64_t rounds;   /* of a loop: how many are done, of `rows` rounds; 0: no loop */
    bool received;    /* the bytes come over a network */
};

/* Embedded as the first member of the listener's struct. */
struct progress {
    void (*report)(struct progress *progress, const struct progress_step *advance);
    int later; /* about how many passes follow the present step, as far as is known */
};

/* Calls the listener; `progress` may be NULL. Cheap enough for every millisecond, not for every row. */
void progress_report(struct progress *progress, const struct progress_step *advance);

#endif
