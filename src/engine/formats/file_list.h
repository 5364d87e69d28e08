/* Paths that stand for several files: `trades-*.parquet`, `sales/`. */
#ifndef RQL_ENGINE_FORMATS_FILE_LIST_H
#define RQL_ENGINE_FORMATS_FILE_LIST_H

#include "base/diag.h"
#include "engine/storage/mapped_file.h"

struct format; /* formats.h */
struct opener; /* open_file.h */

struct file_list {
    const char **paths; /* in their order */
    int64_t *bytes;     /* of each */
    size_t count;
    struct file_stamp stamp; /* changes with the list and with each file; its time is the latest */
};

/* Whether the path has one of `*`, `?` and `[` and is not itself a file; of addresses, those of S3 alone. */
bool path_is_pattern(const char *path);

/* Whether it is a folder of files of tables: one that has no raw columns, or an address of S3 that ends in a slash. */
bool path_is_folder(const char *path);

/* The files that match, or those of tables in the folder and in the folders below it: where `format` is not stated,
 * those of one format, and two are an error. Names that begin with `.` are left out, and within a folder those that
 * begin with `_`. In the diags' arena; none is an error. */
enum status file_list_make(const struct opener *opener, const char *path, const struct format *format, struct span span,
                           struct file_list *list, struct diags *diags);

/* "data/ids.bin" -> "ids", "data/ids-*.bin" -> "ids", "data/" -> "data", "|seq 9" -> "seq": the name of a column
 * without one. */
const char *path_stem(const char *path, struct arena *arena);

/* The names of the raw files in a directory, sorted; NULL: there are none, or, with errno, it cannot be read. */
const char **raw_file_names(const char *path, size_t *count, struct arena *arena);

#endif
