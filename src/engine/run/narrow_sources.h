/* Leaving out rows of files that a statement does not need, before the rest of their columns is read. */
#ifndef RQL_ENGINE_RUN_NARROW_SOURCES_H
#define RQL_ENGINE_RUN_NARROW_SOURCES_H

#include "engine/run/run.h"

/* Narrows files to the rows that pass the filters of the only task that reads them: first by the bounds that a file
 * tells of its parts, then by the values of the columns that the filters read. *narrowed: the pipeline has to be bound
 * again. Else `needed` is cut to the columns that have to be read next. */
enum status narrow_sources(struct runner *runner, struct sources *sources, const struct queue *queue,
                           struct needed_columns *needed, bool *narrowed, struct arena *arena, struct diags *diags);

#endif
