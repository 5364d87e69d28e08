/* Writing a relation or a scalar to a file: beside it first, then renamed over it, so that a failure leaves what was.
 */
#ifndef RQL_ENGINE_FORMATS_SAVE_H
#define RQL_ENGINE_FORMATS_SAVE_H

#include "base/parallel.h"
#include "engine/storage/column.h"

/* Writes by the path's ending: a raw type (one column; values that do not fit are an error naming the row and nothing
 * is written), a table (.csv, .npy and others), or a picture, .pgm or .ppm (columns that have a shape); a path ending
 * in / is a directory of raw columns. The old file stays on any error, and if the crew is stopped. */
enum status save_relation(const struct relation *relation, const char *path, const struct workers *workers,
                          struct span span, struct diags *diags);

/* Whether this path can hold so many columns of this shape, asked before the query runs. */
enum status save_check(const char *path, size_t columns, struct shape shape, struct span span, struct diags *diags);

#endif
