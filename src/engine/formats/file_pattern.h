/* Paths that stand for several files: `trades-*.parquet`. */
#ifndef RQL_ENGINE_FORMATS_FILE_PATTERN_H
#define RQL_ENGINE_FORMATS_FILE_PATTERN_H

#include "base/diag.h"
#include "engine/storage/mapped_file.h"

/* Whether the path has one of `*`, `?` and `[` and is not itself a file. */
bool path_is_pattern(const char *path);

/* The files that match, sorted by name, in the diags' arena; none is an error. */
enum status pattern_expand(const char *path, struct span span, const char ***files, size_t *count, struct diags *diags);

/* As file_stamp_of; that of a pattern changes with the list of matches and with each file, its time is the latest. */
bool path_stamp_of(const char *path, struct file_stamp *stamp);

/* "data/ids.bin" -> "ids", "data/ids-*.bin" -> "ids": the name of a column without one. */
const char *path_stem(const char *path, struct arena *arena);

#endif
