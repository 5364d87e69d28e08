/* Printing rows of a file that may change meanwhile. */
#ifndef RQL_REPL_PRINT_PRINT_GUARD_H
#define RQL_REPL_PRINT_PRINT_GUARD_H

#include "repl/print/printer.h"

struct relation;

/* Like printer_relieve, but writes only if the relation's files are still complete: rows of a truncated file read as
 * zeroes. */
bool print_relieve(struct printer *out, const struct relation *relation);

#endif
