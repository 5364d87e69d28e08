/* The progress bar: one line on standard error during long queries, erased before any other output. */
#ifndef RQL_REPL_SESSION_PROGRESS_BAR_H
#define RQL_REPL_SESSION_PROGRESS_BAR_H

#include "base/progress.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

struct buffer_pool;

struct progress_bar {
    struct progress base;     /* for the runner */
    int fd;                   /* of a terminal */
    struct buffer_pool *pool; /* the progress line tells how much it has spilled; NULL: nothing */
    int64_t began;            /* start of the statement, ns */
    int64_t shown;            /* when last drawn, ns; 0: never */
    bool visible;
    char what[80]; /* the current step */
    double part;   /* of the step, at the last update */
    int passes;    /* over the rows in this step, with the current one */
    int64_t pass_began;
    double done, share; /* of the statement: done before the pass, and the pass's part of the rest */
    double whole;       /* of the statement: done so far; never less than before */
};

/* Starts the clock: the bar appears after half a second. */
void progress_bar_start(struct progress_bar *bar, int fd);

/* Erases a visible bar. */
void progress_bar_stop(struct progress_bar *bar);

/* Updates the bar by a report at time `now`, ns. bar->whole never decreases and is at most 1; the number of passes
 * still to come is a guess. */
void progress_bar_note(struct progress_bar *bar, const struct progress_step *advance, int64_t now);

/* Appends the bar as of that time, at most `width` cells. Rows and bytes are those of the pass. */
void progress_bar_line(struct strbuf *out, const struct progress_bar *bar, const struct progress_step *advance,
                       int64_t now, size_t width);

#endif
