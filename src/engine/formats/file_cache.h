/* Opened data: the same unchanged file is the same column object each time it is named, so that what is known of it
 * (its range) and its copies on devices are kept between queries. */
#ifndef RQL_ENGINE_FORMATS_FILE_CACHE_H
#define RQL_ENGINE_FORMATS_FILE_CACHE_H

#include "base/progress.h"
#include "engine/storage/column.h"
#include "engine/storage/mapped_file.h"

#include <stdatomic.h>

struct format; /* formats.h */

struct file_cache;
struct file_cache *file_cache_new(struct mappings *mappings, const atomic_int *cancel); /* NULL: never */
void file_cache_free(struct file_cache *file_cache);

/* Columns read from a path, in order, with the names the files suggest. */
struct loaded {
    struct column **columns; /* one reference each, given to the caller */
    const char **names;      /* in the diags' arena */
    size_t count;
    struct shape shape; /* of a picture */
};

/* Statements come through standard input, which is no data then. */
void file_cache_reserve_stdin(struct file_cache *file_cache);

/* Who is told how far reading a file is; NULL: nobody. */
void file_cache_set_progress(struct file_cache *file_cache, struct progress *progress);

/* An error if the path is one that loading must refuse, whatever statements before it do. Opens nothing. */
enum status file_cache_check(const struct file_cache *file_cache, const char *path, struct span span,
                             struct diags *diags);

/* Opens a file as a column (what comes through a pipe is waited for), or a directory as its column files in name order
 * (a splayed table; files whose ending says no type are passed over, none at all is an error). `stated` is the format
 * of the file, whatever its ending; NULL: by the ending. Formats are a table in formats.c. */
enum status file_cache_load(struct file_cache *file_cache, const char *path, struct span span,
                            const struct format *stated, struct loaded *loaded, struct diags *diags);

/* Lets go of the columns: there are none then. */
void loaded_release(struct loaded *loaded);

/* Whether the file has been read already, as of this format, and has not changed since: then loading it takes no time.
 */
bool file_cache_contains(const struct file_cache *file_cache, const char *path, const struct format *format);

/* Lets go of columns whose file has changed or that nobody else has used since the last call and exceed a budget. */
void file_cache_sweep(struct file_cache *file_cache);

#endif
