/* Where the cells of a chunk end, found 64 characters at a time. */
#ifndef RQL_ENGINE_TEXT_CELL_ENDS_H
#define RQL_ENGINE_TEXT_CELL_ENDS_H

#include "engine/text/table.h"

/* Zero at first; free `at`. */
struct cell_ends {
    uint32_t *at; /* offsets from the chunk's begin of the character behind each cell, row by row; the first is that
                     before the first cell, -1 */
    size_t capacity;
};

/* Lists the cells of a chunk in which each record has as many as there are columns, and quotes surround whole cells.
 * False: it is not such a chunk, or one of 4 GB. Not for JSON. */
bool cell_ends_find(const struct table *table, const struct chunk *chunk, struct cell_ends *ends);

#endif
