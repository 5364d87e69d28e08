/* Buffered output to standard output or a file. Every write is checked, and an interrupt stops a long print. */
#ifndef RQL_REPL_PRINT_PRINTER_H
#define RQL_REPL_PRINT_PRINTER_H

#include "base/strbuf.h"
#include "engine/storage/atomic_writer.h"
#include "repl/print/pager.h"

#include <stdatomic.h>
#include <stdbool.h>

struct printer {
    int fd;
    struct writer *file;      /* the output if not NULL; has its own error */
    const atomic_int *cancel; /* or NULL */
    struct strbuf text;       /* unwritten text: append to it and call printer_relieve regularly */
    bool wrote;               /* something has been written; cleared by the caller */
    int error;                /* errno of the failed write, or 0; nothing is written after a failure */
    struct page page;         /* what exceeds it is shown by a pager, if it is not written to a file */
    struct pager pager;
};

/* Returns whether enough text is buffered to be worth a write. */
bool printer_is_full(const struct printer *out);

/* Writes a full buffer. Returns false if printing must stop: a write failed or the user interrupted. */
bool printer_relieve(struct printer *out);

/* Writes the buffer. Returns false if a write failed, now or earlier, or was interrupted. */
bool printer_flush(struct printer *out);

/* Waits for the pager, if there is one; the user may have left it before all was written. False: its command could not
 * be run, and text is lost. */
bool printer_end_page(struct printer *out);

/* Drops the buffered text. */
void printer_discard(struct printer *out);

void printer_free(struct printer *out);

#endif
