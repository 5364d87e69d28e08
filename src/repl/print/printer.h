/* Standard output or a file instead, buffered here so that every write is checked and an interrupt stops a long print.
 */
#ifndef RQL_REPL_PRINT_PRINTER_H
#define RQL_REPL_PRINT_PRINTER_H

#include "base/strbuf.h"
#include "engine/storage/atomic_writer.h"

#include <stdatomic.h>
#include <stdbool.h>

struct printer {
    int fd;
    struct writer *file;      /* what is printed goes here instead, unless NULL; its errors are its own */
    const atomic_int *cancel; /* or NULL */
    struct strbuf text;       /* waiting to be written: append to it, then printer_relieve now and then */
    bool wrote;               /* something was; cleared by who wants to know */
    int error;                /* errno of the write that failed, 0 if none has; nothing is written after */
};

/* Whether enough is waiting to be worth writing. */
bool printer_is_full(const struct printer *out);

/* Writes what is waiting if it is much. False if printing should stop: a write failed, or the user interrupted. */
bool printer_relieve(struct printer *out);

/* Writes all that is waiting; false if that failed, now or earlier, or was interrupted. */
bool printer_flush(struct printer *out);

/* Forgets what is waiting. */
void printer_discard(struct printer *out);

void printer_free(struct printer *out);

#endif
