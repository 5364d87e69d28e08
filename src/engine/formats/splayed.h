/* Saves a relation as a directory of raw columns NAME.TYPE: a splayed table. */
#ifndef RQL_ENGINE_FORMATS_SPLAYED_H
#define RQL_ENGINE_FORMATS_SPLAYED_H

#include "engine/formats/formats.h"

/* Whether the path denotes a directory: it ends in a slash, or is one and has no extension of a format. */
bool splayed_is_path(const char *path);

/* Checks that a directory could be created or filled at `path` now. */
enum status splayed_check(const char *path, struct span span, struct diags *diags);

/* Saves all columns, as save_relation does. A new directory appears complete or not at all. In an existing one, all
 * columns are written before the first is renamed to its place; a column of the same name and another type is removed,
 * other columns stay and must have the same number of rows. */
enum status splayed_save(const struct relation *relation, const char *path, const struct workers *workers,
                         struct span span, struct diags *diags);

#endif
