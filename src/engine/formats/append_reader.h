/* Several files read as one: their rows one after another.
 *
 * The first file names the columns. Columns of the same name in later files must be of one type with it, or of one that
 * type_widen finds; one that is missing there has missing values, and further ones are left out with a note. */
#ifndef RQL_ENGINE_FORMATS_APPEND_READER_H
#define RQL_ENGINE_FORMATS_APPEND_READER_H

#include "engine/formats/open_file.h"

/* Opens the files, at least one; the result has a reader and the first file's format. `options->format` NULL: each
 * file's extension gives its format, which can be loaded. */
enum status open_appended(const struct opener *opener, const char *const *paths, size_t count, struct span span,
                          const struct load_options *options, struct opened_file *appended, struct diags *diags);

#endif
