/* Saves relations to files, or tables on servers, atomically: a failure leaves what was there. */
#ifndef RQL_ENGINE_FORMATS_SAVE_H
#define RQL_ENGINE_FORMATS_SAVE_H

#include "base/parallel.h"
#include "engine/storage/column.h"

struct table_source; /* open_file.h */

/* Saves by the path's extension: a raw type (one column; a value that does not fit is an error with its row), a table
 * (.csv, .npy and others), or an image, .pgm or .ppm (rows with a shape). A path that ends in / is a directory of raw
 * columns. A path that `tables` accepts, which may be NULL, is a table on a server. On any error, and if cancelled, the
 * old file stays. */
enum status save_relation(const struct relation *relation, const char *path, const struct table_source *tables,
                          const struct workers *workers, struct span span, struct diags *diags);

/* Whether the path is that of a table on a server. */
bool save_has_table(const struct table_source *tables, const char *path);

/* Checks before the query runs that `path` can hold `columns` columns of this shape. */
enum status save_check(const char *path, const struct table_source *tables, size_t columns, struct shape shape,
                       struct span span, struct diags *diags);

#endif
