/* Columns of sources; private to the files of sources. */
#ifndef RQL_ENGINE_ENV_SOURCE_COLUMNS_H
#define RQL_ENGINE_ENV_SOURCE_COLUMNS_H

#include "engine/env/sources.h"

/* The column with its reference. A check needs no texts, of which functions would be computed in vain. */
struct source_column source_column(const struct sources *sources, const char *name, struct column *column);

#endif
