/* The compression formats, and which of them a file has. */
#ifndef RQL_ENGINE_STORAGE_COMPRESSION_TABLE_H
#define RQL_ENGINE_STORAGE_COMPRESSION_TABLE_H

#include "engine/storage/compression.h"

extern const struct compression *const compression_table[];
extern const size_t compression_count;

/* The way of packing that a path's ending says, or NULL. */
const struct compression *compression_of_path(const char *path);

/* The way of packing that the first bytes tell of, or NULL. Only data that cannot begin so otherwise may be asked
 * about: raw elements can. */
const struct compression *compression_of_content(const void *data, size_t length);

/* A path's ending from the last dot on: "" if there is none or the dot comes first. An ending that says how the file is
 * packed goes with the one before it: ".csv.gz". It points into `path`. */
const char *path_ending(const char *path);

#endif
