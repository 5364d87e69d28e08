/* What a grid asks of its table is asked in the query language: the statements run as if they had been typed. */
#ifndef RQL_REPL_GRID_GRID_QUERY_H
#define RQL_REPL_GRID_GRID_QUERY_H

#include "engine/run/run.h"

/* Sorts the relation by column k. On success *sorted is a reference. `diags` gets errors. */
enum status grid_query_sort(struct runner *runner, struct relation *relation, size_t k, bool descending,
                            struct relation **sorted, struct diags *diags);

/* Finds the next row after `from` (the previous one before it, if `backward`) in which a text column contains the
 * pattern, in any case if it has no capitals, or a number, date or time is equal to it. *row is -1: there is none. */
enum status grid_query_find(struct runner *runner, struct relation *relation, const char *pattern, int64_t from,
                            bool backward, int64_t *row, struct diags *diags);

#endif
