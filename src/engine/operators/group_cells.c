#include "engine/operators/group_cells.h"

#include "engine/operators/elements.h"
#include "engine/operators/group_find.h"

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

void **cells_new(const struct grouping *grouping, int64_t groups)
{
    void **cells = heap_array(grouping->tally_count, sizeof *cells);
    for (size_t i = 0; i < grouping->tally_count; i++) {
        cells[i] = bulk_new((size_t)groups * tally_size(&grouping->tallies[i]));
        if (!cells[i]) {
            cells_free(grouping, cells, groups);
            return NULL;
        }
    }
    return cells;
}

void cells_free(const struct grouping *grouping, void **cells, int64_t groups)
{
    for (size_t i = 0; i < grouping->tally_count && cells; i++)
        bulk_free(cells[i], (size_t)groups * tally_size(&grouping->tallies[i]));
    free(cells);
}

void cells_clear(const struct grouping *grouping, void **cells, int64_t begin, int64_t count)
{
    for (size_t i = 0; i < grouping->tally_count; i++)
        tally_clear(&grouping->tallies[i], cells[i], begin, count);
}

void cells_add(const struct grouping *grouping, void **cells, const uint32_t *places, int64_t row, int count)
{
    int64_t values[BREAK_BLOCK]; /* or as many doubles */
    for (size_t i = 0; i < grouping->tally_count; i++) {
        const struct tally *tally = &grouping->tallies[i];
        if (tally->column) {
            break_values(tally->column, row, count, values);
        } else if (tally->kind == TALLY_FIRST) {
            for (int k = 0; k < count; k++)
                values[k] = row + k;
        }
        tally_add(tally, cells[i], places, values, count);
    }
}

void cells_add_at(const struct grouping *grouping, void **cells, const uint32_t *places, const uint64_t *rows,
                  int count)
{
    int64_t values[BREAK_BLOCK];
    for (size_t i = 0; i < grouping->tally_count; i++) {
        const struct tally *tally = &grouping->tallies[i];
        if (tally->column)
            break_values_at(tally->column, rows, count, values);
        else if (tally->kind == TALLY_FIRST)
            memcpy(values, rows, (size_t)count * sizeof *values);
        tally_add(tally, cells[i], places, values, count);
    }
}

void cells_merge(const struct grouping *grouping, void **into, int64_t place, void *const *from, int64_t other)
{
    for (size_t i = 0; i < grouping->tally_count; i++)
        tally_merge(&grouping->tallies[i], into[i], place, from[i], other);
}
