/* Saving a relation as a directory of raw columns, NAME.TYPE each: a splayed table. */
#ifndef RQL_ENGINE_FORMATS_SPLAYED_H
#define RQL_ENGINE_FORMATS_SPLAYED_H

#include "engine/formats/formats.h"

/* Whether a path means a directory: it ends in a slash, or is one and has no ending that says a format. */
bool splayed_is_path(const char *path);

/* Whether a directory could be made or filled there as things are. */
enum status splayed_check(const char *path, struct span span, struct diags *diags);

/* A new directory appears complete or not at all. In an existing one all columns are written before the first is put in
 * its place; a column of the same name and another type goes, other columns stay and must have as many rows. */
enum status splayed_save(const struct relation *relation, const char *path, const struct workers *workers,
                         struct span span, struct diags *diags);

#endif
