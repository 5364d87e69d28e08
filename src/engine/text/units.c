/* Columns that are stated to be numbers, with values of several units. */
#include "engine/text/cells.h"
#include "engine/text/classify.h"
#include "engine/text/records.h"
#include "engine/text/ways.h"

/* Whether numbers of these units can be in one column. */
static bool fit_together(unsigned units)
{
    const unsigned currencies = units & ~(unsigned)(UNIT_NONE | UNIT_PER_CENT);
    return (currencies & (currencies - 1)) == 0 && (!(units & UNIT_PER_CENT) || units == UNIT_PER_CENT);
}

/* Whether the record's value in column k does not fit those before it. */
static bool differs(const struct table *table, const char *record, size_t k, unsigned *units, const char **at)
{
    enum problem_kind problem;
    struct cell cell;
    const char *value = cells_skip(table->dialect, record, table->end, k, &problem);
    if (!value || !cell_scan(table->dialect, value, table->end, &cell) ||
        cell_is_missing(table, cell, table->columns[k].kind))
        return false;
    *at = cell.at;
    *units |= ways_of(table, cell).unit;
    return !fit_together(*units);
}

bool table_find_unit(const struct table *table, size_t k, const char **at)
{
    const struct table_column *column = &table->columns[k];
    unsigned units = 0;
    const unsigned seen = column->evidence.units;
    const bool number = column->kind == VALUE_INT || column->kind == VALUE_FLOAT || column->kind == VALUE_DECIMAL;
    if (!column->stated || !number || table->dialect->json || (fit_together(seen) && !(seen & UNIT_PER_CENT)))
        return false;
    for (int64_t i = 0; i < table->chunk_count; i++) {
        const struct chunk *chunk = &table->chunks[i];
        size_t left_out = 0, cells;
        for (const char *record = chunk->begin; record < chunk->end;) {
            if (left_out < chunk->left_out_count && chunk->left_out[left_out].begin == record) {
                record = chunk->left_out[left_out++].end;
                continue;
            }
            if (differs(table, record, k, &units, at))
                return true;
            record = record_end(table, record, &cells);
            record += record < chunk->end;
        }
    }
    return false;
}
