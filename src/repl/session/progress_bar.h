/* The progress bar: one line on standard error for what takes long, gone again before anything else is written. */
#ifndef RQL_REPL_SESSION_PROGRESS_BAR_H
#define RQL_REPL_SESSION_PROGRESS_BAR_H

#include "base/progress.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

struct progress_bar {
    struct progress base; /* to be given to the runner */
    int fd;               /* of a terminal */
    int64_t began;        /* of the statement, ns */
    int64_t shown;        /* when it was drawn last; 0: never */
    bool visible;
    char what[80]; /* of the step at hand */
    double part;   /* of it that was done when it was told last */
    int passes;    /* of the step, this one included */
    int64_t pass_began;
};

/* Begins to listen: a bar appears once half a second has gone by. */
void progress_bar_start(struct progress_bar *bar, int fd);

/* Erases the bar, if there is one. */
void progress_bar_stop(struct progress_bar *bar);

/* Appends the bar's line for a step that has taken `ns` so far, at most `width` cells. `passes`: of which this is the
 * last. */
void progress_bar_line(struct strbuf *out, const struct progress_step *advance, int passes, int64_t ns, size_t width);

#endif
