/* A pager, such as less. */
#ifndef RQL_REPL_PRINT_PAGER_H
#define RQL_REPL_PRINT_PAGER_H

#include "base/strbuf.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The capacity of the screen; 0 lines: nothing is paged. */
struct page {
    size_t lines;
    size_t width; /* in cells */
    bool cuts;    /* wider lines exceed it, too; else they wrap */
};

struct pager {
    pid_t child;          /* 0: none runs */
    int fd;               /* its standard input */
    int64_t began, shown; /* ns: when it was started, and how long all have run */
    struct sigaction interrupt, broken_pipe;
};

/* The command in RQL_PAGER or else less; NULL: there is none, or RQL_PAGER is empty. */
const char *pager_command(void);

/* Whether the text does not fit the page. */
bool page_is_exceeded(const struct page *page, const struct strbuf *text);

/* Starts the command on the terminal. Until pager_finish, Ctrl-C is the pager's alone, and writing to one that has
 * ended fails with EPIPE. False: it could not be started. */
bool pager_start(struct pager *pager, const char *command);

/* Waits until the user leaves it. False: the command could not be run. */
bool pager_finish(struct pager *pager);

#endif
