/* The names that a pipeline mentions. */
#ifndef RQL_ENGINE_ENV_MENTIONED_H
#define RQL_ENGINE_ENV_MENTIONED_H

#include "engine/storage/file_reader.h"
#include "parser/ast.h"

/* Lists in the arena the names that expressions of the pipeline have. False: columns are also read that it does not
 * name, as far as its words tell. A guess: some of the names may be none of columns, and columns may have others. */
bool find_mentioned(const struct pipeline *pipeline, struct arena *arena, struct mentioned *mentioned);

#endif
