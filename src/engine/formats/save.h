/* Saves relations to files, or tables on servers, atomically: a failure leaves what was there. */
#ifndef RQL_ENGINE_FORMATS_SAVE_H
#define RQL_ENGINE_FORMATS_SAVE_H

#include "base/parallel.h"
#include "engine/formats/formats.h"
#include "engine/storage/column.h"

struct table_source; /* open_file.h */

/* Files in folders that tell the values of some columns (partition.h). */
struct save_folders {
    const struct format *format;
    const size_t *columns; /* of the relation, which is sorted by them; one is left */
    size_t count;          /* 0: none */
};

/* Saves by the path's extension: a raw type (one column; a value that does not fit is an error with its row), a table
 * (.csv, .npy and others), or an image, .pgm or .ppm (rows with a shape). A path that ends in / is a directory of raw
 * columns. A path that `tables` accepts, which may be NULL, is a table on a server. On any error, and if cancelled, the
 * old file stays. */
enum status save_relation(const struct relation *relation, const char *path, enum save_way way,
                          const struct table_source *tables, const struct workers *workers, struct span span,
                          struct diags *diags);

/* save_folders.c: saves a relation as a folder of files, one in each folder KEY=VALUE/... of equal values. A new folder
 * appears complete or not at all. In an existing one, all files are written before the first is renamed to its place;
 * other folders stay. */
enum status save_in_folders(const struct relation *relation, const char *path, const struct save_folders *folders,
                            const struct workers *workers, struct span span, struct diags *diags);

/* Whether the path is that of a table on a server. */
bool save_has_table(const struct table_source *tables, const char *path);

/* Checks that a folder could be made or filled at `path` now. */
enum status folders_check(const char *path, struct span span, struct diags *diags);

/* Checks before the query runs that `path` can hold `columns` columns of this shape. */
enum status save_check(const char *path, const struct table_source *tables, size_t columns, struct shape shape,
                       struct span span, struct diags *diags);

/* splayed.c: saves a relation as a directory of raw columns NAME.TYPE, a splayed table. Private to save.c. */

/* Whether the path denotes a directory: it ends in a slash, or is one and has no extension of a format. */
bool splayed_is_path(const char *path);

/* Checks that a directory could be created or filled at `path` now. */
enum status splayed_check(const char *path, struct span span, struct diags *diags);

/* Saves all columns, as save_relation does. A new directory appears complete or not at all. In an existing one, all
 * columns are written before the first is renamed to its place; a column of the same name and another type is removed,
 * other columns stay and must have the same number of rows. */
enum status splayed_save(const struct relation *relation, const char *path, const struct workers *workers,
                         struct span span, struct diags *diags);

/* Private to save.c and save_folders.c: fetches the relation, and makes of it one that files hold, with one reference.
 */
enum status save_prepare(const struct relation *relation, struct span span, struct diags *diags,
                         struct relation **prepared);

/* splayed.c: the path without trailing slashes and with symbolic links resolved; NULL with errno. An unused name beside
 * it, of a directory that is made; NULL with errno. *lock keeps others from sweeping it, and is to be closed. */
const char *directory_resolve(const char *path, struct arena *arena);
const char *directory_beside(const char *directory, int *lock, struct arena *arena);

#endif
