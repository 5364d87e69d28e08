/* Files of which a statement reads only some rows. */
#ifndef RQL_ENGINE_ENV_SOURCE_ROWS_H
#define RQL_ENGINE_ENV_SOURCE_ROWS_H

#include "engine/env/sources.h"
#include "engine/storage/row_set.h"

/* Leaves only these rows of those that the file's columns have: columns without data stand for its columns. `rows` and
 * its arena live as long as the file. False: no memory. */
bool source_narrow(struct source_file *file, const struct row_set *rows, struct arena *arena);

/* Reads file->rows of the columns at these places, and sets them. `unsorted`: text may have unsorted dictionaries. */
enum status source_read_rows(const struct sources *sources, struct source_file *file, const struct env *env,
                             const size_t *places, size_t count, bool unsorted, struct diags *diags);

#endif
