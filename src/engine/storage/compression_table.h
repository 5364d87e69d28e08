/* The compression formats, and how to recognise them. */
#ifndef RQL_ENGINE_STORAGE_COMPRESSION_TABLE_H
#define RQL_ENGINE_STORAGE_COMPRESSION_TABLE_H

#include "engine/storage/compression.h"

extern const struct compression *const compression_table[];
extern const size_t compression_count;

/* The compression of the path's extension, or NULL. */
const struct compression *compression_of_path(const char *path);

/* The compression recognised by the first bytes, or NULL. Not for raw elements, which may begin with any bytes. */
const struct compression *compression_of_content(const void *data, size_t length);

/* The path's extension with its dot, together with the one before if the last one is a compression: ".csv.gz". "" if
 * there is none or the file name begins with the dot. Points into `path`. */
const char *path_extension(const char *path);

/* Whether the path's extension, without that of a compression, is `extension`, ignoring case. */
bool path_has_extension(const char *path, const char *extension);

#endif
