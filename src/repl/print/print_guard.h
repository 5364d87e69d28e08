/* Writing rows of a file that may change while it is read. */
#ifndef RQL_REPL_PRINT_PRINT_GUARD_H
#define RQL_REPL_PRINT_PRINT_GUARD_H

#include "repl/print/printer.h"

struct relation;

/* As printer_relieve, for rows of this relation: they are written only if its files are still whole, because where one
 * was cut short zeroes are read. */
bool print_relieve(struct printer *out, const struct relation *relation);

#endif
