/* The index of a pandas DataFrame in the metadata of Parquet and Arrow files. An index of stored values is a column of
 * the file like others; a range is not stored: pandas makes it again from the metadata, whose text is JSON. */
#ifndef RQL_ENGINE_STORAGE_PANDAS_INDEX_H
#define RQL_ENGINE_STORAGE_PANDAS_INDEX_H

#include "base/diag.h"
#include "base/text.h"

/* The key of the metadata's pair. */
extern const char pandas_key[];

/* Notes that the file's index is a range with a name, and what makes a column of it. `metadata`: the value of the pair;
 * empty if the file has none. */
void pandas_note_range(struct text metadata, const char *path, struct diags *diags);

#endif
