/* Data that a program prints: `load "|sqlite3 -csv x.db 'select * from t'" csv`. */
#ifndef RQL_ENGINE_STORAGE_PROGRAM_INPUT_H
#define RQL_ENGINE_STORAGE_PROGRAM_INPUT_H

#include "base/parallel.h"
#include "engine/storage/mapped_file.h"

/* Whether the path is a command behind a `|`, and no file. */
bool path_is_program(const char *path);

/* Runs the command by /bin/sh, without input and without a terminal, and waits until it has closed its output and
 * ended. Sets *mapping to one reference to all that it has printed. A status other than 0 and a signal are errors,
 * which have the last line of what it wrote to its standard error; else that is a note. If cancelled, the program is
 * ended, and all that it has started in its session. */
enum status program_read(const char *path, const struct workers *workers, struct span span, struct mapping **mapping,
                         struct diags *diags);

#endif
